#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Measure Weft at four sizes and OpenSM beside it on the same netlists, and show what grew how.
#
#	bench/run.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	QUICK=1 bench/run.sh		fewer repeats, no 56-port tree, OpenSM up to 3,456 hosts
#	OPENSM=0 bench/run.sh		without OpenSM
#	bench/run.sh --write-docs	also refresh docs/results/laboratory.md
#
# Writes bench/out/results.json and bench/out/results.md. Status 1: a target was missed or a run
# failed; 2: nothing could be measured.
# shellcheck disable=SC2016,SC2317 # dollars in single quotes are jq's; the trap calls cleanup
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
name=run
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
work=
ibsim_pid=
# shellcheck source=bench/peers.inc.sh
. "$here/peers.inc.sh"

# jq with the functions of report.jq; the program comes last.
rjq()
{
	local args=("${@:1:$#-1}") program=${*: -1}
	jq -L "$here" "${args[@]}" "include \"report\"; $program"
}

cleanup()
{
	[ -z "$ibsim_pid" ] || kill "$ibsim_pid" 2> /dev/null || true
	[ -z "$work" ] || rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# What is measured: name, arguments of the generator, repeats, with OpenSM or not.
sizes()
{
	if [ "$quick" != 0 ]; then
		printf '%s\n' 't36_2 36 2 3 yes' 't24_3 24 3 3 yes' 't36_3 36 3 3 no'
	else
		printf '%s\n' 't36_2 36 2 9 yes' 't24_3 24 3 7 yes' 't36_3 36 3 7 yes' 't56_3 56 3 3 no'
	fi
}

# ---- Weft ----

# Run a command that prints JSON; add the wall time of the whole process to what it prints.
timed()
{
	local t0=$EPOCHREALTIME got
	got=$("$@") || return 1
	jq -c --argjson t0 "$t0" --argjson t1 "$EPOCHREALTIME" '. + {process_s: ($t1 - $t0)}' <<< "$got"
}

repeat()
{
	local n=$1 i
	shift
	for ((i = 0; i < n; i++)); do
		timed "$@" || return 1
	done
}

weft_one()
{
	local name=$1 m=$2 n=$3 times=$4 net=$work/$1.net one two up
	local route=("$weft" route compute "$net" --engine fera --json)
	"$weft" topo gen mtree "$m" "$n" -o "$net" || return 1
	say "weft: $m-port $n-tree, $times times each: routes on 1 and 2 threads, bring-up"
	one=$(repeat "$times" "${route[@]}" --threads 1) &&
		two=$(repeat "$times" "${route[@]}" --threads 2) &&
		up=$(repeat "$times" "$weft" sim up "$net" --json) || return 1
	jq -nc --arg name "$name" --arg tree "$m-port $n-tree" \
		--argjson one "$(rjq -s route_runs <<< "$one")" \
		--argjson two "$(rjq -s route_runs <<< "$two")" \
		--argjson up "$(rjq -s up_runs <<< "$up")" \
		'{name: $name, tree: $tree, switches: $one.switches, lids: $one.lids,
		  hosts: ($one.lids - $one.switches), one: $one, two: $two, up: $up}'
}

# ---- instructions: the one cost that a busy machine does not change ----

callgrind()
{
	local to=$1
	shift
	valgrind -q --tool=callgrind --callgrind-out-file="$to" "$@" > "$to.json" 2> "$to.err"
}

callgrind_total() { awk '/^(summary|totals):/ {print $2; exit}' "$1"; }

# Calls of a function and the instructions in them and below, from the lines after its "cfn=".
callgrind_function()
{
	awk -v name="$2" '
		/^c?fn=/ {
			id = $1
			sub(/^c?fn=/, "", id)
			if ($2 == name)
				wanted = id # the name is written once, the number from then on
			hit = /^cfn=/ && id == wanted
		}
		hit && /^calls=/ { split($1, c, "="); calls += c[2]; getline; cost += $2; hit = 0 }
		END { print calls + 0, cost + 0 }' "$1"
}

instructions()
{
	local net=$work/t8_3.net calls cost
	if ! command -v valgrind > /dev/null; then
		say "valgrind is not installed: no instruction counts"
		echo null
		return
	fi
	say "valgrind: instructions on the 8-port 3-tree"
	"$weft" topo gen mtree 8 3 -o "$net"
	callgrind "$work/cg.route" "$weft" route compute "$net" --threads 1 --json
	callgrind "$work/cg.up" "$weft" sim up "$net" --threads 1 --json
	read -r calls cost < <(callgrind_function "$work/cg.up" sm_step)
	jq -c --argjson route "$(callgrind_total "$work/cg.route")" \
		--argjson up "$(callgrind_total "$work/cg.up")" --argjson sm_steps "$calls" \
		--argjson sm_step "$cost" '$ARGS.named + {events}' "$work/cg.up.json"
}

# ---- OpenSM on ibsim ----

