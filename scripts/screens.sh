#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Pictures of `weft top` and `weft why` for docs/operate.md, as SVG: the text of a terminal of 80 by 24 on an emulated tree of 128 hosts
# with traffic and a sick link.
#
#	scripts/screens.sh build/src/cli/weft docs/images
set -eu

weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
out=$(cd "$2" && pwd)
dir=$(mktemp -d)
pids=
screen="tmux -L weft-screens-$$ -f /dev/null"
# shellcheck disable=SC2154 # p is the loop's
trap '$screen kill-server 2> /dev/null || :; for p in $pids; do kill "$p" 2> /dev/null || :; done; wait; cd /; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir"
unset IBSIM_SOCKNAME XDG_RUNTIME_DIR
export RUNTIME_DIRECTORY="$dir"
name=lab0

fabric()
{
	"$weft" ctl --name "$name" fabric "$@" > /dev/null
}

# svg NAME TITLE: lines of a terminal on standard input
svg()
{
	awk -v title="$2" '
	function escaped(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); gsub(/ /, "\\&#160;", s); return s }
	{ line[NR] = $0; if (length($0) > wide) wide = length($0) }
	END {
		while (NR && line[NR] == "") NR--
		if (wide < 80) wide = 80
		w = wide * 8.43 + 24; h = NR * 18 + 28
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", w, h, w, h
		printf "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#10161d\"/>\n", escaped(title)
		print "<g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"#d7dde4\">"
		for (i = 1; i <= NR; i++)
			if (line[i] != "")
				printf "<text x=\"12\" y=\"%d\">%s</text>\n", 10 + i * 18, escaped(line[i])
		print "</g>\n</svg>"
	}' > "$out/$1.svg"
}

"$weft" topo gen mtree 8 3 --rate 4xHDR -o tree.net
"$weft" fabric tree.net --name "$name" --no-console -q > fabric.log 2>&1 &
pids="$pids $!"
sleep 1
"$weft" sm --server "$name" --state none --perf-period 1s --perf-isolate switches > sm.log 2>&1 &
pids="$pids $!"
"$weft" ctl --name "$name" wait > /dev/null
fabric 'agent all full'
fabric 'unlink leaf1_2[7]'
"$weft" ctl --name "$name" wait > /dev/null
fabric 'relink leaf1_2[7]'
"$weft" ctl --name "$name" wait > /dev/null
sleep 2
fabric 'counter leaf1_2[6] SymbolErrorCounter 500'
$screen new-session -d -x 80 -y 24 -s s "$weft" top --name "$name"
i=0
while [ $i -lt 24 ]; do # the trend needs a slot of 20 s
	fabric 'flow "host 3" "host 77" 1500000 4096'
	fabric 'flow "host 90" "host 12" 900000 4096'
	fabric 'flow "host 41" "host 120" 600000 4096'
	sleep 0.9
	i=$((i + 1))
done
$screen capture-pane -p -t s | svg top 'weft top: the busiest links'
$screen send-keys -t s 2
sleep 1.5
$screen capture-pane -p -t s | svg top-sick 'weft top: the sickest links'
$screen send-keys -t s q
"$weft" why --name "$name" leaf1_2 | cut -c1-132 | svg why 'weft why: a switch with a sick link'
