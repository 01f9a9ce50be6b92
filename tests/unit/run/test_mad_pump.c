/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs between transport and manager: a transport of the test's own, which has little room or is lost, in
 * front of a simulated fabric; the test sets the clock and computes routes at once.
 * Covers: mad_pump.c, session.c
 */
#include "unit_test.h"

#include "run/mad_pump.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/manager.h" /* what the manager keeps of a mirror */

/* ---- a transport in front of a simulation ---- */

struct wire {
	struct tp tp;
	struct sim *sim;
	node_id node;
	VEC(struct tp_mad) inbox;
	unsigned room; /* MADs taken at a time */
	bool gone;
	unsigned refused, sets;
};

static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct wire *w = ctx;
	struct tp_mad m = {.slid = smp->slid, .dlid = smp->dlid};

	memcpy(m.mad, smp->mad, IBA_MAD_SIZE);
	vec_push(&w->inbox, m);
}

static int wire_send(struct tp *t, const struct tp_mad *m, unsigned n)
{
	struct wire *w = (struct wire *)t;
	unsigned k = MIN(n, w->room);

	if (w->gone)
		return -ENOTCONN;
	w->refused += n - k;
	for (unsigned i = 0; i < k; i++) {
		struct sim_smp smp = {.slid = m[i].slid, .dlid = m[i].dlid, .sl = m[i].sl};

		memcpy(smp.mad, m[i].mad, IBA_MAD_SIZE);
		w->sets += iba_smp_method(smp.mad) == IBA_SET;
		sim_send(w->sim, w->node, 1, &smp);
	}
	return (int)k;
}

static int wire_recv(struct tp *t, struct tp_mad *m, unsigned max)
{
	struct wire *w = (struct wire *)t;
	unsigned n = MIN((unsigned)w->inbox.n, max);

	if (w->gone)
		return -ENOTCONN;
	if (!n)
		return 0;
	memcpy(m, w->inbox.at, n * sizeof(*m));
	memmove(w->inbox.at, w->inbox.at + n, (w->inbox.n - n) * sizeof(*m));
	w->inbox.n -= n;
	return (int)n;
}

static const struct tp_ops wire_ops = {.send = wire_send, .recv = wire_recv};

/* ---- the bench ---- */

static uint64_t clock_now; /* nanoseconds */

static uint64_t test_clock(void)
{
	return clock_now;
}

struct bench {
	struct fab *fab;
	struct wire wire;
	struct sm_config cfg;
	struct sm *sm;
	struct run_pump pump;
	struct sm_routes routes;
	bool have_routes;
	unsigned notes, ready, sets;
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct bench *b = ctx;

	b->notes++;
	b->ready += n->kind == SM_NOTE_PHASE && n->phase.to == SM_READY;
}

static void on_compute(void *ctx, const struct sm_compute *c)
{
	struct sm_work_done did;
	struct bench *b = ctx;

	if (b->have_routes)
		sm_routes_free(&b->routes);
	sm_compute_run(c, 1, &b->routes, &did);
	b->have_routes = true;
}

static void make_sm(struct bench *b)
{
	b->sm = sm_new(&b->cfg);
	run_pump_init(&b->pump, &b->wire.tp, b->sm, b->cfg.window, test_clock,
		      &(struct run_pump_calls){.note = on_note, .compute = on_compute, .ctx = b});
}

static int setup_ring(void **state, unsigned switches)
{
	struct bench *b = mem_zalloc(sizeof(*b));
	struct fab_gen g = {.kind = "ring", .dims = {switches}, .ndims = 1};
	struct sim_config sc;
	struct err e;

	clock_now = 12345678;
	b->fab = fab_generate(&g, &e);
	assert_non_null(b->fab);
	sim_config_default(&sc);
	b->wire =
		(struct wire){.tp.ops = &wire_ops, .sim = sim_new(b->fab, &sc), .room = UINT32_MAX};
	while (fab_is_switch(b->fab, b->wire.node))
		b->wire.node++;
	for (node_id n = 0; n < b->fab->nnodes; n++)
		sim_node_power(b->wire.sim, n, true);
	sim_attach(b->wire.sim, b->wire.node, 1, on_smp, &b->wire);
	sm_config_default(&b->cfg);
	b->cfg.port = 1;
	b->cfg.sweep_factor = 0;
	b->cfg.sweep_period_ps = PS_PER_S;
	make_sm(b);
	*state = b;
	return 0;
}

static int setup(void **state)
{
	return setup_ring(state, 6);
}

static int setup_large(void **state)
{
	return setup_ring(state, 64);
}

static int teardown(void **state)
{
	struct bench *b = *state;

	run_pump_free(&b->pump);
	sm_free(b->sm);
	if (b->have_routes)
		sm_routes_free(&b->routes);
	sim_free(b->wire.sim);
	fab_free(b->fab);
	vec_free(&b->wire.inbox);
	free(b);
	return 0;
}

