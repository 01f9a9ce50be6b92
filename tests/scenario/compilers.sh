#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The same seeds built by gcc and clang, without and with optimisation, must give the same traces.
# usage: compilers.sh SOURCE_ROOT TEST_TRIALS COMPILER [SEEDS] [MAX_SWITCHES] [LEVEL]      prints TAP
# LEVEL is what clang optimises with: -O1, which takes half of the time of -O3 (make soak).
# TEST_TRIALS is one of the programs, already built by COMPILER with optimisation.
root=$1 built=$2 compiler=$3 seeds=${4:-200} max=${5:-64} level=${6:--O1}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT INT TERM
rooms="base iba fabric policy route sm sim lab trial"

build() { # name, compiler and flags: one object a source, in parallel, in a directory of its room
	name=$1
	shift
	mkdir "$tmp/$name"
	for room in $rooms; do
		mkdir "$tmp/$name/$room"
		(cd "$tmp/$name/$room" &&
			find "$root/src/$room" -name '*.c' | sort | xargs -P 2 -n 8 "$@" -std=gnu11 -D_GNU_SOURCE -I"$root/src" -c) || return 1
	done
	"$@" -std=gnu11 -D_GNU_SOURCE -I"$root/src" -I"$root/tests/support" -pthread -o "$tmp/$name/trials" \
		"$root/tests/scenario/test_trials.c" "$root/tests/support/seeds.c" "$tmp/$name"/*/*.o -lm
}

traces() { # program, name: as those of the first?
	"$1" 1 "$seeds" "$max" hash >"$tmp/$2.txt"
	[ -f "$tmp/first" ] || cp "$tmp/$2.txt" "$tmp/first"
	if [ -s "$tmp/$2.txt" ] && cmp -s "$tmp/first" "$tmp/$2.txt"; then
		echo "ok $n - $variant: $seeds traces as with the first"
	else
		diff "$tmp/first" "$tmp/$2.txt" | head -n 5 | sed 's/^/# /'
		echo "not ok $n - $variant: traces differ"
		status=1
	fi
}

echo 1..3
n=0 status=0
for variant in "gcc -O0" "gcc -O2" "clang $level"; do
	n=$((n + 1))
	name=$(echo "$variant" | tr ' ' '_')
	# shellcheck disable=SC2086
	if [ "$variant" = "$compiler -O2" ]; then
		traces "$built" "$name"
	elif ! command -v ${variant%% *} >/dev/null; then
		echo "ok $n - $variant # SKIP no ${variant%% *} on this machine"
	# shellcheck disable=SC2086
	elif ! build "$name" $variant >"$tmp/log" 2>&1; then
		sed 's/^/# /' "$tmp/log" | head -n 20
		echo "not ok $n - $variant builds"
		status=1
	else
		traces "$tmp/$name/trials" "$name"
	fi
done
exit $status
