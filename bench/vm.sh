#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Virtual machines that migrate, in real time on `weft fabric`: single migrations beside a sweep of OpenSM, and
# how many a second are carried out for how long.
#
#	bench/vm.sh [WEFT]		324, 648, 5,832 and 11,664 hosts, 36-port switches
#	QUICK=1 bench/vm.sh		324 and 648 hosts
#	OPENSM=0 bench/vm.sh		without OpenSM
#	SECONDS_LONG=15 bench/vm.sh	for how long 1,000 migrations a second are requested; default 60
#	SIZES='648 mtree 36 2' ...	another fabric: a name, then as for weft topo gen
#	bench/vm.sh --write-docs	also refresh docs/results/virtual.md
#	bench/vm.sh --tables		measure nothing: tables from the rows of the last run
#
# Each host has four VFs, but for the first, where the manager is; each of the others has one VM. LIDs are dynamic.
#
# One migration: `weft vm migrate` on the control socket, 60 of them one after another between hosts drawn at random.
# The time is the manager's, from the request to the last acknowledged SMP; with the command's start, the state
# file and the answer it is "the command". OpenSM has no VMs: a LID that is at another port costs it a heavy
# sweep, which reads the whole fabric and computes all routes. It is measured twice: on the same fabric without VFs,
# which is less work for OpenSM than with them (SIGHUP: a heavy sweep with nothing to repair), and with the VFs where
# that many switches and LIDs are within its reach (a VM is moved by hand, then SIGHUP twice: it needs two sweeps). Full: OpenSM starts
# again on the running fabric and writes all tables. All until its log says SUBNET UP.
#
# Sustained: every tenth of a second 100 migrations are requested by `weft vm batch`, each by a process of its own.
# At once: 20,000 in one file. At the end the emulator is asked what each VF has, and that is compared with what the
# manager says.
#
# Rows are written to bench/out/vm.jsonl as they come; bench/out/vm.md has the tables. Status 1: a run failed.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=vm
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/vm.jsonl
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
long=${SECONDS_LONG:-60}
vfs=4
window=128 # outstanding SMPs of both managers
singles=60
at_once=20000
limit=300
opensm_lids=10000 # with VFs only as far as this: its tables grow with switches times LIDs
work=
ibsim_pid=
server_pid=
manager_pid=
runs=0
failed=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	for pid in $manager_pid $server_pid; do
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
	printf '%s\n' '324 clos 18 18 18' '648 mtree 36 2'
	[ "$quick" != 0 ] || printf '%s\n' '5832 kary 18 3' '11664 mtree 36 3'
}

fabric() { "$weft" ctl fabric --socket "$dir/fabric.sock" "$@"; }
vm() { "$weft" vm "$@" --socket "$dir/sm.sock"; }

# fabric_start NET: sets dir and IBSIM_SOCKNAME
fabric_start()
{
	runs=$((runs + 1))
	export IBSIM_SOCKNAME=weftvm$$-$runs
	dir=$work/run$runs
	mkdir -p "$dir"
	"$weft" fabric "$1" --name "$IBSIM_SOCKNAME" --control "$dir/fabric.sock" --no-console --quiet \
		> "$dir/fabric.out" 2>&1 &
	server_pid=$!
	until [ -S "$dir/fabric.sock" ]; do
		kill -0 "$server_pid" 2> /dev/null || return 1
		sleep 0.02
	done
}

stop() # PID
{
	[ -n "$1" ] || return 0
	kill "$1" 2> /dev/null || true
	for _ in $(seq 200); do
		kill -0 "$1" 2> /dev/null || break
		sleep 0.05
	done
	kill -9 "$1" 2> /dev/null || true
	wait "$1" 2> /dev/null || true
}

all_stop()
{
	stop "$manager_pid"
	stop "$server_pid"
	manager_pid='' server_pid=''
}

wait_until() # COMMAND...
{
	local end=$((SECONDS + limit))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] && kill -0 "$manager_pid" 2> /dev/null || return 1
		sleep 0.05
	done
}

first_host() { grep -m 1 '^Ca' "$1" | cut -d '"' -f 2; }
lids_of() { "$weft" topo show "$1" --json | jq "$2"; }

# smps [METHOD ATTRIBUTE]: that the fabric received since the last reset
smps() { fabric meter | awk -v m="${1:-}" -v a="${2:-}" '$2 ~ /^[A-Za-z]/ && (m == "" || ($1 == m && $2 == a)) { n += $3 } END { print n + 0 }'; }

