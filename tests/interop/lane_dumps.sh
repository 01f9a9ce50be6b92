#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Service levels and SL-to-VL maps, judged by ibdmchk and by weft route verify: lane_dumps.sh WEFT
#
# tests/data/ring5-lanes holds shortest routes on a ring of five switches, in the formats that weft route
# compute writes (--lfts, --sls, --sl2vl) and ibdmchk reads. Packets that pass the first switch have a
# lane of their own. In one lane the routes have a credit loop each way round, in two they have none;
# both programs must say so. A map that puts both service levels on VL 0 must not pass.

weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
data=$(cd "$(dirname "$0")/../data/ring5-lanes" && pwd)
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need ibdmchk jq
: > none.mcfdbs
sed '/^[0-9]/s/: .*/: 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0/' "$data/sl2vl" > one-lane.sl2vl

# ibdmchk's verdict; it may crash behind it
theirs()
{
	{ ibdmchk -s "$data/subnet.lst" -f "$data/fdbs" -m none.mcfdbs "$@" > dmchk.out 2>&1; } 2> /dev/null
	grep -q '^-I- Scanned:20 CA to CA paths' dmchk.out || { tail dmchk.out && return 1; }
	grep -q "$want" dmchk.out || { tail dmchk.out && false; }
}

ours()
{
	"$weft" route verify "$data/net" "$data/lfts" "$@" --hosts-only --json > verdict
	jq -e "$want" verdict || { cat verdict && false; }
}

want='^-E- credit loops in routing'
ok "ibdmchk: a loop in one lane" theirs
ok "ibdmchk: a loop with a map that does not separate" theirs -c "$data/sls" -d one-lane.sl2vl
want='^-I- no credit loops found'
ok "ibdmchk: none in two lanes" theirs -c "$data/sls" -d "$data/sl2vl"
want='(.ok | not) and .cycles == 2 and .cycle_vls == [0, 0, 0, 0, 0]'
ok "weft: loops in one lane" ours
ok "weft: loops with a map that does not separate" ours --sls "$data/sls" --sl2vl one-lane.sl2vl
want='.ok and .cycles == 0 and .discarded == 0'
ok "weft: none in two lanes" ours --sls "$data/sls" --sl2vl "$data/sl2vl"

echo "1..$n"
