#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Processes that stop for a while: stalls.sh WEFT TOOLS [ROUNDS [SEED]]
#
# The manager or the emulator is stopped (SIGSTOP) and continued at random moments of a bring-up, on different
# fabrics, with different mechanisms and windows, half of the time while a switch loses packets. In the end
# the subnet must be whole, and the manager must have read back no more than what it repeated.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
rounds=${3:-8}
seed=${4:-1}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq

# one_of NUMBER WORD...: drawn from the words
one_of()
{
	number=$1
	shift
	shift "$(draw $# "$number")"
	echo "$1"
}

# stall PID NUMBER: it stops within 60 ms, for up to 300 ms
stall()
{
	sleep "$(awk -v ms="$(draw 60 $((seed * 1000 + $2)))" 'BEGIN { print ms / 1000 }')"
	kill -STOP "$1" 2> /dev/null || return 0
	sleep "$(awk -v ms="$(draw 300 $((seed * 2000 + $2)))" 'BEGIN { print ms / 1000 }')"
	kill -CONT "$1"
}

# A repeated Set of SwitchInfo has the ports of its switch read too, twice at most.
read_back_little()
{
	sm_ask smps > smps && jq -e '.smps.audit <= 2 * 16 * .retries' smps > /dev/null || { cat smps && false; }
}

# a_round NUMBER
a_round()
{
	sm_stop
	kind=$(one_of $((seed * 3000 + $1)) 'mtree 8 3' 'torus 3 3 3' 'dragonfly 2 4 2' 'hypercube 5' 'irregular 24 --ports 8 --seed 5')
	# shellcheck disable=SC2086
	"$weft" topo gen $kind -o net && fabric_start net || return 1
	home=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | tail -n 1)
	lossy=$(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' net | sed -n 2p)
	share=$(one_of $((seed * 4000 + $1)) 0 0 0.01 0.05)
	console "loss \"$lossy\" $share"
	console "latency \"$SIM_HOST\"[1] $(one_of $((seed * 8000 + $1)) 0us 300us 1ms)"
	"$weft" sm --transport ibsim --state '' --control "$dir/ctl" \
		--mechanism "$(one_of $((seed * 5000 + $1)) weft weft improved improved+partial basic)" \
		--window "$(one_of $((seed * 6000 + $1)) 1 8 32 32 512 4096)" > sm.log 2>&1 &
	sm_pid=$!
	for s in 1 2 3; do
		victim=$(one_of $((seed * 7000 + $1 * 8 + s)) "$sm_pid" "$ibsim_pid")
		stall "$victim" $(($1 * 8 + s))
	done
	sm_settled 1 && console "loss \"$lossy\" 0" || return 1
	# What was lost late may still be looked into.
	[ "$share" = 0 ] || sm_resync || return 1
	read_back_little && is_whole && sm_ends && fabric_ends || { echo "$kind, loss $share" && tail -n 20 sm.log && false; }
}

for i in $(seq 1 "$rounds"); do
	ok "round $i: stopped three times while it brought the subnet up" a_round "$i"
done
echo "1..$n"
