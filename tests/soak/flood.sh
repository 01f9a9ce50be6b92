#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Clients that send without end, and clients that never read: flood.sh WEFT TOOLS [COUNT]
#
# Other clients are served, a subnet is brought up and a change is followed; the memory for clients that do
# not read is limited.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
count=${3:-100000}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

"$weft" topo gen mtree 4 3 -o net

# flood OPTION...: two clients that do nothing else
flood()
{
	"$tools/storm" -F -s "$IBSIM_SOCKNAME" -n "$count" -h $home -a H-0001000000000024 -a H-0001000000000048 "$@"
}

others_are_served()
{
	flood > storm.out 2>&1 && cat storm.out >> told || { cat storm.out && false; }
}

# Nothing of theirs is ever read: what the server keeps for them is as much as it allows, and no more.
nobody_reads()
{
	flood -D > storm.out 2>&1 && cat storm.out >> told && is_small "$ibsim_pid" || { cat storm.out && false; }
}

# flooded COMMAND...: with more than will be sent by then, and ended when the command is done
flooded()
{
	(exec "$tools/storm" -F -D -s "$IBSIM_SOCKNAME" -n $((count * 1000)) -h $home -a H-0001000000000024 \
		-a H-0001000000000048) > flood.out 2>&1 &
	flood_pid=$!
	"$@"
	said=$?
	kill -0 $flood_pid 2> /dev/null || { echo "the flood is over:" && cat flood.out && said=1; }
	kill $flood_pid
	wait $flood_pid 2> /dev/null
	return $said
}

up_and_change()
{
	sm_start && is_whole || return 1
	at=$(sm_changes)
	console 'Unlink "S-0002000000000009"[3]'
	sm_settled $((at + 1)) || return 1
	at=$(sm_changes)
	console 'Relink "S-0002000000000009"[3]'
	sm_settled $((at + 1)) && is_whole -t
}

well()
{
	is_small "$sm_pid" && is_small "$ibsim_pid" && sm_ends && fabric_ends
}

: > told
ok "the server takes the netlist" fabric_start net
ok "others are served while two clients ask $count times" others_are_served
ok "others are served while they do not read either" nobody_reads
ok "a subnet comes up and changes under such a flood" flooded up_and_change
ok "both are well and end" well
cat told
echo "1..$n"
