/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change under load: a ring of six switches loses a switch, or gets one, while hosts send. State: one
 * lab for each test.
 * Covers: change.c, change_run.c, each_switch.c, change_trial.c, trial_common.c
 */
#include "unit_test.h"

#include "trial/change_trial.h"
#include "lab/each_switch.h"

static struct fab *ring_of_six(void)
{
	struct fab_gen g = {.kind = "ring", .dims = {6}, .ndims = 1, .width = 1, .speed = FAB_SDR};
	struct err e;
	struct fab *f = fab_generate(&g, &e);

	assert_non_null(f);
	return f;
}

static struct lab_config config(void)
{
	struct lab_config c;

	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("basic");
	c.sim.plane.on = true;
	c.sim.traps = true;
	c.threads = 1;
	return c;
}

static const struct traffic_config traffic = {
	.interval_ps = 5 * PS_PER_US, .payload = 256, .sl_mask = 0xffff, .seed = 3};

static const struct lab_change_plan plan = {
	.traffic = &traffic, .warmup = PS_PER_MS, .tail = PS_PER_MS / 2, .limit = PS_PER_S * 10};

static time_ps on_at;

/* The third switch is removed, or added. */
static void run(bool comes, const struct lab_change_plan *how, struct lab_change_result *r)
{
	struct fab *f = ring_of_six(), *without;
	bool *gone = mem_zarray(f->nnodes, sizeof(*gone));
	struct lab_change_plan p = *how;
	struct lab_config c = config();
	struct lab_change *change;
	struct lab *l;
	struct err e;

	gone[f->switches[3]] = true;
	without = lab_without(f, gone);
	change = comes ? lab_change_new(without, f, &e) : lab_change_new(f, without, &e);
	assert_non_null(change);
	c.sim.plane.on = p.traffic;
	c.on_at = on_at;
	c.sm_node = lab_change_sm(change);
	l = lab_new(lab_change_fab(change), &c, &e);
	assert_non_null(l);
	p.change = change;
	assert_int_equal(lab_change_run(l, &p, r, &e), 0);
	assert_true(r->settled && r->v.active && r->v.verified && r->v.complete);
	lab_free(l);
	lab_change_free(change);
	fab_free(without);
	fab_free(f);
	free(gone);
}

static uint64_t sum_of(const struct lab_change_result *r)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		n += r->discarded[i];
	return n;
}

TEST(a_switch_is_removed_under_load)
{
	struct lab_change_result r;

	run(false, &plan, &r);
	assert_true(r.traffic_at + PS_PER_MS == r.changed_at && r.changed_at < r.settled_at);
	assert_int_equal(r.ended_at, r.settled_at + PS_PER_MS / 2);
	/* Its host and its neighbours send to a dead port; then the manager stops all ports. */
	assert_true(r.discarded[SIM_DISCARD_INACTIVE_PORT] > 0);
	assert_true(r.discarded[SIM_DISCARD_DEACTIVATED_PORT] > 0);
	assert_true(r.discarded[SIM_DISCARD_UNROUTABLE] > 0); /* to the host that was removed */
	assert_int_equal(r.discarded[SIM_DISCARD_BUFFER], 0);
	assert_int_equal(r.lost, sum_of(&r));
	assert_true(r.conserved);
	assert_int_equal(r.in_flight_before + r.sent, r.received + r.lost + r.in_flight);
	assert_int_equal(r.watch.connectivity_min, 0);
	assert_int_equal(r.watch.now.connectivity, 1000000);
	assert_int_equal(r.watch.unsafe_at, TIME_NEVER);
	assert_int_equal(r.lids_moved, 0);
	/* Detection, discovery, computation, distribution: the final tables are in place before the end. */
	assert_true(r.sum.in_place[SM_FINAL] > r.sum.first_start &&
		    r.sum.in_place[SM_FINAL] < r.sum.last_end);
	assert_int_equal(r.sum.in_place[SM_PROVISIONAL], 0);
	lab_change_result_free(&r);
}

/* The host at the new switch counts only once it has a LID, and receives packets then.
 */
