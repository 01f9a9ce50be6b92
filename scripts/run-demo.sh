#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What Weft does, in a few seconds: scripts/run-demo.sh build/src/cli/weft
#
# First in the laboratory, where time is simulated; then the same manager as a daemon on the same fabric,
# emulated in real time. Needs no privileges and no other program; all it makes is gone at the end.
set -eu

weft=$1
dir=$(mktemp -d)
name=weft-demo-$$
fabric=
sm=
# shellcheck disable=SC2086 # no word where nothing runs
trap '[ -z "$sm$fabric" ] || kill $sm $fabric 2> /dev/null; wait; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

sm_ctl()
{
	"$weft" ctl --socket "$dir/sm.sock" "$@" 2> "$dir/err"
}

fabric_ctl()
{
	"$weft" ctl --socket "$dir/fabric.sock" fabric "$@" 2> "$dir/err"
}

# settled N: it rests, and N changes at least are done
settled()
{
	sm_ctl status | grep -q '^state .*Master, ready' && [ "$(sm_ctl changes | grep -c '^ *[0-9]')" -ge "$1" ]
}

wait_for()
{
	tries=200
	until "$@" > /dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { echo "$* fails:" && cat "$dir/err" "$dir/log"; exit 1; }
		sleep 0.05
	done
}

say()
{
	printf '\n$ %s\n' "$*"
}

"$weft" sim demo

printf '\nThe same manager as a daemon, on the same fabric, emulated in real time:\n'
say 'weft topo gen mtree 8 3 -o tree.net; weft fabric tree.net &'
"$weft" topo gen mtree 8 3 -o "$dir/tree.net"
"$weft" fabric "$dir/tree.net" --name "$name" --control "$dir/fabric.sock" --no-console > "$dir/events" 2>&1 &
fabric=$!
wait_for fabric_ctl stat
sed 's/;.*//' "$dir/events"
say 'weft sm &'
: > "$dir/log"
"$weft" sm --server "$name" --state '' --control "$dir/sm.sock" > "$dir/log" 2>&1 &
sm=$!
wait_for settled 1
sed -n 's/.*subnet_up: //p' "$dir/log"
say "weft ctl route 'host 0' 'host 127'"
sm_ctl route 'host 0' 'host 127'
say 'weft ctl fabric off mid0_3        # a switch of it goes'
fabric_ctl off mid0_3
wait_for settled 2
sed -n 's/.*change_done: //p' "$dir/log"
say "weft ctl route 'host 0' 'host 127'"
sm_ctl route 'host 0' 'host 127'

printf '\nOn screen: %s ui, or with a netlist: %s ui FILE; a running manager: %s ui --live NAME\n' "$weft" "$weft" "$weft"
