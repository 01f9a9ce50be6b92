/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes made from the reference: what the manager changes when links and switches fail, that the first tables are back
 * when all is back, and when routes from scratch take over. The manager runs on a simulated fabric; tables are read from
 * its devices.
 * Covers: reference.c, reference_worker.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "route/choose.h"
#include "sm/manager.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct story {
	struct fab *fab;
	struct lab *lab;
	struct lab_config cfg;
	unsigned rounds; /* for the balance */
};

static const struct sm *manager(const struct story *s)
{
	return lab_sm(s->lab);
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;

	s->rounds += n->kind == SM_NOTE_CHANGE && n->change.cause == SM_CAUSE_BALANCE;
}

static void settle(struct story *s)
{
	time_ps now = sim_now(lab_sim(s->lab));
	struct lab_verdict v;

	assert_true(lab_run_settled(s->lab, now, now + 60 * PS_PER_S));
	lab_judge(s->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
}

static void open_with(struct story *s, struct fab_gen g, const char *engine)
{
	struct err e;

	*s = (struct story){.fab = fab_generate(&g, &e)};
	assert_non_null(s->fab);
	lab_config_default(&s->cfg);
	s->cfg.threads = 1;
	s->cfg.sm.mechanism.routes = sm_supply_find(engine);
	s->lab = lab_new(s->fab, &s->cfg, &e);
	lab_on_note(s->lab, on_note, s);
}

static void begin(struct story *s, struct fab_gen g, const char *engine)
{
	open_with(s, g, engine);
	lab_power_on(s->lab, NULL);
	settle(s);
}

static void end(struct story *s)
{
	lab_free(s->lab);
	fab_free(s->fab);
}

/* All entries for LIDs in use, as the switches have them; free it. */
static uint8_t *tables_of(const struct story *s, size_t *len)
{
	uint32_t top = 0;
	uint8_t *all;
	size_t n = 0;

	for (port_id p = 0; p < s->fab->nports; p++)
		top = MAX(top, (uint32_t)sim_port_info(lab_sim(s->lab), p)->lid);
	all = mem_array(s->fab->nswitches, top);
	for (uint32_t i = 0; i < s->fab->nswitches; i++)
		for (uint32_t lid = 1; lid <= top; lid++)
			all[n++] = (uint8_t)sim_lft(lab_sim(s->lab), s->fab->switches[i], lid);
	*len = n;
	return all;
}

static size_t entries_changed(const struct story *s, const uint8_t *were, size_t len)
{
	size_t n, changed = 0;
	uint8_t *now = tables_of(s, &n);

	assert_int_equal(n, len);
	for (size_t i = 0; i < n; i++)
		changed += now[i] != were[i];
	free(now);
	return changed;
}

static void expect_tables(const struct story *s, const uint8_t *were, size_t len)
{
	assert_int_equal(entries_changed(s, were, len), 0);
}

/* The n-th link between two switches that are not the manager's; its lower port. */
static port_id link_between(const struct story *s, uint32_t n)
{
	const struct fab *f = s->fab;

	for (port_id p = 0;; p = (p + 1) % f->nports) {
		port_id q = f->ports[p].peer;

		if (q != FAB_NONE && p < q && fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[q].node) && !n--)
			return p;
	}
}

static struct sm_round last_round(const struct story *s)
{
	struct sm_status st;

	sm_status(manager(s), &st);
	return st.last;
}

/* ---- one failure ---- */

static const struct fab_gen tree8 = {.kind = "mtree", .dims = {8, 2}, .ndims = 2};

static void one_link(const char *engine)
{
	struct rt_tables *first;
	struct story s;
	uint8_t *were;
	size_t len;
	port_id p;

	begin(&s, tree8, engine);
	assert_ptr_equal(manager(&s)->routes.ref.engine, &rt_tree);
	first = manager(&s)->routes.tables;
	assert_ptr_equal(manager(&s)->routes.ref.tables, first);
	assert_ptr_equal(manager(&s)->routes.ref.fab, sm_fabric(manager(&s)));
	were = tables_of(&s, &len);
	p = link_between(&s, 5);
	sim_uncable(lab_sim(s.lab), p);
	settle(&s);
	/* A leaf has 4 links: this one led up to a fourth of 28 hosts and down to a host, from 8 switches. */
	assert_in_range(entries_changed(&s, were, len), 1, 7 + 8 + 24);
	assert_ptr_equal(manager(&s)->routes.ref.tables, first);
	assert_ptr_not_equal(manager(&s)->routes.tables, first);
	sim_cable(lab_sim(s.lab), p, s.fab->ports[p].peer);
	settle(&s);
	expect_tables(&s, were, len);
	assert_ptr_equal(manager(&s)->routes.ref.tables, manager(&s)->routes.tables);
	assert_int_equal(s.rounds, 0);
	free(were);
	end(&s);
}

TEST(a_link_that_fails_changes_few_entries_and_the_first_tables_come_back)
{
	one_link("tree");
	one_link("auto");
}

