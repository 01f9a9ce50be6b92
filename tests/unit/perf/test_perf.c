/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The performance manager on the snapshot of a real manager, with devices that the test plays: what is asked, what is
 * made of answers, and what is done about sick links.
 *
 * Covers: counter_growth.c devices.c health.c queries.c
 */
#include "sim_fixture.h"

#include "base/rng.h"
#include "lab/lab.h"
#include "perf/perf.h"

enum { SW0 = 0x100, SW1, SW2, SW3, H0 = 0x2000, H1 = 0x2010, H2 = 0x2020, PORTS = 14 };

/* Counters of a port, as its device holds them: 64 bits, cut to the width of the attribute or at its maximum. */
struct agent {
	uint16_t lid;
	unsigned caps, caps2;
	bool quality; /* it has PortExtendedSpeedsCounters */
	unsigned quality_asked;
	bool silent, refuses,
		rolls; /* rolls: counters come round instead of staying at their maximum */
	uint64_t count[8][PERF_NCOUNTERS];
	unsigned asked, sets, select;
	unsigned class_asked;
};

struct story {
	struct fab *fab;
	struct lab *lab;
	struct sm_standing st;
	struct perf *perf;
	time_ps now;
	struct agent agents[8]; /* four switches, then hosts */
	unsigned most;		/* queries outstanding at once */
	unsigned sent;
	struct perf_event events[64];
	unsigned nevents;
	struct perf_mad last;
};

static const uint64_t guids[] = {SW0, SW1, SW2, SW3, H0, H1, H2};

static unsigned speed; /* of all links, enum fab_speed; 0: as drawn */

/* A ring of four switches, three of them with a host. */
static struct fab *ring(void)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f;
	node_id sw[4];

	for (unsigned i = 0; i < 4; i++)
		sw[i] = draw_switch(b, 6);
	for (unsigned i = 0; i < 4; i++)
		draw_link(b, sw[i], 2, sw[(i + 1) % 4], 1);
	for (unsigned i = 0; i < 3; i++)
		draw_link(b, draw_host(b, 1), 1, sw[i], 3);
	f = fab_build(b);
	for (port_id p = 0; speed && p < f->nports; p++)
		f->ports[p].speed = (uint8_t)speed;
	return f;
}

static void begin(struct story *s, const struct perf_config *c)
{
	struct lab_config cfg;
	struct err e;

	memset(s, 0, sizeof(*s));
	s->fab = ring();
	lab_config_default(&cfg);
	cfg.threads = 1;
	cfg.sm.sweep_factor = 0;
	cfg.sm.sweep_period_ps = 20 * PS_PER_MS;
	s->lab = lab_new(s->fab, &cfg, &e);
	lab_power_on(s->lab, NULL);
	assert_true(lab_run_ready(s->lab, PS_PER_S));
	s->perf = perf_new(c);
	s->now = PS_PER_S;
	for (unsigned i = 0; i < ARRAY_LEN(guids); i++) {
		const struct fab *f = sm_fabric(lab_sm(s->lab));
		node_id n = fab_node_by_guid(f, guids[i]);

		s->agents[i].lid = f->ports[fab_port_id(f, n, i < 4 ? 0 : 1)].lid;
		s->agents[i].caps = IBA_PERF_EXT_WIDTH | IBA_PERF_XMIT_WAIT;
	}
}

static void end(struct story *s)
{
	perf_free(s->perf);
	lab_free(s->lab);
	fab_free(s->fab);
}

static struct perf_config config(void)
{
	struct perf_config c;

	perf_config_default(&c);
	c.period = PS_PER_S;
	return c;
}

/* ---- devices ---- */

static struct agent *agent_at(struct story *s, uint16_t lid)
{
	for (unsigned i = 0; i < ARRAY_LEN(guids); i++)
		if (s->agents[i].lid == lid)
			return &s->agents[i];
	fail_msg("a query to LID %u", lid);
	return NULL;
}

static uint64_t cut(const struct agent *a, uint64_t v, unsigned bits)
{
	uint64_t most = UINT64_MAX >> (64 - bits);

	return a->rolls ? v & most : MIN(v, most);
}

static void narrow_answer(struct agent *a, uint8_t *mad)
{
	struct iba_port_counters v;
	uint64_t *c;

	iba_port_counters_get(&v, iba_smp_data(mad), IBA_PERF_DATA_SIZE);
	c = a->count[v.port_select];
	if (iba_smp_method(mad) == IBA_SET) {
		a->sets++;
		a->select = v.counter_select | (unsigned)v.counter_select2 << 16;
		if (a->select & 1)
			c[PERF_SYMBOL_ERROR] = 0;
		if (a->select & 1 << 12)
			c[PERF_XMIT_DATA] = 0;
	}
	v.xmit_data = (uint32_t)cut(a, c[PERF_XMIT_DATA], 32);
	v.rcv_data = (uint32_t)cut(a, c[PERF_RCV_DATA], 32);
	v.xmit_pkts = (uint32_t)cut(a, c[PERF_XMIT_PKTS], 32);
	v.rcv_pkts = (uint32_t)cut(a, c[PERF_RCV_PKTS], 32);
	v.xmit_wait = (uint32_t)cut(a, c[PERF_XMIT_WAIT], 32);
	v.symbol_error = (uint16_t)cut(a, c[PERF_SYMBOL_ERROR], 16);
	v.link_recovery = (uint8_t)cut(a, c[PERF_LINK_RECOVERY], 8);
	v.link_downed = (uint8_t)cut(a, c[PERF_LINK_DOWNED], 8);
	iba_port_counters_put(&v, iba_smp_data(mad));
}

