#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` manages fabrics in ibsim's server or in `weft fabric`: sm_up.sh WEFT [ibsim|fabric]
#
# Each fabric comes up cold. Then stock programs check it: ibnetdiscover must show the netlist, iblinkinfo
# each link Active, ibtracert a path from sampled leaves to each sampled host, and ibdmchk, on the files that
# Weft writes, all paths and no credit loop. A second start must change nothing.
#
# Covers: daemon.c, daemon_ready.c, daemon_service.c, child_process.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
data=$(cd "$(dirname "$0")/../data" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
server=${2:-ibsim}
need ibdmchk ibnetdiscover iblinkinfo ibtracert ibsim jq
need_umad2sim
described=sm
less=

comes_up()
{
	sm_once || return 1
	"$weft" topo show net --json 2> /dev/null > shown
	jq -e -s '.[0].switches == .[1].switches and .[0].hosts == .[1].hosts and .[0].routers == .[1].routers' up.json shown ||
		{ cat up.json && false; }
}

as_the_netlist()
{
	# shellcheck disable=SC2086 # a word or none
	discover dump && same_graph net dump $less
}

links_are_active()
{
	ends=$(jq '2 * .links' shown)
	active=$(links_active) || { echo "$active" && return 1; }
	[ "$active" = "$ends" ] || { echo "$active of $ends ends of links are Active" && false; }
}

# From the first, a middle and the last switch with hosts, to every seventh host.
traced()
{
	lids dump > lids.txt || return 1
	sed -n 's/^S-[^ ]* //p' lids.txt > switches.txt
	sed -n 's/^H-[^ ]* [0-9]* //p' lids.txt > hosts.txt
	total=$(wc -l < switches.txt)
	for at in 1 $(((total + 1) / 2)) "$total"; do
		from=$(sed -n "${at}p" switches.txt)
		awk 'NR % 7 == 1' hosts.txt | head -n 8 | while read -r to; do
			on_fabric ibtracert "$from" "$to" > trace 2>&1 && grep -q "^To .* lid $to-" trace ||
				{ echo "no way from LID $from to $to:" && cat trace && exit 1; }
		done || return 1
	done
}

judged()
{
	dmchk sm/opensm.fdbs > verdict || { cat verdict && return 1; }
	hosts=$(jq .hosts shown)
	[ "$(cat verdict)" = "$((hosts * (hosts - 1))) 0 0" ] ||
		{ echo "ibdmchk: paths, bad, loops: $(cat verdict)" && tail dmchk.out && false; }
}

# What is right stays: no table is sent again, no port ordered.
second_start_is_quiet()
{
	sm_once || return 1
	jq -e '.smps_by_purpose.distribution == 0 and .smps_by_purpose.activation == 0' up.json || { cat up.json && false; }
}

one()
{
	ok "$1: $server takes the netlist" fabric_start net
	ok "$1: weft sm brings it up" comes_up
	ok "$1: ibnetdiscover sees the netlist" as_the_netlist
	ok "$1: iblinkinfo sees every link Active" links_are_active
	ok "$1: ibtracert finds the way" traced
	ok "$1: ibdmchk follows every path and finds no credit loop" judged
	ok "$1: a second start changes nothing" second_start_is_quiet
}

fabrics > table
while read -r fabric; do
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $fabric -o net
	one "$fabric"
done < table
less=rate # FDR10 is the vendor's own: not in PortInfo
cp "$data/chassis-grouped.net" net
one "a real cluster"
echo "1..$n"
