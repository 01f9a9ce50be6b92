#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Measure Weft at four sizes, OpenSM beside it on the same netlists, and say what grew how.
#
#	bench/run.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	QUICK=1 bench/run.sh		fewer repeats, no 56-port tree, OpenSM up to 3,456 hosts
#	OPENSM=0 bench/run.sh		without OpenSM
#
# Writes bench/out/results.json and bench/out/results.md. Status 1: a target was missed or a run
# failed; 2: it could not be measured at all.
set -euo pipefail
export LC_ALL=C TZ=UTC

here=$(cd "$(dirname "$0")" && pwd)
weft=$(realpath -m "${1:-${WEFT:-$here/../build/src/cli/weft}}")
out=$here/out
quick=${QUICK:-0}
with_opensm=${OPENSM:-1}
umad2sim=$(compgen -G '/usr/lib/*/umad2sim/libumad2sim.so' | head -n 1 || true)
work=
pids=()

say() { printf '[%3ds] %s\n' "$SECONDS" "$*" >&2; }
die() { echo "bench: $*" >&2; exit 2; }

cleanup()
{
	for p in "${pids[@]}"; do
		kill "$p" 2> /dev/null || true
	done
	if [ -n "$work" ]; then
		rm -rf "$work"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# ---- what is measured: name, arguments of the generator, repeats, OpenSM or not ----

sizes()
{
	local a=9 b=5 c=5
	if [ "$quick" != 0 ]; then
		a=3 b=3 c=3
	fi
	echo "t36_2 36 2 $a yes"
	echo "t24_3 24 3 $b yes"
	echo "t36_3 36 3 $c $([ "$quick" = 0 ] && echo yes || echo no)"
	[ "$quick" != 0 ] || echo "t56_3 56 3 3 no"
}

machine()
{
	jq -n --arg cpu "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)" \
		--argjson cores "$(nproc)" --arg kernel "$(uname -sr)" \
		--argjson memory_mib "$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)" \
		--arg compiler "$(cc --version | head -n 1)" \
		--arg weft "$("$weft" --version 2> /dev/null | head -n 1)" \
		--arg load "$(cut -d ' ' -f 1-3 /proc/loadavg)" \
		--arg date "$(date '+%Y-%m-%d %H:%M UTC')" '$ARGS.named'
}

# ---- Weft ----

# Run a command that prints JSON; add the wall time of the whole process to what it prints.
timed()
{
	local t0 t1 got
	t0=$EPOCHREALTIME
	got=$("$@")
	t1=$EPOCHREALTIME
	jq -c --argjson t0 "$t0" --argjson t1 "$t1" '. + {process_s: ($t1 - $t0)}' <<< "$got"
}

repeat()
{
	local n=$1
	shift
	for ((i = 0; i < n; i++)); do
		timed "$@" || return 1
	done
}

# Runs in, one object out: the median of every measured time, all of them kept beside it.
median_route='
	def median: sort | .[length / 2 | floor];
	{route_s: (map(.wall_s) | median), verify_s: (map(.verify_wall_s) | median),
	 process_s: (map(.process_s) | median), rss_mib: (map(.rss_mib) | max),
	 verified: all(.verified), entries: .[0].entries, switches: .[0].switches,
	 lids: .[0].lids, all_route_s: map(.wall_s), all_verify_s: map(.verify_wall_s)}'
median_up='
	def median: sort | .[length / 2 | floor];
	{up_s: (map(.wall_s) | median), process_s: (map(.process_s) | median),
	 rss_mib: (map(.rss_mib) | max), smps: .[0].smps, simulated_s: .[0].time_s.total,
	 events: .[0].events, active: all(.state == "active" and .verified),
	 same: ((map(.trace_hash) | unique | length) == 1), all_up_s: map(.wall_s)}'

weft_one()
{
	local name=$1 m=$2 n=$3 times=$4 net=$work/$1.net one two up
	"$weft" topo gen mtree "$m" "$n" -o "$net" || return 1
	say "weft: $m-port $n-tree, $times times each: routes on 1 and 2 threads, then bring-up"
	one=$(repeat "$times" "$weft" route compute "$net" --engine fera --threads 1 --json) &&
		two=$(repeat "$times" "$weft" route compute "$net" --engine fera --threads 2 --json) &&
		up=$(repeat "$times" "$weft" sim up "$net" --json) || return 1
	jq -nc --arg name "$name" --arg tree "$m-port $n-tree" \
		--argjson one "$(jq -s "$median_route" <<< "$one")" \
		--argjson two "$(jq -s "$median_route" <<< "$two")" \
		--argjson up "$(jq -s "$median_up" <<< "$up")" \
		'{name: $name, tree: $tree, switches: $one.switches, lids: $one.lids,
		  hosts: ($one.lids - $one.switches), one: $one, two: $two, up: $up}'
}

