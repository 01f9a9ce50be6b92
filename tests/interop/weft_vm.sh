#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Virtual machines of `weft sm` on `weft fabric`, seen by stock programs: weft_vm.sh WEFT [KILLS]
#
# VMs start, migrate and stop; smpquery, ibtracert and ibping see each at its LID. A running ibping survives migrations. The
# manager is killed in the middle of batches, and a second manager takes over: each VM keeps vGUID and LID and is at one
# place. Last, OpenSM on the same fabric, where a VM is moved by hand: SMPs and time of its sweep beside those of a migration.
#
# Covers: daemon_orders.c, session.c, cmd_vms.c, vm_requests_file.c, vm_show.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
kills=${2:-6}
tests=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$tests/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$tests/lib_fabric.sh"
need opensm smpquery ibtracert ibping ibstat jq
need_umad2sim
umad=$(cd "$(dirname "$weft")/../preload" 2> /dev/null && pwd)/libweft-umad.so
[ -e "$umad" ] || { echo "1..0 # SKIP libweft-umad is not built" && exit 0; }
preload=$umad # libumad2sim's clients do not follow a machine that moves
second_pid=
server_pid=
trap 'served; second_stop; sm_stop; opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT

vm()
{
	"$weft" vm "$@" --socket "$dir/ctl"
}

vm_field()
{
	vm list --json | jq -r --arg vm "$1" ".vms[] | select(.vm == \$vm) | $2"
}

second_stop()
{
	[ -n "$second_pid" ] || return 0
	kill "$second_pid" 2> /dev/null
	wait "$second_pid" 2> /dev/null
	second_pid=
}

# The manager's host has no SR-IOV, all others have two VFs.
comes_up()
{
	"$weft" topo gen mtree 4 2 --vfs 2 | sed '0,/^sriov=/{/^sriov=/d}' > net || return 1
	emu_start net || return 1
	sm_start --priority 5 --state "$dir/state.db" || return 1
	vm hosts --json > hosts
	[ "$(jq '.hosts | length' hosts)" = 7 ] && jq -e 'all(.hosts[]; .vfs == 2 and .used == 0)' hosts || { cat hosts sm.log && false; }
}

starts()
{
	printf 'create web\nstart web "host 1"\ncreate db 0x0200000000000077\nstart db "host 2:2"\n' | vm batch - > out || { cat out && return 1; }
	lid=$(vm_field web .lid)
	guid=$(vm_field web .guid)
	[ "$lid" -gt 0 ] && [ "$(vm_field db .guid)" = 0x0200000000000077 ] || { vm list && false; }
}

# is_at HOST VF: stock programs find the VM web there, from the manager's host and from another VM
is_at()
{
	on_fabric smpquery ND "$lid" > out 2>&1 && grep -q "host $1 VF$2\$" out || { cat out && return 1; }
	on_fabric smpquery PI "$lid" 1 > out 2>&1 && grep -q 'LinkState:\.*Active' out || { cat out && return 1; }
	from=$(vm_field db .lid)
	on_fabric ibtracert "$from" "$lid" > out 2>&1 && grep -q "^To ca .*\"host $1 VF$2\"" out || { cat out && return 1; }
	[ "$(vm_field web .guid)" = "$guid" ] && [ "$(vm_field web .lid)" = "$lid" ] || { vm list && false; }
}

migrates()
{
	vm migrate web 'host 6:2' --json > out || { cat out && return 1; }
	jq -e --argjson lid "$lid" '.ok and .lid_before == $lid and .lid_after == $lid and .smps.hypervisors == 2 and .smps.tables > 0 and
		.smps.total == .smps.hypervisors + .smps.tables and .from.name == "host 1" and .to.name == "host 6" and .to.vf == 2' out ||
		{ cat out && return 1; }
	is_at 6 2
}

# Hosts 6 and 7 have one leaf switch: one SMP for the tables.
migrates_inside_a_leaf()
{
	vm migrate web 'host 7' --json > out && jq -e '.smps.tables == 1 and .switches_touched == 1' out || { cat out && return 1; }
	is_at 7 1
}

# ---- a running ibping ----

# An ibping server in the VM: started again where it ended before it was connected.
serve()
{
	for _ in 1 2 3 4 5 6 7 8; do
		(
			SIM_HOST=$1
			LD_PRELOAD=$preload exec ibping -S
		) > server 2>&1 &
		server_pid=$!
		until_true 5 eval 'emu_ask attached | grep -q "pid $server_pid "' && kill -0 $server_pid 2> /dev/null &&
			pings_come_back "$2" && return
		served
	done
	cat server out
	return 1
}

