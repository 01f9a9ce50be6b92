#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# kill -9 of the manager at random moments: kills.sh WEFT TOOLS [KILLS [SEED]]
#
# During bring-ups, from the first moment of the process to the last SMP, and half as often during changes.
# The manager is started again with the same state file; every other time, drawn at random, it may finish.
# Then the subnet must be the same: all links Active, tables verified, no turn disabled, each device with the
# LID it always had. The next bring-up starts on a cold fabric, half of the time without a state file: LIDs
# then are those that the killed managers had begun to assign, known from the devices and from what was
# written in time. Each manager runs on another port, and would assign others. Most fabrics are slow, so that
# a shell can hit each phase.

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

# shoot MS: the SM, after so many milliseconds; what it was at is noted, by the last phase in its log
shoot()
{
	sleep "$(awk -v ms="$1" 'BEGIN { print ms / 1000 }')"
	kill -9 "$sm_pid" 2> /dev/null
	wait "$sm_pid" 2> /dev/null
	sm_pid=
	sed -n 's/.* phase: .* -> \([a-z]*\),.*/\1/p' sm.log | tail -n 1 | grep . >> phases || echo start >> phases
	no_fault sm.log
}

sm_run()
{
	"$weft" sm --transport ibsim --state state.db --control "$dir/ctl" --log-level debug > sm.log 2>&1 &
	sm_pid=$!
}

# Where it is sent to its first SMP is said when it is connected.
sm_begins()
{
	sm_run
	tries=0
	until grep -q ' connected: ' sm.log; do
		tries=$((tries + 1))
		[ $tries -lt 2000 ] || { cat sm.log && return 1; }
		sleep 0.005
	done
}

# seat NUMBER: where the next SM sits; where the fabric is slow, its link is
seat()
{
	SIM_HOST=$(printf 'H-%016x' $((0x0001000000000010 + 4 * $(draw 128 $((seed * 8000 + $1))))))
	[ $slow -eq 0 ] || console "latency \"$SIM_HOST\"[1] 2ms"
}

# cold NUMBER: a fabric that knows nothing; three of four are slow
cold()
{
	fabric_start net || return 1
	slow=$(($1 % 4 > 0))
	[ "$1" -eq 0 ] || [ "$(draw 2 $((seed * 9000 + $1)))" -eq 0 ] || cold_fabric
}

# Nothing is known of any LID: in which order they are given depends on where the SM sits.
cold_fabric()
{
	rm -f state.db*
	: > seen
	: > first
}

# How long it takes here until the process is connected, and to bring up a fabric and a slow one, to aim at
# all of it.
measure()
{
	fabric_start net && console "latency \"$SIM_HOST\"[1] 2ms" && began=$(date +%s%N) && sm_begins || return 1
	start_ms=$((($(date +%s%N) - began) / 1000000))
	sm_settled 1 && slow_ms=$(took_ms) && is_whole -t && cp lids first && note_lids && sm_stop || return 1
	fabric_start net && sm_start --state state.db && up_ms=$(took_ms) && is_whole -t && same_lids first && sm_stop &&
		echo "# bring-up: $start_ms ms to the first SMP, then $up_ms ms, or $slow_ms ms where it is slow" >> told
}

took_ms()
{
	jq '.last_change.time_s * 1000 | floor + 1' status
}

# At a moment drawn from all of a bring-up; one in eight before it asks anything; and every other one in a
# phase that would hardly be hit, since discovery takes most of the time.
a_kill()
{
	case $(draw 8 $((seed * 5000 + i))) in
	0) sm_run && shoot "$(draw "$start_ms" $((seed * 1000 + i)))" ;;
	[1-4]) sm_begins && sm_at && shoot "$(draw $((3 + slow * 22)) $((seed * 1000 + i)))" ;;
	*) sm_begins && shoot "$(draw $((slow ? slow_ms : up_ms)) $((seed * 1000 + i)))" ;;
	esac
}

# It is in that phase, or was.
sm_at()
{
	case $(draw 3 $((seed * 7000 + i))) in
	0) phase=configure ;;
	1) phase='join' ;;
	2) phase=arm ;;
	esac
	tries=0
	until grep -q -e " -> $phase," -e ' -> ready,' sm.log; do
		tries=$((tries + 1))
		[ $tries -lt 20000 ] || { cat sm.log && return 1; }
	done
}

in_bring_ups()
{
	i=0 done=0
	cold 0 || return 1
	while [ $i -lt "$kills" ]; do
		seat $i
		a_kill && note_lids || return 1
		i=$((i + 1))
		[ "$(draw 2 $((seed * 6000 + i)))" -eq 0 ] || continue
		same_subnet && sm_stop || { echo "after kill $i" && return 1; }
		done=$((done + 1))
		cold $done || return 1
	done 2> /dev/null # the shell reports each killed child
	told_phases "while bringing it up, $done times to the end"
}

# told_phases WHEN
told_phases()
{
	sort phases | uniq -c | sort -rn | awk '{ s = s ", " $1 " in " $2; n += $1 } END { print "# " n " kills " w ": " substr(s, 3) }' \
		w="$1" >> told
	: > phases
}

same_subnet()
{
	sm_start --state state.db && is_whole -t && lids_stayed || return 1
	[ -s first ] || cp lids first
	same_lids first
}

# A trunk or a leaf's uplink goes and comes; the SM dies somewhere on the way.
in_changes()
{
	i=0
	while [ $i -lt $((kills / 2)) ]; do
		kill -0 "$sm_pid" 2> /dev/null || { sm_run && sm_settled 1; } || return 1
		port=$(draw 8 $((seed * 1000 + i)))
		switch=$(printf 'S-%016x' $((0x0002000000000000 + 1 + $(draw 32 $((seed * 2000 + i))))))
		console "Unlink \"$switch\"[$((port + 1))]"
		shoot "$(draw 30 $((seed * 3000 + i)))" || return 1
		[ $((i % 2)) -eq 0 ] || sm_run # one that finds it cut, and is there when it comes back
		console "Relink \"$switch\"[$((port + 1))]"
		[ -z "$sm_pid" ] || shoot "$(draw $((start_ms + up_ms)) $((seed * 4000 + i)))" || return 1
		i=$((i + 1))
	done 2> /dev/null
	told_phases "after a change"
}

# Cables are as in the netlist again, whatever order they came back in.
well()
{
	sm_ends && fabric_ends
}

: > seen
: > phases
: > told
ok "the subnet comes up" measure
ok "killed $kills times while bringing it up" in_bring_ups
ok "the same subnet, LIDs kept" same_subnet
ok "killed $((kills / 2)) times and more after a change" in_changes
ok "the same subnet, LIDs kept" same_subnet
ok "both are well and end" well
cat told
echo "1..$n"
