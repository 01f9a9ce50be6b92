#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Partitions and records of virtual machines, seen by stock programs: vm_partitions.sh WEFT
#
# Three machines of two tenants start on hypervisors of `weft fabric`. smpquery reads the P_Key tables of their functions and of the
# switches in front of them; saquery gets the same from subnet administration, with the records of the functions and, at the
# machines themselves, paths within their partitions. All of it is the same after a migration, after kill -9 of the manager,
# and when another manager takes over.

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
tests=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$tests/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$tests/lib_fabric.sh"
need smpquery saquery jq
umad=$(cd "$(dirname "$weft")/../preload" 2> /dev/null && pwd)/libweft-umad.so
[ -e "$umad" ] || { echo "1..0 # SKIP libweft-umad is not built" && exit 0; }
preload=$umad # libumad2sim's clients do not follow a machine that moves
trap 'second_stop; sm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT

vm()
{
	"$weft" vm "$@" --socket "$dir/ctl"
}

lid_of()
{
	vm list --json | jq -r --arg vm "$1" '.vms[] | select(.vm == $vm) | .lid'
}

gid_of()
{
	echo "fe80::200:0:0:$1"
}

# The manager's host has no SR-IOV, all others have two VFs.
comes_up()
{
	"$weft" topo gen mtree 4 2 --vfs 2 | sed '0,/^sriov=/{/^sriov=/d}' > net || return 1
	cat > partitions.conf << 'END'
Default=0x7fff, ipoib : ALL=limited, SELF=full ;
red=0x20, ipoib : 0x0200000000000077=full, 0x0200000000000078=limited ;
blue=0x21 : 0x0200000000000079=full ;
END
	emu_start net -q || return 1
	sm_start --priority 5 --state "$dir/state.db" --partitions-file partitions.conf || return 1
	printf 'create a 0x0200000000000077\ncreate b 0x0200000000000078\ncreate c 0x0200000000000079\nstart a "host 1"\nstart b "host 2"\nstart c "host 2:2"\n' > start
	vm batch start > out || { cat out && return 1; }
}

# keys LID PORT: as the device has them, in order
keys()
{
	on_fabric smpquery pkeys "$1" "$2" | grep '^ *[0-9]*:' | sed 's/^[^:]*://' | tr -s ' \n' ' ' | sed 's/\( 0x0000\)* *$//'
}

# The port of the switch in front of a host: LID and number.
before_host()
{
	sm_ask ports | jq -r --arg host "$1" '.ports[] | select(.peer.name == $host) | "\(.lid) \(.port)"'
}

# devices_hold HOST OTHER: the keys of machine a are at this host and its switch, and not at the other one
devices_hold()
{
	[ "$(keys "$(lid_of a)" 1)" = ' 0x7fff 0x8020' ] && [ "$(keys "$(lid_of b)" 1)" = ' 0x7fff 0x0020' ] &&
		[ "$(keys "$(lid_of c)" 1)" = ' 0x7fff 0x8021' ] || { keys "$(lid_of a)" 1 && keys "$(lid_of b)" 1 && keys "$(lid_of c)" 1 && return 1; }
	# shellcheck disable=SC2046 # two words
	keys $(before_host "$1") | grep -q 0x8020 || { before_host "$1" && return 1; }
	# shellcheck disable=SC2046
	! keys $(before_host "$2") | grep -q 0x8020 || { echo "$2 still has the key" && return 1; }
	hca=$(sm_ask ports | jq -r --arg host "$2" '.ports[] | select(.name == $host) | .lid')
	! keys "$hca" 3 | grep -q 0x8020 || { echo "VF 1 of $2 still has the key" && return 1; }
}

