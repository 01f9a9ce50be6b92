#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A server that sends false responses: liar.sh WEFT TOOLS [PACKETS [SEED [PELTS]]]
#
# From the first SMP on, then again once the subnet is up; each time PELTS datagrams that no device sent go
# directly to the manager's socket, random ones and responses with one wrong field. The manager must not
# crash, must answer its control socket, must not grow, and must have the subnet right once the responses are
# true again; LIDs stay the same.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
packets=${3:-4000}
seed=${4:-1}
pelts=${5:-0}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

"$weft" topo gen mtree 4 3 -o net

lied_to()
{
	"$weft" sm --transport ibsim --server "$IBSIM_SOCKNAME-liar" --state state.db --control "$dir/ctl" \
		--log-level error > sm.log 2>&1 &
	sm_pid=$!
	tries=0
	until sm_ask status > status; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat sm.log ctl.err && return 1; }
		sleep 0.05
	done
	watch_begin
	lies_end
}

# All told, as far as the SM lets it: it is asked to sweep, and to read everything again, so that there is something
# to lie about; but one that waits for its next try asks nothing.
lies_end()
{
	tries=0
	until grep -q honest liar.out; do
		tries=$((tries + 1))
		kill -0 "$sm_pid" || { tail -n 30 sm.log && return 1; }
		[ $tries -lt $((50 + packets / 100 + pelts / 1000)) ] || break
		sm_ask "$([ $((tries % 4)) -eq 0 ] && echo resync || echo sweep)" > /dev/null
		sleep 0.1
	done
	liar_honest && cat liar.out >> told
	reached
}

# What the liar sent is what the SM took, but for wrong sizes and connections that were lost on the way.
reached()
{
	sm_ask status > status || { cat ctl.err && return 1; }
	pelted=$(sed -n 's/^liar: pelted \([0-9]*\) .*/\1/p' liar.out | tail -n 1)
	jq -r '"# SM: \(.mads.in) MADs in, \(.mads.out) out, \(.traps) traps, \(.bad) bad, \(.late) late, \(.changes) changes, \(.reconnects) reconnects"' \
		status >> told
	jq -e ".mads.in >= ${pelted:-0} / 10 * 9" status > /dev/null || { cat status liar.out && false; }
}

answered()
{
	always_answered && is_small "$sm_pid"
}

right_in_the_end()
{
	sm_resync && is_whole -t
}

# Now it is up, and has LIDs to lose.
lied_to_again()
{
	cp lids before
	: > liar.out
	kill -USR2 "$liar_pid"
	watch_begin
	lies_end
}

lids_stay()
{
	right_in_the_end && same_lids before
}

well()
{
	sm_ends && liar_stop && fabric_ends
}

ok "the server takes the netlist" fabric_start net
ok "a liar stands before it" liar_start "$packets" 6 "$seed" "$pelts"
ok "lies about $packets packets from the first on, and $pelts that no device sent" lied_to
ok "the SM answers all the while" answered
ok "it has the subnet right in the end" right_in_the_end
ok "lies once it is up" lied_to_again
ok "the SM answers all the while" answered
ok "LIDs stay" lids_stay
ok "all are well and end" well
sed -n 's/^liar: /# /p; /^# SM/p' told
echo "1..$n"
