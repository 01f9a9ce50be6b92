#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Long runs, for a night or a release: scripts/soak.sh BUILDDIR [PART...]
#
#	SOAK_FIRST=N		the first seed (10001: beyond those that `make test` runs)
#	SOAK_SEEDS=N		how many of each kind (2000)
#	SOAK_SWARM=N		schedules of the part swarm (100000); those that fail, shrunk, in BUILDDIR/soak/swarm-failures
#	SOAK_FUZZ_SECONDS=N	for each fuzz target (300)
#	SOAK_SAN=DIR		a sanitized build, for all that throws bad datagrams (BUILDDIR)
#	SOAK_MADS=N		bad datagrams in all (10000000)
#	SOAK_KILLS=N		kill -9 of the manager in bring-ups, half as often in changes, a quarter as often of the server (200)
#
# BUILDDIR has the tests built (`make soak` sees to it). A part is a function part_NAME here and a word
# in `parts`; without a PART all are run. What each said is in BUILDDIR/soak. Every part runs even when
# one before it failed. The last line is "soak: N parts, N failed"; status 1 when any did.
# shellcheck disable=SC2317 # parts are called by name
set -u

parts="trials changes planes combinations compilers sizes swarm provoked lies odd storm requests takeovers liar flood kills stalls managers servers disk state failures fuzz"
build=$(cd "$1" && pwd) || exit 2
san=$(cd "${SOAK_SAN:-$1}" && pwd) || exit 2
shift
root=$(cd "$(dirname "$0")/.." && pwd)
first=${SOAK_FIRST:-10001}
seeds=${SOAK_SEEDS:-2000}
fuzz_seconds=${SOAK_FUZZ_SECONDS:-300}
mads=${SOAK_MADS:-10000000}
kills=${SOAK_KILLS:-200}
out=$build/soak
cores=$(nproc)
[ "$cores" -le "$seeds" ] || cores=$seeds
pids=
# shellcheck disable=SC2086 # a list
trap '[ -z "$pids" ] || kill $pids; exit 1' HUP INT TERM
# The runs are what is done at once: an OpenMP thread without work must not keep a core.
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1

# split NAME FUNCTION: FUNCTION FIRST COUNT, which replaces its shell, on every core, each with its
# share of the seeds
split()
{
	name=$1
	did="$seeds seeds"
	pids=
	core=0
	while [ "$core" -lt "$cores" ]; do
		from=$((seeds * core / cores))
		core=$((core + 1))
		"$2" $((first + from)) $((seeds * core / cores - from)) > "$out/$name.$core" 2>&1 &
		pids="$pids $!"
	done
	ended=0
	for pid in $pids; do
		wait "$pid" || ended=1
	done
	pids=
	cat "$out/$name".[0-9]* > "$out/$name.log" && rm "$out/$name".[0-9]*
	return $ended
}

trials() { exec "$build/src/cli/weft" sim trial --seed "$1" --count "$2"; }
part_trials() { split trials trials; }

changes() { exec "$build/src/cli/weft" sim trial --change --seed "$1" --count "$2"; }
part_changes() { split changes changes; }

planes() { exec "$build/tests/scenario/test_plane_trials" "$1" "$2"; }
part_planes() { split planes planes; }

combinations() { exec "$build/tests/scenario/test_combinations" "$1" "$2"; }
part_combinations() { split combinations combinations; }

# One trace a seed, whatever compiled it.
part_compilers()
{
	did="$seeds seeds"
	sh "$root/tests/scenario/compilers.sh" "$root" "$build/tests/scenario/test_trials" gcc "$seeds" 64 all > "$out/compilers.log" 2>&1
}

# The page at every size in both themes.
part_sizes()
{
	did="all scenes"
	ALL_THEMES=1 "$root/ui/test/engine.sh" sizes "$build/src/cli/weft" "$out/ui-shots" > "$out/sizes.log" 2>&1
}

# Schedules with several managers. What was reached is printed for each core.
swarm() { exec "$build/src/cli/weft" sim trial --swarm --seed "$1" --count "$2" --save "$out/swarm-failures"; }
part_swarm()
{
	all=$seeds
	seeds=${SOAK_SWARM:-100000}
	split swarm swarm
	ended=$?
	did="$seeds schedules"
	seeds=$all
	grep -E '^[0-9]+ schedules|^longest|^phases|^pairs|^  not in' "$out/swarm.log" | sed 's/^/soak: swarm: /'
	return $ended
}

# The same with switches that take rare branches on purpose.
provoked() { exec "$root/build-provoke/src/cli/weft" sim trial --swarm --seed "$1" --count "$2" --save "$out/provoked-failures"; }
part_provoked()
{
	all=$seeds
	seeds=${SOAK_SWARM:-100000}
	did="$seeds schedules"
	{ [ -e "$root/build-provoke/build.ninja" ] || meson setup "$root/build-provoke" "$root" -Dprovoke=true -Dtests=false; } > "$out/provoked.log" 2>&1 &&
		ninja -C "$root/build-provoke" src/cli/weft >> "$out/provoked.log" 2>&1 && split provoked provoked
	ended=$?
	did="$seeds schedules"
	seeds=$all
	return $ended
}

