#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Damaged state files, and two managers on one: state.sh WEFT TOOLS [DAMAGES [SEED]]
#
# Bits of the state file and of the saved subnet state are flipped, and the files cut short, at random places.
# The manager always starts and brings up a fabric that has lost everything; a port that gets another LID than
# before is one whose LID the log says was lost with a damaged file.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
damages=${3:-12}
seed=${4:-1}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq od dd

"$weft" topo gen mtree 4 3 -o net

saved()
{
	sm_start --state state.db && is_whole && cp lids before && sm_ends && [ -s state.db ] && [ -s state.db.fabric ] &&
		mkdir good && cp state.db state.db.fabric good
}

# flip FILE BIT
flip()
{
	byte=$(od -An -tu1 -j$(($2 / 8)) -N1 "$1")
	value=$(awk -v b="$byte" -v k=$(($2 % 8)) 'BEGIN { m = 2 ^ k; printf "%o", int(b / m) % 2 ? b - m : b + m }')
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$value" | dd of="$1" bs=1 seek=$(($2 / 8)) conv=notrunc 2> /dev/null
}

# damage I: files as they were saved, but one of them damaged; which is said in `what`
damage()
{
	rm -f state.db*
	cp good/state.db good/state.db.fabric .
	file=state.db
	[ $(($1 % 3)) -ne 2 ] || file=state.db.fabric
	size=$(wc -c < $file)
	at=$(draw "$((size * 8))" $((seed * 1000 + $1)))
	if [ $(($1 % 4)) -eq 3 ]; then
		dd if=good/$file of=$file bs=1 count=$((at / 8)) 2> /dev/null
		what="$file cut after $((at / 8)) bytes"
	else
		flip $file "$at"
		what="$file with bit $at flipped"
	fi
}

# No LID that differs, unless the log says that the file is damaged.
one()
{
	damage "$1"
	fabric_start net || return 1
	sm_start --state state.db && is_whole || { echo "$what" && cat sm.log && return 1; }
	cmp -s lids before || grep -q 'state_damaged' sm.log ||
		{ echo "$what: other LIDs, and the log does not say why" && diff before lids && cat sm.log && return 1; }
	! grep -q 'state_damaged' sm.log || [ -e state.db.damaged-1 ] || { echo "$what: it is not kept" && return 1; }
	sm_ends || { echo "$what" && return 1; }
}

many()
{
	i=0
	while [ $i -lt "$damages" ]; do
		one $i || return 1
		i=$((i + 1))
	done
}

# The file is whole again, and the next start finds nothing to complain about.
repaired()
{
	sm_start --state state.db && is_whole && ! grep damaged sm.log && sm_ends
}

second_refused()
{
	sm_start --state state.db || return 1
	timeout 20 "$weft" sm --transport ibsim --state state.db --control none > refusal 2>&1
	status=$?
	cat refusal
	[ $status -eq 1 ] && grep -q "state.db: process $sm_pid uses it" refusal && is_whole && sm_ends
}

# A lock that dies with the process: no matter how.
after_kill()
{
	sm_start --state state.db || return 1
	kill -9 "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	sm_start --state state.db && is_whole && sm_ends
}

ok "the server takes the netlist" fabric_start net
ok "the subnet comes up, and its state is saved" saved
ok "$damages damaged files: the manager starts, and takes no wrong LID from them" many
ok "after that the file is whole" repaired
ok "a second manager with the same state file is refused" second_refused
ok "after kill -9 the next one starts" after_kill
ok "the server is well and ends" fabric_ends
echo "1..$n"
