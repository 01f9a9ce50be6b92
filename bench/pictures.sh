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
	routes=()
	[ "$mechanism" != weft ] || routes=(--routes update)
	"$weft" sim change "$work/all.net" --kill "$switch" --mechanism "$mechanism" "${routes[@]}" --load 25% --of-saturation \
		--svg "$to-fails.svg" --json > /dev/null
	"$weft" sim change "$work/without.net" "$work/all.net" --mechanism "$mechanism" "${routes[@]}" --load 25% --of-saturation \
		--svg "$to-comes.svg" --json > /dev/null
	echo "bench: docs/img/$(basename "$to")-fails.svg, -comes.svg" >&2
done

"$weft" topo gen dragonfly 2 4 2 -o "$work/dragonfly.net"
"$weft" route quality "$work/dragonfly.net" --engine fera --svg "$img/quality.svg" > /dev/null
echo "bench: docs/img/quality.svg" >&2

# The same fabric routed by four engines, side by side.
"$weft" topo gen irregular 12 --ports 8 --hosts 30 --seed 3 -o "$work/engines.net"
panels()
{
	local engine i=0 width height scale
	for engine in fera updn balanced nue; do
		"$weft" route quality "$work/engines.net" --engine "$engine" --svg "$work/$engine.svg" > /dev/null
		read -r width height < <(sed -n '1s/.*viewBox="0 0 \([0-9.]*\) \([0-9.]*\)".*/\1 \2/p' "$work/$engine.svg")
		scale=$((450 * height / width))
		[ "$i" != 0 ] ||
			printf '<svg xmlns="http://www.w3.org/2000/svg" width="920" height="%d"><rect width="920" height="%d" fill="#ffffff"/>\n' \
				$((2 * (scale + 40))) $((2 * (scale + 40)))
		printf '<text x="%d" y="%d" style="font-family:sans-serif;font-size:18px;font-weight:bold">%s</text>\n' \
			$((10 + i % 2 * 460)) $((22 + i / 2 * (scale + 40))) "$engine"
		sed "1s/width=\"[0-9.]*\" height=\"[0-9.]*\"/x=\"$((5 + i % 2 * 460))\" y=\"$((32 + i / 2 * (scale + 40)))\" width=\"450\" height=\"$scale\"/" \
			"$work/$engine.svg"
		i=$((i + 1))
	done
	echo '</svg>'
}
panels > "$img/engines.svg"
echo "bench: docs/img/engines.svg" >&2

"$weft" sim trial --replay "$img/story.schedule" --svg "$img/story.svg" > /dev/null
echo "bench: docs/img/story.svg" >&2
"$weft" sm --print-phases --dot > "$img/phases.dot"
if command -v dot > /dev/null; then
	dot -Tsvg "$img/phases.dot" -o "$img/phases.svg"
	echo "bench: docs/img/phases.svg" >&2
else
	echo "bench: docs/img/phases.svg needs dot, of the package graphviz" >&2
fi
