#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# CONTRIBUTING.md says in how many places an engine, an attribute, a phase, a transport or a setting is added. Is
# that true? usage: extend.sh SOURCE_ROOT BUILD [TOY...]      prints TAP
#
# Copies the tree and what BUILD has built of src/, adds each toy as its file NAME.toy here says, compares the number of
# files that this took with the table in CONTRIBUTING.md, builds weft once with all of them and lets each show that it
# works. A toy is a script: new_file, insert_after and replace edit the copy, NAME_works is the check, `row` names its
# row of the table. A toy that sets `targets` comes last and by itself: these are built instead of weft, since all of
# weft includes what it changes.
# shellcheck disable=SC2317 # toys call what is here
set -uo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$1" && pwd) || exit 2
built=$(cd "$2" && pwd) || exit 2
shift 2
toys=${*:-engine phase transport setting attribute}
tmp=$(mktemp -d) || exit 2
copy=$tmp/tree
weft=$copy/build/src/cli/weft
pids=
# shellcheck disable=SC2086 # a list
trap '[ -z "$pids" ] || kill $pids 2> /dev/null; rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM
n=0 failed=0

# ---- what toys are made of ----

touched() # PATH
{
	grep -qxF "$1" "$places" || echo "$1" >> "$places"
}

give_up() { echo "# $toy: $*" | tee -a "$tmp/faults"; return 1; }

new_file() # PATH, text on standard input
{
	[ ! -e "$copy/$1" ] || { give_up "$1 exists"; return; }
	cat > "$copy/$1"
	touched "$1"
}

# insert_after PATH EXPRESSION: the text on standard input behind the first line that matches
insert_after()
{
	local at
	at=$(grep -nE -m 1 -- "$2" "$copy/$1" | cut -d : -f 1)
	[ "$at" ] || { give_up "$1 has no line that matches $2"; return; }
	sed -i "${at}r /dev/stdin" "$copy/$1"
	touched "$1"
}

replace() # PATH TEXT TEXT: the first such text by another
{
	grep -qF -- "$2" "$copy/$1" || { give_up "$1 has no '$2'"; return; }
	awk -v from="$2" -v to="$3" '!done && (at = index($0, from)) {
			$0 = substr($0, 1, at - 1) to substr($0, at + length(from)); done = 1
		} { print }' "$copy/$1" > "$tmp/edited" && cat "$tmp/edited" > "$copy/$1"
	touched "$1"
}

# bring_up TRANSPORT [OPTION...]: a manager on an emulated fabric, until the subnet is up; its summary is in
# sm.json, its log in sm.log
bring_up()
{
	local name=extend-$$-$RANDOM kind=$1 status
	shift
	"$weft" topo gen mtree 4 2 -o net || return
	"$weft" fabric net --name "$name" --no-control --no-console > fabric.out 2>&1 < /dev/null &
	pids=$!
	for _ in {1..100}; do
		grep -q "$name" /proc/net/unix && break
		sleep 0.1
	done
	"$weft" sm --transport "$kind" --server "$name" --once --state '' --control '' --log sm.log --json "$@" > sm.json
	status=$?
	kill "$pids"
	wait "$pids"
	pids=
	tail -n 5 sm.log
	[ "$status" -eq 0 ] && jq -e '.state == "up"' sm.json
}

# The number in CONTRIBUTING.md's table, "2" or "1 file, 1 line", in the row whose first cell is this.
said()
{
	awk -F '|' -v row="$1" '{ gsub(/^ +| +$/, "", $2) } $2 == row { for (i = split($3, w, /[^0-9]+/); i; i--) sum += w[i]
		print sum; exit }' "$root/CONTRIBUTING.md"
}

# ---- the test ----

result() # STATUS NAME [LOG]
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		[ -z "${3:-}" ] || tail -n 20 "$3" | sed 's/^/# /'
		echo "not ok $n - $2"
		failed=1
	fi
}

# Copies of sources and of what was built have the times of the originals: only what toys change is built again.
copy_all()
{
	local files="$tmp/files"
	{ git -C "$root" ls-files -co --exclude-standard -- . 2> /dev/null ||
		(cd "$root" && find . -path './build*' -prune -o -type f -print); } |
		(cd "$root" && while read -r f; do [ -e "$f" ] && echo "$f"; done) > "$files"
	mkdir -p "$copy/build"
	tar -C "$root" --format=posix -c -T "$files" | tar -C "$copy" -x
	tar -C "$built" --format=posix -c --exclude ./tests --exclude ./meson-logs --exclude './*shots' . | tar -C "$copy/build" -x
}

# Edits the copy; into targets: what it wants built.
add() # TOY
{
	toy=$1 row=$1 targets=() places=$tmp/places.$1
	: > "$places"
	: > "$tmp/faults"
	# shellcheck source=/dev/null
	. "$here/$toy.toy"
	took=$(wc -l < "$places") says=$(said "$row")
	sed "s/^/# $toy: /" "$places"
	[ ! -s "$tmp/faults" ] && [ "$took" = "$says" ]
	result $? "$toy: $took places, CONTRIBUTING.md says ${says:-nothing}" "$tmp/faults"
}

# What is built again is not optimised: half the time. The commands of ninja stay the same, else it builds all again.
mkdir "$tmp/bin"
for compiler in cc gcc clang; do
	found=$(command -v $compiler) && printf '#!/bin/sh\nexec %s "$@" -O0 -g0\n' "$found" > "$tmp/bin/$compiler" &&
		chmod +x "$tmp/bin/$compiler"
done

# build_and_try WHAT TOY... : builds, and lets each toy show that it works
build_and_try()
{
	local log=$tmp/log status name
	read -ra names <<< "$1"
	shift
	for name in "${names[@]}"; do
		ninja -C "$copy/build" -t targets all | sed -n "s|^\(\(.*/\)\?$name\): .*_LINKER.*|\1|p"
	done | PATH=$tmp/bin:$PATH xargs ninja -C "$copy/build" > "$log" 2>&1
	status=$?
	grep -E -A 5 'error:|FAILED' "$log" > "$tmp/errors"
	result $status "$*: built" "$tmp/errors"
	for toy; do
		[ $status -eq 0 ] && "${toy}_works" > "$log" 2>&1
		result $? "$toy: works" "$([ $status -ne 0 ] || echo "$log")"
	done
}

copy_all
(unset PYTHONHOME PYTHONPATH
	meson setup --reconfigure "$copy/build" "$copy") > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 2; }
cd "$tmp" || exit 2
together=() alone=()
for t in $toys; do
	if grep -q '^targets=' "$here/$t.toy"; then alone+=("$t"); else together+=("$t"); fi
done
# One line for each toy's places and work, one for each build.
echo "1..$((3 * ${#alone[@]} + 2 * ${#together[@]} + (${#together[@]} > 0)))"
for t in "${together[@]}"; do add "$t"; done
[ ${#together[@]} -eq 0 ] || build_and_try weft "${together[@]}"
for t in "${alone[@]}"; do
	add "$t"
	build_and_try "${targets[*]}" "$t"
done
exit $failed