opensm_run()
{
	local name=$1 engine=$2 dir=$3 net=$work/$1.net start up build opts=()
	if [ "$engine" = updn ]; then
		sed -n 's/^Switch.*"S-\([0-9a-f]*\)".*"root.*/0x\1/p' "$net" > "$dir/roots"
		opts=(-a "$dir/roots")
	fi
	printf 'osm_state_mgr.c=0x87\nosm_ucast_mgr.c=0x87\n' > "$dir/modules"
	printf 'force_log_flush TRUE\nper_module_logging_file %s/modules\n' "$dir" > "$dir/conf"
	start=$EPOCHREALTIME
	SIM_HOST=$(grep -m 1 '^Ca' "$net" | cut -d '"' -f 2) \
		OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir UMADCOUNT=$dir/count.json \
		LD_PRELOAD=$work/umadcount.so:$umad2sim \
		timeout 300 opensm -o -e -F "$dir/conf" -f "$dir/log" -D 0x3 \
		-R "$engine,no_fallback" "${opts[@]}" < /dev/null > "$dir/out" 2>&1 || return 1
	up=$(log_time "$dir/log" 'SUBNET UP') && build=$(log_time "$dir/log" 'building routing') &&
		rjq -c --arg n "$name" --arg e "$engine" --argjson s "$start" --argjson u "$up" \
			--argjson b "$build" 'opensm_run($n; $e; $s; $u; $b)' < "$dir/count.json"
}

opensm_one()
{
	local name=$1 engine=$2 dir=$work/osm_$1_$2 rc=0
	mkdir -p "$dir"
	say "OpenSM $engine on ibsim: $name"
	export IBSIM_SOCKNAME=weftbench$$
	if ! ibsim_start "$dir" "$work/$name.net"; then
		say "ibsim did not come up: $(tail -n 1 "$dir/ibsim.out")"
		return 1
	fi
	opensm_run "$name" "$engine" "$dir" || rc=1
	ibsim_stop
	[ "$rc" = 0 ] || say "OpenSM failed: $(tail -n 1 "$dir/log" 2> /dev/null)"
	return "$rc"
}

# ---- the report ----

section()
{
	printf '\n## %s\n\n' "$1"
	rjq -r "$2" < "$out/results.json" | table
}

report_opensm()
{
	if [ "$(jq '.opensm | length' "$out/results.json")" = 0 ]; then
		jq -r '"\n## OpenSM\n\nSkipped: \(.opensm_skipped)."' "$out/results.json"
		return
	fi
	section "OpenSM on ibsim beside it, same netlists: routes and SMPs" table_opensm_routes
	cat <<- 'END'

	Routes: from the decision to compute to the last entry of every switch's table, on one thread
	each; for OpenSM from its log to its first Set(LFT). The tables are not the same: updn was
	given all top switches as roots, fera knows one. SMPs: from power-on to all ports active, both
	managers on the first host. Weft reads no P_Key tables, so the last column leaves OpenSM's
	reads of them out. OpenSM ran once a row.
	END
	section "OpenSM on ibsim beside it: until the subnet is up" table_opensm_up
	cat <<- 'END'

	These two are different things. OpenSM's is real time spent talking to ibsim through sockets,
	4 SMPs at a time. Weft's is the time to simulate manager and fabric together in one process.
	END
	section "What the SMPs are for, largest fabric above" table_mix
}

report()
{
	printf '# Results\n\n'
	rjq -r '.machine | machine_line + ". Load at the start \(.load). \(.date)."' < "$out/results.json"
	section "Weft, medians" table_weft
	printf '\nBring-up: power-on to all ports active and verified, in a simulated fabric.\n'
	section "Cost of a unit of work, on one thread: steady down a column is linear" table_costs
	section "Growth of time or memory divided by growth of the work" table_steps
	printf '\n1 is linear, less is better. A quadratic step would show as the growth itself.\n'
	report_opensm
	section "Targets" table_targets
	rjq -r '"\n" + instructions_line' < "$out/results.json"
}

# ---- the run ----

measure()
{
	local name m n times osm engine why
	: > "$work/weft"
	: > "$work/opensm"
	while read -r name m n times osm; do
		weft_one "$name" "$m" "$n" "$times" >> "$work/weft" || die "weft failed on $name"
	done < <(sizes)
	instructions > "$work/callgrind"
	why=$(opensm_missing)
	echo "$why" > "$work/why"
	[ -z "$why" ] || { say "OpenSM skipped: $why"; return; }
	while read -r name m n times osm; do
		for engine in minhop updn; do
			[ "$osm" = no ] || opensm_one "$name" "$engine" >> "$work/opensm" || failed=1
		done
	done < <(sizes)
}

collect()
{
	mkdir -p "$out"
	rjq -n --argjson machine "$facts" --slurpfile weft "$work/weft" \
		--slurpfile opensm "$work/opensm" --slurpfile callgrind "$work/callgrind" \
		--rawfile why "$work/why" \
		'{machine: $machine, weft: $weft, opensm: $opensm, callgrind: $callgrind[0],
		  opensm_skipped: ($why | rtrimstr("\n"))} | . + {targets: targets}' \
		> "$out/results.json"
	report > "$out/results.md"
}

command -v jq > /dev/null || die "jq is needed"
[ -x "$weft" ] || die "no program at $weft: run make first"
work=$(mktemp -d)
failed=0
facts=$(machine)
rjq -r 'machine_line, "load \(.load)"' <<< "$facts" >&2
if [ "$quick" = 0 ]; then
	say "this takes about a minute, and 2 more with OpenSM; QUICK=1 takes half a minute"
else
	say "quick: about half a minute"
fi
measure
collect
cat "$out/results.md"
say "written: $out/results.json and $out/results.md"
[ -z "$docs" ] || sed 1,3d "$out/results.md" | write_result laboratory.md laboratory
jq -e '(.targets | all(.ok)) and (.weft | all(.up.active and .up.same and .two.verified))' \
	"$out/results.json" > /dev/null || failed=1
exit "$failed"
