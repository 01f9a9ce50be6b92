/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that change too often: they are held, other links are not affected, and they are released after a
 * quiet time. Each test has a manager on a simulated fabric.
 */
#include "sim_fixture.h"

#include "base/rng.h"
#include "lab/lab.h"
#include "lab/verdict.h"

struct story {
	struct fab *fab;
	struct lab *lab;
	port_id port[8]; /* that flap */
	unsigned computed, held, released;
	unsigned blocks; /* Set(LinearForwardingTable) that the manager sent */
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;

	s->computed += n->kind == SM_NOTE_PHASE && n->phase.to == SM_COMPUTE;
	s->held += n->kind == SM_NOTE_HELD;
	s->released += n->kind == SM_NOTE_RELEASED;
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct story *s = ctx;

	(void)port;
	(void)detail;
	s->blocks += what == SIM_SEEN_SEND && n == lab_sm_node(s->lab) &&
		     iba_smp_method(smp->mad) == IBA_SET &&
		     iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
}

static void on_flap(void *ctx, uint64_t cookie)
{
	struct story *s = ctx;
	struct sim *sim = lab_sim(s->lab);
	port_id p = s->port[cookie];

	if (sim_port_peer(sim, p) != FAB_NONE)
		sim_uncable(sim, p);
	else
		sim_cable(sim, p, s->fab->ports[p].peer);
}

/* 5 changes within a second hold a link until it was quiet for two. */
static void begin_with(struct story *s, struct fab *f, const char *mechanism, struct lab_config c)
{
	struct err e;

	*s = (struct story){.fab = f};
	c.sm.mechanism = *sm_mechanism_find(mechanism);
	c.sm.sweep_factor = 0;
	c.sm.sweep_period_ps = 20 * PS_PER_MS;
	c.sm.flaps = 5;
	c.sm.flap_ps = PS_PER_S;
	c.sm.hold_ps = 2 * PS_PER_S;
	c.threads = 1;
	s->lab = lab_new(f, &c, &e);
	assert_non_null(s->lab);
	lab_on_note(s->lab, on_note, s);
	sim_watch(lab_sim(s->lab), (struct sim_watch){on_seen, s});
	lab_power_on(s->lab, NULL);
	assert_true(lab_run_ready(s->lab, PS_PER_S));
	s->computed = s->blocks = 0;
}

static void begin(struct story *s, struct fab *f, const char *mechanism)
{
	struct lab_config c;

	lab_config_default(&c);
	begin_with(s, f, mechanism, c);
}

static void end(struct story *s)
{
	lab_free(s->lab);
	fab_free(s->fab);
}

/* A port goes and comes `times` times, every 50 ms one of the two. */
static void flap(struct story *s, unsigned which, node_id n, unsigned num, unsigned times)
{
	struct sim *sim = lab_sim(s->lab);

	s->port[which] = fab_port_id(s->fab, n, num);
	for (unsigned i = 0; i < 2 * times; i++)
		sim_call(sim, sim_now(sim) + (1 + i) * 50 * PS_PER_MS, on_flap, s, which);
}

static void run(struct story *s, time_ps t)
{
	lab_run_until(s->lab, sim_now(lab_sim(s->lab)) + t);
}

static unsigned held_now(const struct story *s)
{
	struct sm_status st;

	sm_status(lab_sm(s->lab), &st);
	return st.held;
}

static bool is_well(struct story *s)
{
	struct lab_verdict v;

	lab_judge(s->lab, &v);
	rt_report_free(&v.report);
	return v.active && v.verified && v.complete;
}

/* h0 and two more hosts on a ring of four switches: one link is the other way round. */
static struct fab *ring(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[4];

	for (unsigned i = 0; i < 4; i++)
		sw[i] = draw_switch(b, 6);
	for (unsigned i = 0; i < 4; i++)
		draw_link(b, sw[i], 2, sw[(i + 1) % 4], 1);
	for (unsigned i = 0; i < 3; i++)
		draw_link(b, draw_host(b, 1), 1, sw[i], 3);
	return fab_build(b);
}

static node_id named(const struct story *s, uint64_t guid)
{
	return fab_node_by_guid(s->fab, guid);
}

enum { SW0 = 0x100, SW1, SW2, SW3, H0 = 0x2000, H1 = 0x2010, H2 = 0x2020 };

static void a_link_that_flaps(const char *mechanism, unsigned most)
{
	struct story s;
	unsigned blocks;

	begin(&s, ring(), mechanism);
	flap(&s, 0, named(&s, SW1), 2, 20);
	run(&s, 400 * PS_PER_MS);
	assert_int_equal(s.held, 1);
	assert_int_equal(held_now(&s), 2); /* both ends */
	assert_in_range(s.computed, 1, most);
	blocks = s.blocks;
	run(&s, 2 * PS_PER_S); /* it continues: 32 more changes */
	assert_in_range(s.computed, 1, most);
	assert_int_equal(s.blocks, blocks);
	assert_int_equal(s.released, 0);
	assert_false(is_well(&s)); /* the link is up, and not in use */
	assert_int_equal(sim_port_info(lab_sim(s.lab), s.port[0])->state, IBA_PORT_INIT);
	run(&s, 2 * PS_PER_S); /* quiet */
	assert_int_equal(s.released, 1);
	assert_int_equal(held_now(&s), 0);
	assert_in_range(s.computed, 2, 2 * most);
	assert_true(is_well(&s));
	end(&s);
}

