#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What one failure costs: entries and blocks that change with routes from a reference, from scratch, and at least; processor
# time of computing, verifying and planning, and all three when the failure is gone. Beside each row: the load average of the
# machine, as other work makes processor time longer, too.
#
#	bench/route_update.sh [WEFT]	36-port 3-tree: a link of a leaf, a leaf, a switch above it, a top switch, the pivot
#	QUICK=1 bench/route_update.sh	12-port 3-tree
#	bench/route_update.sh --write-docs	also refresh docs/results/routes.md
#	bench/route_update.sh --tables	measure nothing: the table from the rows of the last run
#
# Status 1: new tables fail the verifier, the original ones do not return, the balance is below 0.9, or a failure or its
# return takes more than 30 ms.
# shellcheck disable=SC2016,SC2034 # dollars in single quotes are jq's; others read what is set
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=route_update
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"
rows=$out/route_update.jsonl
ports=36
[ "${QUICK:-0}" = 0 ] || ports=12
failed=0

# PORTS ENGINE...: a tree with so many ports.
failures()
{
	local ports=$1 work engine what spec
	shift
	work=$(mktemp -d)
	"$weft" topo gen mtree "$ports" 3 -o "$work/net"
	for engine; do
		for spec in "link of a leaf=leaf3_4[$((ports / 2 + 2))]" 'leaf=leaf3_4' 'switch above a leaf=mid3_4' \
			'top switch=root2_3' 'pivot leaf=leaf0_0'; do
			what=${spec%%=*}
			echo "bench: $ports-port 3-tree, $engine, $what" >&2
			"$weft" route update "$work/net" --engine "$engine" --without "${spec#*=}" --threads 2 --json |
				jq -c --arg what "$what" --argjson ports "$ports" --arg load "$(cut -d ' ' -f 1 /proc/loadavg)" \
					'. + {what: $what, ports: $ports, load: $load}' >> "$rows" || failed=1
		done
	done
	rm -rf "$work"
}

measure()
{
	mkdir -p "$out"
	: > "$rows"
	failures "$ports" tree updn balanced
}

report()
{
	jq -sr '
		def ms: . * 10000 | round / 10 | tostring;
		def both: "\(.entries) in \(.blocks)";
		def all: .compute_s + .verify_s + .plan_s;
		["tree", "engine", "fails", "changed", "at least", "from scratch", "balance", "computing ms", "verifying", "planning", "all",
		 "its return", "load"],
		(.[] | ["\(.ports)-port 3-tree", .engine, .what, both, (.fewest | both), (.from_scratch // {entries: 0, blocks: 0} | both),
			 (.balance // 1 | tostring), (.compute_s | ms), (.verify_s | ms), (.plan_s | ms), (all | ms), (.return | all | ms), .load])
		| @tsv' "$rows" | commas | table
}

[ -x "$weft" ] || { echo "bench: no weft at $weft" >&2; exit 2; }
command -v jq > /dev/null || { echo "bench: jq is not installed" >&2; exit 2; }
[ -n "$tables_only" ] || measure
report > "$out/route_update.md"
cat "$out/route_update.md"
[ -z "$docs" ] || write_result routes.md route_update < "$out/route_update.md"
jq -se 'all(.verified and .back_to_original and (.balance // 1) >= 0.9 and
	([., .return] | all(.compute_s + .verify_s + .plan_s <= 0.03)))' "$rows" > /dev/null || failed=1
exit "$failed"
