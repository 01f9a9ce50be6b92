#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Debian packages of the program that is built, and their life in an empty directory, as TAP: quick.sh BUILD SOURCE
#
# dpkg works on a directory here, and maintainer scripts run outside of it with DPKG_ROOT. `make deb-test` does the same in
# whole systems.
#
# shellcheck disable=SC2015,SC2317 # `a && b || explain`, ok calls
set -u

build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
for program in dpkg-deb dh dpkg-buildpackage systemd-sysusers systemd-tmpfiles; do
	command -v $program > /dev/null || { echo "1..0 # SKIP $program is not installed" && exit 0; }
done
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP needs root: files of other users are made" && exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/packages/lib.sh
. "$source/tests/packages/lib.sh"
root=$dir/root
old=$dir/old
new=$dir/new

ok "packages of the program" "$source/scripts/deb.sh" --quick "$build" "$old"
ok "packages of a later version" next_version "$old" "$new" 0.2.0
clean()
{
	lintian --no-cfg --allow-root --fail-on error,warning "$old"/*.changes
}
if command -v lintian > /dev/null; then
	ok "lintian finds no error and no warning" clean
else
	n=$((n + 1))
	echo "ok $n - lintian finds no error and no warning # SKIP lintian is not installed"
fi
content()
{
	for deb in "$old"/weft*.deb; do dpkg-deb -c "$deb"; done > list
	for file in bin/weft share/man/man1/weft-sm.1.gz man5/weft.yaml.5.gz weft/libweft-umad.so weft-sm.service weft-sm@.service \
		sysusers.d/weft.conf tmpfiles.d/weft.conf 60-weft.rules logrotate.d/weft _weft weft.fish completions/weft \
		weft-alerts.yml grafana/weft.json doc/weft/docs/monitoring.md doc/weft/README.md; do
		grep -q "$file\$" list || { echo "no package has $file" && return 1; }
	done
	! grep 'usr/local\|libweft-mpi\|\.md\.gz' list
}
cd "$dir" || exit 1
ok "everything is in one of them" content
ok "units run the program that is installed" sh -c "dpkg-deb --fsys-tarfile $old/weft_*.deb | tar -xO --wildcards '*weft-sm*.service' | grep -c '^ExecStart=/usr/bin/weft sm' | grep -qx 2"

mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/etc" "$root/var/log" "$root/run"
: > "$root/var/lib/dpkg/status"
: > "$root/var/lib/dpkg/available"
printf 'root:x:0:0:root:/root:/bin/sh\n' > "$root/etc/passwd"
printf 'root:x:0:\nadm:x:4:\n' > "$root/etc/group"
dpkg="dpkg --root=$root --force-script-chrootless --force-depends --no-triggers --log=/dev/null"
life_cycle
echo "1..$n"
