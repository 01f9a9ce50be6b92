#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Counters of all ports, in real time on `weft fabric`: the time of one round of `weft sm`, its CPU, and what infiniband-diags
# take for the same.
#
#	bench/perf.sh [WEFT]		648, 3,456 and 11,664 hosts
#	QUICK=1 bench/perf.sh		648 hosts, few rounds
#	DIAGS=0 bench/perf.sh		without infiniband-diags
#	ROUNDS=20 bench/perf.sh		rounds that are measured; default 10
#	SIZES='648 mtree 36 2' ...	another fabric: a name, then as for weft topo gen
#	bench/perf.sh --write-docs	also refresh docs/results/perf.md
#	bench/perf.sh --tables		measure nothing: the tables from the rows of the last run
#
# A round asks every linked port once where devices have 64-bit counters of errors (`agent all full`), and twice where
# they have not (`agent all wide`). Rounds follow each other without a pause (perf.period 1ms); the row has the median and the
# longest of ROUNDS rounds, looked at while they go on, and the CPU time that weft sm took for a round, a mean over all meanwhile.
# Rounds without a pause are always late: where devices have not, errors of every other port are left to the next round. A second row
# of such devices is of three rounds that are not late (perf.period 1s, 5s beyond 2,000 hosts), which ask for all. Silent: one host in
# a hundred does not answer; rounds are measured once it is known which those are, and the longest before that is a column of its own.
# The load of the machine (1 minute) is that at the beginning and the end of the row.
#
# A link fails: a link between switches goes down and comes back, three times, without rounds and while rounds follow each other without a
# pause: median and longest time from the first sign to the last table, as change_done has it.
#
# infiniband-diags on the same fabric: ibqueryerrors, which reads all ports; perfquery -x for each port, a process each, for
# 200 ports, from which the time for all is computed (marked ~). Limit: three minutes each. All three fabrics take about ten minutes.
#
# Rows are written to bench/out/perf.jsonl as they come; bench/out/perf.md has the table. Status 1: a run failed.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=perf
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/perf.jsonl
quick=${QUICK:-0}
rounds=${ROUNDS:-10}
diags=${DIAGS:-1}
limit=180
asked=200
work=$(mktemp -d)
fabric_pid=
sm_pid=
status=0

