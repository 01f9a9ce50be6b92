#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of a source file: tests/find-test.sh NAME.c
# Check that each source file has one, as TAP: tests/find-test.sh --check
#
# A test of src/.../NAME.c is tests/unit/ROOM/test_NAME.c, or lists NAME.c after "Covers:" in its opening
# comment; if there is neither, it is the test named after the first words of NAME: test_netlist.c for
# netlist_lex.c.
set -u
cd "$(dirname "$0")/.." || exit 2

# "TEST SOURCE" for each source that a test lists after "Covers:".
listed()
{
	find tests -name '*.c' -o -name '*.sh' | sort | xargs awk '
		FNR == 1 { on = 0 }
		/^( \*|#) Covers: / { on = 1 }
		on && !/^( \*|#) [^ ]/ { on = 0 }
		on { n = split($0, w, /[ ,]+/); for (i = 1; i <= n; i++) if (w[i] ~ /\.[ch]$/) print FILENAME, w[i] }'
}

# test_A_B.c, or else test_A.c, for A_B_C.c
by_prefix() # NAME.c
{
	stem=${1%.[ch]}
	while [ "$stem" != "${stem%_*}" ]; do
		stem=${stem%_*}
		found=$(find tests/unit -name "test_$stem.c")
		[ -z "$found" ] || { echo "$found"; return; }
	done
}

tests_of() # NAME.c
{
	found=$(find tests/unit -name "test_$1" && sed -n "s/ $1\$//p" "$list")
	[ -n "$found" ] || found=$(by_prefix "$1")
	[ -z "$found" ] || echo "$found" | sort -u
}

# Files of one room without a test, or names that a test of the room lists and that do not exist.
check_room() # ROOM
{
	for file in $(find "src/$1" -name '*.c' | sort); do
		[ -n "$(tests_of "${file##*/}")" ] || echo "# $file: no test"
	done
	for name in $(sed -n "s|^tests/unit/$1/[^ ]* ||p" "$list"); do
		[ -n "$(find src -name "$name")" ] || echo "# tests/unit/$1: covers $name, which does not exist"
	done
}

list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
listed > "$list"
case ${1-} in
--check)
	rooms=$(find src -mindepth 1 -maxdepth 1 -type d | sort)
	echo "1..$(echo "$rooms" | wc -l)"
	n=0 status=0
	for room in $rooms; do
		n=$((n + 1))
		missing=$(check_room "${room#src/}")
		if [ -z "$missing" ]; then
			echo "ok $n - each file of $room has a test"
		else
			echo "not ok $n - each file of $room has a test"
			echo "$missing"
			status=1
		fi
	done
	exit $status
	;;
*.c | *.h) tests_of "$1" ;;
*)
	echo "usage: tests/find-test.sh NAME.c | --check" >&2
	exit 2
	;;
esac
