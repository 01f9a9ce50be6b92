#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The systemd unit, checked by systemd, as TAP: unit.sh WEFT-SM.SERVICE
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
sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$1" > "$dir/weft-sm.service"
printf '[Unit]\nDescription=RDMA hardware\n' > "$dir/rdma-hw.target"

verified()
{
	SYSTEMD_UNIT_PATH="$dir:" systemd-analyze --man=no verify "$dir/weft-sm.service" && [ ! -s "$dir/said" ]
}

hardened()
{
	SYSTEMD_UNIT_PATH="$dir:" systemd-analyze security --offline=yes --threshold=20 "$dir/weft-sm.service"
}

ok "systemd finds nothing wrong with the unit" verified
ok "exposure is at most 2.0 of 10" hardened
echo "1..$n"
