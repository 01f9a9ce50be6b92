#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft ctl` as a program, as TAP: ctl.sh PATH/TO/weft PATH/TO/lab_manager
#
# lab_manager brings up a simulated fabric and answers as the daemon does, so that no fabric is needed.
#
# Covers: cmd_ctl.c, ctl_show.c, ctl_socket.c, ctl_wait.c
#
# shellcheck disable=SC2015,SC2317 # `a && b || explain`, ok calls
set -u

manager=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
unset IBSIM_SOCKNAME XDG_RUNTIME_DIR
export RUNTIME_DIRECTORY="$dir/run"
mkdir run

# says STATUS TEXT COMMAND...: this status, and this whole text on either output
says()
{
	want=$1
	text=$2
	shift 2
	"$@" > out 2>&1
	got=$?
	[ $got -eq "$want" ] && grep -qxF -e "$text" out ||
		{ echo "status $got, expected $want; expected: $text; said:" && cat out && false; }
}

start()
{
	"$manager" net "$1" > "$dir/log" 2>&1 &
	pid=$!
	pids="$pids $pid"
	tries=0
	until [ -S "$1" ]; do
		tries=$((tries + 1))
		[ $tries -le 400 ] && kill -0 "$pid" 2> /dev/null || { cat "$dir/log" && return 1; }
		sleep 0.05
	done
}

# ---- no process listens ----

ok "no manager" says 2 "weft ctl: manager: no process listens at sm*.sock in $dir/run; start 'weft sm', or give the socket with --socket or --name" \
	"$weft" ctl --wait 0 status
ok "no manager of this name" says 2 \
	"weft ctl: manager 'x': no process listens at sm-x.sock in $dir/run; start 'weft sm', or give the socket with --socket" \
	"$weft" ctl --wait 0 --name x status
ok "no emulator of this name" says 2 \
	"weft ctl: emulator 'x': no process listens at fabric-x.sock in $dir/run; start 'weft fabric', or give the socket with --socket" \
	"$weft" ctl --wait 0 --name x fabric help
ok "no such socket" says 2 "weft ctl: manager: no process listens at $dir/none; start 'weft sm', or give the socket with --socket or --name" \
	"$weft" ctl --wait 0 --socket "$dir/none" status
ok "not a socket" says 2 "weft ctl: --socket: $0 is not a socket" "$weft" ctl --socket "$0" status
ok "after a second it says what it waits for" says 2 \
	"weft ctl: manager 'x': no process listens at sm-x.sock in $dir/run yet; waiting up to 1.200 s" \
	"$weft" ctl --wait 1.2s --name x status
ok "a command that is none" says 2 "weft ctl: unknown command 'statsu', did you mean 'status'? (see 'weft ctl --help')" "$weft" ctl statsu
ok "an argument too few" says 2 "weft ctl: route: expected 2 arguments, found 1 (see 'weft ctl --help')" "$weft" ctl route a
ok "an argument too many" says 2 "weft ctl: status: expected 0 arguments, found 1 (see 'weft ctl --help')" "$weft" ctl status x
ok "no number" says 2 "weft ctl: changes: expected a number, found 'x'" "$weft" ctl changes x

# ---- one manager ----

"$weft" topo gen mtree 4 2 -o net
# a manager that starts after the question, as when a tour is pasted as a whole
starts_late()
{
	(sleep 0.3 && exec "$manager" net run/sm-late.sock > /dev/null 2>&1) &
	late=$!
	pids="$pids $late"
	"$weft" ctl --name late --wait 60s status > out || { cat out && return 1; }
	grep -qx 'state          Master, ready' out && "$weft" ctl --name late stop && wait "$late"
}
ok "a manager that is starting is waited for" starts_late
ok "the manager comes up" start run/sm.sock

json()
{
	filter=$1
	shift
	"$weft" ctl "$@" --json > out && jq -e "$filter" out > /dev/null || { cat out && false; }
}
ok "status as JSON" json '.ok and .state == "Master" and .subnet.switches == 6 and .subnet.hosts == 8' status
ok "status as text" says 0 "subnet         6 switches, 8 hosts, 16 links, 14 LIDs" "$weft" ctl status
ok "options before the command" says 0 "state          Master, ready" "$weft" ctl --socket run/sm.sock status

ok "wait returns when nothing is pending" says 0 "subnet is up: 6 switches, 8 hosts, 16 links, 14 LIDs; no change pending" "$weft" ctl wait
ok "wait as JSON is the status" json '.ok and .phase == "ready" and .clean_sweeps > 0 and (.change_pending | not)' wait