static void wide_answer(const struct agent *a, uint8_t *mad)
{
	struct iba_port_counters_ext v;
	const uint64_t *c;

	iba_port_counters_ext_get(&v, iba_smp_data(mad), IBA_PERF_DATA_SIZE);
	c = a->count[v.port_select];
	v.xmit_data = c[PERF_XMIT_DATA];
	v.rcv_data = c[PERF_RCV_DATA];
	v.xmit_pkts = c[PERF_XMIT_PKTS];
	v.rcv_pkts = c[PERF_RCV_PKTS];
	v.xmit_wait = c[PERF_XMIT_WAIT];
	v.symbol_error = c[PERF_SYMBOL_ERROR];
	iba_port_counters_ext_put(&v, iba_smp_data(mad));
}

/* Corrected blocks on two lanes; uncorrected ones as with RS-FEC. */
static void quality_answer(struct agent *a, uint8_t *mad)
{
	struct iba_ext_speeds_counters v;
	const uint64_t *c;

	a->quality_asked++;
	if (!a->quality) {
		iba_smp_set_status(mad, IBA_STATUS_BAD_METHOD_ATTR);
		return;
	}
	iba_ext_speeds_counters_get(&v, iba_smp_data(mad), IBA_PERF_DATA_SIZE);
	c = a->count[v.port_select];
	v.lane_corrected[0] = (uint32_t)(c[PERF_FEC_CORRECTED] / 2);
	v.lane_corrected[3] = (uint32_t)(c[PERF_FEC_CORRECTED] - v.lane_corrected[0]);
	v.rs_uncorrected_blocks = (uint32_t)c[PERF_FEC_UNCORRECTED];
	iba_ext_speeds_counters_put(&v, iba_smp_data(mad));
}

/* False: it does not answer. */
static bool agent_answers(struct story *s, struct perf_mad *m)
{
	struct iba_class_port_info info = {.base_version = 1, .class_version = 1};
	struct agent *a = agent_at(s, m->lid);

	a->asked++;
	if (a->silent)
		return false;
	if (a->refuses) {
		iba_smp_set_status(m->mad, IBA_STATUS_BAD_METHOD_ATTR);
	} else if (iba_smp_attr_id(m->mad) == IBA_PERF_CLASS_PORT_INFO) {
		a->class_asked++;
		info.cap_mask = (uint16_t)a->caps;
		info.cap_mask2 = a->caps2;
		iba_class_port_info_put(&info, iba_smp_data(m->mad));
	} else if (iba_smp_attr_id(m->mad) == IBA_PERF_PORT_COUNTERS) {
		narrow_answer(a, m->mad);
	} else if (iba_smp_attr_id(m->mad) == IBA_PERF_EXT_SPEEDS_COUNTERS) {
		quality_answer(a, m->mad);
	} else {
		wide_answer(a, m->mad);
	}
	iba_smp_set_method(m->mad, IBA_GET_RESP);
	return true;
}

/* ---- time ---- */

static void events_take(struct story *s)
{
	struct perf_event ev;

	while (perf_event(s->perf, &ev)) {
		assert_true(s->nevents < ARRAY_LEN(s->events));
		s->events[s->nevents++] = ev;
		if (ev.kind == PERF_ISOLATE || ev.kind == PERF_REINSTATE) {
			lab_manager_isolate(s->lab, 0, ev.guid, ev.port, ev.kind == PERF_ISOLATE);
			assert_true(lab_run_ready(s->lab, sim_now(lab_sim(s->lab)) + PS_PER_S));
		}
	}
}

/* A millisecond: all that can be sent is, and answered. */
static void tick(struct story *s)
{
	struct perf_mad flight[PERF_MAX_WINDOW];
	unsigned n = 0;

	sm_standing(lab_sm(s->lab), &s->st);
	perf_manager(s->perf, lab_sm(s->lab), &s->st, s->now);
	if (s->now >= perf_due(s->perf))
		perf_wake(s->perf, s->now);
	while (n < ARRAY_LEN(flight) && perf_next(s->perf, &flight[n], s->now)) {
		assert_true(perf_owns(flight[n].mad));
		n++;
	}
	s->most = MAX(s->most, n);
	s->sent += n;
	s->now += PS_PER_MS;
	for (unsigned i = 0; i < n; i++) {
		s->last = flight[i];
		if (agent_answers(s, &flight[i]))
			perf_take(s->perf, &flight[i], s->now);
	}
	if (s->now >= perf_due(s->perf))
		perf_wake(s->perf, s->now);
	events_take(s);
}

