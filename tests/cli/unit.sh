#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The systemd units, checked by systemd, as TAP: unit.sh UNIT...
set -u

if ! command -v systemd-analyze > /dev/null; then
	echo "1..0 # SKIP systemd-analyze is not installed"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

ok()
{
	name=$1
	shift
	n=$((n + 1))
	if "$@" > "$dir/said" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' "$dir/said" >&2
	fi
}

# The program may not be installed where the unit expects it: any that exists will do here, and so will
# a unit for the target of rdma-core.
printf '[Unit]\nDescription=RDMA hardware\n' > "$dir/rdma-hw.target"

verified()
{
	SYSTEMD_UNIT_PATH="$dir:" systemd-analyze --man=no verify "$dir/$1" && [ ! -s "$dir/said" ]
}

hardened()
{
	SYSTEMD_UNIT_PATH="$dir:" systemd-analyze security --offline=yes --threshold=20 "$dir/$1"
}

# A configuration with faults does not restart for ever.
limited()
{
	grep -qx 'RestartPreventExitStatus=2' "$1" && grep -q '^StartLimitBurst=[1-9]' "$1" && grep -q '^User=weft' "$1"
}

for unit; do
	file=$(basename "$unit" | sed 's/@/@x/')
	sed 's|^\(Exec[A-Za-z]*\)=[^ ]*|\1=/bin/true|' "$unit" > "$dir/$file"
	ok "systemd finds nothing wrong with $file" verified "$file"
	ok "exposure of $file is at most 2.0 of 10" hardened "$file"
	ok "$file has start limits and a user of its own" limited "$unit"
done
echo "1..$n"
