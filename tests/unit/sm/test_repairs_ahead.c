/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs computed ahead: after a failure, the SMPs that end the loss are sent before all others. Each
 * test watches the SMPs of a manager on a simulated fabric.
 */
#include "sim_fixture.h"

#include "lab/lab.h"
#include "lab/verdict.h"

struct story {
	struct fab *fab;
	struct lab *lab;
	bool failed; /* the failure has happened */
	time_ps cleared, first_read;
	bool any_order;		    /* what the plan said last */
	bool others;		    /* a block without dead entries was sent since */
	unsigned dead, late, plain; /* blocks: with dead entries, of those behind others, others */
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;

	if (n->kind != SM_NOTE_PLAN)
		return;
	s->any_order = n->plan.kind == RT_PLAN_ANY_ORDER;
	s->others = false;
}

static node_id by_lid(const struct story *s, uint16_t lid)
{
	for (uint32_t i = 0; i < s->fab->nswitches; i++)
		if (sim_port_info(lab_sim(s->lab), fab_port_id(s->fab, s->fab->switches[i], 0))
			    ->lid == lid)
			return s->fab->switches[i];
	return FAB_NONE;
}

static node_id target(const struct story *s, const struct sim_smp *m)
{
	node_id n = lab_sm_node(s->lab);
	uint8_t mad[IBA_MAD_SIZE];

	if (m->dlid != IBA_LID_PERMISSIVE)
		n = by_lid(s, m->dlid);
	if (iba_smp_mgmt_class(m->mad) != IBA_CLASS_SUBN_DR)
		return n;
	memcpy(mad, m->mad, sizeof(mad));
	for (unsigned i = 1; n != FAB_NONE && i <= iba_smp_hop_cnt(mad); i++) {
		port_id p = sim_port_peer(lab_sim(s->lab),
					  fab_port_id(s->fab, n, iba_smp_initial_path(mad)[i]));

		n = p == FAB_NONE ? FAB_NONE : s->fab->ports[p].node;
	}
	return n;
}

/* Does this block put an end to entries that lead nowhere? */
static bool mends(const struct story *s, node_id n, const struct sim_smp *m)
{
	struct sim *sim = lab_sim(s->lab);
	uint32_t lid = iba_smp_attr_mod(m->mad) * IBA_LFT_BLOCK;

	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++) {
		uint8_t out = sim_lft(sim, n, lid + i);

		if (out && out <= s->fab->nodes[n].nports &&
		    iba_smp_data_const(m->mad)[i] != IBA_PORT_NONE &&
		    sim_port_info(sim, fab_port_id(s->fab, n, out))->state == IBA_PORT_DOWN)
			return true;
	}
	return false;
}

static void on_block(struct story *s, const struct sim_smp *m)
{
	node_id n = target(s, m);

	assert_int_not_equal(n, FAB_NONE);
	if (!s->any_order)
		return;
	if (mends(s, n, m)) {
		s->dead++;
		s->late += s->others;
	} else {
		s->plain++;
		s->others = true;
	}
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *m, unsigned detail)
{
	struct story *s = ctx;
	unsigned attr;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(s->lab) || !s->failed)
		return;
	attr = iba_smp_attr_id(m->mad);
	if (iba_smp_method(m->mad) == IBA_SET && attr == IBA_ATTR_SWITCH_INFO && !s->cleared)
		s->cleared = sim_now(lab_sim(s->lab));
	if (iba_smp_method(m->mad) == IBA_GET && attr == IBA_ATTR_PORT_INFO && s->cleared &&
	    !s->first_read)
		s->first_read = sim_now(lab_sim(s->lab));
	if (iba_smp_method(m->mad) == IBA_SET && attr == IBA_ATTR_LFT)
		on_block(s, m);
}

static void begin(struct story *s, unsigned switches)
{
	struct fab_gen g = {
		.kind = "irregular", .dims = {switches}, .ndims = 1, .ports = 6, .seed = 3};
	struct lab_config c;
	struct err e;

	*s = (struct story){.fab = fab_generate(&g, &e)};
	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("weft");
	c.threads = 1;
	s->lab = lab_new(s->fab, &c, &e);
	lab_on_note(s->lab, on_note, s);
	sim_watch(lab_sim(s->lab), (struct sim_watch){on_seen, s});
	lab_power_on(s->lab, NULL);
	assert_true(lab_run_ready(s->lab, PS_PER_S));
	s->failed = true;
}

/* Run on for long enough, then judge. */
static void end(struct story *s)
{
	struct lab_verdict v;

	lab_run_until(s->lab, sim_now(lab_sim(s->lab)) + 50 * PS_PER_MS);
	lab_judge(s->lab, &v);
	assert_true(v.active && v.verified && v.complete);
	rt_report_free(&v.report);
	lab_free(s->lab);
	fab_free(s->fab);
}

TEST(entries_to_the_failed_link_are_written_first)
{
	unsigned dead = 0, plain = 0;

	for (uint32_t victim = 8; victim < 16; victim++) {
		struct story s;

		begin(&s, 32);
		sim_node_power(lab_sim(s.lab), s.fab->switches[victim], false);
		lab_run_until(s.lab, sim_now(lab_sim(s.lab)) + 50 * PS_PER_MS);
		assert_int_equal(s.late, 0);
		dead += s.dead;
		plain += s.plain;
		end(&s);
	}
	assert_true(dead > 10 && plain > 10); /* there was something to be seen */
}

/* The order to clear PortStateChange and the questions about ports leave together. */
TEST(ports_are_read_at_once_after_a_trap)
{
	struct story s;
	port_id p = 0;

	begin(&s, 8);
	while (!fab_is_switch(s.fab, s.fab->ports[p].node) || s.fab->ports[p].peer == FAB_NONE ||
	       !fab_is_switch(s.fab, s.fab->ports[s.fab->ports[p].peer].node))
		p++;
	sim_uncable(lab_sim(s.lab), p);
	end(&s);
	/* s.fab is gone, what was seen is not. */
	assert_true(s.cleared != 0);
	assert_true(s.first_read == s.cleared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_to_the_failed_link_are_written_first),
		cmocka_unit_test(ports_are_read_at_once_after_a_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
