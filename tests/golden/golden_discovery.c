/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Full discovery against the thesis: the 15-node subnet of Fig. 67 takes exactly 97 SMPs, among them
 * those of Table 12; after Fig. 68's three nodes appear, 123 with the sweep. State: the SMPs seen on
 * the simulated wire.
 */
#include "unit_test.h"

#include "lab/change.h"
#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct seen {
	char method[16], attribute[24];
	int modifier; /* -1: n/a */
	char path[64];
	bool matched;
};

struct world {
	struct fab_netlist net;
	struct lab *lab;
	VEC(struct seen) smps;
	bool record;
};

static void path_text(const uint8_t *mad, char *out, size_t size)
{
	unsigned n = iba_smp_hop_cnt(mad);
	size_t at = (size_t)snprintf(out, size, n ? "(" : "( )");

	for (unsigned i = 1; i <= n; i++)
		at += (size_t)snprintf(out + at, size - at, "%u%s",
				       iba_smp_initial_path((uint8_t *)mad)[i], i == n ? ")" : ",");
}

/* Every request the SM's node sends. */
static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct world *w = ctx;
	struct seen s = {.modifier = -1};
	unsigned attr;

	(void)port;
	(void)detail;
	if (!w->record || what != SIM_SEEN_SEND || n != lab_sm_node(w->lab) ||
	    iba_smp_method(smp->mad) == IBA_GET_RESP)
		return;
	attr = iba_smp_attr_id(smp->mad);
	snprintf(s.method, sizeof(s.method), "%s", iba_method_name(iba_smp_method(smp->mad)));
	snprintf(s.attribute, sizeof(s.attribute), "%s", iba_attr_name(attr));
	if (attr == IBA_ATTR_PORT_INFO)
		s.modifier = (int)iba_smp_attr_mod(smp->mad);
	path_text(smp->mad, s.path, sizeof(s.path));
	vec_push(&w->smps, s);
}

static void world_open(struct world *w, const struct fab *f, const struct lab_config *c,
		       const bool *on)
{
	struct err e;

	w->lab = lab_new(f, c, &e);
	assert_non_null(w->lab);
	sim_watch(lab_sim(w->lab), (struct sim_watch){on_seen, w});
	w->record = true;
	lab_power_on(w->lab, on);
}

static void load(struct fab_netlist *n, const char *name)
{
	char path[512];
	struct err e;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN, name);
	if (fab_netlist_load(n, path, &e))
		fail_msg("%s", e.text);
	assert_int_equal(n->warnings.n, 0);
}

/* One field of a CSV line, quotes taken off. */
static const char *csv_field(const char *p, char *out, size_t size)
{
	bool quoted = *p == '"';
	size_t n = 0;

	for (p += quoted; *p && *p != '\n' && *p != '\r' && (quoted ? *p != '"' : *p != ','); p++)
		if (n + 1 < size)
			out[n++] = *p;
	out[n] = 0;
	p += *p == '"';
	return p + (*p == ',');
}

static void check_row(struct world *w, const char *line)
{
	char tid[16], method[16], attribute[24], modifier[8], components[128], path[64];
	int mod;

	line = csv_field(line, tid, sizeof(tid));
	line = csv_field(line, method, sizeof(method));
	line = csv_field(line, attribute, sizeof(attribute));
	line = csv_field(line, modifier, sizeof(modifier));
	line = csv_field(line, components, sizeof(components));
	csv_field(line, path, sizeof(path));
	mod = strcmp(modifier, "n/a") ? atoi(modifier) : -1;
	for (size_t i = 0; i < w->smps.n; i++) {
		struct seen *s = &w->smps.at[i];

		if (!s->matched && !strcmp(s->method, method) && !strcmp(s->attribute, attribute) &&
		    s->modifier == mod && !strcmp(s->path, path)) {
			s->matched = true;
			return;
		}
	}
	fail_msg("Table 12, transaction %s: %s(%s) %s %s was not sent", tid, method, attribute,
		 modifier, path);
}

static void config(const struct fab *f, struct lab_config *c)
{
	lab_config_default(c);
	c->sm.mechanism = *sm_mechanism_find("basic");
	c->sm_node = fab_node_by_guid(f, 0x200);
}

TEST(test_97_smps_and_table_12)
{
	struct world w = {0};
	struct lab_config c;
	char *text, path[512];
	size_t len;
	struct err e;
	int rows = 0;

	load(&w.net, "example15-discovery.net");
	config(w.net.fab, &c);
	world_open(&w, w.net.fab, &c, NULL);
	assert_true(lab_run_ready(w.lab, 10 * PS_PER_S));
	assert_int_equal(lab_sum(w.lab)->smps[SM_FOR_DISCOVERY], 97);
	snprintf(path, sizeof(path), "%s/table12-full-discovery.csv", GOLDEN);
	assert_int_equal(file_read(path, &text, &len, &e), 0);
	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		check_row(&w, line + 1);
		rows++;
	}
	assert_int_equal(rows, 36);
	free(text);
	vec_free(&w.smps);
	lab_free(w.lab);
	fab_netlist_free(&w.net);
}

