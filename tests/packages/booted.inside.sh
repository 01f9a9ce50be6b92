#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What booted.sh does in each system, as a service of it: packages are in /out/old and /out/new. Lines of TAP go to standard
# output, without numbers; explanations to standard error. The last line is "end".
#
# shellcheck disable=SC2015,SC2317,SC2319 # `a && b || explain`, ok calls
set -u
export DEBIAN_FRONTEND=noninteractive
cd /tmp || exit 1

ok()
{
	what=$1
	shift
	if "$@" > /tmp/said 2>&1; then
		echo "ok - $what"
	else
		echo "not ok - $what"
		{
			echo "$what:"
			cat /tmp/said
			journalctl -b --no-pager -n 40 -u weft-sm -u 'weft-sm@*'
		} >&2
	fi
}

# until_true SECONDS COMMAND...
until_true()
{
	tries=$(($1 * 10))
	shift
	until "$@" > /dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { echo "not in time: $*" && return 1; }
		sleep 0.1
	done
}

value() { systemctl show --value -p "$2" "$1"; }
is() { [ "$(value "$1" "$2")" = "$3" ] || { echo "$1: $2 is $(value "$1" "$2"), expected $3" && return 1; }; }
active() { is "$1" ActiveState active; }

# What the devices hold: LIDs, states, tables.
held()
{
	for name in lab lab2; do
		weft ctl --name $name fabric dump | grep -v 'Net status' || return 1
	done
}

# tables_written: how many blocks of tables devices were told to write
tables_written()
{
	weft ctl --name lab fabric meter | awk '$1 == "Set" && $2 == "LinearForwardingTable" {n = $3} END {print n + 0}'
}

installed()
{
	dpkg -i /out/old/weft*.deb || return 1
	for unit in weft-sm weft-sm@west; do
		is $unit ActiveState inactive || return 1
	done
	[ "$(systemctl is-enabled weft-sm)" = disabled ] || { echo "enabled by its installation" && return 1; }
	[ "$(stat -c '%U:%G %a' /var/lib/weft)" = 'weft:weft 700' ]
}
ok "install: nothing is enabled, nothing runs" installed

# Two emulated fabrics, as services.
for name in lab lab2; do
	weft topo gen mtree 8 2 -o /etc/weft/$name.net
	cat > /run/systemd/system/$name.service << UNIT
[Service]
ExecStart=/usr/bin/weft fabric /etc/weft/$name.net --name $name --no-console
UNIT
done
cat > /etc/weft/weft.yaml << 'YAML'
transport: {kind: ibsim, server: lab}
log: {file: /var/log/weft/sm.log}
perf: {period: 1s}
metrics: {port: 9447, file: /var/lib/weft/weft.prom}
YAML
echo 'transport: {kind: ibsim, server: lab2}' > /etc/weft/west.yaml
mkdir -p /run/systemd/system
systemctl daemon-reload

started()
{
	systemctl start lab lab2 && until_true 10 weft ctl --name lab fabric stat && until_true 10 weft ctl --name lab2 fabric stat &&
		systemctl start weft-sm && systemctl enable --now weft-sm@west && active weft-sm && active weft-sm@west || return 1
	# It counts as started when the subnet is up.
	weft ctl --socket /run/weft/sm.sock status --json > said.json
	grep -q '"state": "Master"' said.json || { cat said.json && return 1; }
	weft ctl --name west status | grep -q Master && value weft-sm StatusText | grep 'Master: 12 switches'
}
ok "a manager and an instance start, and count as started when their subnets are up" started

confined()
{
	for unit in weft-sm weft-sm@west; do
		pid=$(value $unit MainPID)
		[ "$(stat -c %U "/proc/$pid")" = weft ] || { echo "$unit runs as $(stat -c %U "/proc/$pid")" && return 1; }
		grep -q '^CapEff:[[:space:]]*0*$' "/proc/$pid/status" && grep -q '^CapBnd:[[:space:]]*0*$' "/proc/$pid/status" &&
			grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$pid/status" && grep -q '^Seccomp:[[:space:]]*2' "/proc/$pid/status" ||
			{ grep 'Cap\|NoNew\|Seccomp' "/proc/$pid/status" && return 1; }
		systemd-analyze security --no-pager --threshold=20 $unit.service | tail -n 1 || return 1
	done
	! { cat /var/log/weft/sm.log && journalctl -b -u weft-sm@west; } | grep sandbox_part | grep -v 'the kernel does not have it'
}
ok "as user weft, without capabilities; systemd-analyze security below 2" confined

reloaded()
{
	pid=$(value weft-sm MainPID)
	sed -i 's/1s/2s/' /etc/weft/weft.yaml
	systemctl reload weft-sm && weft ctl --socket /run/weft/sm.sock config | grep -q 'period: 2s' || return 1
	cp /etc/weft/weft.yaml good.yaml
	echo 'perf: {period: 1 parsec}' > /etc/weft/weft.yaml
	! systemctl reload weft-sm || { echo "a reload with faults succeeded" && return 1; }
	journalctl -b -u weft-sm | grep 'weft.yaml:1:16' || return 1
	cp good.yaml /etc/weft/weft.yaml
	systemctl reload weft-sm && active weft-sm && is weft-sm MainPID "$pid"
}
ok "reload; one with faults fails, the journal has them, and the manager goes on" reloaded

