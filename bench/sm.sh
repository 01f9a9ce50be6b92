#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# weft sm beside OpenSM, in real time, on the same servers and netlists: until the subnet is up on a cold
# fabric, again on a warm one, and after changes.
#
#	bench/sm.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	QUICK=1 bench/sm.sh		up to 3,456 hosts
#	OPENSM=0 bench/sm.sh		without OpenSM
#	ONLY=up|changes bench/sm.sh	one half
#	SIZES='t8_3 8 3' bench/sm.sh	another fabric: a name, then as for weft topo gen mtree
#	bench/sm.sh --write-docs	also refresh the tables in README.md and docs/operate.md
#
# SMPs of a bring-up are what each manager says it sent (OpenSM: what it handed to libibumad). After a
# change, both are counted by the server, from the event to the last SMP of the answer; the time is to
# the last Set(LinearForwardingTable). Writes bench/out/sm.json and bench/out/sm.md. Status 1: a run
# failed; 2: nothing could be measured.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
docs=
if [ "${1:-}" = --write-docs ]; then
	docs=1
	shift
fi
weft=$(realpath -m "${1:-${WEFT:-$here/../build/src/cli/weft}}")
out=$here/out
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
only=${ONLY:-}
work=
ibsim_pid=
server_pid=
manager_pid=
fabrics=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

sjq()
{
	local args=("${@:1:$#-1}") program=${*: -1}
	jq -L "$here" "${args[@]}" "include \"sm\"; $program"
}

cleanup()
{
	for pid in $manager_pid $server_pid $ibsim_pid; do
		kill "$pid" 2> /dev/null || true
	done
	[ -z "$work" ] || rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

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

# server_start ibsim|weft NET: a new fabric under a name of its own; sets IBSIM_SOCKNAME and server_pid
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
	"$weft" fabric "$2" --name "$IBSIM_SOCKNAME" --control "$dir/fabric.sock" --quiet --no-console \
		< /dev/null > "$dir/fabric.out" 2>&1 &
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
	wait "$1" 2> /dev/null || true
}

server_stop()
{
	stop "$server_pid"
	server_pid=
}

# User and system time of a process so far, in seconds
cpu_of() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"; }
rss_of() { awk '/^VmHWM/ { print $2 / 1024 }' "/proc/$1/status"; }
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
	SIM_HOST=$(first_host "$net") OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir UMADCOUNT=$dir/count.json \
		LD_PRELOAD=$work/umadcount.so:$umad2sim \
		opensm -e -F "$dir/conf" -f "$dir/osm.log" -D 0x3 -R minhop "$@" \
		< /dev/null > "$dir/osm.out" 2>&1 &
	manager_pid=$!
}

opensm_ups() { cat "$dir/osm.log" 2> /dev/null | grep -c 'SUBNET UP' || true; }

# wait_until SECONDS COMMAND...: asked again and again
wait_until()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] && kill -0 "$manager_pid" 2> /dev/null || return 1
		sleep 0.05
	done
}

# up_opensm NET WINDOW: one bring-up, as JSON without the server's part
up_opensm()
{
	local start=$EPOCHREALTIME up
	opensm_start "$1" -o --maxsmps "$2"
	wait "$manager_pid" || return 1
	manager_pid=
	up=$(log_time "$dir/osm.log" 'SUBNET UP') || return 1
	jq -c --argjson s "$start" --argjson u "$up" '{up_s: ($u - $s), smps: .total, cpu_s, rss_mib: (.rss_kib / 1024)}' \
		< "$dir/count.json"
}

