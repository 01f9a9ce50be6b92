#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# How good routes are, ours beside OpenSM's on the same fabrics: effective bisection bandwidth, shifts, lanes, verdict, time.
#
#	bench/routes.sh [WEFT]		all fabrics below
#	QUICK=1 bench/routes.sh		without the large ones, 100 patterns
#	OPENSM=0 bench/routes.sh	without OpenSM
#	ONLY='^torus' bench/routes.sh	lines of the list below that match (a regular expression)
#	FABRICS='ring8 topo ring 8' bench/routes.sh	another one: a name, then as in the list below
#	ENGINES='auto tree' OPENSM_ENGINES='ftree' bench/routes.sh	these engines
#	KEEP=DIR bench/routes.sh	keep netlists and tables there
#	bench/routes.sh --write-docs	also refresh docs/results/routes.md and its picture; with ONLY or FABRICS the rows of
#					these fabrics, which say of which run they are, and no picture
#	bench/routes.sh --tables	measure nothing: tables and picture from the rows of the last run
#	ADD=1 bench/routes.sh		add to the rows of the last run
#
# Tables of OpenSM come from one bring-up (opensm -o) on weft fabric. It names the engine that it used at the end, which is
# another one where the engine given fails. updn has the switches farthest from hosts as roots where there are such, torus-2QoS the
# coordinates. Its time is from "Entering MASTER state" to "tables configured" in its log, LIDs
# and discovery of port details included; ours is processor time of computing alone. Verdicts are on routes from host to host.
# OpenSM 3.3.23 writes no service levels, so tables of engines that need them (dfsssp, nue, lash, torus-2QoS) are verified as one
# lane: "one lane: no" does not say that they fail with their lanes.
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
# shellcheck source=bench/opensm.inc.sh
. "$here/opensm.inc.sh"
# shellcheck source=bench/netlists.inc.sh
. "$here/netlists.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	[ -z "$server_pid" ] || kill "$server_pid" 2> /dev/null || true
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

# A name, then: topo and what weft topo gen takes; a function of netlists.inc.sh; or a file of tests/data. -K: K of 1,000 cables
# between switches are missing.
fabrics()
{
	if [ -n "${FABRICS:-}" ]; then
		printf '%s\n' "$FABRICS"
		return
	fi
	grep -E "${ONLY:-.}" <<- 'END' || true
	tree8 topo mtree 8 3
	tree8-50 topo mtree 8 3
	kary4 topo kary 4 3
	kary4-50 topo kary 4 3
	parallel parallel 16 12 6 2
	parallel-50 parallel 16 12 6 2
	tapered tapered 8 4 4 8
	tapered-50 tapered 8 4 4 8
	rails rails 6 12 8 12
	rails-50 rails 6 12 8 12
	cluster-hdr data cluster-hdr.net
	torus2d topo torus 10 10 --hosts 4
	torus3d topo torus 6 6 6 --hosts 2
	torus3d-50 topo torus 6 6 6 --hosts 2
	hypercube7 topo hypercube 7 --hosts 2
	irregular64 topo irregular 64 --ports 16 --hosts 400
	END
	[ "$quick" != 0 ] || grep -E "${ONLY:-.}" <<- 'END' || true
	dragonfly topo dragonfly 4 8 4
	tree24 topo mtree 24 3
	tree24-50 topo mtree 24 3
	END
}

# fabric_make NAME KIND WORD...: $work/net
fabric_make()
{
	local name=$1 kind=$2
	shift 2
	case $kind in
	topo) "$weft" topo gen "$@" ;;
	data) cat "$here/../tests/data/$1" ;;
	*) "$kind" "$@" ;;
	esac > "$work/whole"
	if [[ $name == *-[0-9]* ]]; then
		without "${name##*-}" < "$work/whole" > "$work/net"
	else
		cp "$work/whole" "$work/net"
	fi
	[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP"; cp "$work/net" "$KEEP/$name.net"; }
}

# Fields of a row from the meter's JSON.
quality='{bisection: .bisection.mean, shifts: .shifts.mean, shifts_worst: .shifts.worst_pattern, hops: .hops.mean, lanes, verified}'