TEST(a_link_is_held_and_released)
{
	/* Before the fifth change there are four, each with provisional and final routes at most.
	 */
	a_link_that_flaps("weft", 10);
	a_link_that_flaps("improved", 10);
	a_link_that_flaps("improved+traps", 10);
	a_link_that_flaps("basic", 5);
}

/* Two at once, which do not wait for each other; held together they would cut the ring in two. */
TEST(two_links)
{
	struct story s;

	begin(&s, ring(), "weft");
	flap(&s, 0, named(&s, SW1), 2, 20);
	run(&s, 10 * PS_PER_MS);
	flap(&s, 1, named(&s, SW3), 2, 20);
	run(&s, 5 * PS_PER_S);
	assert_true(s.held >= 1);
	assert_int_equal(held_now(&s), 0);
	assert_true(is_well(&s));
	end(&s);
}

/* A held link that becomes the only way to a switch is let go at once. */
TEST(a_switch_is_not_cut_off)
{
	struct story s;

	begin(&s, ring(), "weft");
	flap(&s, 0, named(&s, SW1), 2, 5);
	run(&s, 600 * PS_PER_MS);
	assert_int_equal(held_now(&s), 2);
	sim_uncable(lab_sim(s.lab), fab_port_id(s.fab, named(&s, SW3), 1)); /* to sw2 */
	run(&s, 100 * PS_PER_MS);
	assert_int_equal(held_now(&s), 0);
	assert_true(is_well(&s));
	end(&s);
}

/* A host's only link is held until it is quiet; no other device gets an SMP.
 */
TEST(a_host_that_flaps)
{
	struct story s;
	unsigned blocks, computed;

	begin(&s, ring(), "weft");
	flap(&s, 0, named(&s, H2), 1, 20);
	run(&s, 400 * PS_PER_MS);
	assert_int_equal(s.held, 1);
	assert_int_equal(held_now(&s), 1); /* the switch's end */
	assert_int_equal(fab_node_by_guid(sm_fabric(lab_sm(s.lab)), H2), FAB_NONE);
	blocks = s.blocks;
	computed = s.computed;
	run(&s, 2 * PS_PER_S);
	assert_int_equal(s.blocks, blocks);
	assert_int_equal(s.computed, computed);
	run(&s, 2 * PS_PER_S);
	assert_int_equal(s.released, 1);
	assert_true(is_well(&s));
	end(&s);
}

/* The manager's own link is never held, whatever it does. */
TEST(the_managers_own_link)
{
	struct story s;

	for (unsigned i = 0; sm_mechanisms[i].name; i++) {
		begin(&s, ring(), sm_mechanisms[i].name);
		flap(&s, 0, named(&s, H0), 1, 10);
		run(&s, 900 * PS_PER_MS);
		assert_int_equal(s.held, 0);
		run(&s, 2 * PS_PER_S);
		assert_true(is_well(&s));
		end(&s);
	}
}

/* Nor is the only link between two switches: what is behind it would be lost. */
TEST(the_only_link_between_switches)
{
	struct story s;

	begin(&s, draw_chain(3), "weft");
	flap(&s, 0, named(&s, SW1), 2, 10);
	run(&s, 20 * PS_PER_MS + 1000 * PS_PER_MS);
	run(&s, 100 * PS_PER_MS);
	assert_int_equal(held_now(&s), 0);
	assert_true(is_well(&s));
	end(&s);
}

/* Whatever flaps, and while SMPs are lost: when all is quiet again, all is in use. */
static void random_flaps(uint64_t seed)
{
	struct fab_gen g = {.kind = "irregular", .ndims = 1, .seed = seed};
	unsigned kinds = 0, ports;
	struct lab_config c;
	struct story s;
	struct rng r;
	struct err e;

	rng_seed(&r, seed, 1);
	while (sm_mechanisms[kinds].name)
		kinds++;
	g.dims[0] = 3 + rng_below(&r, 8);
	g.ports = 4 + rng_below(&r, 3);
	lab_config_default(&c);
	c.sim.seed = seed;
	c.sim.traps = rng_below(&r, 2);
	c.sim.faults.loss_q32 = rng_below(&r, 2) ? (uint64_t)(1u << 26) : 0; /* one in 64 */
	begin_with(&s, fab_generate(&g, &e), sm_mechanisms[rng_below(&r, kinds)].name, c);
	ports = 1 + rng_below(&r, ARRAY_LEN(s.port));
	for (unsigned i = 0; i < ports; i++) {
		node_id n = s.fab->switches[rng_below(&r, s.fab->nswitches)];
		unsigned num = 1 + rng_below(&r, s.fab->nodes[n].nports);

		run(&s, rng_below(&r, 100) * PS_PER_MS);
		s.port[i] = fab_port_id(s.fab, n, num);
		if (s.fab->ports[s.port[i]].peer != FAB_NONE)
			flap(&s, i, n, num, 1 + rng_below(&r, 8));
	}
	run(&s, 6 * PS_PER_S);
	if (held_now(&s) || !is_well(&s))
		fail_msg("seed %llu", (unsigned long long)seed);
	end(&s);
}

TEST(test_random_flaps)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		random_flaps(seed);
}

/* So it is without damping: every change is taken in. */
TEST(damping_is_off_by_default)
{
	struct sm_config c;

	sm_config_default(&c);
	assert_int_equal(c.flaps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_held_and_released),
		cmocka_unit_test(two_links),
		cmocka_unit_test(a_switch_is_not_cut_off),
		cmocka_unit_test(a_host_that_flaps),
		cmocka_unit_test(the_managers_own_link),
		cmocka_unit_test(the_only_link_between_switches),
		cmocka_unit_test(test_random_flaps),
		cmocka_unit_test(damping_is_off_by_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
