#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A full disk: disk.sh WEFT TOOLS
#
# The manager reports once that it cannot save LIDs and keys, and manages the subnet; when there is room again
# it writes everything, which a kill -9 and a cold fabric show. The disk is full by a limit on file sizes and,
# where one can be mounted, on a full file system: for state, dumps, metrics and log.

# shellcheck disable=SC2015,SC2094,SC2119,SC2317 # `a && b || explain`; words that are also files
weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tools=$(cd "$2" && pwd)
# shellcheck source=tests/soak/lib.sh
. "$(dirname "$0")/lib.sh"
need jq prlimit
trap 'watch_end; sm_stop; fabric_stop; umount "$dir/full" 2> /dev/null; cd /; rm -rf "$dir"' EXIT

"$weft" topo gen mtree 4 3 -o net

said()
{
	grep -c "$1" sm.log
}

# said_once WHAT: and in time; a test waits for it as long as it takes
said_once()
{
	tries=0
	until [ "$(said "$1")" -gt 0 ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { echo "'$1' is never said" && cat sm.log && return 1; }
		sleep 0.05
	done
	[ "$(said "$1")" -eq 1 ] || { cat sm.log && false; }
}

a_change()
{
	at=$(sm_changes)
	console 'Unlink "S-0002000000000009"[3]'
	sm_settled $((at + 1)) || return 1
	at=$(sm_changes)
	console 'Relink "S-0002000000000009"[3]'
	sm_settled $((at + 1)) && is_whole
}

# With no room: it comes up, follows a change, and complains once.
goes_on()
{
	sm_settled 1 && is_whole && cp lids before && said_once state_failed && a_change && [ "$(said state_failed)" -eq 1 ] ||
		{ cat sm.log && false; }
}

# With room: written, though nothing changes any more. The fabric has forgotten all, the file has not.
has_room()
{
	said_once state_written || return 1
	kill -9 "$sm_pid"
	wait "$sm_pid" 2> /dev/null
	sm_pid=
	no_fault sm.log && fabric_start net && sm_start --state "$1" && is_whole && same_lids before && sm_stop
}

# ---- a limit ----

# An empty file of SQLite's is more than this.
limited()
{
	prlimit --fsize=16384:unlimited "$weft" sm --transport ibsim --state limit.db --control "$dir/ctl" > sm.log 2>&1 &
	sm_pid=$!
	goes_on
}

limit_lifted()
{
	prlimit --pid "$sm_pid" --fsize=unlimited:unlimited && has_room limit.db
}

# ---- a file system ----

mounted()
{
	mkdir -p full
	mount -t tmpfs -o size=128k tmpfs full 2> /dev/null
}

filled()
{
	fabric_start net || return 1
	touch full/sm.log
	# The tables of the file are made while there is room; then there is none.
	sm_start --state full/state.db && sm_stop || return 1
	dd if=/dev/zero of=full/filler bs=1k 2> /dev/null
	fabric_start net || return 1
	rm -f full/state.db* && head -c 16384 /dev/zero > full/room && rm full/filler && fill_up || return 1
	rm full/room
	cat > full.yaml << END
metrics:
  file: $dir/full/metrics
END
	"$weft" sm --config full.yaml --transport ibsim --state full/state.db --control "$dir/ctl" --dumps full/dumps \
		> sm.log 2>&1 &
	sm_pid=$!
	goes_on
}

fill_up()
{
	dd if=/dev/zero of=full/filler bs=1k 2> /dev/null
	[ -s full/filler ]
}

room_made()
{
	rm full/filler && mount -o remount,size=4m full && has_room full/state.db
}

well()
{
	fabric_ends
}

ok "the server takes the netlist" fabric_start net
ok "no file may grow: the manager continues and reports it once" limited
ok "the limit is lifted: what must survive is written" limit_lifted
if mounted; then
	ok "a full file system: the manager continues and reports it once" filled
	ok "room again: what must survive is written" room_made
else
	skip "a file system without room" "nothing can be mounted here"
	skip "room again" "nothing can be mounted here"
fi
ok "the server is well and ends" well
echo "1..$n"
