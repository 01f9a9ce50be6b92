#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Pairs of managers on one emulated fabric, two `weft sm` beside two OpenSMs in the same run: how long until a
# master answers after the master was killed, asked to end, unplugged or paused; what it costs.
#
#	bench/ha.sh [WEFT]		648, 3,456 and 11,664 hosts
#	QUICK=1 bench/ha.sh		648 hosts
#	OPENSM=0 bench/ha.sh		without OpenSM
#	TUNED=1 bench/ha.sh		OpenSM polls as often as Weft does, and misses as few polls
#	SIZES='t8_3 8 3' bench/ha.sh	another fabric: a name, then as for weft topo gen mtree
#	bench/ha.sh --write-docs	also refresh docs/results/ha.md
#	bench/ha.sh --tables		measure nothing: the table from the rows of the last run
#
# It needs build/bench/sm-watch (meson configure build -Dtests=true && ninja -C build), and for OpenSM opensm and
# libumad2sim. Times are those of the machine: nothing else should run on it.
#
# A third program (bench/sm_watch.c) asks both managers for their SMInfo every few milliseconds. "until a master
# answers" is the time from the event to the first response that says Master from the manager that takes over;
# "two masters" is how long both said so. SMPs are all that the fabric received from the event until both managers
# were quiet for two seconds, except SMInfo; tables are Set(LinearForwardingTable) among them. Managers run with
# their defaults; the first has priority 5, the second 1. The first gets the subnet back after each event.
#
# Rows are written to bench/out/ha.jsonl as they come; bench/out/ha.md has the table. "never": not within LIMIT (240)
# seconds. Status 1: Weft missed something; what OpenSM misses is in the table alone.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=ha
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/ha.jsonl
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
tuned=${TUNED:-0}
limit=${LIMIT:-240}
work=
ibsim_pid=
server_pid=
watch_pid=
pid1=
pid2=
runs=0
failed=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	for pid in $pid1 $pid2 $watch_pid $server_pid; do
		kill -CONT "$pid" 2> /dev/null || true
		kill -9 "$pid" 2> /dev/null || true
	done
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

sizes()
{
	if [ -n "${SIZES:-}" ]; then
		printf '%s\n' "$SIZES"
		return
	fi
	echo 't36_2 36 2'
	[ "$quick" != 0 ] || printf '%s\n' 't24_3 24 3' 't36_3 36 3'
}

fabric() { "$weft" ctl fabric --socket "$dir/fabric.sock" "$@"; }

# ---- the fabric and its managers ----