ok "a reload that fails prints every fault" says 2 "weft ctl: reload: weft.yaml:4:9: not YAML" "$weft" ctl reload
ok "the first one too" grep -qxF "weft ctl: reload: weft.yaml:2:3: unknown key 'widnow'" out
ok "status says who is master" sh -c "\"$weft\" ctl status | grep \"^master .*, this manager\$\""

# Another user: who may not ask is told so. Root may always, so that another user is needed.
denied()
{
	want=$1
	shift
	setpriv --reuid 65534 --clear-groups env "$@" > out 2>&1
	[ $? -eq 2 ] && grep -q -e "$want" out || { cat out && false; }
}
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups test -x "$weft" 2> /dev/null; then
	chmod 711 "$dir"
	chmod 755 run
	chmod 600 run/sm.sock
	ok "another user: permission denied" denied 'permission denied: .*sm.sock is a socket of user root, mode 0600' "$weft" ctl status
	chmod 700 run
	ok "a closed directory: permission denied" denied 'permission denied: .*run is a directory of user root, mode 0700' "$weft" ctl status
	ok "and at once" denied 'permission denied' "$weft" ctl --socket "$dir/run/sm.sock" status
else
	n=$((n + 1))
	echo "ok $n - another user: permission denied # SKIP needs root, and a program that every user may run"
fi

topology()
{
	"$weft" ctl topology > seen || return 1
	"$weft" topo show net --json | jq 'del(.lids)' > a
	"$weft" topo show seen --json | jq 'del(.lids)' > b
	diff a b
}
ok "the topology is the netlist" topology
ok "the topology in numbers" says 0 "links          16" "$weft" ctl topology --summary

host()
{
	sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | sed -n "${1}p"
}

route()
{
	"$weft" ctl route "$(host 1)" "$(host 8)" > out || { cat out && return 1; }
	[ "$(sed -n '2s/.*host.*\(H-[0-9a-f]*\).*/\1/p' out)" = "$(host 1)" ] &&
		[ "$(sed -n '$s/.*host.*\(H-[0-9a-f]*\).*/\1/p' out)" = "$(host 8)" ] &&
		[ "$(grep -c ' switch ' out)" -eq 3 ] || { cat out && false; }
}
ok "a route hop by hop" route
ok "a route as JSON" json '.reached and (.hops | length) == 5 and .hops[0].in == null and .hops[4].out == null' \
	route "$(host 1)" "$(host 8)"
ok "a node that is not there" says 2 \
	"weft ctl: route: 'nobody' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name" "$weft" ctl route nobody 1
ok "every switch" json '(.switches | length) == 6 and all(.switches[]; .entries == 14)' switches
ok "every port" json '(.ports | length) == 32 and all(.ports[]; .state == "Active")' ports
ok "the ports of a node" json '(.ports | length) == 5' ports 0x0002000000000001
ok "changes" json '(.changes | length) == 1 and .changes[0].cause == "start" and .changes[0].smps.all > 0' changes 5
ok "SMPs" json '.smps.discovery > 0 and .retries == 0' smps
ok "the configuration" says 0 "  mechanism: weft" "$weft" ctl config
ok "the log's level" says 0 "debug" "$weft" ctl log debug
ok "and what it is now" says 0 "debug" "$weft" ctl log
ok "a level that is none" says 2 "weft ctl: log: expected error, warning, notice, info or debug; found 'loud'" "$weft" ctl log loud
ok "an order that is refused" says 2 "weft ctl: dump: no directory for dumps is configured" "$weft" ctl dump

# every table has its text: headings and at least one row
texts()
{
	for c in status switches ports changes smps; do
		"$weft" ctl $c > out && [ "$(wc -l < out)" -ge 2 ] || { echo "$c:" && cat out && return 1; }
		if grep -q ' $' out; then echo "$c: blanks at the end of a line" && return 1; fi
	done
}
ok "everything has a text" texts

# ---- several ----

ok "a second manager comes up" start run/sm-lab7.sock
ok "two of them: which?" says 2 \
	"weft ctl: 2 sockets to choose from; give one with --socket or --name: $dir/run/sm-lab7.sock, $dir/run/sm.sock" "$weft" ctl status
ok "this one" says 0 "state          Master, ready" "$weft" ctl --name lab7 status
ok "this one, by the environment" says 0 "state          Master, ready" env IBSIM_SOCKNAME=lab7 "$weft" ctl status

stops()
{
	"$weft" ctl --name lab7 stop || return 1
	wait "$pid" && [ ! -e run/sm-lab7.sock ]
}
ok "stop ends it, and its socket goes" stops
ok "then there is one again" says 0 "state          Master, ready" "$weft" ctl status
echo "1..$n"
