#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Does this tree do on the wire what an older revision did?
#
#	scripts/same-traces.sh REVISION [--quick] [--only PATTERN]
#
#	--quick		fewer seeds (60 instead of 300, some kinds less) and topologies (2 of 6)
#	--only PATTERN	only comparisons whose name matches this regular expression
#	WEFT_BUILD=DIR	this tree's build, with tests (build)
#	WEFT_OLD=DIR	where old revisions and what they said are kept (build-old)
#	WEFT_JOBS=N	programs at once (all cores)
#
# Both revisions run the same commands. Compared are trace hashes, SMPs by purpose, simulated times,
# every other number of the JSON output but those of the machine, and forwarding tables entry by entry.
# Words are not compared, and keys may be added. One line a comparison; status 0 when all are equal,
# 1 when some differ, with the command to repeat it, 2 when something could not be run.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${BASH_SOURCE[0]}

# ---- what is compared ----

# What options and words were called, and are called since: a program that refuses the first is
# called with the second.
renamed='
--discovery bfs|--discovery full --exploration bfs
--engine pira|--routes pira
--detection sweep|--detection sweeps
'
# JSON keys that moved: the path in the old revision and in this tree.
moved='
'
mechanisms="basic improved improved+partial improved+traps weft"

# name|command: every net that is compared; the thesis's examples are taken as they are.
nets()
{
	cat <<-END
		irregular|weft topo gen irregular 24 --hosts 20 --seed 7
		mtree|weft topo gen mtree 4 3
		torus|weft topo gen torus 4 4
		dragonfly|weft topo gen dragonfly 2 4 2
		hypercube|weft topo gen hypercube 4
		fullmesh|weft topo gen fullmesh 6
	END
}

# kind|name|command. Kinds: json, seeds (a line a seed), tables (forwarding tables as text).
# @NAME is a netlist; STEM stands for a switch or host that is killed.
golden()
{
	local net how m
	for net in example15-discovery example15-routing example18-activation; do
		for how in full bfs partial; do
			echo "json|up $net $how|weft sim up @$net --sm 0x200 --discovery $how --json"
		done
		echo "json|up $net pira|weft sim up @$net --sm 0x200 --engine pira --json"
		echo "json|up $net thesis|weft sim up @$net --sm 0x200 --cpu thesis --activation lid --window 1 --json"
		echo "json|up $net lossy|weft sim up @$net --sm 0x200 --loss 5% --delay 5% --dup 5% --seed 3 --json"
		for m in $mechanisms; do
			echo "json|kill $net $m|weft sim change @$net --sm 0x200 --kill 0x103 --mechanism $m --cpu thesis --json"
			echo "json|kill host $net $m|weft sim change @$net --sm 0x200 --kill 0x203 --mechanism $m --json"
		done
		for how in fera pira; do
			echo "tables|tables $net $how|weft route compute @$net --engine $how --root 0x100 --lfts -"
		done
	done
	for m in $mechanisms; do
		echo "json|activation $m|weft sim change @example15-discovery @example18-activation --sm 0x200 --mechanism $m --json"
		echo "json|deactivation $m|weft sim change @example18-activation @example15-discovery --sm 0x200 --mechanism $m --detection sweep --json"
	done
}

topologies()
{
	local net m how some=$1
	for net in $some; do
		echo "json|up $net|weft sim up @$net --json"
		echo "json|up $net lmc qos key|weft sim up @$net --lmc 2 --qos --m-key 0x1234 --root centre --json"
		echo "json|up $net rft|weft sim up @$net --rft all --json"
		echo "json|run $net|weft sim run @$net --load 20% --duration 20us --links --nodes --json"
		echo "json|run $net threads|weft sim run @$net --load 60% --duration 10us --threads 3 --byte-errors 0.001% --json"
		for how in fera pira; do
			echo "tables|tables $net $how|weft route compute @$net --engine $how --root centre --lfts -"
			echo "tables|tables $net $how dfs|weft route compute @$net --engine $how --root centre --directions dfs --lmc 1 --lfts -"
		done
		for m in $mechanisms; do
			echo "json|each switch $net $m|weft sim change @$net --each-switch deactivation --sample 5 --mechanism $m --json"
			echo "json|each switch comes $net $m|weft sim change @$net --each-switch activation --sample 3 --mechanism $m --loss 1% --json"
		done
		[ "$quick" ] ||
			echo "json|change $net load|weft sim change @$net --each-switch deactivation --sample 1 --load 5% --json"
		for how in full ports dependencies none outwards plan; do
			echo "json|change $net $how|weft sim change @$net --each-switch deactivation --sample 2 --provisional pira --distribution $how --then plan --json"
		done
	done
}

