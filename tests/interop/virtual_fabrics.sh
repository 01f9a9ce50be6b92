#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Fabrics with virtual functions as other tools see them, as TAP: virtual_fabrics.sh PATH/TO/weft
#
# ibsim loads what weft topo expand writes, OpenSM on a PF brings it up with a LID for each function, ibnetdiscover
# sees it, and by OpenSM's tables every LID can be reached. Covers: virtual.c, cmd_topo_expand.c

# shellcheck disable=SC2015,SC2119,SC2317 # `a && b || explain`; functions called by ok
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
need jq ibsim opensm ibnetdiscover
need_umad2sim

# figure NAME: of the compact fabric
figure()
{
	"$weft" topo show net --json | jq "$1"
}

# seat FILE: the PF of the first vSwitch whose uplink has a cable, or the first host
seat()
{
	awk '/^devid=/ { v = $0 == "devid=0x7653" } /^Switch/ { up = 0 } /^Ca/ && !ca { split($0, q, "\""); ca = q[2] }
		/^\[1\]/ { up = v } /^\[2\]/ && up && v { split($0, q, "\""); print q[2]; done = 1; exit }
		END { if (!done) print ca }' "$1"
}

# same_shape: nodes, names and links. ibsim gives hosts port GUIDs of its own, knows slower rates and no cables.
same_shape()
{
	"$weft" topo diff wire seen --json > changes
	jq -e '[.changes[] | select(.kind != "node changed" or
		(.what | split("; ") | any(test("^(port GUID|LID|rate|cable) ") | not)))] == []' changes > /dev/null ||
		{ head -c 2000 changes && false; }
}

# reaches NET: every LID from everywhere. OpenSM's default routes may have credit loops.
reaches()
{
	"$weft" route verify "$1" osm/opensm-lfts.dump --json > verdict
	jq -e '.unreachable == 0 and .loops == 0 and .pairs > 0' verdict > /dev/null || { cat verdict && false; }
}

# up GEN...: the fabric that these arguments generate
up()
{
	"$weft" topo gen "$@" -o net && "$weft" topo expand net -o wire && fabric_start wire || return 1
	SIM_HOST=$(seat wire)
	opensm_once && discover seen && reaches seen
}

# all_up GEN...: the same, and ibnetdiscover sees all of it
all_up()
{
	up "$@" && same_shape && reaches wire
}

# All functions of all HCAs have LIDs, each its own.
all_lids()
{
	all_up "$@" || return 1
	ports=$(($(figure .switches) + $(figure .hosts) + $(figure .virtual.vswitch.hypervisors) + $(figure .virtual.vswitch.vfs)))
	lids seen | awk '{ print $NF }' > given
	sort -n given | uniq -d > twice
	[ "$(wc -l < given)" -eq "$ports" ] && [ ! -s twice ] && ! grep -qx 0 given ||
		{ echo "$(wc -l < given) LIDs of $ports, twice: $(cat twice)" && false; }
}


ok "2 VFs at each host of a tree" all_lids mtree 4 2 --vfs 2
ok "4 VFs at each host of a torus" all_lids torus 3 3 --vfs 4
ok "1 VF at each host of an irregular fabric" all_lids irregular 8 --hosts 7 --seed 3 --vfs 1
ok "252 VFs at each of 3 hosts" all_lids ring 3 --vfs 252
ok "shared ports are plain hosts" all_up mtree 4 2 --vfs 16 --sriov shared
for seed in 1 2 5 9; do
	ok "odd fabric $seed" up odd --seed $seed --rate 4xQDR --vfs 3
done
echo "1..$n"
