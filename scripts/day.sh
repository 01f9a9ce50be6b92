#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A day in the life of a subnet: forty events on an emulated tree of 128 hosts with two managers, and what these say. Writes docs/day.md:
#
#	scripts/day.sh build/src/cli/weft > docs/day.md
#
# Takes about a minute. Ends with status 1 when an event was not handled: the subnet did not come to rest, or a manager did not say
# what it must.
# shellcheck disable=SC2016 # marks of Markdown
set -eu

weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
dir=$(mktemp -d)
pids=
# shellcheck disable=SC2154 # p is the loop's
trap 'for p in $pids; do kill "$p" 2> /dev/null || :; done; wait; cd /; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir"
unset IBSIM_SOCKNAME XDG_RUNTIME_DIR
export RUNTIME_DIRECTORY="$dir"
name=day$$
n=0
seen_a=0
seen_b=0
now=a # the manager that is asked

ctl()
{
	"$weft" ctl --socket "$now.sock" --timeout 30s "$@"
}

fabric()
{
	for c; do
		"$weft" ctl --name "$name" fabric "$c" > fabric.out 2>&1 || { cat fabric.out >&2 && return 1; }
	done
}

# manager NAME NODE: starts one
manager()
{
	"$weft" sm --config "$1.yaml" --server "$name" --device "$2" > /dev/null 2>> "$1.err" &
	pids="$pids $!"
	eval "pid_$1=$!"
}

# What both logs have to say since the last event: as it is, without the date, and at most ten lines of each.
logs()
{
	for m in a b; do
		[ -f "$m.log" ] || continue
		eval "from=\$seen_$m"
		lines=$(wc -l < "$m.log")
		# shellcheck disable=SC2154 # eval sets it
		sed -n "$((from + 1)),${lines}p" "$m.log" |
			sed "s/^[^T]*T\([0-9:]*\.[0-9]\)[0-9]*Z \([a-z]*\) */$m  \1  /; s/ (GUID 0x[0-9a-f]*\(, 0x[0-9a-f]*\)*)//" > new
		awk 'NR <= 10 {print} NR > 10 {more++} END {if (more) print "   ... and " more " more lines"}' new
		eval "seen_$m=$lines"
	done
}

# said TEXT: one of the logs has this since the event before
said()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
		# shellcheck disable=SC2154
		if { sed "1,${seen_a}d" a.log; [ ! -f b.log ] || sed "1,${seen_b}d" b.log; } | grep -q -- "$1"; then
			return
		fi
		sleep 0.5
	done
	echo "event $n: no record has '$1'" >&2
	exit 1
}

# event WORDS RECORD COMMAND...: what happens, what a log must say about it, and how it is made to happen
event()
{
	n=$((n + 1))
	words=$1
	record=$2
	shift 2
	"$@" || { echo "event $n: $* failed" >&2 && exit 1; }
	if [ "$record" = - ]; then
		sleep 3 # nothing must be said
	else
		said "$record"
	fi
	ctl wait > wait.out 2>&1 || { echo "event $n: $(cat wait.out)" >&2 && exit 1; }
	printf '**%s. %s**\n\n' "$n" "$words"
	logs > lines
	if [ -s lines ]; then
		printf '```text\n'
		cat lines
		printf '```\n\n'
	else
		printf 'Nothing is said.\n\n'
	fi
}

# ---- what happens ----

grow_errors()
{
	for _ in 1 2 3; do
		fabric 'counter leaf1_2[6] SymbolErrorCounter 400'
		sleep 1
	done
}

flaps()
{
	for _ in 1 2 3; do
		fabric 'unlink leaf3_0[2]'
		sleep 0.3
		fabric 'relink leaf3_0[2]'
		sleep 0.3
	done
}

broken_file()
{
	cp a.yaml good.yaml
	printf 'perf: {period: 1 parsec}\n' > a.yaml
	if ctl reload > reload.out 2>&1; then
		return 1 # it must fail
	fi
	cp good.yaml a.yaml
}

good_file()
{
	sed -i 's/isolate_most: 4/isolate_most: 2/' a.yaml
	ctl reload > reload.out 2>&1
}

end_of()
{
	"$weft" ctl --socket "$1.sock" stop > /dev/null
}

# From now on this manager is asked: it has taken over.
ask()
{
	now=$1
	shift
	"$@"
}

killed()
{
	eval "kill -9 \$pid_$1"
}

settings()
{
	cat << YAML
files: {state: $dir/$1.db}
control: {socket: $dir/$1.sock}
log: {file: $dir/$1.log}
perf: {period: 1s, watch: 10s, well: 10s, least: 25, isolate: switches, isolate_most: 4}
damping: {changes: 4, within: 3s, hold: 4s}
election: {priority: $2}
YAML
}

# ---- the document ----

"$weft" topo gen mtree 8 3 -o tree.net
"$weft" fabric tree.net --name "$name" --no-console -q > fabric.log 2>&1 &
pids="$pids $!"
settings a 2 > a.yaml
settings b 1 > b.yaml
: > a.log
sleep 1
cat << 'TEXT'
# A day in the life

