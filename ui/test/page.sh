#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page without an engine, as TAP: ui/test/page.sh
#
# The page in ui/dist is what its sources give; the unit tests of its parts, each a case. Skips itself where Node or its
# packages are missing. All that is built goes to a directory that is removed.

# shellcheck disable=SC2317 # functions called by ok
ui=$(cd "$(dirname "$0")/.." && pwd)
skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}
command -v node > /dev/null || skip "node is not installed"
[ -d "$ui/node_modules/esbuild" ] || skip "packages of ui/package.json are not installed: npm ci in ui/"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
n=1
if sh "$ui/check-build.sh" > "$dir/said" 2>&1; then
	echo "ok 1 - the page in ui/dist is what its sources give"
else
	echo "not ok 1 - the page in ui/dist is what its sources give"
	sed 's/^/# /' "$dir/said"
fi
if ! (cd "$ui" && node build.mjs --unit --out "$dir/unit") > "$dir/said" 2>&1; then
	sed 's/^/# /' "$dir/said"
fi
node --test --test-reporter=tap "$dir/unit" > "$dir/tap" 2>&1
# Cases are the lines that no other contains: those of files, and of suites, sum up.
awk -v n=$n '
	/^ *(not )?ok [0-9]+ - / {
		line = $0; sub(/^ */, "", line); depth = length($0) - length(line)
		text = line; sub(/^(not )?ok [0-9]+ - /, "", text)
		good = line ~ /^ok/
		if (depth < last) { last = depth; if (good) next }
		last = depth
		printf "%s %d - %s\n", good ? "ok" : "not ok", ++n, text
	}
	END { printf "1..%d\n", n }' "$dir/tap"
grep -q '^ *not ok' "$dir/tap" && sed 's/^/# /' "$dir/tap"
exit 0
