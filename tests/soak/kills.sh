#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# kill -9 of the SM at random moments: kills.sh WEFT TOOLS [KILLS [SEED]]
#
# Half of them while it brings a fabric up, which is cold again every fourth time, half while it follows a
# change; started again each time with the same state file. In the end the subnet is the same: all links
# Active, tables verified, no turn left off, and every LID that a device ever had is still its own.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
kills=${3:-12}
seed=${4:-1}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

"$weft" topo gen mtree 8 3 -o net

# LIDs that devices have now, to what was seen of them before.
note_lids()
{
	census > /dev/null && awk '$2' lids >> seen
}

# One that devices had, and another that the same one had at another time.
moved()
{
	sort -u seen | awk '$1 == last { print "two LIDs: " line; print $0 } { last = $1; line = $0 }'
}

lids_stayed()
{
	note_lids && moved > two && [ ! -s two ] || { cat two && false; }
}

# shoot MS: the SM, after so many milliseconds
shoot()
{
	sleep "$(awk -v ms="$1" 'BEGIN { print ms / 1000 }')"
	kill -9 "$sm_pid" 2> /dev/null
	wait "$sm_pid" 2> /dev/null
	sm_pid=
	no_fault sm.log
}

sm_run()
{
	"$weft" sm --transport ibsim --state state.db --control "$dir/ctl" > sm.log 2>&1 &
	sm_pid=$!
}

# How long a bring-up takes here, to aim at all of it.
measure()
{
	began=$(date +%s%N)
	sm_start --state state.db || return 1
	up_ms=$((($(date +%s%N) - began) / 1000000))
	is_whole -t && cp lids first && note_lids && sm_stop
}

in_bring_ups()
{
	i=0
	while [ $i -lt $((kills / 2)) ]; do
		if [ $((i % 4)) -eq 0 ]; then
			fabric_start net || return 1
		fi
		sm_run
		shoot "$(draw "$up_ms" $((seed * 1000 + i)))" || return 1
		note_lids || return 1
		i=$((i + 1))
	done 2> /dev/null # the shell tells of each killed child
}

same_subnet()
{
	sm_start --state state.db && is_whole -t && same_lids first && lids_stayed
}

# A trunk or a leaf's uplink goes and comes; the SM dies somewhere on the way.
in_changes()
{
	i=0
	while [ $i -lt $((kills - kills / 2)) ]; do
		kill -0 "$sm_pid" 2> /dev/null || sm_start --state state.db || return 1
		port=$(draw 8 $((seed * 1000 + i)))
		switch=$(printf 'S-%016x' $((0x0002000000000000 + 1 + $(draw 32 $((seed * 2000 + i))))))
		console "Unlink \"$switch\"[$((port + 1))]"
		shoot "$(draw 30 $((seed * 3000 + i)))" || return 1
		[ $((i % 2)) -eq 0 ] || sm_run # one that finds it cut, and is there when it comes back
		console "Relink \"$switch\"[$((port + 1))]"
		[ -z "$sm_pid" ] || shoot "$(draw "$up_ms" $((seed * 4000 + i)))" || return 1
		i=$((i + 1))
	done 2> /dev/null
}

# Cables are as in the netlist again, whatever order they came back in.
well()
{
	sm_ends && fabric_ends
}

: > seen
ok "the server takes the netlist" fabric_start net
ok "the subnet comes up" measure
ok "killed $((kills / 2)) times while bringing it up" in_bring_ups
ok "the same subnet, LIDs kept" same_subnet
ok "killed $((kills - kills / 2)) times and more after a change" in_changes
ok "the same subnet, LIDs kept" same_subnet
ok "both are well and end" well
echo "1..$n"
