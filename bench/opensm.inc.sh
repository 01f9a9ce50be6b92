# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # set by, and for, the scripts that read this
#
# One bring-up of OpenSM on weft fabric with the netlist $work/net, for its tables and its log. Sourced, after weft, work, limit,
# server_pid and umad2sim are set.

# opensm_options DIR ENGINE FABRIC: what the engine has to be told, in `options`
opensm_options()
{
	options=()
	case $2 in
	updn | dnup)
		sed -n -E 's/^Switch.*"S-([0-9a-f]*)".*# "(root|top|spine|middle|sw0_).*/0x\1/p' "$work/net" > "$1/roots"
		grep -q sw0_ "$work/net" || [ ! -s "$1/roots" ] || options=(-a "$1/roots")
		;;
	torus-2QoS)
		torus_conf "$3" > "$1/torus.conf"
		[ ! -s "$1/torus.conf" ] || options=(--torus_config "$1/torus.conf")
		;;
	esac
}

# The file that torus-2QoS reads, for the tori of the list.
torus_conf()
{
	guid() { sed -n "s/^Switch.*\"S-\([0-9a-f]*\)\".*# \"$1\".*/0x\1/p" "$work/net"; }
	case $1 in
	torus3d*) echo 'torus 6t 6t 6t' &&
		echo "xp_link $(guid sw0_0_0) $(guid sw1_0_0)" && echo "yp_link $(guid sw0_0_0) $(guid sw0_1_0)" &&
		echo "zp_link $(guid sw0_0_0) $(guid sw0_0_1)" ;;
	torus2d*) echo 'torus 10t 10t 1t' &&
		echo "xp_link $(guid sw0_0) $(guid sw1_0)" && echo "yp_link $(guid sw0_0) $(guid sw0_1)" ;;
	esac
}

# opensm_run DIR ENGINE [FABRIC]: its tables and log
opensm_run()
{
	export IBSIM_SOCKNAME=weftroutes$$-$RANDOM SIM_HOST
	SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/net" | head -n 1)
	mkfifo "$1/console"
	"$weft" fabric "$work/net" --no-control --quiet 0<> "$1/console" > "$1/fabric" 2>&1 &
	server_pid=$!
	until grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix; do
		kill -0 "$server_pid" 2> /dev/null || return 1
		sleep 0.05
	done
	opensm_options "$1" "$2" "${3:-}"
	OSM_TMP_DIR=$1 OSM_CACHE_DIR=$1 LD_PRELOAD=$umad2sim timeout "$limit" opensm -o -e -f "$1/log" -D 0x43 -R "$2" \
		"${options[@]}" > "$1/said" 2>&1 || true
	kill "$server_pid" 2> /dev/null || true
	wait "$server_pid" 2> /dev/null || true
	server_pid=
	[ -s "$1/opensm-lfts.dump" ]
}
