#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What each step brings: the named mechanisms on the same fabrics under the same load, and weft with
# one of its parts left out at a time.
#
#	bench/mechanisms.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	bench/mechanisms.sh --write-docs	also refresh docs/results/mechanisms.md and the table in README.md
#	bench/mechanisms.sh --tables		no runs: the tables again, from bench/out/mechanisms.jsonl
#	QUICK=1 bench/mechanisms.sh		the host's CPU model only, up to 16 switches
#	SAMPLE=N bench/mechanisms.sh		N switches of the larger fabrics with the thesis's CPU model
#	FULL=1 bench/mechanisms.sh		all of them: hours
#	ONLY='irregular-16 host' bench/mechanisms.sh	this fabric with this CPU again, the rest as it was
#
# One run for each switch but the manager's, which fails (deactivation) or comes (activation); 25 % of
# saturation, 256-byte packets, two data VLs, a sweep every 100 times its duration (10 on the tree). With
# the thesis's CPU a change lasts a hundred times longer, so fewer switches are taken: see samples(). Writes
# bench/out/mechanisms.md, .csv and .jsonl. Status 1: a run did not end well.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; run_list calls what it is given
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
name=mechanisms
# shellcheck source=bench/changes.inc.sh
. "$here/changes.inc.sh" # which reads the command line

# ---- what is measured ----

# label, options
mechanisms()
{
	printf '%s\n' 'basic|--mechanism basic' 'improved|--mechanism improved' \
		'improved+partial|--mechanism improved+partial' \
		'weft, sweeps alone|--mechanism weft --routes update --detection sweeps' \
		'improved+traps|--mechanism improved+traps' 'weft|--mechanism weft --routes update'
}

parts()
{
	printf '%s\n' 'as it is|' 'no provisional routes|--provisional none' \
		'provisional PIRa|--provisional pira' 'final FERa from scratch|--routes fera' \
		'repaired routes stay|--routes repair' \
		'break-node dependencies|--distribution dependencies --then dependencies' \
		'full deactivation|--distribution full --then full' 'all table blocks|--tables full' \
		'full discovery|--discovery full' 'sweeps alone|--detection sweeps'
}

# What is measured: fabric, CPU, load in percent, switches (0: all), sweep factor. On the tree, whose
# hosts send 24 million packets a second, a sweep every 100 times its duration would leave little but
# waiting; and FERa takes the thesis's CPU 39 s there, too long to send packets through.
samples()
{
	local all=${FULL:+0}
	printf '%s\n' 'irregular-8 host 25 0 100' 'irregular-16 host 25 0 100'
	[ -z "${QUICK:-}" ] || return 0
	printf '%s\n' 'irregular-24 host 25 0 100' 'irregular-32 host 25 0 100' 'tree-8-3 host 25 4 10' \
		"tree-8-3 thesis 0 ${all:-8} 100" 'irregular-8 thesis 25 0 100' \
		"irregular-16 thesis 25 ${all:-${SAMPLE:-4}} 100" "irregular-24 thesis 25 ${all:-${SAMPLE:-2}} 100" \
		"irregular-32 thesis 25 ${all:-${SAMPLE:-2}} 100"
}

run_list()
{
	local table=$1 list=$2 fabric=$3 cpu=$4 share=$5 sample=$6 factor=$7 how label options
	[ -z "${ONLY:-}" ] || [ "$ONLY" = "$fabric $cpu" ] || return 0
	for how in activation deactivation; do
		while IFS='|' read -r label options; do
			# shellcheck disable=SC2086 # options are words
			measure "$table" "$fabric" "$cpu" "$share" "$sample" "$how" "$label" $options --sweep-factor "$factor"
		done < <($list)
	done
}

parts_of_weft() { parts | sed '/--routes/!s/|/|--routes update /; s/|/|--mechanism weft /'; }

run_all()
{
	local row
	if [ -n "${ONLY:-}" ]; then
		jq -c --arg only "$ONLY" 'select("\(.fabric) \(.cpu)" != $only)' "$records" > "$work/kept"
		cat "$work/kept" > "$records"
	else
		: > "$records"
	fi
	fabrics
	run_list parts parts_of_weft irregular-16 host 25 0 100
	[ -n "${QUICK:-}" ] || run_list parts parts_of_weft irregular-32 host 25 0 100
	while read -ra row; do
		run_list steps mechanisms "${row[@]}"
	done < <(samples)
	[ -n "${QUICK:-}" ] || run_list parts parts_of_weft irregular-16 thesis 25 2 100
}

# ---- tables ----

cpu_title() { [ "$1" = thesis ] && echo "the thesis's CPU" || echo "the host's CPU"; }

