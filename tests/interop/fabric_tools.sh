#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Stock programs on `weft fabric`, judged by their output: fabric_tools.sh WEFT
#
# OpenSM manages a small fabric of mixed hardware; infiniband-diags read and change it through libumad2sim.
# Then functions of a server: many clients, M_Keys, UDP, end of input. Last, what libumad2sim cannot do with
# any server (it truncates packets above 256 bytes, and crashes at unexpected classes): with libweft-umad in
# its place.
#
# Covers: libc_wrap.c, preload_state.c, server_socket.c, sysfs_tree.c, umad_port.c

# shellcheck disable=SC2015 # `a && b || explain`
data=$(cd "$(dirname "$0")/../data" && pwd)
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "${data%/data}/interop/lib_fabric.sh"
need opensm ibnetdiscover iblinkinfo ibhosts ibswitches sminfo smpquery smpdump ibroute ibtracert ibportstate \
	perfquery ibqueryerrors ibping dump_lfts saquery jq
need_umad2sim

net=$data/two-leaves.net
umad2sim=$preload
umad=$(cd "$(dirname "$weft")/../preload" 2> /dev/null && pwd)/libweft-umad.so
leaf=S-b8599f0300000100

# says PATTERN COMMAND...: succeeds on the fabric and prints a line like this; ibqueryerrors counts
# bad nodes in its status
says()
{
	pattern=$1
	shift
	on_fabric "$@" > out 2> err || [ "$1" = ibqueryerrors ] || { cat out err && return 1; }
	grep -Eq -- "$pattern" out || { cat out && echo "expected: $pattern" && return 1; }
}

# lid_of NAME: as OpenSM gave it
lid_of()
{
	sed -n "/# \"$1\"/{s/.*lid \([0-9]*\) lmc.*/\1/p;n;s/^\[[0-9]*\].*# lid \([0-9]*\) lmc.*/\1/p}" seen | head -n 1
}

# ---- what is there ----

discovers()
{
	on_fabric ibnetdiscover > seen 2> err || { cat err && return 1; }
	"$weft" topo diff "$net" seen --json > changes
	jq -e '[.changes[] | select(.what | test("^LID 0 -> ") | not)] == []' changes > /dev/null ||
		{ cat changes && false; }
}

links_are_shown()
{
	on_fabric iblinkinfo -l > out 2> err || { cat err && return 1; }
	[ "$(grep -c 'Active/  LinkUp' out)" = 26 ] || { cat out && return 1; }
	for rate in '1X +2.5 Gbps.*node5 mthca0' '4X +25.78125 Gbps.*node1 mlx5_0' '4X +53.125 Gbps.*spine1' \
		'4X +10.0 Gbps.*old spine'; do
		grep -Eq "$rate" out || { cat out && echo "expected: $rate" && return 1; }
	done
}

hosts_are_listed()
{
	on_fabric ibhosts > out 2> err || { cat err && return 1; }
	[ "$(grep -c '^Ca' out)" = 6 ] && grep -q '0x0c42a10300000030 ports 2 "storage mlx5_0"' out ||
		{ cat out && false; }
}

switches_are_listed()
{
	on_fabric ibswitches > out 2> err || { cat err && return 1; }
	[ "$(grep -c '^Switch' out)" = 4 ] &&
		grep -q '0xb8599f0300000100 ports 40 "MF0;leaf1:MQM8700/U1" enhanced port 0' out &&
		grep -q '0x0008f10500000400 ports 24 "old spine" base port 0' out || { cat out && false; }
}

tables_are_dumped()
{
	on_fabric dump_lfts > lfts 2> err || { cat err && return 1; }
	"$weft" route verify "$net" lfts --json > verdict
	jq -e '.pairs > 0 and .unreachable == 0 and .loops == 0' verdict > /dev/null || { cat verdict && false; }
}

hosts_are_reached()
{
	for to in 'node2 mlx5_0' 'node4 mlx5_0' 'node5 mthca0' 'node6 mlx5_0'; do
		says "^To ca .* \"$to\"" ibtracert "$(lid_of 'node1 mlx5_0')" "$(lid_of "$to")" || return 1
	done
}

# ---- ports are changed ----

