# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # set by, and for, the scripts that read this
#
# What bench/mechanisms.sh is made of: the command line, the fabrics and what saturates them, one
# measurement of a change, and tables.
# Sourced, after `here` and `name` are set. Sets `docs` and `tables_only` to 1 where asked for, `weft`.

# shellcheck source=bench/args.inc.sh
. "$here/args.inc.sh"
records=$out/$name.jsonl
command -v jq > /dev/null || { echo "bench: jq is needed" >&2; exit 2; }
[ -x "$weft" ] || { echo "bench: no program at $weft: run make first" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
failed=0
declare -A rate_at # by fabric: packets a second and host that saturate it

say() { printf '[%4ds] %s\n' "$SECONDS" "$*" >&2; }

# The irregular fabrics of the thesis: 4-port switches, 1X SDR; switches and hosts as in its tables.
fabric_irregular()
{
	"$weft" topo gen irregular "$1" --ports 4 --hosts "$2" --seed 1 --rate 1xSDR -o "$work/irregular-$1.net"
}

fabrics()
{
	fabric_irregular 8 7
	fabric_irregular 16 14
	fabric_irregular 24 22
	fabric_irregular 32 40
	"$weft" topo gen mtree 8 3 --rate 1xSDR -o "$work/tree-8-3.net"
}

fabric_title()
{
	case $1 in
	irregular-*) echo "irregular, ${1#irregular-} switches" ;;
	tree-8-3) echo "8-port 3-tree, 80 switches" ;;
	esac
}

# Searched for once a fabric.
saturation()
{
	if [ -z "${rate_at[$1]:-}" ]; then
		rate_at[$1]=$("$weft" sim saturate --routes update "$work/$1.net" --points 2 --json | jq .saturation_packets_s_node)
		say "$1: ${rate_at[$1]} packets/s/host saturate it"
	fi
}

# measure TABLE FABRIC CPU SHARE SAMPLE HOW LABEL OPTION...: one line in $records. SHARE is the load
# in percent of saturation, 0: none; SAMPLE switches of all, 0: every one but the manager's.
measure()
{
	local table=$1 fabric=$2 cpu=$3 share=$4 sample=$5 how=$6 label=$7 rate=0 args=()
	shift 7
	if [ "$share" != 0 ]; then
		saturation "$fabric"
		rate=$((rate_at[$fabric] * share / 100))
		args=(--rate "$rate")
	fi
	[ "$sample" = 0 ] || args+=(--sample "$sample")
	[ "$cpu" != thesis ] || args+=(--quiet 50s) # as long as its subnets were up before traffic began
	say "$table: $fabric, $cpu, $share %, $how, $label"
	"$weft" sim change "$work/$fabric.net" --each-switch "$how" --cpu "$cpu" "${args[@]}" "$@" --json \
		> "$work/run" 2> "$work/err" || { failed=1; cat "$work/err" >&2; }
	jq -c --arg table "$table" --arg fabric "$fabric" --arg title "$(fabric_title "$fabric")" --arg cpu "$cpu" \
		--argjson share "$share" --argjson rate "$rate" --arg step "$label" --arg options "$*" \
		'{$table, $fabric, $title, $cpu, $share, $rate, label: $step, $options, how, runs: .switches, failed, mean, sd,
		  lost_most: ([.runs[] | .discarded - .futile] | max)}' "$work/run" >> "$records"
}

# Rows of tab-separated words in, an aligned table out that is Markdown as well. awk counts bytes.
table()
{
	awk -F '\t' '
		function width(s,   t) { t = s; return length(s) - gsub(/±/, "", t) }
		function pad(s, n, left,   p) {
			p = sprintf("%*s", n - width(s), "")
			return left ? s p : p s
		}
		{ for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i
			if (width($i) > w[i]) w[i] = width($i)
		  }
		  if (NF > cols) cols = NF }
		function row(r, fill,   i, s) {
			s = "|"
			for (i = 1; i <= cols; i++)
				s = s " " pad(cell[r, i], w[i], i == 1) " |"
			if (fill) { gsub(/ /, "-", s); gsub(/-\|/, ":|", s); sub(/:\|/, "-|", s) }
			print s
		}
		END { row(1); row(0, 1); for (r = 2; r <= NR; r++) row(r) }'
}

# jq over all records as one array, with the functions of changes.jq; the program comes last.
cjq()
{
	local args=("${@:1:$#-1}") program=${*: -1}
	jq -L "$here" -rs "${args[@]}" "include \"changes\"; $program" "$records"
}