# User and system time of a process so far, in seconds
cpu_of() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat"; }

since() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", b - a }'; }

# ---- OpenSM ----

opensm_start() # NET
{
	printf 'force_log_flush TRUE\n' > "$dir/conf"
	(
		cd "$dir" # libumad2sim leaves its files where it is killed
		export SIM_HOST OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir LD_PRELOAD=$umad2sim
		SIM_HOST=$(first_host "$1")
		exec opensm -e -F "$dir/conf" -f "$dir/osm.log" -D 0x3 -R minhop -s 0 --maxsmps "$window"
	) < /dev/null > "$dir/osm.out" 2>&1 &
	manager_pid=$!
}

ups() { grep -c 'SUBNET UP' "$dir/osm.log" || true; }
more_ups() { [ "$(ups)" -gt "$1" ]; }
last_up() { log_time <(grep 'SUBNET UP' "$dir/osm.log" | tail -n 1) 'SUBNET UP'; }

# opensm_row FABRIC VFS EVENT COMMAND...: what it costs OpenSM until it says SUBNET UP again, so often as "sweeps" says
opensm_row()
{
	local fabric=$1 with=$2 event=$3 n start
	shift 3
	: "${sweeps:=1}"
	n=$(ups)
	fabric meter reset > /dev/null
	start=$EPOCHREALTIME
	"$@"
	if ! wait_until more_ups $((n + sweeps - 1)); then
		say "OpenSM did not come up: $(tail -n 1 "$dir/osm.log" | cut -c 1-160)"
		failed=1
		return 1
	fi
	jq -cn --argjson hosts "$fabric" --arg kind opensm --argjson vfs "$with" --arg event "$event" \
		--argjson s "$(since "$start" "$(last_up)")" --argjson smps "$(smps)" \
		--argjson tables "$(smps Set LinearForwardingTable)" '$ARGS.named' | tee -a "$rows" >&2
}

opensm_end()
{
	stop "$manager_pid"
	: > "$dir/osm.log"
}

# The VM in VF 1 of one host, for OpenSM a port with a LID, is in VF 1 of another. A first sweep takes its GUID for a
# duplicate and removes the port, a second one finds it.
moved_by_hand()
{
	local lid guid n
	read -r lid guid < <(fabric 'vm list' | awk -v h="\"$1\"" 'index($0, h) == 1 && $0 ~ /" 1 lid/ { sub(/.*" 1 lid /, ""); print $1, $3 }')
	fabric "vm detach \"$1\" 1" > /dev/null
	fabric "vm attach \"$2\" 1 $lid $guid" > /dev/null
	n=$(ups)
	kill -HUP "$manager_pid"
	wait_until more_ups "$n" && kill -HUP "$manager_pid"
}

opensm_runs() # FABRIC NET VFS
{
	local seats from to
	say "$1 hosts, $3 VFs each: OpenSM"
	fabric_start "$2" || die "weft fabric does not start"
	: > "$dir/osm.log"
	if opensm_row "$1" "$3" cold opensm_start "$2"; then
		mapfile -t seats < <(grep '^Ca' "$2" | cut -d '"' -f 4)
		from=${seats[1]} to=${seats[-1]}
		if [ "$3" = 0 ]; then
			opensm_row "$1" 0 sweep kill -HUP "$manager_pid"
		else
			opensm_row "$1" "$3" 'place is made' eval 'fabric "vm detach \"$to\" 1" > /dev/null; kill -HUP "$manager_pid"' 2> /dev/null
			sweeps=2 opensm_row "$1" "$3" sweep moved_by_hand "$from" "$to"
		fi
		opensm_end
		opensm_row "$1" "$3" full opensm_start "$2" || true
	fi
	all_stop
}

# ---- Weft ----

# hosts.txt: GUIDs of hypervisors; the first host is the manager's
names_made() { awk '/^Ca/ { split($0, q, "\""); if (n++) print "0x" substr(q[2], 3) }' "$1" > "$dir/hosts.txt"; }

# requests N SEED: migrations to hosts with a free VF; where VMs are is kept in $dir/places
requests()
{
	awk -v n="$1" -v seed="$2" -v vfs="$vfs" -v places="$dir/places" '
		function draw(k) { seed = (seed * 16807) % 2147483647; return 1 + int(seed / 2147483647 * k) }
		FNR == NR { host[FNR] = $1; hosts = FNR; next }
		{ at[FNR] = $1; load[$1]++; vms = FNR }
		END {
			for (i = 0; i < n; i++) {
				v = draw(vms)
				do to = draw(hosts); while (to == at[v] || load[to] >= vfs)
				load[at[v]]--; load[to]++; at[v] = to
				print "migrate v" v " " host[to]
			}
			for (v = 1; v <= vms; v++) print at[v] > places
		}' "$dir/hosts.txt" "$dir/places"
}

