#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# weft sm beside OpenSM, in real time, on the same servers and netlists: until the subnet is up on a cold
# fabric, again on a warm one, and after changes.
#
#	bench/sm.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	QUICK=1 bench/sm.sh		up to 3,456 hosts
#	OPENSM=0 bench/sm.sh		without OpenSM
#	ONLY=up|window|changes ...	one part: bring-ups; which window is best; changes
#	RUNS=3 bench/sm.sh		each cold bring-up so often; tables have the median
#	SPIN=0us bench/sm.sh		weft's transport.spin, in place of its default
#	SIZES='t8_3 8 3' bench/sm.sh	another fabric: a name, then as for weft topo gen mtree
#	bench/sm.sh --write-docs	also refresh docs/results/manager.md
#	bench/sm.sh --tables		measure nothing: tables from the rows of the last run
#
# A bring-up takes from the start of the process to the moment at which the manager's log says that the
# subnet is up; its SMPs are what the manager says it sent (OpenSM: what it handed to libibumad). Warm is
# the same again on the same fabric, with the LIDs of the first time in a file. After a change both are
# counted by the server, alike: the time is from the event to the last Set(LinearForwardingTable), SMPs are
# all from the event until the manager is at rest. No manager sweeps meanwhile: OpenSM runs with -s 0, weft
# with `sweep: 0`, and traps tell both.
#
# Both ends of a socket look for a while before they sleep (`spin`): on a busy machine that costs many times
# what it brings, so this wants two cores for itself.
#
# Rows are written to bench/out/sm.jsonl as they come, so a run that is cut short leaves what it measured;
# bench/out/sm.md has the tables. Status 1: a run failed, and its row says why; 2: nothing could be measured.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=sm
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/sm.jsonl
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
only=${ONLY:-}
runs=${RUNS:-1}
spin=${SPIN:-}
common='4 64'                # windows for both, on every fabric; 4 is OpenSM's default
warm_with=64                 # of them
scan='1 4 16 32 64 128 256'  # on one fabric, to find the best
scan_on=t24_3
change_window=32
up_limit=180 # seconds
rest_limit=180
work=
ibsim_pid=
server_pid=
manager_pid=
fabrics=0
failed=0
why=
reported=
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

sjq()
{
	local args=("${@:1:$#-1}") program=${*: -1}
	jq -L "$here" "${args[@]}" "include \"sm\"; $program"
}

cleanup()
{
	local status=$?
	trap - EXIT
	for pid in $manager_pid $server_pid $ibsim_pid; do
		kill "$pid" 2> /dev/null || true
	done
	[ -n "$reported" ] || [ ! -s "$rows" ] || report > "$out/sm.md" || true
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

sizes()
{
	if [ -n "${SIZES:-}" ]; then
		printf '%s\n' "$SIZES"
		return
	fi
	printf '%s\n' 't36_2 36 2' 't24_3 24 3'
	[ "$quick" != 0 ] || echo 't36_3 36 3'
}

# ---- servers ----

# server_start ibsim|weft NET: a new fabric under a name of its own; sets IBSIM_SOCKNAME, dir, server_pid
server_start()
{
	fabrics=$((fabrics + 1))
	export IBSIM_SOCKNAME=weftbench$$-$fabrics
	dir=$work/run$fabrics
	mkdir -p "$dir"
	if [ "$1" = ibsim ]; then
		ibsim_start "$dir" "$2" || return 1
		server_pid=$ibsim_pid
		ibsim_pid=
		return
	fi
	mkfifo "$dir/console"
	exec 7<> "$dir/console"
	"$weft" fabric "$2" --name "$IBSIM_SOCKNAME" --control "$dir/fabric.sock" --quiet <&7 > "$dir/fabric.out" 2>&1 &
	server_pid=$!
	until [ -S "$dir/fabric.sock" ]; do
		kill -0 "$server_pid" 2> /dev/null || return 1
		sleep 0.02
	done
}

stop()
{
	[ -n "$1" ] || return 0
	kill "$1" 2> /dev/null || true
	for _ in $(seq 100); do
		kill -0 "$1" 2> /dev/null || break
		sleep 0.05
	done
	kill -9 "$1" 2> /dev/null || true
	wait "$1" 2> /dev/null || true
}

server_stop()
{
	stop "$manager_pid"
	manager_pid=
	stop "$server_pid"
	server_pid=
	exec 7>&-
}

# User and system time of a process so far, in seconds
cpu_of() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"; }
fabric() { "$weft" ctl fabric --socket "$dir/fabric.sock" "$@"; }
first_host() { grep -m 1 '^Ca' "$1" | cut -d '"' -f 2; }

# ---- managers ----

# opensm_start NET OPTIONS...: in the background, counted; its log is $dir/osm.log
opensm_start()
{
	local net=$1
	shift
	printf 'osm_state_mgr.c=0x87\nosm_ucast_mgr.c=0x87\n' > "$dir/modules"
	printf 'force_log_flush TRUE\nper_module_logging_file %s/modules\n' "$dir" > "$dir/conf"
	: > "$dir/osm.log"
	SIM_HOST=$(first_host "$net") OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir UMADCOUNT=$dir/count.json \
		LD_PRELOAD=$work/umadcount.so:$umad2sim \
		opensm -e -F "$dir/conf" -f "$dir/osm.log" -D 0x3 -R minhop "$@" \
		< /dev/null > "$dir/osm.out" 2>&1 &
	manager_pid=$!
}

# weft_start NET OPTIONS...: in the background; its log is $dir/sm.log
weft_start()
{
	local net=$1
	shift
	if [ -n "$spin" ]; then
		[ -e "$dir/sm.yaml" ] || set -- --config "$dir/sm.yaml" "$@"
		printf 'transport: {spin: %s}\n' "$spin" >> "$dir/sm.yaml"
	fi
	"$weft" sm --transport ibsim --server "$IBSIM_SOCKNAME" --device "$(first_host "$net")" --state "$dir/state.db" \
		"$@" > "$dir/up.json" 2> "$dir/sm.log" &
	manager_pid=$!
}

# wait_until SECONDS COMMAND...: asked again and again, while the manager lives
wait_until()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] && kill -0 "$manager_pid" 2> /dev/null || return 1
		sleep 0.05
	done
}

