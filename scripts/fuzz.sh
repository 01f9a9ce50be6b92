#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Run every fuzz target that was built, each for SECONDS: scripts/fuzz.sh BUILDDIR SECONDS
#
# A target NAME starts from tests/fuzz/corpus/NAME and keeps what it finds in BUILDDIR/corpus/NAME,
# so that the next run goes on from there; inputs that crash it are left in BUILDDIR/crashes.
# Status 1 when a target crashed.
set -eu

build=$1
seconds=$2
root=$(cd "$(dirname "$0")/.." && pwd)
failed=0
ran=0

mkdir -p "$build/crashes"
for source in "$root"/tests/fuzz/fuzz_*.c; do
	[ -e "$source" ] || continue
	target=$(basename "$source" .c)
	name=${target#fuzz_}
	seeds=$root/tests/fuzz/corpus/$name
	found=$build/corpus/$name
	mkdir -p "$found"
	[ -d "$seeds" ] || seeds=
	echo "fuzz: $name for $seconds s, from ${seeds:-an empty corpus}"
	ran=$((ran + 1))
	if UBSAN_OPTIONS=halt_on_error=1 "$build/tests/fuzz/$target" -max_total_time="$seconds" \
		-timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$build/crashes/$name-" "$found" ${seeds:+"$seeds"} > "$build/$target.log" 2>&1; then
		sed -n 's/^stat::number_of_executed_units: */fuzz: no crash; inputs tried: /p' \
			"$build/$target.log"
	else
		echo "fuzz: $name FAILED, see $build/$target.log; the input is in $build/crashes:"
		grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$build/$target.log" | head -5 || true
		failed=$((failed + 1))
	fi
done
echo "fuzz: $ran targets run, $failed failed"
[ "$failed" -eq 0 ]
