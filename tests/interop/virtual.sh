#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# HCAs with virtual functions on `weft fabric`, seen by stock programs: virtual.sh WEFT
#
# OpenSM brings a fat tree up whose hosts have two VFs each in vSwitch mode; infiniband-diags find every function.
# Then machines move by hand, and a running ibping goes on. Weft at a PF, and OpenSM beside it. Last, an HCA whose VFs share
# its port.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
tests=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$tests/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$tests/lib_fabric.sh"
need opensm ibnetdiscover smpquery ibtracert ibping ibstat
need_umad2sim
umad=$(cd "$(dirname "$weft")/../preload" 2> /dev/null && pwd)/libweft-umad.so
trap 'sm_stop; opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT

# lid_at NODE: as a program there sees it
lid_at()
{
	at "$1" ibstat 2> /dev/null | sed -n 's/.*Base lid: *//p'
}

up_by_opensm()
{
	"$weft" topo gen mtree 4 2 --vfs 2 -o v.net || return 1
	emu_start v.net || return 1
	SIM_HOST='host 0'
	opensm_start || return 1
	until_true 20 all_active 40 || { all_active 40 && false; } # 16 cables, 24 inside HCAs
}

functions_are_discovered()
{
	discover seen || return 1
	[ "$(grep -c '^Switch' seen)" = 14 ] && [ "$(grep -c '^Ca' seen)" = 24 ] &&
		grep -q '# "host 3 VF2" lid [1-9]' seen && grep -q '^devid=0x7653' seen &&
		grep -q '^devid=0x7646' seen || { cat seen && false; }
}

# Every LID is unique, that of a PF is not that of its vSwitch.
lids_are_unique()
{
	sed -n 's/^Switch.* lid \([0-9]*\) lmc.*/\1/p; s/^\[1\].*# lid \([0-9]*\) lmc.*/\1/p' seen | sort > all
	[ "$(wc -l < all)" = 38 ] && [ -z "$(uniq -d all)" ] && ! grep -qx 0 all || { cat all seen && false; }
}

vf_is_queried()
{
	vf=$(lid_at 'host 5 VF1')
	on_fabric smpquery NI "$vf" > out 2>&1 && grep -q 'NodeType:\.*Channel Adapter' out || { cat out && return 1; }
	on_fabric smpquery ND "$vf" > out 2>&1 && grep -q 'host 5 VF1' out || { cat out && return 1; }
	at 'host 5 VF1' smpquery -D PI 0 > out 2>&1 && grep -q "^Lid:\.*$vf$" out || { cat out && return 1; }
}

routes_end_at_vfs()
{
	from=$(lid_at 'host 1') && to=$(lid_at 'host 6 VF2') || return 1
	on_fabric ibtracert "$from" "$to" > out 2>&1 && grep -q '^To ca .*"host 6 VF2"' out || { cat out && return 1; }
	# between functions of one host the vSwitch alone
	from=$(lid_at 'host 6 VF1')
	on_fabric ibtracert "$from" "$to" > out 2>&1 && [ "$(grep -c switch out)" = 1 ] || { cat out && false; }
}

# serve PLACE: ibping's server there, as pid $server_pid
serve()
{
	(
		SIM_HOST=$1
		LD_PRELOAD=$preload exec ibping -S
	) > server 2>&1 &
	server_pid=$!
	until_true 10 eval 'emu_ask attached | grep -q "pid $server_pid "' && sleep 0.3
}

served()
{
	kill "$server_pid"
	wait "$server_pid"
	true
} 2> /dev/null

pings()
{
	serve 'host 4 VF1' || return 1
	at 'host 2 VF2' ibping -c 3 "$(lid_at 'host 4 VF1')" > out 2>&1
	served
	grep -q '3 packets transmitted, 3 received' out || { cat out && false; }
}

# OpenSM is gone: nobody repairs what is set by hand.
machine_is_attached()
{
	opensm_stop
	emu_ask "vm attach \"host 0\" 1 $(lid_at 'host 0 VF1') 0xabc" > said_by_vm
	emu_ask 'vm detach "host 7" 2' >> said_by_vm
	[ ! -s said_by_vm ] || { cat said_by_vm && return 1; }
	emu_ask 'vm list' > out
	[ "$(wc -l < out)" = 15 ] && grep -q '^"host 0" 1 lid [0-9]* guid 0x0000000000000abc Active' out || { cat out && return 1; }
	at 0xabc ibstat > out 2>&1 && grep -q 'State: Active' out || { cat out && false; }
}