/* The first tables were computed without a link: it is used as soon as it comes. */
TEST(a_link_that_the_reference_has_not_is_used_when_it_comes)
{
	struct rt_tables *first;
	struct story s;
	port_id p;
	unsigned uses = 0;

	open_with(&s, tree8, "tree");
	p = link_between(&s, 5);
	lab_power_on(s.lab, NULL);
	sim_uncable(lab_sim(s.lab), p);
	settle(&s);
	first = manager(&s)->routes.ref.tables;
	assert_ptr_equal(manager(&s)->routes.tables, first);
	sim_cable(lab_sim(s.lab), p, s.fab->ports[p].peer);
	settle(&s);
	assert_ptr_equal(manager(&s)->routes.ref.tables, manager(&s)->routes.tables);
	assert_ptr_equal(manager(&s)->routes.ref.fab, sm_fabric(manager(&s)));
	for (uint32_t lid = 1; lid <= fab_top_lid(sm_fabric(manager(&s))); lid++)
		uses += sim_lft(lab_sim(s.lab), s.fab->ports[p].node, lid) == s.fab->ports[p].num;
	assert_true(uses > 0);
	end(&s);
}

/* ---- sequences ---- */

static bool is_own(const struct story *s, node_id n)
{
	const struct fab *f = s->fab;
	node_id own = lab_sm_node(s->lab);

	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		port_id peer = f->ports[fab_port_id(f, n, i)].peer;

		if (peer != FAB_NONE && f->ports[peer].node == own)
			return true;
	}
	return n == own;
}

enum { MOST = 3 };

/* Links and switches fail and return, one or several at once; at last all are back. */
static void wear(struct story *s, struct rng *r, unsigned steps)
{
	struct sim *sim = lab_sim(s->lab);
	port_id cut[MOST] = {0};
	node_id off[MOST] = {0};
	bool down[2][MOST] = {{false}};

	for (unsigned k = 0; k < steps + 1; k++) {
		for (unsigned i = 0; i < MOST; i++) {
			bool link = k < steps && rng_below(r, 3) == 0;
			bool node = k < steps && rng_below(r, 5) == 0;

			if (down[0][i] && !link)
				sim_cable(sim, cut[i], s->fab->ports[cut[i]].peer);
			if (down[1][i] && !node)
				sim_node_power(sim, off[i], true);
			if (!down[0][i] && link) {
				cut[i] = link_between(s, rng_below(r, s->fab->nports));
				link = sim_port_info(sim, cut[i])->phys_state == IBA_PHYS_LINK_UP;
				if (link)
					sim_uncable(sim, cut[i]);
			}
			if (!down[1][i] && node) {
				off[i] = s->fab->switches[rng_below(r, s->fab->nswitches)];
				node = !is_own(s, off[i]) && (!i || off[i] != off[i - 1]) &&
				       (i < 2 || off[i] != off[0]);
				if (node)
					sim_node_power(sim, off[i], false);
			}
			down[0][i] = link;
			down[1][i] = node;
		}
		settle(s);
	}
}

TEST(the_first_tables_are_back_when_all_failures_are_gone)
{
	const struct fab_gen gen[] = {
		{.kind = "mtree", .dims = {4, 3}, .ndims = 2},
		{.kind = "irregular", .dims = {12}, .ndims = 1, .ports = 6, .seed = 3},
		{.kind = "torus", .dims = {3, 4}, .ndims = 2},
		{.kind = "kary", .dims = {3, 2}, .ndims = 2},
		{.kind = "irregular", .dims = {9}, .ndims = 1, .ports = 5, .seed = 9},
	};
	static const char *const engine[] = {"tree", "updn", "updn", "tree", "updn"};
	unsigned rounds = 0;
	struct rng r;

	rng_seed(&r, 16, 0);
	for (unsigned i = 0; i < ARRAY_LEN(gen); i++) {
		struct story s;
		uint8_t *were;
		size_t len;

		begin(&s, gen[i], engine[i]);
		assert_non_null(manager(&s)->routes.ref.engine);
		were = tables_of(&s, &len);
		wear(&s, &r, 8);
		expect_tables(&s, were, len);
		rounds += s.rounds;
		free(were);
		end(&s);
	}
	assert_true(rounds > 0); /* and some of them led over routes from scratch */
}

/* ---- the balance ---- */