port_is()
{
	on_fabric ibportstate "$lid" 1 query > out 2> err
	grep -q "^LinkState:\.*$1" out
}

disable_and_enable()
{
	lid=$(lid_of 'MF0;leaf2:MQM8700.U1')
	on_fabric ibportstate "$lid" 1 disable > out 2>&1 || { cat out && return 1; }
	says '^PhysLinkState:\.*Disabled' ibportstate "$lid" 1 query || return 1
	emu_ask "Dump \"H-0c42a10300000040\"" | grep -q 'Down/Polling' || { emu_ask Dump && return 1; }
	on_fabric ibportstate "$lid" 1 enable > out 2>&1 || { cat out && return 1; }
	until_true 20 port_is Active || { cat out && return 1; } # OpenSM heard a trap
}

reset_port()
{
	on_fabric ibportstate "$lid" 1 reset > out 2>&1 || { cat out && return 1; }
	until_true 20 port_is Active || { cat out && return 1; }
	[ "$(sed -n 's/.*"H-0c42a10300000040"\[1\] //p' fabric.out | grep -c Down)" -ge 2 ] ||
		{ echo "the port never went down" && return 1; }
}

# Width and speed take effect when the link trains again.
change_rate()
{
	on_fabric ibportstate "$lid" 1 width 1 > out 2>&1 || { cat out && return 1; }
	on_fabric ibportstate "$lid" 1 speed 1 > out 2>&1 || { cat out && return 1; }
	on_fabric ibportstate "$lid" 1 espeed 30 > out 2>&1 || { cat out && return 1; }
	on_fabric ibportstate "$lid" 1 reset > out 2>&1 || { cat out && return 1; }
	until_true 20 port_is Active || { cat out && return 1; }
	says '^LinkWidthActive:\.*1X' ibportstate "$lid" 1 query && says '^LinkSpeedActive:\.*2.5 Gbps' ibportstate "$lid" 1 query
}

# ---- counters ----

counters_move()
{
	lid=$(lid_of 'MF0;leaf1:MQM8700.U1')
	on_fabric perfquery -x -R "$lid" 1 > out 2>&1 || { cat out && return 1; }
	emu_ask 'flow "node1 mlx5_0" "node4 mlx5_0" 5000 1024' | grep -q '5000 packets counted' || return 1
	# With the SMPs of however long it took.
	says '^PortRcvPkts:\.*5[0-9]{3}$' perfquery -x "$lid" 1 &&
		says '^PortRcvData:\.*1[23][0-9]{5}$' perfquery -x "$lid" 1
}

errors_are_found()
{
	says 'LinkDownedCounter == [1-9]' ibqueryerrors || return 1 # by what ibportstate did
	on_fabric ibqueryerrors -k > out 2>&1
	says 'Summary: 10 nodes checked, 0 bad nodes found' ibqueryerrors || return 1
	emu_ask "counter ${leaf}[1] SymbolErrorCounter 77" > /dev/null
	says 'SymbolErrorCounter == 77' ibqueryerrors && says '^SymbolErrorCounter:\.*77$' perfquery "$lid" 1 || return 1
	on_fabric ibqueryerrors -k > out 2>&1
	says 'Summary: 10 nodes checked, 0 bad nodes found' ibqueryerrors
}

counters_reset()
{
	emu_ask "counter ${leaf}[1] PortXmitDiscards 5" > /dev/null
	says '^PortXmitDiscards:\.*5$' perfquery "$lid" 1 || return 1
	on_fabric perfquery -R "$lid" 1 > out 2>&1 || { cat out && return 1; }
	says '^PortXmitDiscards:\.*0$' perfquery "$lid" 1
}

# refused_at_once COMMAND...: fails as with a device without the feature, and not by a time-out
refused_at_once()
{
	on_fabric "$@" > out 2>&1 && { cat out && return 1; }
	! grep -i 'timed out\|timeout' out
}

absent_features()
{
	own=$(lid_of 'node1 mlx5_0') # where a program runs as well as elsewhere
	for at in "$lid" "$own"; do
		for option in -E -X -D -T; do
			refused_at_once perfquery $option "$at" 1 || return 1
		done
		refused_at_once ibccquery CongestionInfo "$at" || return 1
		refused_at_once vendstat -N "$at" || return 1
	done
}