manager_up()
{
	printf 'control: {connections: 0}\nmanager: {window: %s}\n' "$window" > "$dir/sm.yaml" # a process for each 100 requests
	"$weft" sm --config "$dir/sm.yaml" --transport ibsim --server "$IBSIM_SOCKNAME" --device "$(first_host "$1")" \
		--state "$dir/state.db" --control "$dir/sm.sock" > "$dir/sm.log" 2>&1 &
	manager_pid=$!
	wait_until grep -qs ' subnet_up: ' "$dir/sm.log" && "$weft" ctl --socket "$dir/sm.sock" wait > "$dir/rest"
}

vms_start()
{
	names_made "$1"
	seq "$(wc -l < "$dir/hosts.txt")" > "$dir/places"
	awk '{ print "create v" FNR; print "start v" FNR " " $1 }' "$dir/hosts.txt" > "$dir/start.txt"
	vm batch "$dir/start.txt" > "$dir/started"
}

# One after another, each with a process of its own.
single_row()
{
	local request start n=0
	requests "$singles" 1 > "$dir/singles.txt"
	: > "$dir/singles.json"
	while read -r _ request; do
		start=$EPOCHREALTIME
		# shellcheck disable=SC2086 # two words
		vm migrate $request --json > "$dir/one.json" < /dev/null || { failed=1; say "refused: $request"; continue; }
		jq -c --argjson wall "$(since "$start" "$EPOCHREALTIME")" '{wall: $wall, s: .time_s, smps: .smps.total}' "$dir/one.json" >> "$dir/singles.json"
		n=$((n + 1))
	done < "$dir/singles.txt"
	jq -sc --argjson hosts "$1" --argjson lids "$("$weft" ctl --socket "$dir/sm.sock" status --json | jq .subnet.lids)" '
		def median: sort | .[length / 2 | floor];
		{kind: "one", hosts: $hosts, lids: $lids, n: length, s: (map(.s) | median), s_most: (map(.s) | max),
		 wall_s: (map(.wall) | median), smps: (map(.smps) | median), smps_most: (map(.smps) | max)}' "$dir/singles.json" | tee -a "$rows" >&2
}

cpu_begin() { cpu=("$(cpu_of "$manager_pid")" "$(cpu_of "$server_pid")"); }

