/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches with more inter-switch links than are probed in advance: the ports that discovery reads show a
 * failed switch as well; nothing is inferred from a link. A host at an inferred switch may have another port.
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct world {
	struct fab *fab;
	struct lab *lab;
	uint64_t guessed; /* the last GUID; 0: none, or a link */
	unsigned guesses;
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct world *w = ctx;

	if (n->kind != SM_NOTE_GUESS)
		return;
	w->guessed = n->about.a.guid;
	w->guesses++;
}

static void settle(struct world *w)
{
	time_ps now = sim_now(lab_sim(w->lab));
	struct lab_verdict v;

	assert_true(lab_run_settled(w->lab, now, now + 60 * PS_PER_S));
	lab_judge(w->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
}

static void up_on(struct world *w, struct fab *fab)
{
	struct lab_config c;
	struct err e;

	*w = (struct world){.fab = fab};
	lab_config_default(&c);
	w->lab = lab_new(w->fab, &c, &e);
	lab_on_note(w->lab, on_note, w);
	lab_power_on(w->lab, NULL);
	settle(w);
	/* Repairs are thought out while there is nothing else to do. */
	lab_run_until(w->lab, sim_now(lab_sim(w->lab)) + 200 * PS_PER_MS);
}

/* 14 links up from each leaf, 28 down from each root. */
static void up(struct world *w)
{
	struct fab_gen g = {.kind = "mtree", .ndims = 2, .dims = {28, 2}};
	struct err e;

	up_on(w, fab_generate(&g, &e));
}

static void down(struct world *w)
{
	lab_free(w->lab);
	fab_free(w->fab);
}

static node_id find(const struct world *w, const char *name)
{
	node_id n = fab_node_by_text(w->fab, name);

	assert_true(n != FAB_NONE);
	return n;
}

static void a_dead_switch_is_guessed(const char *name)
{
	struct world w;
	node_id n;

	up(&w);
	n = find(&w, name);
	sim_node_power(lab_sim(w.lab), n, false);
	settle(&w);
	assert_int_equal(w.guesses, 1);
	assert_int_equal(w.guessed, w.fab->nodes[n].guid);
	sim_node_power(lab_sim(w.lab), n, true);
	settle(&w);
	assert_int_equal(w.guesses, 1);
	down(&w);
}

TEST(a_failed_root_is_inferred)
{
	a_dead_switch_is_guessed("root5");
}

TEST(a_failed_leaf_is_inferred)
{
	a_dead_switch_is_guessed("leaf20");
}

TEST(a_failed_link_is_not_inferred)
{
	struct world w;
	port_id p, peer;

	up(&w);
	p = fab_port_id(w.fab, find(&w, "leaf20"), 20);
	peer = w.fab->ports[p].peer;
	sim_uncable(lab_sim(w.lab), p);
	settle(&w);
	sim_cable(lab_sim(w.lab), p, peer);
	settle(&w);
	assert_int_equal(w.guesses, 0);
	down(&w);
}

/* Its first port is at the third switch of a triangle, its second at the first: that port keeps no LID without a link. */
TEST(a_host_keeps_its_other_port_when_a_switch_is_inferred_dead)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[3], sm, host;
	struct world w;

	for (unsigned i = 0; i < 3; i++)
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x20000 + i, 8, i ? "other" : "dead");
	sm = fab_add_node(b, IBA_NODE_CA, 0x10000, 1, "sm");
	host = fab_add_node(b, IBA_NODE_CA, 0x10010, 2, "host");
	fab_builder_port(b, sm, 1)->guid = 0x10001;
	fab_builder_port(b, host, 1)->guid = 0x10011;
	fab_builder_port(b, host, 2)->guid = 0x10012;
	fab_add_link(b, sw[0], 1, sw[1], 1);
	fab_add_link(b, sw[1], 2, sw[2], 2);
	fab_add_link(b, sw[2], 3, sw[0], 3);
	fab_add_link(b, sm, 1, sw[1], 4);
	fab_add_link(b, host, 1, sw[2], 5);
	fab_add_link(b, host, 2, sw[0], 5);
	up_on(&w, fab_build(b));
	sim_node_power(lab_sim(w.lab), find(&w, "dead"), false);
	settle(&w);
	assert_int_equal(w.guessed, 0x20000);
	sim_node_power(lab_sim(w.lab), find(&w, "dead"), true);
	settle(&w);
	down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_root_is_inferred),
		cmocka_unit_test(a_failed_leaf_is_inferred),
		cmocka_unit_test(a_failed_link_is_not_inferred),
		cmocka_unit_test(a_host_keeps_its_other_port_when_a_switch_is_inferred_dead),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