static void run(struct story *s, unsigned ms)
{
	for (unsigned i = 0; i < ms; i++)
		tick(s);
}

static unsigned events_of(const struct story *s, enum perf_event_kind k)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->nevents; i++)
		n += s->events[i].kind == k;
	return n;
}

static void look(const struct story *s, uint64_t guid, unsigned port, struct perf_view *v)
{
	assert_true(perf_port_get(s->perf, guid, port, v, s->now));
}

/* ---- rounds ---- */

TEST(every_linked_port_is_read_in_each_round)
{
	struct perf_config c = config();
	struct perf_status st;
	struct story s;

	c.window = 3;
	begin(&s, &c);
	run(&s, 500);
	perf_status(s.perf, &st);
	assert_int_equal(st.rounds, 1);
	assert_int_equal(st.devices, 7);
	assert_int_equal(st.ports, PORTS);
	assert_int_equal(s.sent, 7 + 2 * PORTS); /* ClassPortInfo; two attributes of each port */
	assert_in_range(s.most, 1, 3);
	run(&s, 1000);
	perf_status(s.perf, &st);
	assert_int_equal(st.rounds, 2);
	assert_int_equal(s.sent, 7 + 4 * PORTS);
	assert_int_equal(st.timeouts + st.bad + st.refused, 0);
	end(&s);
}

TEST(one_query_where_errors_are_wide)
{
	struct perf_config c = config();
	struct story s;

	begin(&s, &c);
	for (unsigned i = 0; i < ARRAY_LEN(guids); i++) {
		s.agents[i].caps = IBA_PERF_EXT_WIDTH_NOIETF;
		s.agents[i].caps2 = IBA_PERF2_EXT_ERRORS;
	}
	run(&s, 500);
	assert_int_equal(s.sent, 7 + PORTS);
	end(&s);
}

/* A window of one query takes 28 ms and more for a round: 20 ms are too short, and errors are read in turns. */
TEST(errors_in_turns_where_rounds_are_late)
{
	struct perf_config c = config();
	struct perf_status st;
	struct perf_view v;
	struct story s;
	unsigned sent;

	c.period = 20 * PS_PER_MS;
	c.window = 1;
	begin(&s, &c);
	run(&s, 100);
	perf_status(s.perf, &st);
	assert_int_equal(st.round_queries + st.put_off, 2 * PORTS);
	assert_in_range(st.put_off, PORTS / 2 - 2, PORTS / 2 + 2);
	/* Whichever port it is: after two rounds its errors are known, and it is read in every round from then on. */
	s.agents[0].count[1][PERF_SYMBOL_ERROR] = s.agents[1].count[2][PERF_SYMBOL_ERROR] = 7;
	run(&s, 70);
	look(&s, SW0, 1, &v);
	assert_int_equal(v.count[PERF_SYMBOL_ERROR], 7);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_SYMBOL_ERROR], 7);
	c.period = PS_PER_S; /* there is time: all of them again */
	perf_reconfigure(s.perf, &c);
	run(&s, 1500);
	sent = s.sent;
	run(&s, 1000);
	assert_int_equal(s.sent - sent, 2 * PORTS);
	end(&s);
}

TEST(rates_and_counts)
{
	struct perf_config c = config();
	struct perf_sample hour[PERF_SLOTS];
	uint64_t total[PERF_NCOUNTERS];
	struct perf_view v;
	struct story s;

	begin(&s, &c);
	s.agents[1].count[2][PERF_XMIT_DATA] = UINT64_C(1) << 40;
	s.agents[1].count[2][PERF_SYMBOL_ERROR] = 1000;
	run(&s, 500);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_XMIT_DATA], 0); /* what was there before is not ours */
	assert_int_equal(v.device[PERF_XMIT_DATA], UINT64_C(1) << 40);
	assert_int_equal(v.errors, 0);
	s.agents[1].count[2][PERF_XMIT_DATA] += 250000;
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 3;
	run(&s, 1000);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_XMIT_DATA], 250000);
	assert_in_range(v.xmit_bytes, 995000, 1005000); /* a round a second */
	assert_int_equal(v.count[PERF_SYMBOL_ERROR], 3);
	assert_int_equal(v.peer, SW2);
	assert_true(v.flags & PERF_IS_READ && !(v.flags & PERF_IS_SICK));
	perf_totals(s.perf, total);
	assert_int_equal(total[PERF_XMIT_DATA], 250000);
	assert_int_equal(total[PERF_SYMBOL_ERROR], 3);
	run(&s, 20000);
	assert_true(perf_hour(s.perf, SW1, 2, hour, PERF_SLOTS, s.now));
	assert_true(hour[PERF_SLOTS - 1].known);
	assert_int_equal(hour[PERF_SLOTS - 1].errors, 3);
	assert_in_range(hour[PERF_SLOTS - 1].xmit_bytes, 45000, 60000); /* over 20 s */
	assert_false(hour[0].known);
	assert_false(perf_day(s.perf, SW1, 2, hour, 10, s.now)); /* not asked for */
	end(&s);
}

