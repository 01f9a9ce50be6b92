#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Tables of stock OpenSM, judged by `weft route verify` and by ibdmchk: opensm_tables.sh WEFT
#
# Generated fabrics run in ibsim, OpenSM routes them with several engines, and Weft must read its dumps and
# judge them correctly. The expected verdict on credit loops is known: shortest paths on rings, tori and
# irregular graphs can deadlock; up/down, nue and trees cannot.
#
# ibdmchk checks only routes from host to host. Weft also follows routes that start or end at a switch
# (management packets use them), and finds loops there that ibdmchk does not check: nue, for example, protects
# no route to a switch. With --hosts-only both check the same routes.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibsim jq
need_umad2sim

# Fabric; OpenSM's engine; whether host to host routes can deadlock.
cases()
{
	cat << 'END'
irregular 16 --seed 7|minhop|1
irregular 16 --seed 7|updn -a roots|0
irregular 32 --seed 11|nue|0
irregular 32 --seed 11|sssp|1
mtree 8 3|ftree|0
mtree 4 3|minhop|0
kary 3 3|minhop|0
torus 4 4|dor|1
torus 4 4|nue|0
mesh 4 4|dor|0
hypercube 4|dor|0
hypercube 4|minhop|1
dragonfly 2 4 2|minhop|1
dragonfly 2 4 2|updn -a roots|0
ring 6|minhop|1
star 8|minhop|0
clos 3 2 4|minhop|0
END
}

# OpenSM's ftree leaves some switches without a route to each other; every other engine reaches all.
reaches_all()
{
	"$weft" route verify net osm/opensm-lfts.dump --json > verdict
	if [ "$1" != ftree ]; then
		jq -e '.pairs > 0 and .unreachable == 0 and .loops == 0' verdict || { cat verdict && false; }
		return
	fi
	jq -e '.unreachable > 0 and .loops == 0' verdict || { cat verdict && return 1; }
	jq -r '.problems[]' verdict | sed -n 's/^LID \([0-9]*\) (S-.*: no entry in S-\(.*\)$/\1 \2/p' > missing
	[ -s missing ] || { echo "no missing entry is named" && return 1; }
	while read -r lid switch; do
		sed -n "/guid 0x$switch /,/lids dumped/p" osm/opensm-lfts.dump | grep "^$(printf '0x%04x' "$lid") " &&
			echo "but it is there: LID $lid at $switch" && return 1
	done < missing
	return 0
}

# Every step of the reported cycle must be taken by some destination: a switch forwards its LID to
# the cycle's port, and the switch behind that port forwards it to the next port of the cycle.
cycle_is_real()
{
	jq -r '.cycle[]' "$1" > cycle
	awk '
	function channel(s) { return substr(s, 3) } # S-0002000000000001[3] without the letter
	FILENAME == "cycle" { step[steps++] = channel($0); next }
	FILENAME == "net" && /^Switch/ { split($0, q, "\""); at = substr(q[2], 3); next }
	FILENAME == "net" && /^Ca/ { at = ""; next }
	FILENAME == "net" && /^\[/ && at {
		split($0, q, "\""); split($1, p, /[][]/)
		if (q[2] ~ /^S-/) behind[at "[" p[2] "]"] = substr(q[2], 3)
		next
	}
	/^Unicast/ { match($0, /guid 0x[0-9a-f]+/); at = substr($0, RSTART + 7, 16); next }
	/^0x/ { lft[at, $1] = $2 + 0; lids[$1] }
	END {
		for (i = 0; i < steps; i++) {
			split(step[i], here, /[][]/)
			split(step[(i + 1) % steps], next_one, /[][]/)
			taken = 0
			for (l in lids)
				taken += behind[step[i]] == next_one[1] && lft[here[1], l] == here[2] &&
					lft[next_one[1], l] == next_one[2]
			if (!taken) { print "no route goes from " step[i] " to the next"; exit 1 }
		}
		exit steps < 2
	}' cycle net "$2"
}

# judge EXPECTED: credit loops among the routes from host to host
judge()
{
	"$weft" route verify net osm/opensm-lfts.dump --hosts-only --json > verdict
	jq -e '.unreachable == 0 and .loops == 0' verdict || { cat verdict && return 1; }
	loops=$(jq 'if .cycles > 0 then 1 else 0 end' verdict)
	[ "$loops" = "$1" ] || { echo "credit loops: weft says $loops, expected $1" && return 1; }
	[ "$loops" = 0 ] || cycle_is_real verdict osm/opensm-lfts.dump
}

agrees()
{
	dmchk osm/opensm.fdbs > theirs || { cat theirs && return 1; }
	hosts=$(jq .hosts shown)
	[ "$(cat theirs)" = "$((hosts * (hosts - 1))) 0 $1" ] ||
		{ echo "ibdmchk: paths, bad, loops: $(cat theirs); expected loops $1" && tail dmchk.out && false; }
}

cases > table
while IFS='|' read -r fabric engine expected; do
	what="$fabric, ${engine%% *}"
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $fabric -o net
	"$weft" topo show net --json > shown
	sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p' net | head -n 1 > roots
	ok "$what: ibsim takes the netlist" fabric_start net
	# shellcheck disable=SC2086
	ok "$what: OpenSM brings it up" opensm_once -R $engine
	ok "$what: every pair is reached" reaches_all "${engine%% *}"
	ok "$what: credit loops: $expected" judge "$expected"
	if command -v ibdmchk > /dev/null; then
		ok "$what: ibdmchk agrees" agrees "$expected"
	else
		skip "$what: ibdmchk agrees" "ibdmchk is not installed"
	fi
done < table
echo "1..$n"
