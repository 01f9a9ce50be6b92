#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The packet-level simulation: events and packet hops a second, memory a node, and where the time
# goes. usage: bench/packets.sh [--write-docs] [WEFT]     (or WEFT=...; default build/src/cli/weft)
#
# Three fabrics at 25 % and 75 % of what saturates them, 1X SDR, 256-byte packets, two data VLs. Each
# row is the best of RUNS (default 3): other work on the machine only ever adds time. QUICK=1 leaves
# out the large tree. BEFORE=path of another weft: only the CPU time of both, in turns.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
name=packets
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
runs=${RUNS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$out"
[ -x "$weft" ] || { echo "bench: no weft at $weft" >&2; exit 2; }

"$weft" topo gen irregular 32 --ports 4 --hosts 32 --seed 1 --rate 1xSDR -o "$dir/irregular-32.net"
"$weft" topo gen mtree 8 3 --rate 1xSDR -o "$dir/tree-8-3.net"
"$weft" topo gen mtree 24 3 --rate 1xSDR -o "$dir/tree-24-3.net"

# name; file; what saturates it, packets a second and host (searched for; the large tree's is set to
# what its hosts' links carry, which it reaches); length of the window
saturation()
{
	"$weft" sim saturate --routes update "$1" --points 2 --json | jq .saturation_packets_s_node
}
rows=("irregular, 32 switches|$dir/irregular-32.net|$(saturation "$dir/irregular-32.net")|20ms"
	"8-port 3-tree|$dir/tree-8-3.net|$(saturation "$dir/tree-8-3.net")|2ms")
[ -n "${QUICK:-}" ] || rows+=("24-port 3-tree|$dir/tree-24-3.net|886524|60us")

# CPU time of both programs for the same runs, which take turns; the least of each, without that of the
# bring-up. Both must give the same trace.
cpu_s()
{
	TIMEFORMAT=%U
	{ time "$@" --warmup 20us --threads 1 --json > "$dir/run"; } 2>&1
}

compare_row()
{
	local name=$1 file=$2 rate=$3 length=$4 share=$5
	for _ in $(seq "$runs"); do
		for w in "$BEFORE" "$weft"; do
			up=$(cpu_s "$w" sim run --routes update "$file" --rate "$rate" --duration 1us)
			all=$(cpu_s "$w" sim run --routes update "$file" --rate "$rate" --duration "$length")
			jq -r "\"$up $all \\(.events) \\(.packets.received) \\(.trace_hash)\"" "$dir/run"
		done
	done > "$dir/times"
	[ "$(cut -d' ' -f5 "$dir/times" | sort -u | wc -l)" = 1 ] || { echo "bench: traces differ: $name" >&2; exit 1; }
	awk -v name="$name" -v share="$share" '
		{ k = NR % 2; if (NR < 3 || $1 < up[k]) up[k] = $1; if (NR < 3 || $2 < all[k]) all[k] = $2; e = $3; p = $4 }
		END { a = all[1] - up[1]; b = all[0] - up[0]
		printf "| %s | %s %% | %.0f | %.0f | %.1f | %.2f |\n", name, share, a * 1e9 / e, b * 1e9 / e, b * 1e6 / p, a / b }' "$dir/times"
}

if [ -n "${BEFORE:-}" ]; then
	{
		echo "| fabric | load | before: CPU ns an event | now | now: CPU us a packet | before : now |"
		echo "|---|---:|---:|---:|---:|---:|"
		for row in "${rows[@]}"; do
			IFS='|' read -r name file sat length <<< "$row"
			for share in 25 75; do
				compare_row "$name" "$file" $((sat * share / 100)) "$length" "$share"
			done
		done
	} | tee "$dir/compare"
	[ -z "$docs" ] || write_result packets.md packets-before < "$dir/compare"
	exit 0
fi

# The run with the most events a second.
best()
{
	for _ in $(seq "$runs"); do
		"$weft" sim run --routes update "$1" --rate "$2" --duration "$3" --warmup 20us --threads "$4" --json
	done | jq -s 'max_by(.events_s)'
}

table=$dir/table
echo "| fabric | hosts | load | M events/s | packet hops/s | events a hop | bytes a node | conserved |" > "$table"
echo "|---|---:|---:|---:|---:|---:|---:|---|" >> "$table"
for row in "${rows[@]}"; do
	IFS='|' read -r name file sat length <<< "$row"
	nodes=$("$weft" topo show "$file" --json | jq '.switches + .hosts')
	for run in "25 1" "75 1" "75 2"; do
		read -r share threads <<< "$run"
		[[ $threads = 1 || $name = 24-port* ]] || continue
		echo "bench: $name at $share % of $sat packets/s/host, $length, threads: $threads" >&2
		best "$file" $((sat * share / 100)) "$length" "$threads" > "$dir/run"
		[ "$threads" = 1 ] || name+=", $threads threads"
		jq -r --arg name "$name" --arg share "$share %" --argjson nodes "$nodes" \
			'"| \($name) | \(.hosts) | \($share) | \(.events_s / 1e5 | round / 10) | \(.packet_hops / .wall_s | round) | \(.events / .packet_hops * 10 | round / 10) | \(.rss_mib * 1048576 / $nodes | round) | \(.conserved) |"' \
			"$dir/run" >> "$table"
	done
done
{
	echo "# Packets"
	echo
	cat "$table"
} | tee "$out/packets.md"
[ -z "$docs" ] || write_result packets.md packets < "$table"

# Where the time goes: the profile's top ten, by instructions where the kernel counts none for us.
profile()
{
	if perf record -o "$dir/perf" "$@" > /dev/null 2>&1; then
		perf report -i "$dir/perf" --stdio 2> /dev/null | awk '/%/ && !/^#/ { print $1, $NF; if (++n == 10) exit }'
	elif command -v valgrind > /dev/null; then
		valgrind --tool=callgrind --callgrind-out-file="$dir/callgrind" "$@" > /dev/null 2>&1
		callgrind_annotate "$dir/callgrind" | awk '/%\)/ && /:/ { sub(/.*:/, "", $NF); print $2, $0; if (++n == 10) exit }' |
			sed 's/\[.*//'
	else
		echo "no perf and no valgrind here"
	fi
}
{
	echo
	echo "Top ten functions, 8-port 3-tree at 75 %:"
	echo
	profile "$weft" sim run --routes update "$dir/tree-8-3.net" --load 60% --duration 500us --warmup 20us --threads 1 --json
} | tee -a "$out/packets.md"
