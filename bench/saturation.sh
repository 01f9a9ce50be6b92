#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What irregular subnets of the thesis's sizes carry: docs/results/saturation.md.
#
#	bench/saturation.sh			some minutes
#	bench/saturation.sh --write-docs	also refresh the tables and the picture
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
name=saturation
# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
[ -x "$weft" ] || { echo "bench: no weft at $weft: run make first" >&2; exit 2; }

irregular() { "$weft" topo gen irregular "$1" --hosts "$2" --ports 4 --rate 1xSDR "${@:3}"; }

sizes()
{
	local size switches hosts files=()
	for size in "8 7" "16 14" "24 22" "32 40" "48 64" "64 82"; do
		read -r switches hosts <<< "$size"
		irregular "$switches" "$hosts" --seed 1 -o "$switches switches.net"
		"$weft" topo show "$switches switches.net" --json | jq .diameter >> diameters
		files+=("$switches switches.net")
	done
	"$weft" sim saturate --routes update "${files[@]}" --points 24 --log-x --svg latency.svg --json > sizes.json
	echo "| switches | hosts | diameter | saturation, packets/s/node | of the host's link | zero-load latency |"
	echo "|---:|---:|---:|---:|---:|---:|"
	jq -r --slurpfile diameter diameters '.fabrics | to_entries[] | .key as $k | .value |
		"| \(.switches) | \(.hosts) | \($diameter[$k]) | \(.saturation_packets_s_node) | \(.saturation_load * 1000 | round / 10) % | \(.zero_load_latency_ns / 10 | round / 100) us |"' \
		sizes.json
}

# Five seeds for each number of links between switches: lowest, median and highest.
links()
{
	local links seed
	echo "| links between switches | lowest | median | highest | zero-load latency, median |"
	echo "|---:|---:|---:|---:|---:|"
	for links in 31 35 40 45 53; do
		for seed in 1 2 3 4 5; do
			irregular 32 21 --links "$links" --seed "$seed" | "$weft" sim saturate --routes update - --points 1 --json
		done | jq -rs --arg links "$links" '(map(.saturation_packets_s_node) | sort) as $s |
			"| \($links) | \($s[0]) | \($s[2]) | \($s[4]) | \(map(.zero_load_latency_ns) | sort[2] / 10 | round / 100) us |"'
	done
}

mkdir -p "$out"
sizes | commas | tee "$out/saturation.md"
links | commas | tee "$out/saturation-links.md"
if [ -n "$docs" ]; then
	write_result saturation.md saturation < "$out/saturation.md"
	write_result saturation.md saturation-links < "$out/saturation-links.md"
	cp latency.svg "$here/../docs/img/latency.svg"
fi