/* Links of HDR: one device has the counters, the others refuse once and are not asked again. */
TEST(corrected_errors_of_fast_links)
{
	struct perf_config c = config();
	struct perf_view v;
	struct story s;

	speed = FAB_HDR;
	begin(&s, &c);
	speed = 0;
	s.agents[1].quality = true;
	s.agents[1].count[2][PERF_FEC_CORRECTED] = 77;
	run(&s, 900);
	assert_int_equal(s.agents[1].quality_asked, 3); /* its linked ports */
	assert_in_range(s.agents[0].quality_asked, 1, 3);
	s.agents[0].quality_asked = 0;
	look(&s, SW1, 2, &v);
	assert_true(v.flags & PERF_IS_QUALITY && !v.count[PERF_FEC_CORRECTED]);
	s.agents[1].count[2][PERF_FEC_CORRECTED] += 1001;
	s.agents[1].count[2][PERF_FEC_UNCORRECTED] += 2;
	run(&s, PERF_QUALITY_ROUNDS * 1000);
	assert_int_equal(s.agents[0].quality_asked, 0);
	assert_int_equal(s.agents[1].quality_asked, 6);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_FEC_CORRECTED], 1001);
	assert_int_equal(v.count[PERF_FEC_UNCORRECTED], 2);
	assert_int_equal(v.errors, 0); /* what is corrected makes no link sick */
	end(&s);
}

TEST(slow_links_have_no_corrected_errors)
{
	struct perf_config c = config();
	struct story s;

	begin(&s, &c);
	run(&s, 1500);
	for (unsigned i = 0; i < ARRAY_LEN(guids); i++)
		assert_int_equal(s.agents[i].quality_asked, 0);
	end(&s);
}

TEST(counters_that_are_set_back)
{
	struct perf_config c = config();
	struct perf_view v;
	struct story s;

	begin(&s, &c);
	s.agents[1].caps = 0;
	s.agents[1].count[2][PERF_XMIT_DATA] = 5000;
	s.agents[1].count[2][PERF_XMIT_PKTS] = 500;
	run(&s, 500);
	s.agents[1].count[2][PERF_XMIT_DATA] = 40; /* by another program */
	s.agents[1].count[2][PERF_XMIT_PKTS] = 4;
	run(&s, 1000);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_XMIT_DATA], 40);
	assert_int_equal(v.count[PERF_XMIT_PKTS], 4);
	assert_true(v.flags & PERF_IS_NARROW);
	end(&s);
}

/* ---- 32 bits ---- */

TEST(a_counter_that_comes_round)
{
	struct perf_config c = config();
	struct perf_view v;
	struct story s;

	begin(&s, &c);
	s.agents[1].caps = 0;
	s.agents[1].rolls = true;
	s.agents[1].count[2][PERF_XMIT_DATA] = UINT32_MAX - 1000;
	s.agents[1].count[2][PERF_XMIT_PKTS] = 500;
	run(&s, 500);
	s.agents[1].count[2][PERF_XMIT_DATA] += 3000;
	s.agents[1].count[2][PERF_XMIT_PKTS] += 10;
	run(&s, 1000);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_XMIT_DATA], 3000);
	end(&s);
}

/* A counter of a link with 2 Gb/s is full in 68 s: with a round in a minute it is read between rounds. */
TEST(narrow_counters_are_read_early)
{
	struct perf_config c = config();
	struct perf_view v;
	struct story s;

	c.period = 60 * PS_PER_S;
	begin(&s, &c);
	s.agents[1].caps = 0;
	s.agents[1].rolls = true;
	run(&s, 500);
	look(&s, SW1, 2, &v);
	assert_in_range(v.bps, 1000000000ull, 100000000000ull);
	for (unsigned i = 0; i < 200; i++) { /* 200 s at full rate: some times round */
		s.agents[1].count[2][PERF_XMIT_DATA] += v.bps / 32;
		run(&s, 1000);
	}
	run(&s, 70000);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_XMIT_DATA], s.agents[1].count[2][PERF_XMIT_DATA]);
	assert_true(s.agents[1].count[2][PERF_XMIT_DATA] > UINT32_MAX);
	assert_int_equal(s.agents[2].sets + s.agents[1].sets, 0);
	assert_true(2 * s.agents[1].asked > s.agents[2].asked); /* which has wide ones */
	end(&s);
}

TEST(a_full_counter_is_named_and_not_cleared)
{
	struct perf_config c = config();
	struct perf_view v;
	struct story s;

	begin(&s, &c);
	run(&s, 500);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] = 1000000;
	run(&s, 3000);
	assert_int_equal(events_of(&s, PERF_SATURATED), 1);
	assert_int_equal(s.agents[1].sets, 0);
	look(&s, SW1, 2, &v);
	assert_true(v.flags & PERF_IS_SATURATED);
	assert_int_equal(v.count[PERF_SYMBOL_ERROR], 65535);
	end(&s);
}