# ---- bad links ----

# ibsim's error rate for one attribute: PortInfo gets lost, NodeInfo does not.
attribute_is_lost()
{
	lid=$(lid_of 'node2 mlx5_0')
	emu_ask "Error ${leaf}[2] 100 21" > out
	[ ! -s out ] || { cat out && return 1; }
	says '^NodeType:' smpquery NI "$lid" || return 1
	on_fabric smpquery -t 100 PI "$lid" > out 2>&1 && { cat out && return 1; }
	emu_ask "Error ${leaf}[2] 0" > out
	says '^LinkState:\.*Active' smpquery PI "$lid"
}

# ---- programs that serve ----

pings()
{
	SIM_HOST=H-0c42a10300000060 LD_PRELOAD=$preload ibping -S > ping.out 2>&1 &
	ping_pid=$!
	sleep 0.5 # a server says nothing: it is one when it has been silent for a while
	at H-0c42a10300000020 ibping -c 3 "$(lid_of 'node6 mlx5_0')" > out 2>&1
	kill $ping_pid
	wait $ping_pid 2> /dev/null
	grep -q '3 packets transmitted, 3 received, 0% packet loss' out || { cat out ping.out && false; }
}

# A ping to a port without a ping server must not end a program.
ping_of_death()
{
	at H-0c42a10300000020 ibping -c 1 "$(lid_of 'node1 mlx5_0')" > out 2>&1
	grep -q '1 packets transmitted, 0 received' out && kill -0 "$opensm_pid" || { cat out && false; }
}

sa_answers()
{
	says 'NodeDescription\.*old spine' saquery NR "$(lid_of 'old spine')" &&
		says 'dlid\.*'"$(lid_of 'node4 mlx5_0')" saquery --src-to-dst "$(lid_of 'node1 mlx5_0'):$(lid_of 'node4 mlx5_0')" &&
		says "SMLid:\.*$(lid_of 'node1 mlx5_0')\$" saquery PIR "$(lid_of 'node4 mlx5_0')"
}

# More than ibsim's ten, all at once, each at a port.
many_clients()
{
	servers=
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		# shellcheck disable=SC2086 # the i-th word
		set -- 10 20 40 60
		shift $((i % 4))
		SIM_HOST=H-0c42a103000000$1 LD_PRELOAD=$preload ibping -S > /dev/null 2>&1 &
		servers="$servers $!"
	done
	until_true 20 sixteen || { emu_ask Attached && return 1; }
	says '"storage mlx5_0"' ibhosts
	rc=$?
	# shellcheck disable=SC2086 # a list
	kill $servers
	# shellcheck disable=SC2086
	wait $servers 2> /dev/null
	return $rc
}

sixteen()
{
	[ "$(figure clients)" -ge 17 ]
}

# ---- two masters, keys, other ways in ----

# The second SM finds the first one and stands by; when the first is gone it takes over.
second_sm()
{
	mkdir -p osm2
	SIM_HOST=H-0c42a10300000040 OSM_TMP_DIR=$dir/osm2 OSM_CACHE_DIR=$dir/osm2 LD_PRELOAD=$preload \
		opensm -e -f "$dir/osm2/log" -D 0x43 > osm2/said 2>&1 &
	second=$!
	until_true 20 grep -q 'Entering STANDBY' osm2/said
	rc=$?
	[ $rc = 0 ] || tail -n 3 osm2/said
	kill $second
	wait $second 2> /dev/null
	return $rc
}

with_m_key()
{
	opensm_stop
	opensm_start 'm_key 0x1234567890abcdef' 'm_key_protection_level 2' || return 1
	at H-0c42a10300000020 smpquery -D portinfo 0,1 1 > out 2>&1 && { cat out && return 1; }
	at H-0c42a10300000020 smpquery -y 0x1234567890abcdef -D portinfo 0,1 1 > out 2>&1 || { cat out && return 1; }
	[ "$(figure 'dropped m_key')" -ge 1 ] && until_true 10 grep -q '256' osm/log || { tail osm/log && false; }
}

