#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft top` in a terminal, as TAP: top.sh PATH/TO/weft
#
# A daemon that reads counters on an emulated tree; one screen for scripts, then the live view in tmux: 80 by 24 and larger,
# pages, order, filter, a port.
#
# Covers: cmd_top.c top_ask.c top_screen.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
screen="tmux -L weft-top-$$ -f /dev/null"
trap '$screen kill-server 2> /dev/null; for p in $pids; do kill "$p" 2> /dev/null; done; cd /; rm -rf "$dir"' EXIT
export IBSIM_SOCKNAME=weft-top-$$

ctl()
{
	"$weft" ctl --socket "$dir/ctl" "$@"
}

top()
{
	"$weft" top --socket "$dir/ctl" "$@"
}

"$weft" topo gen kary 4 2 > net || exit 1
"$weft" fabric net --no-console --quiet --control "$dir/fabric" > fabric.out 2>&1 &
pids=$!
until_true test -S "$dir/fabric"
"$weft" sm --server "$IBSIM_SOCKNAME" --control "$dir/ctl" --state none --perf-period 300ms > sm.out 2>&1 &
pids="$pids $!"
has_rounds()
{
	[ "$(ctl counters --json | jq .rounds)" -ge 3 ]
}
until_true has_rounds
"$weft" ctl --socket "$dir/fabric" fabric counter 'leaf0[5]' SymbolErrorCounter 100
is_sick()
{
	ctl sick --json | jq -e '.sick == 1'
}
until_true is_sick

json()
{
	top --once --json > out && jq -e '.status.state == "Master" and (.perf.links | length) == 64 and
		.sick.sick == 1 and (.changes.changes | length) > 0 and .sa.ok and .port == null' out
}
ok "--once --json has all that the manager answered" json

small()
{
	LINES=24 COLUMNS=80 top --once --sort errors > out && cat out && [ "$(wc -l < out)" = 24 ] &&
		[ "$(awk '{ if (length > m) m = length } END { print m }' out)" -le 80 ] &&
		sed -n 5p out | grep -q '^>leaf0:5 .*root0:1 .* 100 .*S$'
}
ok "a screen of 80 by 24: the sickest link comes first" small

large()
{
	LINES=60 COLUMNS=160 top --once > out && cat out && [ "$(wc -l < out)" = 60 ] && grep -q 'sick: 1' out && grep -q 'began' out
}
ok "a large screen shows sick links and changes as well" large

# root3 has four links: eight ends, and each link once on the screen, beside the line that has the filter.
filtered()
{
	top --once --json --filter ROOT3 | jq -e '.perf.links | length == 8' && top --once --filter root3 > out && [ "$(grep -c root3 out)" = 5 ] ||
		{ cat out; return 1; }
}
ok "the manager filters; each link comes once" filtered

one_port()
{
	top --once --port leaf0:5 > out && cat out && grep -q 'symbol_error  *100 ' out && grep -q 'errors  *|' out
}
ok "a port" one_port

refused()
{
	! top < /dev/null 2> err && grep -q 'expected a terminal' err && ! top --json 2> err && grep -q once err &&
		! top --sort size --once 2> err
}
ok "without a terminal it says what to do" refused

if ! command -v tmux > /dev/null; then
	echo "ok $((n + 1)) - the live view # SKIP tmux is not installed"
	echo "1..$((n + 1))"
	exit 0
fi

shows()
{
	$screen capture-pane -p -t 0 > out && grep -q "$1" out
}

# keys_show KEYS... TEXT: after these keys the screen has this text
keys_show()
{
	while [ $# -gt 1 ]; do
		$screen send-keys -t 0 "$1"
		shift
	done
	until_true shows "$1" || { cat out; return 1; }
}

live()
{
	$screen new-session -d -x 80 -y 24 "$weft top --socket $dir/ctl --interval 200ms; echo ended; sleep 60" &&
		until_true shows '\[1 links\]' || { cat out; return 1; }
}
ok "the live view begins with links" live
ok "s changes the order" keys_show s 'sort: errors'
ok "enter shows the port" keys_show Enter 'since the first read'
ok "esc goes back" keys_show Escape '\[1 links\]'
ok "/ filters by name" keys_show / r o o t 3 Enter 'filter: root3$'
only_root3()
{
	until_true shows '^>.*root3' && ! grep '^[ >]leaf0:5' out
}
ok "and other links are not shown" only_root3
ok "2 shows sick links" keys_show 2 '\[2 sick\]'
ok "3 shows changes" keys_show 3 'start'
ok "4 shows managers and subnet administration" keys_show 4 'this one'
resized()
{
	$screen resize-window -t 0 -x 150 -y 50 && $screen send-keys -t 0 1 && until_true shows 'sick: 1' || { cat out; return 1; }
}
ok "a larger window is used" resized
small()
{
	$screen resize-window -t 0 -x 20 -y 5 && until_true shows '^weft top  Master' && until_true shows '^q quit' ||
		{ cat out; return 1; }
	$screen resize-window -t 0 -x 1 -y 1 && sleep 0.5 && $screen resize-window -t 0 -x 80 -y 24 && until_true shows '\[1 links\]' ||
		{ cat out; return 1; }
}
ok "a window of 20 by 5 has the first and the last line" small
# A manager that hangs: the screen says how old it is, and keys work.
hangs()
{
	kill -STOP "${pids##* }" && until_true shows 'has not answered for [0-9]* s: what is shown here is older' &&
		keys_show 2 '\[2 sick\]' && keys_show 1 '\[1 links\]' || { cat out; kill -CONT "${pids##* }"; return 1; }
	kill -CONT "${pids##* }" && until_true shows '^counters: '
}
ok "a manager that hangs" hangs
# shellcheck disable=SC2086 # pids are words
dies()
{
	kill -9 ${pids##* } && until_true shows 'no process listens there' && shows '^weft top  no answer' || { cat out; return 1; }
}
ok "a manager that dies is named, and the view goes on" dies
ok "q ends it" keys_show q ended

echo "1..$n"
