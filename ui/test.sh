#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# All tests of the page: ui/test.sh [--no-browser]. Installs packages with npm ci if they are missing. The tests in a
# browser need Chromium (Debian: chromium) and write pictures to build/shots.
set -e
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
sh check-build.sh
node build.mjs --unit
node --test build/unit
[ "$1" = --no-browser ] && exit 0
node build.mjs --mock
node test/browser/page.mjs
