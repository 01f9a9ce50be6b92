#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The same seeds built by gcc and clang, without and with optimisation, must give the same traces.
# usage: compilers.sh SOURCE_ROOT [SEEDS] [MAX_SWITCHES]      prints TAP
root=$1 seeds=${2:-200} max=${3:-64}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT INT TERM
rooms="base iba fabric route sm sim lab"

build() { # name, compiler and flags: one object a source, in parallel, in a directory of its room
	name=$1
	shift
	mkdir "$tmp/$name"
	for room in $rooms; do
		mkdir "$tmp/$name/$room"
		(cd "$tmp/$name/$room" &&
			printf '%s\n' "$root/src/$room"/*.c | xargs -P 2 -n 8 "$@" -std=gnu11 -D_GNU_SOURCE -I"$root/src" -c) || return 1
	done
	"$@" -std=gnu11 -D_GNU_SOURCE -I"$root/src" -pthread -o "$tmp/$name/trials" \
		"$root/tests/scenario/test_trials.c" "$root/tests/scenario/seeds.c" "$tmp/$name"/*/*.o -lm
}

echo 1..4
n=0 status=0
for variant in "gcc -O0" "gcc -O2" "clang -O0" "clang -O2"; do
	n=$((n + 1))
	name=$(echo "$variant" | tr ' ' '_')
	# shellcheck disable=SC2086
	if ! command -v ${variant%% *} >/dev/null; then
		echo "ok $n - $variant # SKIP no ${variant%% *} on this machine"
	# shellcheck disable=SC2086
	elif ! build "$name" $variant >"$tmp/log" 2>&1; then
		sed 's/^/# /' "$tmp/log" | head -n 20
		echo "not ok $n - $variant builds"
		status=1
	else
		"$tmp/$name/trials" 1 "$seeds" "$max" hash >"$tmp/$name.txt"
		[ -f "$tmp/first" ] || cp "$tmp/$name.txt" "$tmp/first"
		if [ -s "$tmp/$name.txt" ] && cmp -s "$tmp/first" "$tmp/$name.txt"; then
			echo "ok $n - $variant: $seeds traces as with the first"
		else
			diff "$tmp/first" "$tmp/$name.txt" | head -n 5 | sed 's/^/# /'
			echo "not ok $n - $variant: traces differ"
			status=1
		fi
	fi
done
exit $status
