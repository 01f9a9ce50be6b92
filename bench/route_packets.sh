#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What packets get of routes: the rate that fabrics carry with our tables and with OpenSM's, in the same model.
#
#	KEEP=DIR bench/routes.sh		first: netlists and tables of both
#	KEEP=DIR bench/route_packets.sh [WEFT]	four of these fabrics, uniform traffic and a shift by a quarter of the hosts and one
#	ADD=1 FABRICS='torus2d dor' ...		others, added to the rows of the last run
#	bench/route_packets.sh --write-docs	also refresh docs/results/routes.md
#	bench/route_packets.sh --tables		measure nothing: the table from the rows of the last run
#
# Eight data VLs. Ours: the tables of auto with their service levels. OpenSM's: tables of its engines that give the best shares
# there; they have no service levels, so hosts send on one lane, and tables with a credit loop (status 1 of weft sim) can deadlock.
#
# Rows are written to bench/out/route_packets.jsonl as they come. Status 1: a run failed.
# shellcheck disable=SC2016,SC2034 # dollars in single quotes are jq's; others read what is set
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=route_packets
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/route_packets.jsonl
keep=${KEEP:-}
work=
ibsim_pid=
failed=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

# Fabrics, and engines of OpenSM.
pairs()
{
	if [ -n "${FABRICS:-}" ]; then
		printf '%s\n' "$FABRICS"
		return
	fi
	printf '%s\n' 'tree8-50 ftree sssp' 'torus2d dor minhop' 'irregular64 dfsssp minhop' 'torus3d dor dfsssp'
}

# saturate FABRIC MANAGER ENGINE PATTERN OPTION...
saturate()
{
	local fabric=$1 manager=$2 engine=$3 pattern=$4 got options=()
	shift 4
	[ "$pattern" = uniform ] || options=(--shift $(($("$weft" topo show "$keep/$fabric.net" --json 2> /dev/null | jq .hosts) / 4 + 1)))
	say "$fabric: $manager, $engine, $pattern"
	got=$("$weft" sim saturate "$keep/$fabric.net" --pattern "$pattern" "${options[@]}" --vls 8 --points 1 --json "$@" 2> "$out/said") ||
		[ $? = 1 ] || { say "$(tail -n 1 "$out/said")"; failed=1; return 0; }
	jq -c --arg fabric "$fabric" --arg manager "$manager" --arg engine "$engine" --arg pattern "$pattern" \
		'{fabric: $fabric, manager: $manager, engine: $engine, pattern: $pattern, load: .saturation_load, verified: .tables.verified}' <<< "$got" >> "$rows"
}

measure()
{
	local fabric engines engine pattern
	[ -n "$keep" ] || die "KEEP must name the folder of bench/routes.sh's tables"
	mkdir -p "$out"
	[ -n "${ADD:-}" ] || : > "$rows"
	while read -r fabric engines; do
		for pattern in uniform shift; do
			saturate "$fabric" Weft auto "$pattern" --tables "$keep/$fabric.weft-auto.lfts" \
				--sls "$keep/$fabric.weft-auto.sls" --sl2vl "$keep/$fabric.weft-auto.sl2vl"
			for engine in $engines; do
				saturate "$fabric" OpenSM "$engine" "$pattern" --tables "$keep/$fabric.opensm-$engine.lfts" --sl 0
			done
		done
	done < <(pairs)
}

report()
{
	jq -sr '
		def share: if . == null then "none" else "\(. * 1000 | round / 10) %" end;
		["fabric", "manager", "engine", "free of deadlock", "uniform", "shift"],
		(map(select(.pattern == "uniform")) as $u | . as $all | $u[] | . as $r | [.fabric, .manager, .engine, (if .verified then "yes" else "no" end), (.load | share),
			($all | map(select(.pattern == "shift" and .fabric == $r.fabric and .engine == $r.engine)) | first | .load | share)])
		| @tsv' "$rows" | table
}

[ -x "$weft" ] || die "no weft at $weft"
command -v jq > /dev/null || die "jq is not installed"
[ -n "$tables_only" ] || measure
report > "$out/route_packets.md"
cat "$out/route_packets.md"
[ -z "$docs" ] || write_result routes.md route_packets < "$out/route_packets.md"
exit "$failed"
