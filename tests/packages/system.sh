# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # the scripts that read this use what is set here, and set $packages and $dir
#
# Whole systems by debootstrap, below $packages: system_make SUITE makes one, once, at $root. `make clean` removes it. Scripts that mount
# something in one do so in a mount namespace of their own (own_mounts): it goes with the script, however that ends.
# $MIRROR: where Debian's packages are; default: the first one in this machine's sources.

[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP debootstrap needs root" && exit 0; }
command -v debootstrap > /dev/null || { echo "1..0 # SKIP debootstrap is not installed" && exit 0; }
mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
	sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' | grep -v security | head -n 1)}

# own_mounts SCRIPT ARGUMENT...: starts the script again in a mount namespace of its own
own_mounts()
{
	[ -z "${OWN_MOUNTS:-}" ] || return 0
	unshare --mount true 2> /dev/null || { echo "1..0 # SKIP no mount namespace of its own: $(unshare --mount true 2>&1)" && exit 0; }
	OWN_MOUNTS=1 exec unshare --mount --propagation private sh "$@"
}

# system_make SUITE: the system at $root
system_make()
{
	root=$packages/system-$1
	uv=libuv1
	[ "$1" = bookworm ] || uv=libuv1t64
	bootstrap "$1" systemd,systemd-sysv,dbus,adduser,procps,logrotate,libgomp1,libibumad3,libjansson4,libsqlite3-0,$uv,libyaml-0-2
}

# bootstrap SUITE [PACKAGES]: with these packages beside the essential ones and apt, at $root
bootstrap()
{
	with=${2:-}
	[ ! -e "$root/made" ] || [ "$(cat "$root/made")" != "$with" ] || return 0
	rm -rf --one-file-system "$root"
	debootstrap --variant=minbase ${with:+--include="$with"} "$1" "$root" "$mirror" > "$dir/debootstrap.log" 2>&1 &&
		echo "$with" > "$root/made" || { tail -n 5 "$dir/debootstrap.log" && return 1; }
}

# each_system COMMAND SUITE...: the command for every system that can be made; the others are skipped with a reason
each_system()
{
	what=$1
	shift
	for suite in ${*:-bookworm trixie}; do
		if system_make "$suite" > "$dir/why" 2>&1; then
			life="$suite: "
			$what
		else
			n=$((n + 1))
			echo "ok $n - $suite # SKIP debootstrap from $mirror failed: $(tail -n 1 "$dir/why" | tr '\n#' '  ')"
		fi
	done
}
