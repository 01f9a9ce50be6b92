#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# weft topo diff of a plan and of what is there, and weft topo slurm, as TAP: topo.sh PATH/TO/weft
#
# Covers: import.c, import_nodes.c, import_lst.c, import_csv.c, import_topo.c, import_files.c, import_ibnl.c, ibnl_make.c, import_net_dump.c, cmd_topo_diff.c, cable_diff.c, running_manager.c, cmd_topo_slurm.c, slurm_tree.c
#
# shellcheck disable=SC2015,SC2317 # `a && b || explain`, ok calls
set -u

corpus=$(cd "$(dirname "$0")/../fuzz/corpus/netlist" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
unset IBSIM_SOCKNAME XDG_RUNTIME_DIR
export RUNTIME_DIRECTORY="$dir/run"
mkdir run

# differs LINE...: status 1, and exactly these lines
differs()
{
	"$weft" topo diff plan live > out
	[ $? -eq 1 ] || { cat out && return 1; }
	printf '%s\n' "$@" > want
	diff want out
}

"$weft" topo gen mtree 4 2 -o plan
ok "a fabric is like itself" sh -c "'$weft' topo diff plan plan | grep -qx 'no difference'"

# The cables of two leaves at the two roots are exchanged, in the lines of both ends.
sed '/^Switch.*"leaf0"/,/^$/{s/^\[3\].*/[3]	"S-0002000000000006"[1]/;t;s/^\[4\].*/[4]	"S-0002000000000005"[1]/}
	/^Switch.*"root0"/,/^$/s/^\[1\].*/[1]	"S-0002000000000001"[4]/
	/^Switch.*"root1"/,/^$/s/^\[1\].*/[1]	"S-0002000000000001"[3]/' plan > live
ok "swapped cables" differs \
	'x cables swapped  S-0002000000000001 "leaf0"[3] - S-0002000000000005 "root0"[1] is now S-0002000000000001 "leaf0"[3] - S-0002000000000006 "root1"[1]' \
	'                  S-0002000000000001 "leaf0"[4] - S-0002000000000006 "root1"[1] is now S-0002000000000001 "leaf0"[4] - S-0002000000000005 "root0"[1]'

# Two hosts at different leaves are exchanged.
sed '/^Switch.*"leaf0"/,/^$/s/^\[1\].*/[1]	"H-0001000000000018"[1](1000000000019)/
	/^Switch.*"leaf1"/,/^$/s/^\[1\].*/[1]	"H-0001000000000010"[1](1000000000011)/
	/^Ca.*"host 0"/,/^$/s/^\[1\].*/[1](1000000000011)	"S-0002000000000002"[1]/
	/^Ca.*"host 2"/,/^$/s/^\[1\].*/[1](1000000000019)	"S-0002000000000001"[1]/' plan > live
swapped_json()
{
	"$weft" topo diff plan live --json > out
	jq -e '(.equal | not) and (.cables | length) == 1 and .cables[0].kind == "cables swapped" and .changes == []
		and .cables[0].before[0].a.name == "host 0" and .cables[0].after[0].b.name == "leaf1"' out > /dev/null || { cat out && false; }
}
ok "swapped hosts, as JSON" swapped_json

# A link at a fourth of its width.
sed '/^Switch.*"leaf0"/,/^$/s/^\(\[3\].*\)4xQDR/\11xQDR/; /^Switch.*"root0"/,/^$/s/^\(\[1\].*\)4xQDR/\11xQDR/' plan > live
ok "a slow link, once" differs '! link slower     S-0002000000000001 "leaf0"[3] - S-0002000000000005 "root0"[1]: 4xQDR -> 1xQDR'

# A host is gone; its port is free, and another host's cable is plugged there.
sed '/^Switch.*"leaf0"/,/^$/{/^\[1\]/d;s/^\[2\]\(.*\)/[1]\1/}
	/^Ca.*"host 1"/,/^$/s/"S-0002000000000001"\[2\]/"S-0002000000000001"[1]/
	/^caguid=0x1000000000010/,/^$/d' plan | sed '/"H-0001000000000010"/d' > live
gone()
{
	"$weft" topo diff plan live > out
	grep -q '^- node removed .*"host 0"' out || { cat out && false; }
}
ok "a host that is gone" gone

# ---- files of other tools ----

tables()
{
	"$weft" topo show "$corpus/db_csv" --json > out || return 1
	jq -e '.switches == 1 and .hosts == 1 and .links == 1' out > /dev/null || { cat out && false; }
}
ok "tables of ibdiagnet2" tables
labels()
{
	"$weft" topo show "$corpus/net_dump" --json > out && jq -e '.switches == 2 and .hosts == 2 and .links == 3' out > /dev/null &&
		"$weft" topo expand "$corpus/net_dump" > out.net && grep -q '^\[3\].*"S-0002000000000002"\[17\].*4xNDR' out.net &&
		grep -q '^\[18\].*"H-0001000000000020"\[2\].* lid 8 2xHDR' out.net || { cat out out.net && return 1; }
	sed 's#: 1/9/1 #: 1/9/3 #' "$corpus/net_dump" > wrong.net
	"$weft" topo expand wrong.net 2>&1 > out.net | grep -q "wrong.net:12: .* no port with label '1/9/3'; port 3 is left without a link" &&
		grep -q '^\[17\].*"S-0002000000000001"\[3\]' out.net || { cat out.net && return 1; }
	sed 's#: 17 #: 3x #' "$corpus/net_dump" > wrong.net
	"$weft" topo show wrong.net 2>&1 | grep -q "wrong.net:16: found '3x', expected a port from 1 to 254 in column IB#"
}
ok "ibdiagnet2's list of switches, with labels of ports" labels
by_name()
{
	cp "$corpus/topo" plan.topo
	"$weft" topo diff plan.topo plan.topo --names | grep -qx 'no difference' || return 1
	sed 's/P2 -> HCA host1 P1/P4 -> HCA host1 P1/; /host2/d' plan.topo > live.topo
	"$weft" topo diff plan.topo live.topo --names > out
	[ $? -eq 1 ] && grep -q '^- node removed .*"host2"' out && grep -q '^> cable moved .*"host1"\[1\].*is now.*"leaf0"\[4\]' out ||
		{ cat out && false; }
}
ok "plans of ibutils, by name" by_name
# A chassis: boards of two kinds, one left out, in an .ibnl file beside the plan, in a directory of ibutils, or in the plan's text.
chassis()
{
	mkdir -p rack shelf
	sed -n '/^SYSTEM LEAF,/,/^  2 -> P2/p; /^TOPSYSTEM/,/^  2 -> P2/p' "$corpus/ibnl" > shelf/Box.ibnl
	sed -n '/^Box sw/,$p' "$corpus/ibnl" > rack/plan.topo
	"$weft" topo show rack/plan.topo 2> err && return 1
	grep -q "rack/plan.topo:1: .*a system with boards needs its .ibnl file, beside the plan or in .IBDM_IBNL_PATH" err || { cat err && return 1; }
	IBDM_IBNL_PATH=/nowhere:$dir/shelf "$weft" topo expand rack/plan.topo > by_path.net && cp shelf/Box.ibnl rack &&
		"$weft" topo expand rack/plan.topo > beside.net && "$weft" topo expand "$corpus/ibnl" > inside.net || return 1
	cmp by_path.net beside.net && cmp beside.net inside.net || return 1
	"$weft" topo show beside.net --json | jq -e '.switches == 3 and .hosts == 3 and .links == 5' > /dev/null &&
		grep -q '^Switch.*"sw/spine1/U1"' beside.net && grep -q '"sw/leaf2/U1" lid 0 12xSDR' beside.net &&
		grep -q '"h2" lid 0 4xDDR' beside.net || { cat beside.net && return 1; }
	sed -i 's#L2/B1#L2/P1#' rack/plan.topo
	"$weft" topo show rack/plan.topo 2>&1 | grep -q "plan.topo:4: found L2/P1 of sw, expected a port that its .ibnl file describes" || return 1
	sed -i 's/NODE CA 2/NODE CA 0/' rack/Box.ibnl
	"$weft" topo show rack/plan.topo 2>&1 | grep -q "Box.ibnl:[0-9]*: .*expected a number of ports from 1 to 254"
}
ok "a chassis of ibutils' .ibnl files" chassis
# ibutils' own files: a plan of 512 hosts, and what ibdiagnet found on it, where all nodes are called CA.
ibutils=$(ls -d /usr/lib/*/ibdm*/ibnl 2> /dev/null | head -n 1)
of_ibutils()
{
	"$weft" topo show "$ibutils/RhinoBased512.topo" --json > a && "$weft" topo show "$ibutils/RhinoBased512.lst" --json > b &&
		jq -e '.hosts == 512 and .switches == 216 and .components == 1' a > /dev/null || return 1
	for f in a b; do jq -c '[.hosts + .switches, .links, .rates]' $f > $f.sum; done
	diff a.sum b.sum || return 1
	for plan in FullGnu PartialGazelle SingleGazelle SingleRhino Buffalo8; do
		"$weft" topo check "$ibutils/$plan.topo" > out 2>&1 || { cat out && return 1; }
	done
}
[ -z "$ibutils" ] || ok "the plans that come with ibutils" of_ibutils
twice()
{
	"$weft" topo gen mtree 4 2 | sed 's/"host 1"/"host 0"/' > twice.net
	"$weft" topo diff twice.net plan --names > out 2>&1
	[ $? -eq 2 ] && grep -q "found two nodes called 'host 0', expected different names with --names" out || { cat out && false; }
}
ok "by name, with a name twice" twice

# ---- Slurm ----

slurm()
{
	"$weft" topo gen mtree 4 3 | weft_slurm > out && cat > want << 'END' && diff want out
SwitchName=leaf0_0 Nodes=host0,host1
SwitchName=leaf0_1 Nodes=host2,host3
SwitchName=leaf1_0 Nodes=host4,host5
SwitchName=leaf1_1 Nodes=host6,host7
SwitchName=leaf2_0 Nodes=host8,host9
SwitchName=leaf2_1 Nodes=host10,host11
SwitchName=leaf3_0 Nodes=host12,host13
SwitchName=leaf3_1 Nodes=host14,host15
SwitchName=level1-0 Switches=leaf0_0,leaf0_1
SwitchName=level1-1 Switches=leaf1_0,leaf1_1
SwitchName=level1-2 Switches=leaf2_0,leaf2_1
SwitchName=level1-3 Switches=leaf3_0,leaf3_1
SwitchName=level2-0 Switches=level1-0,level1-1,level1-2,level1-3
END
}
weft_slurm()
{
	"$weft" topo slurm - | grep -v '^#'
}
ok "a tree of three levels for Slurm" slurm
adapters()
{
	sed 's/"host \([0-9]\)"/"node\1 mlx5_0"/; s/"node1 mlx5_0"/"node0 mlx5_1"/' plan | "$weft" topo slurm - --block > out
	grep -qx 'BlockName=leaf0 Nodes=node0' out && grep -qx 'BlockName=leaf1 Nodes=node2,node3' out && grep -qx 'BlockSizes=1' out ||
		{ cat out && false; }
}
ok "two adapters of a node, blocks" adapters
yaml()
{
	"$weft" topo slurm plan --yaml > tree.yaml && "$weft" topo slurm plan --yaml --block > block.yaml || return 1
	command -v python3 > /dev/null && python3 -c 'import yaml' 2> /dev/null || { grep -q 'children: "leaf0,leaf1' tree.yaml && return; }
	python3 -c 'import yaml, sys
t = yaml.safe_load(open("tree.yaml"))[0]
b = yaml.safe_load(open("block.yaml"))[0]
assert t["topology"] == "tree" and t["tree"]["switches"][-1]["children"] == "leaf0,leaf1,leaf2,leaf3"
assert b["block"]["block_sizes"] == [2] and b["block"]["blocks"][0] == {"block": "leaf0", "nodes": "host0,host1"}'
}
ok "topology.yaml" yaml
groups()
{
	"$weft" topo slurm plan --yaml --group a=leaf0 --group b='host [67]' --group a='host 2' > out || return 1
	cat > want << 'END' && diff want out
# topology.yaml of Slurm, written by weft topo slurm
---
- topology: a
  cluster_default: true
  tree:
    switches:
      - switch: leaf0
        nodes: "host0,host1"
      - switch: leaf1
        nodes: "host2"
      - switch: level1-0
        children: "leaf0,leaf1"
- topology: b
  cluster_default: false
  tree:
    switches:
      - switch: leaf3
        nodes: "host6,host7"
END
}
ok "topologies of groups of nodes" groups
one_group()
{
	"$weft" topo slurm plan --block --group gpu='host [0-3]' > out || return 1
	grep -c '^BlockName=' out | grep -qx 2 && grep -qx 'BlockSizes=2' out || { cat out && false; }
	"$weft" topo slurm plan --group a=leaf0 --group b=leaf1 > out 2>&1
	[ $? -eq 2 ] && grep -q 'topology.conf has one topology, found 2 groups' out || { cat out && return 1; }
	for bad in 'a b=leaf0' '=leaf0' 'a=' 'a' 'a=nowhere'; do
		"$weft" topo slurm plan --group "$bad" > out 2>&1
		[ $? -eq 2 ] && grep -q -- '--group: ' out || { echo "$bad" && cat out && return 1; }
	done
}
ok "one group as blocks; what is refused" one_group
unnamed()
{
	"$weft" topo gen mtree 4 2 | sed 's/"leaf[01]"/"Quantum Mellanox Technologies"/g; s/"leaf2"/"葉"/g' | weft_slurm > out && cat > want << 'END' && diff want out
SwitchName=QuantumMellanoxTechnologies-0002000000000001 Nodes=host0,host1
SwitchName=QuantumMellanoxTechnologies-0002000000000002 Nodes=host2,host3
SwitchName=switch-0002000000000003 Nodes=host4,host5
SwitchName=leaf3 Nodes=host6,host7
SwitchName=level1-0 Switches=QuantumMellanoxTechnologies-0002000000000001,QuantumMellanoxTechnologies-0002000000000002,switch-0002000000000003,leaf3
END
}
ok "switches that have one name, or none" unnamed
ok "a torus: leaves below one switch" sh -c "'$weft' topo gen torus 4 4 | '$weft' topo slurm - | grep -c 'Switches=' | grep -qx 1"

# LIDs only on request; a running manager gives the second side.
"$weft" fabric plan --name "topo$$" --no-console -q < /dev/null > fabric.log 2>&1 &
pids="$pids $!"
mkdir dumps
"$weft" sm --server "topo$$" --state none --dumps dumps --damping-changes 4 --damping-hold 3600s --perf-period 200ms --perf-isolate switches \
	2> sm.log &
pids="$pids $!"
ok "the subnet comes up" "$weft" ctl --wait 20s wait
ok "the subnet is like its plan" sh -c "'$weft' topo diff plan --live | grep -qx 'no difference'"
ok "nothing is suspicious about a host of it" sh -c "'$weft' why 'host 4' | grep -qx 'suspicious     nothing'"
lids()
{
	"$weft" topo diff plan --live --lids > out
	[ $? -eq 1 ] && grep -q 'LID 0 -> ' out || { cat out && false; }
}
ok "LIDs differ, if asked for" lids
missing()
{
	"$weft" ctl fabric 'unlink "leaf0"[3]' > /dev/null && "$weft" ctl wait > /dev/null && "$weft" topo diff plan --live > out
	[ $? -eq 1 ] && grep -q '^- link removed .*"leaf0"\[3\] - .*"root0"\[1\]$' out || { cat out && false; }
}
ok "a missing cable" missing
# The manager's own list of links, and ibdiagnet's, are the same fabric.
dumped()
{
	"$weft" ctl fabric 'relink "leaf0"[3]' > /dev/null && "$weft" ctl wait > /dev/null && "$weft" ctl dump > /dev/null &&
		"$weft" topo diff dumps/opensm-subnet.lst --live --lids | grep -qx 'no difference'
}
ok "opensm-subnet.lst is the subnet again" dumped
# Links that are plugged, but out of use: nobody has to look for their cables.
unused()
{
	for order in unlink relink unlink relink unlink relink; do
		"$weft" ctl fabric "$order \"leaf2\"[4]" && "$weft" ctl wait || return 1
	done
	"$weft" ctl fabric 'counter "leaf1"[3] SymbolErrorCounter 500' && until_true is_isolated || return 1
	"$weft" topo diff plan --live > out
	grep '^- link removed .*"leaf1"\[3\] - .*"root0"\[2\]: it is sick, and the manager has isolated it$' out &&
		grep '^- link removed .*"leaf2"\[4\] - .*"root1"\[3\]: it changes too often, and the manager holds it down$' out || { cat out && false; }
}
is_isolated()
{
	"$weft" ctl sick --json | grep '"isolated": 1'
}
ok "links that are out of use are not missing cables" unused
echo "1..$n"