TEST(a_switch_is_added_under_load)
{
	struct lab_change_result r;

	run(true, &plan, &r);
	assert_int_equal(r.discarded[SIM_DISCARD_INACTIVE_PORT], 0);
	assert_true(r.discarded[SIM_DISCARD_DEACTIVATED_PORT] > 0);
	assert_true(r.conserved);
	assert_int_equal(r.watch.now.pairs, 30); /* six hosts */
	assert_int_equal(r.watch.now.connected, 30);
	lab_change_result_free(&r);
}

TEST(without_traffic_no_packets_are_counted)
{
	struct lab_change_plan p = plan;
	struct lab_change_result r;

	p.traffic = NULL;
	run(false, &p, &r);
	assert_int_equal(r.traffic_at, 0);
	assert_int_equal(r.ended_at, r.settled_at);
	assert_int_equal(r.sent + r.lost + r.watch.looks, 0);
	assert_true(r.sum.rounds >= 1);
	lab_change_result_free(&r);
}

/* Half-way between two sweeps: with sweeps alone, detection takes half a period. */
TEST(the_change_comes_between_two_sweeps)
{
	struct fab *f = ring_of_six();
	bool *gone = mem_zarray(f->nnodes, sizeof(*gone));
	struct lab_change_plan p = {.limit = 10 * PS_PER_S};
	struct lab_config c = config();
	struct lab_change_result r;
	struct lab_change *change;
	struct fab *without;
	struct lab *l;
	struct err e;

	gone[f->switches[3]] = true;
	without = lab_without(f, gone);
	change = lab_change_new(f, without, &e);
	c.sim.traps = c.sim.plane.on = false;
	c.sm.sweep_factor = 0;
	c.sm.sweep_period_ps = 10 * PS_PER_MS;
	l = lab_new(lab_change_fab(change), &c, &e);
	p.change = change;
	assert_int_equal(lab_change_run(l, &p, &r, &e), 0);
	assert_true(r.sum.first_start - r.changed_at > 5 * PS_PER_MS - 100 * PS_PER_US);
	assert_true(r.sum.first_start - r.changed_at < 5 * PS_PER_MS + PS_PER_MS);
	lab_free(l);
	lab_change_result_free(&r);
	lab_change_free(change);
	fab_free(without);
	fab_free(f);
	free(gone);
}

/* Thesis 4.4.4: nodes on, traffic and change at given moments. */
TEST(moments_of_a_run_can_be_given)
{
	struct lab_change_plan p = plan;
	struct lab_change_result r;

	on_at = 200 * PS_PER_MS;
	p.traffic_at = 3000 * PS_PER_MS;
	p.change_at = 3001 * PS_PER_MS;
	run(false, &p, &r);
	assert_true(r.settled && r.sweep && r.events);
	assert_true(r.up.first_start >= on_at);
	assert_int_equal(r.traffic_at, p.traffic_at);
	assert_int_equal(r.changed_at, p.change_at);
	assert_true(r.thesis.discarded && r.thesis.discarded <= r.lost);
	assert_int_equal(r.thesis.final, r.thesis.assimilation); /* nothing provisional */
	lab_change_result_free(&r);
	on_at = 0;
}

TEST(series_cover_the_run)
{
	struct lab_change_plan p = plan;
	struct lab_change_result r;
	uint64_t made = 0, lost = 0;

	p.period = 50 * PS_PER_US;
	run(false, &p, &r);
	assert_true(r.series.samples.n >= 30);
	for (size_t i = 0; i < r.series.samples.n; i++) {
		made += r.series.samples.at[i].generated;
		lost += r.series.samples.at[i].discarded;
	}
	assert_true(made > r.sent); /* the warm-up too */
	assert_true(lost >= r.lost - r.lost / 10 && lost <= r.lost);
	lab_change_result_free(&r);
}

