/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What survives. State: nothing yet. Way in: run_state_open().
 */
#include "run/run.h"

struct run_state {
	int nothing;
};

int run_state_open(struct run_state **s, const char *path UNUSED, struct err *e UNUSED)
{
	*s = mem_zalloc(sizeof(**s));
	return 0;
}

void run_state_close(struct run_state *s)
{
	free(s);
}

int run_state_lids(struct run_state *s UNUSED, void (*fn)(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc) UNUSED,
		   void *ctx UNUSED, struct err *e UNUSED)
{
	return 0;
}

int run_state_m_keys(struct run_state *s UNUSED, uint64_t *keys UNUSED, unsigned max UNUSED, struct err *e UNUSED)
{
	return 0;
}

void run_state_put_lid(struct run_state *s UNUSED, uint64_t guid UNUSED, uint16_t lid UNUSED, unsigned lmc UNUSED)
{
}

void run_state_put_m_key(struct run_state *s UNUSED, uint64_t key UNUSED)
{
}

void run_state_put_name(struct run_state *s UNUSED, uint64_t guid UNUSED, const char *name UNUSED)
{
}

int run_state_commit(struct run_state *s UNUSED, struct err *e UNUSED)
{
	return 0;
}
