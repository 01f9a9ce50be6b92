#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Bad input of each kind, as TAP: bad_input.sh PATH/TO/weft
#
# Each row of bad_input.tsv is a command line for the shell and, after a tab, the one line that must appear on
# standard error. The status must be 2, standard output empty, and no file created or changed. The rows run in
# a directory with a copy of bad/, good.net, wide.net (the same with larger switches), good.lfts and folder/.
set -u

bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'cd /; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$dir/in" "$dir/in/folder" && cd "$dir/in" || exit 1
n=0

# Named as the table calls it; called from there.
# shellcheck disable=SC2317
weft()
{
	"$bin" "$@"
}

# Names of all there is, and of files inode, size and time of change, which no program can set.
contents()
{
	find . -type f -printf '%p %i %s %C@\n' -o -printf '%p\n' | LC_ALL=C sort
}

# row COMMAND MESSAGE
row()
{
	eval "$1" > ../out 2> ../err < /dev/null
	status=$?
	printf '%s\n' "$2" > ../want
	contents > ../after
	[ $status -eq 2 ] || { echo "status $status, expected 2" && return 1; }
	cmp -s ../err ../want || { echo "said:     $(cat ../err)" && echo "expected: $2" && return 1; }
	[ ! -s ../out ] || { echo "standard output: $(head -c 200 ../out)" && return 1; }
	cmp -s ../before ../after || { echo "files changed:" && diff ../before ../after && return 1; }
}

cp -R "$here/bad" . && chmod 0644 bad/secret.yaml && weft topo gen ring 4 -o good.net && weft topo gen ring 4 --ports 6 -o wide.net &&
	weft route compute good.net --lfts good.lfts > /dev/null || exit 1
contents > ../before

tab=$(printf '\t')
while IFS=$tab read -r command message; do
	case $command in '' | '#'*) continue ;; esac
	n=$((n + 1))
	if row "$command" "$message" > ../said 2>&1; then
		echo "ok $n - ${command#weft }"
	else
		echo "not ok $n - ${command#weft }"
		sed 's/^/# /' ../said >&2
	fi
done < "$here/bad_input.tsv"

# Every file in bad/ is there for a row.
n=$((n + 1))
for file in bad/*; do
	grep -qF " $file" "$here/bad_input.tsv" || echo "no row reads $file"
done > ../said
if [ -s ../said ]; then
	echo "not ok $n - every bad file is used"
	sed 's/^/# /' ../said >&2
else
	echo "ok $n - every bad file is used"
fi
echo "1..$n"
