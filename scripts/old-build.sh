#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Build an older revision to compare with: scripts/old-build.sh REVISION [TARGET...]
#
#	WEFT_OLD=DIR	where revisions are kept (build-old); several clones may share one
#
# TARGET is the base name of a program, such as weft or test_trials; those that the revision lacks
# are left out. Prints the directory of the revision: its sources are in src, its build in build.
# Built as `make test` builds it, once: a second call finds it there. `make clean` removes it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
[ $# -ge 1 ] || { echo "usage: $0 REVISION [TARGET...]" >&2; exit 2; }
sha=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "old-build: no revision '$1'" >&2; exit 2; }
shift
dir=${WEFT_OLD:-$root/build-old}/${sha:0:12}
mkdir -p "$dir"
exec 9> "$dir/lock"
flock 9

# test_restart_trials printed no hashes before it used the frame of the others.
print_restart_hashes()
{
	local f=$1/tests/scenario/test_restart_trials.c
	[ -f "$f" ] && ! grep -q seeds_main "$f" || return 0
	sed -i '/^\tif (seed % AGAIN)/i\
	if (getenv("TRIAL_HASHES")) {\
		printf("hash %llu %016llx %u\\n", (unsigned long long)seed, (unsigned long long)a.hash, a.restarts);\
		return true;\
	}' "$f"
}

if [ ! -e "$dir/src/meson.build" ]; then
	rm -rf "$dir/src.new"
	mkdir "$dir/src.new"
	git archive "$sha" | tar -x -C "$dir/src.new"
	print_restart_hashes "$dir/src.new"
	mv "$dir/src.new" "$dir/src"
fi
if [ ! -e "$dir/build/build.ninja" ]; then
	echo "old-build: setting up ${sha:0:12} in $dir" >&2
	meson setup "$dir/build" "$dir/src" -Dtests=true > "$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 2; }
fi
want=()
for name in "${@:-weft}"; do
	[ -n "$(find "$dir/build" -name "$name" -type f -perm -u+x -print -quit)" ] && continue
	while read -r target; do want+=("$target"); done < <(
		ninja -C "$dir/build" -t targets all | sed -n "s|^\(\(.*/\)\?$name\): c_LINKER.*|\1|p")
done
if [ ${#want[@]} -gt 0 ]; then
	echo "old-build: building ${sha:0:12}: ${want[*]##*/}" >&2
	ninja -C "$dir/build" "${want[@]}" > "$dir/log" 2>&1 || { tail -n 40 "$dir/log" >&2; exit 2; }
fi
echo "$dir"
