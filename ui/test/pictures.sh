#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The pictures of docs/window.md: ui/test/pictures.sh [PATH/TO/weft]
#
# Scenes of the tests in Chromium, with a palette of at most 256 colours. Needs what scripts/setup.sh test installs, and pngquant.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
weft=${1:-$root/build/src/cli/weft}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$root/docs/images"
for test in sample tree live; do
	WEFT_LIVE_NAME=lab0 sh "$here/engine.sh" $test "$weft" "$dir" | grep -E '^not ok|SKIP' && exit 1
done
for scene in sample load live whatif groups; do
	pngquant --force --strip --speed 1 --output "$root/docs/images/window-$scene.png" 256 "$dir/$scene.png"
done
ls -l "$root/docs/images"
