#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every call that can fail fails in turn: failures.sh WEFT TOOLS [RUNS [GROUP...]]
#
# For each group of calls (memory, files, disk, sockets, loop) a manager comes up, writes state, dumps,
# metrics and its log, and ends; in each run another call fails: the first, the second, until no call is left,
# or at most RUNS of them, spread over all (0: all). Then with each number of descriptors. The manager may
# report it, try again, or end with a message and status 1 or 2; it never crashes or hangs, and the next run
# finds the state file whole, with the same LIDs.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
runs=${3:-12}
[ $# -lt 3 ] && shift $# || shift 3
groups=${*:-memory files disk sockets loop}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq prlimit
home=H-0001000000000010

"$weft" topo gen mtree 4 2 -o net

# manager COMMAND...: comes up once, with all that it can write; COMMAND runs it
manager()
{
	rm -rf out
	mkdir out
	timeout -k 5 60 "$@" "$weft" sm --transport ibsim --state state.db --control out/ctl --dumps out/dumps --log-file out/log \
		--metrics-file out/metrics --pid out/pid --names=false --once > up 2> err
}

# judge WHAT STATUS: it ended as it may
judge()
{
	case $2 in
	0 | 1 | 2) ;;
	124 | 137) echo "$1: hangs" && cat err out/log && return 1 ;;
	*) echo "$1: status $2" && cat err out/log && return 1 ;;
	esac
	[ "$2" -eq 0 ] || [ -s err ] || { echo "$1: ends without a message" && cat out/log && return 1; }
	! grep -s -E 'state_damaged|subnet_damaged' out/log || { echo "$1: found a damaged file" && return 1; }
}

first()
{
	manager env && is_whole && cp lids before
}

# What the devices hold and the next manager finds is as before.
unharmed()
{
	manager env && judge "after $1" 0 && is_whole && same_lids before || { echo "after $1" && cat err out/log && false; }
}

fail_one()
{
	manager env LD_PRELOAD="$tools/libfail_nth.so" FAIL_GROUP="$1" FAIL_NTH="$2" FAIL_REPORT=report
	judge "call $2 of $1 ($(cat report))" $?
}

# The step grows with the number of calls: RUNS runs see the whole of it.
group()
{
	manager env LD_PRELOAD="$tools/libfail_nth.so" FAIL_GROUP="$1" FAIL_NTH=1000000000 FAIL_REPORT=report FAIL_COUNT=count
	all=$(cat count)
	[ "$all" -gt 0 ] || { echo "no calls of $1" && return 1; }
	step=1
	[ "$runs" -eq 0 ] || [ "$all" -le "$runs" ] || step=$((all / runs + 1))
	i=1
	done=0
	while [ $i -le "$all" ]; do
		fail_one "$1" $i || return 1
		done=$((done + 1))
		[ $((done % 25)) -ne 0 ] || unharmed "call $i of $1" || return 1
		i=$((i + step))
	done
	unharmed "$1" || return 1
	echo "$1: $done of $all calls" >> summary
}

# With so few descriptors, and with each one more.
descriptors()
{
	i=4
	while [ $i -le 40 ]; do
		manager sh -c "ulimit -n $i; exec \"\$@\"" sh
		judge "$i descriptors" $? || return 1
		[ "$runs" -eq 0 ] && i=$((i + 1)) || i=$((i + 5))
	done
	unharmed "few descriptors"
}

# No descriptor is left while it runs: a change, dumps and state files must wait or do without.
short()
{
	sm_start --state state.db --dumps out/dumps && is_whole && cp lids before || return 1
	open=$(find "/proc/$sm_pid/fd" -mindepth 1 | wc -l)
	prlimit --pid "$sm_pid" --nofile="$open:4096" || return 1
	console 'Unlink "S-0002000000000001"[3]'
	kill -USR1 "$sm_pid"
	sleep 1.5 # long enough for a child process to save the state of the subnet
	console 'Relink "S-0002000000000001"[3]'
	kill -0 "$sm_pid" || { tail -n 20 sm.log && return 1; }
	prlimit --pid "$sm_pid" --nofile=1024:4096 && sm_settled 1 || return 1
	tries=0
	until is_whole > whole 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { cat whole && tail -n 20 sm.log && return 1; }
		sleep 0.05
	done
	same_lids before && sm_ends
}

# A manager at rest saves its state by a child process: fork() fails, and the manager goes on.
no_child()
{
	rm -f state.db.fabric
	LD_PRELOAD=$tools/libfail_nth.so FAIL_GROUP=processes FAIL_NTH=$1 FAIL_REPORT=report \
		"$weft" sm --transport ibsim --state state.db --control "$dir/ctl" > sm.log 2>&1 &
	sm_pid=$!
	sm_settled 1 || return 1
	tries=0
	until [ -s report ] || [ -s state.db.fabric ]; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { cat sm.log && return 1; }
		sleep 0.05
	done
	sm_settled 1 && is_whole && sm_ends
}

: > summary
ok "the server takes the netlist" fabric_start net
ok "without a failure the subnet comes up" first
for g in $groups; do
	ok "$g" group "$g"
done
ok "few descriptors" descriptors
ok "no descriptor is left while it runs" short
ok "no child process can be started" no_child 1
ok "waiting for a child process is interrupted" no_child 2
ok "the server is well and ends" fabric_ends
sed 's/^/# /' summary
echo "1..$n"