# Seeds of the test programs; of `weft sim trial`, alone and with --change; of these for each mechanism.
seeds()
{
	local m all=$1 trials=$2 changes=$3 m_trials=$4 m_changes=$5
	echo "seeds|trials|test_trials 1 $all 128 hash"
	echo "seeds|change trials|test_change_trials 1 $all 32 hash"
	echo "seeds|plane trials|test_plane_trials 1 $all hash"
	echo "seeds|combinations|test_combinations 1 $all 64 hash"
	echo "seeds|restart trials|test_restart_trials 1 $all 16 hash"
	echo "json|sim trial|weft sim trial --seed 20001 --count $trials --json"
	echo "json|sim trial --change|weft sim trial --change --seed 20001 --count $changes --json"
	for m in $mechanisms; do
		echo "json|sim trial $m|weft sim trial --seed 30001 --count $m_trials --mechanism $m --json"
		echo "json|sim trial --change $m|weft sim trial --change --seed 30001 --count $m_changes --mechanism $m --json"
	done
}

comparisons()
{
	golden
	if [ "$quick" ]; then
		topologies "irregular mtree"
		seeds 60 20 5 20 4
	else
		topologies "irregular mtree torus dragonfly hypercube fullmesh"
		seeds 300 300 300 300 300
	fi
}

# ---- running one ----

program() # BUILDDIR NAME: where it is
{
	find "$1" -name "$2" -type f -perm -u+x -print -quit
}

rename_words()
{
	local cmd=" $1 " from to
	while IFS='|' read -r from to; do
		[ "$from" ] && cmd=${cmd// $from / $to }
	done <<< "$renamed"
	echo "$cmd"
}

# call BUILDDIR NETS COMMAND OUT: run it; usage errors are tried again with the new words.
call()
{
	local build=$1 nets=$2 cmd=$3 out=$4 words status
	for cmd in "$cmd" "$(rename_words "$cmd")"; do
		words=${cmd//@/$nets/}
		read -ra words <<< "$words"
		words[0]=$(program "$build" "${words[0]}")
		[ "${words[0]}" ] || { echo "no such program" > "$out.err"; return 2; }
		TRIAL_HASHES=1 "${words[@]}" > "$out.new" 2> "$out.err" < /dev/null
		status=$?
		[ "$status" -eq 2 ] || break
	done
	echo "${words[*]}" > "$out.cmd"
	[ "$status" -le 1 ] || return 2
	mv "$out.new" "$out"
}

# What of an output is compared: one fact a line.
facts() # KIND FILE
{
	case $1 in
	json)
		jq -r '[paths(type == "number" or type == "boolean" or (type == "string" and test("^0x[0-9a-f]{16}$")))] as $p
			| . as $all | $p[] | select(map(tostring) | join(".") | test("wall|rss|events_s$|per_core|threads") | not)
			| . as $at | "\(map(tostring) | join(".")) \($all | getpath($at))"' "$2" ;;
	seeds) sed -n 's/^hash //; /^[0-9]* [0-9a-f]\{16\} [0-9]*$/p' "$2" ;;
	tables) sed 's/ *#.*//; s/(.*//' "$2" ;;
	esac
}

# Facts of the old output that the new one has not, under the name they have now.
lost() # KIND OLD NEW
{
	facts "$1" "$2" | MOVED=$moved awk '
		BEGIN { n = split(ENVIRON["MOVED"], line, "\n"); for (i = 1; i <= n; i++) if (split(line[i], w, "|") == 2) to[w[1]] = w[2] }
		$1 in to { $1 = to[$1] }
		{ print }' |
		if [ "$1" = json ]; then
			LC_ALL=C sort | LC_ALL=C comm -23 - <(facts "$1" "$3" | LC_ALL=C sort)
		else
			diff - <(facts "$1" "$3")
		fi
}

