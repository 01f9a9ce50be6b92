#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Large numbers of bad datagrams: storm.sh WEFT TOOLS [COUNT [SEED]]
#
# Sent to the fabric's server without a manager, over unix sockets and UDP, then with a manager, to which most
# are addressed. Honest clients must be served, the manager must answer its control socket, no process may
# grow or crash; what the storm did to LIDs, port states and tables must be corrected afterwards.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
count=${3:-20000}
seed=${4:-1}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

"$weft" topo gen mtree 4 3 -o net

# storm COUNT OPTION...: from the SM's own host, two others and a switch
storm()
{
	storms=$1
	shift
	"$tools/storm" -s "$IBSIM_SOCKNAME" -n "$storms" -S "$seed" -h $home -p 4 -a H-0001000000000010 \
		-a H-0001000000000024 -a S-0002000000000012 -a H-0001000000000048 "$@" > storm.out 2>&1 ||
		{ cat storm.out && return 1; }
	cat storm.out >> told
}

# reached SENT [OTHERS]: of so many datagrams nearly all were read by the server, as it counts itself; the rest were
# under way from a client that left, or that another's control message ended. OTHERS are not of the storm.
reached()
{
	: > ibsim.out
	console stat
	tries=0
	until grep -q '^ports Active' ibsim.out; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat ibsim.out && return 1; }
		sleep 0.05
	done
	others=$(awk '/^# witness:/ { n += $3 } / probes,/ { n += $6 } END { print n + o }' o="${2:-0}" storm.out)
	took=$(awk '/^(MADs from clients|bad packets) / { n += $NF } END { print n - o }' o="$others" ibsim.out)
	awk '/^(MADs (to|dropped|without|delivered)|requests|dropped|links)/ { v = $NF; sub(/ +[0-9]+$/, ""); s = s ", " v " " $0 }
		END { print "# server:", took, "of them read" s }' took="$took" ibsim.out >> told
	[ "$took" -ge $(($1 * ${share:-95} / 100)) ] || { echo "of $1 datagrams $took were read" && cat ibsim.out && false; }
}

at_the_server()
{
	storm "$count" && reached "$count" && is_small "$ibsim_pid" && fabric_ends
}

over_udp()
{
	IBSIM_SOCKNAME=weft-$$-udp
	export IBSIM_SOCKNAME
	for port in 17170 27170 37170 47170; do
		"$weft" fabric net --no-control --quiet --udp $port 0<> console > ibsim.out 2>&1 &
		ibsim_pid=$!
		sleep 0.5
		"$tools/storm" -s "udp:$port" -n $((count / 2)) -S "$seed" -h $home -p 4 -a H-0001000000000010 \
			-a H-0001000000000024 -a S-0002000000000012 > storm.out 2>&1 && break
		kill -0 $ibsim_pid 2> /dev/null && { cat storm.out && return 1; }
		fabric_stop # the port was in use
	done
	cat storm.out >> told
	share=1 # the kernel drops what a busy server has no room for
	reached $((count / 2)) && share= && is_small "$ibsim_pid" && fabric_ends
}

# The SM's LID is 1 on a fresh fabric; its pid is its id.
with_an_sm()
{
	fabric_start net && sm_start --state state.db || return 1
	is_whole -t && cp lids before || return 1
	watch_begin
	storm "$count" -l 1 -v "$sm_pid" -a H-0001000000000010 -a H-0001000000000010 -a H-0001000000000010 || return 1
	kill -0 "$sm_pid" || { tail -n 30 sm.log && return 1; }
	sm_ask status > status && reached "$count" "$(jq .mads.out status)" || return 1
	jq -r '"# SM: \(.mads.in) MADs in, \(.mads.out) out, \(.traps) traps, \(.bad) bad, \(.late) late, \(.changes) changes"' status >> told
}

put_right()
{
	sm_resync && is_whole -t && same_lids before
}

well()
{
	is_small "$ibsim_pid" && is_small "$sm_pid" && sm_ends && fabric_ends
}

: > told
ok "the server takes the netlist" fabric_start net
ok "$count datagrams at the server" at_the_server
ok "half as many over UDP" over_udp
ok "$count with an SM, and for it" with_an_sm
ok "the SM answers all the while" always_answered
ok "what was done to the subnet is put right" put_right
ok "both are well and end" well
cat told
echo "1..$n"