# many_row HOSTS NAME START FILE...: the answers in these files
many_row()
{
	local hosts=$1 kind=$2 start=$3 end=$EPOCHREALTIME
	shift 3
	cpu=("${cpu[@]}" "$(cpu_of "$manager_pid")" "$(cpu_of "$server_pid")")
	jq -sc --argjson cpu "[${cpu[0]}, ${cpu[1]}, ${cpu[2]}, ${cpu[3]}]" --argjson hosts "$hosts" --arg kind "$kind" --argjson s "$(since "$start" "$end")" '
		def at(p): sort | .[(length - 1) * p | floor];
		[.[].results[] | .time_s // empty] as $t
		| {kind: $kind, hosts: $hosts, done: (map(.done) | add), refused: (map(.refused) | add), s: $s,
		   cpu_s: ($cpu[2] - $cpu[0]), fabric_cpu_s: ($cpu[3] - $cpu[1]),
		   smps: (map(.smps.total) | add), wait_s: ($t | at(0.5)), wait_most_s: ($t | max)}' "$@" | tee -a "$rows" >&2
	[ "$(jq -s 'map(.refused) | add' "$@")" = 0 ] || failed=1
}

# 100 requests each tenth of a second, whatever became of those before
sustained_row()
{
	local start i=0 pids=()
	requests $((long * 1000)) 2 | split -l 100 -a 4 -d - "$dir/chunk."
	cpu_begin
	start=$EPOCHREALTIME
	for chunk in "$dir"/chunk.????; do
		sleep "$(awk -v s="$start" -v now="$EPOCHREALTIME" -v i="$i" 'BEGIN { t = s + i / 10 - now; print (t > 0 ? t : 0) }')"
		vm batch "$chunk" --json > "$chunk.json" 2>> "$dir/refused" &
		pids+=($!)
		i=$((i + 1))
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	many_row "$1" sustained "$start" "$dir"/chunk.*.json
}

at_once_row()
{
	local start
	requests "$at_once" 3 > "$dir/once.txt"
	cpu_begin
	start=$EPOCHREALTIME
	vm batch "$dir/once.txt" --json > "$dir/once.json" 2>> "$dir/refused" || failed=1
	many_row "$1" once "$start" "$dir/once.json"
}

# What VFs hold is what the manager says.
compared()
{
	vm list --json | jq -r '.vms[] | "\"\(.host.name)\" \(.host.vf) lid \(.lid) guid \(.guid)"' | sort > "$dir/said"
	fabric 'vm list' | sed -n 's/ Active.*//p' | grep -v 'lid 0' | sort > "$dir/held"
	cmp "$dir/said" "$dir/held" >&2 && [ "$(wc -l < "$dir/said")" = "$(wc -l < "$dir/hosts.txt")" ]
}

weft_runs() # FABRIC NET
{
	say "$1 hosts, $vfs VFs each: weft"
	fabric_start "$2" || die "weft fabric does not start"
	if ! manager_up "$2" || ! vms_start "$2"; then
		say "weft did not come up: $(tail -n 1 "$dir/sm.log" | cut -c 1-160)"
		failed=1
	else
		single_row "$1"
		sustained_row "$1"
		at_once_row "$1"
		compared || { failed=1; say "VFs hold other VMs than the manager says"; }
	fi
	all_stop
}

# ---- tables ----

report_one()
{
	jq -sr 'def r: . * 100 | round / 100; def ms: . * 1000 | if . < 10 then r else round end; def one: if . == null then "" else "1 : \(round)" end;
		def pair: if . == null then "" else "\(.s | r) / \(.smps)" end;
		. as $all | ["hosts", "LIDs", "SMPs: median", "most", "ms: median", "most", "the command", "OpenSM sweep, s / SMPs", "full", "with VFs: sweep", "full", "weft : sweep, time", "full", "SMPs, full"],
		($all[] | select(.kind == "one") | . as $w
		 | def o($vfs; $e): [$all[] | select(.kind == "opensm" and .hosts == $w.hosts and (.vfs > 0) == $vfs and .event == $e)] | last;
		 [.hosts, .lids, .smps, .smps_most, (.s | ms), (.s_most | ms), (.wall_s | ms),
		  (o(false; "sweep") | pair), (o(false; "full") | pair), (o(true; "sweep") | pair), (o(true; "full") | pair),
		  (o(false; "sweep") | if . then .s / $w.s else null end | one), (o(false; "full") | if . then .s / $w.s else null end | one),
		  (o(false; "full") | if . then .smps / $w.smps else null end | one)]) | @tsv' "$rows" | table
}

report_many()
{
	jq -sr 'def r: . * 100 | round / 100;
		["hosts", "requested", "carried out", "s", "a second", "SMPs, one", "CPU ms, one: weft sm", "weft fabric", "waited s: median", "most"],
		(.[] | select(.kind == "sustained" or .kind == "once") | .done as $n
		 | [.hosts, (if .kind == "once" then "at once" else "1000 a second" end), .done, (.s | r), (.done / .s | round), (.smps / .done | round),
		    (.cpu_s | if . then . / $n * 1000 | r else "" end), (.fabric_cpu_s | if . then . / $n * 1000 | r else "" end),
		    (.wait_s | r), (.wait_most_s | r)]) | @tsv' "$rows" | table
}

mkdir -p "$out"
if [ -z "$tables_only" ]; then
	work=$(mktemp -d)
	trap cleanup EXIT
	why=$(opensm_missing)
	[ -z "$why" ] || say "no OpenSM: $why"
	: > "$rows"
	while read -r hosts generator; do
		# shellcheck disable=SC2086 # words
		"$weft" topo gen $generator -o "$work/plain.net"
		# shellcheck disable=SC2086
		"$weft" topo gen $generator --vfs "$vfs" | sed '0,/^sriov=/{/^sriov=/d}' > "$work/vfs.net"
		weft_runs "$hosts" "$work/vfs.net"
		[ -z "$why" ] || continue
		opensm_runs "$hosts" "$work/plain.net" 0
		[ $((hosts * (vfs + 2))) -gt "$opensm_lids" ] || opensm_runs "$hosts" "$work/vfs.net" "$vfs"
	done < <(sizes)
fi
{
	report_one
	echo
	report_many
} | commas | tee "$out/vm.md"
if [ -n "$docs" ]; then
	report_one | commas | write_result virtual.md vm-one
	report_many | commas | write_result virtual.md vm-many
fi
exit "$failed"
