#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Times behind the cost model of migrations, in simulated time with one SMP outstanding: vswitch-cost.sh COUNT [OPTION...]
#
# Prints one JSON object: "probe" and "moves", COUNT migrations each, drawn by different seeds, without waits for packets to
# drain; "full", a reconfiguration that discovers, computes all routes and writes all tables by directed route. The fabric is in
# the file `net`. WEFT is the program; options are for the migrations.
set -euo pipefail
count=$1
shift
routes=update

migrate()
{
	"$WEFT" sim migrate net --routes "$routes" --vfs 1 --window 1 --threads 1 --json "$@"
}

echo '{"probe":'
migrate --count "$count" --seed 2 --drain 0 "$@"
echo ', "moves":'
migrate --count "$count" --seed 1 --drain 0 "$@"
echo ', "full":'
routes=fera
migrate --count 1 --full --mechanism basic --distribution none
echo '}'
