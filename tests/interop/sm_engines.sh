#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What `weft sm` programs with each engine whose routes use one lane, judged by others: sm_engines.sh WEFT
#
# `weft fabric` holds the devices. ibdmchk, on the files that Weft writes, must follow each path from host to host and find no credit
# loop; ibtracert must find ways in the devices themselves. With a wrong entry in the same files ibdmchk must find a bad path.
#
# Covers: fera.c, pira.c, tree.c, updn.c, balanced.c, nue.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034 # lib.sh starts that server
server=fabric
need ibdmchk ibnetdiscover ibtracert ibsim jq
need_umad2sim
described=sm

comes_up()
{
	sm_once --routes "$1" || return 1
	! grep other_engine sm.log
}

judged()
{
	dmchk sm/opensm.fdbs > verdict || { cat verdict && return 1; }
	hosts=$(jq .hosts up.json)
	[ "$(cat verdict)" = "$((hosts * (hosts - 1))) 0 0" ] ||
		{ echo "ibdmchk: paths, bad, loops: $(cat verdict)" && tail dmchk.out && false; }
}

# From the first and the last switch to every fifth host.
traced()
{
	discover dump && lids dump > lids.txt || return 1
	sed -n 's/^S-[^ ]* //p' lids.txt | sed -n '1p;$p' | while read -r from; do
		sed -n 's/^H-[^ ]* [0-9]* //p' lids.txt | awk 'NR % 5 == 1' | while read -r to; do
			on_fabric ibtracert "$from" "$to" > trace 2>&1 && grep -q "^To .* lid $to-" trace ||
				{ echo "no way from LID $from to $to:" && cat trace && exit 1; }
		done || exit 1
	done
}

# The first entry of the first switch that leads to another port.
bad_path_is_found()
{
	awk '/^0x/ && !done && $3 + 0 > 0 { sub(/: 0*[0-9]+ /, sprintf(": %03d ", $3 % 3 + 1)); done = 1 } { print }' \
		sm/opensm.fdbs > wrong.fdbs
	! cmp -s sm/opensm.fdbs wrong.fdbs || { echo "nothing was changed" && return 1; }
	dmchk wrong.fdbs > verdict
	grep -q 'Traversals Failed' dmchk.out || { cat verdict && tail dmchk.out && false; }
}

# each FABRIC ENGINE...: each on devices without tables
each()
{
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $1 -o net
	fabric=$1
	shift
	for engine; do
		ok "$fabric: weft fabric takes the netlist" fabric_start net
		ok "$fabric, $engine: weft sm brings it up" comes_up "$engine"
		ok "$fabric, $engine: ibdmchk follows every path and finds no credit loop" judged
		ok "$fabric, $engine: ibtracert finds ways" traced
	done
}

each 'mtree 4 3' tree updn balanced nue fera pira
ok "ibdmchk finds a bad path where an entry is wrong" bad_path_is_found
each 'irregular 16 --hosts 20 --seed 3' updn fera pira
echo "1..$n"
