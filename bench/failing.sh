#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Failing in place: how good routes are with more and more dead links, engine by engine, and how many entries each failure changes.
#
#	bench/failing.sh [WEFT]		0 to 10 % of the cables between switches of three fabrics dead
#	QUICK=1 bench/failing.sh	smaller fabrics, 0, 5 and 10 %
#	bench/failing.sh --write-docs	also refresh docs/results/failing.md and its picture
#	bench/failing.sh --tables	measure nothing: table and picture from the rows of the last run
#
# A cable that is dead at one share is dead at all larger ones. Tables are computed from scratch at each share. Entries changed: those
# that differ from the tables of the share before, for each cable that died between the two; and for single cables of the whole
# fabric, the mean of five, those that weft route update changes, for engines that have it, and the fewest that any routing changes.
#
# Where cables lead to a switch no more, its pairs have no route; other pairs have one in any case.
#
# Rows are written to bench/out/failing.jsonl as they come. Status 1: a run failed or tables had a credit loop.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=failing
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rows=$out/failing.jsonl
quick=${QUICK:-0}
work=
ibsim_pid=
failed=0
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"
# shellcheck source=bench/netlists.inc.sh
. "$here/netlists.inc.sh"

cleanup()
{
	local status=$?
	trap - EXIT
	[ -z "$work" ] || rm -rf "$work"
	exit "$status"
}

# A name, engines with commas, then as for weft topo gen.
fabrics()
{
	if [ "$quick" != 0 ]; then
		printf '%s\n' 'tree fera,tree,updn,balanced,nue mtree 6 3' 'torus fera,updn,balanced,torus,nue torus 5 5 --hosts 2'
	else
		printf '%s\n' 'tree fera,tree,updn,balanced,nue mtree 12 3' 'torus fera,updn,balanced,torus,nue torus 6 6 6 --hosts 2' \
			'irregular fera,updn,balanced,nue irregular 64 --ports 16 --hosts 400'
	fi
}

cables() { "$weft" topo show "$1" --json 2> /dev/null | jq .links; }

# at_share FABRIC ENGINE SHARE DEAD: dead cables since the share before
at_share()
{
	local now=$work/$2.now before=$work/$2.lfts against=()
	"$weft" route compute "$work/net" --engine "$2" --lfts "$now" --sls "$work/sls" --sl2vl "$work/sl2vl" --json \
		> "$work/computed" 2> "$work/said" || [ $? = 1 ] || { say "$1, $2: $(tail -n 1 "$work/said")"; return 0; }
	[ ! -e "$before" ] || against=(--against "$before")
	"$weft" route quality "$work/net" "$now" --sls "$work/sls" --sl2vl "$work/sl2vl" --hosts-only --patterns 200 \
		"${against[@]}" --json > "$work/quality" 2> /dev/null || true
	jq -c --arg fabric "$1" --arg engine "$2" --argjson share "$3" --argjson dead "$4" '
		{fabric: $fabric, engine: $engine, share: ($share / 10), bisection: .bisection.mean, shifts: .shifts.mean, lanes, loops: .credit_loops,
		 changed: (if .changed and $dead > 0 then .changed.entries / $dead else null end)}' "$work/quality" >> "$rows"
	mv "$now" "$before"
}

# One cable after another, each from the whole fabric.
single()
{
	local i at
	"$weft" route update "$work/whole" --engine "$2" --without "$3" --json > /dev/null 2>&1 || return 0
	for i in 1 2 3 4 5; do
		at=$(cable_at "$i")
		"$weft" route update "$work/whole" --engine "$2" --without "$at" --json 2> /dev/null || true
	done | jq -sc --arg fabric "$1" --arg engine "$2" '{fabric: $fabric, engine: $engine, single: (map(.entries) | add / length),
		fewest: (map(.fewest.entries) | add / length), scratch: (map(.from_scratch.entries) | add / length)}' >> "$rows"
}

# The ends of cables between switches, every so many of them.
cable_at()
{
	awk -v want="$1" '/^Switch/ { split($0, q, "\""); own = q[2] } /^Ca/ { own = "" }
		own != "" && /^\[[0-9]+\]\t"S-/ { split($0, b, /[][]/); end[++n] = own "[" b[2] "]" }
		END { print end[int(n * want / 6) + 1] }' "$work/whole"
}

