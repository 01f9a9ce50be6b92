/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several managers on one simulated fabric: seats, start times, which one leads, a process that is stopped
 * and goes on, parts of a fabric. State: one lab for each test.
 * Covers: manager_host.c, lab.c, connected_parts.c, device_tables.c
 */
#include "unit_test.h"

#include "lab/device_tables.h"
#include "lab/forwarding_scan.h"
#include "lab/lab.h"
#include "lab/route_census.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { SEATS = 4 };

struct bench {
	struct fab *fab;
	struct lab_config cfg;
	struct lab_seat seat[SEATS];
	struct lab *lab;
};

/* A ring with a host at each switch; managers sit on the hosts, manager i on host i. */
static void bench_open(struct bench *b, unsigned managers)
{
	struct fab_gen g = {.kind = "ring", .ndims = 1, .dims = {6}, .hosts = 1, .has_hosts = true};
	unsigned n = 0;
	struct err e;

	memset(b, 0, sizeof(*b));
	b->fab = fab_generate(&g, &e);
	assert_non_null(b->fab);
	lab_config_default(&b->cfg);
	b->cfg.threads = 1;
	b->cfg.sm.contest = b->cfg.sm.read_back = true;
	b->cfg.sm.standby_poll_ps = 5 * PS_PER_MS;
	b->cfg.sm.standby_tries = 2;
	for (node_id h = 0; h < b->fab->nnodes && n < managers; h++)
		if (!fab_is_switch(b->fab, h))
			b->seat[n++] = (struct lab_seat){.node = h, .sm = b->cfg.sm};
	b->cfg.sm_node = b->seat[0].node;
	b->cfg.seats = b->seat + 1;
	b->cfg.nseats = managers - 1;
}

static void bench_start(struct bench *b)
{
	struct err e;

	b->lab = lab_new(b->fab, &b->cfg, &e);
	assert_non_null(b->lab);
	lab_power_on(b->lab, NULL);
}

static void bench_close(struct bench *b)
{
	lab_free(b->lab);
	fab_free(b->fab);
}

static void on_moment(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

static void run_for(struct bench *b, time_ps t)
{
	struct sim *s = lab_sim(b->lab);
	time_ps end = sim_now(s) + t;

	sim_call(s, end, on_moment, NULL, 0);
	lab_run_until(b->lab, end);
}

static unsigned masters(const struct bench *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < lab_managers(b->lab); i++)
		n += lab_manager_is_master(b->lab, i);
	return n;
}