TEST(full_counters_are_cleared_when_asked_for)
{
	struct perf_config c = config();
	struct perf_status st;
	struct perf_view v;
	struct story s;

	c.clear = true;
	begin(&s, &c);
	s.agents[1].caps = 0;
	run(&s, 500);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] = 40000; /* of 65535 */
	s.agents[1].count[2][PERF_XMIT_DATA] = 1000;
	run(&s, 1000);
	assert_int_equal(s.agents[1].sets, 1);
	assert_int_equal(s.agents[1].select, 1); /* SymbolErrorCounter alone */
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 100;
	run(&s, 1000);
	look(&s, SW1, 2, &v);
	assert_int_equal(v.count[PERF_SYMBOL_ERROR], 40100);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 70000;
	run(&s, 2000);
	perf_status(s.perf, &st);
	assert_int_equal(events_of(&s, PERF_SATURATED), 1);
	assert_int_equal(events_of(&s, PERF_CLEARED), 1);
	assert_int_equal(st.saturated, 0);
	end(&s);
}

/* ---- devices that do not answer ---- */

TEST(a_silent_device_costs_its_own_queries)
{
	struct perf_config c = config();
	struct perf_status st;
	struct perf_view v;
	struct story s;
	unsigned before;

	c.timeout = 50 * PS_PER_MS;
	begin(&s, &c);
	run(&s, 500);
	s.agents[1].silent = true;
	before = s.agents[1].asked;
	run(&s, 1500);			     /* the first query without an answer */
	for (unsigned i = 0; i < 625; i++) { /* from then on no round waits for it */
		run(&s, 100);
		perf_status(s.perf, &st);
		assert_in_range(st.round_us, 0, 25000);
	}
	perf_status(s.perf, &st);
	assert_in_range(st.rounds, 64, 66);
	assert_int_equal(st.silent, 1);
	assert_int_equal(events_of(&s, PERF_SILENT), 1);
	assert_in_range(s.agents[1].asked - before, 3, 14);
	assert_true(s.agents[2].asked >= 64 * 2 * 3);
	assert_true(st.timeouts < 16);
	look(&s, SW1, 2, &v);
	assert_true(v.flags & PERF_IS_SILENT);
	s.agents[1].silent = false;
	run(&s, 70000);
	assert_int_equal(events_of(&s, PERF_ANSWERS), 1);
	perf_status(s.perf, &st);
	assert_int_equal(st.silent, 0);
	end(&s);
}

TEST(a_device_that_refuses)
{
	struct perf_config c = config();
	struct perf_status st;
	struct story s;

	begin(&s, &c);
	s.agents[1].refuses = true;
	run(&s, 10000);
	perf_status(s.perf, &st);
	assert_int_equal(st.silent, 1);
	assert_in_range(s.agents[1].asked, 1, 40);
	end(&s);
}

TEST(the_manager_comes_first)
{
	struct perf_config c = config();
	struct perf_mad out;
	struct story s;

	begin(&s, &c);
	sm_standing(lab_sm(s.lab), &s.st);
	s.st.phase = SM_DISCOVER;
	perf_manager(s.perf, lab_sm(s.lab), &s.st, s.now);
	perf_wake(s.perf, s.now);
	assert_false(perf_next(s.perf, &out, s.now));
	s.st.phase = SM_READY;
	perf_manager(s.perf, lab_sm(s.lab), &s.st, s.now);
	perf_wake(s.perf, s.now);
	assert_true(perf_next(s.perf, &out, s.now));
	s.st.phase = SM_COMPUTE;
	perf_manager(s.perf, lab_sm(s.lab), &s.st, s.now);
	assert_false(perf_next(s.perf, &out, s.now));
	s.st.phase = SM_READY;
	s.st.state = IBA_SM_STANDBY;
	perf_manager(s.perf, lab_sm(s.lab), &s.st, s.now);
	assert_false(perf_next(s.perf, &out, s.now));
	end(&s);
}

/* ---- bytes that make no sense ---- */

TEST(answers_that_do_not_fit)
{
	struct perf_config c = config();
	struct perf_status st;
	struct perf_mad out, bad;
	struct story s;

	begin(&s, &c);
	sm_standing(lab_sm(s.lab), &s.st);
	perf_manager(s.perf, lab_sm(s.lab), &s.st, s.now);
	perf_wake(s.perf, s.now);
	assert_true(perf_next(s.perf, &out, s.now));
	iba_smp_set_method(out.mad, IBA_GET_RESP);
	bad = out;
	bad.lid++;
	perf_take(s.perf, &bad, s.now);
	bad = out;
	iba_smp_set_tid(bad.mad, iba_smp_tid(out.mad) + (1 << 12));
	perf_take(s.perf, &bad, s.now);
	bad = out;
	iba_smp_set_method(bad.mad, IBA_GET);
	perf_take(s.perf, &bad, s.now);
	iba_smp_init(bad.mad, IBA_CLASS_PERF, IBA_GET_RESP, IBA_PERF_PORT_COUNTERS, 0);
	iba_smp_set_tid(bad.mad, iba_smp_tid(out.mad));
	perf_take(s.perf, &bad, s.now);
	perf_status(s.perf, &st);
	assert_int_equal(st.bad, 4);
	assert_int_equal(st.answers, 0);
	perf_take(s.perf, &out, s.now);
	perf_take(s.perf, &out, s.now); /* twice */
	perf_status(s.perf, &st);
	assert_int_equal(st.answers, 1);
	assert_int_equal(st.bad, 5);
	end(&s);
}

