/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thesis's example of PIRa (Table 19) as the manager writes it into switches with random
 * forwarding tables: entry by entry, and default ports as DefaultPort. Keeps what the SMPs said;
 * the argument is the directory of the data.
 */
#include "unit_test.h"

#include "example15.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"

enum { LIDS = 15, NODES = 15 };

static const char *dir = "tests/golden";

static struct {
	struct fab *f;
	struct lab *lab;
	unsigned entries, linear;	    /* in Sets */
	unsigned port[NODES][LIDS + 1];	    /* by node and the manager's LID; ~0u: no entry */
	unsigned dflt[NODES], dflts[NODES]; /* the last value set, and the number of Sets */
} ex;

static void take_block(node_id n, const uint8_t *data)
{
	struct iba_rft b;

	iba_rft_get(&b, data, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++) {
		if (!b.valid[i])
			continue;
		assert_in_range(b.lid[i], 1, LIDS);
		assert_int_equal(ex.port[n][b.lid[i]], ~0u);
		ex.port[n][b.lid[i]] = b.port[i];
		ex.entries++;
	}
}

static void seen(void *ctx UNUSED, enum sim_seen what, node_id n, unsigned port UNUSED,
		 const struct sim_smp *smp, unsigned detail UNUSED)
{
	const uint8_t *data = smp ? iba_smp_data_const(smp->mad) : NULL;
	struct iba_switch_info si;

	if (what != SIM_SEEN_RECV || iba_smp_method(smp->mad) != IBA_SET)
		return;
	ex.linear += iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
	if (iba_smp_attr_id(smp->mad) == IBA_ATTR_RFT)
		take_block(n, data);
	if (iba_smp_attr_id(smp->mad) != IBA_ATTR_SWITCH_INFO)
		return;
	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (si.default_port != IBA_PORT_NONE) { /* else it clears PortStateChange */
		ex.dflt[n] = si.default_port;
		ex.dflts[n]++;
	}
}

static const struct sm_inputs inputs = {.roots = "0x100\n"};

static int setup(void **state UNUSED)
{
	uint16_t cap[NODES];
	struct lab_config c;
	struct err e;

	ex.f = example15_load(dir);
	assert_int_equal(ex.f->nnodes, NODES);
	for (node_id n = 0; n < NODES; n++)
		cap[n] = fab_is_switch(ex.f, n) ? 32 : 0;
	memset(ex.port, 0xff, sizeof(ex.port));
	lab_config_default(&c);
	c.sim.random_only = cap;
	c.sm.inputs = &inputs;
	c.sm.mechanism.routes = sm_supply_find("pira");
	ex.lab = lab_new(ex.f, &c, &e);
	assert_non_null(ex.lab);
	sim_watch(lab_sim(ex.lab), (struct sim_watch){seen, NULL});
	lab_power_on(ex.lab, NULL);
	assert_true(lab_run_ready(ex.lab, PS_PER_S));
	return 0;
}

static int teardown(void **state UNUSED)
{
	lab_free(ex.lab);
	fab_free(ex.f);
	return 0;
}

static node_id node_of(unsigned table_lid)
{
	for (node_id n = 0; n < NODES; n++)
		if (ex.f->ports[fab_port_id(ex.f, n, fab_is_switch(ex.f, n) ? 0 : 1)].lid ==
		    table_lid)
			return n;
	fail_msg("no port has LID %u", table_lid);
	return FAB_NONE;
}

/* The LIDs of the table are the thesis's; the manager assigns its own. */
static unsigned lid_given(unsigned table_lid)
{
	node_id n = node_of(table_lid);

	return sim_port_info(lab_sim(ex.lab), fab_port_id(ex.f, n, fab_is_switch(ex.f, n) ? 0 : 1))
		->lid;
}

TEST(the_sets_carry_the_50_entries_of_table_19)
{
	FILE *f = table_open(dir, "table19-pira.csv");
	unsigned rows = 0, v[4];

	for (; table_next(f, 3, v); rows++)
		assert_int_equal(ex.port[node_of(v[0])][lid_given(v[1])], v[2]);
	assert_int_equal(rows, 50);
	assert_int_equal(ex.entries, 50);
	assert_int_equal(ex.linear, 0);
}

/* The root has none: packets without an entry end at its port 0. */
TEST(and_its_7_default_ports)
{
	FILE *f = table_open(dir, "table19-pira-default-ports.csv");
	unsigned rows = 0, v[4], set = 0;

	for (; table_next(f, 2, v); rows++) {
		assert_int_equal(ex.dflt[node_of(v[0])], v[1]);
		assert_int_equal(ex.dflts[node_of(v[0])], 1);
	}
	assert_int_equal(rows, 7);
	for (node_id n = 0; n < NODES; n++)
		set += ex.dflts[n];
	assert_int_equal(set, 8);
	assert_int_equal(ex.dflt[fab_node_by_guid(ex.f, 0x100)], 0);
}

TEST(packets_find_their_way)
{
	struct lab_verdict v;

	lab_judge(ex.lab, &v);
	assert_string_equal(v.why, "");
	assert_true(v.verified && v.active && v.complete);
	rt_report_free(&v.report);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sets_carry_the_50_entries_of_table_19),
		cmocka_unit_test(and_its_7_default_ports),
		cmocka_unit_test(packets_find_their_way),
	};

	dir = argc > 1 ? argv[1] : dir;
	return cmocka_run_group_tests(tests, setup, teardown);
}
