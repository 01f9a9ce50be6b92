#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What hosts register with the subnet administration of `weft sm`, with programs that know nothing of Weft:
# sa_registrations.sh WEFT SA_CLIENT
#
# osmtest's flows; the requests of IP over InfiniBand; notices; kill -9 and restart; a standby that takes over, from Weft and
# from OpenSM; the multicast tables that ibroute reads from the switches; a virtual machine that moves between shared ports.
#
# Covers: copy.c opensm_sa_files.c registrations.c control_sa.c ctl_show_sa.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
client=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$here/lib_fabric.sh"
second=
trap 'second_stop; sm_stop; opensm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
need opensm osmtest saquery ibroute jq
preload=$(cd "$(dirname "$weft")/../preload" 2> /dev/null && pwd)/libweft-umad.so
[ -e "$preload" ] || { echo "1..0 # SKIP libweft-umad is not built" && exit 0; }
broadcast=ff12401bffff000000000000ffffffff

second_stop()
{
	[ -z "$second" ] || { kill -9 "$second" && wait "$second"; } 2> /dev/null
	second=
}

host()
{
	sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | sed -n "${1}p"
}

# first NAME: the manager at the first host, with a state file; second: another one at the eighth
first()
{
	"$weft" sm --server "$IBSIM_SOCKNAME" --device "$(host 1)" --priority "${2:-0}" --state "$dir/$1.db" \
		--control "$dir/$1.sock" --dumps "$dir/$1.dumps" --dump-path-records 2> "$1.log" &
	sm_pid=$!
	"$weft" ctl --socket "$dir/$1.sock" wait --timeout 30s
}

ctl()
{
	"$weft" ctl --socket "$dir/$1.sock" "$2" --json
}

members()
{
	ctl "$1" groups | jq -r '.groups[] | select(.mlid == "0xc000") | .members[].name' | sort | tr '\n' ' '
}

expect()
{
	[ "$1" = "$2" ] || { echo "found '$1', expected '$2'" && false; }
}

# ---- osmtest ----

up()
{
	"$weft" topo gen mtree 4 3 -o net && emu_start net && first a && reregistered 16
}

flow()
{
	# osmtest reads memory that it has not set: see sa_beside_opensm.sh.
	MALLOC_PERTURB_=0 on_fabric timeout 120 osmtest -f "$1" -M 2 -i inventory -l osmtest.log > out 2>&1
	grep -q 'PASS' out && ! grep -q 'FAIL' out || { tail -n 5 out osmtest.log && false; }
}

# ---- IP over InfiniBand ----

# Of a generated host: one more than that of its node.
port_guid()
{
	printf '0x%x' $((0x$(host "$1" | sed 's/^H-//') + 1))
}

ipoib()
{
	for k in 1 2 9 16; do
		at "$(host $k)" "$client" class > said.$k && at "$(host $k)" "$client" join $broadcast 1 >> said.$k &&
			at "$(host $k)" "$client" path "$(port_guid 3)" >> said.$k &&
			at "$(host $k)" "$client" inform 66 >> said.$k || { cat said.$k && return 1; }
	done
	expect "$(members a)" "host 0 host 1 host 15 host 8 " &&
		expect "$("$weft" why --socket "$dir/a.sock" 'host 8' --json | jq -r '.groups[]')" ff12:401b:ffff:0:0:0:ffff:ffff &&
		expect "$("$weft" why --socket "$dir/a.sock" 'host 9' --json | jq -r '.groups[]')" ''
}

# Every member has the mark of its port in the table of its switch, and no other host has one.
tables_right()
{
	until_true 1 tables_now "$1" || { cat marks && false; } # twenty looks of a second or more
}

tables_now()
{
	for lid in $(ctl "${1:-a}" switches | jq '.switches[].lid'); do
		on_fabric ibroute -M "$lid" 2> /dev/null | sed -n "s/^0xc000/$lid/p"
	done > marks
	[ "$(wc -l < marks)" -ge 5 ]
}

notices()
{
	at "$(host 5)" "$client" reports 4 66 > told &
	reports=$!
	sleep 1
	at "$(host 6)" "$client" join ff12401b800100000000000000001234 1 && at "$(host 6)" "$client" leave ff12401b800100000000000000001234 1
	wait $reports
	grep -q '^report 66 ff12401b800100000000000000001234' told || { cat told && false; }
}

# ---- alias GUIDs ----

alias=0x1122334455667788

# The requests of a host for further GUIDs of its port, one line each: what OpenSM answers is what Weft does.
alias_requests()
{
	for r in "set 0 0 2 $alias" "set 0 0 3 $alias" "set 0 0 2 $alias 4 0x1122334455667799" "set 0 0 0 0x77" "set 0 1 3 0x55" \
		"set 999 0 3 0x55" "delete 0 0 4 0" "delete 0 0 4 0" "delete 0 0 0 0" "get 0 0"; do
		# shellcheck disable=SC2086 # words
		echo "$r: $(at "$(host 5)" "$client" guids $r)"
	done
}

