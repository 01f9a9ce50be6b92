/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Discovery of odd fabrics, with every mechanism: hosts with several ports, also as the manager's own; chains
 * beyond 63 hops; odd fabrics by seed, with the manager in any seat. State: struct world.
 * Covers: full_discovery.c, smp_paths.c, nodes.c, snapshot.c, subnet.c, verdict.c
 */
#include "fabric_fixture.h"

#include "base/rng.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

static const char *const mechanisms[] = {"basic", "improved", "improved+partial", "improved+traps",
					 "weft"};

struct world {
	struct fab *fab;
	struct lab *lab;
	const char *mechanism;
	uint64_t seed;
};

static void judge(const struct world *w)
{
	struct lab_verdict v;

	lab_judge(w->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s, seed %llu: %s", w->mechanism, (unsigned long long)w->seed, v.why);
	rt_report_free(&v.report);
}

static void settle(struct world *w)
{
	time_ps now = sim_now(lab_sim(w->lab));

	if (!lab_run_settled(w->lab, now + 50 * PS_PER_MS, now + 60 * PS_PER_S))
		fail_msg("%s, seed %llu: does not come to rest", w->mechanism,
			 (unsigned long long)w->seed);
	judge(w);
}

static struct world open_world(struct fab *f, node_id seat, const char *mechanism, uint64_t seed)
{
	struct world w = {.fab = f, .mechanism = mechanism, .seed = seed};
	struct lab_config c;
	struct err e;

	lab_config_default(&c);
	c.threads = 1;
	c.sm_node = seat;
	c.sm.mechanism = *sm_mechanism_find(mechanism);
	c.sm.sweep_factor = 0;
	c.sm.sweep_period_ps = 20 * PS_PER_MS;
	w.lab = lab_new(f, &c, &e);
	lab_power_on(w.lab, NULL);
	settle(&w);
	return w;
}

/* Takes the cable of a port away, and puts it back. */
static void bounce(struct world *w, port_id p)
{
	sim_uncable(lab_sim(w->lab), p);
	settle(w);
	sim_cable(lab_sim(w->lab), p, w->fab->ports[p].peer);
	settle(w);
}

/* ---- a host with two ports ---- */

/* Host 2 has port 1 at switch 0 and port 2 at switch `second`; hosts 3 and 4 at switches 0 and 1. */
static struct fab *two_ports(unsigned second)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[2], dual;

	for (unsigned i = 0; i < 2; i++)
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x100 + i, 5, "");
	dual = fab_add_node(b, IBA_NODE_CA, 0x200, 2, "");
	fab_add_link(b, sw[0], 1, sw[1], 1);
	fab_add_link(b, sw[0], 2, dual, 1);
	fab_add_link(b, sw[second], 3, dual, 2);
	for (unsigned i = 0; i < 2; i++)
		fab_add_link(b, sw[i], 4, fab_add_node(b, IBA_NODE_CA, 0x300 + 16 * i, 1, ""), 1);
	return fab_build(b);
}

TEST(both_ports_of_a_host_in_one_subnet)
{
	for (size_t m = 0; m < ARRAY_LEN(mechanisms); m++)
		for (unsigned second = 0; second < 2; second++)
			for (node_id seat = 0; seat < 5; seat++) {
				struct fab *f = two_ports(second);
				struct world w = open_world(f, seat, mechanisms[m], seat);

				assert_int_equal(lab_status(w.lab)->lids, 6);
				bounce(&w, fab_port_id(f, 2, 2));
				bounce(&w, fab_port_id(f, 0, 1));
				if (seat != 2) /* else all is gone meanwhile */
					bounce(&w, fab_port_id(f, 2, 1));
				lab_free(w.lab);
				fab_free(f);
			}
}

/* ---- beyond 63 hops ---- */

static struct fab *chain(unsigned n)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < n; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x1000 + i, 3, "");
	for (unsigned i = 1; i < n; i++)
		fab_add_link(b, i - 1, 2, i, 1);
	fab_add_link(b, 0, 3, fab_add_node(b, IBA_NODE_CA, 0x10, 1, ""), 1);
	fab_add_link(b, n - 1, 3, fab_add_node(b, IBA_NODE_CA, 0x20, 1, ""), 1);
	return fab_build(b);
}

TEST(chains_beyond_63_hops)
{
	static const unsigned lengths[] = {62, 63, 64, 130, 200};

	for (size_t m = 0; m < ARRAY_LEN(mechanisms); m++)
		for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
			struct fab *f = chain(lengths[i]);
			struct world w = open_world(f, lengths[i], mechanisms[m], lengths[i]);

			assert_int_equal(lab_status(w.lab)->nodes, lengths[i] + 2);
			bounce(&w, fab_port_id(f, lengths[i] - 1, 1));
			bounce(&w, fab_port_id(f, 40, 2));
			lab_free(w.lab);
			fab_free(f);
		}
}

/* ---- by seed ---- */

static void random_change(struct world *w, struct rng *r)
{
	port_id p = rng_below(r, w->fab->nports);
	node_id n = rng_below(r, w->fab->nnodes);

	if (rng_below(r, 2)) {
		if (w->fab->ports[p].peer != FAB_NONE)
			bounce(w, p);
	} else if (n != lab_sm_node(w->lab)) {
		sim_node_power(lab_sim(w->lab), n, false);
		settle(w);
		sim_node_power(lab_sim(w->lab), n, true);
		settle(w);
	}
}

TEST(odd_fabrics_with_the_manager_in_any_seat)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct fab *f = fabric_make((struct fab_gen){.kind = "odd", .seed = seed});
		struct rng r;
		struct world w;

		rng_seed(&r, seed, 1);
		w = open_world(f, rng_below(&r, f->nnodes), mechanisms[seed % 5], seed);
		for (unsigned i = 0; i < 4; i++)
			random_change(&w, &r);
		lab_free(w.lab);
		fab_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ports_of_a_host_in_one_subnet),
		cmocka_unit_test(chains_beyond_63_hops),
		cmocka_unit_test(odd_fabrics_with_the_manager_in_any_seat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
