#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Counters of all ports, and a sick link, as TAP: counters.sh PATH/TO/weft
#
# A daemon with perf.period on an emulated tree. Counters of devices grow; the manager shows them, names a link whose
# errors grow, isolates it and uses it again. Devices without wide counters, and silent ones, are read as far as they
# can be. No counter of a device is cleared.
#
# Covers: control_perf.c perf_log.c ctl_show_perf.c cmd_fault.c gsi.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
export IBSIM_SOCKNAME=weft-counters-$$

ctl()
{
	"$weft" ctl --socket "$dir/ctl" "$@"
}

fabric()
{
	"$weft" ctl --socket "$dir/fabric" fabric "$@"
}

rounds()
{
	ctl counters --json | jq .rounds
}

# two_rounds: two whole rounds from now on
two_rounds()
{
	from=$(rounds) && until_true later $((from + 3))
}

later()
{
	[ "$(rounds)" -ge "$1" ]
}

logged()
{
	jq -e -s "[.[] | select($1)] | length > 0" log
}

"$weft" topo gen kary 4 2 > net || exit 1
"$weft" fabric net --no-console --quiet --control "$dir/fabric" > fabric.out 2>&1 &
pids=$!
until_true test -S "$dir/fabric"
echo 'perf: {well: 600s}' > sm.yaml # a link that is isolated stays so until the test says otherwise
"$weft" sm --config "$dir/sm.yaml" --server "$IBSIM_SOCKNAME" --control "$dir/ctl" --state none --log-format json --log-file "$dir/log" \
	--perf-period 200ms --perf-isolate switches --perf-watch 2s --perf-timeout 100ms > sm.out 2>&1 &
pids="$pids $!"

up()
{
	ctl wait && until_true later 2
}
ok "the manager reads counters" up

all_read()
{
	ctl counters --json > out && jq -e '.ports == 64 and .devices == 24 and .silent == 0 and .bad <= .timeouts' out
}
ok "of all 64 linked ports of 24 devices" until_true all_read

flows()
{
	fabric flow H-0001000000000010 H-0001000000000020 1000000 && two_rounds &&
		ctl counters leaf0:1 --json > out &&
		jq -e '.ports[0].counted.rcv_pkts >= 1000000 and (.ports[0].hour.samples | length) == 180' out &&
		ctl counters leaf0:1 && ctl counters leaf0 && ctl counters
}
ok "a flow shows at its ports" flows

refused()
{
	! ctl counters leaf0:77 && ! ctl counters nobody:1 2> err && grep -q nobody err
}
ok "ports and nodes that are not there are refused" refused

not_sick()
{
	fabric counter 'leaf0[5]' SymbolErrorCounter 5 && two_rounds && ctl sick --json | jq -e '.sick == 0'
}
ok "five errors are not a sick link" not_sick

# Packets over the link and beside it, again and again, from before it is sick until it is in use again.
traffic()
{
	while [ -e running ]; do
		for pair in '10 20' '20 10' '10 30' '30 10' '20 4c'; do
			fabric flow "H-00010000000000${pair% *}" "H-00010000000000${pair#* }" 10 > sent 2>&1 &&
				echo "$pair" >> arrived || { echo "$pair" && cat sent; } >> lost
		done
	done
	touch ended
}
touch running arrived lost
traffic &
pids="$pids $!"
# another_tour: each of the pairs once more from now on
another_tour()
{
	tour=$(($(wc -l < arrived) + 10)) && until_true sh -c "[ \$(cat arrived lost | wc -l) -ge $tour ]"
}

through()
{
	another_tour && ctl route H-0001000000000010 H-0001000000000020 | grep -q root0
}
ok "packets pass the link" through

# The round that goes on may have read the port before; then the next one sees it. A machine that is too busy misses queries.
sick()
{
	missed=$(ctl counters --json | jq .timeouts)
	fabric counter 'leaf0[5]' SymbolErrorCounter 100 && from=$(rounds) && until_true logged '.record == "link_sick"' || { cat log; return 1; }
	named=$(jq -s '[.[] | select(.record == "link_sick")][0].round' log)
	echo "rounds until the errors $from, until it was named $named"
	[ "$named" -le $((from + 1)) ] || [ "$(ctl counters --json | jq .timeouts)" -gt "$missed" ]
}
ok "a link whose errors grow is named within two rounds" sick