/* Whatever bytes: nothing but counters of answers. */
TEST(random_bytes)
{
	struct perf_config c = config();
	struct story s;
	struct rng r;

	begin(&s, &c);
	run(&s, 500);
	rng_seed(&r, 7, 7);
	for (unsigned i = 0; i < 20000; i++) {
		struct perf_mad m = s.last;

		for (unsigned k = 0; k < 1 + rng_below(&r, 8); k++)
			m.mad[rng_below(&r, IBA_MAD_SIZE)] = (uint8_t)rng_below(&r, 256);
		perf_take(s.perf, &m, s.now);
		perf_lost(s.perf, m.mad, s.now);
		if (i % 64 == 0)
			tick(&s);
	}
	end(&s);
}

/* ---- health ---- */

static struct perf_config watched(void)
{
	struct perf_config c = config();

	c.watch = 8 * PS_PER_S;
	c.well = 10 * PS_PER_S;
	return c;
}

TEST(a_sick_link_is_named_within_two_rounds)
{
	struct perf_config c = watched();
	struct perf_view list[4];
	struct story s;

	begin(&s, &c);
	run(&s, 2500);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 9; /* too few */
	run(&s, 2000);
	assert_int_equal(s.nevents, 0);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 20;
	run(&s, 2000);
	assert_int_equal(s.nevents, 1);
	assert_int_equal(s.events[0].kind, PERF_SICK);
	assert_int_equal(s.events[0].guid, SW1);
	assert_int_equal(s.events[0].port, 2);
	assert_int_equal(s.events[0].peer, SW2);
	assert_int_equal(s.events[0].errors, 29);
	assert_int_equal(perf_list(s.perf, PERF_BY_ERRORS, PERF_IS_SICK, list, 4, s.now), 1);
	assert_int_equal(list[0].guid, SW1);
	/* Errors below a tenth: it is well after a while, and no sooner. */
	run(&s, 15000);
	assert_int_equal(events_of(&s, PERF_WELL), 0);
	run(&s, 6000);
	assert_int_equal(events_of(&s, PERF_WELL), 1);
	/* A relapse lasts twice as long. */
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 100;
	run(&s, 22000);
	assert_int_equal(events_of(&s, PERF_SICK), 2);
	assert_int_equal(events_of(&s, PERF_WELL), 1);
	run(&s, 10000);
	assert_int_equal(events_of(&s, PERF_WELL), 2);
	end(&s);
}

TEST(a_host_that_restarts_is_not_sick)
{
	struct perf_config c = watched();
	struct story s;

	begin(&s, &c);
	run(&s, 2500);
	s.agents[1].count[3][PERF_LINK_DOWNED]++;
	s.agents[1].count[3][PERF_SYMBOL_ERROR] += 5000;
	run(&s, 2000);
	assert_int_equal(s.nevents, 0);
	s.agents[1].count[3][PERF_LINK_DOWNED]++; /* but one that goes down again and again is */
	run(&s, 2000);
	assert_int_equal(events_of(&s, PERF_SICK), 1);
	end(&s);
}

TEST(a_sick_link_is_isolated_and_reinstated)
{
	struct perf_config c = watched();
	struct perf_status st;
	struct perf_view v;
	struct story s;

	c.isolate = PERF_ISOLATE_SWITCHES;
	begin(&s, &c);
	run(&s, 2500);
	s.agents[1].count[3][PERF_SYMBOL_ERROR] += 50; /* of a host: named alone */
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 50;
	s.agents[2].count[1][PERF_SYMBOL_ERROR] += 50; /* its other end: one order */
	run(&s, 2000);
	assert_int_equal(events_of(&s, PERF_SICK), 3);
	assert_int_equal(events_of(&s, PERF_ISOLATE), 1);
	perf_status(s.perf, &st);
	assert_int_equal(st.isolated, 1);
	assert_int_equal(st.ports, PORTS - 2);
	look(&s, SW1, 2, &v);
	assert_true(v.flags & PERF_IS_ISOLATED && !(v.flags & PERF_IS_LINKED));
	/* It is still read: errors at one end keep it isolated. */
	for (unsigned i = 0; i < 20; i++) {
		s.agents[2].count[1][PERF_SYMBOL_ERROR] += 5;
		run(&s, 1000);
	}
	assert_int_equal(events_of(&s, PERF_REINSTATE), 0);
	run(&s, 25000);
	assert_int_equal(events_of(&s, PERF_REINSTATE), 1);
	assert_int_equal(events_of(&s, PERF_WELL), 3);
	perf_status(s.perf, &st);
	assert_int_equal(st.isolated, 0);
	assert_int_equal(st.sick, 0);
	assert_int_equal(st.ports, PORTS);
	assert_int_equal(events_of(&s, PERF_KEPT), 0);
	end(&s);
}

