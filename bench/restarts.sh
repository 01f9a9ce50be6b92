#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# SMPs of a manager that starts on a cold fabric, and again on a running one: docs/results/restarts.md.
#
#	bench/restarts.sh			a minute
#	bench/restarts.sh --write-docs		also refresh the table
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
name=restarts
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
ninja -C "$here/../build" bench/warm-bench > /dev/null

# "24-port 3-tree" and the lines of warm-bench as a row.
row()
{
	"$here/../build/bench/warm-bench" "$1" "$2" | awk -F '[: ,]+' -v fabric="$1-port $2-tree" '
		/^cold/ { cold = $2 }
		/^again:/ { again = $4; tables = $(NF - 2) }
		/^again,/ { for (i = 1; i < NF; i++) if ($(i + 1) == "SMPs") known = $i }
		/^mirror:/ { gmps = $4 }
		/^mirror after/ { more = $(NF - 1) }
		/^taken/ { over = $3; gets = $5; sets = $8 }
		END { printf "| %s | %d | %d, %d | %d | %d, %d | %d, %d |\n", fabric, cold, again, tables, known, gets, sets, gmps, more }'
}

mkdir -p "$out"
{
	echo "| fabric | cold | warm: Gets, of them for tables | warm, with saved subnet state | taken over with a mirror: Gets, Sets | GMPs to copy it; after a link failed |"
	echo "|---|---:|---:|---:|---:|---:|"
	for size in "8 3" "36 2" "24 3" "36 3"; do
		# shellcheck disable=SC2086 # two words
		row $size
	done
} | commas | tee "$out/restarts.md"
[ -z "$docs" ] || write_result restarts.md restarts < "$out/restarts.md"