# up_weft NET WINDOW: the same; a state file in $dir makes the second one warm
up_weft()
{
	local start=$EPOCHREALTIME cpu
	TIMEFORMAT='%U %S'
	{ time timeout 300 "$weft" sm --transport ibsim --server "$IBSIM_SOCKNAME" --device "$(first_host "$1")" \
		--window "$2" --state "$dir/state.db" --control '' --once --json > "$dir/up.json" 2> "$dir/sm.log"; } \
		2> "$dir/times" || return 1
	cpu=$(awk '{ print $1 + $2 }' "$dir/times")
	jq -c --argjson s "$start" --argjson e "$EPOCHREALTIME" --argjson cpu "$cpu" \
		'{up_s: ($e - $s), smps, cpu_s: $cpu, rss_mib: (.rss_kib / 1024), retries,
		  sets: (.sets // null)}' "$dir/up.json"
}

# bring_up FABRIC SERVER MANAGER WINDOW
bring_up()
{
	local net=$work/$1.net before got again=cold
	say "$1 on $2: $3, window $4"
	server_start "$2" "$net" || { say "$2 did not start"; return 1; }
	for again in cold warm; do
		[ "$again" = cold ] || [ "$3" = weft ] || break
		before=$(cpu_of "$server_pid")
		if ! got=$("up_$3" "$net" "$4"); then
			say "$3 failed: $(tail -n 1 "$dir"/sm.log "$dir"/osm.log 2> /dev/null | tail -n 1)"
			server_stop
			return 1
		fi
		jq -c --arg fabric "$1" --arg server "$2" --arg manager "$3" --argjson window "$4" --arg state "$again" \
			--argjson b "$before" --argjson a "$(cpu_of "$server_pid")" \
			'{fabric: $fabric, server: $server, manager: $manager, window: $window, state: $state} + . +
			 {server_cpu_s: ($a - $b)}' <<< "$got" >> "$work/up"
	done
	server_stop
}

# ---- changes ----

# What happens, as console commands: a link between switches, a host's link, ten links, a switch.
trunk_of() { awk '/^Switch/ { s = $3 } /^\[/ && $2 ~ /^"S-/ && s { match($1, /[0-9]+/);
	print s "[" substr($1, RSTART, RLENGTH) "]"; if (++n == ENVIRON["N"]) exit; s = "" }' "$1"; }
host_of() { grep '^Ca' "$1" | tail -n 1 | cut -d '"' -f 2; }
switch_of() { grep '^Switch.*"root' "$1" | tail -n 1 | cut -d '"' -f 2; }

events()
{
	local net=$1 trunk ten
	trunk=$(N=1 trunk_of "$net")
	ten=$(N=11 trunk_of "$net" | tail -n 10)
	printf 'link fails|unlink %s\nlink comes|relink %s\n' "$trunk" "$trunk"
	printf 'host leaves|unlink "%s"\nhost comes|relink "%s"\n' "$(host_of "$net")" "$(host_of "$net")"
	printf 'switch fails|off "%s"\nswitch comes|on "%s"\n' "$(switch_of "$net")" "$(switch_of "$net")"
	printf 'ten links fail|%s\n' "$(sed 's/^/unlink /' <<< "$ten" | paste -sd ';')"
	printf 'ten links come|%s\n' "$(sed 's/^/relink /' <<< "$ten" | paste -sd ';')"
}

ctl() { "$weft" ctl --socket "$dir/sm.sock" "$@"; }

weft_start()
{
	"$weft" sm --transport ibsim --server "$IBSIM_SOCKNAME" --device "$(first_host "$1")" --mechanism "$2" \
		--state "$dir/state.db" --control "$dir/sm.sock" > "$dir/sm.log" 2>&1 &
	manager_pid=$!
}

weft_rests() { ctl status --json 2> /dev/null | jq -e '.phase == "ready" and (.change_pending | not)' > /dev/null; }
opensm_rests() { [ "$(opensm_ups)" -gt "$ups" ]; }
quiet() # no Set for a second and a half
{
	local a b
	a=$(fabric meter | grep '^Set' | cksum)
	sleep 1.5
	b=$(fabric meter | grep '^Set' | cksum)
	[ "$a" = "$b" ]
}

settled()
{
	case $1 in
	OpenSM) wait_until 300 opensm_rests && wait_until 300 quiet ;;
	*) sleep 0.3 && wait_until 120 weft_rests && wait_until 120 quiet && wait_until 120 weft_rests ;;
	esac
}

