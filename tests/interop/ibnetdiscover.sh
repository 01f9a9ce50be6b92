#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Netlists through stock programs and back: ibnetdiscover.sh WEFT
#
# The output of `weft topo gen` runs in ibsim. ibnetdiscover reads that fabric before and after OpenSM
# assigned LIDs; its output must be the same graph: the same nodes with the same names and port counts, the
# same links at the same rates. The manager of `weft sim up` must bring the discovered fabric up.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover ibsim jq
need_umad2sim

fabrics()
{
	cat << 'END'
irregular 16 --hosts 14 --seed 7
mtree 4 3 --rate 4xFDR
kary 3 3
clos 3 2 4 --rate 12xSDR
mesh 3 4
torus 4 4 --rate 4xDDR
hypercube 4
dragonfly 2 4 2
fullmesh 6 --hosts 3
ring 6
star 8 --rate 1xQDR
END
}

# Every family the generator knows must be among them.
all_families()
{
	"$weft" topo gen --json | jq -r '.[].kind | select(. != "odd")' > kinds # odd_fabrics.sh has those
	[ -s kinds ] || return 1
	while read -r kind; do
		fabrics | grep -q "^$kind " || { echo "no fabric of kind $kind" && return 1; }
	done < kinds
}

discover()
{
	on_fabric ibnetdiscover > "$1" 2> err && [ -s "$1" ] || { cat err && false; }
}

# same DUMP LIDS: DUMP is the fabric of net; LIDS tells whether every node must have got one
same()
{
	"$weft" topo check "$1" || return 1
	"$weft" topo diff --lids net "$1" --json > changes
	[ $? -le 1 ] || return 1
	jq -e '[.changes[] | select((.what // "") | startswith("LID 0 -> ") | not)] == []' changes ||
		{ cat changes && return 1; }
	given=$(jq '.changes | length' changes)
	for file in net "$1"; do
		"$weft" topo show "$file" --json > "$file.shown" || return 1
	done
	jq -e -s '.[0].switches > 0 and (map(del(.lids, .warnings)) | .[0] == .[1])' net.shown "$1.shown" ||
		{ cat net.shown "$1.shown" && return 1; }
	[ "$given" = "$(jq "if $2 == 1 then .switches + .hosts else 0 end" net.shown)" ] ||
		{ echo "$given nodes have LIDs" && false; }
}

comes_up()
{
	"$weft" sim up "$1" --json > up.json || { cat up.json && return 1; }
	jq -e --argjson nodes "$(jq '.switches + .hosts' net.shown)" \
		'.state == "active" and .verified and .nodes == $nodes' up.json
}

ok "every family is here" all_families
fabrics > table
while read -r fabric; do
	# shellcheck disable=SC2086 # several words
	"$weft" topo gen $fabric -o net
	ok "$fabric: ibsim takes the netlist" fabric_start net
	ok "$fabric: ibnetdiscover sees the fabric" discover before
	ok "$fabric: it is the same fabric" same before 0
	if command -v opensm > /dev/null; then
		ok "$fabric: OpenSM brings it up" opensm_once -R minhop
		ok "$fabric: ibnetdiscover sees it again" discover after
		ok "$fabric: it is the same fabric with LIDs" same after 1
		ok "$fabric: weft sim up brings it up" comes_up after
	else
		skip "$fabric: OpenSM brings it up" "opensm is not installed"
		ok "$fabric: weft sim up brings it up" comes_up before
	fi
done < table
echo "1..$n"