/* The second of these failures leaves routes from the reference clearly behind. */
TEST(routes_that_are_a_tenth_worse_than_from_scratch_are_replaced_by_these)
{
	struct story s;
	struct rt_try fresh = {0};
	uint64_t bisection, shifts;
	struct rt_tables *t = NULL;
	struct rt_opts o = {.threads = 1};
	struct err e;

	begin(&s,
	      (struct fab_gen){.kind = "irregular", .dims = {9}, .ndims = 1, .ports = 5, .seed = 9},
	      "updn");
	sim_uncable(lab_sim(s.lab), link_between(&s, 0));
	settle(&s);
	assert_int_equal(s.rounds, 0);
	sim_uncable(lab_sim(s.lab), link_between(&s, 2));
	settle(&s);
	assert_int_equal(s.rounds, 1);
	assert_int_equal(last_round(&s).cause, SM_CAUSE_BALANCE);
	assert_ptr_equal(manager(&s)->routes.ref.tables, manager(&s)->routes.tables);
	assert_int_equal(rt_compute(&rt_updn, sm_fabric(manager(&s)), &o, &t, &e), 0);
	assert_int_equal(
		rt_quick_quality(sm_fabric(manager(&s)), t, 1, &fresh.bisection, &fresh.shifts, &e),
		0);
	assert_int_equal(rt_quick_quality(sm_fabric(manager(&s)), sm_tables(manager(&s)), 1,
					  &bisection, &shifts, &e),
			 0);
	assert_true(bisection == fresh.bisection && shifts == fresh.shifts);
	rt_tables_free(t);
	end(&s);
}

static bool at_once(void *ctx)
{
	++*(unsigned *)ctx;
	return true;
}

/* A failure during a comparison waits for nothing that is outdated. */
TEST(a_comparison_that_another_request_waits_for_ends_without_a_result)
{
	struct story s;
	struct sm_routes r;
	struct sm_work_done done;
	unsigned asked = 0;
	struct rt_before ref;
	struct sm_compute c = {.epoch = 3,
			       .stage = SM_FINAL,
			       .supply = sm_supply_find("tree"),
			       .compare = true,
			       .ref = &ref,
			       .ref_engine = &rt_tree,
			       .stop = at_once,
			       .stop_ctx = &asked};

	begin(&s, tree8, "tree");
	c.fab = sm_fabric(manager(&s));
	c.old = sm_tables(manager(&s));
	ref = (struct rt_before){c.fab, manager(&s)->routes.rank, c.old};
	sm_compute_run(&c, 1, &r, &done);
	assert_true(asked > 0);
	assert_null(r.tables);
	assert_null(done.cost);
	sm_routes_free(&r);
	end(&s);
}

/* A VM was stopped after the reference was made: its column is empty in the switches and stays so (VM trial 950400). */
TEST(lids_that_no_port_has_keep_what_the_switches_hold)
{
	struct story s;
	struct sm_routes r;
	struct sm_work_done done;
	struct rt_tables *with;
	struct rt_before ref;
	rt_turns off = {0};
	struct sm_compute c = {.epoch = 3,
			       .stage = SM_PROVISIONAL,
			       .supply = sm_supply_find("repair"),
			       .engine = &rt_tree,
			       .ref = &ref,
			       .ref_engine = &rt_tree,
			       .off = &off};
	uint32_t lid;

	begin(&s, tree8, "tree");
	c.fab = sm_fabric(manager(&s));
	c.old = sm_tables(manager(&s));
	lid = c.old->top_lid + 1;
	assert_true(lid < c.old->stride);
	with = rt_tables_carry(c.fab, c.old, c.fab);
	for (uint32_t sw = 0; sw < with->nswitches; sw++)
		rt_row(with, sw)[lid] = rt_row(with, sw)[1];
	ref = (struct rt_before){c.fab, manager(&s)->routes.rank, with};
	sm_compute_run(&c, 1, &r, &done);
	assert_true(r.tables && r.verified);
	for (uint32_t sw = 0; sw < with->nswitches; sw++)
		assert_int_equal(rt_row(r.tables, sw)[lid], IBA_PORT_NONE);
	sm_routes_free(&r);
	rt_tables_free(with);
	end(&s);
}

/* ---- settings ---- */

TEST(other_settings_of_routes_end_the_reference)
{
	struct story s;
	struct sm *sm;

	begin(&s, tree8, "tree");
	sm = (struct sm *)(uintptr_t)manager(&s);
	sm_reconfigure(sm, &s.cfg.sm);
	assert_non_null(sm->routes.ref.engine);
	s.cfg.sm.mechanism.routes = sm_supply_find("updn");
	sm_reconfigure(sm, &s.cfg.sm);
	assert_null(sm->routes.ref.engine);
	sim_uncable(lab_sim(s.lab), link_between(&s, 2));
	settle(&s);
	assert_ptr_equal(sm->routes.ref.engine, &rt_updn);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_link_that_fails_changes_few_entries_and_the_first_tables_come_back),
		cmocka_unit_test(a_link_that_the_reference_has_not_is_used_when_it_comes),
		cmocka_unit_test(the_first_tables_are_back_when_all_failures_are_gone),
		cmocka_unit_test(
			routes_that_are_a_tenth_worse_than_from_scratch_are_replaced_by_these),
		cmocka_unit_test(a_comparison_that_another_request_waits_for_ends_without_a_result),
		cmocka_unit_test(lids_that_no_port_has_keep_what_the_switches_hold),
		cmocka_unit_test(other_settings_of_routes_end_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
