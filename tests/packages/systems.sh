#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The life of Debian packages in whole systems, as TAP: systems.sh PACKAGES [SUITE...]
#
# For each release of Debian (default: bookworm and trixie) a system is made by debootstrap, below PACKAGES; packages are
# installed, upgraded, downgraded, removed and purged there. A manager that runs on an emulated fabric is upgraded without a
# change of any table.
#
# shellcheck disable=SC2015,SC2046,SC2317 # `a && b || explain`, ok calls
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/packages/system.sh
. "$here/system.sh"
own_mounts "$0" "$@"
packages=$(cd "$1" && pwd)
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/packages/lib.sh
. "$here/lib.sh"

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

lives()
{
	mount -t proc proc "$root/proc"
	inside='' old=$packages new=$dir/new
	[ -d "$new" ] || ok "packages of a later version" next_version "$packages" "$new" 0.2.0
	rm -rf "$root/old" "$root/new"
	mkdir -p "$root/old" "$root/new"
	cp $(packages_in "$packages") "$root/old"
	cp "$new"/weft*.deb "$root/new"
	dpkg="chroot $root dpkg"
	$dpkg -P weft weft-fabric weft-doc > /dev/null 2>&1
	inside=$root old=/old new=/new
	life_cycle
	$dpkg -P weft weft-fabric weft-doc > /dev/null 2>&1
	ok "an upgrade under a running manager writes no table" undisturbed
	umount "$root/proc"
}
each_system lives "$@"
echo "1..$n"
exit $failed