cleanup()
{
	for p in $sm_pid $fabric_pid; do kill "$p" 2> /dev/null || true; done
	wait 2> /dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

[ "$quick" = 0 ] || rounds=5
sizes=${SIZES:-'648 mtree 36 2
3456 mtree 24 3
11664 mtree 36 3'}
[ "$quick" = 0 ] || sizes=$(head -n 1 <<< "$sizes")

ctl() { "$weft" ctl --socket "$work/sm.sock" "$@"; }
fabric() { "$weft" ctl --socket "$work/fabric.sock" fabric "$@"; }

# wait_for SECONDS COMMAND...
wait_for()
{
	local until=$((SECONDS + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.05
	done
}

figure() { ctl counters --json | jq "$1"; }
has_rounds() { [ "$(figure .rounds)" -ge "$1" ]; }

# Clock ticks that the manager's process has used.
ticks() { awk '{ print $14 + $15 }' "/proc/$sm_pid/stat"; }

start()
{
	export IBSIM_SOCKNAME=weft-bench-perf-$$
	"$weft" fabric "$work/net" --no-console -q --control "$work/fabric.sock" > "$work/fabric.out" 2>&1 &
	fabric_pid=$!
	wait_for 60 test -S "$work/fabric.sock"
	fabric agent all "$1"
	"$weft" sm --server "$IBSIM_SOCKNAME" --control "$work/sm.sock" --state none --perf-period "$2" --perf-window 256 \
		> "$work/sm.out" 2>&1 &
	sm_pid=$!
	wait_for 60 test -S "$work/sm.sock"
	ctl wait --timeout 300s > /dev/null
}

stop()
{
	for p in $sm_pid $fabric_pid; do kill "$p" 2> /dev/null || true; wait "$p" 2> /dev/null || true; done
	sm_pid=
	fabric_pid=
}

load() { cut -d ' ' -f 1 /proc/loadavg; }

# until_silent N: waits until so many devices count as silent; prints the longest round until then
until_silent()
{
	local r t n longest=0 until=$((SECONDS + limit))
	while [ $SECONDS -lt $until ]; do
		read -r t n < <(ctl counters --json | jq -r '"\(.round_s) \(.silent)"')
		longest=$(awk "BEGIN { print ($t > $longest ? $t : $longest) }")
		[ "$n" -lt "$1" ] || break
		sleep 0.02
	done
	echo "$longest"
}

# measure HOSTS AGENT SHARE-SILENT [PERIOD]: one row
measure()
{
	local hosts=$1 agent=$2 silent=$3 period=${4:-1ms} from before after first=null seen=() last r t loads rounds=$rounds
	[ "$period" = 1ms ] || rounds=3
	loads=$(load)
	start "$agent" "$period"
	wait_for $limit has_rounds 2
	if [ "$silent" != 0 ]; then
		grep '^Ca' "$work/net" | awk 'NR % 100 == 50' | sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' > "$work/silent"
		while read -r id; do fabric agent "$id" silent > /dev/null; done < "$work/silent"
		first=$(until_silent "$(wc -l < "$work/silent")")
	fi
	from=$(figure .rounds)
	last=$from
	before=$(ticks)
	while [ ${#seen[@]} -lt "$rounds" ]; do
		read -r r t < <(ctl counters --json | jq -r '"\(.rounds) \(.round_s)"')
		[ "$r" = "$last" ] || seen+=("$t")
		last=$r
		sleep 0.02
	done
	after=$(ticks)
	printf '%s\n' "${seen[@]}" | jq -s -c --argjson hosts "$hosts" --arg agent "$agent" --argjson silent "$silent" \
		--argjson first "$first" --argjson cpu "$(awk "BEGIN { print ($after - $before) / $(getconf CLK_TCK) / ($last - $from) }")" \
		--argjson st "$(ctl counters --json | jq '{ports, devices, round_queries, put_off, silent, timeouts, memory_bytes}')" \
		--arg period "$period" --argjson loads "[$loads, $(load)]" \
		'sort | {kind: "weft", hosts: $hosts, agent: $agent, period: $period, load: $loads, silent_share: $silent, rounds: length,
		 median_s: .[length / 2 | floor], longest_s: .[-1], first_s: $first, cpu_s: $cpu} + $st' | tee -a "$rows"
	stop
}

# reaction HOSTS PERIOD: one row; times of changes after a link went down
reaction()
{
	local hosts=$1 period=$2 link i n
	start full "$period"
	[ "$period" = 0 ] || wait_for $limit has_rounds 2
	link=$(awk '/^Switch/ { id = $3; gsub(/"/, "", id) }
		/^\[[0-9]+\]/ && id && $2 ~ /^"S-/ { p = $1; gsub(/[^0-9]/, "", p); print id "[" p "]"; exit }' "$work/net")
	for i in 1 2 3; do
		for what in unlink relink; do
			n=$(ctl changes --json | jq '.changes | length')
			fabric "$what $link" > /dev/null
			wait_for 60 sh -c "[ \$('$weft' ctl --socket '$work/sm.sock' changes --json | jq '.changes | length') -gt $n ]"
			ctl wait --timeout 60s > /dev/null
		done
	done
	ctl changes --json | jq -c --argjson hosts "$hosts" --arg period "$period" --argjson rounds "$(figure ".rounds // 0" 2> /dev/null || echo 0)" --argjson load "$(load)" \
		'[.changes[] | select(.cause != "start") | .time_s] | sort |
		 {kind: "reaction", hosts: $hosts, period: $period, changes: length, median_s: .[length / 2 | floor], longest_s: .[-1], rounds: $rounds, load: $load}' |
		tee -a "$rows"
	stop
}

# tool HOSTS NAME PORTS COMMAND...: seconds, or null after the limit; PORTS: how many of all it asks
tool()
{
	local hosts=$1 what=$2 ports=$3 began rc=0 took
	shift 3
	began=$(date +%s.%N)
	LD_PRELOAD=$umad timeout $limit "$@" > "$work/tool.out" 2>&1 || rc=$?
	took=$(awk "BEGIN { print $(date +%s.%N) - $began }")
	[ $rc != 124 ] || took=null
	[ $rc = 0 ] || [ $rc = 124 ] || { tail -n 3 "$work/tool.out" >&2; return 1; }
	jq -n -c --argjson hosts "$hosts" --arg tool "$what" --argjson took "$took" --argjson ports "$ports" \
		'{kind: "tool", hosts: $hosts, tool: $tool, ports: $ports, time_s: $took}' | tee -a "$rows"
}

perfquery_loop()
{
	local lid
	for ((lid = 1; lid <= asked; lid++)); do
		perfquery -x $lid 1 > /dev/null || return 1
	done
}

compare()
{
	local hosts=$1
	umad=$(dirname "$weft")/../preload/libweft-umad.so
	for t in perfquery ibqueryerrors; do
		command -v $t > /dev/null || { echo "bench/perf.sh: $t is not installed: left out (infiniband-diags)" >&2; return 0; }
	done
	start wide 0
	SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/net" | sed -n 2p)
	export SIM_HOST
	tool "$hosts" ibqueryerrors null ibqueryerrors --counters
	export -f perfquery_loop
	export asked
	tool "$hosts" 'perfquery -x' "$asked" bash -c perfquery_loop
	unset SIM_HOST
	stop
}

table()
{
	jq -r -s '
		def ms: if . == null then "-" else (. * 10000 | round / 10 | tostring) + " ms" end;
		def s: . * 100 | round / 100 | tostring + " s";
		(map(select(.kind == "weft") | {key: "\(.hosts)", value: .ports}) | from_entries) as $all |
		"| hosts | ports | counters | silent | queries | left to the next | round, median | longest | longest until the silent are known | CPU a round | memory | load |",
		"|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
		(.[] | select(.kind == "weft") | "| \(.hosts) | \(.ports) | \(.agent)\(if .period == "1ms" then "" else ", every \(.period)" end) | \(.silent) | \(.round_queries) | \(.put_off) | \(.median_s | ms) | \(.longest_s | ms) | \(.first_s | ms) | \(.cpu_s | ms) | \(.memory_bytes / 1e6 | round) MB | \(.load | map(tostring) | join(" to ")) |"),
		"", "| hosts | a link fails or comes back | median | longest | load |", "|---:|---|---:|---:|---:|",
		(.[] | select(.kind == "reaction") | "| \(.hosts) | \(if .period == "0" then "no rounds" else "rounds without a pause" end) | \(.median_s | ms) | \(.longest_s | ms) | \(.load) |"),
		"", "| hosts | tool | time for all ports |", "|---:|---|---:|",
		(.[] | select(.kind == "tool") | "| \(.hosts) | \(.tool) | \(if .time_s == null then "over the limit" elif .ports then "~\(.time_s / .ports * $all["\(.hosts)"] | s)" else (.time_s | s) end) |")' "$rows"
}

mkdir -p "$out"
if [ -z "$tables_only" ]; then
	: > "$rows"
	while read -r hosts kind dims; do
		# shellcheck disable=SC2086 # several words
		"$weft" topo gen "$kind" $dims -o "$work/net"
		measure "$hosts" full 0 || status=1
		measure "$hosts" wide 0 || status=1
		measure "$hosts" wide 0 "$([ "$hosts" -gt 2000 ] && echo 5s || echo 1s)" || status=1
		measure "$hosts" full 0.01 || status=1
		reaction "$hosts" 0 || status=1
		reaction "$hosts" 1ms || status=1
		[ "$diags" = 0 ] || compare "$hosts" || status=1
	done <<< "$sizes"
fi
table | tee "$out/perf.md"
[ -z "$docs" ] || write_result perf.md rounds < "$out/perf.md"
exit $status
