#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Weft's tables, judged by ibdmchk: weft_tables.sh WEFT
#
# OpenSM brings a generated fabric up in ibsim and writes its files for ibdmchk; ibnetdiscover prints the
# fabric with its LIDs. `weft route compute` makes tables from that, which replace OpenSM's: ibdmchk must
# follow each path from host to host and find no credit loop, on fabrics where shortest paths have some.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need ibdmchk opensm ibnetdiscover ibsim jq
need_umad2sim

describe()
{
	opensm_once -R minhop || return 1
	on_fabric ibnetdiscover > net.lids 2> err || { cat err && false; }
}

# opensm-lfts.dump and opensm.fdbs hold the same; only the latter is what ibdmchk reads. The hops
# are those ibdmchk works out itself, so any number will do.
fdbs_from_lfts()
{
	awk '/^Unicast/ {
			match($0, /guid 0x[0-9a-f]+/)
			print "dump_ucast_routes: Switch " substr($0, RSTART + 5, RLENGTH - 5)
			print "LID    : Port : Hops : Optimal"
		}
		/^0x/ { print $1 " : " $2 "  : 01   : yes" }
		/lids dumped/ { print "" }' "$1"
}

# The same through the converter as OpenSM's own file: else a mistake in it could hide others.
converter_is_right()
{
	fdbs_from_lfts osm/opensm-lfts.dump | awk '/Switch/ { sw = $3 } /^0x/ { print tolower(sw " " $1), $3 }' > a
	awk '/Switch/ { sw = $3 } /^0x/ && $3 != "UNREACHABLE" { print tolower(sw " " $1), $3 }' osm/opensm.fdbs > b
	[ -s a ] && cmp a b
}

computes() # [ENGINE]
{
	"$weft" route compute net.lids --engine "${1:-fera}" --lfts weft.lfts --json > computed || { cat computed && return 1; }
	fdbs_from_lfts weft.lfts > weft.fdbs
	jq -e '.verified' computed
}

# ibdmchk must have read all of it: as many entries as weft computed, of all switches
judged()
{
	dmchk weft.fdbs > verdict || { cat verdict && return 1; }
	hosts=$("$weft" topo show net --json | jq .hosts)
	jq -r '"-I- Defined \(.entries) fdb entries for:\(.switches) switches"' computed > want
	grep -qxF -f want dmchk.out || { cat want && grep 'fdb entries' dmchk.out && return 1; }
	[ "$(cat verdict)" = "$((hosts * (hosts - 1))) 0 0" ] ||
		{ echo "ibdmchk: paths, bad, loops: $(cat verdict)" && tail dmchk.out && false; }
}

# A table with one entry bent must not pass, or the test proves nothing.
bent_is_refused()
{
	awk '/^0x/ && !done && $3 != "000" { $3 = $3 == "001" ? "002" : "001"; done = 1 } { print }' \
		weft.fdbs > bent.fdbs
	cmp -s weft.fdbs bent.fdbs && return 1
	dmchk bent.fdbs > verdict
	! grep -q ' 0 0$' verdict || { cat verdict && tail dmchk.out && false; }
}

fabrics > table
while read -r fabric; do
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $fabric -o net
	ok "$fabric: ibsim takes the netlist" fabric_start net
	ok "$fabric: OpenSM and ibnetdiscover describe it" describe
	ok "$fabric: OpenSM's two dumps hold the same" converter_is_right
	ok "$fabric: weft computes tables" computes
	ok "$fabric: ibdmchk follows every path and finds no credit loop" judged
	case $fabric in mtree* | kary* | star*)
		ok "$fabric: engine tree computes tables" computes tree
		ok "$fabric: ibdmchk finds no fault in them" judged
		;;
	esac
done < table
ok "a bent table is refused" bent_is_refused
echo "1..$n"
