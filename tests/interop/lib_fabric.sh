# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # the scripts that read this use what is set here
#
# What the tests of `weft fabric` share; read with `.` after lib.sh. A fabric started here is stopped
# as ibsim is, at the latest at the end; so is the OpenSM that runs on it.

opensm_pid=
trap 'opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT

# until_true SECONDS COMMAND...: as often as it takes, within the time
until_true()
{
	until_looks=$(($1 * 20)) # not a name that a caller has: sh has no local variables
	shift
	until "$@" > /dev/null 2>&1; do
		until_looks=$((until_looks - 1))
		[ $until_looks -gt 0 ] || return 1
		sleep 0.05
	done
}

# emu_start NET [OPTION...]: weft fabric with this netlist; other programs then run at its first host
emu_start()
{
	fabric_stop
	fabrics=$((fabrics + 1))
	IBSIM_SOCKNAME=weft-emu-$$-$fabrics
	SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$1" | head -n 1)
	export IBSIM_SOCKNAME SIM_HOST
	rm -f console fabric.out
	mkfifo console
	# Open for reading and writing, so that no writer's end is the end of input.
	"$weft" fabric --no-control "$@" 0<> console > fabric.out 2>&1 &
	ibsim_pid=$!
	if ! until_true 30 listening || ! kill -0 $ibsim_pid; then
		echo "weft fabric does not start:"
		tail -n 5 fabric.out
		return 1
	fi
}

# emu_ask COMMAND: what the fabric's console answers
emu_ask()
{
	before=$(wc -l < fabric.out)
	mark=mark-$before # there is no such command, which the fabric says
	printf '%s\n%s\n' "$1" "$mark" > console
	until_true 20 grep -q "'$mark'" fabric.out || { echo "no answer to $1" && return 1; }
	tail -n "+$((before + 1))" fabric.out | grep -v "'$mark'\|^\[ *[0-9]*\.[0-9]*\] "
	return 0
}

# figure NAME: one of the numbers of `stat`
figure()
{
	emu_ask stat | sed -n "s/^$1  *\([0-9]*\)\$/\1/p"
}

# all_active LINKS: so many links, each Active at both ends
all_active()
{
	active=$(figure 'ports Active')
	[ "$active" = $((2 * $1)) ] && return
	echo "$active ports are Active, expected $((2 * $1))"
	return 1
}

# opensm_start [LINE...]: OpenSM as a daemon with these lines in its configuration, until the subnet is up
opensm_start()
{
	rm -rf osm
	mkdir osm
	printf '%s\n' 'force_log_flush TRUE' "$@" > osm/conf
	OSM_TMP_DIR=$dir/osm OSM_CACHE_DIR=$dir/osm LD_PRELOAD=$preload \
		opensm -e -F "$dir/osm/conf" -f "$dir/osm/log" -D 0x43 > osm/said 2>&1 &
	opensm_pid=$!
	until_true 30 grep -q 'SUBNET UP' osm/log && return
	echo "OpenSM $* did not come up:"
	tail -n 5 osm/log osm/said
	return 1
}

opensm_stop()
{
	[ -n "$opensm_pid" ] || return 0
	kill "$opensm_pid" 2> /dev/null
	wait "$opensm_pid" 2> /dev/null
	opensm_pid=
}

# at NODE COMMAND...: a program at that node
at()
{
	(
		SIM_HOST=$1
		shift
		on_fabric "$@"
	)
}