over_udp()
{
	port=$((20000 + $$ % 20000))
	opensm_stop
	emu_start "$net" --udp $port || return 1
	IBSIM_SERVER_NAME=127.0.0.1 IBSIM_SERVER_PORT=$port opensm_once -R minhop || return 1
	(
		export IBSIM_SERVER_NAME=127.0.0.1 IBSIM_SERVER_PORT=$port
		says 'Active/  LinkUp' iblinkinfo -l
	) || return 1
	all_active 13
}

input_ends()
{
	fabric_stop
	export IBSIM_SOCKNAME=weft-emu-$$-end
	echo 'Unlink "node6 mlx5_0"[1]' > few
	"$weft" fabric "$net" --no-control < few > fabric.out 2>&1 &
	ibsim_pid=$!
	until_true 20 listening && says '"old spine"' ibswitches || return 1
	on_fabric ibhosts 2> /dev/null | grep -c . | grep -qx 5 || { on_fabric ibhosts && return 1; }
	used=$(awk '{print $14 + $15}' /proc/$ibsim_pid/stat)
	sleep 0.5
	[ $(($(awk '{print $14 + $15}' /proc/$ibsim_pid/stat) - used)) -le 5 ] || { echo "it never sleeps" && return 1; }
	kill $ibsim_pid
	wait $ibsim_pid
	rc=$?
	ibsim_pid=
	[ $rc = 0 ] || { cat fabric.out && echo "status $rc" && false; }
}

# ---- with libweft-umad ----

with_own_library()
{
	mkdir -p tmp
	export TMPDIR="$dir/tmp"
	emu_start "$net" && opensm_start && all_active 13
}

# whole_list N WORD COMMAND...: so many records
whole_list()
{
	want=$1
	word=$2
	shift 2
	on_fabric "$@" > out 2> err || { cat err && return 1; }
	[ "$(grep -c "$word" out)" = "$want" ] || { grep -c "$word" out && echo "expected $want" && false; }
}

times_out()
{
	on_fabric smpquery -t 100 -D NI 0,1,40 > out 2> err && { cat out && return 1; }
	grep -qi 'timed out\|failed' err || { cat err && false; }
}

diagnosed()
{
	mkdir -p diag
	# ibdiagnet 1.5.7 sometimes crashes when all is done.
	on_fabric ibdiagnet -o diag > out 2>&1 || grep -q '^-I- Done' out || { cat out && return 1; }
	grep -q '10 nodes (4 Switches & 6 CA-s) discovered' out && ! grep -q '^-E-' out || { cat out && false; }
}

ping_attached()
{
	emu_ask Attached | grep -qw "$ping_pid"
}

# Who is killed leaves a directory, which the next one removes; and only that.
nothing_left()
{
	LD_PRELOAD=$preload ibping -S > ping.out 2>&1 &
	ping_pid=$!
	until_true 20 ping_attached || { cat ping.out && return 1; }
	kill -9 $ping_pid
	wait $ping_pid 2> /dev/null
	[ "$(find tmp -name "weft-umad-*" | wc -l)" = 2 ] || { ls tmp && return 1; }
	says Active ibstat || return 1
	[ "$(find tmp -name "weft-umad-*" | wc -l)" = 1 ] || { ls tmp && return 1; }
	opensm_stop
	ls tmp > out
	[ ! -s out ] || { cat out && false; }
}