# Of the device: GUID 2 of the port.
device_alias()
{
	lid=$(at "$(host 5)" saquery --smkey 1 GIR 2> /dev/null | awk -v g="$(printf '0x%016x' "$(port_guid 5)")" '
		/LID/ { sub(/.*\./, ""); l = $0 } $0 ~ "GUID 0.*" g { print l; exit }')
	on_fabric smpquery GI "$lid" 2> /dev/null | grep -ci "${alias#0x}"
}

has_alias()
{
	[ "$(device_alias)" = "$1" ]
}

aliases()
{
	at "$(host 7)" "$client" reports 4 64 > told &
	reports=$!
	sleep 1
	alias_requests > aliases.weft || return 1
	expect "$(grep -c 'status 0x0000' aliases.weft)" 6 && until_true 5 has_alias 1 || { cat aliases.weft && return 1; }
	at "$(host 6)" "$client" path $alias > path.alias && at "$(host 6)" "$client" path "$(port_guid 5)" > path.own && diff path.alias path.own || return 1
	wait $reports
	grep -q "^report 64 fe80000000000000${alias#0x}" told || { cat told && return 1; }
	case $(at "$(host 5)" "$client" guids set 0 0 1 0) in
	"status 0x0000 $(printf '%x' "$(port_guid 5)") 2"?????????????*) ;;
	*) at "$(host 5)" "$client" guids get 0 0 && return 1 ;;
	esac
	at "$(host 5)" "$client" guids delete 0 0 1 0
}

# ---- dumps ----

# What the files say is what hosts get: members, tables as ibroute reads them, paths as saquery does.
dumped()
{
	ctl a dump > /dev/null && until_true 10 grep -q '^mcm_port' a.dumps/opensm-sa.dump || return 1
	expect "$(sed -n '/^MC Group 0xc000 /,/^MC Group 0xc001 /s/^mcm_port:.*:0x\([0-9a-f]*\) scope.*/\1/p' a.dumps/opensm-sa.dump | wc -l)" 4 || return 1
	expect "$(grep -c '^InformInfo Record: ' a.dumps/opensm-sa.dump)" 6 || return 1
	expect "$(stat -c %a a.dumps/opensm-sa.dump)" 600 && cp a.dumps/opensm-sa.dump saved.dump || return 1
	leaf=$(ctl a switches | jq -r '[.switches[] | select(.name == "leaf0_0")][0].lid')
	on_fabric ibroute -M "$leaf" 2> /dev/null | sed -n 's/^0xc000 *//p' | awk '{ for (p = 1; p <= length($0); p++) if (substr($0, p, 1) == "x") print "x" }' | wc -l > theirs
	awk '/^Switch 0x0002000000000001$/ { on = 1; next } /^$/ { on = 0 } on && /^0xC000 / { print NF - 2 }' a.dumps/opensm.mcfdbs > ours
	diff theirs ours || return 1
	on_fabric saquery PR 2> /dev/null | sed 's/\.\.*/ /' | awk '$1 == "slid" { s = $2 } $1 == "dlid" { d = $2 } $1 == "sl" { l = $2 }
		$1 == "mtu" { m = $2 } $1 == "rate" { print s, d, l, m, $2 }' |
		while read -r s d l m r; do echo "$s $d $((l)) $((m & 63)) $((r & 63))"; done | sort -u > theirs
	awk '/^[SCR].* base LID / { match($0, /LID [0-9]+/); s = substr($0, RSTART + 4, RLENGTH - 4) }
		/^0x/ { print s, $1, $3, $5, $7 }' a.dumps/opensm-path-records.dump |
		while read -r s d l m r; do echo "$s $((d)) $l $m $r"; done | sort -u > ours
	[ "$(wc -l < ours)" = $((36 * 36)) ] && diff theirs ours
}

# ---- restarts and take-over ----

# Each of the 16 hosts was told to register again, and the orders in all are so many.
reregistered()
{
	expect "$(figure 'hosts told to reregister')" 16 && expect "$(figure 'orders to reregister')" "$1"
}

killed()
{
	sleep 0.3
	kill -9 "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	first a || return 1
	expect "$(members a)" "host 0 host 1 host 15 host 8 " && expect "$(ctl a sa | jq .subscriptions)" 6 && reregistered 16 || return 1
	expect "$(ctl a sa | jq .aliases)" 1 && has_alias 1
}

damaged()
{
	kill "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	printf 'this is no database, and longer than a header of one hundred bytes: %0200d' 0 > a-registrations.db
	rm -f a-registrations.db-wal a-registrations.db-shm
	first a || return 1
	[ -e a-registrations.db.damaged ] && grep -q 'registrations_damaged' a.log || { cat a.log && return 1; }
	reregistered 32 && ipoib
}

