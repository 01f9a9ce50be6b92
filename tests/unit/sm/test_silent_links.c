/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link that loses every SMP while its ports stay Active is in no snapshot, but plans count it until a port of it was
 * seen in Initialize or Down. State: struct rig, and whether the link is silent. Does not use the simulator.
 * Covers: silent_links.c
 */
#include "sm_fixture.h"

static bool silent; /* the link between switches 2 and 3 */

/* h0 - sw1, and a ring of sw1, sw2, sw3, sw4. */
static void draw_ring(struct rig *g, const char *mechanism)
{
	rig_open(g);
	g->cfg.mechanism = *sm_mechanism_find(mechanism);
	add_dev(g, IBA_NODE_CA, 1);
	for (unsigned i = 1; i <= 4; i++)
		add_dev(g, IBA_NODE_SWITCH, 4);
	join(g, 0, 1, 1, 1);
	for (unsigned i = 1; i <= 4; i++)
		join(g, i, 2, i % 4 + 1, 3);
	g->cfg.sweep_factor = 0;
	g->cfg.retries = 1;
	g->real_links = true;
}

static bool crosses(const struct rig *g, const struct sm_send *s)
{
	const uint8_t *path = iba_smp_initial_path((uint8_t *)s->mad);
	unsigned dev = 0;

	if (!iba_smp_is_dr(s->mad) ||
	    (s->dlid != IBA_LID_PERMISSIVE && !find_lid(g, s->dlid, &dev)))
		return false;
	for (unsigned i = 1; i <= iba_smp_hop_cnt(s->mad); i++) {
		if ((dev == 2 && path[i] == 2) || (dev == 3 && path[i] == 3))
			return true;
		dev = g->dev[dev].peer[path[i]].dev;
	}
	return false;
}

static bool twist(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)dev;
	(void)resp;
	return !silent || !crosses(g, s);
}

static void up(struct rig *g, const char *mechanism)
{
	draw_ring(g, mechanism);
	silent = false;
	g->twist = twist;
	rig_start(g);
	run_ready(g);
	expect_up(g);
	assert_int_equal(g->sm->topo.fab->nlinks, 5);
	assert_null(g->sm->topo.data_fab);
}

static void discover_again(struct rig *g)
{
	step(g, (struct sm_event){.kind = SM_EV_RESYNC});
	run_phase(g, SM_COMPUTE);
}

TEST(plans_count_a_link_that_no_smp_crosses)
{
	struct rig g;

	up(&g, "weft");
	silent = true;
	discover_again(&g);
	assert_int_equal(g.sm->topo.fab->nlinks, 4);
	assert_int_equal(sm_data_fab(g.sm)->nlinks, 5);
	run_phase(&g, SM_READY);
	discover_again(&g); /* it is in no earlier snapshot any more, and still counts */
	assert_int_equal(g.sm->topo.fab->nlinks, 4);
	assert_int_equal(sm_data_fab(g.sm)->nlinks, 5);
	run_phase(&g, SM_READY);
	silent = false;
	discover_again(&g);
	assert_int_equal(g.sm->topo.fab->nlinks, 5);
	assert_null(g.sm->topo.data_fab);
	rig_close(&g);
}

TEST(a_link_that_was_trained_again_carries_nothing)
{
	struct rig g;

	up(&g, "weft");
	silent = true;
	discover_again(&g);
	assert_non_null(g.sm->topo.data_fab);
	run_phase(&g, SM_READY);
	g.dev[2].pi[2].state = g.dev[3].pi[3].state = IBA_PORT_INIT;
	discover_again(&g);
	assert_int_equal(g.sm->topo.fab->nlinks, 4);
	assert_null(g.sm->topo.data_fab);
	rig_close(&g);
}

/* A switch that is not met: what its links do is not known, and is asked when it returns. */
TEST(links_of_a_switch_that_was_away_count_when_it_returns)
{
	rt_turns turns = {0};
	struct rig g;

	up(&g, "weft");
	g.dev[3].mute = true;
	discover_again(&g);
	assert_int_equal(g.sm->topo.fab->nlinks, 3);
	assert_null(g.sm->topo.data_fab);
	sm_silent_turns(g.sm, &turns); /* from it to sw1, in sw2 and in sw4 */
	assert_int_equal(turns.n, 2);
	vec_free(&turns);
	run_phase(&g, SM_READY);
	g.dev[3].mute = false;
	silent = true;
	discover_again(&g);
	assert_int_equal(g.sm->topo.fab->nlinks, 4);
	assert_int_equal(sm_data_fab(g.sm)->nlinks, 5);
	rig_close(&g);
}

/* The manager restarts on a running subnet: sw3 answers nothing, or not for one of its ports. */
static bool twist_part(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)resp;
	return dev != 3 || iba_smp_attr_id(s->mad) != IBA_ATTR_PORT_INFO ||
	       iba_smp_attr_mod(s->mad) != 1;
}

static size_t turns_at_start(bool in_part)
{
	rt_turns turns = {0};
	struct rig g;
	size_t n;

	draw_ring(&g, "weft");
	for (unsigned i = 1; i <= 4; i++)
		g.dev[i].pi[2].state = g.dev[i].pi[3].state = IBA_PORT_ACTIVE;
	g.dev[3].mute = !in_part;
	g.twist = in_part ? twist_part : NULL;
	rig_start(&g);
	run_phase(&g, SM_COMPUTE);
	assert_int_equal(g.sm->topo.fab->nlinks, 3);
	sm_silent_turns(g.sm, &turns);
	n = turns.n;
	vec_free(&turns);
	rig_close(&g);
	return n;
}

TEST(links_to_a_switch_that_never_answered_count)
{
	assert_int_equal(turns_at_start(false), 2);
	assert_int_equal(turns_at_start(true), 2);
}

/* Full deactivation stops such links as well. */
TEST(full_deactivation_stops_silent_links)
{
	struct rig g;

	up(&g, "basic");
	silent = true;
	discover_again(&g);
	assert_non_null(g.sm->topo.data_fab);
	run_phase(&g, SM_TABLES);
	assert_int_equal(g.dev[2].pi[2].state, IBA_PORT_INIT);
	assert_int_equal(g.dev[3].pi[3].state, IBA_PORT_INIT);
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_count_a_link_that_no_smp_crosses),
		cmocka_unit_test(a_link_that_was_trained_again_carries_nothing),
		cmocka_unit_test(links_of_a_switch_that_was_away_count_when_it_returns),
		cmocka_unit_test(links_to_a_switch_that_never_answered_count),
		cmocka_unit_test(full_deactivation_stops_silent_links),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