/* The ring without one link is a chain: a second one would cut it. The manager keeps that one. */
TEST(the_only_way_stays_in_use)
{
	struct perf_config c = watched();
	struct story s;

	c.isolate = PERF_ISOLATE_SWITCHES;
	c.well = 600 * PS_PER_S;
	begin(&s, &c);
	run(&s, 2500);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 50;
	run(&s, 2000);
	s.agents[3].count[2][PERF_SYMBOL_ERROR] += 50;
	run(&s, 20000);
	assert_in_range(events_of(&s, PERF_ISOLATE), 2, 2);
	assert_int_equal(events_of(&s, PERF_KEPT), 1);
	assert_int_equal(lab_status(s.lab)->switches, 4);
	end(&s);
}

TEST(at_most_so_many_are_isolated)
{
	struct perf_config c = watched();
	struct perf_status st;
	struct story s;

	c.isolate = PERF_ISOLATE_ALL;
	c.isolate_most = 1;
	c.well = 600 * PS_PER_S;
	begin(&s, &c);
	run(&s, 2500);
	s.agents[1].count[3][PERF_SYMBOL_ERROR] += 50;
	s.agents[2].count[3][PERF_SYMBOL_ERROR] += 50;
	run(&s, 5000);
	assert_int_equal(events_of(&s, PERF_ISOLATE), 1);
	assert_int_equal(events_of(&s, PERF_SICK), 2);
	c.isolate = PERF_ISOLATE_OFF; /* a reload */
	perf_reconfigure(s.perf, &c);
	run(&s, 2000);
	assert_int_equal(events_of(&s, PERF_REINSTATE), 1);
	perf_status(s.perf, &st);
	assert_int_equal(st.isolated, 0);
	assert_int_equal(st.devices, 7);
	end(&s);
}

/* Errors of an hour are not those of a minute: 20 within 30 s are 6.7 within 10 s. */
TEST(errors_between_rare_reads)
{
	struct perf_config c = watched();
	struct story s;

	c.period = 30 * PS_PER_S;
	c.watch = 10 * PS_PER_S;
	begin(&s, &c);
	run(&s, 31000);
	s.agents[1].count[3][PERF_SYMBOL_ERROR] += 20;
	run(&s, 30000);
	assert_int_equal(events_of(&s, PERF_SICK), 0);
	s.agents[1].count[3][PERF_SYMBOL_ERROR] += 60;
	run(&s, 30000);
	assert_int_equal(events_of(&s, PERF_SICK), 1);
	end(&s);
}

/* A counter that is full counts no more errors: the link stays sick until it is cleared. */
TEST(a_link_with_a_full_counter_does_not_get_well)
{
	struct perf_config c = watched();
	struct story s;

	begin(&s, &c);
	s.agents[1].caps = 0;
	s.agents[1].caps2 = 0;
	run(&s, 2500);
	s.agents[1].count[3][PERF_SYMBOL_ERROR] += 70000;
	run(&s, 60000);
	assert_int_equal(events_of(&s, PERF_SICK), 1);
	assert_int_equal(events_of(&s, PERF_SATURATED), 1);
	assert_int_equal(events_of(&s, PERF_WELL), 0);
	s.agents[1].count[3][PERF_SYMBOL_ERROR] = 0; /* as by perfquery -R */
	run(&s, 60000);
	assert_int_equal(events_of(&s, PERF_WELL), 1);
	end(&s);
}

/* Reloads that isolate less: only links between switches; nothing, as no counter would say when a link is well. */
TEST(what_the_policy_isolates_no_more_is_reinstated)
{
	struct perf_config c = watched();
	struct perf_status st;
	struct story s;

	c.isolate = PERF_ISOLATE_ALL;
	c.well = 600 * PS_PER_S;
	begin(&s, &c);
	run(&s, 2500);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 50;
	s.agents[6].count[1][PERF_SYMBOL_ERROR] += 50; /* h2 */
	run(&s, 5000);
	assert_int_equal(events_of(&s, PERF_ISOLATE), 2);
	c.isolate = PERF_ISOLATE_SWITCHES;
	perf_reconfigure(s.perf, &c);
	run(&s, 2000);
	assert_int_equal(events_of(&s, PERF_REINSTATE), 1);
	assert_int_not_equal(fab_node_by_guid(sm_fabric(lab_sm(s.lab)), H2), FAB_NONE);
	assert_int_equal(lab_status(s.lab)->held, 0); /* isolated is not held */
	c.period = 0;
	perf_reconfigure(s.perf, &c);
	run(&s, 2000);
	assert_int_equal(events_of(&s, PERF_REINSTATE), 2);
	perf_status(s.perf, &st);
	assert_int_equal(st.isolated, 0);
	end(&s);
}

