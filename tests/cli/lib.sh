# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # the scripts that read this use what is set here
#
# What tests of the program from outside share; read with `.` and the program's path: results are TAP. Everything lives in a
# directory of its own, which goes away at the end, together with the processes in $pids.

weft=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
dir=$(mktemp -d)
pids=
n=0
# shellcheck disable=SC2154 # p is the loop's
trap 'for p in $pids; do kill "$p" 2> /dev/null; done; cd /; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1

# ok NAME COMMAND...: passes when the command succeeds; what it printed explains a failure
ok()
{
	what=$1
	shift
	n=$((n + 1))
	if "$@" > said 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		sed 's/^/# /' said >&2
	fi
}

skip() # NAME REASON
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# need PROGRAM...: without one of them nothing can be tested
need()
{
	for program; do
		command -v "$program" > /dev/null && continue
		echo "1..0 # SKIP $program is not installed"
		exit 0
	done
}

# until_true COMMAND...: within 30 s
until_true()
{
	tries=600
	until "$@" > /dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { echo "not in time: $*" && return 1; }
		sleep 0.05
	done
}
