# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # the scripts that read this use what is set here
#
# What the interop tests share; read with `.` after `weft` is set. Results are TAP. Everything lives
# in a directory of its own that goes away at the end, together with the simulators started here.
# Each ibsim has a socket name of its own, so that several tests may run at once.

set -u
dir=$(mktemp -d)
n=0
fabrics=0
ibsim_pid=
sm_pid=
described=osm # where a subnet manager left opensm-subnet.lst and opensm.mcfdbs
trap 'sm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
# shellcheck disable=SC3045 # where it is not known, cores may be left in $dir, which goes
ulimit -c 0 2> /dev/null

# ok NAME COMMAND...: passes when the command succeeds; what it printed explains a failure
ok()
{
	name=$1
	shift
	n=$((n + 1))
	if "$@" > said 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' said >&2 # Meson shows what a failed test said there
	fi
}

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# plain_only NAME COMMAND...: as ok; not run under sanitizers
plain_only()
{
	if [ "${WEFT_SANITIZED:-0}" = 0 ]; then
		ok "$@"
	else
		skip "$1" "takes long under sanitizers: in the plain run"
	fi
}

# need PROGRAM...: without one of them there is nothing to compare with
need()
{
	for program; do
		command -v "$program" > /dev/null && continue
		echo "1..0 # SKIP $program is not installed"
		exit 0
	done
}

# The library that leads other programs to ibsim instead of a device.
need_umad2sim()
{
	for preload in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib/umad2sim/libumad2sim.so \
		/usr/lib64/umad2sim/libumad2sim.so; do
		[ -e "$preload" ] && return
	done
	echo "1..0 # SKIP libumad2sim is not installed"
	exit 0
}

listening()
{
	grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix
}

# fabric_serve NET: ibsim, or what stands in for it, at the sockets that IBSIM_SOCKNAME says
server=ibsim
fabric_serve()
{
	rm -f console
	mkfifo console
	# Open for reading and writing: at an end of input ibsim 0.10 never comes to rest.
	if [ "$server" = ibsim ]; then
		ibsim -s -N 20000 -S 3000 -P 120000 -L 49152 "$1" 0<> console > ibsim.out 2>&1 &
	else
		"$weft" fabric "$1" --no-control --quiet 0<> console > ibsim.out 2>&1 &
	fi
	ibsim_pid=$!
}

# fabric_start NET: a server with this netlist; other programs then run at its first host
fabric_start()
{
	fabric_stop
	fabrics=$((fabrics + 1))
	IBSIM_SOCKNAME=weft-$$-$fabrics
	SIM_HOST=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$1" | head -n 1)
	export IBSIM_SOCKNAME SIM_HOST
	fabric_serve "$1"
	tries=0
	until listening; do
		tries=$((tries + 1))
		if [ $tries -gt 200 ] || ! kill -0 $ibsim_pid 2> /dev/null; then
			echo "$server does not take the netlist:"
			tail -n 5 ibsim.out
			return 1
		fi
		sleep 0.05
	done
}

fabric_stop()
{
	if [ -n "$ibsim_pid" ]; then
		kill "$ibsim_pid" 2> /dev/null
		wait "$ibsim_pid" 2> /dev/null
		ibsim_pid=
	fi
}

# on_fabric COMMAND...: a program written for real devices, led to ibsim
on_fabric()
{
	LD_PRELOAD=$preload timeout 60 "$@"
}

# Arguments for weft topo gen, a fabric a line: of every family one that stock tools take in a moment.
fabrics()
{
	cat << 'END'
irregular 16 --hosts 14 --seed 7
irregular 32 --seed 11
irregular 64 --hosts 60 --seed 5
mtree 8 3
kary 3 3
torus 4 4
torus 3 3 3
hypercube 4
dragonfly 2 4 2
ring 6
star 8
END
}

# opensm_once OPTION...: OpenSM brings the fabric up once and leaves its tables in osm/
opensm_once()
{
	rm -rf osm
	mkdir osm
	OSM_TMP_DIR=$dir/osm OSM_CACHE_DIR=$dir/osm on_fabric \
		opensm -o -e -f "$dir/osm/log" -D 0x43 "$@" > osm/said 2>&1
	[ -s osm/opensm-lfts.dump ] && grep -q 'SUBNET UP' osm/log && return
	echo "OpenSM $* did not come up:"
	tail -n 5 osm/log
	return 1
}

# console TEXT: a command to ibsim
console()
{
	echo "$1" > console
}

