#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Build with the tests and run them: scripts/test.sh BUILDDIR COMPILER [MESON OPTION...]
# SUITES='unit docs' runs only these suites. BUILD_ONLY=1 runs none.
#
# Status 0 when the tests ran, whatever they said: scripts/test-summary.sh reads the log. A build
# that fails is the end.
set -eu

dir=$1
compiler=$2
shift 2

# The tests are 260 programs: the quickest linker there is.
for linker in mold lld gold; do
	if [ -z "${CC_LD-}" ] && command -v "ld.$linker" > /dev/null; then
		export CC_LD=$linker
	fi
done
if [ ! -e "$dir/build.ninja" ]; then
	echo "test: setting up $dir $*"
	CC=$compiler meson setup "$dir" -Dtests=true "$@" > /dev/null
elif ! grep -q '^tests = true' "$dir/meson-private/cmd_line.txt"; then
	meson configure "$dir" -Dtests=true
fi
echo "test: building $dir"
ninja -C "$dir" --quiet
[ -z "${BUILD_ONLY-}" ] || exit 0
rm -f "$dir/meson-logs/testlog.json"
echo "test: running $dir"
# The first fault of UBSan must count; leaks count by default. Two tests more than there are
# cores: those beside other programs mostly wait.
# shellcheck disable=SC2046,SC2086 # an option and its word for each suite
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 4 \
	--num-processes $(($(nproc) + 2)) ${SUITES:+$(printf -- '--suite %s ' $SUITES)} || true
