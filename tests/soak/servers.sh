#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The fabric's server killed and started again under a running manager: servers.sh WEFT TOOLS [TIMES [SEED]]
#
# At random moments: while the manager connects, brings the subnet up, or is at rest. It must reconnect each
# time with the same LIDs, and close the descriptors of lost connections.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
times=${3:-8}
seed=${4:-1}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

"$weft" topo gen mtree 4 3 -o net

descriptors()
{
	find "/proc/$sm_pid/fd" -mindepth 1 2> /dev/null | wc -l
}

comes_up()
{
	sm_start --state state.db && is_whole -t && cp lids before && descriptors > fds
}

# The console gets a new pipe; the sockets keep their names.
serve_again()
{
	fabric_serve net
	tries=0
	until listening; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat ibsim.out && return 1; }
		sleep 0.05
	done
}

killed()
{
	i=0
	while [ $i -lt "$times" ]; do
		sleep "$(awk -v ms="$(draw 400 $((seed * 1000 + i)))" 'BEGIN { print ms / 1000 }')"
		kill -9 "$ibsim_pid"
		wait "$ibsim_pid" 2> /dev/null
		kill -0 "$sm_pid" || { tail -n 30 sm.log && return 1; }
		[ $((i % 3)) -ne 0 ] || sleep 0.3 # long enough to be noticed
		serve_again || return 1
		i=$((i + 1))
	done 2> /dev/null # the shell reports each killed child
}

# After the last start of the server all devices are configured again: wait until they are.
back()
{
	tries=0
	until is_whole -t > said_last 2>&1 && sm_settled 1; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat said_last && tail -n 5 sm.log && return 1; }
		sleep 0.1
	done
	same_lids before
}

no_more_descriptors()
{
	[ "$(descriptors)" -le $(($(cat fds) + 2)) ] || { cat fds && ls -l "/proc/$sm_pid/fd" && false; }
}

well()
{
	is_small "$sm_pid" && sm_ends && fabric_ends
}

ok "the server takes the netlist" fabric_start net
ok "the subnet comes up" comes_up
ok "the server is killed $times times" killed
ok "the subnet is back, with its LIDs" back
ok "no descriptors are left of old connections" no_more_descriptors
ok "both are well and end" well
echo "1..$n"
