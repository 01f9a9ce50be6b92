#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Subnet administration under load, `weft sm` beside OpenSM in the same run: each manages the same emulated fabric, and the
# same program asks it, with one connection for each client.
#
#	bench/sa.sh [WEFT]		324, 3,456 and 11,664 hosts
#	QUICK=1 bench/sa.sh		324 hosts, a hundredth of the requests
#	SHARE=4 bench/sa.sh		a fourth of the requests, for a machine with little time
#	OPENSM=0 bench/sa.sh		without OpenSM
#	SIZES='mine 8 3' bench/sa.sh	another fabric: a name, then as for weft topo gen mtree
#	bench/sa.sh --write-docs	also refresh the tables of docs/results/sa.md
#	bench/sa.sh --tables		measure nothing: the table from the rows of the last run
#
# It needs build/bench/sa-load and libweft-umad (meson configure build -Dtests=true && ninja -C build), and for OpenSM
# opensm, which runs on libweft-umad as well: libumad2sim has no RMPP. Times are those of the machine: nothing else should
# run on it. The fabric, the client and the manager share its cores.
#
#	paths, N clients	Get(PathRecord) from N hosts to random hosts, one outstanding for each
#	all nodes		GetTable(NodeRecord) of the whole subnet, one after another
#	paths to all		GetTable(PathRecord) from a host to all, 8 hosts at once; of a sample, for all hosts
#	job start		each of 4 processes at each of 1,000 hosts (or all, if there are fewer) asks for paths to the other
#				hosts: 64 connections, 16 requests outstanding for each; of a sample, for all of them
#	joins and leaves	1,000 a second of 100 groups by 32 hosts
#	a link fails		2,000 paths a second while a link between switches fails and comes back
#
# Rows of "sockets" are of bench/sa_floor.c: at the manager's place of the same fabric, once the manager has ended, it waits,
# receives and sends packets back. Nothing that answers over these sockets takes less.
#
# Before the first row the manager has come to rest. "CPU us" is its CPU time for a request, of all its threads. Every answer
# is checked: "lost" had none after eight repetitions, "wrong" had a status, another LID than the host has, or a table without
# one of the hosts. "busy" is no answer: the request is sent again, as IBA says. In the
# times a lost request counts until it is given up. "others" is the share of the machine's cores that other programs took in the second before the first row.
#
# Rows are written to bench/out/sa.jsonl as they come; bench/out/sa.md has the tables: what a path query takes beside sockets
# alone and OpenSM, what was to be shown, and all rows. Status 1: an answer of Weft was lost or
# wrong; what OpenSM misses is in the table alone.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=sa
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/sa.jsonl
quick=${QUICK:-0}
share=${SHARE:-1}
with_opensm=${OPENSM:-1}
limit=${LIMIT:-240}
load=$here/../build/bench/sa-load
floor=$here/../build/bench/sa-floor
preload=$here/../build/src/preload/libweft-umad.so
work=
ibsim_pid=
server_pid=
pid=
runs=0
failed=0
others=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"
# shellcheck source=bench/netlists.inc.sh
. "$here/netlists.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	for p in $pid $server_pid; do
		kill -9 "$p" 2> /dev/null || true
	done
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

# A name and what makes it: two levels of 18 hosts at each of 18 switches, or trees.
sizes()
{
	if [ -n "${SIZES:-}" ]; then
		printf '%s\n' "$SIZES"
		return
	fi
	echo '324'
	[ "$quick" != 0 ] || printf '%s\n' '3456 24 3' '11664 36 3'
}

