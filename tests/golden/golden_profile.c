/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager as the thesis's: on its 8-switch subnet (Fig. 76) each switch goes, or comes, and the SMPs of all
 * seven runs have the sums and the sums of squares that follow from mean and standard deviation in Tables 17 and
 * 24. And as OpenSM of 2005: on fat trees it sends the SMPs of a published model. State: none; each run has its own
 * lab.
 * Covers: thesis_terms.c, link_settings.c, cpu_model.c
 */
#include "unit_test.h"

#include "experiment/fattree_model.h"
#include "fabric/fabric.h"
#include "lab/each_switch.h"

#include <math.h>

static struct fab *subnet(void)
{
	struct fab_netlist n = {0};
	struct fab *f;
	struct err e;

	if (fab_netlist_load(&n, GOLDEN "/example15-routing.net", &e))
		fail_msg("%s", e.text);
	f = n.fab;
	n.fab = NULL;
	fab_netlist_free(&n);
	return f;
}

/* What profile_opts.c makes of --profile thesis, without its moments. */
static struct lab_config as_thesis(const struct fab *f, const char *discovery,
				   const char *distribution)
{
	struct lab_config c;

	lab_config_default(&c);
	c.cpu = lab_cpu_find("thesis");
	c.sm.mechanism = *sm_mechanism_find("basic");
	c.sm.mechanism.discovery = sm_discovery_find(discovery);
	c.sm.mechanism.first = sm_technique_find(distribution);
	c.sm.lft_entries = 1024;
	c.sm.ties = RT_TIES_FIRST;
	c.sm.drain_ps = 0;
	c.sm.subnet_timeout = 12;
	c.sm.one_set = c.sim.no_armed = true;
	c.sm.reassign = c.sm.link_sets = c.sm.default_port = c.sm.by_switch = c.sm.links_first =
		true;
	c.sm_node = fab_node_by_guid(f, 0x100);
	c.threads = 1;
	return c;
}

struct sums {
	uint64_t discovery, discovery_sq, distribution, distribution_sq, blocks;
};

static struct sums each(const char *discovery, const char *distribution, bool activation)
{
	struct fab *f = subnet();
	struct lab_config lc = as_thesis(f, discovery, distribution);
	struct lab_change_plan p = {.limit = 100 * PS_PER_S};
	struct lab_each_config c = {
		.fab = f, .lab = &lc, .plan = &p, .activation = activation, .threads = 1};
	struct sums s = {0};
	struct lab_each all;
	struct err e;

	assert_int_equal(lab_each_switch(&c, &all, &e), 0);
	assert_int_equal(all.failed, 0);
	assert_int_equal(all.runs.n, 7);
	for (size_t i = 0; i < all.runs.n; i++) {
		const struct lab_thesis *t = &all.runs.at[i].r.thesis;

		s.discovery += t->discovery_smps;
		s.discovery_sq += t->discovery_smps * t->discovery_smps;
		s.distribution += t->distribution_smps;
		s.distribution_sq += t->distribution_smps * t->distribution_smps;
		s.blocks += t->table_smps;
		assert_int_equal(t->deactivation_smps + t->table_smps + t->activation_smps,
				 t->distribution_smps);
		assert_true(t->assimilation >= t->discovery + t->distribution);
	}
	lab_each_free(&all);
	fab_free(f);
	return s;
}

/* Table 24: 157.71 with standard deviation 15.69, 107.43 with 11.20. */
TEST(a_switch_goes)
{
	struct sums s = each("partial", "full", false);

	assert_int_equal(s.distribution, 1104);
	assert_int_equal(s.distribution_sq, 175840);
	s = each("partial", "none", false);
	assert_int_equal(s.distribution, 752);
	assert_int_equal(s.distribution_sq, 81664);
	assert_int_equal(s.blocks, 752);
}

/* 203.43 with 5.83, 153.142 with 10.19: a Set for each pair of ports that was not in use before, too. */
TEST(a_switch_comes)
{
	struct sums s = each("partial", "full", true);

	assert_int_equal(s.distribution, 1424);
	assert_int_equal(s.distribution_sq, 289920);
	s = each("partial", "none", true);
	assert_int_equal(s.distribution, 1072);
	assert_int_equal(s.distribution_sq, 164896);
}

/* Table 17: partial discovery of a switch that goes, 18.57 with 4.44. */
TEST(partial_discovery)
{
	struct sums s = each("partial", "full", false);

	assert_int_equal(s.discovery, 130);
	assert_int_equal(s.discovery_sq, 2552);
}

