#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# One bring-up of the fabric in the file `net`: measure-tree.sh opensm|weft|sim [OPTION...]
#
# opensm, weft: in real time on weft fabric. SMPs by method and attribute are those that the fabric's own meter
# counts; the times are those of the phases as the fat-tree model has them, from the first and last SMP of each kind:
# discovery until the last Get(NodeInfo), computation until the first Set(LinearForwardingTable), distribution until
# the last one. sim: `weft sim up` with these options, in simulated time, with SMPs and phases of its own report.
# Prints JSON. WEFT is the program. Status 3: OpenSM or the library for it is not installed.
set -euo pipefail
who=$1
shift

# Of the fabric itself.
fabric()
{
	printf '{"hosts": %d, "switches": %d, ' "$(grep -c '^Ca' net)" "$(grep -c '^Switch' net)"
}

if [ "$who" = sim ]; then
	"$WEFT" sim up net --json "$@" > report.json || { grep -m 1 '"why"' report.json >&2; exit 1; }
	fabric
	awk '
		{ gsub(/[",:]/, "") }
		$2 == "{" { in_part = $1 }
		in_part ~ /^(get|set)$/ { n[in_part "_" $1] = $2 }
		in_part == "time_s" { ms[$1] = $2 * 1000 }
		END {
			printf "\"smps\": {\"get\": %d, \"set\": %d, \"total\": %d, \"get_node_info\": %d, \"get_port_info\": %d, ",
				n["get_total"], n["set_total"], n["get_total"] + n["set_total"], n["get_node_info"],
				n["get_port_info"]
			printf "\"set_port_info\": %d, \"set_lft\": %d}, ", n["set_port_info"], n["set_lft"]
			printf "\"time_ms\": {\"td\": %.3f, \"pc\": %.3f, \"pd\": %.3f, \"total\": %.3f}}\n",
				ms["discovery"], ms["computation"], ms["distribution"], ms["total"]
		}' report.json
	exit
fi

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
*) echo "expected opensm, weft or sim, found '$who'" >&2; exit 2 ;;
esac
: > fabric.out
echo meter > console
for _ in $(seq 200); do
	grep -q '^Set PortInfo' fabric.out && break
	sleep 0.02
done
fabric
awk '
	$1 == "Get" || $1 == "Set" { n[$1] += $3; k = $1 "_" $2; count[k] = $3; first[k] = $4; last[k] = $5 }
	END {
		td = last["Get_NodeInfo"]; lft = "Set_LinearForwardingTable"
		start = first["Get_NodeInfo"]
		printf "\"smps\": {\"get\": %d, \"set\": %d, \"total\": %d, \"get_node_info\": %d, \"get_port_info\": %d, ",
			n["Get"], n["Set"], n["Get"] + n["Set"], count["Get_NodeInfo"], count["Get_PortInfo"]
		printf "\"set_port_info\": %d, \"set_lft\": %d}, ", count["Set_PortInfo"], count[lft]
		printf "\"time_ms\": {\"td\": %.3f, \"pc\": %.3f, \"pd\": %.3f, \"total\": %.3f}}\n", (td - start) / 1000,
			(first[lft] - td) / 1000, (last[lft] - first[lft]) / 1000, (last["Set_PortInfo"] - start) / 1000
	}' fabric.out
