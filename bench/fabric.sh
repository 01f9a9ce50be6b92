#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# weft fabric beside ibsim: SMPs a second of one client with so many outstanding, what each costs the
# server in CPU time, and how long the servers take to load a large fabric.
#
#	bench/fabric.sh [WEFT]		WEFT: the program, default build/src/cli/weft
#	bench/fabric.sh --write-docs	also refresh docs/results/emulator.md
#	ROUNDS=5 COUNT=100000		the best of so many rounds, each with so many SMPs
#
# Two clients: one that sleeps and makes a system call a MAD, as programs do, and one that works in batches
# and never sleeps. The rounds of the servers alternate, so that all meet the same machine. "sockets" is a
# server that does nothing but send packets back (echo.c): what client and kernel allow. Status 2: nothing
# could be measured.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
name=fabric
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
rounds=${ROUNDS:-5}
count=${COUNT:-100000}
work=$(mktemp -d)
pids=()
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2> /dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

die() { echo "bench: $*" >&2; exit 2; }
[ -x "$weft" ] || die "no $weft"
command -v ibsim > /dev/null || die "ibsim is not installed"
mkdir -p "$out"
exec > >(tee "$out/fabric.md")
cc -O2 -D_GNU_SOURCE -o flood "$here/flood.c"
cc -O2 -D_GNU_SOURCE -o echo "$here/echo.c"

now_ms() { echo $(($(date +%s%N) / 1000000)); }
host_of() { sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$1" | head -n 1; }
cpu_ns() { cut -d ' ' -f 1 "/proc/$1/schedstat"; }

# serve KIND NET: starts a server and sets pid
serve()
{
	case $1 in
	ibsim)
		mkfifo "con-$2" 2> /dev/null || true
		IBSIM_SOCKNAME=bench-$$-ibsim ibsim -s -N 20000 -S 3000 -P 120000 -L 49152 "$2" 0<> "con-$2" > /dev/null 2>&1 &
		;;
	weft) "$weft" fabric "$2" --name "bench-$$-weft" --no-control -q < /dev/null > /dev/null 2>&1 & ;;
	sockets) ./echo "bench-$$-sockets" & ;;
	esac
	pid=$!
	pids+=("$pid")
}

stop() { kill "$1"; wait "$1" 2> /dev/null || true; }

# From exec to the first SMP that is answered, in ms, and the memory it took, in MiB.
ready()
{
	local start end
	start=$(now_ms)
	serve "$1" "$2"
	until ./flood "bench-$$-$1" "$(host_of "$2")" 1 1 > /dev/null 2>&1; do
		kill -0 "$pid" 2> /dev/null || die "$1 does not take $2"
	done
	end=$(now_ms)
	echo "$((end - start)) $(awk '/^VmRSS/ {print int($2 / 1024)}' "/proc/$pid/status")"
	stop "$pid"
}

"$weft" topo gen mtree 36 2 -o t36_2.net
"$weft" topo gen mtree 36 3 -o t36_3.net
echo "load:  $(cut -d ' ' -f 1-3 /proc/loadavg); $(nproc) cores; $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"

declare -A rate cost of
for kind in ibsim weft sockets; do
	serve $kind t36_2.net
	of[$kind]=$pid
done
sleep 2
host=$(host_of t36_2.net)
route="1 19 3" # over two switches to a third

# once KIND WINDOW [-b]: one run; keeps the best
once()
{
	local kind=$1 window=$2 other before smps lost used
	for other in ibsim weft sockets; do kill -STOP "${of[$other]}"; done # one of them never sleeps
	kill -CONT "${of[$kind]}"
	before=$(cpu_ns "${of[$kind]}")
	# shellcheck disable=SC2086 # the ports of a route, an option or none
	read -r smps lost _ < <(timeout 60 ./flood ${3:-} "bench-$$-$kind" "$host" "$window" "$count" $route) ||
		die "$kind does not answer"
	used=$((($(cpu_ns "${of[$kind]}") - before) / count))
	[ "$lost" = 0 ] || echo "$kind, window $window: $lost SMPs were lost"
	[ "${rate[$kind,$window]:-0}" -ge "$smps" ] || rate[$kind,$window]=$smps
	[ "${cost[$kind,$window]:-999999}" -le "$used" ] || cost[$kind,$window]=$used
}

for client in "" -b; do
	rate=() cost=()
	for window in 1 4 8 64; do
		for ((i = 0; i < rounds; i++)); do
			for kind in ibsim weft sockets; do once $kind $window $client; done
		done
	done
	echo
	[ -n "$client" ] && words="works in batches, never sleeps" || words="one system call for each MAD, sleeps"
	echo "Client: $words."
	echo
	echo "| window | ibsim SMPs/s | weft SMPs/s | ratio | sockets SMPs/s | ibsim CPU ns | weft CPU ns | sockets CPU ns |"
	echo "|---|---|---|---|---|---|---|---|"
	for w in 1 4 8 64; do
		ratio=$((rate[weft,$w] * 10 / rate[ibsim,$w]))
		echo "| $w | ${rate[ibsim,$w]} | ${rate[weft,$w]} | $((ratio / 10)).$((ratio % 10)) | ${rate[sockets,$w]} |" \
			"${cost[ibsim,$w]} | ${cost[weft,$w]} | ${cost[sockets,$w]} |"
	done
done
for kind in ibsim weft sockets; do kill -CONT "${of[$kind]}"; stop "${of[$kind]}"; done
pids=()

echo
echo "| 36-port 3-tree, 11,664 hosts | ready after ms | MiB |"
echo "|---|---|---|"
for kind in ibsim weft; do
	best=
	for ((i = 0; i < 3; i++)); do
		read -r ms mib < <(ready $kind t36_3.net)
		[ -n "$best" ] && [ "$best" -le "$ms" ] || best=$ms
	done
	echo "| $kind | $best | $mib |"
done
[ -z "$docs" ] || sed 1d "$out/fabric.md" | write_result emulator.md emulator
