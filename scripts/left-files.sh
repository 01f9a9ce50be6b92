#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Did the tests leave files behind? scripts/left-files.sh before|after DIR
#
# "before" notes in DIR which files git sees as changed or new, "after" compares. The verdict is a test log
# in DIR as Meson writes them, one case, for scripts/test-summary.sh. What was changed or new before does
# not count. Without git there is nothing to compare.
set -eu

cd "$(dirname "$0")/.."
dir=$2
mkdir -p "$dir/meson-logs"

state()
{
	git -c core.quotepath=off status --porcelain --untracked-files=all 2> /dev/null | LC_ALL=C sort || true
}

case $1 in
before)
	rm -f "$dir/meson-logs/testlog.json"
	state > "$dir/before"
	exit 0
	;;
after) ;;
*)
	echo "left-files: unknown word '$1', expected before or after" >&2
	exit 2
	;;
esac

state > "$dir/after"
left=$(LC_ALL=C comm -13 "$dir/before" "$dir/after")
if ! git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
	result=SKIP said="ok 1 - tests leave no files # SKIP no git repository"
elif [ -z "$left" ]; then
	result=OK said="ok 1 - tests leave no files"
else
	result=FAIL said=$(printf 'not ok 1 - tests leave no files\n'; echo "$left" | sed 's/^/# left by a test: /')
fi
jq -nc --arg result $result --arg said "$said" '{name: "files", result: $result, returncode: 0, stdout: $said}' \
	> "$dir/meson-logs/testlog.json"