# Instructions are the one figure that a busy machine does not change.
instructions()
{
	local f=$work/callgrind.out
	valgrind -q --tool=callgrind --callgrind-out-file="$f" "$@" > /dev/null 2>&1 || return 1
	awk '/^(summary|totals):/ {print $2; exit}' "$f"
}

callgrind()
{
	local net=$work/t8_3.net route up
	if ! command -v valgrind > /dev/null; then
		say "valgrind is not installed: no instruction counts"
		echo null
		return
	fi
	say "valgrind: instructions on the 8-port 3-tree"
	"$weft" topo gen mtree 8 3 -o "$net"
	route=$(instructions "$weft" route compute "$net" --threads 1 --json)
	up=$(instructions "$weft" sim up "$net" --threads 1 --json)
	jq -n --argjson route "$route" --argjson up "$up" \
		--argjson events "$("$weft" sim up "$net" --json | jq .events)" '$ARGS.named'
}

# ---- OpenSM on ibsim ----

opensm_missing()
{
	if [ "$with_opensm" = 0 ]; then
		echo "OPENSM=0 was given"
	elif ! command -v opensm > /dev/null || ! command -v ibsim > /dev/null; then
		echo "opensm or ibsim is not installed"
	elif [ -z "$umad2sim" ]; then
		echo "libumad2sim.so is not installed"
	elif ! cc -O2 -shared -fPIC -o "$work/umadcount.so" "$here/umadcount.c" -ldl >&2; then
		echo "umadcount.c does not compile"
	fi
}

# The console stays open: at the end of its input ibsim would spin.
ibsim_start()
{
	local dir=$1 net=$2
	mkfifo "$dir/console"
	exec 7<> "$dir/console"
	ibsim -s -N 20000 -S 3000 -P 120000 -L 49152 "$net" <&7 > "$dir/ibsim.out" 2>&1 &
	ibsim_pid=$!
	pids+=("$ibsim_pid")
	until grep -q 'simulator ready' "$dir/ibsim.out"; do
		kill -0 "$ibsim_pid" 2> /dev/null || return 1
		sleep 0.05
	done
}

ibsim_stop()
{
	kill "$ibsim_pid" 2> /dev/null || true
	wait "$ibsim_pid" 2> /dev/null || true
	exec 7>&-
}

# When the log first says something, in seconds since 1970. The log's own stamps have no year.
log_time()
{
	local stamp us
	stamp=$(grep -m 1 -E "^[A-Z][a-z]{2} .*$2" "$1") || return 1
	us=$(cut -d ' ' -f 4 <<< "$stamp")
	echo "$(date -d "$(cut -d ' ' -f 1-3 <<< "$stamp")" +%s).$us"
}

