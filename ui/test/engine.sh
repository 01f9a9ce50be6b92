#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A test of `weft ui` in Chromium, as TAP: ui/test/engine.sh NAME PATH/TO/weft DIRECTORY-FOR-PICTURES
#
# NAME: a file of ui/test/engine. Skips itself, and says why, where a program that it needs cannot be had: scripts/setup.sh
# test installs them.
set -u
ui=$(cd "$(dirname "$0")/.." && pwd)

skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

command -v node > /dev/null || skip "node is not installed"
[ -d "$ui/node_modules/puppeteer-core" ] || skip "puppeteer-core is not installed: npm ci in ui/"
[ -n "${CHROMIUM:-}" ] || CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
	skip "chromium is not installed"
export CHROMIUM
# Chromium reserves far more addresses than it uses.
# shellcheck disable=SC3045 # dash and bash know -v
ulimit -v unlimited 2> /dev/null
# shellcheck disable=SC3045
[ "$(ulimit -v)" = unlimited ] || skip "the address space is limited (ulimit -v)"
# A browser without a GPU on a busy machine is not always in time: what fails is run once more, and both are shown.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
if ! node "$ui/test/engine/$1.mjs" "$2" "$3" > "$out" 2>&1; then
	sed 's/^/# first run: /' "$out"
	node "$ui/test/engine/$1.mjs" "$2" "$3"
	exit
fi
cat "$out"
