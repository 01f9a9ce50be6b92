#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The pictures of docs/mechanism.md: a switch without hosts fails, and comes, under each mechanism. And the
# manager's phases, as ARCHITECTURE.md shows them, where Graphviz is installed, a schedule of docs/simulating.md, and
# congestion of links in docs/routing.md.
# usage: bench/pictures.sh [WEFT]     (or WEFT=...; default build/src/cli/weft)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
weft=$(realpath -m "${1:-${WEFT:-$here/../build/src/cli/weft}}")
img=$here/../docs/img
switch=S-0002000000000008
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$weft" ] || { echo "bench: no weft at $weft" >&2; exit 2; }

"$weft" topo gen irregular 16 --ports 4 --hosts 14 --seed 1 --rate 1xSDR -o "$work/all.net"
# The same without the switch: its own paragraph goes, and every line of another that leads to it.
awk -v RS= -v ORS='\n\n' -v gone="\"$switch\"" '
	{ n = split($0, line, "\n"); own = 0; text = ""
	  for (i = 1; i <= n; i++) {
		if (line[i] ~ /^Switch/ && index(line[i], gone)) own = 1
		if (line[i] !~ /^\[/ || !index(line[i], gone)) text = text (text == "" ? "" : "\n") line[i]
	  }
	  if (!own) print text }' "$work/all.net" > "$work/without.net"

for mechanism in basic improved improved+partial improved+traps weft; do
	to=$img/mechanism-${mechanism//+/-}
	"$weft" sim change "$work/all.net" --kill "$switch" --mechanism "$mechanism" --load 25% --of-saturation \
		--svg "$to-fails.svg" --json > /dev/null
	"$weft" sim change "$work/without.net" "$work/all.net" --mechanism "$mechanism" --load 25% --of-saturation \
		--svg "$to-comes.svg" --json > /dev/null
	echo "bench: docs/img/$(basename "$to")-fails.svg, -comes.svg" >&2
done

"$weft" topo gen dragonfly 2 4 2 -o "$work/dragonfly.net"
"$weft" route quality "$work/dragonfly.net" --svg "$img/quality.svg" > /dev/null
echo "bench: docs/img/quality.svg" >&2

"$weft" sim trial --replay "$img/story.schedule" --svg "$img/story.svg" > /dev/null
echo "bench: docs/img/story.svg" >&2
"$weft" sm --print-phases --dot > "$img/phases.dot"
if command -v dot > /dev/null; then
	dot -Tsvg "$img/phases.dot" -o "$img/phases.svg"
	echo "bench: docs/img/phases.svg" >&2
else
	echo "bench: docs/img/phases.svg needs dot, of the package graphviz" >&2
fi
