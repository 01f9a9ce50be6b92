#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` names what happened, as TAP: changes.sh PATH/TO/weft
#
# A daemon on an emulated fabric; a link goes down and comes up, a switch goes and comes. The log, as text
# and as JSON, and `weft ctl changes` name each with both ends.
#
# Covers: notes.c change_history.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
export IBSIM_SOCKNAME=weft-changes-$$

ctl()
{
	"$weft" ctl --socket "$dir/ctl" "$@"
}

# named FILTER: some change has it
named()
{
	ctl changes --json > out && jq -e "[.changes[] | select($1)] | length > 0" out
}

# logged TEXT: a line of the log ends like this
logged()
{
	grep -F -- "$1" sm.log
}

# does COMMAND FILTER TEXT: after this, changes and log have it
does()
{
	echo "$1" > console
	until_true named "$2" || { echo "not in the changes: $2" && cat out && return 1; }
	logged "$3" || { echo "not in the log: $3" && cat sm.log && return 1; }
}

# Names come when the manager has nothing else to do.
has_names()
{
	ctl switches | grep -q root1 && ctl switches | grep -q leaf3
}

start()
{
	"$weft" fabric net --no-control --quiet 0<> console > fabric.out 2>&1 &
	pids="$pids $!"
	sleep 0.2
	"$weft" sm --transport ibsim --state '' --control "$dir/ctl" "$@" > sm.log 2>&1 &
	pids="$pids $!"
	until_true has_names || { cat fabric.out sm.log && return 1; }
}

stop()
{
	for p in $pids; do
		kill "$p" 2> /dev/null
		wait "$p"
	done
	pids=
}

"$weft" topo gen mtree 4 2 -o net || exit 1
mkfifo console
link='.a == {"name": "leaf0", "guid": "0x0002000000000001", "port": 3} and
	.b == {"name": "root0", "guid": "0x0002000000000005", "port": 1}'
node='.name == "root1" and .guid == "0x0002000000000006"'

ok "the subnet comes up" start
ok "the bring-up lists nothing" named '.cause == "start" and .links == [] and .nodes == []'
ok "a link down" does 'Unlink leaf0[3]' "any(.links[]; .event == \"down\" and $link)" \
	'link_down: leaf0 port 3 <-> root0 port 1 went down (GUID 0x0002000000000001, 0x0002000000000005)'
ok "a link up" does 'ReLink leaf0[3]' "any(.links[]; .event == \"up\" and $link)" \
	'link_up: leaf0 port 3 <-> root0 port 1 came up'
ok "a switch gone" does 'off root1' "any(.nodes[]; .event == \"gone\" and $node) and (.links | length) == 4" \
	'node_gone: switch root1 is gone (GUID 0x0002000000000006)'
ok "a switch that came" does 'on root1' "any(.nodes[]; .event == \"came\" and $node) and (.links | length) == 4" \
	'node_came: switch root1 came up (GUID 0x0002000000000006)'

text()
{
	ctl changes > out && grep -qx 'change 2  *leaf0 port 3 <-> root0 port 1 went down' out &&
		grep -q 'switch root1 is gone$' out || { cat out && false; }
}
ok "the changes as text" text
ok "the status stays short" sh -c "'$weft' ctl --socket ctl status --json | jq -e '.last_change | has(\"links\") | not'"
stop

ok "it comes up again, with a log as JSON" start --log-format json --log-level debug
json()
{
	echo 'Unlink leaf0[3]' > console
	until_true grep -q '"link_down"' sm.log
	jq -s -e ".[] | select(.record == \"link_down\") | $link and
		.text == \"leaf0 port 3 <-> root0 port 1 went down\"" sm.log &&
		jq -s -e '[.[] | select(.record == "change" and .cause == "trap")] | all(.name != "" and .node != null)' sm.log
}
ok "a record has both ends" json

# Repairs computed ahead: one record for all of them.
repairs()
{
	jq -s -e '[.[] | select(.record == "repairs")] | length > 0 and .[0].count > 5' sm.log &&
		jq -s -e '([.[] | select(.record == "routes")] | length) <= 4' sm.log
}
ok "repairs ahead are one record" repairs
stop
echo "1..$n"
