#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The measured tables of the thesis (16, 17, 21 to 25, 28 to 31) beside the same experiments here:
# its mean, ours, and the ratio.
#
#	bench/thesis.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	bench/thesis.sh --write-docs	also refresh docs/results/thesis.md
#	bench/thesis.sh --tables	no runs: the tables again, from bench/out/thesis.jsonl
#	QUICK=1 bench/thesis.sh		packets only up to 8 switches
#	FULL=1 bench/thesis.sh		packets for every switch: hours
#
# The thesis does not give its topologies: these are other random ones of the same sizes, so means
# are compared, not runs. Times and SMPs come from runs of every switch without traffic (5.5.1: it
# makes no difference to them), packets from a sample under load. Nothing is fitted. Writes
# bench/out/thesis.md and .jsonl. Status 1: a run did not end well.
# shellcheck disable=SC2016 # dollars in single quotes are jq's
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
name=thesis
# shellcheck source=bench/changes.inc.sh
. "$here/changes.inc.sh" # which reads the command line

# Experiment, the thesis's name of the row, options. Chapters 6 and 7 take partial discovery for
# granted; final tables behind provisional ones always go out while traffic flows.
quiet()
{
	printf '%s\n' 'discovery|full|--mechanism basic' 'discovery|partial|--mechanism basic --discovery partial' \
		'provisional|no-provisional|--mechanism basic --discovery partial' \
		'provisional|provisional|--mechanism basic --discovery partial --provisional pira --then outwards' \
		'distribution|full-deactivation|--mechanism basic --discovery partial' \
		'distribution|break-node-ports|--mechanism basic --discovery partial --distribution ports' \
		'distribution|break-node-dependencies|--mechanism basic --discovery partial --distribution dependencies' \
		'distribution|none|--mechanism basic --discovery partial --distribution none' \
		'mechanism|basic|--mechanism basic' 'mechanism|improved|--mechanism improved'
}

loaded()
{
	quiet | grep -v '^discovery|'
}

# Switches and how many of them are taken under load; 0: all.
sizes()
{
	if [ -n "${FULL:-}" ]; then
		printf '%s\n' '8 0' '16 0' '24 0' '32 0'
	elif [ -n "${QUICK:-}" ]; then
		echo '8 0'
	else
		printf '%s\n' '8 0' '16 2' '24 2' '32 1'
	fi
}

run_all()
{
	local n how table label options sample
	: > "$records"
	fabrics
	for n in 8 16 24 32; do
		for how in activation deactivation; do
			while IFS='|' read -r table label options; do
				# shellcheck disable=SC2086 # options are words
				measure "$table" "irregular-$n" thesis 0 0 "$how" "$label" $options
			done < <(quiet)
		done
	done
	while read -r n sample; do
		for how in activation deactivation; do
			while IFS='|' read -r table label options; do
				# shellcheck disable=SC2086
				measure "$table" "irregular-$n" thesis 25 "$sample" "$how" "$label" $options
			done < <(loaded)
			while IFS='|' read -r table label options; do
				# shellcheck disable=SC2086
				measure "$table" "irregular-$n" thesis 50 "$sample" "$how" "$label" $options
			done < <(quiet | grep '^mechanism|')
		done
	done < <(sizes)
}

# beside NUMBER FILE TABLE SHARE VALUE TITLE: the thesis's CSV beside the records. VALUE is jq for one
# record; $row is the thesis's.
beside()
{
	local number=$1 csv=$2 table=$3 share=$4 value=$5 title=$6 scale=1
	[[ $csv != *-s.csv ]] || scale=1000 # seconds there, ms here
	printf '\nTable %s, %s:\n\n' "$number" "$title"
	cjq --rawfile csv "$here/thesis/$csv" --arg t "$table" --argjson s "$share" --argjson scale "$scale" '
		. as $all | [$csv | split("\n")[1:][] | select(. != "") | split(",")] |
		map({n: .[0], label: .[1], activation: (.[2] | tonumber * $scale), deactivation: (.[4] | tonumber * $scale)}) |
		map(. as $row | . + {ours: (["activation", "deactivation"] | map(. as $how | [$all[] |
			select(.table == $t and .share == $s and .how == $how and .fabric == "irregular-\($row.n)"
				and .label == (if $row.label == "final" then "provisional" else $row.label end))][0] |
			if . then {runs, v: ('"$value"')} else null end))}) |
		map(select(.ours[0] and .ours[1])) |
		(["switches", "", "activation: thesis", "here", "ratio", "deactivation: thesis", "here", "ratio", "runs"] | join("\t")),
		(.[] | [.n, .label, (.activation | short), (.ours[0].v | short), ratio(.ours[0].v; .activation),
			(.deactivation | short), (.ours[1].v | short), ratio(.ours[1].v; .deactivation), .ours[0].runs] |
			join("\t"))' | table
}

# Packets up to the end of the assimilation, as the thesis counts. A run here goes on until a sweep
# finds all quiet, and packets to hosts that are gone keep being discarded, evenly: so their share is.
until_done='.mean | .packets.lost + .packets.futile * ([1, .time_s.total * $rate * $hosts / .packets.sent] | min)'

report()
{
	local packets='. as $r | .rate as $rate | ({"irregular-8": 7, "irregular-16": 14, "irregular-24": 22, "irregular-32": 40}[.fabric]) as $hosts | '$until_done
	printf '# The thesis'"'"'s tables\n'
	beside 16 table16-discovery-time-s.csv discovery 0 '.mean.time_s.discovery * 1000' 'discovery, ms'
	beside 17 table17-discovery-smps.csv discovery 0 '.mean.smps | .discovery + .configuration' 'discovery, SMPs'
	beside 21 table21-assimilation-time-s.csv provisional 0 '(if $row.label == "provisional" then .mean.time_s.provisional else .mean.time_s.final end) * 1000' \
		'from the detection until provisional, final tables are in the switches, ms'
	beside 22 table22-discarded-packets.csv provisional 25 "$packets" 'packets discarded, 25 % load'
	beside 23 table23-distribution-time-s.csv distribution 0 'spread_s * 1000' 'distribution, ms'
	beside 24 table24-distribution-smps.csv distribution 0 'spread_smps' 'distribution, SMPs'
	beside 25 table25-discarded-packets.csv distribution 25 "$packets" 'packets discarded, 25 % load'
	beside 28 table28-assimilation-time-s.csv mechanism 0 'usable_s * 1000' 'from the detection until routes are complete, ms'
	beside 29 table29-discarded-packets.csv mechanism 25 "$packets" 'packets discarded, 25 % load'
	beside 30 table30-assimilation-time-50pct-s.csv mechanism 50 'usable_s * 1000' 'as Table 28 under 50 % load, ms'
	beside 31 table31-discarded-packets-50pct.csv mechanism 50 "$packets" 'packets discarded, 50 % load'
}

[ -n "$tables_only" ] || run_all
report > "$out/thesis.md"
cat "$out/thesis.md"
say "written: $out/thesis.md and .jsonl"
if [ -n "$docs" ]; then
	sed 1d "$out/thesis.md" | write_result thesis.md thesis
fi
exit "$failed"