ok "weft fabric starts" emu_start "$net"
# By default OpenSM enables all speeds again.
ok "OpenSM comes up" opensm_start 'force_link_speed 0' 'force_link_speed_ext 0'
ok "every linked port is Active" all_active 13
ok "ibnetdiscover finds the netlist" discovers
ok "iblinkinfo shows every link with its rate" links_are_shown
ok "ibhosts lists the hosts" hosts_are_listed
ok "ibswitches lists the switches" switches_are_listed
ok "sminfo finds the master" says 'sm guid 0xc42a10300000011, .* state 3 SMINFO_MASTER' sminfo
leaf_lid=$(lid_of 'MF0;leaf1:MQM8700.U1')
ok "smpquery NodeInfo" says '^DevId:\.*0xd2f0' smpquery NI "$leaf_lid"
ok "smpquery NodeDesc" says 'Description:\.*MF0;leaf1:MQM8700/U1' smpquery ND "$leaf_lid"
ok "smpquery PortInfo" says '^LinkSpeedExtActive:\.*25.78125 Gbps' smpquery PI "$leaf_lid" 1
ok "smpquery PortInfoExtended" says '^CapMask:\.*0x' smpquery PIE "$leaf_lid" 1
ok "smpquery SwitchInfo" says '^LinearFdbTop:\.*11' smpquery SI "$leaf_lid"
ok "smpquery PKeyTable" says '0: 0xffff' smpquery PKeys "$leaf_lid" 1
ok "smpquery SL2VLTable" says 'in  3, out  1:' smpquery SL2VL "$leaf_lid" 1
ok "smpquery VLArbitration" says 'LowCap 64 HighCap 64' smpquery VLArb "$leaf_lid" 1
ok "smpquery GUIDInfo" says '0: 0xb8599f0300000100' smpquery GI "$leaf_lid"
ok "smpquery GUIDInfo of a host" says '0: 0x0c42a10300000011' smpquery GI "$(lid_of 'node1 mlx5_0')"
ok "smpquery MlnxExtPortInfo" says '^LinkSpeedActive:\.*0x00' smpquery MEPI "$leaf_lid" 1
ok "smpquery shows keys" says '^Mkey:\.*0x0000000000000000' smpquery -K PI "$leaf_lid" 1
ok "smpquery along a combined route" says 'Description:\.*node2 mlx5_0' smpquery -c ND "$leaf_lid" 0,2
ok "smpquery along a directed route" says '^Guid:\.*0x0c42a10300000020' smpquery -D NI 0,1,2
ok "smpquery by GUID, through the SA" says '^DevId:\.*0x5a5a' smpquery -G NI 0x0008f10500000400
ok "smpdump shows bytes" says '^0102? ?0228|^0101 0228' smpdump "$leaf_lid" 0x11
ok "ibroute shows a table" says "'node6 mlx5_0'" ibroute "$leaf_lid"
ok "ibroute shows multicast" says 'Multicast mlids \[0xc000-0xc3ff\]' ibroute -M "$leaf_lid"
ok "ibtracert finds every host" hosts_are_reached
ok "dump_lfts: the tables lead everywhere" tables_are_dumped
ok "ibportstate disable and enable" disable_and_enable
ok "ibportstate reset" reset_port
ok "ibportstate width and speed" change_rate
ok "perfquery -x sees packets" counters_move
ok "ibqueryerrors finds errors and clears them" errors_are_found
ok "perfquery -R resets" counters_reset
ok "features that devices do not have are refused at once" absent_features
ok "Error loses MADs of one attribute" attribute_is_lost
ok "ibping is answered by its server" pings
ok "ibping to an SM does no harm" ping_of_death
ok "saquery asks the SA" sa_answers
ok "more than ten clients" many_clients
ok "a second OpenSM stands by" second_sm
ok "M_Keys guard the nodes" with_m_key
ok "clients over UDP" over_udp
ok "the end of input is not the end; SIGTERM is" input_ends
if [ -e "$umad" ]; then
	preload=$umad
	ok "libweft-umad: OpenSM comes up" with_own_library
	ok "libweft-umad: saquery lists all nodes" whole_list 11 NodeDescription saquery NR
	ok "libweft-umad: saquery lists all ports" whole_list 155 EndPortLid saquery PIR
	ok "libweft-umad: saquery lists all paths" whole_list 121 dlid saquery PR
	on_fabric ibnetdiscover > seen
	ok "libweft-umad: ibping is answered by its server" pings
	ok "libweft-umad: ibping to an SM does no harm" ping_of_death
	ok "libweft-umad: what is not answered times out" times_out
	if command -v ibdiagnet > /dev/null; then
		ok "libweft-umad: ibdiagnet finds nothing wrong" diagnosed
	else
		skip "libweft-umad: ibdiagnet finds nothing wrong" "ibdiagnet is not installed"
	fi
	ok "libweft-umad: it leaves nothing behind" nothing_left
	preload=$umad2sim
else
	skip "libweft-umad" "it is not beside $weft"
fi
echo "1..$n"