rotated()
{
	before=$(stat -c %i /var/log/weft/sm.log)
	logrotate --force /etc/logrotate.d/weft && [ "$(stat -c %i /var/log/weft/sm.log.1)" = "$before" ] || { ls -lia /var/log/weft && return 1; }
	weft ctl --name lab fabric 'off root0'
	until_true 10 grep -q node_gone /var/log/weft/sm.log && ! grep node_gone /var/log/weft/sm.log.1 || return 1
	weft ctl --name lab fabric 'on root0'
	until_true 10 grep -q node_came /var/log/weft/sm.log && active weft-sm && active weft-sm@west || return 1
	logrotate --force /etc/logrotate.d/weft && ls -l /var/log/weft && [ -s /var/log/weft/sm.log.2.gz ] && active weft-sm
}
ok "logrotate: the manager writes to the new file" rotated

killed()
{
	pid=$(value weft-sm MainPID)
	held > before
	kill -9 "$pid"
	until_true 10 sh -c "[ \$(systemctl show --value -p MainPID weft-sm) != $pid ] && systemctl is-active weft-sm" &&
		weft ctl --socket /run/weft/sm.sock wait && held > after && diff before after && is weft-sm NRestarts 1
}
ok "a manager that dies is started again, with the same LIDs and tables" killed

hung()
{
	mkdir -p /run/systemd/system/weft-sm.service.d
	printf '[Service]\nWatchdogSec=1\nTimeoutStopSec=1\n' > /run/systemd/system/weft-sm.service.d/test.conf
	systemctl daemon-reload && systemctl restart weft-sm && pid=$(value weft-sm MainPID) && sleep 3 && is weft-sm MainPID "$pid" || return 1
	kill -STOP "$pid"
	until_true 20 sh -c "[ \$(systemctl show --value -p MainPID weft-sm) != $pid ] && systemctl is-active weft-sm"
	rc=$?
	rm -r /run/systemd/system/weft-sm.service.d
	systemctl daemon-reload && systemctl restart weft-sm && return $rc
}
ok "and one that hangs" hung

upgraded()
{
	pid=$(value weft-sm MainPID)
	west=$(value weft-sm@west MainPID)
	weft ctl --socket /run/weft/sm.sock wait && weft ctl --name west wait && held > before && weft ctl --name lab fabric meter reset || return 1
	dpkg --force-confold --force-confdef -i /out/new/weft*.deb || return 1
	until_true 20 systemctl is-active weft-sm weft-sm@west && weft ctl --socket /run/weft/sm.sock wait && weft ctl --name west wait || return 1
	[ "$(value weft-sm MainPID)" != "$pid" ] && [ "$(value weft-sm@west MainPID)" != "$west" ] || { echo "not restarted" && return 1; }
	held > after && diff before after && [ "$(tables_written)" = 0 ] || { weft ctl --name lab fabric meter && return 1; }
	weft ctl --socket /run/weft/sm.sock smps --json | grep '"distribution": 0'
}
ok "an upgrade restarts both; no LID changes and no table is written" upgraded

# Status 2: not again. Status 1, again and again: five starts.
broken()
{
	echo 'perf: {period: 1 parsec}' > /etc/weft/bad.yaml
	! systemctl start weft-sm@bad && is weft-sm@bad NRestarts 0 && is weft-sm@bad ExecMainStatus 2 && is weft-sm@bad Result exit-code || return 1
	journalctl -b -u weft-sm@bad | grep 'bad.yaml:1:16' || return 1
	echo 'transport: {kind: ibsim, server: lab, device: nobody}' > /etc/weft/lost.yaml
	systemctl start weft-sm@lost
	until_true 20 is weft-sm@lost ActiveState failed && sleep 2 && is weft-sm@lost ActiveState failed && is weft-sm@lost NRestarts 5 &&
		journalctl -b -u weft-sm@lost | grep 'repeated too quickly'
}
ok "a broken configuration is not started again; a manager that ends again and again is left off" broken

without_file()
{
	! systemctl start weft-sm@nowhere && journalctl -b -u weft-sm@nowhere | grep -i 'assertion'
}
ok "an instance without a file does not start" without_file

removed()
{
	dpkg -r weft-fabric weft-doc weft && ! systemctl is-active weft-sm && ! systemctl is-active weft-sm@west && ! ps -C weft && [ -s /var/lib/weft/weft.db ] &&
		dpkg -P weft weft-fabric weft-doc && [ ! -e /var/lib/weft ] && [ ! -e /etc/weft/weft.yaml ] && ! find /etc/systemd -name 'weft*' | grep .
}
systemctl stop lab lab2
ok "remove stops both; purge leaves nothing" removed
echo end
