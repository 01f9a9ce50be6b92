#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` and OpenSM on one fabric: sm_beside_opensm.sh WEFT
#
# Which one is master, which stands by, which takes over; and that LIDs stay the same.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$here/lib_fabric.sh"
trap 'sm_stop; opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
need opensm sminfo ibnetdiscover jq
need_umad2sim

"$weft" topo gen mtree 4 2 -o net
theirs=H-0001000000000010
ours=H-0001000000000014

# weft_start PRIORITY: Weft at another node than OpenSM's; a master is missed within a second
weft_start()
{
	printf 'election: {priority: %s, poll: 300ms, tries: 3}\nmanager: {sweep: 1s}\n' "$1" > weft.yaml
	"$weft" sm --config weft.yaml --transport ibsim --device $ours --state '' --control "$dir/ctl" > sm.log 2>&1 &
	sm_pid=$!
}

is()
{
	sm_ask status | jq -e ".state == \"$1\"" > /dev/null
}

becomes()
{
	until_true 30 is "$1" || { echo "Weft is not $1:" && sm_ask status && cat sm.log && return 1; }
}

opensm_says()
{
	until_true 30 grep -q "$1" osm/log && return
	echo "OpenSM does not say '$1':"
	tail -n 5 osm/log
	return 1
}

# master_at GUID: SMInfo of the subnet's manager as a third one sees it
master_at()
{
	at H-0001000000000020 sminfo 2> /dev/null | grep -q "sm guid 0x$1, .* state 3 SMINFO_MASTER"
}

lids_stay()
{
	discover dump && lids dump > after && diff before after
}

# opensm_begin OPTION...: OpenSM, whatever it becomes
opensm_begin()
{
	rm -rf osm
	mkdir osm
	echo 'force_log_flush TRUE' > osm/conf
	SIM_HOST=$theirs OSM_TMP_DIR=$dir/osm OSM_CACHE_DIR=$dir/osm LD_PRELOAD=$preload \
		opensm -e -F "$dir/osm/conf" -f "$dir/osm/log" -D 0x43 "$@" > osm/said 2>&1 &
	opensm_pid=$!
}

first()
{
	emu_start net && opensm_begin -p 1 && opensm_says 'SUBNET UP' && discover dump && lids dump > before
}

stands_by()
{
	weft_start 0 && becomes Standby && master_at 1000000000011
}

takes_over()
{
	kill -9 "$opensm_pid"
	wait "$opensm_pid" 2> /dev/null
	opensm_pid=
	becomes Master && until_true 20 master_at 1000000000015 && lids_stay && all_active 16
}

respected()
{
	opensm_begin -p 0 && opensm_says 'Entering STANDBY' && is Master && lids_stay
}

hands_over()
{
	opensm_stop
	opensm_begin -p 9 && becomes Standby && opensm_says 'Entering MASTER' && opensm_says 'SUBNET UP' &&
		until_true 20 master_at 1000000000011 && lids_stay && all_active 16
}

ok "OpenSM brings the fabric up" first
ok "Weft of lower priority stands by" stands_by
ok "Weft takes over from an OpenSM that died; LIDs stay" takes_over
ok "an OpenSM of lower priority stands by" respected
ok "to one of higher priority Weft hands over" hands_over
echo "1..$n"