/* ---- the loop: what the daemon's does, in simulated time ---- */

static void begin(struct bench *b)
{
	run_pump_event(&b->pump, &(struct sm_event){.kind = SM_EV_START});
}

/* One turn; the clock advances when there was nothing to do. */
static void go_on(struct bench *b)
{
	uint64_t zero = clock_now - sim_now(b->wire.sim) / PS_PER_NS;
	int moved = run_pump_turn(&b->pump);
	time_ps next;

	assert_true(moved >= 0);
	if (b->have_routes) {
		struct sm_event routes = {.kind = SM_EV_ROUTES, .routes = b->routes};

		b->have_routes = false;
		run_pump_event(&b->pump, &routes);
		return;
	}
	if (moved || b->pump.n)
		return;
	next = sim_next(b->wire.sim);
	if (next == TIME_NEVER || next > sim_now(b->wire.sim) + PS_PER_MS) {
		/* Nothing on the way: only the SM's own clock. */
		clock_now += 100000;
		return;
	}
	sim_step(b->wire.sim);
	clock_now = MAX(clock_now, zero + sim_now(b->wire.sim) / PS_PER_NS);
}

static void until_ready(struct bench *b, unsigned times)
{
	for (unsigned i = 0; i < 1000000 && b->ready < times; i++)
		go_on(b);
	assert_true(b->ready >= times);
}

static struct sm_status status(const struct bench *b)
{
	struct sm_status st;

	sm_status(b->sm, &st);
	return st;
}

/* ---- the tests ---- */

TEST(a_subnet_comes_up)
{
	struct bench *b = *state;
	struct sm_status st;

	begin(b);
	assert_true(b->pump.n > 0); /* nothing goes out before a turn */
	until_ready(b, 1);
	st = status(b);
	assert_int_equal(st.switches, 6);
	assert_int_equal(st.nodes, b->fab->nnodes);
	assert_true(st.last.clean);
	assert_int_equal(b->pump.lost, 0);
	assert_true(b->pump.sent >= b->pump.in);
	assert_true(b->notes > 0);
}

/* MADs for which the transport has no room wait in order. */
TEST(a_small_queue_loses_nothing)
{
	struct bench *b = *state;

	b->wire.room = 1;
	begin(b);
	until_ready(b, 1);
	assert_true(status(b).last.clean);
	assert_int_equal(status(b).retries, 0);
	assert_true(b->wire.refused > 0);
	assert_int_equal(b->pump.n, 0);
}

/* Traps are answered one by one whatever the window; a flood of them is lost where there is no room. */
TEST(a_flood_of_traps_is_limited)
{
	struct bench *b = *state;
	struct iba_notice notice = {.is_generic = 1, .trap_number = IBA_TRAP_LINK_STATE};
	struct tp_mad m = {.slid = 2, .dlid = 1};
	uint32_t size = b->pump.size;

	begin(b);
	until_ready(b, 1);
	iba_smp_init(m.mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
	iba_notice_put(&notice, iba_smp_data(m.mad));
	b->wire.room = 0;
	for (uint32_t i = 0; i < 2 * size; i++)
		vec_push(&b->wire.inbox, m);
	while (b->wire.inbox.n)
		assert_true(run_pump_turn(&b->pump) >= 0);
	assert_int_equal(b->pump.n, size);
	assert_true(b->pump.lost >= size);
	b->wire.room = UINT32_MAX;
	until_ready(b, 2);
	assert_int_equal(b->pump.n, 0);
}

/* A machine that stalls: responses that arrived are all taken before any request counts as timed out. */
TEST(responses_come_first_after_a_stall)
{
	struct bench *b = *state;
	unsigned most = 0;

	b->cfg.window = 200;
	b->cfg.timeout_ps = PS_PER_MS;
	run_pump_free(&b->pump);
	sm_free(b->sm);
	make_sm(b);
	begin(b);
	for (unsigned i = 0; i < 1000000 && !b->ready; i++) {
		while (sim_next(b->wire.sim) <=
		       sim_now(b->wire.sim) + PS_PER_MS) /* all that is under way */
			sim_step(b->wire.sim);
		if (b->wire.inbox.n > 32) {
			most = (unsigned)b->wire.inbox.n;
			clock_now += 1000000000;
		}
		go_on(b);
	}
	assert_int_equal(b->ready, 1);
	assert_true(most > 32);
	assert_int_equal(status(b).retries, 0);
}

static unsigned sets_in_ring(const struct bench *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < b->pump.n; i++)
		n += iba_smp_method(b->pump.ring[(b->pump.head + i) % b->pump.size].mad) == IBA_SET;
	return n;
}