served()
{
	[ -n "$server_pid" ] || return 0
	kill "$server_pid" 2> /dev/null
	wait "$server_pid" 2> /dev/null
	server_pid=
}

# pings_come_back FROM: ibping does not repeat what is lost, and waits 2 s: where the machine is busy or the server is not ready
# yet, one more is sent.
pings_come_back()
{
	for _ in 1 2 3; do
		at "$1" timeout 10 ibping -c 1 "$lid" > out 2>&1 && grep -q ' 1 received' out && return
	done
	return 1
}

# ibping sends one a second; as many as it sends come back, but for those on the way while the VM is nowhere. Before and after
# that nothing is on the way.
ping_survives()
{
	serve "$guid" 'host 3' || return 1
	at 'host 3' ibping -c 10 "$lid" > pings 2>&1 &
	pinging=$!
	for host in 2 4 1 5; do
		sleep 1.7
		vm migrate web "host $host" > out 2>&1 || { cat out && return 1; }
	done
	wait $pinging
	pings_come_back 'host 3' || { cat out pings server; kill -0 $server_pid || echo "the server has ended"; emu_ask attached; emu_ask 'vm list'; return 1; }
	served
	is_at 5 1 || return 1
	received=$(sed -n 's/.* \([0-9]*\) received.*/\1/p' pings)
	[ "${received:-0}" -ge 8 ] || { cat pings && return 1; }
	grep -q '^10 packets transmitted\|[^0-9]10 packets transmitted' pings || { cat pings && false; }
}

# ---- kill -9 ----

moment()
{
	awk -v n="$1" 'BEGIN { srand(n); printf "0.%03d", rand() * 400 }'
}

# Eight VMs, and a batch that moves them about.
many_vms()
{
	for i in 1 2 3 4 5; do
		echo "create k$i" && echo "start k$i \"host $((i + 1))\""
	done > start
	vm batch start > out || { cat out && return 1; }
	awk 'BEGIN { srand(7); for (i = 0; i < 150; i++) for (k = 1; k <= 5; k++)
		printf "migrate k%d \"host %d\"\n", k, 1 + int(rand() * 7) }' > moves
	vm list --json | jq -c '[.vms[] | {vm, guid, lid}]' > before
}

manager_up()
{
	tries=0
	until sm_start --priority 5 --state "$dir/state.db" && sm_ask wait > rest; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || { cat sm.log && return 1; }
		sm_stop
		sleep 0.1
	done
}

# Each VM runs at one place, with the LID and vGUID that it had; devices say the same.
all_there()
{
	vm list --json > now
	jq -c '[.vms[] | {vm, guid, lid}]' now | cmp - before || { cat before now && return 1; }
	jq -e 'all(.vms[]; .running) and ([.vms[] | [.host.guid, .host.vf]] | unique | length) == (.vms | length)' now ||
		{ cat now && return 1; }
	jq -r '.vms[] | "\(.lid) \(.host.name) VF\(.host.vf)"' now > places
	while read -r l place; do
		on_fabric smpquery ND "$l" > out 2>&1 && grep -q "$place\$" out || { cat out && echo "expected $place at LID $l" && return 1; }
	done < places
}

killed()
{
	i=0
	while [ $i -lt "$kills" ]; do
		i=$((i + 1))
		vm batch moves > moved 2>&1 &
		moving=$!
		sleep "$(moment $i)"
		kill -9 "$sm_pid" && wait "$sm_pid"
		sm_pid=
		wait $moving
		manager_up && all_there || { echo "after kill $i" && return 1; }
	done 2> /dev/null # the shell tells of each killed child
	vm batch moves > moved 2>&1
	all_there
}

# ---- a second manager ----

second_vm()
{
	"$weft" vm "$@" --socket "$dir/ctl2"
}

