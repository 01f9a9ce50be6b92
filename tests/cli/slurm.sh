#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# weft lab slurm under Slurm itself, as TAP: tests/cli/slurm.sh PATH/TO/weft
#
# Starts a Slurm of one node in a directory of its own (munged, slurmctld, slurmd), submits the array job, merges its
# parts, and compares the bytes with those of a run on this machine.
#
# Covers: cmd_lab_slurm.c
set -u

bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
for program in munged slurmctld slurmd sbatch sinfo squeue; do
	if ! PATH=$PATH:/usr/sbin command -v $program > /dev/null; then
		echo "1..0 # SKIP $program is not installed"
		exit 0
	fi
done
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP slurmd needs root"
	exit 0
fi
PATH=$PATH:/usr/sbin
dir=$(mktemp -d)
chmod 700 "$dir"
cd "$dir" || exit 1

# Ends a daemon; one that has ended has no words in /proc, also if nobody has asked for its status.
ended()
{
	[ -s "$1" ] && pid=$(cat "$1") && kill "$pid" || return 0
	for tries in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ -n "$(tr -d '\0' < "/proc/$pid/cmdline")" ] || return 0
		sleep 0.1
	done
	kill -9 "$pid"
	sleep 0.1
}

finish()
{
	ended slurmctld.pid # the others answer it while it ends
	ended slurmd.pid
	ended munged.pid
	cd / && rm -rf "$dir"
} 2> /dev/null
trap finish EXIT
trap 'exit 1' HUP INT TERM

# ---- a cluster of one node ----

mkdir state spool x
head -c 1024 /dev/urandom > key && chmod 600 key
name=$(hostname -s)
conf()
{
	cat << END
ClusterName=weft
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
SlurmctldPort=$1
SlurmdPort=$(($1 + 1))
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName=$name NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}
SLURM_CONF=$dir/slurm.conf
export SLURM_CONF

# The controller on ports that are free: below those that the system gives to clients, others after a failure.
controller()
{
	for k in 0 1 2 3 4; do
		conf $((10000 + ($$ * 7 + k * 1009) % 10000 * 2)) > slurm.conf
		: > slurmctld.log
		slurmctld -f "$SLURM_CONF" || return 1
		tries=0
		while [ $tries -lt 100 ]; do
			! grep -q 'fatal: ' slurmctld.log || break
			! timeout 5 sinfo -h > /dev/null 2>&1 || return 0
			tries=$((tries + 1))
			sleep 0.1
		done
	done
	return 1
}

start()
{
	munged --force --key-file="$dir/key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
		--log-file="$dir/munged.log" --seed-file="$dir/seed" || return 1
	controller && slurmd -f "$SLURM_CONF" || return 1
	tries=0
	until timeout 5 sinfo -h -o %T 2> /dev/null | grep -qx idle; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
}
if ! start > started 2>&1; then
	echo "1..0 # SKIP no Slurm can be started here: $(cat started slurmctld.log slurmd.log 2> /dev/null | tail -1)"
	exit 0
fi

# ---- the same experiment, here and there ----

cat > x/tree.yaml << 'END'
name: tree
source: "002"
item: Table 2
claim: Trees with more levels have more hosts.
parameters: {levels: [1, 2, 3], ports: [4, 8, 16]}
run: model fattree {ports} {levels}
results: {hosts: .hosts, time: .time_ms.td}
END
echo 1..2
# sbatch --wait looks every ten seconds only.
submitted()
{
	"$bin" lab slurm tree --experiments x --tasks 3 --db lab.db -o lab.sbatch && sbatch lab.sbatch || return 1
	tries=0
	while [ -n "$(timeout 5 squeue -h 2>&1)" ]; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || return 1
		sleep 0.1
	done
	[ -e lab.db.part-1 ] && [ -e lab.db.part-2 ] && [ -e lab.db.part-3 ]
}
if submitted; then
	echo "ok 1 - Slurm runs the array job"
else
	echo "not ok 1 - Slurm runs the array job"
fi > said 2>&1
grep '^ok\|^not ok' said
grep -q '^ok' said || cat said weft-lab-*.log slurmctld.log slurmd.log >&2
if { "$bin" lab run tree --experiments x --db here.db && "$bin" lab merge --db lab.db lab.db.part-* && cmp here.db lab.db; } \
	> said 2>&1; then
	echo "ok 2 - its merged parts have the bytes of a run on one machine"
else
	echo "not ok 2 - its merged parts have the bytes of a run on one machine"
	cat said >&2
fi
