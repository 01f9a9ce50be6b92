#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# weft why on an emulated fabric, as TAP: why.sh PATH/TO/weft
#
# Covers: cmd_why.c, why_changes.c, why_find.c, why_ports.c, why_routes.c, why_show.c, why_trend.c, control_memberships.c
#
# shellcheck disable=SC2015,SC2317 # `a && b || explain`, ok calls
set -u

# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
unset IBSIM_SOCKNAME XDG_RUNTIME_DIR
export RUNTIME_DIRECTORY="$dir/run"
mkdir run

# page STATUS NODE LINE...: this status, and each of these lines
page()
{
	want=$1
	node=$2
	shift 2
	"$weft" why "$node" > out 2>&1
	[ $? -eq "$want" ] || { cat out && return 1; }
	for text; do
		grep -qxF -e "$text" out || { echo "missing: $text" && cat out && return 1; }
	done
}

# One link between switches has a fourth of the width of the others.
"$weft" topo gen mtree 4 2 | sed '/^Switch.*"leaf0"/,/^$/s/^\(\[3\].*\)4xQDR/\11xQDR/
	/^Switch.*"root0"/,/^$/s/^\(\[1\].*\)4xQDR/\11xQDR/' > net
"$weft" fabric net --name "why$$" --no-console -q < /dev/null > fabric.log 2>&1 &
pids="$pids $!"
echo 'perf: {period: 200ms, isolate: switches}' > sm.yaml
"$weft" sm --server "why$$" --state none --config "$PWD/sm.yaml" 2> sm.log &
pids="$pids $!"
ok "the subnet comes up" "$weft" ctl --wait 20s wait
ok "a host in good order" page 0 'host 4' 'host 4: host, H-0001000000000020, LID 11' \
	'plugged        port 1 at leaf2 port 1: Active, 4x QDR; both ends could 4x QDR' 'errors         none counted' \
	"last changes   none in the manager's history" 'partitions     0xffff'
ok "by GUID and by id" page 0 0x0001000000000020 'host 4: host, H-0001000000000020, LID 11'
slow_link()
{
	"$weft" why 'host 0' --json > out || return 1
	jq -e '.routes.worst.rate == "1x QDR" and .routes.slower and .routes.hosts == 7 and (.suspicious | length) == 1
		and .routes.worst.hosts >= 1 and .routes.worst.hosts <= 6' out > /dev/null || { cat out && false; }
}
ok "routes over a slow link are suspicious" slow_link
ok "a switch: every port with a cable" sh -c "'$weft' why leaf0 | grep -c ' port [0-9]* at .*: Active' | grep -qx 4"
ok "a cable" sh -c "'$weft' why 'leaf0[3]' | grep -c ' at ' | grep -qx 1"
ok "a cable as weft ctl counters has it" sh -c "'$weft' why leaf0:3 | grep -c ' at ' | grep -qx 1"
ok "a port that is none" page 2 'leaf0[9]' 'weft why: leaf0 has no port 9'
ok "no name is none" page 1 '' "suspicious     '' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name"
ok "a node that never was" page 1 nowhere 'nowhere: not in the subnet' "last changes   none in the manager's history"

# Errors that the manager sees: sick at once, a trend when a slot of 20 s is over (its text is in the unit test).
sick()
{
	"$weft" ctl fabric 'counter "leaf1"[3] SymbolErrorCounter 500' > /dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$weft" why 'leaf1[3]' > out && grep -q 'the link at port 3 to root0 port 2 is sick, bit error rate [0-9.e-]*; it is isolated, no route uses it$' out &&
			grep -q 'leaf1 port 3 <-> root0 port 2 went down for routes: it is sick and isolated' out &&
			grep -qx 'plugged        port 3 at root0 port 2: Active, isolated: no route uses it' out &&
			grep -qx 'errors         port 3: symbol_error 500' out && grep -q '^trend          port 3: 500 errors' out && return
		sleep 0.3
	done
	cat out && false
}
ok "a sick link is called so, also when it is isolated" sick

at_most_one()
{
	echo 'perf: {period: 200ms, isolate: switches, isolate_most: 1}' > sm.yaml
	"$weft" ctl reload > /dev/null && "$weft" ctl fabric 'counter "leaf2"[4] SymbolErrorCounter 500' > /dev/null &&
		until_true sh -c "'$weft' why 'leaf2[4]' | grep 'to root1 port 3 is sick, .*; it stays in use, since as many links as perf.isolate_most are isolated'"
}
ok "a sick link beyond the most that are isolated stays in use, and the page says why" at_most_one

