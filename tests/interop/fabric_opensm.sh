#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Stock OpenSM on `weft fabric`: fabric_opensm.sh WEFT
#
# Generated fabrics and a real file; each of OpenSM's engines where it applies. The subnet comes up, each
# linked port is Active, and the tables connect every pair. Where OpenSM's tables have credit loops, a comment
# says so: engines that use several VLs have them in the tables alone, the others have real ones
# (opensm_tables.sh lists them for generated fabrics).

# shellcheck disable=SC2015 # `a && b || explain`
data=$(cd "$(dirname "$0")/../data" && pwd)
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "${data%/data}/interop/lib_fabric.sh"
need opensm jq
need_umad2sim

# Fabric, or a file; OpenSM's engines.
cases()
{
	cat << 'END'
irregular 16 --seed 7|minhop updn nue
irregular 32 --seed 11|lash dfsssp
mtree 4 2|minhop ftree
mtree 8 3|ftree updn
torus 4 4|dor nue
mesh 4 4|dor dfsssp
dragonfly 2 4 2|minhop lash nue
hypercube 4|dor
FILE cluster-hdr.net|minhop
FILE two-leaves.net|updn dfsssp
END
}

# OpenSM's ftree leaves some switches without a route to each other; only hosts count there.
tables_lead_everywhere()
{
	rm -f verdict
	only=
	[ "$1" != ftree ] || only=--hosts-only
	# shellcheck disable=SC2086 # an option or none
	"$weft" route verify net osm/opensm-lfts.dump $only --json > verdict
	jq -e '.pairs > 0 and .unreachable == 0 and .loops == 0' verdict > /dev/null || { cat verdict && false; }
}

credit_loops()
{
	"$weft" route verify net osm/opensm-lfts.dump --hosts-only --json 2> /dev/null | jq '.cycles'
}

up()
{
	roots=
	[ "$1" != updn ] || roots="-a roots"
	# shellcheck disable=SC2086 # several words
	emu_start net -q && opensm_once -R "$1,no_fallback" $roots
}

cases > table
while IFS='|' read -r fabric engines; do
	# shellcheck disable=SC2086 # several words
	case $fabric in
	FILE*) cp "$data/${fabric#FILE }" net ;;
	*) "$weft" topo gen $fabric -o net ;;
	esac
	"$weft" topo show net --json > shown 2> /dev/null
	sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p' net | head -n 1 > roots
	for engine in $engines; do
		ok "$fabric: OpenSM with $engine comes up" up "$engine"
		ok "$fabric, $engine: every linked port is Active" all_active "$(jq .links shown)"
		ok "$fabric, $engine: the tables lead everywhere" tables_lead_everywhere "$engine"
		loops=$(credit_loops)
		[ "${loops:-0}" = 0 ] || echo "# $fabric: the tables of OpenSM's $engine have credit loops"
	done
done < table
echo "1..$n"