# manager_ends SECONDS: status 0 if it ended well by itself
manager_ends()
{
	local end=$((SECONDS + $1)) status=0
	while kill -0 "$manager_pid" 2> /dev/null; do
		if [ "$SECONDS" -ge "$end" ]; then
			stop "$manager_pid"
			manager_pid=
			return 1
		fi
		sleep 0.02
	done
	wait "$manager_pid" || status=1
	manager_pid=
	return "$status"
}

# The last thing a manager said, for rows of runs that failed
last_word() { tail -qn 1 "$dir/sm.log" "$dir/osm.log" 2> /dev/null | tail -n 1 | cut -c 1-160; }

# up_MANAGER NET WINDOW: one bring-up, as JSON in $dir/got
up_opensm()
{
	local start=$EPOCHREALTIME up
	opensm_start "$1" -o --maxsmps "$2"
	manager_ends "$up_limit" || return 1
	up=$(log_time "$dir/osm.log" 'SUBNET UP') || return 1
	jq -c --argjson s "$start" --argjson u "$up" \
		'{up_s: ($u - $s), smps: .total, cpu_s, rss_mib: (.rss_kib / 1024)}' "$dir/count.json" > "$dir/got"
}

up_weft()
{
	local start cpu up
	cpu=$(times_of_children)
	rm -f "$dir/sm.yaml"
	start=$EPOCHREALTIME
	weft_start "$1" --window "$2" --control '' --once --json
	manager_ends "$up_limit" || return 1
	cpu="$cpu $(times_of_children)"
	up=$(awk '/ subnet_up: / { print $1; exit }' "$dir/sm.log")
	[ -n "$up" ] || return 1
	jq -c --argjson s "$start" --argjson u "$(date -d "$up" +%s.%6N)" \
		--argjson cpu "$(awk '{ print $2 - $1 }' <<< "$cpu")" \
		'{up_s: ($u - $s), smps, cpu_s: $cpu, rss_mib: (.rss_kib / 1024), retries}' "$dir/up.json" > "$dir/got"
}

# CPU seconds of all children that ended
times_of_children() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($14 + $15) / hz }' "/proc/$$/stat"; }

# up_row FABRIC SERVER MANAGER WINDOW cold|warm: one row
up_row()
{
	local before='' ok=1
	rm -f "$dir/got"
	before=$(cpu_of "$server_pid")
	"up_$3" "$work/$1.net" "$4" || ok=
	if [ -z "$ok" ]; then
		[ "$4" = 0 ] || failed=1 # without a limit sockets may run full: worth knowing, no fault of the run
		say "$3 failed: $(last_word)"
		jq -n --arg failed "did not come up: $(last_word)" '$ARGS.named' > "$dir/got"
	fi
	jq -c --arg fabric "$1" --arg server "$2" --arg manager "$3" --argjson window "$4" --arg state "$5" \
		--argjson b "$before" --argjson a "$(cpu_of "$server_pid" || echo 0)" \
		'{kind: "up", $fabric, $server, $manager, $window, $state} + . + {server_cpu_s: ($a - $b)}' \
		"$dir/got" >> "$rows"
	[ -n "$ok" ]
}