standby()
{
	"$weft" sm --server "$IBSIM_SOCKNAME" --device "$(host 8)" --state "$dir/b.db" --control "$dir/b.sock" 2> b.log &
	second=$!
	until_true 30 has_copy b 4 || { ctl b sa && false; }
}

# A standby says that it does not answer.
says_silent()
{
	expect "$(ctl b status | jq -r .administration)" silent && expect "$(ctl a status | jq -r .administration)" serving &&
		"$weft" ctl --socket "$dir/b.sock" status | grep -q '^requests  *of hosts are not answered'
}

has_copy()
{
	[ "$(ctl "$1" sa | jq .members)" = "$2" ]
}

takes_over()
{
	kill -9 "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	sm_pid=
	until_true 30 is_serving b || { cat b.log && return 1; }
	expect "$(members b)" "host 0 host 1 host 15 host 8 " && tables_right b
}

is_serving()
{
	[ "$(ctl "$1" sa | jq .serving)" = true ]
}

# ---- OpenSM before Weft ----

after_opensm()
{
	second_stop
	opensm_start 'sm_priority 5' "sa_db_file $dir/saved.dump" || return 1
	grep 'PARSE ERROR' osm/log && return 1
	expect "$(on_fabric saquery --smkey 1 -m 0xC000 2> /dev/null | grep -c PortGid)" 4 || return 1
	at "$(host 5)" "$client" guids delete 0 0 2 0 && alias_requests > aliases.opensm && diff aliases.weft aliases.opensm || return 1
	for k in 3 4; do
		at "$(host $k)" "$client" join $broadcast 1 || return 1
	done
	"$weft" sm --server "$IBSIM_SOCKNAME" --device "$(host 8)" --state "$dir/c.db" --control "$dir/c.sock" 2> c.log &
	second=$!
	until_true 30 has_copy c "$(on_fabric saquery --smkey 1 -m 0xC000 2> /dev/null | grep -c PortGid)" || { ctl c sa && return 1; }
	opensm_stop
	until_true 60 is_serving c || { cat c.log && return 1; }
	case $(members c) in
	*"host 2 host 3"*) ;;
	*) members c && return 1 ;;
	esac
	expect "$(ctl c sa | jq .aliases)" 1 && until_true 5 has_alias 1
}

# ---- virtual machines ----

# A machine that moves between shared ports gets another LID, and others are told.
vm()
{
	"$weft" vm "$@" --socket "$dir/v.sock" --json > vm.out 2>&1 || { cat vm.out && false; }
}

lid_of_path()
{
	at "$(host 5)" "$client" path "$1" | sed -n 's/.*dlid \([0-9]*\).*/\1/p'
}

told()
{
	grep -q "^report $1 fe80000000000000${guid#0x}" told.$1 || { cat told.$1 && false; }
}

machine_moves()
{
	second_stop
	fabric_stop
	"$weft" topo gen mtree 4 2 --vfs 2 --sriov shared | sed '0,/^sriov=/{/^sriov=/d}' > net && emu_start net && first v || return 1
	vm create web && vm start web 'host 2' || return 1
	guid=$("$weft" vm list --socket "$dir/v.sock" --json | jq -r '.vms[0].guid')
	before=$(lid_of_path "$guid")
	at "$(host 6)" "$client" reports 4 65 > told.65 &
	left=$!
	at "$(host 7)" "$client" reports 4 64 > told.64 &
	came=$!
	sleep 1
	vm migrate web 'host 5' || return 1
	wait $left $came
	after=$(lid_of_path "$guid")
	[ "$before" != "$after" ] && expect "$after" "$(jq .lid_after vm.out)" && told 65 && told 64
}

ok "Weft manages" up
ok "osmtest: inventory" flow c
plain_only "osmtest: flow a" flow a # validation of the inventory, services, multicast
if [ "${WEFT_SANITIZED:-0}" = 0 ]; then
	skip "osmtest: flow f" "half a minute of queries: in the sanitized run"
else
	ok "osmtest: flow f" flow f
fi
ok "osmtest: flow q" flow q
ok "hosts join the broadcast group, ask for a path, subscribe" ipoib
ok "switches have its tree" tables_right a
ok "subscribers are told of a new group" notices
ok "a host gets alias GUIDs, paths lead there" aliases
ok "dumps in OpenSM's formats say the same" dumped
ok "registrations survive kill -9" killed
ok "a damaged file is moved away, and hosts register again" damaged
ok "a standby has a copy" standby
ok "and says that it does not serve" says_silent
ok "it takes over with it" takes_over
ok "OpenSM starts from the dump; its registrations are taken over" after_opensm
ok "a machine moves between shared ports, and others are told" machine_moves
echo "1..$n"
