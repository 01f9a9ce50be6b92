#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Processor time in which OpenSM computes routes: opensm-routes.sh NET ENGINE LMC
#
# One bring-up of OpenSM on weft fabric. A library beside it reads the processor time of the process at each SMP that is
# sent: the most between two of them, up to the first Set(LinearForwardingTable), is the computation, whatever else the
# machine does. LMC 4 gives a host 16 LIDs with routes of their own, as many as 16 VFs would have. updn, dnup and ftree get the
# roots of a tree that `weft topo gen` made by their names. Prints a line of CSV: engine, LMC, seconds; - where OpenSM has no
# routes by this engine. WEFT is the program. Needs opensm and cc.
set -euo pipefail
net=$(realpath "$1") engine=$2 lmc=$3
: "${WEFT:=weft}"
dir=$(mktemp -d)
trap 'kill "$fabric" 2> /dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
export IBSIM_SOCKNAME=weft-routes-$$ OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir

cat > meter.c << 'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
typedef int send_fn(int, int, void *, int, int, int);
typedef unsigned char *mad_fn(void *);
static double last, most;
static int over;
static void show(void) __attribute__((destructor));
static void show(void) { fprintf(stderr, "computation %.4f\n", over ? most : -1); }
int umad_send(int fd, int agent, void *umad, int len, int timeout, int retries)
{
	send_fn *next = (send_fn *)dlsym(RTLD_NEXT, "umad_send");
	unsigned char *mad = ((mad_fn *)dlsym(RTLD_NEXT, "umad_get_mad"))(umad);
	struct timespec t;
	double now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	if (!over && last > 0 && now - last > most)
		most = now - last;
	over |= mad[3] == 2 && mad[17] == 0x19;
	last = now;
	return next(fd, agent, umad, len, timeout, retries);
}
C
cc -O2 -shared -fPIC -o meter.so meter.c -ldl

mkfifo console
"$WEFT" fabric "$net" --no-control --quiet 0<> console > fabric.out 2>&1 &
fabric=$!
until grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix; do
	kill -0 "$fabric"
	sleep 0.1
done
sed -n 's/^Switch.*"S-\([0-9a-f]*\)".*"\(root\|middle\).*/0x\1/p' "$net" > roots
roots=()
[ ! -s roots ] || roots=(-a roots)
umad=$(dirname "$(command -v "$WEFT")")/../preload/libweft-umad.so
LD_PRELOAD=$dir/meter.so:$umad timeout 600 opensm -o -e -l "$lmc" -f log -D 0x3 -R "$engine,no_fallback" "${roots[@]}" \
	< /dev/null > out 2> err || true
printf '%s,%s,%s\n' "$engine" "$lmc" "$(sed -n 's/^computation //p' err | tail -n 1)"