Forty events on an emulated tree of 128 hosts and 80 switches with two managers, a and b, and what their logs say about each, in full up
to ten lines. `scripts/day.sh build/src/cli/weft > docs/day.md` plays them again and writes this page. The manager at `host 0` is a, the
one at `host 64` is b. A line has the manager, the time of day (UTC), the name of the record, and a sentence; GUIDs are left out here.
Counters are read every second, sick links between switches are isolated, and links that go up and down four times within three seconds
are held.

## Morning: the fabric comes up, cables and hosts

TEXT
event 'Power on: the first manager finds the fabric.' subnet_up manager a H-0001000000000010
event 'A second manager starts and stands by, with a copy of what the first one knows.' 'mirror' manager b H-0001000000000110
event 'The cable between leaf0_0 and mid0_1 is pulled.' change_done fabric 'unlink leaf0_0[6]'
event 'It is plugged in again.' change_done fabric 'relink leaf0_0[6]'
event 'Host 17 is switched off.' change_done fabric 'off "host 17"'
event 'Host 17 is switched on.' change_done fabric 'on "host 17"'
event 'The cable of host 33 is pulled.' change_done fabric 'unlink "host 33"[1]'
event 'And plugged in again.' change_done fabric 'relink "host 33"[1]'
event 'Two cables are pulled at once.' change_done fabric 'unlink leaf1_0[5]' 'unlink leaf2_1[7]'
event 'Both are plugged in again.' change_done fabric 'relink leaf1_0[5]' 'relink leaf2_1[7]'
printf '## Noon: switches\n\n'
event 'The switch mid0_1 fails.' change_done fabric 'off mid0_1'
event 'It is replaced.' change_done fabric 'on mid0_1'
event 'The switch root1_2 fails.' change_done fabric 'off root1_2'
event 'It restarts.' change_done fabric 'on root1_2'
event 'The switch leaf4_3 fails: its four hosts are cut off.' change_done fabric 'off leaf4_3'
event 'It is back.' change_done fabric 'on leaf4_3'
event 'Power is lost in a rack: four leaf switches at once.' change_done fabric 'off leaf5_0' 'off leaf5_1' 'off leaf5_2' 'off leaf5_3'
event 'Power is back.' change_done fabric 'on leaf5_0' 'on leaf5_1' 'on leaf5_2' 'on leaf5_3'
event 'The switch mid6_0 restarts by itself.' change_done fabric 'off mid6_0' 'on mid6_0'
event 'Four hosts are switched off for maintenance.' change_done fabric 'off "host 100"' 'off "host 101"' 'off "host 102"' 'off "host 103"'
event 'And switched on.' change_done fabric 'on "host 100"' 'on "host 101"' 'on "host 102"' 'on "host 103"'
printf '## Afternoon: links that are not well, settings\n\n'
event 'The link between leaf1_2 and mid1_1 counts symbol errors.' link_isolated grow_errors
event 'Nobody touches it, and the errors end.' link_reinstated sleep 1
event 'Forward error correction has much to do at leaf2_0; no error reaches a packet.' - fabric 'counter leaf2_0[5] FECCorrectableBlockCtr 100000'
event 'The agent of mid2_2 does not answer queries of counters.' counters_silent fabric 'agent mid2_2 silent'
event 'It answers again.' - fabric 'agent mid2_2 wide'
event 'A cable with a bad contact: host 49 comes and goes.' 'held:' flaps
event 'The contact holds.' released sleep 1
event 'An operator reloads a configuration with a fault: it is refused.' reload_failed broken_file
event 'The file is mended, and reloaded.' reloaded good_file
event 'Someone wants the whole subnet read again.' resync ctl resync
printf '## What `weft ctl changes` of the first manager says now\n\n```text\n'
ctl changes 12
printf '```\n\n## Evening: managers, an upgrade\n\n'
event 'Upgrade, first the standby: b ends.' stop end_of b
event 'The new version of b starts and stands by.' 'mirror' manager b H-0001000000000110
event 'Then the master: a ends and hands the subnet over.' "state: .*Master" ask b end_of a
event 'The new version of a starts; it has the higher priority and takes the subnet back.' "a.*taking_over\|state: .*Master" ask a manager a H-0001000000000010
event 'The cable between leaf7_3 and mid7_0 is pulled; the new version follows.' change_done fabric 'unlink leaf7_3[5]'
event 'It is plugged in again.' change_done fabric 'relink leaf7_3[5]'
event 'The process of a is killed: b takes over, without changing a table.' "state: .*Master" ask b killed a
event 'A switch fails meanwhile.' change_done fabric 'off mid3_3'
event 'And is back before the night.' change_done fabric 'on mid3_3'
printf '## What `weft ctl changes` of the second manager says\n\n```text\n'
ctl changes
printf '```\n'
[ "$n" = 40 ] || { echo "$n events, not 40" >&2 && exit 1; }
