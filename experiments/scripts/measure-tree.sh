#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# One bring-up of the fabric in the file `net`, in real time, on weft fabric: measure-tree.sh opensm|weft
#
# Prints JSON: SMPs by method and attribute as the fabric's own meter counts them, and the times of the phases as
# the fat-tree model has them, from the first and last SMP of each kind: discovery until the last Get(NodeInfo),
# computation until the first Set(LinearForwardingTable), distribution until the last one. WEFT is the program.
# Status 3: OpenSM or the library for it is not installed.
set -euo pipefail
who=$1
export IBSIM_SOCKNAME=weft-tree-$$ OSM_TMP_DIR=$PWD OSM_CACHE_DIR=$PWD
mkfifo console
"$WEFT" fabric net --no-control --quiet 0<> console > fabric.out 2>&1 &
fabric=$!
trap 'kill "$fabric" 2> /dev/null || true' EXIT
until grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix; do
	kill -0 "$fabric" || { cat fabric.out >&2; exit 2; }
	sleep 0.02
done

preload()
{
	local lib
	for lib in "$(dirname "$WEFT")"/../preload/libweft-umad.so "$(dirname "$WEFT")"/../lib/*/libweft-umad.so \
		/usr/lib/*/umad2sim/libumad2sim.so; do
		if [ -e "$lib" ]; then
			echo "$lib"
			return
		fi
	done
	echo "no library leads OpenSM to the emulated fabric" >&2
	exit 3
}

case $who in
weft) "$WEFT" sm --once --transport ibsim > sm.out 2>&1 || { tail -n 3 sm.out >&2; exit 1; } ;;
opensm)
	command -v opensm > /dev/null || { echo "opensm is not installed" >&2; exit 3; }
	lib=$(preload)
	LD_PRELOAD=$lib opensm -o -f opensm.log > sm.out 2>&1 || { tail -n 3 opensm.log >&2; exit 1; }
	;;
*) echo "expected opensm or weft, found '$who'" >&2; exit 2 ;;
esac
: > fabric.out
echo meter > console
for _ in $(seq 200); do
	grep -q '^Set PortInfo' fabric.out && break
	sleep 0.02
done
awk '
	$1 == "Get" || $1 == "Set" { n[$1] += $3; k = $1 "_" $2; count[k] = $3; first[k] = $4; last[k] = $5 }
	END {
		td = last["Get_NodeInfo"]; lft = "Set_LinearForwardingTable"
		start = first["Get_NodeInfo"]
		printf "{\"smps\": {\"get\": %d, \"set\": %d, \"total\": %d, \"get_node_info\": %d, \"get_port_info\": %d, ",
			n["Get"], n["Set"], n["Get"] + n["Set"], count["Get_NodeInfo"], count["Get_PortInfo"]
		printf "\"set_port_info\": %d, \"set_lft\": %d}, ", count["Set_PortInfo"], count[lft]
		printf "\"time_ms\": {\"td\": %.3f, \"pc\": %.3f, \"pd\": %.3f, \"total\": %.3f}}\n", (td - start) / 1000,
			(first[lft] - td) / 1000, (last[lft] - first[lft]) / 1000, (last["Set_PortInfo"] - start) / 1000
	}' fabric.out