# Method 2 is Set, attribute 25 the linear forwarding table: the first one ends the computation.
opensm_result='
	def name: {"16":"NodeDescription","17":"NodeInfo","18":"SwitchInfo","20":"GUIDInfo",
		   "21":"PortInfo","22":"P_KeyTable","23":"SLtoVL","24":"VLArbitration","25":"LFT",
		   "27":"MFT","32":"SMInfo"}[tostring] // tostring;
	def call: ({"1":"Get","2":"Set"}[.method | tostring] // "\(.method)") + "(\(.attr | name))";
	{name: $name, engine: $engine, up_s: ($up - $start),
	 route_s: ((.smps[] | select(.method == 2 and .attr == 25).first_us) / 1e6 - $build),
	 smps: .total, mix: (.smps | map({key: call, value: .n}) | from_entries),
	 rss_mib: (.rss_kib / 1024), cpu_s}'

opensm_run()
{
	local name=$1 engine=$2 dir=$3 start up build opts=()
	if [ "$engine" = updn ]; then
		sed -n 's/^Switch.*"S-\([0-9a-f]*\)".*"root.*/0x\1/p' "$work/$name.net" > "$dir/roots"
		opts=(-a "$dir/roots")
	fi
	printf 'osm_state_mgr.c=0x87\nosm_ucast_mgr.c=0x87\n' > "$dir/modules"
	printf 'force_log_flush TRUE\nper_module_logging_file %s/modules\n' "$dir" > "$dir/conf"
	start=$EPOCHREALTIME
	SIM_HOST=H-0001000000000010 OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir UMADCOUNT=$dir/count.json \
		LD_PRELOAD=$work/umadcount.so:$umad2sim \
		timeout 300 opensm -o -e -F "$dir/conf" -f "$dir/log" -D 0x3 \
		-R "$engine,no_fallback" "${opts[@]}" < /dev/null > "$dir/out" 2>&1 || return 1
	up=$(log_time "$dir/log" 'SUBNET UP') && build=$(log_time "$dir/log" 'building routing') &&
		jq -c --arg name "$name" --arg engine "$engine" --argjson start "$start" \
			--argjson up "$up" --argjson build "$build" "$opensm_result" "$dir/count.json"
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

# ---- tables ----

# Rows of tab-separated words in, an aligned table out that is Markdown as well.
table()
{
	awk -F '\t' '
		{ for (i = 1; i <= NF; i++) { cell[NR, i] = $i
		    if (length($i) > w[i]) w[i] = length($i) }
		  if (NF > cols) cols = NF }
		function line(r,   i, s) {
			s = "|"
			for (i = 1; i <= cols; i++)
				s = s sprintf(i == 1 ? " %-*s |" : " %*s |", w[i], cell[r, i])
			print s
		}
		END {
			line(1)
			s = "|"
			for (i = 1; i <= cols; i++) {
				s = s (i == 1 ? ":" : "-")
				for (j = 0; j < w[i]; j++) s = s "-"
				s = s (i == 1 ? "-|" : ":|")
			}
			print s
			for (r = 2; r <= NR; r++) line(r)
		}'
}

defs='
	def digits($n): . * pow(10; $n) | round | tostring
		| if length <= $n then ("0" * ($n + 1 - length)) + . else . end
		| if $n > 0 then .[:-$n] + "." + .[-$n:] else . end;
	def sec: if . < 0.0995 then digits(4) elif . < 9.95 then digits(2) else digits(1) end;
	def mib: if . < 9.95 then digits(1) else digits(0) end;
	def big: round | tostring | [match(".{1,3}(?=(.{3})*$)"; "g").string] | join(",");
	def times: if . < 9.95 then digits(1) else big end | . + "x";'

render()
{
	jq -r "$defs $1" "$out/results.json" | table
}

table_weft='
	(["fabric", "hosts", "switches", "LIDs", "fera s, 1 thread", "2 threads", "verifier s, 2 threads",
	  "MiB", "bring-up s", "MiB", "SMPs", "simulated s"] | @tsv),
	(.weft[] | [.tree, (.hosts | big), (.switches | big), (.lids | big), (.one.route_s | sec),
	  (.two.route_s | sec), (.two.verify_s | sec), (.two.rss_mib | mib), (.up.up_s | sec),
	  (.up.rss_mib | mib), (.up.smps.total | big), (.up.simulated_s | sec)] | @tsv)'

table_growth='
	def cost($a; $b): ($a / $b) | digits(2);
	(["fabric", "table entries", "fera ns/entry", "verifier ns/entry", "routes B/entry", "events",
	  "bring-up ns/event", "us/SMP", "bring-up KiB/LID", "M events/s"] | @tsv),
	(.weft[] | (.switches * .lids) as $e | [.tree, ($e | big), cost(.one.route_s * 1e9; $e),
	  cost(.one.verify_s * 1e9; $e), cost(.two.rss_mib * 1048576; $e), (.up.events | big),
	  cost(.up.up_s * 1e9; .up.events), cost(.up.up_s * 1e6; .up.smps.total),
	  cost(.up.rss_mib * 1024; .lids), cost(.up.events / 1e6; .up.up_s)] | @tsv)'

table_steps='
	def ratio($a; $b): ($b / $a) | digits(2);
	def step($a; $b; $by): (($b / $a) / $by) | digits(2);
	(["from -> to", "LIDs grow", "entries grow", "fera / entries", "verifier / entries",
	  "SMPs grow", "bring-up / SMPs", "bring-up MiB / entries"] | @tsv),
	(.weft as $w | range(1; $w | length) | $w[. - 1] as $a | $w[.] as $b
	 | (($b.switches * $b.lids) / ($a.switches * $a.lids)) as $e
	 | ($b.up.smps.total / $a.up.smps.total) as $s
	 | ["\($a.hosts | big) -> \($b.hosts | big) hosts", ratio($a.lids; $b.lids), ($e | digits(2)),
	    step($a.one.route_s; $b.one.route_s; $e), step($a.one.verify_s; $b.one.verify_s; $e),
	    ($s | digits(2)), step($a.up.up_s; $b.up.up_s; $s),
	    step($a.up.rss_mib; $b.up.rss_mib; $e)] | @tsv)'

table_opensm='
	(.weft | map({key: .name, value: .}) | from_entries) as $w
	| (["hosts", "engine", "routes s", "Weft fera s", "ratio", "SMPs", "Weft", "ratio", "SUBNET UP s",
	    "Weft simulated, wall s", "MiB", "Weft with its fabric, MiB"] | @tsv),
	(.opensm[] | $w[.name] as $v | [($v.hosts | big), .engine, (.route_s | sec),
	  ($v.two.route_s | sec), (.route_s / $v.two.route_s | times), (.smps | big),
	  ($v.up.smps.total | big), (.smps / $v.up.smps.total | times), (.up_s | sec),
	  ($v.up.up_s | sec), (.rss_mib | mib), ($v.up.rss_mib | mib)] | @tsv)'

table_mix='
	(["SMPs of OpenSM", "count"] | @tsv),
	(.opensm[-1].mix | to_entries | sort_by(-.value)[] | [.key, (.value | big)] | @tsv)'

table_phases='
	(["SMPs of Weft", "count"] | @tsv),
	((.opensm[-1].name // .weft[-1].name) as $n | .weft[] | select(.name == $n).up.smps
	 | to_entries[] | select(.value > 0) | [.key, (.value | big)] | @tsv)'

table_targets='
	(["target, 36-port 3-tree", "limit", "measured", "verdict"] | @tsv),
	(.targets[] | [.what, .limit, (.measured | sec), (if .ok then "met" else "MISSED" end)] | @tsv)'

targets='
	def target($what; $limit; $measured):
		{what: $what, limit: $limit, measured: $measured, ok: ($measured <= $limit)};
	.weft[] | select(.name == "t36_3")
	| [target("power-on to active, whole process, s"; 5; .up.process_s),
	   target("power-on to active, MiB"; 600; .up.rss_mib),
	   target("fera on two threads, s"; 0.5; .two.route_s),
	   target("verifier on two threads, s"; 2; .two.verify_s),
	   target("SMPs against 861,518 of OpenSM"; 861518; .up.smps.total)]'

report()
{
	jq -r '"Machine: \(.machine.cpu), \(.machine.cores) cores, \(.machine.memory_mib) MiB,",
		"\(.machine.kernel); \(.machine.compiler); \(.machine.weft). \(.machine.date),",
		"load average at the start \(.machine.load)."' "$out/results.json"
	printf '\n## Weft, medians\n\n'
	render "$table_weft"
	printf '\nThe bring-up is of a simulated fabric: manager, switches and hosts in one process.\n'
	printf '\n## Cost of one unit of work (one thread; steady down the column: linear)\n\n'
	render "$table_growth"
	printf '\n## Each step in size: growth of the time or memory over growth of the work\n\n'
	render "$table_steps"
	printf '\nAbout 1 is linear. A quadratic step would show the growth itself, 4 to 80.\n'
	report_opensm
	printf '\n## Targets\n\n'
	render "$table_targets"
	jq -r 'select(.callgrind) | .callgrind | "\nInstructions on the 8-port 3-tree (128 hosts): " +
		"route compute \(.route), sim up \(.up), that is \(.up / .events | round) an event."' \
		"$out/results.json"
}

report_opensm()
{
	printf '\n## OpenSM on ibsim, same netlists, same run\n\n'
	if [ "$(jq '.opensm | length' "$out/results.json")" = 0 ]; then
		jq -r '"Skipped: \(.opensm_skipped)."' "$out/results.json"
		return
	fi
	render "$table_opensm"
	cat <<- 'END'

	Routes and SMPs compare like with like. The times to come up do not: OpenSM's is real time
	spent talking to ibsim through sockets, Weft's is how long a simulation of manager and fabric
	together takes to compute. OpenSM's MiB are without ibsim's.

	END
	render "$table_mix"
	echo
	render "$table_phases"
}

# ---- the run ----

check_tools()
{
	command -v jq > /dev/null || die "jq is needed"
	[ -x "$weft" ] || die "no program at $weft: run make first"
}

measure()
{
	local name m n times osm why
	: > "$work/weft.json"
	: > "$work/opensm.json"
	while read -r name m n times osm; do
		weft_one "$name" "$m" "$n" "$times" >> "$work/weft.json" || die "$name failed"
	done < <(sizes)
	callgrind > "$work/callgrind.json"
	why=$(opensm_missing)
	[ -z "$why" ] || say "OpenSM skipped: $why"
	echo "$why" > "$work/why"
	while [ -z "$why" ] && read -r name m n times osm <&8; do
		[ "$osm" = yes ] || continue
		for engine in minhop updn; do
			opensm_one "$name" "$engine" >> "$work/opensm.json" || failed=1
		done
	done 8< <(sizes)
}

collect()
{
	mkdir -p "$out"
	jq -n --argjson machine "$facts" --slurpfile weft "$work/weft.json" \
		--slurpfile opensm "$work/opensm.json" --slurpfile callgrind "$work/callgrind.json" \
		--rawfile why "$work/why" \
		'{machine: $machine, weft: $weft, opensm: $opensm, callgrind: $callgrind[0],
		  opensm_skipped: ($why | rtrimstr("\n"))}' |
		jq ". + {targets: ($targets)}" > "$out/results.json"
	{ printf '# Results\n\n'; report; } > "$out/results.md"
}

check_tools
work=$(mktemp -d)
failed=0
facts=$(machine)
jq -r '"\(.cpu), \(.cores) cores, \(.memory_mib) MiB, load \(.load)\n\(.compiler)\n\(.weft)"' \
	<<< "$facts" >&2
if [ "$quick" = 0 ]; then
	say "this takes about 2 minutes, and 3 to 5 more where OpenSM is there; QUICK=1 takes 1 minute"
else
	say "quick: about 1 minute"
fi
measure
collect
cat "$out/results.md"
say "written: $out/results.json, $out/results.md"
jq -e '(.targets | all(.ok)) and (.weft | all(.up.active and .up.same and .two.verified))' \
	"$out/results.json" > /dev/null || failed=1
exit "$failed"