# groups TABLE: fabric, title, CPU, runs of what was measured, in that order.
groups()
{
	cjq --arg t "$1" '[.[] | select(.table == $t) | {fabric, title, cpu, runs, share}] |
		unique_by([.cpu, (.fabric | length), .fabric]) | sort_by([.cpu, (.fabric | startswith("tree")), (.fabric | length), .fabric]) | .[] |
		[.fabric, .cpu, .runs, .share, .title] | join("|")'
}

steps_tables()
{
	local only=${1:-} fabric cpu runs share title how
	while IFS='|' read -r fabric cpu runs share title; do
		[ -z "$only" ] || [ "$only" = "$fabric" ] || continue
		for how in activation deactivation; do
			printf '\n%s, %s, %s of %d switches%s:\n\n' "${title^}" "$(cpu_title "$cpu")" "$how" "$runs" \
				"$([ "$share" != 0 ] || echo ', no traffic')"
			cjq --arg f "$fabric" --arg c "$cpu" --arg h "$how" '[.[] | select(.table == "steps" and .fabric == $f
				and .cpu == $c and .how == $h)] | steps_table' | table
		done
	done < <(groups steps)
}

parts_tables()
{
	local fabric cpu runs share title
	while IFS='|' read -r fabric cpu runs share title; do
		printf '\n%s, %s, %d switches:\n\n' "${title^}" "$(cpu_title "$cpu")" "$runs"
		cjq --arg f "$fabric" --arg c "$cpu" '[.[] | select(.table == "parts" and .fabric == $f and .cpu == $c)] |
			ordered | pairs_table' | table
	done < <(groups parts)
}

# Packets lost, futile ones not counted: one row a fabric, CPU and change.
lost_table()
{
	cjq '[.[] | select(.table == "steps" and .share > 0)] | (map(.label) | reduce .[] as $l ([]; if index([$l]) then . else . + [$l] end)) as $labels |
		group_by([.cpu, .how, (.fabric | startswith("tree")), (.fabric | length), .fabric]) |
		((["fabric", "CPU", "change", "runs"] + $labels) | join("\t")),
		(.[] | . as $g | [$g[0].title, $g[0].cpu, $g[0].how, $g[0].runs] +
			[$labels[] as $l | $g[] | select(.label == $l) | .mean.packets.lost | short] | join("\t"))' | table
}

# The aim: a tenth of what improved loses, at the same detection.
aim_table()
{
	cjq '[.[] | select(.table == "steps" and .share > 0 and .how == "deactivation")] |
		group_by([.cpu, (.fabric | startswith("tree")), (.fabric | length), .fabric]) |
		(["fabric", "CPU", "by traps: improved", "weft", "ratio", "detected and explored ms", "by sweeps: improved", "weft", "ratio"] | join("\t")),
		(.[] | . as $g | def of($l): $g[] | select(.label == $l);
		 [$g[0].title, $g[0].cpu] +
		 ([["improved+traps", "weft"], ["improved", "weft, sweeps alone"]] |
			map([(of(.[0]).mean.packets.lost), (of(.[1]).mean.packets.lost)] | [(.[] | short), ratio(.[1]; .[0])]) |
			.[0] + [of("weft") | .mean.time_s.detection + .mean.time_s.discovery | ms] + .[1]) | join("\t"))' | table
}

headline_table()
{
	cjq '[.[] | select(.table == "steps" and .fabric == "irregular-32" and .cpu == "host")] | ordered |
		map(select(.label | IN("basic", "improved", "improved+traps", "weft"))) | group_by(.order) |
		(["mechanism", "a switch comes: lost", "SMPs", "a switch fails: lost", "cut off ms", "SMPs"] | join("\t")),
		(.[] | (map(select(.how == "activation"))[0]) as $a | (map(select(.how == "deactivation"))[0]) as $d |
		 [$a.label, ($a.mean.packets.lost | short), ($a.mean.smps.total | short), ($d.mean.packets.lost | short),
		  ($d.mean.connectivity_below_s | ms), ($d.mean.smps.total | short)] | join("\t"))' | table
}

report()
{
	printf '# What each step brings\n'
	steps_tables
	printf '\n## Packets lost\n\n'
	lost_table
	printf '\n## Weft against improved at the same detection, deactivation\n\n'
	aim_table
	printf '\n## Weft with one part changed\n'
	parts_tables
}

[ -n "$tables_only" ] || run_all
cjq csv_all > "$out/mechanisms.csv"
report > "$out/mechanisms.md"
cat "$out/mechanisms.md"
say "written: $out/mechanisms.md, .csv and .jsonl"
if [ -n "$docs" ]; then
	lost_table | write_result mechanisms.md lost
	aim_table | write_result mechanisms.md aim
	steps_tables irregular-16 | write_result mechanisms.md mechanisms
	parts_tables | write_result mechanisms.md parts
	headline_table | write_result ../../README.md headline
	"$here/pictures.sh" "$weft"
fi
exit "$failed"
