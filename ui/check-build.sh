#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page in dist is what its sources give, byte for byte; the lock file names no registry but npm's own.
# Needs node_modules (npm ci).
set -e
cd "$(dirname "$0")"
if grep -E '"resolved": "' package-lock.json | grep -v '"resolved": "https://registry\.npmjs\.org/'; then
	echo "check-build: package-lock.json names another registry" >&2
	exit 1
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
node node_modules/typescript/bin/tsc --noEmit -p .
for n in 1 2; do
	node build.mjs --out "$out/$n"
done
for f in index.html app.js app.css; do
	cmp "$out/1/$f" "$out/2/$f"
	cmp "$out/1/$f" "dist/$f" || {
		echo "check-build: dist/$f is not what the sources give; run npm run build" >&2
		exit 1
	}
done
echo "check-build: dist is up to date"