# ours FABRIC ENGINE
ours()
{
	local dir=$work/ours part
	mkdir -p "$dir"
	if ! "$weft" route compute "$work/net" --engine "$2" --lfts "$dir/lfts" --sls "$dir/sls" --sl2vl "$dir/sl2vl" \
		--json > "$dir/computed" 2> "$dir/said"; then
		say "$1: Weft, $2: no tables: $(cat "$dir/said")"
		return 0
	fi
	"$weft" route quality "$work/net" "$dir/lfts" --sls "$dir/sls" --sl2vl "$dir/sl2vl" --hosts-only \
		--patterns "$patterns" --json > "$dir/quality" || [ $? = 1 ] || return 1
	jq -c --arg fabric "$1" --arg engine "$2" --slurpfile c "$dir/computed" \
		'{fabric: $fabric, manager: "Weft", engine: $engine, used: $c[0].engine} + '"$quality"' +
		 {seconds: $c[0].cpu_s}' "$dir/quality" >> "$rows"
	[ -z "${KEEP:-}" ] || for part in lfts sls sl2vl; do cp "$dir/$part" "$KEEP/$1.weft-$2.$part"; done
}

# theirs FABRIC ENGINE
theirs()
{
	local dir=$work/osm from to used
	rm -rf "$dir"
	mkdir -p "$dir"
	opensm_run "$dir" "$2" "$1" || return 1
	used=$(sed -n 's/.*osm_ucast_mgr_process: \([^ ]*\) tables configured.*/\1/p' "$dir/log" | tail -n 1)
	from=$(log_time "$dir/log" 'Entering MASTER')
	to=$(log_time "$dir/log" 'tables configured on all switches')
	"$weft" route quality "$work/net" "$dir/opensm-lfts.dump" --hosts-only --patterns "$patterns" --json \
		> "$dir/quality" || [ $? = 1 ] || return 1 # 1: a credit loop, which the row says
	jq -c --arg fabric "$1" --arg engine "$2" --arg used "$used" --argjson from "$from" --argjson to "$to" \
		'{fabric: $fabric, manager: "OpenSM", engine: $engine, used: $used} + '"$quality"' +
		 {seconds: ($to - $from)}' "$dir/quality" >> "$rows"
	[ -z "${KEEP:-}" ] || cp "$dir/opensm-lfts.dump" "$KEEP/$1.opensm-$2.lfts"
}

# Rows of the fabrics in the order of the list; of an engine that was measured twice the last one.
ordered='reduce .[] as $r ([]; map(select(.fabric != $r.fabric or .manager != $r.manager or .engine != $r.engine)) + [$r])'

# Which engine of OpenSM is best in each figure, and what auto has beside it.
compared='
	'"$ordered"' | reduce .[] as $r ({}; .[$r.fabric] += [$r]) | to_entries[] | {fabric: .key,
		auto: (.value | map(select(.manager == "Weft" and .engine == "auto")) | first),
		bisection: (.value | map(select(.manager == "OpenSM")) | max_by(.bisection)),
		shifts: (.value | map(select(.manager == "OpenSM")) | max_by(.shifts))} | select(.auto and .shifts)'

summary()
{
	jq -sr '
		def figure: . * 1000 | round / 1000 | tostring;
		def gain(x; y): ((x / y - 1) * 1000 | round / 10) as $g | (if $g >= 0 then "+" else "" end) + ($g | tostring) + " %";
		["fabric", "auto takes", "bisections", "shifts", "lanes", "OpenSM, bisections", "OpenSM, shifts", "bisections", "shifts"],
		('"$compared"' | [.fabric, .auto.used, (.auto.bisection | figure), (.auto.shifts | figure), (.auto.lanes | tostring),
			"\(.bisection.bisection | figure) (\(.bisection.used))", "\(.shifts.shifts | figure) (\(.shifts.used))",
			gain(.auto.bisection; .bisection.bisection), gain(.auto.shifts; .shifts.shifts)])
		| @tsv' "$rows" | table
}