# records HOST VF: what saquery says of machine a
records()
{
	lid=$(lid_of a)
	on_fabric saquery --smkey 1 NR "$lid" > out 2>&1 || { cat out && return 1; }
	grep -q "NodeDescription\.*host $1 VF$2\$" out && grep -q '^[^a-zA-Z]*port_guid\.*0x0200000000000077' out || { cat out && return 1; }
	on_fabric saquery --smkey 1 PIR "$lid/1" > out 2>&1 && grep -q "LinkState:\.*Active" out && grep -q "Lid:\.*$lid\$" out || { cat out && return 1; }
	on_fabric saquery --smkey 1 PKTR "$lid/1/0" > out 2>&1 && grep -q '0x7FFF 0x8020\|0x7fff 0x8020' out || { cat out && return 1; }
	at 0x0200000000000079 saquery NR > out 2>&1 && [ "$(grep -c 'NodeDescription.* VF' out)" = 1 ] || { cat out && return 1; }
	on_fabric saquery --smkey 1 NR > out 2>&1 && [ "$(grep -c 'NodeDescription.* VF' out)" = 3 ] || { cat out && return 1; }
}

# between FROM TO: a path between machines, as the first one gets it
between()
{
	at "0x02000000000000$1" saquery PR --sgid "$(gid_of "$1")" --dgid "$(gid_of "$2")" > out 2>&1 < /dev/null
}

# Red machines have paths to each other, the blue one has none to them, though it is on the host of one.
paths()
{
	between 77 78 && grep -q "dlid\.*$(lid_of b)\$" out && grep -q 'pkey\.*0x8020' out || { cat out && return 1; }
	between 78 77 && grep -q "dlid\.*$(lid_of a)\$" out && grep -q 'pkey\.*0x20' out || { cat out && return 1; }
	between 79 78
	! grep -q dlid out || { cat out && return 1; }
	"$weft" ctl --socket "$dir/ctl" paths a b > out && grep -q 0x8020 out || { cat out && return 1; }
	"$weft" ctl --socket "$dir/ctl" partitions > out && grep -q '^0x0020 .*[ ,]a=full' out && grep -q '^0x0020 .*[ ,]b=limited' out || { cat out && return 1; }
}

migrates()
{
	vm migrate a 'host 6' --json > out && jq -e '.ok' out || { cat out && return 1; }
	devices_hold 'host 6' 'host 1' && records 6 1 && paths
}

restarts()
{
	kill -9 "$sm_pid" && wait "$sm_pid"
	sm_pid=
	sm_start --priority 5 --state "$dir/state.db" --partitions-file partitions.conf && sm_ask wait > rest || return 1
	devices_hold 'host 6' 'host 1' && records 6 1 && paths
}

taken_over()
{
	(
		SIM_HOST='leaf3'
		exec "$weft" sm --transport ibsim --state '' --control "$dir/ctl2" --priority 1 --partitions-file partitions.conf > sm2.log 2>&1
	) &
	second_pid=$!
	until_true 30 eval '"$weft" ctl --socket ctl2 --json status 2>&1 | jq -e ".mirror.complete"' || { cat sm2.log && return 1; }
	vm migrate a 'host 3:1' > moved 2>&1 || { cat moved && return 1; }
	kill -9 "$sm_pid" && wait "$sm_pid" 2> /dev/null
	sm_pid=
	until_true 60 eval '"$weft" ctl --socket ctl2 --json status | jq -e ".state == \"Master\" and .phase == \"ready\""' || { cat sm2.log && return 1; }
	"$weft" ctl --socket ctl2 wait > rest 2>&1 || { cat rest && return 1; }
	mv ctl2 ctl
	devices_hold 'host 3' 'host 6' && records 3 1 && paths
}

ok "machines start in partitions" comes_up
ok "functions and switches have their P_Keys" devices_hold 'host 1' 'host 6'
ok "saquery gets records of functions" records 1 1
ok "machines get paths within their partitions" paths
ok "all of it after a migration" migrates
ok "after kill -9 of the manager" restarts
ok "and when another manager takes over" taken_over
echo "1..$n"