/* The names of the nodes in the file are the LIDs of the thesis's tables. */
TEST(test_lids_of_the_first_nodes)
{
	static const struct {
		uint64_t guid;
		unsigned lid;
	} table12[] = {{0x200, 1}, {0x100, 2}, {0x105, 3}, {0x106, 4}};
	struct world w = {0};
	struct lab_config c;

	load(&w.net, "example15-discovery.net");
	config(w.net.fab, &c);
	world_open(&w, w.net.fab, &c, NULL);
	assert_true(lab_run_ready(w.lab, 10 * PS_PER_S));
	for (size_t i = 0; i < ARRAY_LEN(table12); i++)
		assert_int_equal(sm_lid_of(lab_sm(w.lab), table12[i].guid, NULL), table12[i].lid);
	vec_free(&w.smps);
	lab_free(w.lab);
	fab_netlist_free(&w.net);
}

TEST(test_bfs_takes_the_same_smps_one_at_a_time)
{
	struct world w = {0};
	struct lab_config c;

	load(&w.net, "example15-discovery.net");
	config(w.net.fab, &c);
	c.sm.explore = SM_EXPLORE_BFS;
	world_open(&w, w.net.fab, &c, NULL);
	assert_true(lab_run_ready(w.lab, 10 * PS_PER_S));
	assert_int_equal(lab_sum(w.lab)->smps[SM_FOR_DISCOVERY], 97);
	vec_free(&w.smps);
	lab_free(w.lab);
	fab_netlist_free(&w.net);
}

TEST(test_123_smps_when_three_nodes_appear)
{
	struct fab_netlist after;
	struct world w = {0};
	struct lab_change *change;
	struct lab_config c;
	struct lab_verdict v;
	const struct lab_sum *s;
	struct err e;
	time_ps at;

	load(&w.net, "example15-discovery.net");
	load(&after, "example18-activation.net");
	change = lab_change_new(w.net.fab, after.fab, &e);
	assert_non_null(change);
	config(lab_change_fab(change), &c);
	world_open(&w, lab_change_fab(change), &c, lab_change_on(change));
	assert_true(lab_run_settled(w.lab, 0, 100 * PS_PER_S));
	lab_sum_reset(w.lab);
	at = sim_now(lab_sim(w.lab));
	lab_change_apply(change, lab_sim(w.lab));
	assert_true(lab_run_settled(w.lab, at, 200 * PS_PER_S));
	s = lab_sum(w.lab);
	assert_int_equal(s->rounds, 1);
	assert_int_equal(s->cause, SM_CAUSE_SWEEP);
	assert_int_equal(s->smps[SM_FOR_SWEEP], 9); /* 8 Get(SwitchInfo), 1 Set(SwitchInfo) */
	assert_int_equal(s->smps[SM_FOR_DISCOVERY], 114);
	lab_judge(w.lab, &v);
	assert_true(v.active && v.verified && v.complete);
	assert_int_equal(v.nodes, 18);
	rt_report_free(&v.report);
	vec_free(&w.smps);
	lab_free(w.lab);
	lab_change_free(change);
	fab_netlist_free(&after);
	fab_netlist_free(&w.net);
}

/* Table 11: with the thesis's CPU a sweep of 8 switches lasts 1.20 ms. The topology of that row is
 * only known as a picture; this one has the same 8 switches and 15 nodes. */
TEST(test_sweep_takes_as_long_as_in_table_11)
{
	struct world w = {0};
	struct lab_config c;
	time_ps start, took;
	struct sm_status st;

	load(&w.net, "example15-discovery.net");
	config(w.net.fab, &c);
	c.cpu = lab_cpu_find("thesis");
	world_open(&w, w.net.fab, &c, NULL);
	assert_true(lab_run_settled(w.lab, 0, 100 * PS_PER_S));
	sm_status(lab_sm(w.lab), &st);
	start = st.last_sweep_start;
	took = sim_now(lab_sim(w.lab)) - start;
	assert_in_range(took / PS_PER_US, 1100, 1350); /* 1202.668 us there */
	vec_free(&w.smps);
	lab_free(w.lab);
	fab_netlist_free(&w.net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_97_smps_and_table_12),
		cmocka_unit_test(test_lids_of_the_first_nodes),
		cmocka_unit_test(test_bfs_takes_the_same_smps_one_at_a_time),
		cmocka_unit_test(test_123_smps_when_three_nodes_appear),
		cmocka_unit_test(test_sweep_takes_as_long_as_in_table_11),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