/* Days are kept from now on: devices are made again, and what was isolated is not for ever. */
TEST(other_samples_are_kept)
{
	struct perf_config c = watched();
	struct perf_status st;
	struct story s;

	c.isolate = PERF_ISOLATE_SWITCHES;
	c.timeout = 50 * PS_PER_MS;
	begin(&s, &c);
	s.agents[3].silent = true;
	run(&s, 2500);
	s.agents[1].count[2][PERF_SYMBOL_ERROR] += 50;
	run(&s, 2000);
	assert_int_equal(events_of(&s, PERF_ISOLATE), 1);
	c.day = true;
	perf_reconfigure(s.perf, &c);
	run(&s, 200);
	perf_status(s.perf, &st);
	assert_int_equal(events_of(&s, PERF_REINSTATE), 1);
	assert_int_equal(st.silent, 0); /* not known yet */
	assert_int_equal(st.isolated, 0);
	assert_int_equal(st.bytes, (4 * 6 + 3) * perf_port_bytes(true));
	end(&s);
}

/* An isolated host cannot be read; its link gets another chance when its switch sees no errors. */
TEST(a_host_is_isolated_and_returns)
{
	struct perf_config c = watched();
	struct story s;

	c.isolate = PERF_ISOLATE_ALL;
	begin(&s, &c);
	run(&s, 2500);
	s.agents[6].count[1][PERF_SYMBOL_ERROR] += 50; /* h2 counts them */
	run(&s, 3000);
	assert_int_equal(events_of(&s, PERF_ISOLATE), 1);
	assert_int_equal(fab_node_by_guid(sm_fabric(lab_sm(s.lab)), H2), FAB_NONE);
	run(&s, 30000);
	assert_int_equal(events_of(&s, PERF_REINSTATE), 1);
	assert_int_not_equal(fab_node_by_guid(sm_fabric(lab_sm(s.lab)), H2), FAB_NONE);
	end(&s);
}

/* ---- others ---- */

TEST(the_clock_is_set_back)
{
	struct perf_config c = config();
	struct perf_view v;
	struct story s;

	begin(&s, &c);
	s.now = 100ull * 86400 * PS_PER_S;
	run(&s, 1500);
	s.agents[1].count[2][PERF_XMIT_DATA] += 250000;
	perf_time_back(s.perf, 80ull * 86400 * PS_PER_S);
	s.now -= 80ull * 86400 * PS_PER_S;
	run(&s, 1000);
	look(&s, SW1, 2, &v);
	assert_in_range(v.xmit_bytes, 995000, 1005000);
	end(&s);
}

TEST(memory_of_a_port)
{
	assert_in_range(perf_port_bytes(false), 1440, 2300);
	assert_int_equal(perf_port_bytes(true) - perf_port_bytes(false), 11520);
	print_message("# %zu bytes a port: %zu MB for 69,984 link ends\n", perf_port_bytes(false),
		      perf_port_bytes(false) * 69984 / 1000000);
}

TEST(error_rates_as_text)
{
	char t[16];

	perf_ber_text(0, 1000, t);
	assert_string_equal(t, "0");
	perf_ber_text(1, 1000000000000ull, t);
	assert_string_equal(t, "1.0e-12");
	perf_ber_text(50, 256000000000ull, t);
	assert_string_equal(t, "1.9e-10");
	perf_ber_text(UINT64_MAX, 1, t);
	perf_ber_text(1, UINT64_MAX, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_linked_port_is_read_in_each_round),
		cmocka_unit_test(one_query_where_errors_are_wide),
		cmocka_unit_test(errors_in_turns_where_rounds_are_late),
		cmocka_unit_test(rates_and_counts),
		cmocka_unit_test(corrected_errors_of_fast_links),
		cmocka_unit_test(slow_links_have_no_corrected_errors),
		cmocka_unit_test(counters_that_are_set_back),
		cmocka_unit_test(a_counter_that_comes_round),
		cmocka_unit_test(narrow_counters_are_read_early),
		cmocka_unit_test(a_full_counter_is_named_and_not_cleared),
		cmocka_unit_test(full_counters_are_cleared_when_asked_for),
		cmocka_unit_test(a_silent_device_costs_its_own_queries),
		cmocka_unit_test(a_device_that_refuses),
		cmocka_unit_test(the_manager_comes_first),
		cmocka_unit_test(answers_that_do_not_fit),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(a_sick_link_is_named_within_two_rounds),
		cmocka_unit_test(a_host_that_restarts_is_not_sick),
		cmocka_unit_test(a_sick_link_is_isolated_and_reinstated),
		cmocka_unit_test(the_only_way_stays_in_use),
		cmocka_unit_test(at_most_so_many_are_isolated),
		cmocka_unit_test(errors_between_rare_reads),
		cmocka_unit_test(a_link_with_a_full_counter_does_not_get_well),
		cmocka_unit_test(what_the_policy_isolates_no_more_is_reinstated),
		cmocka_unit_test(other_samples_are_kept),
		cmocka_unit_test(a_host_is_isolated_and_returns),
		cmocka_unit_test(the_clock_is_set_back),
		cmocka_unit_test(memory_of_a_port),
		cmocka_unit_test(error_rates_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