isolated_host()
{
	echo 'perf: {period: 200ms, isolate: all}' > sm.yaml
	"$weft" ctl reload > /dev/null && "$weft" ctl fabric 'counter "leaf3"[2] SymbolErrorCounter 500' > /dev/null || return 1
	until_true sh -c "'$weft' why 'host 7' | grep -q 'the manager has isolated it (perf.isolate): the link at port 1 to leaf3 port 2 is sick'" &&
		! "$weft" why 'host 7' | grep 'it left the subnet' && "$weft" ctl status --json | jq -e '.subnet.held_ports == 0' > /dev/null &&
		echo 'perf: {period: 200ms, isolate: switches}' > sm.yaml && "$weft" ctl reload > /dev/null &&
		until_true "$weft" why 'host 7'
}
ok "a host that is isolated did not leave by itself; it returns when hosts are isolated no more" isolated_host

flap()
{
	for _ in 1 2; do
		"$weft" ctl fabric 'unlink "host 4"[1]' > /dev/null && "$weft" ctl wait > /dev/null || return 1
		[ "${1:-}" != stay ] || return 0
		"$weft" ctl fabric 'relink "host 4"[1]' > /dev/null && "$weft" ctl wait > /dev/null || return 1
	done
}
ok "a cable goes out and in twice" flap
flapped()
{
	"$weft" why 'host 4' --json > out || return 1
	jq -e '(.changes | length) == 8 and .ports[0].errors.link_downed >= 1
		and ([.suspicious[] | select(test("went down 2 times"))] | length) == 1' out > /dev/null || { cat out && false; }
}
ok "changes, errors, and that it went down often" flapped
ok "and out for good" flap stay
gone()
{
	"$weft" why 'host 4' > out
	[ $? -eq 1 ] && grep -q '^host 4: not in the subnet$' out && grep -q 'host 4 is gone' out &&
		grep -q 'it left the subnet' out || { cat out && false; }
}
ok "a host that is gone has its last changes" gone
lost()
{
	"$weft" why leaf2 > out && grep -q ' port 1 lost its link to host 4 port 1 at 20.*: its cable, or the other end$' out || { cat out && false; }
}
ok "and its switch says which link is missing" lost
"$weft" ctl stop > /dev/null

# A host has a slow link of its own, which is no matter of others; a link that both ends set to less than they could.
"$weft" topo gen mtree 4 2 | sed '/"host 5"$/,/^$/s/^\(\[1\].*\)4xQDR/\11xQDR/; /^Switch.*"leaf2"/,/^$/s/^\(\[2\].*\)4xQDR/\11xQDR/' > slow.net
"$weft" fabric slow.net --name "slow$$" --no-console -q < /dev/null > fabric.log 2>&1 &
pids="$pids $!"
slow_manager()
{
	"$weft" sm --server "slow$$" --control "$PWD/slow.sock" --state none "$@" 2> sm.log &
	pids="$pids $!"
	"$weft" ctl --socket slow.sock --wait 20s wait
}
slow_host()
{
	slow_manager && "$weft" why --socket slow.sock 'host 5' --json > out &&
		jq -e '.ports[0].rate == "1x QDR" and .routes.hosts == 7' out && "$weft" why --socket slow.sock root1 --json > out &&
		jq -e '.routes.worst.rate == "4x QDR" and (.suspicious == [])' out
}
ok "a slow link of one host is not suspicious elsewhere" slow_host
set_slow()
{
	"$weft" ctl --socket slow.sock stop && slow_manager --link-speed 1 || return 1
	"$weft" why --socket slow.sock 'leaf0[3]' | tee out | grep 'port 3 runs at 4x SDR, though both ends could 4x QDR: one of them is set to no more' ||
		{ cat out && false; }
}
ok "a link that is set to less is not called a bad cable" set_slow

# Names that are hard: two hosts have one, two end like a port; partitions, a virtual machine, a link that is held.
"$weft" topo gen kary 2 3 --vfs 2 | sed 's/"host [01]"/"twin"/g; s/"host 2"/"rack[3]"/g; s/"host 3"/"rack:4"/g' > names.net
printf 'Default=0x7fff: ALL_SWITCHES=full, SELF=full, 0x0200000000000028=both;\nstorage=0x12: 0x0200000000000024=full, 0x0200000000000020=limited;\n' > partitions.conf
"$weft" fabric names.net --name "names$$" --no-console -q < /dev/null > fabric.log 2>&1 &
pids="$pids $!"
"$weft" sm --server "names$$" --control "$PWD/names.sock" --state none --partitions-file partitions.conf --partitions-both-keys \
	--damping-changes 3 --damping-hold 3600s --sweep 3600s 2> sm.log &
