#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The life of Debian packages in whole systems, as TAP: systems.sh PACKAGES [SUITE...]
#
# For each release of Debian (default: bookworm and trixie) a system is made by debootstrap, below PACKAGES; packages are
# installed, upgraded, downgraded, removed and purged there. A manager that runs on an emulated fabric is upgraded without a
# change of any table. $MIRROR: where Debian's packages are; default: the first one in this machine's sources.
#
# shellcheck disable=SC2015,SC2046,SC2317 # `a && b || explain`, ok calls
set -u

packages=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP debootstrap needs root" && exit 0; }
command -v debootstrap > /dev/null || { echo "1..0 # SKIP debootstrap is not installed" && exit 0; }
mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
	sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' | grep -v security | head -n 1)}
dir=$(mktemp -d)
root=
# shellcheck disable=SC2154 # p is the loop's
trap 'unmount; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/packages/lib.sh
. "$here/lib.sh"

unmount()
{
	[ -n "$root" ] || return 0
	for what in proc dev; do
		umount "$root/$what" 2> /dev/null
	done
	return 0
}

# A system is made once and kept: make clean removes it.
system_make()
{
	[ -e "$root/made" ] && return
	rm -rf "$root"
	debootstrap --variant=minbase --include=systemd,adduser,procps,libgomp1,libibumad3,libjansson4,libsqlite3-0,"$2",libyaml-0-2 \
		"$1" "$root" "$mirror" > "$dir/debootstrap.log" 2>&1 && touch "$root/made" || { tail -n 5 "$dir/debootstrap.log" && return 1; }
}

# A manager runs as user weft; after an upgrade the new program goes on without writing a table.
undisturbed()
{
	$dpkg -i $(packages_in "$old") || return 1
	cat > "$root/upgrade.sh" << 'SH'
set -e
cd /tmp
weft=/usr/bin/weft
user='setpriv --reuid weft --regid weft --clear-groups env HOME=/var/lib/weft RUNTIME_DIRECTORY=/run/weft'
name=deb-$$ # names are those of the whole machine, not of this directory
run() { $user "$@"; }
ctl() { run $weft ctl --socket /run/weft/sm.sock "$@"; }
# In the background: exec, so that $! is the program and not a shell that waits for it.
background() { exec $user "$@"; }
trap 'kill $manager $fabric 2> /dev/null || true; wait || true' EXIT
start()
{
	background $weft sm --server $name --control /run/weft/sm.sock --state /var/lib/weft/weft.db 2>> /tmp/sm.log &
	manager=$!
	ctl --wait 20s wait
}
: > /tmp/sm.log
run $weft topo gen mtree 8 2 -o /var/lib/weft/net
background $weft fabric /var/lib/weft/net --name $name --no-console -q < /dev/null > /tmp/fabric.log 2>&1 &
fabric=$!
start
ctl --json smps | grep '"distribution"'
dpkg --force-confold --force-confdef -i "$1"/weft*.deb > /dev/null
ctl stop
wait $manager
start
ctl --json smps > /tmp/smps
ctl stop
wait $manager
kill $fabric
wait $fabric || true
grep '"distribution": 0' /tmp/smps
SH
	chroot "$root" sh /upgrade.sh "$new" || { tail -n 40 "$root/tmp/fabric.log" "$root/tmp/sm.log" && return 1; }
	$dpkg -P weft-fabric weft-doc weft
}

for suite in ${*:-bookworm trixie}; do
	root=$packages/system-$suite
	uv=libuv1
	[ "$suite" = bookworm ] || uv=libuv1t64
	if ! system_make "$suite" "$uv" > "$dir/why" 2>&1; then
		n=$((n + 1))
		echo "ok $n - $suite # SKIP debootstrap from $mirror failed: $(tail -n 1 "$dir/why" | tr '\n#' '  ')"
		continue
	fi
	mount --bind /proc "$root/proc"
	mount --bind /dev "$root/dev"
	old=$packages new=$dir/new
	life=
	[ -d "$new" ] || ok "packages of a later version" next_version "$packages" "$new" 0.2.0
	rm -rf "$root/old" "$root/new"
	mkdir -p "$root/old" "$root/new"
	inside=
	cp $(packages_in "$packages") "$root/old"
	cp "$new"/weft*.deb "$root/new"
	dpkg="chroot $root dpkg"
	life="$suite: "
	$dpkg -P weft weft-fabric weft-doc > /dev/null 2>&1
	inside=$root old=/old new=/new
	life_cycle
	$dpkg -P weft weft-fabric weft-doc > /dev/null 2>&1
	ok "an upgrade under a running manager writes no table" undisturbed
	unmount
done
echo "1..$n"
exit $failed
