#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# How good routes are, ours beside OpenSM's on the same fabrics: effective bisection bandwidth, shifts, lanes, verdict, time.
#
#	bench/routes.sh [WEFT]		all fabrics below
#	QUICK=1 bench/routes.sh		those up to 500 hosts, 100 patterns
#	OPENSM=0 bench/routes.sh	without OpenSM
#	FABRICS='ring8 ring 8' bench/routes.sh	another one: a name, then as for weft topo gen
#	bench/routes.sh --write-docs	also refresh docs/results/routes.md
#	bench/routes.sh --tables	measure nothing: the table from the rows of the last run
#
# Tables of OpenSM come from one bring-up (opensm -o) on weft fabric. It names the engine that it used at the end, which is
# another one where the engine given fails. Its time is from "Entering MASTER state" to "tables configured" in its log, LIDs
# and discovery of port details included; ours is that of computing alone. Verdicts are on routes from host to host.
# OpenSM 3.3.23 writes no service levels, so tables of engines that need them (dfsssp, nue, lash) are verified as one lane:
# "one lane: no" does not say that they fail with their lanes.
#
# Rows are written to bench/out/routes.jsonl as they come; bench/out/routes.md has the table. Status 1: a run failed.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=routes
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/routes.jsonl
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
patterns=${PATTERNS:-$([ "$quick" = 0 ] && echo 1000 || echo 100)}
limit=${LIMIT:-300}
work=
ibsim_pid=
server_pid=
failed=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	[ -z "$server_pid" ] || kill "$server_pid" 2> /dev/null || true
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

# A name, then as for weft topo gen.
fabrics()
{
	if [ -n "${FABRICS:-}" ]; then
		printf '%s\n' "$FABRICS"
		return
	fi
	printf '%s\n' 'tree8 mtree 8 3' 'tree4x4 kary 4 3' 'torus6 torus 6 6 6 --hosts 2' 'torus2d torus 10 10 --hosts 4' \
		'hypercube7 hypercube 7 --hosts 2' 'irregular64 irregular 64 --ports 16 --hosts 400'
	[ "$quick" != 0 ] || printf '%s\n' 'dragonfly dragonfly 4 8 4' 'tree24 mtree 24 3'
}

# Fields of a row from the meter's JSON.
quality='{bisection: .bisection.mean, shifts: .shifts.mean, shifts_worst: .shifts.worst_pattern, hops: .hops.mean, lanes, verified}'

# ours FABRIC ENGINE
ours()
{
	local dir=$work/ours
	mkdir -p "$dir"
	if ! "$weft" route compute "$work/net" --engine "$2" --lfts "$dir/lfts" --sls "$dir/sls" --sl2vl "$dir/sl2vl" \
		--json > "$dir/computed" 2> "$dir/said"; then
		say "$1: Weft, $2: no tables: $(cat "$dir/said")"
		return 0
	fi
	"$weft" route quality "$work/net" "$dir/lfts" --sls "$dir/sls" --sl2vl "$dir/sl2vl" --hosts-only \
		--patterns "$patterns" --json > "$dir/quality" || return 1
	jq -c --arg fabric "$1" --arg engine "$2" --slurpfile c "$dir/computed" \
		'{fabric: $fabric, manager: "Weft", engine: $engine} + '"$quality"' + {seconds: $c[0].wall_s}' \
		"$dir/quality" >> "$rows"
}

# opensm_run DIR ENGINE: its tables and log
opensm_run()
{
	export IBSIM_SOCKNAME=weftroutes$$-$RANDOM SIM_HOST
	SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/net" | head -n 1)
	mkfifo "$1/console"
	"$weft" fabric "$work/net" --no-control --quiet 0<> "$1/console" > "$1/fabric" 2>&1 &
	server_pid=$!
	until grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix; do
		kill -0 "$server_pid" 2> /dev/null || return 1
		sleep 0.05
	done
	OSM_TMP_DIR=$1 OSM_CACHE_DIR=$1 LD_PRELOAD=$umad2sim timeout "$limit" opensm -o -e -f "$1/log" -D 0x43 -R "$2" \
		> "$1/said" 2>&1 || true
	kill "$server_pid" 2> /dev/null || true
	wait "$server_pid" 2> /dev/null || true
	server_pid=
	[ -s "$1/opensm-lfts.dump" ]
}

# theirs FABRIC ENGINE
theirs()
{
	local dir=$work/osm from to used
	rm -rf "$dir"
	mkdir -p "$dir"
	opensm_run "$dir" "$2" || return 1
	used=$(sed -n 's/.*osm_ucast_mgr_process: \([^ ]*\) tables configured.*/\1/p' "$dir/log" | tail -n 1)
	from=$(log_time "$dir/log" 'Entering MASTER')
	to=$(log_time "$dir/log" 'tables configured on all switches')
	"$weft" route quality "$work/net" "$dir/opensm-lfts.dump" --hosts-only --patterns "$patterns" --json \
		> "$dir/quality" || return 1
	jq -c --arg fabric "$1" --arg engine "$2" --arg used "$used" --argjson from "$from" --argjson to "$to" \
		'{fabric: $fabric, manager: "OpenSM", engine: $engine, used: $used} + '"$quality"' +
		 {seconds: ($to - $from)}' "$dir/quality" >> "$rows"
}

report()
{
	jq -sr '
		def figure: . * 1000 | round / 1000 | tostring;
		def one_lane: .used | IN("dfsssp", "nue", "lash");
		["fabric", "manager", "engine", "bisection", "shifts", "hops", "free of deadlock", "seconds"],
		(.[] | [.fabric, .manager,
			.engine + (if .used and .used != .engine then " (became " + .used + ")" else "" end),
			(.bisection | figure), (.shifts | figure), (.hops | figure),
			(if .manager == "OpenSM" and one_lane then "one lane: " else "" end) +
			(if .verified then "yes" else "no" end),
			(.seconds * 10000 | round / 10000 | tostring)])
		| @tsv' "$rows" | table
}

[ -x "$weft" ] || die "no weft at $weft"
command -v jq > /dev/null || die "jq is not installed"

measure()
{
	local fabric how engine missing
	work=$(mktemp -d)
	trap cleanup EXIT
	trap 'exit 1' HUP INT TERM
	mkdir -p "$out"
	: > "$rows"
	missing=$(opensm_missing)
	[ -z "$missing" ] || say "without OpenSM: $missing"
	while read -r fabric how; do
		# shellcheck disable=SC2086 # several words
		"$weft" topo gen $how -o "$work/net"
		for engine in ${ENGINES:-fera pira tree updn balanced torus nue dragonfly}; do
			say "$fabric: Weft, $engine"
			ours "$fabric" "$engine" || { say "$fabric: Weft, $engine: FAILED"; failed=1; }
		done
		[ -z "$missing" ] || continue
		for engine in ${OPENSM_ENGINES:-minhop updn dfsssp nue ftree}; do
			say "$fabric: OpenSM, $engine"
			theirs "$fabric" "$engine" || say "$fabric: OpenSM, $engine: no tables"
		done
	done < <(fabrics)
}

[ -n "$tables_only" ] || measure
report > "$out/routes.md"
cat "$out/routes.md"
[ -z "$docs" ] || write_result routes.md routes < "$out/routes.md"
exit "$failed"
