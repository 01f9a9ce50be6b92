#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Add up Meson's test logs: scripts/test-summary.sh BUILDDIR...
#
# A test that speaks TAP counts case by case, any other as one. A program that dies, is cut short or
# says nothing counts as a failure even when every case that it reported had passed. Names what
# failed and why, then prints the one closing line "N passed, N failed" (", N skipped"). Status 1
# when anything failed or when nothing passed.
set -eu

# One line a test: name, passed, failed and skipped cases, result. cmocka calls a skipped case
# "not ok # SKIP", which Meson takes for a failure.
# shellcheck disable=SC2016 # jq's variables
count='
	def lines(re): [(.stdout // "") | split("\n")[] | select(test(re; "i"))];
	(lines("^(not )?ok\\b.*# *skip") | length) as $skip
	| lines("^not ok\\b(?!.*# *(skip|todo))") as $broken
	| ($broken | length) as $bad
	| (lines("^(not )?ok\\b") | length - $skip - $bad) as $ok
	| (if .result == "OK" or .result == "EXPECTEDFAIL" then
		if $ok + $bad + $skip == 0 then [1, 0, 0] else [$ok, $bad, $skip] end
	   elif .result == "FAIL" and .returncode == 0 and $bad == 0 and $skip > 0 then [$ok, 0, $skip]
	   elif .result == "SKIP" and (.returncode == 77 or (lines("# *skip") | length) > 0) then
		[0, 0, ([$skip, 1] | max)]
	   else [$ok, ([$bad, 1] | max), $skip] end) as $n
	| ([.name] + $n + [.result] | @tsv),
	  if $n[1] > 0 then lines("^not ok|^# ")[0:40][] | "\t" + . else empty end'

for dir in "$@"; do
	log=$dir/meson-logs/testlog.json
	if [ -s "$log" ]; then
		jq -r "$count" "$log" | sed "s|^[^\t]|$dir: &|"
	else
		printf '%s: no test log\t0\t1\t0\tMISSING\n' "$dir"
	fi
done | awk -F '\t' '
	/^\t/ { print "    " $2; next }
	{ passed += $2; failed += $3; skipped += $4 }
	$3 { printf "FAILED %s (%s, %d of %d cases)\n", $1, $5, $3, $2 + $3 + $4 }
	END {
		printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
		exit failed > 0 || passed == 0
	}'