# A client pings the machine all the time; so does one in the machine ping the outside.
ping_goes_on()
{
	lid=$(lid_at 'host 0 VF1')
	serve 0xabc || return 1
	at 'host 3' ibping -c 12 "$lid" > out 2>&1 &
	ping=$!
	sleep 1.5
	emu_ask 'vm move "host 0" 1 "host 7" 2' > moved
	sleep 2
	emu_ask 'vm move "host 7" 2 "host 6" 1' > full
	emu_ask 'vm detach "host 6" 1' >> full
	emu_ask 'vm move "host 7" 2 "host 6" 1' >> moved
	wait $ping
	served
	grep -q 'another machine is in slot 1' full || { cat full && return 1; }
	[ "$(grep -c "^LID $lid moved: 2 SMPs to HCAs" moved)" = 2 ] || { cat moved && return 1; }
	grep -q '12 packets transmitted, 1[12] received' out || { cat out && false; }
}

# Its own view: the same LID and GUID elsewhere.
machine_keeps_its_addresses()
{
	[ "$(lid_at 0xabc)" = "$lid" ] && [ "$(lid_at 'host 6 VF1')" = "$lid" ] || { lid_at 0xabc && return 1; }
	on_fabric ibtracert "$(lid_at 'host 3')" "$lid" > out 2>&1 && grep -q '^To ca .*"host 6 VF1"' out ||
		{ cat out && false; }
}

bad_commands_are_refused()
{
	emu_ask 'vm attach "leaf0" 1 500' > out
	emu_ask 'vm attach "host 0" 3 500' >> out
	emu_ask 'vm attach "host 0" 1 49152' >> out
	emu_ask 'unlink "host 0 VF1"' >> out
	grep -q 'expected an HCA in vSwitch mode' out && grep -q 'expected a slot from 1 to 2' out &&
		grep -q 'expected a LID up to 49151' out && grep -q 'a link inside the HCA' out || { cat out && false; }
}

shared_port()
{
	"$weft" topo gen mtree 4 2 --vfs 9 --sriov shared -o s.net || return 1
	emu_start s.net || return 1
	SIM_HOST='host 0'
	opensm_start || return 1
	discover seen || return 1
	opensm_stop
	[ "$(grep -c '^Ca' seen)" = 8 ] && grep -q '^devid=0x7350' seen || { cat seen && return 1; }
	on_fabric smpquery PI "$(lid_at 'host 5')" 1 > out 2>&1 && grep -q 'GuidCap:\.*10' out || { cat out && return 1; }
	on_fabric smpquery GI "$(lid_at 'host 5')" > out 2>&1 && grep -q '0x02' out || { cat out && false; }
}

# Weft at a PF: programs of hosts find each other by the GUIDs that they see at their own ports.
gids_of_pfs()
{
	emu_start v.net && SIM_HOST='host 1' && sm_start --priority 9 || return 1
	port=$(at 'host 5' ibstat 2> /dev/null | sed -n 's/.*Port GUID: *//p')
	at 'host 3' smpquery -G NI "$port" > out 2>&1 && grep -q "Lid $(lid_at 'host 5')\$" out || { cat out && false; }
}

# OpenSM takes it for what it is: SMInfo names the port that OpenSM found it at.
opensm_stands_by()
{
	rm -rf osm
	mkdir osm
	SIM_HOST='host 0' OSM_TMP_DIR=$dir/osm OSM_CACHE_DIR=$dir/osm LD_PRELOAD=$preload \
		opensm -e -f "$dir/osm/log" -p 1 > osm/said 2>&1 &
	opensm_pid=$!
	until_true 30 grep -q 'Entering STANDBY' osm/said osm/log || { tail -n 5 osm/log osm/said && return 1; }
	opensm_stop
	sm_stop
}

ok "OpenSM brings it up with all VFs" up_by_opensm
ok "ibnetdiscover finds every function" functions_are_discovered
ok "every function has a LID of its own" lids_are_unique
ok "smpquery at a VF" vf_is_queried
ok "ibtracert to a VF" routes_end_at_vfs
ok "ibping between VFs" pings
if [ -e "$umad" ]; then
	preload=$umad
	ok "a machine is attached by hand" machine_is_attached
	ok "a running ibping goes on while the machine moves" ping_goes_on
	ok "the machine keeps LID and GUID" machine_keeps_its_addresses
else
	skip "machines move" "libweft-umad is not beside $weft"
fi
ok "vm refuses what is wrong" bad_commands_are_refused
ok "hosts find PFs by their GUIDs" gids_of_pfs
ok "OpenSM stands by for a manager at a PF" opensm_stands_by
ok "VFs that share a port have GUIDs" shared_port
echo "1..$n"
