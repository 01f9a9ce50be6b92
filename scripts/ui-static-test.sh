#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page without a server: its engine gives the frames and hashes of the native one, goes to any moment, and the page works
# in Chromium. scripts/ui-static-test.sh BUILD, after ui-static.sh. Skips, with the reason, what the machine cannot do.
set -eu
cd "$(dirname "$0")/.."
build=$1
status=0
if ! command -v emcc > /dev/null || [ ! -e build-static/engine.wasm ]; then
	echo "1..0 # SKIP no emscripten here: make ui-static installs it and builds build-static"
	exit 0
fi
# Directories have their own names: the one for tests is beside the one that is published.
set -- build-static-test/host.mjs build-static/engine.wasm
node ui/test/static/equal.mjs "$@" "$build/tests/engine_filter" "$build/src/cli/weft" || status=1
node ui/test/static/moments.mjs "$@" || status=1
if command -v chromium > /dev/null; then
	node ui/test/static/page.mjs build-static || status=1
else
	echo "# SKIP the page in a browser: no chromium"
fi
exit $status