# fabric_start NET: sets dir, IBSIM_SOCKNAME, the two seats and the watcher's node
fabric_start()
{
	runs=$((runs + 1))
	export IBSIM_SOCKNAME=weftha$$-$runs
	dir=$work/run$runs
	net=$1
	mkdir -p "$dir"
	mkfifo "$dir/console"
	exec 7<> "$dir/console"
	"$weft" fabric "$net" --name "$IBSIM_SOCKNAME" --control "$dir/fabric.sock" --quiet <&7 > "$dir/fabric.out" 2>&1 &
	server_pid=$!
	until [ -S "$dir/fabric.sock" ]; do
		kill -0 "$server_pid" 2> /dev/null || return 1
		sleep 0.02
	done
	mapfile -t hosts < <(grep '^Ca' "$net" | cut -d '"' -f 2)
	seat1=${hosts[0]}
	seat2=${hosts[$((${#hosts[@]} / 2))]}
	"$here/../build/bench/sm-watch" "$net" "$IBSIM_SOCKNAME" "${hosts[-1]}" 5 "$seat1" "$seat2" > "$dir/states" &
	watch_pid=$!
}

end() # PID...
{
	for pid in "$@"; do
		kill -CONT "$pid" 2> /dev/null || true
		kill "$pid" 2> /dev/null || true
		for _ in $(seq 200); do
			kill -0 "$pid" 2> /dev/null || break
			sleep 0.05
		done
		kill -9 "$pid" 2> /dev/null || true
		wait "$pid" 2> /dev/null || true
	done
}

fabric_stop()
{
	# shellcheck disable=SC2086 # numbers or nothing
	end $pid1 $pid2 $watch_pid $server_pid
	pid1='' pid2='' watch_pid='' server_pid=''
	exec 7>&-
}

# start weft|opensm 1|2: the manager at that seat
start()
{
	local seat=seat$2 priority=$((9 - 4 * $2)) at=$dir/$2
	mkdir -p "$at"
	if [ "$1" = weft ]; then
		printf 'election: {priority: %s}\n' "$priority" > "$at/conf"
		"$weft" sm --config "$at/conf" --transport ibsim --server "$IBSIM_SOCKNAME" --device "${!seat}" \
			--state "$at/state.db" --control "$at/sock" > "$at/log" 2>&1 &
	else
		echo 'force_log_flush TRUE' > "$at/conf"
		[ "$tuned" = 0 ] || printf 'sminfo_polling_timeout 250\npolling_retry_number 3\n' >> "$at/conf"
		(
			cd "$at" # libumad2sim leaves its files where it is killed
			export SIM_HOST=${!seat} OSM_TMP_DIR=$at OSM_CACHE_DIR=$at LD_PRELOAD=$umad2sim
			exec opensm -e -F "$at/conf" -f "$at/log" -D 0x3 -R minhop -p "$priority"
		) < /dev/null > "$at/said" 2>&1 &
	fi
	eval "pid$2=\$!"
}

# ---- what the watcher saw ----

state() { awk -v n="$1" '$2 == n { s = $3 } END { print s }' "$dir/states"; }
says() { [ "$(state "$1")" = "$2" ]; }

wait_until() # COMMAND...
{
	local end=$((SECONDS + limit))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# No Set for two seconds.
quiet()
{
	local a b
	a=$(fabric meter | grep '^Set' | cksum)
	sleep 2
	b=$(fabric meter | grep '^Set' | cksum)
	[ "$a" = "$b" ]
}

# The first is master, the second stands by, both are at rest; a Weft has its mirror.
mirrored() { [ "$1" != weft ] || "$weft" ctl --socket "$dir/2/sock" status --json 2> /dev/null | jq -e 'if has("mirror") then .mirror.complete else true end' > /dev/null; }
both_ready()
{
	wait_until says "$seat1" Master && wait_until says "$seat2" Standby && wait_until quiet && wait_until mirrored "$1"
}

# first_master NODE SINCE: seconds from then until the node said Master; nothing if it did not
first_master() { awk -v n="$1" -v t="$2" '$2 == n && $3 == "Master" && $1 >= t { printf "%.3f", $1 - t; exit }' "$dir/states"; }
# two_masters SINCE NOW: for how long both said so
two_masters()
{
	awk -v t="$1" -v now="$2" '
		function add(until) { if (both && until > t) sum += until - (from > t ? from : t) }
		{ add($1); s[$2] = $3; n = 0; for (k in s) n += s[k] == "Master"; both = n > 1; from = $1 }
		END { add(now); printf "%.3f", sum }' "$dir/states"
}

# smps [METHOD ATTRIBUTE]: that the fabric received since the last event; all but SMInfo, which the watcher asks
smps() { fabric meter | awk -v m="${1:-}" -v a="${2:-}" '$2 ~ /^[A-Z]/ && (m == "" ? $2 != "SMInfo" : $1 == m && $2 == a) { n += $3 } END { print n + 0 }'; }

# ---- events ----

# row FABRIC MANAGER EVENT SINCE SECONDS: what it cost until a manager was master; no SECONDS: none was
row()
{
	local took=$5
	jq -cn --arg fabric "$1" --arg manager "$2" --arg event "$3" --argjson master_s "${took:-null}" \
		--argjson two_masters_s "$(two_masters "$4" "$EPOCHREALTIME")" \
		--argjson smps "$(smps)" --argjson tables "$(smps Set LinearForwardingTable)" '$ARGS.named' | tee -a "$rows" >&2
}

# missed MANAGER TEXT: what did not happen within the limit. OpenSM's misses are rows, but no failures of this script.
missed()
{
	say "$2 within $limit s"
	[ "$1" != weft ] || failed=1
}

# event FABRIC MANAGER NAME: does it, waits for the second manager and for rest
event()
{
	local since
	fabric meter reset > /dev/null
	since=$EPOCHREALTIME
	case $3 in
	'kill -9') kill -9 "$pid1"; wait "$pid1" 2> /dev/null || true ;;
	SIGTERM) kill "$pid1" ;;
	'cable pulled') fabric "unlink \"$seat1\"" > /dev/null ;;
	SIGSTOP) kill -STOP "$pid1" ;;
	esac
	if ! wait_until says "$seat2" Master || ! wait_until quiet; then
		missed "$2" "no second master at rest after $3"
	fi
	row "$1" "$2" "$3" "$since" "$(first_master "$seat2" "$since")"
}

# back FABRIC MANAGER EVENT: the first manager returns, and gets the subnet back
back()
{
	local since=$EPOCHREALTIME
	fabric meter reset > /dev/null
	case $3 in
	'cable pulled') fabric "relink \"$seat1\"" > /dev/null ;;
	SIGSTOP) kill -CONT "$pid1" ;;
	*) wait "$pid1" 2> /dev/null || true; start "$2" 1 ;;
	esac
	if ! both_ready "$2"; then
		missed "$2" "the first manager is not the only master again, at rest, after $3"
		row "$1" "$2" "$3, and back" "$since" ''
		return 1
	fi
	row "$1" "$2" "$3, and back" "$since" "$(first_master "$seat1" "$since" | grep . || echo 0)"
}

# pair FABRIC MANAGER
pair()
{
	say "$1: two of $2"
	fabric_start "$work/$1.net" || die "weft fabric does not start"
	start "$2" 1
	wait_until says "$seat1" Master || true
	start "$2" 2
	if both_ready "$2"; then
		for e in 'kill -9' SIGTERM 'cable pulled' SIGSTOP; do
			say "$1, $2: $e"
			event "$1" "$2" "$e"
			back "$1" "$2" "$e" || break
		done
	else
		say "$2 did not come up: $(tail -qn 1 "$dir"/[12]/log | cut -c 1-160 | paste -sd ' ')"
		failed=1
	fi
	fabric_stop
}

report()
{
	jq -sr 'def s: if . == null then "never" else (. * 1000 | round / 1000 | tostring) end;
		["fabric", "event", "manager", "until a master answers, s", "two masters, s", "SMPs", "table blocks written"],
		(.[] | [.fabric, .event, .manager, (.master_s | s), (.two_masters_s | s), .smps, .tables]) | @tsv' "$rows" | table
}

mkdir -p "$out"
if [ -z "$tables_only" ]; then
	work=$(mktemp -d)
	trap cleanup EXIT
	ninja -C "$here/../build" bench/sm-watch > /dev/null
	why=$(opensm_missing)
	[ -z "$why" ] || say "no OpenSM: $why"
	: > "$rows"
	while read -r fabric_name ports levels; do
		"$weft" topo gen mtree "$ports" "$levels" -o "$work/$fabric_name.net" > /dev/null
		pair "$fabric_name" weft
		[ -n "$why" ] || pair "$fabric_name" opensm
	done < <(sizes)
fi
report | commas | tee "$out/ha.md"
[ -z "$docs" ] || write_result ha.md ha < "$out/ha.md"
exit "$failed"