/* The process was stopped while Sets waited: another manager may be master by now. */
TEST(sets_that_waited_during_a_pause_are_dropped)
{
	struct bench *b = *state;
	unsigned sets, waiting;

	b->cfg.contest = true;
	run_pump_free(&b->pump);
	sm_free(b->sm);
	make_sm(b);
	run_pump_set_pause(&b->pump, b->cfg.stall_ps);
	b->wire.room = 1;
	begin(b);
	for (unsigned i = 0; i < 1000000 && sets_in_ring(b) < 2; i++)
		go_on(b);
	waiting = sets_in_ring(b);
	assert_true(waiting >= 2);
	sets = b->wire.sets;
	clock_now += 5000000000;
	b->wire.room = UINT32_MAX;
	assert_true(run_pump_turn(&b->pump) >= 0);
	assert_int_equal(b->wire.sets, sets);
	assert_int_equal(b->pump.lost, waiting);
	assert_int_equal(b->pump.n, 0);
	until_ready(b, 1);
	assert_true(status(b).last.clean);
	assert_true(b->wire.sets > sets);
}

/* Not for the SM: general services, and bytes that are no SMP. */
TEST(mads_of_other_classes_do_no_harm)
{
	struct bench *b = *state;
	struct tp_mad gs = {.qp = 1}, junk = {.slid = 7};

	begin(b);
	until_ready(b, 1);
	memset(gs.mad, 0x81, sizeof(gs.mad));
	memset(junk.mad, 0xff, sizeof(junk.mad));
	vec_push(&b->wire.inbox, gs);
	vec_push(&b->wire.inbox, junk);
	assert_int_equal(run_pump_turn(&b->pump), 2);
	assert_int_equal(status(b).bad, 1);
}

TEST(a_lost_connection_is_reported)
{
	struct bench *b = *state;

	begin(b);
	b->wire.gone = true;
	assert_int_equal(run_pump_turn(&b->pump), -ENOTCONN);
	b->wire.gone = false; /* also when only sending fails */
	b->wire.room = 0;
	assert_int_equal(run_pump_turn(&b->pump), 0);
}

/* The SM's time is set back now and then; sweeps keep their pace all the same. */
TEST(the_clock_is_set_back)
{
	struct bench *b = *state;
	uint64_t sweeps;

	b->cfg.sweep_period_ps = 20 * PS_PER_MS;
	run_pump_free(&b->pump);
	sm_free(b->sm);
	make_sm(b);
	b->pump.back_after = PS_PER_S;
	begin(b);
	until_ready(b, 1);
	for (unsigned s = 1; s <= 3; s++) {
		uint64_t until = clock_now + 1000000000;

		sweeps = status(b).sweeps;
		while (clock_now < until)
			go_on(b);
		assert_true(run_pump_now(&b->pump) < PS_PER_S);
		assert_in_range(status(b).sweeps - sweeps, 40, 51);
	}
	assert_int_equal(status(b).rounds, 1);
	assert_int_equal(status(b).retries, 0);
}

static void on_set(void *ctx)
{
	((struct bench *)ctx)->sets++;
}

/*
 * A standby asks for what the master knows, on QP1: answered, and the master stamps its switch. That changes
 * nothing of what the daemon has saved.
 */
TEST(a_mirror_is_answered)
{
	struct bench *b = *state;
	struct sm_config c = b->cfg;
	struct sm_actions made = {0};
	struct sm *standby;
	struct tp_mad m = {.slid = 4, .dlid = 1, .qp = 1};

	c.contest = c.mirror = true;
	sm_free(b->sm);
	run_pump_free(&b->pump);
	b->cfg = c;
	make_sm(b);
	begin(b);
	until_ready(b, 1);
	standby = sm_new(&c);
	standby->core.out = &made;
	sm_mirror_send(
		standby,
		&(struct sm_mirror_mad){.method = IBA_GET, .attr = IBA_MIRROR_ROOT, .tid = 7},
		NULL);
	memcpy(m.mad, made.sends.at[0].mad, IBA_MAD_SIZE);
	b->pump.call.set = on_set;
	for (unsigned i = 0; i < 2; i++) {
		vec_push(&b->wire.inbox, m);
		run_pump_turn(&b->pump);
		for (unsigned k = 0; k < 200; k++)
			go_on(b);
	}
	assert_int_equal(b->sm->mirror.gmps, 2);
	assert_int_equal(b->sm->mirror.stamp.state, SM_STAMP_SET);
	assert_int_equal(b->sets, 0);
	sm_actions_free(&made);
	sm_free(standby);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_subnet_comes_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_small_queue_loses_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_flood_of_traps_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(responses_come_first_after_a_stall, setup_large,
						teardown),
		cmocka_unit_test_setup_teardown(sets_that_waited_during_a_pause_are_dropped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(mads_of_other_classes_do_no_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lost_connection_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(the_clock_is_set_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mirror_is_answered, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
