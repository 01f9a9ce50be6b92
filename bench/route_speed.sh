#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# How long routes take to compute, two threads, and OpenSM's on the same netlists in the same run.
#
#	bench/route_speed.sh [WEFT]	24-, 36- and 56-port 3-trees; OpenSM on the first
#	QUICK=1 bench/route_speed.sh	8-, 16- and 24-port 3-trees; OpenSM on the first
#	OPENSM=0 bench/route_speed.sh	without OpenSM
#	bench/route_speed.sh --write-docs	also refresh docs/results/routes.md
#	bench/route_speed.sh --tables	measure nothing: the table from the rows of the last run
#
# Ours: the best of three runs, seconds of the clock and processor time of all threads, of computing alone. OpenSM: from "building
# routing" in its log to the first table that it sends, seconds of the clock, one run. Both suffer on a busy machine, ours has
# processor time beside it. Status 1: a limit was missed by processor time on two threads, or a run failed.
# shellcheck disable=SC2016,SC2034,SC2317 # dollars in single quotes are jq's; others read what is set; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=route_speed
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/route_speed.jsonl
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
limit=${LIMIT:-600}
work=
ibsim_pid=
server_pid=
failed=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"
# shellcheck source=bench/opensm.inc.sh
. "$here/opensm.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	[ -z "$server_pid" ] || kill "$server_pid" 2> /dev/null || true
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

# ours PORTS ENGINE
ours()
{
	local i
	for i in 1 2 3; do
		"$weft" route compute "$work/net" --engine "$2" --threads 2 --json || return 1
	done | jq -sc --argjson ports "$1" --arg engine "$2" \
		'{ports: $ports, manager: "Weft", engine: $engine, entries: .[0].entries, wall_s: (map(.wall_s) | min),
		  cpu_s: (map(.cpu_s) | min), verified: all(.verified)}' >> "$rows"
}

# theirs PORTS ENGINE
theirs()
{
	local dir=$work/osm from to used
	rm -rf "$dir"
	mkdir -p "$dir"
	opensm_run "$dir" "$2" || return 1
	used=$(sed -n 's/.*osm_ucast_mgr_process: \([^ ]*\) tables configured.*/\1/p' "$dir/log" | tail -n 1)
	from=$(log_time "$dir/log" 'Entering MASTER') && to=$(log_time "$dir/log" 'tables configured on all switches') || return 1
	jq -nc --argjson ports "$1" --arg engine "$2" --arg used "$used" --argjson from "$from" --argjson to "$to" \
		'{ports: $ports, manager: "OpenSM", engine: $engine, used: $used, wall_s: ($to - $from)}' >> "$rows"
}

measure()
{
	local ports missing engine first=1 sizes='24 36 56'
	[ "$quick" = 0 ] || sizes='8 16 24'
	work=$(mktemp -d)
	trap cleanup EXIT
	trap 'exit 1' HUP INT TERM
	mkdir -p "$out"
	: > "$rows"
	missing=$(opensm_missing)
	[ -z "$missing" ] || say "without OpenSM: $missing"
	for ports in $sizes; do
		"$weft" topo gen mtree "$ports" 3 -o "$work/net"
		for engine in tree updn balanced nue; do
			[ "$ports" -lt 56 ] || [ "$engine" = tree ] || continue
			[ "$ports" -lt 36 ] || [ "$engine" != nue ] || continue
			say "$ports-port 3-tree: Weft, $engine"
			ours "$ports" "$engine" || { say "FAILED"; failed=1; }
		done
		[ -z "$missing" ] && [ -n "$first" ] || continue
		first=
		for engine in ftree updn dfsssp nue; do
			say "$ports-port 3-tree: OpenSM, $engine"
			theirs "$ports" "$engine" || say "OpenSM, $engine: no tables"
		done
	done
}

# Which engine of OpenSM is the counterpart of ours, and the limits of processor time on two threads.
facts='
	def peer: {tree: "ftree", updn: "updn", balanced: "dfsssp", nue: "nue"}[.];
	def most: {"36 tree": 0.2, "36 updn": 0.3, "36 balanced": 2, "56 tree": 1}["\(.ports) \(.engine)"];'

report()
{
	jq -sr "$facts"'
		def figure: . * 1000 | round / 1000 | tostring;
		. as $all | ["tree", "engine", "million entries", "seconds", "processor seconds", "ns an entry", "limit, seconds", "OpenSM, seconds", "times faster"],
		($all[] | select(.manager == "Weft") | . as $r |
			($all | map(select(.manager == "OpenSM" and .ports == $r.ports and .engine == ($r.engine | peer) and .used == .engine)) | first) as $o |
			["\(.ports)-port 3-tree", .engine, (.entries / 100000 | round / 10 | tostring), (.wall_s | figure), (.cpu_s | figure),
			 (.cpu_s * 1e10 / .entries | round / 10 | tostring), (most // "" | tostring),
			 (if $o then "\($o.wall_s | figure) (\($o.engine))" else "" end),
			 (if $o then ($o.wall_s / .wall_s | round | tostring) else "" end)])
		| @tsv' "$rows" | table
}

[ -x "$weft" ] || die "no weft at $weft"
command -v jq > /dev/null || die "jq is not installed"
[ -n "$tables_only" ] || measure
report > "$out/route_speed.md"
cat "$out/route_speed.md"
[ -z "$docs" ] || write_result routes.md route_speed < "$out/route_speed.md"
jq -se "$facts"'map(select(.manager == "Weft" and most)) | all(.cpu_s <= 2 * most and .verified)' "$rows" > /dev/null || failed=1
exit "$failed"
