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

# write_result FILE BLOCK: replaces the block of docs/results/FILE with the table from standard input, below the
# line that says which run it is of.
write_result()
{
	local doc=$here/../docs/results/$1 text
	text=$(printf '\n%s\n\n%s\n' "$(run_line)" "$(sed -e '/./,$!d')"; echo .)
	TEXT=${text%.} awk -v block="$2" '
		$0 == "<!-- bench:" block " -->" { print; printf "%s", ENVIRON["TEXT"]; skip = found = 1 }
		$0 == "<!-- /bench:" block " -->" { skip = 0 }
		!skip { print }
		END { exit !found }' "$doc" > "$doc.new" ||
		{ rm -f "$doc.new"; echo "bench: $doc has no block $2" >&2; exit 2; }
	mv "$doc.new" "$doc"
	echo "bench: refreshed $2 in ${doc#"$here/../"}" >&2
}