# bring_up FABRIC SERVER MANAGER WINDOW: cold, and with one of the windows warm as well; unless it is known
bring_up()
{
	local n=0 warm=
	! measured "$@" || return 0
	[ "$4" != "$warm_with" ] || warm=', then warm'
	while [ "$n" -lt "$runs" ]; do
		n=$((n + 1))
		say "$1 on $2: $3, window $4$warm"
		if ! server_start "$2" "$work/$1.net"; then
			say "$2 did not start"
			failed=1
			return
		fi
		if up_row "$1" "$2" "$3" "$4" cold && [ -n "$warm" ] && [ "$n" = "$runs" ]; then
			up_row "$1" "$2" "$3" "$4" warm || true
		fi
		server_stop
	done
}

measured() { sjq -es --arg f "$1" --arg s "$2" --arg m "$3" --argjson w "$4" 'colds($f; $s; $m; $w) | length > 0' < "$rows" > /dev/null; }
# best FABRIC SERVER MANAGER: the window of the quickest cold bring-up; nothing if there was none
best() { sjq -rs --arg f "$1" --arg s "$2" --arg m "$3" 'best($f; $s; $m).window // empty' < "$rows"; }

# ---- changes ----

# What happens, as console commands: a link between switches, a host's link, a switch, ten links. One
# uplink a leaf, and none of the manager's own leaf.
trunks()
{
	own="\"$(first_host "$1")\"" awk '
		function done() { if (up != "" && !mine) print sw "[" up "]" }
		/^Switch/ { done(); sw = $3; up = ""; mine = leaf = 0 }
		/^\[/ && sw != "" {
			match($1, /[0-9]+/)
			if (index($2, ENVIRON["own"]) == 1) mine = 1
			if ($2 ~ /^"H-/) leaf = 1
			else if (leaf && up == "") up = substr($1, RSTART, RLENGTH)
		}
		/^Ca/ { done(); sw = "" }
		END { done() }' "$1" | sort -u
}
host_of() { grep '^Ca' "$1" | tail -n 1 | cut -d '"' -f 2; }
switch_of() { grep '^Switch.*"root' "$1" | tail -n 1 | cut -d '"' -f 2; }

# events NET MANAGER. Two of the mechanisms write all tables every time: on large fabrics they get half.
events()
{
	local net=$1 trunk half=
	[[ $2 != basic && $2 != improved ]] || [ "$(grep -c '^Ca' "$net")" -lt 5000 ] || half=1
	trunk=$(trunks "$net" | sed -n 1p)
	printf 'link fails|unlink %s\nlink comes|relink %s\n' "$trunk" "$trunk"
	[ -n "$half" ] || printf 'host leaves|unlink "%s"\nhost comes|relink "%s"\n' "$(host_of "$net")" "$(host_of "$net")"
	printf 'switch fails|off "%s"\nswitch comes|on "%s"\n' "$(switch_of "$net")" "$(switch_of "$net")"
	[ -z "$half" ] || return 0
	printf 'ten links fail|%s\n' "$(trunks "$net" | sed -n '2,11s/^/unlink /p' | paste -sd ';')"
	printf 'ten links come|%s\n' "$(trunks "$net" | sed -n '2,11s/^/relink /p' | paste -sd ';')"
}

ctl() { "$weft" ctl --socket "$dir/sm.sock" "$@"; }
weft_rests() { ctl status --json 2> /dev/null | jq -e '.phase == "ready" and (.change_pending | not)' > /dev/null; }
opensm_ups() { grep -c 'SUBNET UP' "$dir/osm.log" || true; }
# It said that the subnet is up since, and began no sweep after that: computing routes it is silent for long.
opensm_rests()
{
	[ "$(opensm_ups)" -gt "$ups" ] &&
		! tac "$dir/osm.log" | sed '/SUBNET UP/q' | grep -q 'Entering heavy sweep\|HEAVY SWEEP'
}
quiet() # no Set for a second
{
	local a b
	a=$(fabric meter | grep '^Set' | cksum)
	sleep 1
	b=$(fabric meter | grep '^Set' | cksum)
	[ "$a" = "$b" ]
}
at_rest() { "$1" && quiet && "$1"; }

settled()
{
	sleep 0.3
	case $1 in
	OpenSM) wait_until "$rest_limit" at_rest opensm_rests ;;
	*) wait_until "$rest_limit" at_rest weft_rests ;;
	esac
}

# change_row FABRIC MANAGER EVENT, with the meter's text or '{"failed": why}' on standard input
change_row()
{
	sjq -Rsc --arg fabric "$1" --arg manager "$2" --arg event "$3" \
		'(try fromjson catch null) as $said
		 | {kind: "change", $fabric, $manager, $event} + (if ($said | type) == "object" then $said else change end)' >> "$rows"
}