pids="$pids $!"
emulator()
{
	"$weft" ctl --name "names$$" fabric "$@" > /dev/null && "$weft" ctl --socket names.sock wait > /dev/null
}
page()
{
	want=$1
	node=$2
	shift 2
	"$weft" why --socket names.sock "$node" > out 2>&1
	[ $? -eq "$want" ] || { cat out && return 1; }
	for text; do
		grep -qE -e "$text" out || { echo "missing: $text" && cat out && return 1; }
	done
}
ok "a subnet with odd names comes up" "$weft" ctl --socket names.sock --wait 20s wait
ok "a name that two nodes have" page 2 twin "^weft why: 2 nodes have the name 'twin': name one of them by its id: H-[0-9a-f]*, H-[0-9a-f]*$"
ok "a name that ends like a port in brackets" page 0 'rack[3]' '^rack\[3\]: host, '
ok "and its port" page 0 'rack[3][1]' '^rack\[3\]: host, ' '^plugged        port 1 at '
ok "a name that ends like a port behind a colon" page 0 'rack:4' '^rack:4: host, '
ok "a port that is a number but none" page 2 'leaf0[0]' 'expected NODE or NODE.PORT. with a port from 1 to 254'
ok "a limited member" page 0 'host 4' '^partitions     0x7fff, limited: reaches full members only$' '^ *0x0012, limited'
ok "a full one" page 0 'host 5' '^partitions     0x7fff, limited' '^ *0x8012$'
ok "one that is both" page 0 'host 6' '^partitions     0x7fff, limited' '^ *0xffff$'
machine()
{
	"$weft" vm create --socket names.sock red > out && page 1 red "virtual machine 'red' does not run" &&
		"$weft" vm start --socket names.sock red 'host 7' >> out && page 0 red '^host 7: host, ' '^machine        red, GUID 0x'
}
ok "a virtual machine: the page of its host, with its own partitions" machine
id_of()
{
	sed -n 's/^Ca.*"\(H-[0-9a-f]*\)".*"'"$1"'".*/\1/p' names.net
}
absent()
{
	id=$(id_of rack:4)
	emulator "off $(id_of 'rack\[3\]')" && emulator 'off "rack:4"' &&
		for node in 'rack[3]' 'rack:4' "$id" "0x${id#H-}" "0x$(echo "${id#H-}" | sed 's/^0*//')"; do
			page 1 "$node" ' is gone .change' 'it left the subnet' || return 1
		done && page 1 'rack:4[1]' 'went down' 'it left the subnet'
}
ok "nodes that are gone, by any name" absent
twin()
{
	one=$(id_of twin | head -1)
	two=$(id_of twin | tail -1)
	emulator "off $two" && page 0 twin "^twin: host, $one, " "^last changes   none" "another host of this name has left the subnet: weft why 0x${two#H-}"
}
ok "a namesake that is gone: its changes are not those of the other one" twin
moved()
{
	emulator 'unlink "host 4"[1]' && emulator 'link "host 4"[1] "root0_0"[4]' || return 1
	page 0 "$was" 'lost its link to host 4 port 1 at .*: that end is now at '
}
was=$("$weft" why --socket names.sock 'host 4' --json | jq -r '.ports[0].peer.name')
ok "a cable that moved" moved
held()
{
	for _ in 1 2 3; do
		emulator 'unlink "host 5"[1]' && emulator 'relink "host 5"[1]' || return 1
	done
	page 1 'host 5' 'changes too often and is held: it counts as Down'
}
ok "a link that is held is not called a broken cable alone" held
# Without a connection nothing is known of any device.
unconnected()
{
	"$weft" ctl --name "names$$" fabric quit > /dev/null && until_true sh -c "'$weft' ctl --socket names.sock status | grep 'NOT CONNECTED'" &&
		page 2 'host 7' '^weft why: topology: the subnet is not discovered yet$' && ! grep 'not in the subnet' out
}
ok "a manager that lost its fabric does not say that a host is missing" unconnected
echo "1..$n"