/* A full discovery assigns LIDs in its own order: they move where an earlier device is missing. */
TEST(full_discovery_assigns_lids_again)
{
	struct fab *f = subnet();
	struct lab_config lc = as_thesis(f, "full", "full");
	struct lab_change_plan p = {.limit = 100 * PS_PER_S};
	struct lab_each_config c = {.fab = f, .lab = &lc, .plan = &p, .threads = 1};
	struct lab_each all;
	struct err e;
	uint64_t changed = 0;
	uint32_t moved = 0;

	for (int reassign = 1; reassign >= 0; reassign--) {
		lc.sm.reassign = reassign;
		assert_int_equal(lab_each_switch(&c, &all, &e), 0);
		assert_int_equal(all.failed, 0);
		for (size_t i = 0; i < all.runs.n; i++) {
			moved += all.runs.at[i].r.lids_moved;
			changed += all.runs.at[i].r.entries_changed;
		}
		assert_int_equal(moved > 0, reassign);
		/* Of 596 entries (report, Fig. 8(b)): the others lead where they led, though LIDs move. */
		assert_int_equal(changed, reassign ? 354 : 145);
		moved = 0;
		changed = 0;
		lab_each_free(&all);
	}
	fab_free(f);
}

/* ---- OpenSM of 2005 ---- */

static struct lab_sum bring_up(unsigned m, unsigned n)
{
	struct fab_gen g = {.kind = "mtree", .ndims = 2, .dims = {m, n}};
	struct lab_config c;
	struct lab_sum sum;
	struct fab *f;
	struct lab *l;
	struct err e;

	f = fab_generate(&g, &e);
	assert_non_null(f);
	/* What profile_opts.c makes of --profile opensm2005. */
	lab_config_default(&c);
	c.cpu = lab_cpu_find("opensm2005");
	c.sm.mechanism = *sm_mechanism_find("basic");
	c.sm.explore = SM_EXPLORE_BFS;
	c.sm.window = 1;
	c.sm.each_port = c.sm.by_switch = true;
	c.threads = 1;
	l = lab_new(f, &c, &e);
	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, 1000 * PS_PER_S));
	sum = *lab_sum(l);
	lab_free(l);
	fab_free(f);
	return sum;
}

static double ms(time_ps t)
{
	return (double)t / (double)PS_PER_MS;
}

/*
 * Equation 3 counts a Get(NodeInfo) for each port and leaves out the first one, to the local node; it leaves out
 * ports 0 of switches as well. Tables go in blocks of 64 LIDs.
 */
TEST(opensm_2005_sends_the_smps_of_the_model)
{
	static const unsigned trees[][2] = {{8, 1}, {4, 2}, {8, 2}, {8, 3}, {24, 2}};

	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		struct lab_sum s = bring_up(trees[i][0], trees[i][1]);
		struct fattree_model f;
		struct err e;

		assert_int_equal(
			fattree_model(trees[i][0], trees[i][1], 2048, &fattree_table1, &f, &e), 0);
		fattree_model_read(&f, "blocks");
		assert_int_equal(s.requests.get[IBA_ATTR_NODE_INFO], f.get_node_info + 1);
		assert_int_equal(s.requests.get[IBA_ATTR_PORT_INFO], f.get_port_info + f.switches);
		assert_int_equal(s.requests.set[IBA_ATTR_LFT], f.set_lft);
	}
}

/* What the paper measured: 10.82, 82.1 and 0.38 ms with one switch; 22.4, 83.11 and 2.32 ms with six. */
TEST(opensm_2005_takes_as_long_as_was_measured)
{
	static const double measured[][3] = {{10.82, 82.1, 0.38}, {22.4, 83.11, 2.32}};
	static const unsigned trees[][2] = {{8, 1}, {4, 2}};

	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		struct lab_sum s = bring_up(trees[i][0], trees[i][1]);

		assert_true(fabs(ms(s.time[SM_DISCOVER]) / measured[i][0] - 1) < 0.1);
		assert_true(fabs(ms(s.time[SM_COMPUTE]) / measured[i][1] - 1) < 0.1);
		assert_true(fabs(ms(s.time[SM_TABLES]) / measured[i][2] - 1) < 0.1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_goes),
		cmocka_unit_test(a_switch_comes),
		cmocka_unit_test(partial_discovery),
		cmocka_unit_test(full_discovery_assigns_lids_again),
		cmocka_unit_test(opensm_2005_sends_the_smps_of_the_model),
		cmocka_unit_test(opensm_2005_takes_as_long_as_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
