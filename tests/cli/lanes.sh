#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `weft sm` with an engine that uses lanes, as TAP: lanes.sh PATH/TO/weft
#
# A daemon on an emulated torus. Its dumps of tables, service levels and SL-to-VL maps are verified after the bring-up,
# after a switch restarted, after resync and after a restart of the daemon with its state.
#
# Covers: opensm_files.c

# shellcheck disable=SC2015,SC2317 # `a && b || explain`; functions called by ok
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need jq
export IBSIM_SOCKNAME=weft-lanes-$$

ctl()
{
	"$weft" ctl --socket "$dir/ctl" "$@"
}

# switches N: so many are there, and the manager is at rest
switches()
{
	ctl wait && ctl status --json > status && jq -e ".subnet.switches == $1" status
}

start()
{
	"$weft" sm --transport ibsim --routes torus --log-level info --state "$dir/state.db" --dumps dumps --control "$dir/ctl" > sm.log 2>&1 &
	sm=$!
	pids="$fabric $sm"
	until_true switches "$1" || { cat sm.log && return 1; }
}

# Verified; the dumps are kept as $1.
dumped()
{
	rm -rf "$1" && ctl dump && cp -R dumps "$1" &&
		"$weft" route verify net "$1/opensm-lfts.dump" --sls "$1/opensm-path-sls.dump" \
			--sl2vl "$1/opensm-sl2vl.dump" --json > verdict && jq -e .ok verdict ||
		{ cat verdict sm.log && false; }
}

# The tables, maps and SLs of two dumps
same()
{
	for f in opensm-lfts.dump opensm-path-sls.dump opensm-sl2vl.dump; do
		cmp "$1/$f" "$2/$f" || return 1
	done
}

# Each hop of routes to all LIDs has the VL of the dumped maps.
vls_as_dumped()
{
	for lid in $(seq 2 50); do
		ctl route 1 "$lid" --json | jq -r '.sl as $sl | .hops[] | select(.type == "switch" and .out) | "\(.guid) \(.in) \(.out) \($sl) \(.vl)"'
	done > hops
	awk 'NR == FNR { if ($1 == "Switch") guid = substr($2, 1, 18); else if ($1 !~ /^#/) for (sl = 0; sl < 16; sl++) vl[guid, $1, $2, sl] = $(4 + sl); next }
		{ hops++; ones += $5 == 1 } vl[$1, $2, $3, $4] != $5 { print "differs: " $0; bad = 1 }
		END { print hops " hops, " ones + 0 " with VL 1"; exit bad || hops < 49 || !ones }' "$1/opensm-sl2vl.dump" hops
}

restarts()
{
	echo 'off sw1_1' > console && until_true switches 24 && echo 'on sw1_1' > console && until_true switches 25
}

resync()
{
	ctl resync && until_true switches 25 && dumped resynced && same again resynced
}

# No table and no map is set: a restart takes fewer SMPs than there are maps of one switch.
daemon_restarts()
{
	kill "$sm" && wait "$sm"
	start 25 && dumped restarted && same resynced restarted || return 1
	ctl status --json > status
	jq -e '.smps.distribution == 0' status || { cat status sm.log && false; }
}

"$weft" topo gen torus 5 5 --hosts 1 -o net && mkdir dumps && mkfifo console || exit 1
"$weft" fabric net --no-control --quiet --vls 2 0<> console > fabric.out 2>&1 &
fabric=$!
pids=$fabric
sleep 0.2
ok "a torus comes up with two lanes" start 25
ok "the log says how many" grep -F 'routes use 2 lanes, of 2 that' sm.log
ok "dumps are verified" dumped first
ok "without lanes there is a credit loop" sh -c "'$weft' route verify net first/opensm-lfts.dump --json | jq -e '.cycles > 0'"
ok "a route has its service level" sh -c "'$weft' ctl --socket ctl route sw0_0 sw2_2 --json | jq -e 'has(\"sl\")'"
ok "a route has the lanes of the maps" vls_as_dumped first
ok "a switch restarts" restarts
ok "dumps are verified again" dumped again
ok "resync changes nothing" resync
ok "a restart with saved state sets nothing" daemon_restarts
echo "1..$n"