lies() { exec "$build/tests/soak/test_lies" "$1" "$2"; }
part_lies() { split lies lies; }

# ill_treat NAME ARG...: a script of tests/soak, which says in TAP how it went
ill_treat()
{
	name=$1
	shift
	sh "$root/tests/soak/$name.sh" "$san/src/cli/weft" "$san/tests/soak" "$@" > "$out/$name.log" 2>&1
	grep -q '^1\.\.' "$out/$name.log" && ! grep -q '^not ok' "$out/$name.log"
}

# Each seed on weft fabric and on ibsim.
odd() { exec sh "$root/tests/soak/odd.sh" "$build/src/cli/weft" "$build/tests/soak" "$2" "$1"; }
part_odd() { split odd odd && ! grep -q '^not ok' "$out/odd.log"; }

# Of five datagrams two are for the server alone, one comes by UDP, two are for the manager.
part_storm() { did="$mads datagrams"; ill_treat storm $((mads * 2 / 5)) "$first"; }
# Requests and segments to subnet administration.
part_requests() { did="$mads MADs"; "$san/tests/soak/sa_storm" "$mads" "$first" > "$out/requests.log" 2>&1; }
# Records of both managers after changes and take-overs, on fabrics of six kinds.
part_takeovers()
{
	did="six fabrics"
	sh "$root/tests/interop/sa_takeovers.sh" "$build/src/cli/weft" "$build/tests/sa_client" 'mtree 4 2' 'irregular 12 --hosts 10 --seed 7' \
		'torus 3 3' 'hypercube 3' 'dragonfly 2 4 2' 'star 6' > "$out/takeovers.log" 2>&1
	grep -q '^1\.\.' "$out/takeovers.log" && ! grep -q '^not ok' "$out/takeovers.log"
}
# As many as were for the manager come straight to its socket, half of them before it is up.
part_liar()
{
	did="lies about twice $((mads / 100)) packets, and twice $((mads / 5)) invented"
	ill_treat liar $((mads / 100)) "$first" $((mads / 5))
}
part_flood() { did="twice $((mads / 10)) questions"; ill_treat flood $((mads / 10)); }
part_kills() { did="$kills kills"; ill_treat kills "$kills" "$first"; }
part_stalls() { did="$((kills / 2)) bring-ups"; ill_treat stalls $((kills / 2)) "$first"; }
part_managers() { did="$((kills / 4)) rounds"; ill_treat managers $((kills / 4)) "$first"; }
part_servers() { did="$((kills / 4)) kills"; ill_treat servers $((kills / 4)) "$first"; }
part_disk() { did="twice"; ill_treat disk; }

# Thousands of flipped bits and truncations of the file alone, then with a manager that starts from it.
part_state()
{
	did="$kills damaged files under a manager"
	WEFT_STATE_FLIPS=all "$build/tests/unit/test_state_db" > "$out/state-db.log" 2>&1 && ill_treat state "$kills" "$first"
}

# Every call in turn. Not with sanitizers, which replace the same functions.
part_failures()
{
	did="every call of each group"
	"$root/tests/soak/failures.sh" "$build/src/cli/weft" "$build/tests/soak" 0 > "$out/failures.log" 2>&1 &&
		! grep '^not ok' "$out/failures.log"
}

# One target after the other; crashes are left in build-fuzz/crashes.
part_fuzz()
{
	did="$fuzz_seconds s for each target"
	make -C "$root" --no-print-directory fuzz FUZZ_SECONDS="$fuzz_seconds" > "$out/fuzz.log" 2>&1
}

for part in "$@"; do
	case " $parts " in
	*" $part "*) ;;
	*) echo "soak: unknown part '$part', expected some of: $parts" >&2; exit 2 ;;
	esac
done
[ $# -gt 0 ] && parts=$*
mkdir -p "$out" || exit 2
echo "soak: seeds $first to $((first + seeds - 1)), $fuzz_seconds s for each fuzz target: $parts"
ran=0 failed=0
for part in $parts; do
	start=$(date +%s)
	ran=$((ran + 1))
	if "part_$part"; then
		said=ok
	else
		said=FAILED
		failed=$((failed + 1))
		grep -E 'FAILED|^not ok|^# seed|replay:|SUMMARY|runtime error' "$out/$part.log" | head -20
	fi
	echo "soak: $part $said, $did, in $(($(date +%s) - start)) s"
done
echo "soak: $ran parts, $failed failed; what they said is in $out"
[ "$failed" -eq 0 ]
