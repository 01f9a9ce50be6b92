#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Debian packages of Weft: scripts/deb.sh [--quick BUILD] OUT [VERSION]
#
# Copies the tree to OUT/weft, builds there, and leaves the packages in OUT. --quick: of a program that is built already in the
# Meson directory BUILD, without optimizing or hardening it again; for tests. VERSION: instead of the one in the changelog.
set -eu

quick=
if [ "${1:-}" = --quick ]; then
	quick=$(cd "$2" && pwd)
	shift 2
fi
[ $# -ge 1 ] || { echo "usage: deb.sh [--quick BUILD] OUT [VERSION]" >&2 && exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
rm -rf "$out/weft"
mkdir "$out/weft"
# Tracked files; where this is no checkout, all that is not built.
if git rev-parse --git-dir > /dev/null 2>&1; then
	git ls-files -z | tar -c --null -T - | tar -x -C "$out/weft"
else
	tar -c --exclude='./build*' . | tar -x -C "$out/weft"
fi
cp -r packaging/debian "$out/weft/debian"
cd "$out/weft"
if [ $# -ge 2 ]; then
	sed -i "1s/(.*)/($2)/" debian/changelog
fi
if [ -n "$quick" ]; then
	export WEFT_BUILD="$quick" DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
fi
dpkg-buildpackage -b -us -uc -d > "$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" >&2 && exit 1; }
ls "$out"/*.deb
