/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A switch that dies while it is asked many questions: the manager does not wait for each of them. State: struct
 * rig, and which device stops to respond when. Does not use the simulator.
 * Covers: silent_devices.c
 */
#include "sm_fixture.h"

/* h0 - sw1 - sw2 - h3 to h8, and h9 at sw1. */
static void draw_tree(struct rig *g)
{
	rig_open(g);
	add_dev(g, IBA_NODE_CA, 1);
	add_dev(g, IBA_NODE_SWITCH, 8);
	add_dev(g, IBA_NODE_SWITCH, 8);
	join(g, 0, 1, 1, 1);
	join(g, 1, 2, 2, 1);
	for (unsigned p = 2; p <= 7; p++)
		join(g, 2, p, add_dev(g, IBA_NODE_CA, 1), 1);
	join(g, 1, 3, add_dev(g, IBA_NODE_CA, 1), 1);
	g->cfg.window = 4;
	g->cfg.retries = 2;
	g->cfg.sweep_factor = 0;
}

/* ---- what the devices do ---- */

static struct {
	uint16_t attr;	    /* after so many requests of this attribute, */
	unsigned after;	    /* switch 2 */
	bool forwards;	    /* forwards and does not answer; or is gone, with all behind it */
	unsigned asked;	    /* requests of that attribute */
	unsigned in_vain;   /* requests to switch 2, and through it if it is gone, since then */
	uint32_t mute_item; /* instead: this one and the two after it are never answered */
	VEC(uint32_t) items;
} plan;

static bool is_behind(const struct rig *g, unsigned dev)
{
	return dev != 2 && g->dev[dev].type == IBA_NODE_CA && g->dev[dev].peer[1].dev == 2;
}

static bool twist(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	uint32_t mod = iba_smp_attr_mod(s->mad);
	bool counts = dev == 2 && iba_smp_attr_id(s->mad) == plan.attr &&
		      iba_smp_method(s->mad) == IBA_GET;

	(void)resp;
	if (counts) {
		plan.asked++;
		vec_push(&plan.items, mod);
	}
	if (plan.mute_item)
		return !counts || mod < plan.mute_item || mod > plan.mute_item + 2;
	if (plan.asked <= plan.after || (dev != 2 && (plan.forwards || !is_behind(g, dev))))
		return true;
	plan.in_vain++;
	return false;
}

/* A second manager, on the subnet that the first one brought up; it reads every SL-to-VL table. */
static void take_over(struct rig *g)
{
	draw_tree(g);
	rig_start(g);
	run_ready(g);
	expect_up(g);
	sm_free(g->sm);
	g->cfg.read_back = g->cfg.distrust = true;
	g->air.n = 0;
	g->twist = twist;
	rig_start(g);
}

static void plan_new(uint16_t attr, unsigned after)
{
	vec_free(&plan.items);
	memset(&plan, 0, sizeof(plan));
	plan.attr = attr;
	plan.after = after;
}

/* The window twice, and what the next discovery begins with. */
static unsigned few_tries(const struct rig *g)
{
	return 2 * g->cfg.window * (g->cfg.retries + 1) + g->cfg.window;
}

/* ---- stories ---- */

/* A switch has 72 turns; the window is tried twice, the rest is dropped. */
TEST(a_switch_that_dies_while_its_turns_are_read)
{
	struct rig g;
	time_ps began;

	plan_new(IBA_ATTR_SLVL_TABLE, 5);
	take_over(&g);
	while (!plan.in_vain)
		assert_true(one_event(&g));
	began = g.now;
	while (!count_notes(&g, SM_NOTE_RESTART))
		assert_true(one_event(&g));
	assert_in_range(plan.in_vain, 1, few_tries(&g));
	assert_true(g.now - began <= 2 * (g.cfg.retries + 1) * sm_timeout(g.sm) + PS_PER_MS);
	run_phase(&g, SM_READY);
	assert_int_equal(status(&g).nodes, 3); /* what is left of the subnet is managed */
	rig_close(&g);
}

/* The same with any other question of which there are many. */
TEST(a_switch_that_dies_while_its_ports_are_read)
{
	struct rig g;

	plan_new(IBA_ATTR_PORT_INFO, 3);
	take_over(&g);
	while (!count_notes(&g, SM_NOTE_RESTART))
		assert_true(one_event(&g));
	assert_in_range(plan.in_vain, 1, few_tries(&g));
	run_phase(&g, SM_READY);
	assert_int_equal(status(&g).nodes, 3);
	rig_close(&g);
}

/* It does not answer, but forwards: the devices behind it are asked as before. */
TEST(devices_behind_a_silent_switch_are_asked)
{
	struct rig g;
	bool found_silent = false;

	plan_new(IBA_ATTR_SLVL_TABLE, 5);
	plan.forwards = true;
	take_over(&g);
	while (!count_notes(&g, SM_NOTE_RESTART)) {
		assert_true(one_event(&g));
		found_silent |= g.sm->disc.silent.n;
		assert_false(g.sm->disc.silent.n && g.sm->disc.silent.at[0].blocks);
	}
	assert_true(found_silent);
	assert_in_range(plan.in_vain, 1, few_tries(&g));
	rig_close(&g);
}

/* A device that never answers three of its questions is asked all the others. */
TEST(a_device_that_answers_other_questions_is_not_silent)
{
	struct rig g;
	unsigned seen = 0;

	plan_new(IBA_ATTR_SLVL_TABLE, 0);
	plan.mute_item = 3 << 8 | 2;
	take_over(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	for (unsigned in = 0; in <= 8; in++)
		for (unsigned out = 1; out <= 8; out++) {
			bool found = false;

			for (size_t i = 0; i < plan.items.n; i++)
				found |= plan.items.at[i] == (in << 8 | out);
			seen += found;
		}
	assert_int_equal(seen, 8 * 7); /* ports 0 to 7 in, 1 to 7 out: port 8 has no link */
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_that_dies_while_its_turns_are_read),
		cmocka_unit_test(a_switch_that_dies_while_its_ports_are_read),
		cmocka_unit_test(devices_behind_a_silent_switch_are_asked),
		cmocka_unit_test(a_device_that_answers_other_questions_is_not_silent),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	vec_free(&plan.items);
	return rc;
}