# change MANAGER LABEL COMMANDS
change()
{
	local line
	ups=$(opensm_ups)
	fabric meter reset
	while IFS= read -r line; do
		fabric "$line" > /dev/null
	done < <(tr ';' '\n' <<< "$3")
	settled "$1" || { say "$1 did not come to rest after: $2: $(tail -n 1 "$dir"/sm.log "$dir"/osm.log 2> /dev/null | tail -n 1)"; return 1; }
	fabric meter | sjq -Rsc --arg fabric "$fabric_name" --arg manager "$1" --arg event "$2" 'change($fabric; $manager; $event)' \
		>> "$work/changes"
}

# changes FABRIC MANAGER: OpenSM, or a mechanism of weft
changes()
{
	local net=$work/$1.net label commands
	fabric_name=$1
	say "changes on $1: $2"
	server_start weft "$net" || return 1
	ups=0
	if [ "$2" = OpenSM ]; then
		opensm_start "$net" -s 0
	else
		weft_start "$net" "$2"
		wait_until 20 test -S "$dir/sm.sock" || return 1
	fi
	settled "$2" || { say "$2 did not come up"; return 1; }
	sleep 2 # what is done at leisure
	while IFS='|' read -r label commands; do
		change "$2" "$label" "$commands" || failed=1
	done < <(events "$net")
	stop "$manager_pid"
	manager_pid=
	server_stop
}

# ---- the run ----

measure()
{
	local name m n server window managers=(weft)
	[ -n "$why" ] || managers=(opensm weft)
	: > "$work/up"
	: > "$work/changes"
	while read -r name m n; do
		"$weft" topo gen mtree "$m" "$n" -o "$work/$name.net"
		for server in ibsim weft; do
			[ "$only" != changes ] || break
			for window in 4 64; do
				for manager in "${managers[@]}"; do
					bring_up "$name" "$server" "$manager" "$window" || failed=1
				done
			done
		done
		[ "$only" != up ] || continue
		for manager in basic improved weft; do
			changes "$name" "$manager" || failed=1
		done
		[ -n "$why" ] || changes "$name" OpenSM || failed=1
	done < <(sizes)
}

section()
{
	printf '\n## %s\n\n' "$1"
	sjq -r "$2" < "$out/sm.json" | table
}

report()
{
	printf '# weft sm beside OpenSM\n\n'
	jq -r '.machine | "\(.cpu), \(.cores) cores, \(.kernel). Load at the start \(.load). \(.date)."' < "$out/sm.json"
	[ -z "$why" ] || printf '\nWithout OpenSM: %s.\n' "$why"
	section "Until the subnet is up" table_up
	section "weft against OpenSM" table_ratio
	section "From an event to the last table" table_changes
}

# The table between two markers of a document becomes what standard input says.
replace()
{
	local doc=$1 mark=$2
	awk -v mark="$mark" -v new="$(cat)" '
		index($0, "<!-- bench:" mark " -->") { print; print ""; print new; print ""; skip = 1 }
		index($0, "<!-- /bench:" mark " -->") { skip = 0 }
		!skip && !index($0, "<!-- bench:" mark " -->")' "$doc" > "$work/doc"
	cat "$work/doc" > "$doc"
}

command -v jq > /dev/null || die "jq is needed"
[ -x "$weft" ] || die "no program at $weft: run make first"
work=$(mktemp -d)
failed=0
facts=$(machine)
why=$(opensm_missing)
measure
mkdir -p "$out"
jq -n --argjson machine "$facts" --slurpfile up "$work/up" --slurpfile changes "$work/changes" \
	'{machine: $machine, up: $up, changes: $changes}' > "$out/sm.json"
report > "$out/sm.md"
cat "$out/sm.md"
if [ -n "$docs" ]; then
	sjq -r table_ratio < "$out/sm.json" | table | replace "$here/../docs/operate.md" sm-up
	sjq -r table_changes < "$out/sm.json" | table | replace "$here/../docs/operate.md" sm-changes
fi
say "written: $out/sm.json and $out/sm.md"
exit "$failed"
