#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Odd but legal fabrics by seed, on weft fabric and on ibsim: odd.sh WEFT TOOLS [COUNT [FIRST [SERVER...]]]
#
# The manager sits at a node that the seed draws. When the subnet is up, and after each of some changes that
# the seed draws, three must agree: what the devices hold, read by directed routes (census) and judged by
# `weft route verify`; what `weft ctl` says; and, in some seeds, what ibnetdiscover finds.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
count=${3:-5}
first=${4:-1}
[ $# -gt 4 ] && shift 4 || set -- fabric ibsim
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
need_umad2sim

# draw_seat SEED SERVER: a node of net with a link. A program on ibsim is at a host's first port.
draw_seat()
{
	awk -v seed="$1" -v server="$2" '
		BEGIN { srand(seed) }
		/^(Switch|Ca|Rt)/ { split($0, q, "\""); id = q[2]; type = $1 }
		/^\[/ && type != "Rt" && !(id in seen) && (type == "Switch" || server != "ibsim" || /^\[1\]/) { seen[id]; seat[n++] = id }
		END { if (n) print seat[int(rand() * n)] }' net
}

# draw_changes SEED: things to unlink, one a line: a port, or all ports of a node other than the seat. Before
# it "alone" where that cuts a host off that is the seat, else "whole".
draw_changes()
{
	awk -v seed="$1" -v seat="$seat" '
		BEGIN { srand(seed + 0.5) }
		/^(Switch|Ca|Rt)/ { split($0, q, "\""); id = q[2]; type = $1 }
		/^\[/ { port = substr($1, 2) + 0; place = "\"" id "\"[" port "]"; what[n++] = place; if (id != seat) what[n++] = "\"" id "\"" }
		/^\[/ && id == seat && type == "Ca" && !own { own = 1; split($0, q, "\""); cuts[place]; cuts["\"" q[2] "\""]
			split(q[3], r, /[][]/); cuts["\"" q[2] "\"[" r[2] "]"] }
		END { for (i = 0; n && i < 2; i++) { w = what[int(rand() * n)]; print (w in cuts ? "alone" : "whole"), w } }' net
}

# known: GUID and LID of each endport, as the manager says in known.net
known()
{
	awk '/^(Switch|Ca|Rt)/ { type = $1
			if (type == "Switch") { match($0, / lid [0-9]+ lmc/); print guid, substr($0, RSTART + 5, RLENGTH - 9) } }
		/^switchguid=/ { split($0, q, /[()]/); guid = q[2] }
		/^\[/ && type != "Switch" { split($1, q, /[()]/); match($0, /# lid [0-9]+/); print q[2], substr($0, RSTART + 6, RLENGTH - 6) }' known.net |
		awk '{ printf "0x%016s %s\n", $1, $2 }' | sed 's/0x\( *\)/0x\1/; :a; s/^\(0x0*\) /\10/; ta' | sort
}

# agrees: devices and manager; what differs is said
agrees()
{
	"$tools/census" -s "$IBSIM_SOCKNAME" -n "$seat" -d "$dir" > census.out || return 1
	sm_ask topology > topology || { cat ctl.err && return 1; }
	jq -r .netlist topology > known.net
	awk '{ print $1, $2 }' lids | sort > held
	known > said_lids
	diff held said_lids || { echo "LIDs: devices and weft ctl differ" && return 1; }
	! grep -v ' Active$' ports || return 1
	ends=$(jq '.links * 2' topology)
	[ "$(wc -l < ports)" -eq "$ends" ] || { echo "$(wc -l < ports) ends of links, weft ctl says $ends" && return 1; }
	[ ! -s lfts ] || "$weft" route verify known.net lfts --json > verdict || { cat verdict && return 1; }
	sm_ask status > status && jq -e '.phase == "ready" and .state == "Master" and (.change_pending | not)' status > /dev/null
}

# come_to_agree: within a time that only a manager at its end takes
come_to_agree()
{
	tries=0
	until agrees > differs 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 150 ] || ! kill -0 "$sm_pid" 2> /dev/null; then
			cat differs
			tail -n 5 sm.log
			return 1
		fi
		sleep 0.1
	done
}

# is_alone: the manager says that its subnet is its own node
is_alone()
{
	tries=0
	until sm_ask status > status && jq -e '.phase == "ready" and .subnet.switches + .subnet.hosts == 1' status > /dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 150 ] || { echo "the manager is cut off, and says:" && cat status && return 1; }
		sleep 0.1
	done
}

stock_tools_agree()
{
	SIM_HOST=$seat on_fabric ibnetdiscover > seen.net 2> err && [ -s seen.net ] || { cat err && return 1; }
	same_graph known.net seen.net rate
}

# try SEED: on $server
try()
{
	seat=$(draw_seat "$1" "$server")
	[ "$server" != ibsim ] || sed -i -E 's/ [0-9?]+x[A-Z0-9?]+( [0-9.]+k?c?m)?$//' net # it knows few rates
	fabric_start net || return 1
	SIM_HOST=$seat sm_start --sweep 300ms --own-port 200ms && come_to_agree || return 1
	cp held before
	draw_changes "$1" > changes_drawn
	while read -r left what; do
		console "Unlink $what"
		if [ "$left" = alone ]; then # no program at the seat reaches a device
			is_alone || return 1
		else
			come_to_agree || { echo "after unlink $what" && return 1; }
		fi
		console "ReLink $what"
		come_to_agree || { echo "after relink $what" && return 1; }
	done < changes_drawn
	diff before held || { echo "LIDs changed" && return 1; }
	[ $(($1 % 5)) -ne 0 ] || ! command -v ibnetdiscover > /dev/null || stock_tools_agree || return 1
	sm_ends
}

# why_not: why this server is not for net; nothing otherwise
why_not()
{
	[ -n "$(draw_seat "$seed" "$server")" ] || echo "no node with a link for the manager"
	[ "$("$weft" topo show net --json | jq .host_diameter)" -lt 60 ] || echo "census and ibsim reach 63 hops"
	[ "$server" != ibsim ] || command -v ibsim > /dev/null || echo "ibsim is not installed"
}

seed=$first
while [ "$seed" -lt $((first + count)) ]; do
	"$weft" topo gen odd --seed "$seed" -o net
	for server; do # ibsim last: what it does not know is removed from net
		reason=$(why_not | head -n 1)
		if [ -n "$reason" ]; then
			skip "seed $seed on $server" "$reason"
		else
			ok "seed $seed on $server" try "$seed"
		fi
		sm_stop
		fabric_stop
	done
	seed=$((seed + 1))
done
echo "1..$n"
