/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real time as the simulation's time, and the end of the loop. State: start_ns and stop of struct
 * emu. Ways in: emu_now(), emu_settle(), emu_stop(). Does not wait.
 */
#include "emu/emu_priv.h"

#include <time.h>

#include "sim/kernel/sim_kernel.h"

uint64_t emu_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

time_ps emu_now(const struct emu *m)
{
	return (emu_clock_ns() - m->start_ns) * PS_PER_NS;
}

void emu_settle(struct emu *m, time_ps now)
{
	sim_settle(m->sim, now);
}

void emu_stop(struct emu *m)
{
	m->stop = true;
	uv_stop(&m->loop);
}