manager_start()
{
	if [ "$2" = OpenSM ]; then
		opensm_start "$1" -s 0 --maxsmps "$change_window"
	else
		printf 'manager: {mechanism: %s, detection: traps, sweep: 0s, window: %s}\n' "$2" "$change_window" > "$dir/sm.yaml"
		weft_start "$1" --config "$dir/sm.yaml" --control "$dir/sm.sock"
		wait_until 20 test -S "$dir/sm.sock"
	fi
}

# changes FABRIC MANAGER: OpenSM, or a mechanism of weft. One that does not come to rest ends the series.
changes()
{
	local net=$work/$1.net label commands broken=
	say "changes on $1: $2"
	ups=0
	if ! server_start weft "$net" || ! manager_start "$net" "$2" || ! settled "$2"; then
		broken="did not come up: $(last_word)"
	fi
	sleep 1 # what is done at leisure
	while IFS='|' read -r label commands; do
		if [ -z "$broken" ]; then
			ups=$(opensm_ups 2> /dev/null)
			tr ';' '\n' <<< "meter reset;$commands" >&7 # all at one moment
			if settled "$2"; then
				fabric meter | change_row "$1" "$2" "$label"
				continue
			fi
			broken="no rest after $label: $(last_word)"
		fi
		say "$2: $broken"
		failed=1
		jq -n --arg failed "$broken" '$ARGS.named' | change_row "$1" "$2" "$label"
	done < <(events "$net" "$2")
	server_stop
}

# ---- the run ----

# The best window on one fabric. OpenSM has a 0 as well, no limit, but on neither server does it come up:
# sockets run full. So that is only tried when asked for windows alone.
scan_windows()
{
	local server window manager
	for server in ibsim weft; do
		for manager in "${managers[@]}"; do
			for window in $scan; do
				bring_up "$scan_on" "$server" "$manager" "$window"
			done
			[ "$manager" != opensm ] || [ "$only" != window ] || up_limit=20 bring_up "$scan_on" "$server" opensm 0
		done
	done
}

# ups_of FABRIC: with the common windows and with the best of each
ups_of()
{
	local server window manager
	for server in ibsim weft; do
		for manager in "${managers[@]}"; do
			for window in $common $(best "$scan_on" "$server" "$manager"); do
				bring_up "$1" "$server" "$manager" "$window"
			done
		done
	done
}

measure()
{
	local name m n manager managers=(weft)
	[ -n "$why" ] || managers=(opensm weft)
	while read -r name m n; do
		"$weft" topo gen mtree "$m" "$n" -o "$work/$name.net"
	done < <(sizes)
	if [ -e "$work/$scan_on.net" ] && [[ -z $only || $only == window ]]; then
		scan_windows
	fi
	while read -r name m n <&8; do
		[[ -n $only && $only != up ]] || ups_of "$name"
		[[ -z $only || $only == changes ]] || continue
		for manager in basic improved weft; do
			changes "$name" "$manager"
		done
		[ -n "$why" ] || changes "$name" OpenSM
	done 8< <(sizes)
}

section()
{
	printf '\n## %s\n\n' "$1"
	sjq -rs "$2" < "$rows" | table
}

report()
{
	reported=1
	printf '# weft sm beside OpenSM\n\n'
	jq -r 'select(.kind == "machine") | "\(.cpu), \(.cores) cores, \(.kernel). Load at the start \(.load). \(.date)."' "$rows"
	[ -z "$why" ] || printf '\nWithout OpenSM: %s.\n' "$why"
	section "Until the subnet is up" table_ratio
	section "By window" table_windows
	section "From an event to the last table" table_changes
	section "Every bring-up" table_up
	sjq -rs failures < "$rows"
}

command -v jq > /dev/null || die "jq is needed"
work=$(mktemp -d)
cd "$work" # libumad2sim makes its directory where it is started
trap cleanup EXIT
trap 'exit 130' INT TERM
mkdir -p "$out"
if [ -n "$tables_only" ]; then
	[ -s "$rows" ] || die "no rows in $rows"
else
	[ -x "$weft" ] || die "no program at $weft: run make first"
	why=$(opensm_missing)
	machine | jq -c '{kind: "machine"} + .' > "$rows"
	! awk '$1 < 0.7 { exit 1 }' /proc/loadavg ||
		say "others are at work here (load $(cut -d ' ' -f 1 /proc/loadavg)): times will mean little"
	measure
fi
report > "$out/sm.md"
cat "$out/sm.md"
if [ -n "$docs" ]; then
	sjq -rs table_ratio < "$rows" | table | write_result manager.md sm-up
	sjq -rs table_changes < "$rows" | table | write_result manager.md sm-changes
fi
say "written: $rows and $out/sm.md"
exit "$failed"