/* Entries are sent as they are computed: the last cannot be in place before FERa has finished. */
TEST(final_tables_wait_for_their_computation)
{
	struct fab *f = ring_of_six();
	struct lab_config lc = config();
	struct lab_change_plan p = {.limit = 100 * PS_PER_S};
	struct lab_each_config c = {.fab = f, .lab = &lc, .plan = &p, .sample = 1, .threads = 1};
	struct sm_work_done fera = {.cost = &rt_fera.cost, .searched = 5};
	const struct lab_sum *sum;
	struct lab_each all;
	struct err e;

	lc.sim.plane.on = false;
	lc.cpu = lab_cpu_find("thesis");
	lc.sm.mechanism = *sm_mechanism_find("improved");
	assert_int_equal(lab_each_switch(&c, &all, &e), 0);
	sum = &all.runs.at[0].r.sum;
	f->nnodes -= 2; /* the size that the CPU model uses */
	f->nswitches--;
	assert_true(sum->in_place[SM_PROVISIONAL] > 0);
	assert_true(sum->in_place[SM_FINAL] - sum->in_place[SM_PROVISIONAL] >=
		    lc.cpu->route_ps(f, &fera));
	f->nnodes += 2;
	f->nswitches++;
	lab_each_free(&all);
	fab_free(f);
}

/* ---- each switch ---- */

static void each(bool activation, unsigned threads, struct lab_each *all)
{
	struct fab *f = ring_of_six();
	struct lab_config lc = config();
	struct lab_each_config c = {
		.fab = f, .lab = &lc, .plan = &plan, .activation = activation, .threads = threads};
	struct err e;

	assert_int_equal(lab_each_switch(&c, all, &e), 0);
	assert_int_equal(all->runs.n, 5);
	assert_int_equal(all->failed, 0);
	fab_free(f);
}

TEST(every_switch_except_the_managers_has_a_run)
{
	struct lab_each one, two;

	for (int activation = 0; activation < 2; activation++) {
		each(activation, 1, &one);
		each(activation, 2, &two);
		for (unsigned i = 0; i < 5; i++) {
			assert_int_equal(one.runs.at[i].sw, two.runs.at[i].sw);
			assert_int_equal(one.runs.at[i].r.hash, two.runs.at[i].r.hash);
			assert_int_equal(one.runs.at[i].r.lost, two.runs.at[i].r.lost);
			assert_true(one.runs.at[i].r.lost > 0);
			assert_true(!i || one.runs.at[i].r.hash != one.runs.at[i - 1].r.hash);
		}
		lab_each_free(&one);
		lab_each_free(&two);
	}
}

/* Two of five switches, at one and three quarters of the list, with the same runs as for all. */
TEST(a_sample_has_that_many_runs)
{
	struct fab *f = ring_of_six();
	struct lab_config lc = config();
	struct lab_each_config c = {.fab = f, .lab = &lc, .plan = &plan, .sample = 2, .threads = 1};
	struct lab_each all, two;
	struct err e;

	each(false, 2, &all);
	assert_int_equal(lab_each_switch(&c, &two, &e), 0);
	assert_int_equal(two.runs.n, 2);
	assert_int_equal(two.runs.at[0].r.hash, all.runs.at[1].r.hash);
	assert_int_equal(two.runs.at[1].r.hash, all.runs.at[3].r.hash);
	lab_each_free(&all);
	lab_each_free(&two);
	fab_free(f);
}

TEST(a_spread_sample_has_no_number_twice)
{
	assert_int_equal(lab_spread(0, 1, 9), 4); /* the middle one */
	for (size_t many = 1; many <= 9; many++)
		for (size_t i = 0; i < many; i++) {
			assert_true(lab_spread(i, many, 9) < 9);
			assert_true(!i || lab_spread(i, many, 9) > lab_spread(i - 1, many, 9));
		}
}

TEST(the_managers_switch_is_at_its_port)
{
	struct fab *f = ring_of_six();

	assert_int_equal(lab_sm_switch(f, FAB_NONE), FAB_NONE);
	assert_int_equal(lab_sm_switch(f, f->switches[2]), f->switches[2]);
	for (node_id n = 0; n < f->nnodes; n++)
		if (!fab_is_switch(f, n))
			assert_true(fab_is_switch(f, lab_sm_switch(f, n)));
	fab_free(f);
}