# sm_once OPTION...: Weft brings the fabric up once; tables in sm/, summary in up.json
sm_once()
{
	rm -rf sm
	timeout 60 "$weft" sm --transport ibsim --state '' --control '' --dumps sm --once --json "$@" > up.json 2> sm.log ||
		{ cat sm.log && return 1; }
	jq -e '.state == "up" and .clean' up.json || { cat up.json sm.log && false; }
}

# sm_start OPTION...: Weft manages the fabric from now on, asked by sm_ask
sm_start()
{
	sm_stop
	"$weft" sm --transport ibsim --state '' --control "$dir/ctl" "$@" > sm.log 2>&1 &
	sm_pid=$!
	sm_settled 1
}

sm_stop()
{
	if [ -n "$sm_pid" ]; then
		kill "$sm_pid" 2> /dev/null
		wait "$sm_pid" 2> /dev/null
		sm_pid=
	fi
}

# sm_ask COMMAND...: what weft ctl answers, as JSON
sm_ask()
{
	"$weft" ctl --socket "$dir/ctl" --json "$@" 2> ctl.err
}

# A second manager that a test started as $second_pid.
second_pid=
second_stop()
{
	[ -n "$second_pid" ] || return 0
	kill "$second_pid" 2> /dev/null
	wait "$second_pid" 2> /dev/null
	second_pid=
}

sm_changes()
{
	sm_ask status | jq '.changes // 0'
}

# sm_settled N: it came to rest after change N at least
sm_settled()
{
	tries=0
	until sm_ask status > status &&
		jq -e ".changes >= $1 and .phase == \"ready\" and (.change_pending | not)" status > /dev/null; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ] || ! kill -0 "$sm_pid" 2> /dev/null; then
			echo "Weft does not come to rest after change $1:"
			cat status ctl.err
			tail -n 5 sm.log
			return 1
		fi
		sleep 0.05
	done
}

# discover FILE: the fabric as ibnetdiscover sees it. libumad2sim waits for ever for a response that a busy server
# dropped, so it gets a second chance.
discover()
{
	LD_PRELOAD=$preload timeout 15 ibnetdiscover > "$1" 2> err && [ -s "$1" ] ||
		{ on_fabric ibnetdiscover > "$1" 2> err && [ -s "$1" ]; } || { cat err && false; }
}

# same_graph NET DUMP [LESS]: the same nodes and links, whatever LIDs they have, and LESS ("rate") as well
same_graph()
{
	"$weft" topo diff "$1" "$2" --json > changes 2> err
	[ $? -le 1 ] || { cat err && return 1; }
	jq -e --arg less "${3:-LID} " '[.changes[] | .what // "" | select(startswith("LID ") or startswith($less) | not)] == []' \
		changes || { cat changes && false; }
}

# links_active: how many ends of links there are; fails when one is not Active
links_active()
{
	on_fabric iblinkinfo -l > links 2> err || { cat err && return 1; }
	! grep -F '==>' links | grep -v 'Active/ *LinkUp)==>' | grep -v 'Down/' || return 1
	grep -c 'Active/ *LinkUp)==>' links
}

# lids FILE: GUID and LID of every node of a dump
lids()
{
	"$weft" topo show "$1" --json > /dev/null || return 1
	awk '/^(Switch|Ca|Rt)/ { split($0, q, "\""); id = q[2]
			if ($1 == "Switch") { match($0, / lid [0-9]+/); print id, substr($0, RSTART + 5, RLENGTH - 5) } }
		/^\[/ && id ~ /^H/ { match($0, /# lid [0-9]+/); print id, $1, substr($0, RSTART + 6, RLENGTH - 6) }' "$1" |
		sed 's/\[\([0-9]*\)\][^ ]*/\1/' | sort
}

# dmchk FDBS: ibdmchk's verdict on these tables of the subnet as described, as "PATHS BAD LOOPS":
# CA to CA paths followed, whether one of them failed, whether they can deadlock. It often crashes
# after its last line, so the text decides and not the status.
dmchk()
{
	: > dmchk.out
	{ ibdmchk -s "$described/opensm-subnet.lst" -f "$1" -m "$described/opensm.mcfdbs" > dmchk.out 2>&1; } 2> /dev/null
	awk '/^-I- Scanned:/ { split($2, p, ":"); paths = p[2] }
		/Traversals Failed/ { bad = 1 }
		/^-E- credit loops in routing/ { loops = 1; judged = 1 }
		/^-I- no credit loops found/ { judged = 1 }
		END { if (!judged) exit 1; print paths + 0, bad + 0, loops + 0 }' dmchk.out ||
		{ echo "ibdmchk gives no verdict:" && tail -n 5 dmchk.out && false; }
}
