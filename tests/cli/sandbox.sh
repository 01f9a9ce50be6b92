#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` in its sandbox, as TAP: sandbox.sh PATH/TO/weft
#
# The kernel says what is in force in all threads; the daemon still does everything it is for: it comes up,
# reads its configuration again, writes dumps, state and metrics, reopens its log and reconnects.
#
# Covers: daemon_sandbox.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
sm_pid=
fabric_pid=
trap 'kill $sm_pid $fabric_pid 2> /dev/null; cd /; rm -rf "$dir"' EXIT
export IBSIM_SOCKNAME=weft-sandbox-$$

ctl()
{
	"$weft" ctl --socket "$dir/run/ctl" "$@"
}

serve()
{
	"$weft" fabric net --no-console --no-control -q > fabric.out 2>&1 &
	fabric_pid=$!
	until_true grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix
}

start()
{
	mkdir -p run state log
	printf 'log:\n  level: info\n' > weft.yaml
	"$weft" sm --transport ibsim --config weft.yaml --state state/s.db --control run/ctl --dumps dumps --log-file log/sm \
		--metrics-file run/metrics --pid run/pid "$@" > sm.log 2>&1 &
	sm_pid=$!
	until_true grep -q SUBNET log/sm
}

# in_force FIELD VALUE: in every thread
in_force()
{
	for task in /proc/"$sm_pid"/task/*; do
		[ "$(awk -v f="$1:" '$1 == f { print $2 }' "$task/status")" = "$2" ] || { grep "$1" "$task/status" && return 1; }
	done
}

privileges()
{
	in_force CapEff 0000000000000000 && in_force CapPrm 0000000000000000 && in_force NoNewPrivs 1
}

works()
{
	rm -rf dumps/*
	ctl dump && [ -s dumps/opensm-lfts.dump ] || return 1
	printf 'log:\n  level: debug\n' > new.yaml && mv new.yaml weft.yaml # as editors do it
	ctl reload && until_true grep -q 'reloaded: configuration reloaded' log/sm && ctl status --json | grep -q '"debug"' || return 1
	mv log/sm log/old && kill -USR1 "$sm_pid" && until_true test -s log/sm || return 1
	until_true test -s state/s.db.fabric && [ -s run/metrics ]
}

reconnects()
{
	kill -9 "$fabric_pid"
	wait "$fabric_pid" 2> /dev/null
	until_true grep -q connection_lost log/sm && serve && until_true grep -q 'SUBNET UP' log/sm && ! grep sandbox_part log/sm
}

ends()
{
	kill "$sm_pid"
	wait "$sm_pid"
	status=$?
	sm_pid=
	[ $status -eq 0 ] && [ ! -e run/pid ] && [ ! -e run/ctl ] || { echo "status $status" && ls run && cat log/sm && false; }
}

off()
{
	rm -f log/sm
	start --sandbox off && in_force NoNewPrivs 0 && ends
}

"$weft" topo gen mtree 4 2 -o net
ok "the server starts" serve
ok "the subnet comes up" start
ok "no thread has a capability, or can get one" privileges
missing=$(sed -n 's/.*sandbox_part: //p' log/sm)
case $missing in
*seccomp*) skip "system calls are filtered in every thread" "$missing" ;;
*) ok "system calls are filtered in every thread" in_force Seccomp 2 ;;
esac
ok "reload, dumps, log, state and metrics work" works
ok "a lost connection is opened again" reconnects
ok "it ends, and removes its files" ends
ok "it can be turned off" off
echo "1..$n"