static void expect_all_well(struct bench *b)
{
	struct lab_verdict v;

	lab_judge(b->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
}

TEST(of_four_managers_the_best_leads)
{
	struct bench b;

	bench_open(&b, 4);
	b.seat[2].sm.priority = 9;
	bench_start(&b);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	assert_int_equal(masters(&b), 1);
	assert_true(lab_manager_is_master(b.lab, 2));
	assert_int_equal(lab_sm_node(b.lab), b.seat[2].node);
	expect_all_well(&b);
	bench_close(&b);
}

TEST(a_manager_starts_when_its_seat_says)
{
	struct bench b;

	bench_open(&b, 2);
	b.seat[1].start = 30 * PS_PER_MS;
	bench_start(&b);
	run_for(&b, 29 * PS_PER_MS);
	assert_false(sim_port_info(lab_sim(b.lab), lab_manager_port(b.lab, 1))->cap_mask &
		     IBA_CAP_IS_SM);
	run_for(&b, 2 * PS_PER_MS);
	assert_true(sim_port_info(lab_sim(b.lab), lab_manager_port(b.lab, 1))->cap_mask &
		    IBA_CAP_IS_SM);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	assert_true(lab_manager_is_master(b.lab, 0));
	bench_close(&b);
}

/* It sends nothing while it is stopped; its timers and a bounded number of SMPs come late. */
TEST(a_paused_manager_does_nothing_until_it_continues)
{
	uint64_t sweeps;
	struct bench b;

	bench_open(&b, 1);
	bench_start(&b);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	run_for(&b, 20 * PS_PER_MS);
	lab_manager_pause(b.lab, 0);
	assert_true(lab_manager_paused(b.lab, 0));
	sweeps = lab_status(b.lab)->sweeps;
	sim_node_power(lab_sim(b.lab), b.fab->switches[3], false);
	run_for(&b, 200 * PS_PER_MS);
	assert_int_equal(lab_status(b.lab)->sweeps, sweeps);
	assert_false(lab_manager_is_master(b.lab, 0));
	lab_manager_continue(b.lab, 0);
	assert_true(lab_run_settled(b.lab, sim_now(lab_sim(b.lab)), 10 * PS_PER_S));
	assert_true(lab_status(b.lab)->sweeps > sweeps);
	expect_all_well(&b);
	bench_close(&b);
}

TEST(a_crash_ends_a_pause)
{
	struct bench b;

	bench_open(&b, 1);
	bench_start(&b);
	run_for(&b, PS_PER_MS / 2); /* in the middle of the bring-up */
	lab_manager_pause(b.lab, 0);
	run_for(&b, 10 * PS_PER_MS);
	lab_manager_stop(b.lab, 0);
	assert_false(lab_manager_paused(b.lab, 0));
	lab_manager_continue(b.lab, 0); /* nothing happens */
	lab_manager_start(b.lab, 0, true);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	expect_all_well(&b);
	bench_close(&b);
}

/* The standby takes over; both runs and the verdict follow. */
TEST(the_lead_moves_to_the_next_master)
{
	struct bench b;

	bench_open(&b, 3);
	bench_start(&b);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	assert_true(lab_manager_is_master(b.lab, 0));
	lab_manager_stop(b.lab, 0);
	run_for(&b, 200 * PS_PER_MS);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	assert_int_equal(masters(&b), 1);
	assert_ptr_not_equal(lab_sm(b.lab), NULL);
	expect_all_well(&b);
	bench_close(&b);
}

/* A ring cut at two places has two parts; each has a master, and that is at rest. */
TEST(each_part_may_have_a_master)
{
	struct bench b;
	port_id a, c;
	struct sim *s;

	bench_open(&b, 4);
	bench_start(&b);
	s = lab_sim(b.lab);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	a = lab_manager_port(b.lab, 0);
	c = lab_manager_port(b.lab, 3);
	assert_true(lab_connected(b.lab, a, c));
	for (unsigned k = 0; k < 6; k += 3) /* between switches 0 and 5, and 2 and 3 */
		for (unsigned p = 1; p <= b.fab->nodes[b.fab->switches[k]].nports; p++) {
			port_id at = fab_port_id(b.fab, b.fab->switches[k], p);
			port_id far = b.fab->ports[at].peer;

			if (far != FAB_NONE &&
			    b.fab->ports[far].node == b.fab->switches[(k + 5) % 6])
				sim_uncable(s, at);
		}
	assert_false(lab_connected(b.lab, a, c));
	run_for(&b, 300 * PS_PER_MS);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	assert_int_equal(masters(&b), 2);
	bench_close(&b);
}

/* An HCA does not connect its ports (dual rail). */
TEST(a_host_connects_no_parts)
{
	static const char net[] = "Switch 4 \"S-0000000000000001\"\n[1] \"H-0000000000000010\"[1]\n"
				  "Switch 4 \"S-0000000000000002\"\n[1] \"H-0000000000000010\"[2]\n"
				  "Ca 2 \"H-0000000000000010\"\n"
				  "[1] \"S-0000000000000001\"[1]\n[2] \"S-0000000000000002\"[1]\n";
	struct fab_netlist nl = {0};
	struct lab_config c;
	struct lab *l;
	struct err e;

	assert_int_equal(fab_netlist_parse(&nl, "test", net, sizeof(net) - 1, &e), 0);
	lab_config_default(&c);
	l = lab_new(nl.fab, &c, &e);
	lab_power_on(l, NULL);
	lab_run_until(l, PS_PER_MS);
	assert_false(lab_connected(l, fab_port_id(nl.fab, fab_node_by_guid(nl.fab, 1), 0),
				   fab_port_id(nl.fab, fab_node_by_guid(nl.fab, 2), 0)));
	assert_true(lab_connected(l, fab_port_id(nl.fab, fab_node_by_guid(nl.fab, 1), 0),
				  fab_port_id(nl.fab, fab_node_by_guid(nl.fab, 16), 1)));
	lab_free(l);
	fab_netlist_free(&nl);
}

/* Of a fabric that was never up all entries are new; then none is. */
TEST(entries_that_changed)
{
	struct lab_device_tables t;
	struct bench b;

	bench_open(&b, 1);
	bench_start(&b);
	lab_device_tables_read(b.lab, &t);
	assert_int_equal(lab_device_tables_changed(b.lab, &t), 0);
	assert_true(lab_run_ready(b.lab, PS_PER_S));
	assert_int_equal(lab_device_tables_changed(b.lab, &t), 6 * 12);
	lab_device_tables_free(&t);
	lab_device_tables_read(b.lab, &t);
	assert_int_equal(lab_device_tables_changed(b.lab, &t), 0);
	lab_device_tables_free(&t);
	bench_close(&b);
}

/* By method and attribute as many as by purpose; the manager's CPU processed each response of the discovery. */
TEST(requests_are_counted)
{
	uint64_t purposes = 0, attributes = 0;
	const struct lab_sum *s;
	struct bench b;

	bench_open(&b, 1);
	bench_start(&b);
	assert_true(lab_run_ready(b.lab, PS_PER_S));
	s = lab_sum(b.lab);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		purposes += s->smps[i];
	for (unsigned i = 0; i < LAB_ATTRS; i++)
		attributes += s->requests.get[i] + s->requests.set[i];
	assert_int_equal(attributes, purposes);
	assert_int_equal(s->requests.get[IBA_ATTR_SWITCH_INFO], 6);
	assert_int_equal(s->processing, s->processed * lab_cpu_find("host")->sm_ps);
	assert_true(s->processed >= s->requests.get[IBA_ATTR_NODE_INFO]);
	bench_close(&b);
}

/* Hosts with functions, whatever the manager sees in them: the subnet is right, and slots without a machine are no
 * hosts. */
static void expect_functions_up(enum sm_scheme scheme, unsigned nodes, unsigned lids)
{
	struct fab_gen g = {.kind = "ring", .ndims = 1, .dims = {3}, .hosts = 1, .has_hosts = true};
	struct fab_builder *builder;
	struct fab *plain, *compact;
	struct lab_verdict v;
	struct lab_levels levels;
	struct lab_census census;
	struct bench b = {0};
	struct err e;

	plain = fab_generate(&g, &e);
	builder = fab_builder_from(plain);
	for (node_id n = 0; n < plain->nnodes; n++)
		if (!fab_is_switch(plain, n)) {
			fab_builder_node(builder, n)->sriov = FAB_SRIOV_VSWITCH;
			fab_builder_node(builder, n)->vfs = 3;
		}
	compact = fab_build(builder);
	b.fab = fab_wire(compact, &e);
	assert_non_null(b.fab);
	lab_config_default(&b.cfg);
	b.cfg.threads = 1;
	b.cfg.sm.scheme = scheme;
	bench_start(&b);
	assert_true(b.fab->nodes[lab_sm_node(b.lab)].flags & FAB_VSWITCH);
	assert_true(lab_run_ready(b.lab, 10 * PS_PER_S));
	lab_judge(b.lab, &v);
	if (!v.complete || !v.active || !v.lids_unique || !v.verified || v.unreached)
		fail_msg("%s", v.why);
	assert_int_equal(v.nodes, nodes);
	assert_int_equal(v.lids, lids);
	lab_levels(b.lab, &levels);
	assert_int_equal(levels.connectivity, 1000000);
	assert_int_equal(levels.cyclic, 0);
	lab_census(b.lab, &census);
	assert_int_equal(census.connected, census.pairs);
	bench_close(&b);
	fab_free(compact);
	fab_free(plain);
}

TEST(hosts_with_functions)
{
	expect_functions_up(SM_SCHEME_NONE, 3 + 3 * 5, 3 + 3 * 5); /* switches, vSwitch, PF, VFs */
	expect_functions_up(SM_SCHEME_DYNAMIC, 6, 6);
	expect_functions_up(SM_SCHEME_PREPOPULATED, 6, 6 + 9);
}

/* Each isolated node is a part: a search for each of all nodes would take hours. */
TEST(the_largest_of_many_parts_has_the_manager)
{
	enum { ISOLATED = 150000 };
	struct fab_builder *b = fab_builder_new();
	node_id sw, host;
	struct fab *f;

	for (unsigned i = 0; i < ISOLATED; i++)
		fab_add_node(b, IBA_NODE_CA, 0x1000 + 4 * i, 1, "");
	sw = fab_add_node(b, IBA_NODE_SWITCH, 1, 4, "");
	host = fab_add_node(b, IBA_NODE_CA, 0x100, 1, "");
	assert_int_equal(fab_add_link(b, sw, 1, host, 1), 0);
	f = fab_build(b);
	assert_int_equal(lab_choose_node(f), host);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_four_managers_the_best_leads),
		cmocka_unit_test(a_manager_starts_when_its_seat_says),
		cmocka_unit_test(a_paused_manager_does_nothing_until_it_continues),
		cmocka_unit_test(a_crash_ends_a_pause),
		cmocka_unit_test(the_lead_moves_to_the_next_master),
		cmocka_unit_test(each_part_may_have_a_master),
		cmocka_unit_test(the_largest_of_many_parts_has_the_manager),
		cmocka_unit_test(a_host_connects_no_parts),
		cmocka_unit_test(entries_that_changed),
		cmocka_unit_test(requests_are_counted),
		cmocka_unit_test(hosts_with_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