isolated()
{
	until_true sh -c "'$weft' ctl --socket '$dir/ctl' sick --json | jq -e '.isolated == 1'" &&
		until_true sh -c "'$weft' ctl --socket '$dir/ctl' topology --json | grep -q ." &&
		ctl wait && ctl sick && ctl route H-0001000000000010 H-0001000000000020 > route && [ -s route ] && ! grep -q root0 route && another_tour
}
ok "and isolated: no route uses it" isolated
told()
{
	until_true logged '.record == "change_done" and .cause == "isolation" and (.what | endswith("went down for routes: it is sick and isolated"))' &&
		! logged '.record == "link_down"'
}
ok "the log does not say that it went down" told

reach()
{
	fabric flow H-0001000000000010 H-000100000000004c 10 && fabric flow H-000100000000004c H-0001000000000010 10 &&
		fabric flow H-0001000000000020 H-000100000000004c 10
}
ok "hosts reach each other meanwhile" reach

reinstated()
{
	echo 'perf: {well: 1s}' > sm.yaml
	ctl reload || return 1
	until_true sh -c "'$weft' ctl --socket '$dir/ctl' sick --json | jq -e '.sick == 0 and .isolated == 0'" && ctl wait &&
		ctl changes --json | jq -e '[.changes[] | select(.cause == "isolation")] | length == 1' &&
		ctl changes --json | jq -e '[.changes[] | select(.cause == "release")] | length == 1'
}
ok "it is used again when it is well" reinstated

lossless()
{
	ctl route H-0001000000000010 H-0001000000000020 | grep -q root0 && another_tour || return 1
	rm running
	until_true test -e ended && wc -l arrived && cat lost && [ ! -s lost ]
}
ok "and no packet was lost meanwhile" lossless

uncleared()
{
	fabric dump leaf0 > /dev/null
	ctl counters leaf0:5 --json | jq -e '.ports[0].device.symbol_error == 105'
}
ok "no counter of a device was cleared" uncleared

narrow()
{
	fabric agent leaf1 narrow && fabric agent leaf2 full && fabric agent host\ 3 silent && two_rounds && two_rounds &&
		until_true sh -c "'$weft' ctl --socket '$dir/ctl' sick --json | jq -e '.silent == 1'" &&
		ctl sick --json | jq -e '.silent_nodes[0].node == "host 3"' &&
		fabric counter 'leaf2[1]' PortXmitData 4000 && two_rounds &&
		ctl counters leaf2:1 --json | jq -e '.ports[0].counted.xmit_data >= 4000' &&
		ctl counters leaf1:1 --json | jq -e '.ports[0].known'
}
ok "devices with fewer counters, and silent ones" narrow

bad_agent()
{
	! fabric agent leaf1 broken && ! fabric agent nowhere wide
}
ok "the emulator refuses agents that do not exist" bad_agent

beside()
{
	"$weft" perf --server "$IBSIM_SOCKNAME" --control "$dir/perf" --perf-period 200ms --perf-isolate all > perf.out 2>&1 &
	pids="$pids $!"
	until_true sh -c "'$weft' ctl --socket '$dir/perf' counters --json 2> /dev/null | jq -e '.rounds >= 3 and .ports == 64'" || return 1
	fabric counter 'leaf3[5]' SymbolErrorCounter 200 &&
		until_true sh -c "'$weft' ctl --socket '$dir/perf' sick --json | jq -e '.sick >= 1 and .isolated == 0'" &&
		"$weft" ctl --socket "$dir/perf" counters --json | jq -e '.bad <= .timeouts' && "$weft" top --socket "$dir/perf" --once &&
		"$weft" why --socket "$dir/perf" 'host 1' > out && grep -qx 'partitions     not known' out &&
		"$weft" ctl --socket "$dir/perf" stop
}
ok "weft perf reads them beside the manager at the same port, and isolates nothing" beside

off()
{
	printf 'perf:\n  sick: 3\n' > bad.yaml
	! "$weft" sm --config bad.yaml --check-config 2> err && grep -q bad.yaml:2 err
}
ok "a wrong setting is refused with its line" off

echo "1..$n"