one_fabric()
{
	local fabric=$1 engines=$2 share left more step=20
	shift 2
	[ "$quick" = 0 ] || step=50
	"$weft" topo gen "$@" -o "$work/whole"
	rm -f "$work"/*.lfts
	left=$(cables "$work/whole")
	for ((share = 0; share <= 100; share += step)); do
		without "$share" < "$work/whole" > "$work/net"
		more=$(cables "$work/net")
		say "$fabric: $share of 1,000 cables dead, $((left - more)) more"
		for engine in ${engines//,/ }; do
			at_share "$fabric" "$engine" "$share" $((left - more)) || { say "$fabric, $engine: FAILED"; failed=1; }
		done
		left=$more
	done
	for engine in ${engines//,/ }; do
		single "$fabric" "$engine" "$(cable_at 1)"
	done
}

report()
{
	jq -sr '
		def figure: . * 1000 | round / 1000 | tostring;
		def whole: if . == null then "" else (. | round | tostring) end;
		def mean: if length == 0 then null else add / length end;
		. as $all | (map(select(.share != null) | .share) | unique) as $shares |
		(["fabric", "engine"] + ($shares | map("\(.) %")) + ["lanes", "entries changed for each dead cable", "one cable: update", "from scratch", "at least"]),
		($all | map(select(.share == 0)) | .[] | . as $r |
			($all | map(select(.fabric == $r.fabric and .engine == $r.engine and .share != null))) as $of |
			($all | map(select(.fabric == $r.fabric and .engine == $r.engine and .single != null)) | first) as $one |
			[.fabric, .engine] + ($shares | map(. as $s | ($of | map(select(.share == $s)) | first) as $x |
				if $x then "\($x.bisection | figure) / \($x.shifts | figure)" else "refused" end)) +
			[($of | map(.lanes) | max | tostring), ($of | map(.changed | values) | mean | whole),
			 ($one.single | whole), ($one.scratch | whole), ($one.fewest | whole)])
		| @tsv' "$rows" | table
}

# A panel for each fabric and figure, a line for each engine.
picture()
{
	jq -sr 'map(select(.share != null)) | .[] | [.fabric, .engine, .share, .bisection, .shifts] | @tsv' "$rows" | awk -F '\t' '
		BEGIN {
			split("fera tree updn balanced torus nue", order, " ")
			split("#888888 #2b6cb0 #2f855a #c05621 #6b46c1 #b83280", paint, " ")
			for (i = 1; i <= 6; i++) colour[order[i]] = paint[i]
		}
		{
			if (!($1 in row)) { row[$1] = rows++; name[row[$1]] = $1 }
			n[$1, $2]++
			for (k = 0; k < 2; k++) {
				v[$1, $2, k, n[$1, $2]] = $(4 + k)
				if ($(4 + k) > top[$1, k]) top[$1, k] = $(4 + k)
			}
			x[$1, $2, n[$1, $2]] = $3
		}
		END {
			h = 60 + rows * 210
			printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"760\" height=\"%d\" fill=\"#ffffff\"/>\n", h, h
			for (i = 1; i <= 6; i++)
				printf "<rect x=\"%d\" y=\"14\" width=\"14\" height=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"20\">%s</text>\n", 60 + (i - 1) * 110, paint[i], 80 + (i - 1) * 110, order[i]
			for (r = 0; r < rows; r++)
				for (k = 0; k < 2; k++) panel(name[r], k, 60 + k * 360, 50 + r * 210)
			print "</svg>"
		}
		function panel(f, k, px, py,   i, e, j, most, s) {
			most = top[f, k] * 1.05
			printf "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s, %s</text>\n", px, py, f, k ? "shifts" : "bisections"
			for (i = 0; i <= 4; i++) {
				s = py + 170 - i * 40
				printf "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555555\">%.2f</text>\n", px, s, px + 270, s, px - 6, s + 4, most * i / 4
			}
			for (i = 0; i <= 10; i += 2)
				printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#555555\">%d %%</text>\n", px + i * 27, py + 186, i
			for (i = 1; i <= 6; i++) {
				e = order[i]
				if (!n[f, e]) continue
				printf "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"", colour[e]
				for (j = 1; j <= n[f, e]; j++)
					printf "%.1f,%.1f ", px + x[f, e, j] * 27, py + 170 - v[f, e, k, j] / most * 160
				print "\"/>"
			}
		}'
}

measure()
{
	local fabric engines how
	work=$(mktemp -d)
	trap cleanup EXIT
	trap 'exit 1' HUP INT TERM
	mkdir -p "$out"
	: > "$rows"
	while read -r fabric engines how; do
		# shellcheck disable=SC2086 # several words
		one_fabric "$fabric" "$engines" $how
	done < <(fabrics)
}

[ -x "$weft" ] || die "no weft at $weft"
command -v jq > /dev/null || die "jq is not installed"
[ -n "$tables_only" ] || measure
report > "$out/failing.md"
picture > "$out/failing.svg"
cat "$out/failing.md"
if [ -n "$docs" ]; then
	write_result failing.md failing < "$out/failing.md"
	cp "$out/failing.svg" "$here/../docs/results/failing.svg"
fi
jq -se 'map(select(.share != null)) | all(.loops | not or . == 0)' "$rows" > /dev/null || failed=1
exit "$failed"
