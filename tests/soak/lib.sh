# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2094,SC2120,SC2154,SC2015 # the scripts that read this use what is set here
#
# What the soak tests share; read with `.` after `weft` and `tools`, the directory of storm, census and
# the others, are set. Beyond tests/interop/lib.sh: what devices hold, and whether programs are well.

# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"
server=fabric
watcher_pid=
liar_pid=
trap 'watch_end; liar_stop; sm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
# Freed memory that a sanitizer keeps is not memory that is lost.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS
most_mib=400 # what a program may come to need, whatever is thrown at it

# home: a host that no attack comes from
home=H-0001000000000044

# census [-t]: what the devices hold, in lids, ports, lfts and off
census()
{
	"$tools/census" -s "$IBSIM_SOCKNAME" -n "$home" -d "$dir" "$@"
}

# is_whole [-t]: all links of net Active, LIDs given once, tables verified; with -t, no turn is off
is_whole()
{
	census "$@" || return 1
	ends=$("$weft" topo show net --json | jq '.links * 2')
	[ "$(grep -c ' Active$' ports)" -eq "$ends" ] && ! grep -v ' Active$' ports ||
		{ echo "$(wc -l < ports) ends of links of $ends" && return 1; }
	! awk '$2 == 0' lids | grep . || return 1
	"$weft" route verify net lfts --json > verdict && jq -e '.ok' verdict > /dev/null || { cat verdict && return 1; }
	[ "${1:-}" != -t ] || [ ! -s off ] || { echo "turns that are off:" && cat off && return 1; }
}

# same_lids FILE: as they were then
same_lids()
{
	diff "$1" lids
}

# mib PID: its memory
mib()
{
	awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$1/status"
}

is_small()
{
	size=$(mib "$1")
	[ "${size:-$most_mib}" -lt $most_mib ] || { echo "process $1 has come to $size MiB" && false; }
}

# no_fault FILE...: nothing that a sanitizer or an assertion prints
no_fault()
{
	! grep -E -A 20 'ERROR: (Address|Leak)Sanitizer|runtime error:|[Aa]ssertion .* failed|[Oo]ut of memory' "$@"
}

# ends_well PID LOG: it ends by SIGTERM with status 0 and nothing to complain about
ends_well()
{
	kill "$1" || { cat "$2" && return 1; }
	wait "$1"
	status=$?
	[ $status -eq 0 ] && no_fault "$2" || { echo "status $status" && tail -n 30 "$2" && false; }
}

fabric_ends()
{
	ends_well "$ibsim_pid" ibsim.out && ibsim_pid=
}

sm_ends()
{
	ends_well "$sm_pid" sm.log && sm_pid=
}

# ---- a manager that answers all the time ----

# watch_begin: asks the manager without end; an answer that takes longer than the limit is none
watch_begin()
{
	rm -f unanswered
	(
		# Whether it is there at all is asked first: a manager may be starting.
		while :; do
			"$weft" ctl --socket "$dir/ctl" --timeout "${SOAK_ANSWER:-10s}" --json status > watched 2> watch.err ||
				cat watch.err >> unanswered
			sleep 0.1
		done
	) &
	watcher_pid=$!
}

watch_end()
{
	if [ -n "$watcher_pid" ]; then
		kill "$watcher_pid" 2> /dev/null
		wait "$watcher_pid" 2> /dev/null
		watcher_pid=
	fi
}

always_answered()
{
	watch_end
	[ ! -s unanswered ] || { cat unanswered && false; }
}

# sm_resync: the manager reads everything again and comes to rest
sm_resync()
{
	at=$(sm_changes)
	sm_ask resync > /dev/null || { cat ctl.err && return 1; }
	tries=0
	until sm_ask status > status && jq -e ".changes > $at and .connected and .phase == \"ready\" and (.change_pending | not)" \
		status > /dev/null; do
		tries=$((tries + 1))
		if [ $tries -gt 1200 ] || ! kill -0 "$sm_pid" 2> /dev/null; then
			echo "Weft does not come to rest:"
			cat status ctl.err
			tail -n 5 sm.log
			return 1
		fi
		sleep 0.05
	done
}

# ---- a server that lies ----

# liar_start PACKETS ONE_IN SEED PELTS: it serves $IBSIM_SOCKNAME-liar
liar_start()
{
	"$tools/liar" -s "$IBSIM_SOCKNAME-liar" -u "$IBSIM_SOCKNAME" -n "$1" -k "$2" -S "$3" -x "${4:-0}" >> liar.out 2>&1 &
	liar_pid=$!
	tries=0
	until grep -q serving liar.out; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat liar.out && return 1; }
		sleep 0.05
	done
}

# By SIGUSR1 it is honest at once.
liar_honest()
{
	kill -USR1 "$liar_pid"
	tries=0
	until grep -q honest liar.out; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat liar.out && return 1; }
		sleep 0.05
	done
}

liar_stop()
{
	if [ -n "$liar_pid" ]; then
		kill "$liar_pid" 2> /dev/null
		wait "$liar_pid" 2> /dev/null
		liar_pid=
	fi
}

# draw N SEED: a number below N, the same for the same seed
draw()
{
	awk -v n="$1" -v seed="$2" 'BEGIN { srand(seed); print int(rand() * n) }'
}
