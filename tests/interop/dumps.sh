#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Weft's dumps in OpenSM's formats: dumps.sh WEFT LAB_MANAGER
#
# A manager in the lab brings fabrics up and writes its files. ibdmchk must follow each path in them and find
# no bad path and no credit loop; Weft's verifier must agree. Lines must have the format of those that OpenSM
# writes for the same netlist on ibsim.
#
# Covers: dump_writer.c, opensm_files.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
manager=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

# Fabric; LMC.
cases()
{
	cat << 'END'
mtree 4 2|0
mtree 8 3|0
kary 3 3|0
irregular 16 --seed 7|0
irregular 32 --seed 11|0
torus 4 4|0
mesh 4 4|0
hypercube 4|0
dragonfly 2 4 2|0
ring 6|0
star 8|0
mtree 4 2|2
irregular 16 --seed 3 --rate 4xHDR|1
END
}

dumps()
{
	rm -rf osm
	"$manager" net --dump osm "$1" || return 1
	for f in opensm-subnet.lst opensm-lfts.dump opensm.fdbs; do
		[ -s osm/$f ] || { echo "$f is empty" && return 1; }
	done
	[ -e osm/opensm.mcfdbs ]
}

verified()
{
	"$weft" route verify net osm/opensm-lfts.dump --json > verdict
	jq -e '.ok' verdict > /dev/null || { cat verdict && false; }
}

# Every link from both ends, every LID at every switch.
complete()
{
	links=$(jq .links shown)
	lids=$(grep -c '^0x' osm/opensm-lfts.dump)
	[ "$(wc -l < osm/opensm-subnet.lst)" -eq $((2 * links)) ] || { echo "links: $links" && wc -l osm/* && return 1; }
	[ "$(grep -c ' : yes$\| hop path possible ' osm/opensm.fdbs)" -eq "$lids" ] || { echo "entries: $lids" && return 1; }
	[ "$(grep -c '^dump_ucast_routes' osm/opensm.fdbs)" -eq "$(jq .switches shown)" ]
}

# With 2^LMC LIDs a host, ibdmchk follows each of them.
clean()
{
	dmchk osm/opensm.fdbs > theirs || { cat theirs && return 1; }
	hosts=$(jq .hosts shown)
	read -r paths bad loops < theirs
	[ "$paths" -ge $((hosts * (hosts - 1))) ] && [ "$bad" = 0 ] && [ "$loops" = 0 ] ||
		{ echo "paths, bad, loops: $paths $bad $loops" && tail dmchk.out && false; }
}

# Numbers and names made equal: what is left is the format.
shapes()
{
	for f in opensm-subnet.lst opensm.fdbs opensm-lfts.dump; do
		sed -E "s/CA-SM/CA/; s/\{[^{}]*\} LID/{} LID/g; s/\('.*'\)/('')/; s/: '.*'$/: ''/; s/Rev:[0-9A-F]{8}/Rev:/g
			s/[0-9] lids dumped/N lids dumped/; s/Lid [0-9]+ /Lid N /; s/\[0-[0-9]+\]/[0-N]/; s/^[0-9]*N lids/N lids/
			s/No [0-9]+ hop path possible via port [0-9]+!/yes/; s/0x[0-9a-f]{16}/GUID/g; s/GUID:[0-9a-f]{16}/GUID:/g
			s/[0-9A-Fa-f]{4}/XXXX/g; s/[0-9A-F]{2}/XX/g; s/[0-9A-Fa-f]/X/g" "$1/$f" | LC_ALL=C sort -u > "$2.$f"
	done
}

as_opensm_writes()
{
	shapes osm weft
	mv osm weft-osm
	fabric_start net && opensm_once -R minhop || return 1
	shapes osm opensm
	for f in opensm-subnet.lst opensm.fdbs opensm-lfts.dump; do
		diff "weft.$f" "opensm.$f" || { echo "$f differs" && return 1; }
	done
	rm -rf weft-osm
}

cases > table
while IFS='|' read -r fabric lmc; do
	what="$fabric, LMC $lmc"
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $fabric -o net
	"$weft" topo show net --json > shown
	ok "$what: dumps are written" dumps "$lmc"
	ok "$what: the verifier agrees" verified
	ok "$what: complete" complete
	if command -v ibdmchk > /dev/null; then
		ok "$what: ibdmchk finds no bad path and no credit loop" clean
	else
		skip "$what: ibdmchk finds no bad path and no credit loop" "ibdmchk is not installed"
	fi
done < table

"$weft" topo gen mtree 4 2 -o net
dumps 0
for preload in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib/umad2sim/libumad2sim.so; do
	[ -e "$preload" ] && break
done
if [ -e "$preload" ] && command -v opensm > /dev/null && command -v ibsim > /dev/null; then
	ok "lines have the shape of OpenSM's" as_opensm_writes
else
	skip "lines have the shape of OpenSM's" "opensm, ibsim or libumad2sim is not installed"
fi
echo "1..$n"
