# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # `here` is set by the script that reads this
#
# Tables of docs/results. Sourced, after `here` is set. Keeps nothing; does not measure.

# Which run a table is of: date, revision of the tree and machine.
run_line()
{
	local cpu revision
	revision=$(git -C "$here" rev-parse --short HEAD 2> /dev/null || echo unknown)
	git -C "$here/.." diff --quiet HEAD -- src 2> /dev/null || revision+=" with changes"
	cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
	printf 'Run of %s, revision %s, %s, %s cores:\n' "$(date -u +%F)" "$revision" "$cpu" "$(nproc)"
}

# Numbers with commas: 1,234,567.
commas() { sed -E ':a; s/\B([0-9]{3})(\b|,)/,\1\2/; ta'; }

# write_block FILE BLOCK TEXT: replaces what is between the marks of the block of docs/results/FILE.
write_block()
{
	local doc=$here/../docs/results/$1
	TEXT=$3 awk -v block="$2" '
		$0 == "<!-- bench:" block " -->" { print; printf "%s", ENVIRON["TEXT"]; skip = found = 1 }
		$0 == "<!-- /bench:" block " -->" { skip = 0 }
		!skip { print }
		END { exit !found }' "$doc" > "$doc.new" ||
		{ rm -f "$doc.new"; echo "bench: $doc has no block $2" >&2; exit 2; }
	mv "$doc.new" "$doc"
	echo "bench: refreshed $2 in ${doc#"$here/../"}" >&2
}

# write_result FILE BLOCK: replaces the block of docs/results/FILE with the table from standard input, below the
# line that says which run it is of.
write_result()
{
	local text
	text=$(printf '\n%s\n\n%s\n' "$(run_line)" "$(sed -e '/./,$!d')"; echo .)
	write_block "$1" "$2" "${text%.}"
}

# Rows of a table as words between tabs.
cells() { sed -n '/^|/{/^|[-:|]*|$/d; s/^| *//; s/ *|$//; s/ *| */\t/g; p}'; }

# merge_result FILE BLOCK COLUMNS: the table from standard input replaces the rows of the block with the same first columns, so many
# of them, or comes after them; the others stay. A line below that of the run says which rows are of this one. Needs table().
merge_result()
{
	local block text rows keys
	block=$(sed -n "/^<!-- bench:$2 -->$/,/^<!-- \\/bench:$2 -->$/p" "$here/../docs/results/$1")
	rows=$(cells)
	keys=$(tail -n +2 <<< "$rows" | cut -f "-$3" | sort -u | sed 's/\t/, /g')
	text=$(
		printf '\n%s\n' "$(sed -n '/^Run of /p; /^[^|<]*: run of /p' <<< "$block" | awk -v keys="$keys" '
			BEGIN { n = split(keys, k, "\n"); for (i = 1; i <= n; i++) now[k[i]] = 1 }
			{ name = $0; sub(/: run of .*/, "", name) }
			!(name in now)')"
		while read -r key; do printf '%s: run of %s\n' "$key" "$(run_line | sed 's/^Run of //; s/:$//')"; done <<< "$keys"
		printf '\n%s\n' "$({ cells <<< "$block"; echo; printf '%s\n' "$rows"; } | awk -F '\t' -v columns="$3" '
			function key(   i, s) { for (i = 1; i <= columns; i++) s = s "\t" $i; return s }
			!NF { new = 1; header = 1; next }
			header { header = 0; next }
			{ k = key(); if (!(k in seen)) { seen[k] = 1; order[++n] = k } }
			new { if (!(k in fresh)) text[k] = ""; fresh[k] = 1 }
			{ text[k] = text[k] $0 "\n" }
			END { for (i = 1; i <= n; i++) printf "%s", text[order[i]] }' | table)"
		echo .
	)
	write_block "$1" "$2" "${text%.}"
}
