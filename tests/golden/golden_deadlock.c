/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The deadlock of thesis 7.1.1, for real: packets on the subnet of Fig. 92 while a new root moves
 * the break nodes. With nothing to prevent it, old routes through switch 6 and new ones through
 * switch 2 close a ring. State: one loaded subnet at a time. Does not count packets.
 */
#include "unit_test.h"

#include "lab/change.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

#define SPAN (6 * PS_PER_MS)

enum { ROOT_BEFORE = 0x106, ROOT_AFTER = 0x110 };

struct world {
	struct fab_netlist before;
	struct fab *after;
	struct lab_change *change;
	struct lab *lab;
	time_ps span; /* how long hosts send after tables begin to change; 0: they send from before */
	uint64_t plan, turns; /* enum rt_plan_kind of the last plan, and how many turns it needs */
};

static void example(struct fab_netlist *n)
{
	char path[512];
	struct err e;

	snprintf(path, sizeof(path), "%s/example15-routing.net", GOLDEN);
	if (fab_netlist_load(n, path, &e))
		fail_msg("%s", e.text);
}

/* An additional switch at the free port of LID 1. It becomes the root: then links point as in Fig. 92(b). Without it LID 3 is, and 2 is the break node of the ring 1, 2, 6, 3. */
static struct fab *with_new_root(const struct fab *f)
{
	struct fab_builder *b = fab_builder_from(f);
	node_id n = fab_add_node(b, IBA_NODE_SWITCH, ROOT_AFTER, 4, "root");

	assert_int_equal(fab_add_link(b, n, 1, fab_builder_find(b, 0x100), 4), 0);
	return fab_build(b);
}

static char roots[64];
static const struct sm_inputs inputs = {.roots = roots};

static void config(const struct fab *f, const char *technique, struct lab_config *c)
{
	lab_config_default(c);
	c->sm.mechanism = *sm_mechanism_find("basic");
	c->sm_node = fab_node_by_guid(f, 0x100);
	c->cpu = lab_cpu_find("thesis");
	c->sim.plane.on = true;
	c->sim.plane.buffer_bytes = 512;
	c->sim.mtu_cap = 1; /* 256 bytes */
	c->sim.vl_cap = 1;  /* one data VL */
	c->sm.window = 1;   /* one table after the other: for a while there are old and new ones */
	c->sm.sweep_factor = 10;
	snprintf(roots, sizeof(roots), "0x%016llx\n0x%016llx\n", (unsigned long long)ROOT_AFTER,
		 (unsigned long long)ROOT_BEFORE);
	c->sm.inputs = &inputs;
	c->sm.mechanism.discovery = sm_discovery_find("partial");
	c->sm.mechanism.first = c->sm.mechanism.second = sm_technique_find(technique);
}

/* Each host sends at the full rate of its link, to random hosts. */
static void load(struct world *w)
{
	struct sim *s = lab_sim(w->lab);
	struct traffic_config t = {.pattern = TRAFFIC_UNIFORM,
				   .arrivals = TRAFFIC_CONSTANT,
				   .interval_ps = 1128 * PS_PER_NS, /* 282 bytes at 2 Gb/s */
				   .payload = 256,
				   .start_ps = sim_now(s),
				   .stop_ps = sim_now(s) + w->span,
				   .seed = 1};
	struct err e;

	w->span = 0;
	if (sim_traffic(s, &t, &e))
		fail_msg("%s", e.text);
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct world *w = ctx;

	if (w->span && n->kind == SM_NOTE_PHASE && n->phase.from == SM_COMPUTE)
		load(w);
	if (n->kind == SM_NOTE_PLAN) {
		w->plan = n->plan.kind;
		w->turns = n->plan.turns;
	}
}

static void world_open(struct world *w, const char *technique)
{
	struct lab_config c;
	struct err e;

	memset(w, 0, sizeof(*w));
	example(&w->before);
	w->after = with_new_root(w->before.fab);
	w->change = lab_change_new(w->before.fab, w->after, &e);
	assert_non_null(w->change);
	config(lab_change_fab(w->change), technique, &c);
	w->lab = lab_new(lab_change_fab(w->change), &c, &e);
	assert_non_null(w->lab);
	lab_on_note(w->lab, on_note, w);
	lab_power_on(w->lab, lab_change_on(w->change));
	assert_true(lab_run_settled(w->lab, 0, 100 * PS_PER_S));
}

