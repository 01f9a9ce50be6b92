#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What hosts register with the subnet administration of `weft sm`, with programs that know nothing of Weft:
# sa_registrations.sh WEFT SA_CLIENT
#
# osmtest's flows; the requests of IP over InfiniBand; notices; kill -9 and restart; a standby that takes over, from Weft and
# from OpenSM; the multicast tables that ibroute reads from the switches.
#
# Covers: copy.c registrations.c control_sa.c ctl_show_sa.c

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
		--control "$dir/$1.sock" 2> "$1.log" &
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
	"$weft" topo gen mtree 4 3 -o net && emu_start net && first a
}

flow()
{
	# osmtest reads memory that it has not set: see sa_beside_opensm.sh.
	MALLOC_PERTURB_=0 on_fabric timeout 60 osmtest -f "$1" -M 2 -i inventory -l osmtest.log > out 2>&1
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
	expect "$(members a)" "host 0 host 1 host 15 host 8 "
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

# ---- restarts and take-over ----

killed()
{
	sleep 0.3
	kill -9 "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	first a || return 1
	expect "$(members a)" "host 0 host 1 host 15 host 8 " && expect "$(ctl a sa | jq .subscriptions)" 5
}

damaged()
{
	kill "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	printf 'this is no database, and longer than a header of one hundred bytes: %0200d' 0 > a-registrations.db
	rm -f a-registrations.db-wal a-registrations.db-shm
	first a || return 1
	[ -e a-registrations.db.damaged ] && grep -q 'registrations_damaged' a.log || { cat a.log && return 1; }
	ipoib
}

standby()
{
	"$weft" sm --server "$IBSIM_SOCKNAME" --device "$(host 8)" --state "$dir/b.db" --control "$dir/b.sock" 2> b.log &
	second=$!
	until_true 30 has_copy b 4 || { ctl b sa && false; }
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
	opensm_start 'sm_priority 5' || return 1
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
}

ok "Weft manages" up
ok "osmtest: inventory" flow c
for f in s e f m q; do
	ok "osmtest: flow $f" flow $f
done
ok "hosts join the broadcast group, ask for a path, subscribe" ipoib
ok "switches have its tree" tables_right a
ok "subscribers are told of a new group" notices
ok "registrations survive kill -9" killed
ok "a damaged file is moved away, and hosts register again" damaged
ok "a standby has a copy" standby
ok "it takes over with it" takes_over
ok "OpenSM's registrations are taken over" after_opensm
echo "1..$n"
