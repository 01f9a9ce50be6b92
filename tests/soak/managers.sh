#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Three Wefts and an OpenSM on one fabric, under attack: managers.sh WEFT TOOLS [ROUNDS [SEED]]
#
# In each round, drawn from the seed, the master is killed, asked to end, or stopped until another is master and
# then continued; or the fabric is cut in two and joined again. Killed managers start again with another priority,
# with or without their state file. After each round one manager is master and stays it, all others stand by, each
# device has the LID it always had, all links are Active, the tables in the devices are verified, and they are
# those that the master, if it is a Weft, believes. Before that two subnets with equal LIDs are joined once, without
# OpenSM: one that was master writes the LIDs of its own cache.
#
#	SOAK_OPENSM=0	without OpenSM
#	SOAK_EVENTS='kill end pause cut'	what rounds are drawn from
#	KEEP=DIR	logs and all else stay in DIR

# shellcheck disable=SC2015,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
rounds=${3:-6}
seed=${4:-1}
events=${SOAK_EVENTS:-kill end pause cut}
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
trap 'managers_end; watch_stop; fabric_stop; cd /; [ -n "${KEEP:-}" ] && cp -r "$dir" "$KEEP"; rm -rf "$dir"' EXIT
need jq

seats='1 2 3'
opensm_seat=
if [ "${SOAK_OPENSM:-1}" != 0 ] && command -v opensm > /dev/null; then
	for preload in /usr/lib/*/umad2sim/libumad2sim.so; do
		[ ! -e "$preload" ] || opensm_seat=4
	done
fi
[ -z "$opensm_seat" ] || seats="$seats 4"
states_pid=
calm=2 # seconds for which the one master must stay it

"$weft" topo gen mtree 8 2 -o net > /dev/null
home=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | tail -n 1)

# node NUMBER: where that manager sits
node()
{
	sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' net | sed -n "$((1 + 9 * ($1 - 1)))p"
}

# ---- managers ----

# manager_start NUMBER DRAW: its priority, and whether it keeps its state file, are drawn
manager_start()
{
	priority=$(draw 4 $(($2 * 11 + $1)))
	[ "$(draw 2 $(($2 * 13 + $1)))" -eq 0 ] || rm -f "state$1.db"*
	if [ "$1" = "$opensm_seat" ]; then
		mkdir -p osm
		echo 'force_log_flush TRUE' > osm/conf
		(
			cd osm || exit 1
			SIM_HOST=$(node 4)
			export SIM_HOST OSM_TMP_DIR="$dir/osm" OSM_CACHE_DIR="$dir/osm" LD_PRELOAD="$preload"
			exec opensm -e -F conf -f log -D 0x3 -p "$priority"
		) > osm/said 2>&1 &
	else
		printf 'election: {priority: %s}\nmanager: {sweep: 1s}\n' "$priority" > "conf$1"
		"$weft" sm --config "conf$1" --transport ibsim --device "$(node "$1")" --state "state$1.db" \
			--control "$dir/ctl$1" --dumps "dumps$1" > "log$1" 2>&1 &
	fi
	eval "pid$1=\$!"
}

pid_of() { eval "echo \${pid$1:-}"; }

manager_kill() # NUMBER SIGNAL
{
	kill "-$2" "$(pid_of "$1")" && wait "$(pid_of "$1")" 2> /dev/null
	eval "pid$1="
	[ "$1" = "$opensm_seat" ] || no_fault "log$1"
}

managers_end()
{
	for number in $seats; do
		[ -z "$(pid_of "$number")" ] || { kill -9 "$(pid_of "$number")" && wait "$(pid_of "$number")"; } 2> /dev/null
	done
}

# ---- what a third program sees of them ----

states_begin()
{
	# shellcheck disable=SC2046 # a word for each
	"$tools/../../bench/sm-watch" net "$IBSIM_SOCKNAME" "$home" 20 $(for s in $seats; do node "$s"; done) > states &
	states_pid=$!
}

watch_stop()
{
	[ -z "$states_pid" ] || kill "$states_pid" 2> /dev/null
	states_pid=
}

# masters: numbers of those that say so now
masters()
{
	for s in $seats; do
		awk -v n="$(node "$s")" '$2 == n { state = $3 } END { exit state != "Master" }' states && echo "$s"
	done
}

unsettled()
{
	awk '{ state[$2] = $3 } END { for (n in state) if (state[n] == "Discovering") exit 0; exit 1 }' states
}

# one_master [NOT]: within two minutes there is one, not NOT, and it stays; sets master
one_master()
{
	tries=0 same=0 master=
	while [ "$same" -lt $((calm * 10)) ]; do
		was=$master
		master=$(masters | paste -sd ' ' -)
		case $master in
		'' | *' '* | "${1:-none}") same=0 ;;
		*) [ "$master" = "$was" ] && ! unsettled && same=$((same + 1)) || same=0 ;;
		esac
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || { echo "masters: '$master'" && tail -n 12 states && tail -n 4 log? && return 1; }
		sleep 0.1
	done
}

# rest: the master, if it is a Weft, has nothing to do
rest()
{
	[ "$master" != "$opensm_seat" ] || { sleep 3 && return 0; }
	tries=0
	until "$weft" ctl --socket "$dir/ctl$master" --json status 2> /dev/null |
		jq -e '.state == "Master" and .phase == "ready" and (.change_pending | not)' > /dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { tail -n 5 "log$master" && return 1; }
		sleep 0.1
	done
}

# triples FILE: switch, LID and port of each entry of a dump
triples()
{
	awk '/guid 0x/ { match($0, /guid 0x[0-9a-f]+/); sw = substr($0, RSTART + 5, RLENGTH - 5) }
		/^0x/ && $2 ~ /^[0-9]+$/ && $2 != 255 { print sw, $1, $2 + 0 }' "$1" | sort
}

# The tables in the devices are those that the master believes.
believed()
{
	"$weft" ctl --socket "$dir/ctl$master" dump > /dev/null && triples "dumps$master/opensm-lfts.dump" > believes &&
		triples lfts > holds && [ -s holds ] && diff believes holds
}

# OpenSM's up*/down* leaves some switches without routes to each other: its tables are not judged.
configured()
{
	if [ "$master" != "$opensm_seat" ]; then
		is_whole -t && believed
		return
	fi
	census && ! grep -v ' Active$' ports && ! awk '$2 == 0' lids | grep .
}