TEST(a_fabric_with_one_switch_is_refused)
{
	struct lab_config lc = config();
	struct lab_each_config c = {.lab = &lc, .plan = &plan, .threads = 1};
	struct fab_builder *b = fab_builder_new();
	struct lab_each all;
	struct fab *f;
	struct err e;

	node_id sw = fab_add_node(b, IBA_NODE_SWITCH, 0x10, 4, "s");

	fab_add_link(b, sw, 1, fab_add_node(b, IBA_NODE_CA, 0x20, 1, "h"), 1);
	f = fab_build(b);
	c.fab = f;
	assert_int_equal(lab_each_switch(&c, &all, &e), -EINVAL);
	assert_non_null(strstr(e.text, "no switch besides"));
	lab_each_free(&all);
	fab_free(f);
}

/* ---- trials ---- */

/*
 * Old and new directions of this fabric differ after the failure, so that turns in use had to be disabled for final
 * routes: for 16 ms a fifth of the pairs had no route, and 4,143 packets were lost.
 */
TEST(final_routes_over_new_directions_cut_no_host_off)
{
	struct fab_gen g = {.kind = "irregular",
			    .dims = {16},
			    .ndims = 1,
			    .ports = 4,
			    .hosts = 14,
			    .has_hosts = true,
			    .seed = 1,
			    .width = 1,
			    .speed = FAB_SDR};
	struct traffic_config load = traffic;
	struct lab_change_plan p = plan;
	struct lab_config c = config();
	struct lab_change_result r;
	struct lab_change *change;
	struct fab *f, *without;
	bool *gone;
	struct lab *l;
	struct err e;

	f = fab_generate(&g, &e);
	assert_non_null(f);
	gone = mem_zarray(f->nnodes, sizeof(*gone));
	gone[fab_node_by_guid(f, 0x2000000000006)] = true;
	without = lab_without(f, gone);
	load.interval_ps = 8750 * PS_PER_NS;
	c.sm.mechanism = *sm_mechanism_find("weft");
	p.traffic = &load;
	p.change = change = lab_change_new(f, without, &e);
	c.sm_node = lab_change_sm(change);
	l = lab_new(lab_change_fab(change), &c, &e);
	assert_int_equal(lab_change_run(l, &p, &r, &e), 0);
	assert_true(r.settled && r.v.active && r.v.verified && r.v.complete);
	assert_true(r.watch.below < PS_PER_MS);
	assert_true(r.discarded[SIM_DISCARD_UNMAPPABLE] < 20);
	assert_int_equal(r.watch.unsafe_at, TIME_NEVER);
	lab_change_result_free(&r);
	lab_free(l);
	lab_change_free(change);
	fab_free(without);
	fab_free(f);
	free(gone);
}

TEST(a_trial_uses_the_given_mechanism)
{
	struct change_trial a, b;

	change_trial_run(5, 8, sm_mechanism_find("basic"), &a);
	change_trial_run(5, 8, sm_mechanism_find("weft"), &b);
	if (!a.ok || !b.ok)
		fail_msg("%s %s", a.why, b.why);
	assert_true(a.changes > 0 && a.packets > 0 && a.looks > 10);
	assert_true(a.switches >= 4 && a.switches <= 8);
	assert_true(a.smps > b.smps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_is_removed_under_load),
		cmocka_unit_test(a_switch_is_added_under_load),
		cmocka_unit_test(without_traffic_no_packets_are_counted),
		cmocka_unit_test(the_change_comes_between_two_sweeps),
		cmocka_unit_test(moments_of_a_run_can_be_given),
		cmocka_unit_test(series_cover_the_run),
		cmocka_unit_test(every_switch_except_the_managers_has_a_run),
		cmocka_unit_test(final_tables_wait_for_their_computation),
		cmocka_unit_test(a_sample_has_that_many_runs),
		cmocka_unit_test(a_spread_sample_has_no_number_twice),
		cmocka_unit_test(the_managers_switch_is_at_its_port),
		cmocka_unit_test(a_fabric_with_one_switch_is_refused),
		cmocka_unit_test(final_routes_over_new_directions_cut_no_host_off),
		cmocka_unit_test(a_trial_uses_the_given_mechanism),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
