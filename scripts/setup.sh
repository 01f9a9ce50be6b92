#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Install what is missing to build, test, measure or fuzz Weft on Debian and its kin.
#
#	scripts/setup.sh [build|test|bench|fuzz|static|deb]
#
# Says what it does, and does nothing when nothing is missing. Status 2: something stayed missing.
set -eu

level=${1:-build}
need="gcc libc6-dev meson ninja-build pkg-config libuv1-dev libyaml-dev libsqlite3-dev libjansson-dev
	libibumad-dev"
case $level in
build) ;;
test) need="$need libcmocka-dev libibmad-dev clang clang-format opensm ibsim-utils libumad2sim0
	infiniband-diags ibutils jq curl tmux groff-base tshark libopenmpi-dev openmpi-bin gnuplot-nox munge slurmctld slurmd
	slurm-client" ;;
bench) need="$need jq valgrind opensm infiniband-diags ibsim-utils libumad2sim0" ;;
deb) need="$need debhelper dpkg-dev lintian debootstrap systemd-container buildah" ;;
fuzz) need="$need clang libclang-rt-14-dev" ;;
static)
	need="$need emscripten"
	command -v node > /dev/null || need="$need nodejs"
	command -v npm > /dev/null || need="$need npm"
	;;
*)
	echo "setup: unknown level '$level', expected build, test, bench, fuzz, static or deb" >&2
	exit 2
	;;
esac

# The packages among "$@" that are not installed.
missing()
{
	for p in "$@"; do
		case $(dpkg-query -W -f '${db:Status-Status}\n' "$p" 2> /dev/null) in
		*not-installed*) echo "$p" ;;
		*installed*) ;;
		*) echo "$p" ;;
		esac
	done
}

# Packages of ui/package.json, in the versions of the lock file; again when it has changed. Says what it does; a test that
# needs them skips itself where they cannot be had.
packages_of_page()
{
	[ "$level" = test ] && command -v npm > /dev/null || return 0
	page=$(cd "$(dirname "$0")/../ui" && pwd)
	# shellcheck disable=SC3013 # dash and bash know -nt
	[ -e "$page/node_modules/.package-lock.json" ] &&
		[ ! "$page/package-lock.json" -nt "$page/node_modules/.package-lock.json" ] && return 0
	echo "setup: npm ci in ui/: packages for the tests of the page"
	(cd "$page" && npm ci --no-audit --no-fund --loglevel=error > /dev/null) ||
		echo "setup: npm ci failed: tests of the page in a browser are skipped" >&2
}

# Without Debian's tools nothing can be installed, but everything may be there all the same.
if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
	for tool in gcc meson ninja pkg-config; do
		if ! command -v "$tool" > /dev/null; then
			echo "setup: no apt-get here; please install the equivalents of: $need" >&2
			exit 2
		fi
	done
	packages_of_page
	exit 0
fi

# shellcheck disable=SC2086 # lists of words
want=$(missing $need)
# A quicker linker. What single tests need, which are skipped without it: a browser (the page), monitoring (about 25 MB to load), tools for packages,
# other shells.
wish=
if [ "$level" = test ]; then
	command -v node > /dev/null || wish="$wish nodejs"
	command -v npm > /dev/null || wish="$wish npm"
	command -v chromium > /dev/null || wish="$wish chromium"
	# shellcheck disable=SC2046 # words
	wish="$wish $(missing mold prometheus prometheus-node-exporter debhelper dpkg-dev lintian fish zsh | tr '\n' ' ')"
	wish=$(echo $wish) # without blanks around it
fi
if [ -z "$want$wish" ]; then
	packages_of_page
	exit 0
fi
want=$(echo "$want" | tr '\n' ' ')

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo > /dev/null; then
		echo "setup: missing and neither root nor sudo to install them: $want$wish" >&2
		[ -z "$want" ] || exit 2
		packages_of_page
		exit 0
	fi
	sudo=sudo
fi
apt()
{
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"
}

echo "setup: installing what '$level' needs: $want$wish"
apt update > /dev/null || echo "setup: apt-get update failed, trying with the lists at hand" >&2
# shellcheck disable=SC2086
[ -z "$want" ] || apt install --no-install-recommends $want || true
# shellcheck disable=SC2086
[ -z "$wish" ] || apt install --no-install-recommends $wish ||
	echo "setup: could not install all of: $wish; tests that need them are skipped" >&2
packages_of_page
# shellcheck disable=SC2086
left=$(missing $want | tr '\n' ' ')
if [ -n "$left" ]; then
	echo "setup: could not install: $left" >&2
	exit 2
fi
echo "setup: done"
