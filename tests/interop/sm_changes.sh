#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` follows changes in ibsim's server or in `weft fabric`: sm_changes.sh WEFT [ibsim|fabric]
#
# Links are unplugged and plugged in again: a trunk, all of a leaf's, a host's, a whole switch's, ten at once,
# one during a sweep. Each time the manager comes to rest; then the tables are read from the devices
# (dump_lfts) and judged on the fabric that ibnetdiscover shows: each remaining pair reachable, no loop, no
# credit loop. No LID changes, and at the end the fabric is as before.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
server=${2:-ibsim}
need dump_lfts ibnetdiscover ibsim jq
need_umad2sim

# A sweep finds nothing left to do.
swept()
{
	before=$(sm_ask status | jq .clean_sweeps)
	tries=0
	until [ "$(sm_ask status | jq .clean_sweeps)" -gt "$before" ]; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { echo "no clean sweep" && tail -n 5 sm.log && return 1; }
		sm_ask sweep > /dev/null
		sleep 0.1
	done
}

# Every LID that a node has now it had from the start.
lids_stay()
{
	lids "$1" > lids.now || return 1
	[ -s lids.now ] && [ -z "$(sort lids.now lids.first lids.first | uniq -u)" ] ||
		{ echo "other LIDs:" && sort lids.now lids.first lids.first | uniq -u && false; }
}

# What the devices hold, over what is there.
holds()
{
	discover now || return 1
	on_fabric dump_lfts > now.lfts 2> err || { cat err && return 1; }
	"$weft" route verify now now.lfts --json > verdict 2> err
	jq -e '.ok' verdict > /dev/null || { jq 'del(.warnings)' verdict && tail -n 5 sm.log && return 1; }
	lids_stay now
}

# one NAME PLACE...: pulled and plugged in again
one()
{
	what=$1
	shift
	ok "$what pulled" pulled "$@"
	ok "$what plugged in again" plugged "$@"
}

# order COMMAND PLACE...: at rest after it, and a sweep later
order()
{
	command=$1
	shift
	before=$(sm_changes)
	for place; do
		console "$command $place"
	done
	sm_settled $((before + 1)) && swept && holds
}

pulled()
{
	order Unlink "$@" && ! same_graph net now > /dev/null
}

plugged()
{
	order Relink "$@" && same_graph net now
}

first()
{
	sm_start && discover first && same_graph net first && lids first > lids.first && [ -s lids.first ] && holds
}

during_a_sweep()
{
	sm_ask sweep > /dev/null
	pulled "$1" || return 1
	sm_ask sweep > /dev/null
	plugged "$1"
}

ends_well()
{
	kill "$sm_pid" && wait "$sm_pid" && sm_pid= && [ ! -e ctl ] && grep -q 'stop: weft stops: SIGTERM' sm.log || { tail sm.log && false; }
}

# Switches come leaf by leaf, then mids, then roots; ports of a leaf 1..4 are hosts', 5..8 trunks.
"$weft" topo gen mtree 8 3 -o net
sw()
{
	printf '"S-%016x"' $((0x0002000000000000 + $1))
}
ok "$server takes the netlist" fabric_start net
ok "weft sm brings it up" first
one "a trunk" "$(sw 9)[6]"
one "a host" "$(sw 7)[2]"
one "a leaf" "$(sw 5)"
one "a root" "$(sw 70)"
one "ten at once" "$(sw 3)[5]" "$(sw 4)[6]" "$(sw 8)[1]" "$(sw 12)[7]" "$(sw 20)[8]" "$(sw 22)[5]" "$(sw 28)[3]" "$(sw 30)[6]" \
	"$(sw 31)[5]" "$(sw 32)[6]"
ok "one during a sweep" during_a_sweep "$(sw 14)[5]"
ok "SIGTERM ends it cleanly" ends_well
echo "1..$n"
