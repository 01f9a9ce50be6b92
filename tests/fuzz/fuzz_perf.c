/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as answers to queries of counters: no crash, no more queries than the window, and every query ends. State: one
 * manager with its snapshot for all inputs; a performance manager for each. Way in: libFuzzer, or replay.c over files.
 */
#include "lab/lab.h"
#include "perf/perf.h"

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

enum { WINDOW = 8, KEPT = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct play {
	const uint8_t *data;
	size_t left;
	struct perf *perf;
	struct perf_mad sent[KEPT]; /* the last ones, each may be answered again */
	unsigned n;
	time_ps now;
};

static unsigned byte(struct play *p)
{
	if (!p->left)
		return 0;
	p->left--;
	return *p->data++;
}

/* A manager that is ready, on a mesh of 2 by 3 switches. */
static const struct sm *manager(void)
{
	struct fab_gen g = {.kind = "mesh", .dims = {2, 3}, .ndims = 2};
	static struct lab *lab;
	static struct fab *fab;
	struct lab_config c;
	struct err e;

	if (lab)
		return lab_sm(lab);
	fab = fab_generate(&g, &e);
	lab_config_default(&c);
	c.threads = 1;
	lab = lab_new(fab, &c, &e);
	lab_power_on(lab, NULL);
	CHECK(lab_run_ready(lab, PS_PER_S));
	return lab_sm(lab);
}

static void send(struct play *p)
{
	struct perf_mad out;

	while (perf_next(p->perf, &out, p->now))
		p->sent[p->n++ % KEPT] = out;
}

/* An answer: to one of the last queries, with some bytes of the input over it. */
static void answer(struct play *p)
{
	struct perf_mad m;
	unsigned how = byte(p), at, n;

	if (!p->n)
		return;
	m = p->sent[byte(p) % MIN(p->n, (unsigned)KEPT)];
	iba_smp_set_method(m.mad, IBA_GET_RESP);
	at = how & 1 ? IBA_SMP_DATA_OFF + byte(p) % 64 : byte(p);
	n = byte(p);
	for (unsigned i = 0; i < n && at + i < IBA_MAD_SIZE && p->left; i++)
		m.mad[at + i] = (uint8_t)byte(p);
	if (how & 2)
		m.lid ^= (uint16_t)byte(p);
	if (how & 4)
		perf_lost(p->perf, m.mad, p->now);
	else
		perf_take(p->perf, &m, p->now);
}

static void configure(struct play *p)
{
	struct perf_config c;
	unsigned how = byte(p);

	perf_config_default(&c);
	c.period = PS_PER_S << (how & 3);
	c.window = WINDOW - (how >> 2 & 1);
	c.clear = how & 8;
	c.day = how & 16;
	c.isolate = (enum perf_isolate)(how >> 5 & 1) * PERF_ISOLATE_ALL;
	c.watch = how & 64 ? PS_PER_S : 60 * PS_PER_S;
	c.well = PS_PER_S;
	perf_reconfigure(p->perf, &c);
}

static void look(struct play *p)
{
	struct perf_sample s[PERF_SLOTS];
	struct perf_view v[4];
	struct perf_event ev;
	struct perf_status st;
	uint32_t n;

	while (perf_event(p->perf, &ev))
		CHECK(ev.kind < PERF_NEVENTS);
	perf_status(p->perf, &st);
	CHECK(st.outstanding <= WINDOW);
	CHECK(st.silent <= st.devices && st.isolated <= 4);
	n = perf_list(p->perf, (enum perf_sort)(byte(p) % PERF_NSORTS), 0, v, 4, p->now);
	CHECK(n <= 4);
	for (uint32_t i = 0; i < n; i++)
		CHECK(perf_hour(p->perf, v[i].guid, v[i].port, s, PERF_SLOTS, p->now));
}

static void step(struct play *p, const struct sm *sm)
{
	unsigned what = byte(p);
	struct sm_standing st;

	switch (what % 6) {
	case 0:
		p->now += byte(p) * 10 * PS_PER_MS;
		break;
	case 1:
	case 2:
		answer(p);
		break;
	case 3:
		configure(p);
		break;
	case 4:
		look(p);
		break;
	case 5:
		p->now += (time_ps)byte(p) * 20 * PS_PER_S;
		break;
	}
	sm_standing(sm, &st);
	if (what & 0x80)
		st.phase = SM_DISCOVER;
	perf_manager(p->perf, sm, &st, p->now);
	perf_wake(p->perf, p->now);
	send(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sm *sm = manager();
	struct play p = {.data = data, .left = size, .now = PS_PER_S};
	struct perf_config c;
	struct perf_status st;

	perf_config_default(&c);
	c.period = PS_PER_S;
	c.window = WINDOW;
	p.perf = perf_new(&c);
	while (p.left)
		step(&p, sm);
	/* Whatever is outstanding ends by its timeout. */
	p.now += 3600 * PS_PER_S;
	perf_wake(p.perf, p.now);
	perf_status(p.perf, &st);
	CHECK(!st.outstanding);
	look(&p);
	perf_free(p.perf);
	return 0;
}