static void world_close(struct world *w)
{
	lab_free(w->lab);
	lab_change_free(w->change);
	fab_free(w->after);
	fab_netlist_free(&w->before);
}

/* The new root appears and the hosts send while tables change. The manager reports success. */
static void change_under_load(struct world *w)
{
	time_ps at = sim_now(lab_sim(w->lab));
	struct lab_verdict v;

	w->span = SPAN;
	lab_change_apply(w->change, lab_sim(w->lab));
	assert_true(lab_run_settled(w->lab, at, at + 10 * PS_PER_S));
	assert_int_equal(w->span, 0);
	lab_judge(w->lab, &v);
	if (!v.active || !v.verified || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
}

static void expect_all_gone(struct world *w)
{
	const struct sim_plane_stats *st = sim_plane_stats(lab_sim(w->lab));
	port_id *ring = NULL;

	assert_int_equal(sim_deadlock(lab_sim(w->lab), &ring), 0);
	assert_int_equal(st->in_flight, 0);
	assert_true(st->generated > 1000 && st->delivered > 1000);
	free(ring);
}

/* ---- tests ---- */

/* The ring of the thesis, in either direction: LIDs 1, 2, 6, 3. */
TEST(without_care_the_ring_1_2_6_3_is_closed)
{
	static const uint64_t ring_guids[] = {0x100, 0x105, 0x104, 0x106};
	bool in_ring[ARRAY_LEN(ring_guids)] = {false};
	const struct fab *f;
	port_id *ring = NULL;
	struct world w;

	world_open(&w, "none");
	change_under_load(&w);
	f = lab_change_fab(w.change);
	assert_int_equal(sim_deadlock(lab_sim(w.lab), &ring), 4);
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < ARRAY_LEN(ring_guids); k++)
			in_ring[k] |= f->nodes[f->ports[ring[i]].node].guid == ring_guids[k];
	for (size_t k = 0; k < ARRAY_LEN(ring_guids); k++)
		assert_true(in_ring[k]);
	/* All tables are new and verified by now, but these packets still wait. */
	assert_true(sim_plane_stats(lab_sim(w.lab))->in_flight > 0);
	free(ring);
	world_close(&w);
}

/* The same load without a change: old routes alone do not deadlock. */
TEST(old_routes_alone_are_safe)
{
	struct world w;

	world_open(&w, "none");
	w.span = SPAN;
	load(&w);
	lab_run_until(w.lab, sim_now(lab_sim(w.lab)) + 40 * PS_PER_MS);
	expect_all_gone(&w);
	world_close(&w);
}

static void survives(const char *technique)
{
	struct world w;

	world_open(&w, technique);
	change_under_load(&w);
	expect_all_gone(&w);
	world_close(&w);
}

TEST(full_deactivation_is_safe)
{
	survives("full");
}

TEST(break_node_ports_are_safe)
{
	survives("ports");
}

TEST(break_node_dependencies_are_safe)
{
	survives("dependencies");
}

/*
 * From the destinations outwards alone (thesis 6.3) is for tables of one graph; here the graphs
 * differ, so its success would prove nothing. The plan disables turns, in their order.
 */
TEST(a_plan_is_safe)
{
	struct world w;

	world_open(&w, "plan");
	change_under_load(&w);
	expect_all_gone(&w);
	assert_int_equal(w.plan, RT_PLAN_TURNS);
	assert_in_range(w.turns, 1, 4); /* of the four that break nodes forbid in the new graph */
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_care_the_ring_1_2_6_3_is_closed),
		cmocka_unit_test(old_routes_alone_are_safe),
		cmocka_unit_test(full_deactivation_is_safe),
		cmocka_unit_test(break_node_ports_are_safe),
		cmocka_unit_test(break_node_dependencies_are_safe),
		cmocka_unit_test(a_plan_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
