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

# For each room one line "ok" or "not ok", then its files without a test, and names that a test of the room lists and that do not
# exist: what tests_of says for each file, in one pass.
check_rooms()
{
	{
		find src -name '*.[ch]' | sort | sed 's/^/source /'
		find tests/unit -name 'test_*.c' | sed 's/^/test /'
		sed 's/^/listed /' "$list"
	} | awk '
		function name(path) { sub(/.*\//, "", path); return path }
		function room(path) { split(path, part, "/"); return part[2] }
		function has_test(file,   stem) {
			stem = name(file)
			if (stem in covered) return 1
			sub(/\.c$/, "", stem)
			while (!(stem in unit) && sub(/_[^_]*$/, "", stem)) {}
			return stem in unit
		}
		$1 == "source" { exists[name($2)]; if ($2 ~ /\.c$/) sources[++ns] = $2; if (!(room($2) in seen)) { seen[room($2)]; rooms[++nr] = room($2) } }
		$1 == "test" { stem = name($2); sub(/^test_/, "", stem); sub(/\.c$/, "", stem); unit[stem] }
		$1 == "listed" { covered[$3]; from[++nl] = $2; what[nl] = $3 }
		END {
			print "1.." nr
			for (i = 1; i <= ns; i++)
				if (!has_test(sources[i])) faults[room(sources[i])] = faults[room(sources[i])] "# " sources[i] ": no test\n"
			for (i = 1; i <= nl; i++) {
				split(from[i], part, "/")
				if (from[i] ~ /^tests\/unit\// && !(what[i] in exists))
					faults[part[3]] = faults[part[3]] "# tests/unit/" part[3] ": covers " what[i] ", which does not exist\n"
			}
			for (i = 1; i <= nr; i++) {
				printf "%s %d - each file of src/%s has a test\n%s", (rooms[i] in faults) ? "not ok" : "ok", i, rooms[i], faults[rooms[i]]
				if (faults[rooms[i]] != "") status = 1
			}
			exit status
		}'
}

list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
listed > "$list"
case ${1-} in
--check)
	check_rooms
	;;
*.c | *.h) tests_of "$1" ;;
*)
	echo "usage: tests/find-test.sh NAME.c | --check" >&2
	exit 2
	;;
esac
