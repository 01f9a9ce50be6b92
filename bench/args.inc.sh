# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # set by, and for, the scripts that read this
#
# The command line of benchmarks that write tables into docs/results, and how they do. Sourced, with the
# arguments, after `here` and `name` are set. Sets `docs` and `tables_only` to 1 on request, `weft` and `out`.

docs=
tables_only=
while [[ ${1:-} == --* ]]; do
	case $1 in
	--write-docs) docs=1 ;;
	--tables) tables_only=1 ;;
	--help) # the comment at the head of the script
		sed -n '4,${/^#/!q;/shellcheck/d;s/^# \{0,1\}//p}' "$0"
		exit 0
		;;
	*) echo "usage: bench/$name.sh [--help] [--write-docs] [--tables] [WEFT]" >&2; exit 2 ;;
	esac
	shift
done
weft=$(realpath -m "${1:-${WEFT:-$here/../build/src/cli/weft}}")
out=$here/out
# shellcheck source=bench/results.inc.sh
. "$here/results.inc.sh"
