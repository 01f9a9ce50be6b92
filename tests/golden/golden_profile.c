/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager as the thesis's: on its 8-switch subnet (Fig. 76) each switch goes, or comes, and the SMPs of all
 * seven runs have the sums and the sums of squares that follow from mean and standard deviation in Tables 17 and
 * 24. State: none; each run has its own lab.
 * Covers: thesis_terms.c, link_settings.c
 */
#include "unit_test.h"

#include "fabric/fabric.h"
#include "lab/each_switch.h"

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
	uint32_t moved = 0;

	for (int reassign = 1; reassign >= 0; reassign--) {
		lc.sm.reassign = reassign;
		assert_int_equal(lab_each_switch(&c, &all, &e), 0);
		assert_int_equal(all.failed, 0);
		for (size_t i = 0; i < all.runs.n; i++)
			moved += all.runs.at[i].r.lids_moved;
		assert_int_equal(moved > 0, reassign);
		moved = 0;
		lab_each_free(&all);
	}
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_goes),
		cmocka_unit_test(a_switch_comes),
		cmocka_unit_test(partial_discovery),
		cmocka_unit_test(full_discovery_assigns_lids_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
