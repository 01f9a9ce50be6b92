#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` and OpenSM on one fabric: sm_beside_opensm.sh WEFT
#
# Which one is master, which stands by, which takes over; also when either of them is stopped and continues; what
# OpenSM does when it is ordered about; and that LIDs stay the same.

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

# said TEXT: how often OpenSM said it
said()
{
	grep -c "$1" osm/log
}

said_more()
{
	[ "$(said "$1")" -gt "$2" ]
}

# opensm_says TEXT [BEFORE]: OpenSM says it, once more than that
opensm_says()
{
	until_true 30 said_more "$1" "${2:-0}" && return
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
	# As a standby it misses a master after two seconds, as a master it looks at others every second.
	printf 'force_log_flush TRUE\nsminfo_polling_timeout 500\npolling_retry_number 4\nsweep_interval 1\n' > osm/conf
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

# settled master|standby GUID: Weft is that, the subnet's one master has this GUID, nothing else changed
settled()
{
	becomes "$1" && until_true 30 master_at "$2" && lids_stay && all_active 16
}

# Before OpenSM continues, Weft is master.
opensm_pauses()
{
	kill -STOP "$opensm_pid"
	settled Master 1000000000015 || { kill -CONT "$opensm_pid" && return 1; }
	kill -CONT "$opensm_pid"
	settled Standby 1000000000011
}

gives_back()
{
	told=$(said 'Entering STANDBY')
	sm_stop
	weft_start 12 && settled Master 1000000000015 && opensm_says 'Entering STANDBY' "$told"
}

weft_pauses()
{
	told=$(said 'Entering MASTER') again=$(said 'Entering STANDBY')
	kill -STOP "$sm_pid"
	opensm_says 'Entering MASTER' "$told" && until_true 30 master_at 1000000000011 || { kill -CONT "$sm_pid" && return 1; }
	kill -CONT "$sm_pid"
	settled Master 1000000000015 && opensm_says 'Entering STANDBY' "$again"
}

lid_of()
{
	awk -v node="$1" '$1 == node { print $NF }' before
}

# order NODE CONTROL: as a manager that says it is Master; status 0: accepted
order()
{
	at H-0001000000000020 sminfo -s 3 -p 5 "$(lid_of "$1")" "$2"
}

# says STATE: OpenSM's SMInfo, and what Weft lists of it
says()
{
	at H-0001000000000020 sminfo "$(lid_of $theirs)" | grep -q "sm guid 0x1000000000011, .* state . SMINFO_$1" &&
		sm_ask status | jq -e ".state == \"Master\" and any(.managers[]; .guid == \"0x0001000000000011\" and .state == \"$2\")"
}

# OpenSM in each state that is not Master: it rests and returns, refuses what does not fit, and Weft knows of it.
orders_opensm()
{
	until_true 30 says STANDBY Standby && order $theirs 3 && until_true 30 says NOTACT NotActive || return 1
	for control in 1 2 5; do
		! order $theirs $control || { echo "OpenSM accepted order $control when NotActive" && return 1; }
	done
	told=$(said 'Entering DISCOVERING')
	order $theirs 4 && until_true 30 says STANDBY Standby && order $theirs 5 && opensm_says 'Entering DISCOVERING' "$told" &&
		until_true 30 says STANDBY Standby && settled Master 1000000000015
}

# The tool does not know Weft's SM_Key: nothing that it orders is obeyed.
orders_weft()
{
	for control in 1 2 3 4 5 6; do
		! order $ours $control || { echo "Weft accepted order $control" && return 1; }
	done
	grep -q 'order_refused' sm.log && is Master
}

# sets: Sets that the fabric received since the meter was reset
sets()
{
	emu_ask meter | awk '$1 == "Set" { n += $3 } END { print n + 0 }'
}

sees()
{
	sm_ask status | jq -e ".state == \"NotActive\" and .observes and .subnet.switches == $1 and .phase == \"ready\"" > /dev/null
}

# The first sight of the subnet, a switch that went and came, a link; a switch may come in several steps, link by link.
told()
{
	sm_ask changes | jq -e '[.changes[].nodes[] | .event] == ["gone", "came"] and (.changes | length) >= 4 and
		(.changes | last | .links | length) == 1' > /dev/null
}

# Beside OpenSM it sees what OpenSM does. Without a master it stays what it is, and changes lead to no Set at all.
observes()
{
	sm_stop
	opensm_stop
	emu_start net && opensm_start || return 1
	"$weft" sm --observe --sweep 200ms --transport ibsim --device $ours --state "$dir/none.db" --control "$dir/ctl" > sm.log 2>&1 &
	sm_pid=$!
	until_true 30 sees 6 || { sm_ask status && cat sm.log && return 1; }
	sm_ask status | jq -e '.subnet.lids == 14 and any(.managers[]; .state == "Master")' > /dev/null || { sm_ask status && return 1; }
	kill -9 "$opensm_pid" && wait "$opensm_pid" 2> /dev/null
	opensm_pid=
	emu_ask 'meter reset' > /dev/null
	emu_ask 'off root0' > /dev/null && until_true 30 sees 5 && emu_ask 'on root0' > /dev/null && until_true 30 sees 6 &&
		emu_ask 'unlink "S-0002000000000001"[4]' > /dev/null && until_true 30 told && until_true 30 sees 6 ||
		{ sm_ask status && sm_ask changes && cat sm.log && return 1; }
	[ "$(sets)" = 0 ] && [ "$(emu_ask meter | awk '$1 == "Get" { n += $3 } END { print n + 0 }')" -gt 100 ] &&
		[ ! -e none.db ] || { emu_ask meter && return 1; }
}

ok "OpenSM brings the fabric up" first
ok "Weft of lower priority stands by" stands_by
ok "Weft takes over from an OpenSM that died; LIDs stay" takes_over
ok "an OpenSM of lower priority stands by" respected
ok "to one of higher priority Weft hands over" hands_over
ok "OpenSM is stopped, Weft takes over, OpenSM continues and is master again" opensm_pauses
ok "OpenSM hands over to a Weft of higher priority" gives_back
ok "Weft is stopped, OpenSM takes over, Weft continues and is master again" weft_pauses
ok "OpenSM obeys and refuses orders; Weft stays master and lists its states" orders_opensm
ok "Weft refuses every order without its SM_Key" orders_weft
ok "a Weft that observes sees changes and sends no Set, also without a master" observes
echo "1..$n"