generate() # NAME [PORTS LEVELS]
{
	if [ $# = 1 ]; then
		parallel 18 18 9 2 > "$work/$1.net"
	else
		"$weft" topo gen mtree "$2" "$3" -o "$work/$1.net" > /dev/null
	fi
}

fabric() { "$weft" ctl fabric --socket "$dir/fabric.sock" "$@"; }

# ---- the fabric and its manager ----

fabric_start() # NET
{
	runs=$((runs + 1))
	export IBSIM_SOCKNAME=weftsa$$-$runs
	dir=$work/run$runs
	net=$1
	mkdir -p "$dir"
	mkfifo "$dir/console"
	exec 7<> "$dir/console"
	"$weft" fabric "$net" --name "$IBSIM_SOCKNAME" --clients 256 --control "$dir/fabric.sock" --quiet <&7 > "$dir/fabric.out" 2>&1 &
	server_pid=$!
	until [ -S "$dir/fabric.sock" ]; do
		kill -0 "$server_pid" 2> /dev/null || return 1
		sleep 0.02
	done
	seat=$(grep -m 1 '^Ca' "$net" | cut -d '"' -f 2)
}

end() # PID
{
	kill "$1" 2> /dev/null || true
	for _ in $(seq 200); do
		kill -0 "$1" 2> /dev/null || break
		sleep 0.05
	done
	kill -9 "$1" 2> /dev/null || true
	wait "$1" 2> /dev/null || true
}

fabric_stop()
{
	[ -z "$pid" ] || end "$pid"
	end "$server_pid"
	pid='' server_pid=''
	exec 7>&-
}

opensm_is_up()
{
	local end=$((SECONDS + limit))
	until grep -q 'SUBNET UP' "$dir/log" 2> /dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

start() # weft|opensm: until the subnet is up
{
	if [ "$1" = weft ]; then
		"$weft" sm --transport ibsim --server "$IBSIM_SOCKNAME" --device "$seat" --state "$dir/state.db" \
			--control "$dir/sock" > "$dir/log" 2>&1 &
		pid=$!
		"$weft" ctl --socket "$dir/sock" wait --timeout "${limit}s" > /dev/null
		return
	fi
	echo 'force_log_flush TRUE' > "$dir/conf"
	(
		cd "$dir"
		export SIM_HOST=$seat OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir LD_PRELOAD=$preload
		exec opensm -e -F "$dir/conf" -f "$dir/log" -D 0x3 -R minhop
	) < /dev/null > "$dir/said" 2>&1 &
	pid=$!
	opensm_is_up
}

# All cores, in ticks: busy and in all.
machine_ticks() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat; }

# Percent of the cores that were busy for a second in which nothing of this run had work.
others_measure()
{
	local was now
	read -r -a was < <(machine_ticks)
	sleep 1
	read -r -a now < <(machine_ticks)
	others=$((100 * (now[0] - was[0]) / (now[1] - was[1])))
}

ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$pid/stat"; }

# Work after the start, such as repairs computed ahead, is over: a second takes at most 20 ms of CPU time.
rested()
{
	local was now end=$((SECONDS + limit))
	was=$(ticks)
	while sleep 1; do
		now=$(ticks)
		[ $((now - was)) -gt 2 ] && [ "$SECONDS" -lt "$end" ] || return 0
		was=$now
	done
}

# ---- what is asked ----

# ask FABRIC MANAGER WHAT TIMES-OF-ALL CLIENTS KIND COUNT [MORE]: one row; TIMES: how often the whole has what was measured
ask()
{
	local got status=0 fabric_name=$1 manager=$2 what=$3 whole=$4
	shift 4
	say "$fabric_name, $manager: $what"
	got=$("$load" "$net" "$IBSIM_SOCKNAME" "$pid" "$@") || status=$?
	if [ -z "$got" ]; then
		got='{"answered": 0, "lost": null}'
	fi
	jq -c --arg fabric "$fabric_name" --arg manager "$manager" --arg what "$what" --argjson whole "$whole" --argjson others "$others" \
		'{fabric: $fabric, manager: $manager, what: $what, whole: $whole, others: $others} + .' <<< "$got" | tee -a "$rows" >&2
	[ "$status" = 0 ] || [ "$manager" != weft ] || failed=1
}

# The first cable between two switches, as the console names it.
cable()
{
	awk '/^Switch/ { split($0, q, "\""); own = q[2] } /^Ca/ { own = "" }
		own != "" && /^\[.*"S-/ { split($1, p, /[][]/); printf "\"%s\"[%s]\n", own, p[2]; exit }' "$net"
}

# With a link that fails after a third of the time and is back after two.
during_failure() # FABRIC MANAGER SECONDS
{
	(
		exec 7>&-
		sleep "$(($3 / 3))"
		fabric "unlink $(cable)" > /dev/null
		sleep "$(($3 / 3))"
		fabric "relink $(cable)" > /dev/null
	) &
	ask "$1" "$2" 'a link fails' 1 16 watch "$3" 2000
	wait $!
}

amounts() # how much is asked for
{
	hosts=$(grep -c '^Ca' "$net")
	job=$((hosts < 1000 ? hosts : 1000))
	job=$((4 * job * (job - 1)))
	sample=$((job < 1000000 ? job : 1000000))
	sample=$((sample / share)) paths=$((100000 / share)) tables=$((64 / share)) seconds=12
	tables=$((tables < 16 ? 16 : tables))
	[ "$quick" = 0 ] || paths=2000 tables=16 seconds=3 sample=20000
}

measure() # FABRIC MANAGER
{
	amounts
	ask "$1" "$2" 'paths, 1 client' 1 1 paths "$((paths / 2))"
	ask "$1" "$2" 'paths, 4 clients' 1 4 paths "$paths"
	ask "$1" "$2" 'paths, 64 clients' 1 64 paths "$((2 * paths))"
	ask "$1" "$2" 'all nodes' 1 1 nodes "$((tables / 8))"
	ask "$1" "$2" 'paths to all' "$hosts" 8 tables "$tables"
	ask "$1" "$2" 'job start' "$job" 64 paths "$sample" 16
	ask "$1" "$2" 'joins and leaves' 1 32 joins "$seconds" 1000
	during_failure "$1" "$2" "$seconds"
}

# After the manager: the fabric stays as it left it.
measure_sockets() # FABRIC
{
	end "$pid"
	"$floor" "$IBSIM_SOCKNAME" "$seat" < /dev/null > "$dir/floor" 2>&1 &
	pid=$!
	amounts
	ask "$1" sockets 'paths, 1 client' 1 1 echo "$((paths / 2))"
	ask "$1" sockets 'paths, 4 clients' 1 4 echo "$paths"
	ask "$1" sockets 'paths, 64 clients' 1 64 echo "$((2 * paths))"
	ask "$1" sockets 'job start' "$job" 64 echo "$sample" 16
}

one() # FABRIC MANAGER
{
	fabric_start "$work/$1.net" || die "weft fabric does not start"
	if start "$2"; then
		rested
		others_measure
		measure "$1" "$2"
		[ "$2" != weft ] || measure_sockets "$1"
	else
		say "$2 did not come up: $(tail -n 1 "$dir/log" | cut -c 1-160)"
		failed=1
	fi
	fabric_stop
}

# whole_s: what all of it would take, of the sample that was measured
report()
{
	jq -sr 'def n($d): if . == null then "-" else (. * pow(10; $d) | round / pow(10; $d) | tostring) end;
		["hosts", "what", "manager", "requests", "a second", "CPU us", "median us", "99 % us", "longest us", "repeated", "lost", "wrong", "all of it, s", "others"],
		(.[] | [.fabric, .what, .manager, .requests, (.rate | n(0)), (.cpu_us | n(1)), .p50_us, .p99_us, .max_us, .repeated, .lost, .wrong,
			(if .whole > 1 and .rate then .whole / .rate | n(1) else "" end),
			"\(.others)%"]) | map(. // "-") | @tsv' "$rows" | table
}

# CPU time of a path query: both managers, and what is left of both without what sockets alone take
cpu_report()
{
	jq -sr 'def n($d): if . == null then "-" else (. * pow(10; $d) | round / pow(10; $d) | tostring) end;
		def share($a; $b): if $a == null or $b == null or $b <= 0 then "-" else "\(100 * ([$a, 0] | max) / $b | round)%" end;
		def less($a; $b): if $a == null or $b == null then null else $a - $b end;
		["hosts", "what", "Weft us", "sockets alone us", "OpenSM us", "of OpenSM", "of OpenSM, both without sockets"],
		(group_by(.fabric | tonumber? // .)[] | group_by(.what)[] | select(.[0].what | test("^(paths, |job)"))
			| (INDEX(.manager) | map_values(.cpu_us)) as $us
			| [.[0].fabric, .[0].what, ($us.weft | n(1)), ($us.sockets | n(1)), ($us.opensm | n(1)),
				share($us.weft; $us.opensm), share(less($us.weft; $us.sockets); less($us.opensm; $us.sockets))])
		| @tsv' "$rows" | table
}

# What was to be shown, of each size
aims_report()
{
	jq -sr 'def ms: if . == null then "-" else (. / 100 | round / 10 | tostring) end;
		def times($a; $b): if $a == null or $b == null or $b == 0 then "-" else ($a / $b * 10 | round / 10 | tostring) end;
		def range: map(select(. != "-") | tonumber) | if length == 0 then "-" else "\(min) to \(max)" end;
		def of($what): map(select(.what == $what))[0];
		def both($w; $o; f): [($w | f), ($o | f)] | map(. // "-" | tostring) | join(" / ");
		["hosts", "rate of OpenSM, path queries", "joins: lost, wrong", "a link fails: lost", "wrong", "99 % ms", "repeated"],
		(group_by(.fabric | tonumber? // .)[] | (map(select(.manager == "weft"))) as $w | (map(select(.manager == "opensm"))) as $o
			| [.[0].fabric,
				([$w[] | select(.what | test("^paths, ")) | .what as $k | times(.rate; ($o | of($k) | .rate))] | range),
				([$w, $o] | map(of("joins and leaves") | "\(.lost // "-"), \(.wrong // "-")") | join(" / ")),
				(both($w | of("a link fails"); $o | of("a link fails"); .lost)),
				(both($w | of("a link fails"); $o | of("a link fails"); .wrong)),
				(both($w | of("a link fails"); $o | of("a link fails"); .p99_us | ms)),
				(both($w | of("a link fails"); $o | of("a link fails"); .repeated))])
		| @tsv' "$rows" | table
}

mkdir -p "$out"
if [ -z "$tables_only" ]; then
	work=$(mktemp -d)
	trap cleanup EXIT
	ninja -C "$here/../build" bench/sa-load bench/sa-floor src/preload/libweft-umad.so > /dev/null
	why=$(opensm_missing)
	[ -z "$why" ] || say "no OpenSM: $why"
	: > "$rows"
	while read -r -a size; do
		generate "${size[@]}"
		one "${size[0]}" weft
		[ -n "$why" ] || one "${size[0]}" opensm
	done < <(sizes)
fi
for part in cpu aims all; do
	case $part in
	cpu) cpu_report ;;
	aims) aims_report ;;
	all) report ;;
	esac | commas > "$out/sa-$part.md"
	[ -z "$docs" ] || write_result sa.md "sa-$part" < "$out/sa-$part.md"
done
cat "$out"/sa-{cpu,aims,all}.md | tee "$out/sa.md"
exit "$failed"