whole()
{
	one_master && rest && configured || { echo "after round $i, $what" && return 1; }
}

# ---- rounds ----

switches()
{
	sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' net
}

# half DRAW: of the switches, drawn at random
half()
{
	switches | awk -v seed="$1" 'BEGIN { srand(seed) } { print rand(), $1 }' | sort | awk '{ print $2 }' | head -n 8
}

# links_out FILE: the links that lead from its switches to others
links_out()
{
	awk 'NR == FNR { in_side["\"" $1 "\""] = 1; next }
		/^Switch/ { sw = $3 }
		/^Ca/ { sw = "" }
		/^\[/ && sw in in_side {
			match($2, /^"S-[0-9a-f]*"/)
			if (RSTART && !(substr($2, RSTART, RLENGTH) in in_side)) { sub(/\[/, "", $1); sub(/\].*/, "", $1); print sw "[" $1 "]" }
		}' "$1" net
}

cut_links() { while read -r link; do console "Unlink $link"; done < cables; }
join_links() { while read -r link; do console "Relink $link"; done < cables; }

# Two subnets that never saw each other have the same LIDs; then they meet.
merge()
{
	i=0 what='two subnets that join'
	switches | head -n 8 > side && links_out side > cables
	fabric_start net && cut_links && sleep 0.2 && states_begin || return 1
	for s in 1 2 3; do manager_start "$s" "$seed"; done
	sleep 4
	join_links
	whole && cp lids first
}

opensm_joins()
{
	i=0 what='OpenSM started'
	manager_start 4 "$seed" && sleep 1 && whole && same_lids first
}

a_round()
{
	number=$((seed * 1000 + i))
	old=$master
	# shellcheck disable=SC2086 # a word for each
	set -- $events
	shift "$(draw $# $((number * 3)))"
	case $1 in
	kill) what="manager $old was killed" && manager_kill "$old" KILL ;;
	end) what="manager $old was asked to end" && manager_kill "$old" TERM ;;
	pause) what="manager $old was paused" && kill -STOP "$(pid_of "$old")" && one_master "$old" && kill -CONT "$(pid_of "$old")" ;;
	cut) what='the fabric was cut and joined' && half $((number * 5)) > side && links_out side > cables && cut_links && sleep "$(draw 6 $((number * 7)))" && join_links ;;
	esac || { echo "$what: nobody else is master" && return 1; }
	whole && same_lids first || { echo "after round $i: $what" && return 1; }
	[ -n "$(pid_of "$old")" ] || { manager_start "$old" "$number" && what="$what and started again" && whole && same_lids first; } || return 1
	echo "$what" >> did
}

all_rounds()
{
	i=1
	while [ $i -le "$rounds" ]; do
		a_round || return 1
		i=$((i + 1))
	done 2> /dev/null
}

: > did
ok "two subnets with equal LIDs join: one master, each LID once" merge
if [ -n "$opensm_seat" ]; then
	ok "OpenSM joins them" opensm_joins
else
	skip "OpenSM joins them" "SOAK_OPENSM=0, or opensm or libumad2sim is not installed"
fi
ok "$rounds rounds: one master, the same LIDs, verified tables" all_rounds
sort did | sed 's/manager [0-9]/a manager/' | uniq -c | sed 's/^ */# /'
echo "1..$n"