report()
{
	jq -sr '
		def figure: . * 1000 | round / 1000 | tostring;
		def one_lane: .used | IN("dfsssp", "nue", "lash", "torus-2QoS");
		["fabric", "manager", "engine", "bisection", "shifts", "hops", "lanes", "free of deadlock", "seconds"],
		('"$ordered"' | .[] | [.fabric, .manager,
			.engine + (if .used and .used != .engine then
				(if .manager == "Weft" then " (" else " (became " end) + .used + ")" else "" end),
			(.bisection | figure), (.shifts | figure), (.hops | figure), (.lanes | tostring),
			(if .manager == "OpenSM" and one_lane then "one lane: " else "" end) +
			(if .verified then "yes" else "no" end),
			(.seconds * 10000 | round / 10000 | tostring)])
		| @tsv' "$rows" | table
}

# auto beside the best of OpenSM, as bars.
picture()
{
	jq -sr "$compared"' | [.fabric, .auto.bisection, .bisection.bisection, .auto.shifts, .shifts.shifts] | @tsv' "$rows" |
		awk -F '\t' '
		function bar(x, y, value, colour) {
			printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"9\" fill=\"%s\"/>\n", x, y, value * 260, colour
			printf "<text x=\"%.1f\" y=\"%d\" font-size=\"9\" fill=\"#555555\">%.3f</text>\n", x + value * 260 + 4, y + 8, value
		}
		{ name[NR] = $1; for (i = 1; i < 5; i++) v[NR, i] = $(i + 1) }
		END {
			h = 70 + NR * 28
			printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", h
			printf "<rect width=\"760\" height=\"%d\" fill=\"#ffffff\"/>\n", h
			print "<text x=\"110\" y=\"20\" font-weight=\"bold\">random bisections</text><text x=\"440\" y=\"20\" font-weight=\"bold\">all shifts</text>"
			print "<rect x=\"110\" y=\"30\" width=\"10\" height=\"10\" fill=\"#2b6cb0\"/><text x=\"124\" y=\"39\">Weft, auto</text>"
			print "<rect x=\"210\" y=\"30\" width=\"10\" height=\"10\" fill=\"#b8b8b8\"/><text x=\"224\" y=\"39\">OpenSM, the best engine for each bar</text>"
			for (r = 1; r <= NR; r++) {
				y = 54 + (r - 1) * 28
				printf "<text x=\"102\" y=\"%d\" text-anchor=\"end\">%s</text>\n", y + 13, name[r]
				bar(110, y, v[r, 1], "#2b6cb0"); bar(110, y + 10, v[r, 2], "#b8b8b8")
				bar(440, y, v[r, 3], "#2b6cb0"); bar(440, y + 10, v[r, 4], "#b8b8b8")
			}
			print "</svg>"
		}'
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
	[ -n "${ADD:-}" ] || : > "$rows"
	missing=$(opensm_missing)
	[ -z "$missing" ] || say "without OpenSM: $missing"
	while read -r fabric how; do
		# shellcheck disable=SC2086 # several words
		fabric_make "$fabric" $how
		for engine in ${ENGINES:-fera tree updn balanced torus dragonfly nue auto}; do
			say "$fabric: Weft, $engine"
			ours "$fabric" "$engine" || { say "$fabric: Weft, $engine: FAILED"; failed=1; }
		done
		[ -z "$missing" ] || continue
		for engine in ${OPENSM_ENGINES:-minhop updn dnup ftree lash dor torus-2QoS dfsssp sssp nue}; do
			say "$fabric: OpenSM, $engine"
			theirs "$fabric" "$engine" || say "$fabric: OpenSM, $engine: no tables"
		done
	done < <(fabrics)
}

[ -n "$tables_only" ] || measure
report > "$out/routes.md"
summary > "$out/routes-summary.md"
picture > "$out/routes.svg"
cat "$out/routes.md" "$out/routes-summary.md"
if [ -n "$docs" ] && [ -n "${ONLY:-}${FABRICS:-}" ]; then
	merge_result routes.md routes 2 < "$out/routes.md"
	[ "$(wc -l < "$out/routes-summary.md")" = 2 ] || merge_result routes.md routes-summary 1 < "$out/routes-summary.md"
elif [ -n "$docs" ]; then
	write_result routes.md routes-summary < "$out/routes-summary.md"
	write_result routes.md routes < "$out/routes.md"
	cp "$out/routes.svg" "$here/../docs/results/routes.svg"
fi
exit "$failed"
