#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests about VMs that a manager must refuse, and what it says: vm_refusals.sh WEFT
#
# Each refusal has status 1, a sentence that names VM and host, and changes nothing.
#
# Covers: cmd_vms.c

# shellcheck disable=SC2015 # `a && b || explain`
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a path that holds in any directory
tests=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$tests/lib.sh"
# shellcheck source=tests/interop/lib_fabric.sh
. "$tests/lib_fabric.sh"
need jq
trap 'second_stop; sm_stop; fabric_stop; cd /; rm -rf "$dir"' EXIT

vm()
{
	"$weft" vm "$@" --socket "${socket:-$dir/ctl}"
}

comes_up()
{
	"$weft" topo gen mtree 4 2 --vfs 2 | sed '0,/^sriov=/{/^sriov=/d}' > net || return 1
	emu_start net || return 1
	sm_start --priority 5 || return 1
	printf 'create a\ncreate b\ncreate c\ncreate idle\nstart a "host 1"\nstart b "host 2"\nstart c "host 2"\n' | vm batch - > out ||
		{ cat out sm.log && false; }
}

# refused TEXT ARGUMENT...: status 1, this text on standard error, and the same VMs as before
refused()
{
	text=$1
	shift
	vm list --json > before
	vm "$@" > out 2> err
	status=$?
	[ $status = 1 ] && grep -q -- "$text" err && [ ! -s out ] || { echo "status $status:" && cat out err && echo "expected: $text" && return 1; }
	vm list --json | cmp - before
}

# A manager that is not the master.
standby()
{
	(
		SIM_HOST=leaf3
		exec "$weft" sm --transport ibsim --state '' --control "$dir/ctl2" --priority 1 > sm2.log 2>&1
	) &
	second_pid=$!
	until_true 30 eval '"$weft" ctl --socket ctl2 --json status 2>&1 | jq -e ".state == \"Standby\""' || { cat sm2.log && return 1; }
	"$weft" vm migrate a 'host 5' --socket ctl2 > out 2>&1
	status=$?
	second_stop
	[ $status = 1 ] && grep -q 'not the master' out || { cat out && false; }
}

# Its host is off: the request waits for the end of the repair, and is refused then.
during_a_failure()
{
	changes=$(sm_changes)
	emu_ask 'off "host 5"' > out
	refused 'host 5' migrate a 'host 5' || return 1
	emu_ask 'on "host 5"' > out
	sm_settled $((changes + 1)) || return 1
	until_true 30 eval 'vm hosts --json | jq -e "[.hosts[].name] | index(\"host 5\")"' && vm migrate a 'host 5' > out 2>&1 &&
		vm migrate a 'host 1' > out 2>&1 || { cat out && false; }
}

# A batch in which some requests are refused: the others are carried out, each refused one is named by its line.
part_of_a_batch()
{
	printf 'migrate a "host 3"\nmigrate nosuch "host 3"\n# a comment\nmigrate b "host 0"\nmigrate a "host 1:1"\n' > batch
	vm batch batch --json > out 2> err
	status=$?
	[ $status = 1 ] && jq -e '.requests == 4 and .done == 2 and .refused == 2' out && grep -q 'batch:2: there is no VM nosuch' err &&
		grep -q 'batch:4: .*host 0' err || { cat out err && false; }
}

# Lines are checked before anything is sent.
bad_batch()
{
	vm list --json > before
	printf 'stop a\nmigrate\nfly a\n' > batch
	vm batch batch > out 2> err
	[ $? = 2 ] && grep -q 'batch:2: migrate: expected VM HOST' err && grep -q "batch:3: unknown request 'fly'" err && [ ! -s out ] ||
		{ cat out err && return 1; }
	vm list --json | cmp - before
}

# More lines than the server keeps for a client, from several clients at once; one of them leaves.
very_many()
{
	awk 'BEGIN { for (i = 0; i < 6000; i++) print "create x" i }' > many
	sed s/create/destroy/ many > gone
	vm batch many > first 2>&1 &
	first=$!
	timeout 0.05 "$weft" vm batch many --socket "$dir/ctl" > /dev/null 2>&1
	vm batch many > second 2>&1
	wait $first
	[ "$(vm list --json | jq '[.vms[] | select(.vm | startswith("x"))] | length')" = 6000 ] || { tail -n 2 first second && return 1; }
	vm batch gone > out 2>&1 || { tail -n 3 out && return 1; }
	[ "$(vm list --json | jq '.vms | length')" = 4 ]
}

ok "the subnet is up" comes_up
ok "an unknown VM" refused 'there is no VM nosuch' migrate nosuch 'host 3'
ok "an unknown host" refused "VM a: 'nowhere' is not in the subnet" migrate a nowhere
ok "a full hypervisor" refused 'VM a: host .*2.* is full' migrate a 'host 2'
ok "a taken VF" refused 'VM a: VF 1 of host .*2.* has VM b' migrate a 'host 2:1'
ok "a VF that does not exist" refused 'has no VF 3' migrate a 'host 3:3'
ok "a migration to itself" refused 'VM a is on host .*1.* already' migrate a 'host 1'
ok "a host without SR-IOV" refused 'host 0 has no SR-IOV' migrate a 'host 0'
ok "a switch" refused 'no SR-IOV' start idle leaf0
ok "a VM that does not run" refused 'idle is not running' migrate idle 'host 3'
ok "a VM that runs already" refused 'VM a runs already' start a 'host 3'
ok "a VM that runs is not destroyed" refused 'stop it first' destroy a
ok "a name that is taken" refused 'there is a VM a already' create a
ok "a vGUID that is taken" refused 'is in use' create d "$(vm list --json | jq -r '.vms[0].guid')"
ok "part of a batch" part_of_a_batch
ok "a batch with wrong lines" bad_batch
ok "very many requests" very_many
ok "a manager that is not the master" standby
ok "during a failure" during_a_failure
echo "1..$n"
