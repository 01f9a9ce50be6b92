#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The same seeds built by gcc and clang, without and with optimisation, must give the same traces.
# usage: compilers.sh SOURCE_ROOT TEST_TRIALS COMPILER [SEEDS] [MAX_SWITCHES] [all]      prints TAP
# TEST_TRIALS is one of the programs, already built by COMPILER with optimisation (-O2). Beside it clang -O0, which differs in both; all:
# also gcc -O0 and clang -O3 (make soak). The last test: clang accepts the rooms that no trial needs, which are otherwise built by one compiler only.
root=$1 built=$2 compiler=$3 seeds=${4:-100} max=${5:-64} all=${6:-}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT INT TERM
rooms="base iba fabric policy route sm sa sim lab trial"

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

others() { # do the other rooms compile? mpi needs a compiler of its own
	packages="libuv yaml-0.1 sqlite3 jansson libibumad"
	if ! command -v clang >/dev/null || ! pkg-config --exists $packages; then
		echo "ok $1 - clang accepts the other rooms # SKIP no clang or no headers on this machine"
	elif find "$root/src" -name '*.c' | grep -vE "/src/($(echo "$rooms" | tr ' ' '|')|mpi)/" | sort |
		xargs -P 2 -n 16 clang -std=gnu11 -D_GNU_SOURCE -DWEFT_VERSION='"none"' -I"$root/src" $(pkg-config --cflags $packages) \
			-fsyntax-only >"$tmp/log" 2>&1; then
		echo "ok $1 - clang accepts the other rooms"
	else
		grep error: "$tmp/log" | head -n 20 | sed 's/^/# /'
		echo "not ok $1 - clang accepts the other rooms"
		status=1
	fi
}

set -- "gcc -O2" "clang -O0" ${all:+"gcc -O0" "clang -O3"}
echo "1..$(($# + 1))"
n=0 status=0
for variant; do
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
others $((n + 1))
exit $status