# One comparison, in a process of its own: prints its line, and leaves a file when it differs.
compare() # KIND NAME COMMAND
{
	local kind=$1 name=$2 cmd=$3 key old new said n
	key=$(md5sum <<< "$cmd" | cut -c 1-16)
	old=$olddir/said/$key
	new=$tmp/$key
	if [ ! -e "$old" ]; then
		call "$olddir/build" "$olddir/nets" "$cmd" "$tmp/$key.old" || {
			echo "same-traces: $name: cannot run in the old tree: $(head -n 1 "$tmp/$key.old.err")"
			: > "$tmp/bad.$key"
			return
		}
		mv "$tmp/$key.old" "$old"
	fi
	call "$build" "$olddir/nets" "$cmd" "$new" || {
		echo "same-traces: $name: CANNOT RUN: $(head -n 1 "$new.err")"
		echo "    $(cat "$new.cmd" 2> /dev/null || echo "$cmd")"
		: > "$tmp/bad.$key"
		return
	}
	n=$(facts "$kind" "$old" | wc -l)
	said=$(lost "$kind" "$old" "$new")
	if [ "$n" -eq 0 ]; then
		echo "same-traces: $name: NOTHING TO COMPARE in $old"
		: > "$tmp/bad.$key"
	elif [ "$said" ]; then
		echo "same-traces: $name: DIFFERS in $(wc -l <<< "$said") of $n facts; the old tree said:"
		head -n 3 <<< "$said" | sed 's/^/    /'
		echo "    repeat: $(cat "$new.cmd")"
		echo "    before: $old"
		: > "$tmp/bad.$key"
	else
		echo "same-traces: $name: $n facts equal"
	fi
}

if [ "${1:-}" = --one ]; then # a line of the table, for xargs
	IFS='|' read -r kind name cmd <<< "$2"
	compare "$kind" "$name" "$cmd"
	exit 0
fi

# ---- all of them ----

old='' quick='' only=.
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--only) only=${2:?}; shift ;;
	-*) old=''; break ;;
	*) old=$1 ;;
	esac
	shift
done
[ "$old" ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$me" >&2; exit 2; }

start=$SECONDS
tests="test_trials test_change_trials test_plane_trials test_combinations test_restart_trials"
build=$(cd "${WEFT_BUILD:-$root/build}" 2> /dev/null && pwd) ||
	{ echo "same-traces: no build directory; run: meson setup build -Dtests=true" >&2; exit 2; }
# shellcheck disable=SC2086 # a list
olddir=$("$root/scripts/old-build.sh" "$old" weft $tests) || exit 2
for name in weft $tests; do
	targets+=("$(ninja -C "$build" -t targets all | sed -n "s|^\(\(.*/\)\?$name\): c_LINKER.*|\1|p" | head -n 1)")
done
ninja -C "$build" --quiet "${targets[@]}" > /dev/null || { echo "same-traces: this tree does not build" >&2; exit 2; }

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$olddir/nets" "$olddir/said"
cp "$olddir"/src/tests/golden/*.net "$tmp"
for f in "$tmp"/*.net; do
	mv -f "$f" "$olddir/nets/$(basename "$f" .net)"
done
bad=0
while IFS='|' read -r name cmd; do
	[ -e "$olddir/nets/$name" ] || { call "$olddir/build" - "$cmd" "$tmp/net" && mv "$tmp/net" "$olddir/nets/$name"; }
	if call "$build" - "$cmd" "$tmp/net" && cmp -s <(grep -v '^#' "$tmp/net") <(grep -v '^#' "$olddir/nets/$name"); then
		echo "same-traces: topology $name: equal"
	else
		echo "same-traces: topology $name: DIFFERS"
		bad=1
	fi
done < <(nets)

# The runs are what is done at once: an OpenMP thread without work must not keep a core.
jobs=${WEFT_JOBS:-$(nproc)} # before: nproc, too, goes by OMP_NUM_THREADS
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 root build olddir tmp
comparisons | awk -F '|' -v only="$only" '$2 ~ only' > "$tmp/list"
xargs -a "$tmp/list" -d '\n' -n 1 -P "$jobs" "$me" --one
n=$(wc -l < "$tmp/list")
bad=$((bad + $(find "$tmp" -name 'bad.*' | wc -l)))
echo "same-traces: $n comparisons with $old, $bad differ, in $((SECONDS - start)) s"
[ "$bad" -eq 0 ]
