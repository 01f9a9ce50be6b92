#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Is this tree as fast as an older revision? Instructions, which a busy machine does not change.
#
#	scripts/same-speed.sh REVISION [NAME...]
#
#	NAME		only these: up, run, sm
#	WEFT_BUILD=DIR	this tree's build, neither sanitized nor unoptimized (build)
#	WEFT_OLD=DIR	where old revisions are kept (build-old)
#	WEFT_LIMIT=N	per cent that this tree may take more (2)
#
# Both revisions run under callgrind, on one thread: `weft sim up` on the 24-port 3-tree, `weft sim run` on
# the 8-port 3-tree and `weft sm --once` on an emulated 12-port 3-tree (the emulator is the old revision's,
# and not counted). The simulations repeat to within a few hundred instructions. The manager takes as many
# turns of its event loop as the machine's load makes it: it runs three times, the smallest count is
# compared and the spread is shown (0.2 % where it was measured).
# One line a program; status 1 when one takes more than the limit, 2 when one could not be run.
set -uo pipefail
export LC_ALL=C OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
limit=${WEFT_LIMIT:-2}
repeats=3

give_up() { echo "same-speed: $*" >&2; exit 2; }

# The program's instructions are the last word of callgrind's output.
count() # OUT COMMAND...
{
	local out=$1
	shift
	valgrind -q --tool=callgrind --callgrind-out-file="$out" "$@" > "$out.stdout" 2> "$out.stderr" ||
		{ tail -n 3 "$out.stderr" >&2; return 1; }
	awk '/^totals:/ { print $2; exit }' "$out"
}

run_up() { count "$tmp/cg" "$1" sim up "$tmp/mtree24" --threads 1 --json; }
run_run() { count "$tmp/cg" "$1" sim run "$tmp/mtree8" --load 30% --threads 1 --json; }

# A fresh fabric for each: on one that was managed before a manager finds less to do. The timeout is
# long enough for valgrind, and is also how long a manager first waits for others.
run_sm()
{
	local name=same-speed-$$-$RANDOM server i n
	"$old" fabric "$tmp/mtree12" --name "$name" --no-control --no-console --quiet --spin 0us --timeout 0us \
		> "$tmp/fabric" 2>&1 < /dev/null &
	server=$!
	echo "$server" > "$tmp/server"
	for ((i = 0; i < 100; i++)); do
		grep -q "$name" /proc/net/unix && break
		sleep 0.1
	done
	n=$(count "$tmp/cg" "$1" sm --config "$tmp/sm.yaml" --transport ibsim --server "$name" --once --state '' \
		--control '' --log-level error --json)
	kill "$server" 2> /dev/null
	wait "$server" 2> /dev/null
	rm "$tmp/server"
	echo "$n"
}

# compare NAME REPEATS WHAT: the smallest of each side, taken in turn
compare()
{
	local name=$1 times=$2 what=$3 i n olds='' news=''
	for ((i = 0; i < times; i++)); do
		n=$("run_$name" "$old") && [ "$n" ] || give_up "$what: cannot run in the old tree"
		olds="$olds $n"
		n=$("run_$name" "$new") && [ "$n" ] || give_up "$what: cannot run"
		news="$news $n"
	done
	awk -v what="$what" -v limit="$limit" -v olds="$olds" -v news="$news" '
		function least(list,  i, n, v) { n = split(list, v, " "); m = v[1]; top = v[1]
			for (i = 2; i <= n; i++) { if (v[i] < m) m = v[i]; if (v[i] > top) top = v[i] }
			spread = 100 * (top - m) / m; return m }
		BEGIN {
			o = least(olds); s = spread; n = least(news); if (spread > s) s = spread
			bad = n > o * (1 + limit / 100)
			printf "same-speed: %s: %.1f million instructions, %.1f before, ratio %.4f, spread %.2f %%%s\n",
				what, n / 1e6, o / 1e6, n / o, s, bad ? sprintf(": MORE THAN %s %%", limit) : ""
			exit bad
		}'
}

[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
revision=$1
shift
names=" ${*:-up run sm} "
command -v valgrind > /dev/null || give_up "valgrind is not installed"
build=$(cd "${WEFT_BUILD:-$root/build}" 2> /dev/null && pwd) || give_up "no build directory; run: make"
meson introspect "$build" --buildoptions | jq -e '[.[] | select(.name == "buildtype" or .name == "b_sanitize") | .value]
	| sort == ["debugoptimized", "none"]' > /dev/null || give_up "$build is not built as make builds it"
olddir=$("$root/scripts/old-build.sh" "$revision" weft) || exit 2
ninja -C "$build" --quiet src/cli/weft > /dev/null || give_up "this tree does not build"
old=$(find "$olddir/build" -name weft -type f -perm -u+x -print -quit)
new=$(find "$build" -name weft -type f -perm -u+x -print -quit)

tmp=$(mktemp -d) || exit 2
trap '[ ! -s "$tmp/server" ] || kill "$(cat "$tmp/server")"; rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM
for ports in 8 12 24; do
	"$old" topo gen mtree $ports 3 -o "$tmp/mtree$ports" || exit 2
done
printf 'transport:\n  spin: 0us\nmanager:\n  timeout: 2s\n  sweep: 0\nroutes:\n  threads: 1\n' > "$tmp/sm.yaml"

status=0
case $names in *" up "*) compare up 1 "weft sim up, 24-port 3-tree" || status=1 ;; esac
case $names in *" run "*) compare run 1 "weft sim run, 8-port 3-tree" || status=1 ;; esac
case $names in *" sm "*) compare sm $repeats "weft sm, 12-port 3-tree" || status=1 ;; esac
exit $status