taken_over()
{
	(
		SIM_HOST='leaf3'
		exec "$weft" sm --transport ibsim --state '' --control "$dir/ctl2" --priority 1 > sm2.log 2>&1
	) &
	second_pid=$!
	until_true 30 eval '"$weft" ctl --socket ctl2 --json status 2>&1 | jq -e ".mirror.complete"' ||
		{ cat sm2.log && "$weft" ctl --socket ctl2 status && return 1; }
	second_vm migrate web 'host 3' > out 2>&1 && return 1
	grep -q 'not the master' out || { cat out && return 1; }
	awk 'BEGIN { for (k = 1; k <= 5; k++) printf "migrate k%d \"host %d\"\n", k, 1 + (k + 2) % 7 }' > once
	vm batch once > moved 2>&1 & # each VM once: the copy has the places that they leave
	moving=$!
	sleep 0.02
	kill -9 "$sm_pid" && wait "$sm_pid" 2> /dev/null
	wait $moving
	sm_pid=
	until_true 60 eval '"$weft" ctl --socket ctl2 --json status | jq -e ".state == \"Master\" and .phase == \"ready\""' ||
		{ cat sm2.log && return 1; }
	"$weft" ctl --socket ctl2 wait > rest 2>&1 || { cat rest && return 1; }
	mv ctl2 ctl
	all_there || return 1
	vm migrate web 'host 3:2' > out 2>&1 || vm migrate web 'host 3:1' > out 2>&1 || { cat out && return 1; }
	vm list --json | jq -e '.vms[] | select(.vm == "web") | .host.name == "host 3"'
}

stops()
{
	vm stop web > out 2>&1 && vm destroy web > out 2>&1 || { cat out && return 1; }
	! on_fabric smpquery -t 200 ND "$lid" > out 2>&1 || { cat out && return 1; }
	[ -z "$(vm_field web .vm)" ]
}

# ---- OpenSM ----

# swept SWEEPS: OpenSM said so often that the subnet is up
swept()
{
	[ "$(grep -c 'SUBNET UP' osm/log)" -ge "$1" ]
}

# It has no VMs: a VM that moves is a port elsewhere, which it finds when it sweeps and routes the whole subnet. The first sweep
# takes its GUID for a duplicate and removes the port, the second one finds it.
opensm_beside()
{
	second_stop
	opensm_start || return 1
	until_true 20 eval 'said=$(wc -c < osm/log); sleep 1; [ "$said" = "$(wc -c < osm/log)" ]' # it sweeps more than once
	emu_ask 'vm list' > places
	lid=$(sed -n 's/.* lid \([0-9]*\) guid 0x0200000000000077 .*/\1/p' places)
	from=$(sed -n 's/^\("[^"]*" [0-9]*\) .* guid 0x0200000000000077 .*/\1/p' places)
	free=$(for i in 1 2 3 4 5 6; do printf '"host %s" 1\n"host %s" 2\n' $i $i; done | while read -r to; do grep -q "^$to " places || echo "$to"; done | head -n 1)
	emu_ask "vm detach $from" > out
	emu_ask "vm attach $free $lid 0x0200000000000077" >> out
	[ ! -s out ] || { cat out && return 1; }
	emu_ask 'meter reset' > out
	ups=$(grep -c 'SUBNET UP' osm/log)
	began=$(date +%s%N)
	for i in 1 2; do
		kill -HUP "$opensm_pid"
		until_true 30 swept $((ups + i)) || { tail -n 5 osm/log && return 1; }
	done
	took=$((($(date +%s%N) - began) / 1000000))
	heavy=$(emu_ask meter | awk '$1 != "since_us" { n += $3 } END { print n + 0 }')
	on_fabric ibtracert "$(lid_at 'host 3')" "$lid" > out 2>&1 && grep -q "^To ca .*$(echo "$free" | sed 's/" \(.\)$/ VF\1"/')" out || { cat out && return 1; }
	opensm_stop
	smps=$(jq .smps.total migration)
	echo "# a migration: $(jq '.time_s * 1000' migration) ms, $smps SMPs; OpenSM on the same fabric: $took ms, $heavy SMPs" > beside
	[ "$heavy" -gt "$smps" ]
}

# lid_at NODE: as a program there sees it
lid_at()
{
	at "$1" ibstat 2> /dev/null | sed -n 's/.*Base lid: *//p'
}

figures()
{
	vm migrate db 'host 7' --json > migration 2> out || vm migrate db 'host 6' --json > migration 2> out || { cat out && return 1; }
	jq -e '.ok and .time_s > 0' migration
}

ok "hypervisors are found" comes_up
ok "VMs start" starts
ok "stock programs find a VM" is_at 1 1
ok "a VM migrates and keeps LID and vGUID" migrates
ok "inside one leaf switch one SMP changes the tables" migrates_inside_a_leaf
ok "a running ibping survives migrations" ping_survives
ok "more VMs" many_vms
ok "$kills times killed in the middle: each VM before or after" killed
ok "a standby takes over with all VMs" taken_over
ok "figures of a migration" figures
ok "a VM stops" stops
ok "OpenSM on the same fabric" opensm_beside
cat beside 2> /dev/null
echo "1..$n"
