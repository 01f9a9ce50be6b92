#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Services under a running systemd, as TAP: booted.sh PACKAGES [SUITE...]
#
# Boots the systems of systems.sh with systemd-nspawn, without a change of their files and in a network of their own.
# booted.inside.sh is a service there: it installs the packages, runs managers on emulated fabrics, upgrades and removes them.
#
# shellcheck disable=SC2015,SC2046,SC2154,SC2317 # `a && b || explain`; packages_in prints several words; $root is that of each_system; traps
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/packages/system.sh
. "$here/system.sh"
command -v systemd-nspawn > /dev/null || { echo "1..0 # SKIP systemd-nspawn is not installed (systemd-container)" && exit 0; }
own_mounts "$0" "$@"
packages=$(cd "$1" && pwd)
shift
dir=$(mktemp -d)
group=
trap 'rm -rf --one-file-system "$dir"; [ -z "$group" ] || leave_group' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck source=tests/packages/lib.sh
. "$here/lib.sh"

# Where this machine has no systemd: its cgroups are as systemd wants them in this mount namespace only.
own_group()
{
	[ -d /run/systemd/system ] && return 0
	mount -t cgroup2 none /sys/fs/cgroup || return 1
	group=/sys/fs/cgroup/weft-booted-$$
	mkdir "$group" && echo $$ > "$group/cgroup.procs"
}

leave_group()
{
	echo $$ > /sys/fs/cgroup/cgroup.procs
	find "$group" -depth -type d -exec rmdir {} + 2> /dev/null
}

booted()
{
	out=$dir/out
	rm -rf "$out"
	mkdir -p "$out/old" "$out/new" "$dir/new"
	[ -n "$(ls "$dir/new")" ] || next_version "$packages" "$dir/new" 0.2.0 || { echo "Bail out! no packages of a later version" && exit 1; }
	cp $(packages_in "$packages") "$out/old"
	cp "$dir"/new/weft*.deb "$out/new"
	cp "$here/booted.inside.sh" "$out"
	cat > "$out/test.service" << 'UNIT'
[Service]
Type=oneshot
Environment=HOME=/root
ExecStart=/bin/sh /out/booted.inside.sh
StandardOutput=append:/out/tap
StandardError=append:/out/why
ExecStopPost=/bin/systemctl --no-block poweroff
UNIT
	keep=
	[ -d /run/systemd/system ] || keep='--register=no --keep-unit'
	# shellcheck disable=SC2086 # options
	timeout 400 systemd-nspawn --quiet --directory "$root" --volatile=overlay --private-network $keep --link-journal=no \
		--bind="$out:/out" --bind-ro="$out/test.service:/etc/systemd/system/test.service" --boot -- \
		systemd.unit=multi-user.target systemd.wants=test.service > "$out/console" 2>&1 < /dev/null
	if [ ! -e "$out/tap" ]; then
		n=$((n + 1))
		echo "ok $n - $suite # SKIP it does not boot here: $(tail -n 1 "$out/console" | tr -d '\033\r#')"
		return
	fi
	ok "the test came to its end" grep -q '^end$' "$out/tap"
	# Its lines, counted on.
	while read -r line; do
		case $line in
		ok* | 'not ok'*)
			n=$((n + 1))
			printf '%s\n' "$line" | sed "s/ - / $n - $suite: /"
			;;
		esac
		case $line in 'not ok'*) failed=1 ;; esac
	done < "$out/tap"
	[ $failed = 0 ] || sed 's/^/# /' "$out/why" >&2
}

own_group 2> "$dir/why" || { echo "1..0 # SKIP no cgroup of its own: $(cat "$dir/why")" && exit 0; }
each_system booted "$@"
echo "1..$n"
exit $failed
