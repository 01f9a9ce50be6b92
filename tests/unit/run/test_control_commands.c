/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of the control socket on a manager that brought up a small simulated fabric, and requests that
 * are refused.
 * Covers: control_commands.c, control_status.c, control_subnet.c, control_node.c, control_groups.c, control_partitions.c, control_memberships.c, subnet_view.c
 */
#include "unit_test.h"

#include <jansson.h>

#include "lab/lab.h"
#include "run/subnet_view.h"
#include "sim/kernel/sim_kernel.h"

static struct {
	struct fab *fab;
	struct lab *lab;
	struct settings cfg;
	struct run_change changes[3];
	struct run_view v;
	struct run_orders o;
	uint64_t heir;
	unsigned swept, resynced, reloaded, stopped, dumped;
	enum run_log_level level;
} w;

static int on_handover(void *ctx, uint64_t guid, struct err *e)
{
	(void)ctx;
	w.heir = guid;
	return sm_handover_check(w.v.sm, guid, e);
}

static void on_resync(void *ctx UNUSED)
{
	w.resynced++;
}

static void on_sweep(void *ctx UNUSED)
{
	w.swept++;
}

static void on_level(void *ctx UNUSED, enum run_log_level l)
{
	w.level = l;
}

static int on_dump(void *ctx UNUSED, struct err *e)
{
	return w.dumped++ ? err_set(e, -EIO, "the disk is gone") : 0;
}

static int on_reload(void *ctx UNUSED, struct strbuf *fixed, struct strbuf *faults, struct err *e)
{
	w.reloaded++;
	if (w.reloaded == 1)
		return strbuf_add(fixed, "transport.device"), 0;
	strbuf_add(faults, "w.yaml:1:1: a\nw.yaml:2:1: b\n");
	return err_set(e, -EINVAL, "w.yaml:1:1: a (and 1 more)");
}

static void on_stop(void *ctx UNUSED)
{
	w.stopped++;
}

/* The first and the last host. */
static bool join_group(void)
{
	node_id first = fab_node_by_text(w.fab, "host 0"), last = fab_node_by_text(w.fab, "host 7");
	const struct sm_group_member m[] = {
		{w.fab->ports[fab_port_id(w.fab, first, 1)].guid, true, true},
		{w.fab->ports[fab_port_id(w.fab, last, 1)].guid, true, true}};
	const struct sm_group g = {IBA_LID_MCAST_FIRST, 0, m, 2};

	return lab_manager_groups(w.lab, 0, &g, 1) &&
	       lab_run_ready(w.lab, sim_now(lab_sim(w.lab)) + 10 * PS_PER_S);
}

static int setup(void **state UNUSED)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct lab_config c;
	struct sa_config sc;
	struct sm_status st;
	struct err e;

	lab_config_default(&c);
	w.fab = fab_generate(&g, &e);
	w.lab = lab_new(w.fab, &c, &e);
	lab_power_on(w.lab, NULL);
	if (!lab_run_ready(w.lab, 10 * PS_PER_S) || !join_group())
		return -1;
	settings_default(&w.cfg);
	sm_status(lab_sm(w.lab), &st);
	for (unsigned i = 0; i < 3; i++)
		w.changes[i] = (struct run_change){.number = i + 1,
						   .unix_ms = 1700000000123 + i,
						   .round = st.last,
						   .switches = st.switches,
						   .nodes = st.nodes};
	sa_config_default(&sc);
	w.v = (struct run_view){.cfg = &w.cfg,
				.sa = sa_new(&sc),
				.sm = lab_sm(w.lab),
				.connected = true,
				.uptime_ms = 1234,
				.now = st.last.end,
				.changes = w.changes,
				.nchanges = 3,
				.log_level = RUN_LOG_NOTICE,
				.port = {.name = "a port"}};
	w.o = (struct run_orders){NULL,	   on_sweep,  on_resync, on_handover, on_level,
				  on_dump, on_reload, on_stop,	 NULL,	      NULL};
	return 0;
}

static int teardown(void **state UNUSED)
{
	sa_free(w.v.sa);
	lab_free(w.lab);
	fab_free(w.fab);
	return 0;
}

/* The answer, which must be one line of JSON; its "ok" is as expected. */
static json_t *ask(const struct run_view *v, const char *line, bool ok)
{
	struct strbuf out = {0};
	json_error_t why;
	json_t *a;

	run_control_answer(v, &w.o, line, &out);
	assert_null(strchr(out.s, '\n'));
	a = json_loads(out.s, JSON_REJECT_DUPLICATES, &why);
	if (!a)
		fail_msg("%s: %s", out.s, why.text);
	if (json_is_true(json_object_get(a, "ok")) != ok)
		fail_msg("%s -> %s", line, out.s);
	strbuf_free(&out);
	return a;
}

static void refused(const char *line, const char *why)
{
	json_t *a = ask(&w.v, line, false);

	assert_string_equal(json_string_value(json_object_get(a, "error")), why);
	assert_int_equal(json_object_size(a), 2);
	json_decref(a);
}

static long long num(json_t *a, const char *key)
{
	json_t *v = json_object_get(a, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

TEST(status)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"status\"}", true), *s = json_object_get(a, "subnet");

	assert_string_equal(json_string_value(json_object_get(a, "state")), "Master");
	assert_string_equal(json_string_value(json_object_get(a, "phase")), "ready");
	assert_string_equal(json_string_value(json_object_get(json_object_get(a, "port"), "name")),
			    "a port");
	assert_int_equal(num(s, "switches"), 6);
	assert_int_equal(num(s, "hosts"), 8);
	assert_int_equal(num(a, "changes"), 3);
	assert_true(num(json_object_get(a, "smps"), "all") > 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(a, "last_change"), "began")),
		"2023-11-14T22:13:20.125Z");
	json_decref(a);
}

TEST(managers)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"status\"}", true), *m = json_object_get(a, "managers");

	assert_int_equal(json_array_size(m), 1);
	m = json_array_get(m, 0);
	assert_string_equal(json_string_value(json_object_get(m, "state")), "Master");
	assert_true(json_is_true(json_object_get(m, "own")));
	assert_string_equal(json_string_value(json_object_get(m, "guid")),
			    json_string_value(json_object_get(a, "master")));
	json_decref(a);
	refused("{\"cmd\":\"handover\"}", "no standby manager is known to hand over to");
	assert_int_equal(w.heir, 0);
	refused("{\"cmd\":\"handover\",\"guid\":\"0x1234\"}",
		"no standby manager with port GUID 0x0000000000001234 is known; 'weft ctl status' lists "
		"them");
	assert_int_equal(w.heir, 0x1234);
	refused("{\"cmd\":\"handover\",\"guid\":\"0\"}",
		"expected a port GUID such as 0x0001000000000011, found '0'");
	refused("{\"cmd\":\"handover\",\"guid\":\"host 3\"}",
		"expected a port GUID such as 0x0001000000000011, found 'host 3'");
}

/* Without a connection there is no SM: every command still has an answer. */
TEST(nothing_connected)
{
	struct run_view v = {.cfg = &w.cfg};
	json_t *a = ask(&v, "{\"cmd\":\"status\"}", true);

	assert_string_equal(json_string_value(json_object_get(a, "state")), "NotActive");
	assert_true(json_is_null(json_object_get(a, "last_change")));
	json_decref(a);
	json_decref(ask(&v, "{\"cmd\":\"smps\"}", true));
	json_decref(ask(&v, "{\"cmd\":\"changes\"}", true));
	a = ask(&v, "{\"cmd\":\"topology\"}", false);
	assert_string_equal(json_string_value(json_object_get(a, "error")),
			    "the subnet is not discovered yet");
	json_decref(a);
	json_decref(ask(&v, "{\"cmd\":\"switches\"}", false));
	json_decref(ask(&v, "{\"cmd\":\"ports\",\"node\":\"x\"}", false));
	json_decref(ask(&v, "{\"cmd\":\"route\",\"from\":\"1\",\"to\":\"2\"}", false));
	json_decref(ask(&v, "{\"cmd\":\"sweep\"}", false));
	json_decref(ask(&v, "{\"cmd\":\"resync\"}", false));
	json_decref(ask(&v, "{\"cmd\":\"handover\"}", false));
}

TEST(topology)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"topology\"}", true);
	const char *text = json_string_value(json_object_get(a, "netlist"));
	struct fab_netlist net;
	fab_diff_list d = {0};
	struct err e;

	assert_non_null(text);
	assert_int_equal(fab_netlist_parse(&net, "net", text, strlen(text), &e), 0);
	fab_diff(net.fab, w.fab, &d);
	for (size_t i = 0; i < d.n; i++) /* names may still be missing */
		assert_int_equal(d.at[i].kind, FAB_NODE_CHANGED);
	assert_true(net.fab->nlinks == w.fab->nlinks &&
		    net.fab->ports[1].width == w.fab->ports[1].width);
	fab_diff_free(&d);
	fab_netlist_free(&net);
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"topology\",\"netlist\":0}", true);
	assert_null(json_object_get(a, "netlist"));
	assert_int_equal(num(a, "links"), sm_fabric(w.v.sm)->nlinks);
	json_decref(a);
}

/* The parts of a text are the whole of it, with a state for each port that has a link. */
TEST(topology_in_parts)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"topology\"}", true);
	struct strbuf parts = {0}, states = {0};
	char line[80], *version = NULL;

	for (unsigned first = 0; first < 14; first += 5) {
		json_t *p;

		snprintf(line, sizeof(line), "{\"cmd\":\"topology\",\"first\":%u,\"count\":5}",
			 first);
		p = ask(&w.v, line, true);
		assert_int_equal(num(p, "nodes"), 14);
		assert_int_equal(num(p, "count"), MIN(5, 14 - first));
		strbuf_add(&parts, json_string_value(json_object_get(p, "netlist")));
		strbuf_add(&states, json_string_value(json_object_get(p, "states")));
		if (!version)
			version = mem_strdup(json_string_value(json_object_get(p, "version")));
		assert_string_equal(json_string_value(json_object_get(p, "version")), version);
		json_decref(p);
	}
	assert_string_equal(parts.s, json_string_value(json_object_get(a, "netlist")));
	assert_string_equal(states.s, "44444444444444444444444444444444");
	refused("{\"cmd\":\"topology\",\"first\":14}", "'first': expected less than 14 nodes");
	refused("{\"cmd\":\"topology\",\"first\":\"0\"}", "'first': expected a number");
	free(version);
	strbuf_free(&parts);
	strbuf_free(&states);
	json_decref(a);
}

static void lab_run_to_change(struct lab *l)
{
	for (unsigned i = 0; i < 1000000 && lab_status(l)->phase != SM_DISCOVER; i++)
		lab_run_until(l, sim_next(lab_sim(l)));
	assert_int_equal(lab_status(l)->phase, SM_DISCOVER);
}

/* Programs that show the subnet do not take a manager's time while it works on a change. */
TEST(pieces_at_rest)
{
	static const char *const lines[] = {
		"{\"cmd\":\"topology\",\"first\":0,\"count\":5,\"at_rest\":1}",
		"{\"cmd\":\"tables\",\"first\":0,\"at_rest\":1}",
		"{\"cmd\":\"group_tree\",\"mlid\":\"0xc000\",\"at_rest\":1}"};
	static const char *const now[] = {
		"{\"cmd\":\"topology\",\"first\":0,\"count\":5,\"at_rest\":0}",
		"{\"cmd\":\"tables\",\"first\":0}", "{\"cmd\":\"group_tree\",\"mlid\":\"0xc000\"}"};
	struct run_view v = w.v;
	struct lab_config c;
	struct err e;
	struct lab *l;

	lab_config_default(&c);
	l = lab_new(w.fab, &c, &e);
	lab_power_on(l, NULL);
	assert_true(lab_run_ready(l, 10 * PS_PER_S));
	v.sm = lab_sm(l);
	for (unsigned busy = 0; busy < 3; busy++) {
		for (unsigned i = 0; i < ARRAY_LEN(lines); i++) {
			json_t *a = ask(&v, lines[i], true);

			assert_int_equal(json_is_true(json_object_get(a, "busy")), busy == 1);
			assert_int_equal(json_object_get(a, "version") != NULL, busy != 1);
			json_decref(a);
			a = ask(&v, now[i], true);
			assert_null(json_object_get(a, "busy"));
			json_decref(a);
		}
		if (!busy)
			sim_node_power(lab_sim(l), w.fab->switches[w.fab->nswitches - 1], false);
		if (!busy)
			lab_run_to_change(l);
		else
			assert_true(lab_run_ready(l, 20 * PS_PER_S));
	}
	lab_free(l);
}

static unsigned hex_at(const char *text, size_t i)
{
	char two[3] = {text[2 * i], text[2 * i + 1], 0};

	return (unsigned)strtoul(two, NULL, 16);
}

/* Tables, trees and the table of a node say the same, and what routes follow. */
TEST(tables_and_trees)
{
	const struct rt_tables *t = sm_tables(w.v.sm);
	json_t *a = ask(&w.v, "{\"cmd\":\"tables\",\"first\":1,\"count\":1000000}", true), *rows,
	       *b;

	rows = json_object_get(a, "tables");
	assert_int_equal(num(a, "first"), 1);
	assert_int_equal(json_array_size(rows), 5);
	for (unsigned lid = 1; lid <= t->top_lid; lid++) {
		char line[60];

		snprintf(line, sizeof(line), "{\"cmd\":\"tree\",\"to\":\"%u\"}", lid);
		b = ask(&w.v, line, true);
		assert_int_equal(num(b, "lid"), lid);
		for (unsigned s = 1; s < 6; s++) {
			const char *row = json_string_value(json_array_get(rows, s - 1));

			assert_int_equal(hex_at(row, lid), rt_row(t, s)[lid]);
			assert_int_equal(hex_at(json_string_value(json_object_get(b, "out")), s),
					 rt_row(t, s)[lid]);
		}
		json_decref(b);
	}
	b = ask(&w.v, "{\"cmd\":\"node\",\"node\":\"S-0002000000000002\"}", true);
	assert_string_equal(json_string_value(json_object_get(b, "table")),
			    json_string_value(json_array_get(rows, 0)));
	json_decref(b);
	json_decref(a);
	refused("{\"cmd\":\"tables\",\"first\":6}", "'first': expected less than 6 switches");
	refused("{\"cmd\":\"tree\",\"to\":\"999\"}",
		"'999' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name");
}

TEST(the_tree_of_a_group)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"group_tree\",\"mlid\":\"0xc000\"}", true), *row;
	unsigned ports = 0;
	size_t i;

	assert_int_equal(num(a, "mlid"), 0xc000);
	assert_int_equal(num(a, "switches"), 6);
	assert_int_equal(num(a, "next"), 6);
	json_array_foreach(json_object_get(a, "tree"), i, row) ports +=
		(unsigned)json_array_size(json_object_get(row, "ports"));
	assert_int_equal(i, 3);		    /* a root and two leaves */
	assert_int_equal(ports, 2 * 2 + 2); /* two links between switches, two members */
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"group_tree\",\"mlid\":\"0xc000\",\"first\":4,\"count\":1}", true);
	assert_int_equal(num(a, "next"), 5);
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"group_tree\",\"mlid\":\"0xfffe\",\"first\":99}", true);
	assert_int_equal(json_array_size(json_object_get(a, "tree")), 0);
	assert_int_equal(num(a, "next"), 6);
	json_decref(a);
	refused("{\"cmd\":\"group_tree\"}", "group_tree needs 'mlid'");
	refused("{\"cmd\":\"group_tree\",\"mlid\":\"0xbfff\"}",
		"'mlid': expected a multicast LID, 0xc000 to 0xfffe; found '0xbfff'");
	refused("{\"cmd\":\"group_tree\",\"mlid\":\"65535\"}",
		"'mlid': expected a multicast LID, 0xc000 to 0xfffe; found '65535'");
	refused("{\"cmd\":\"groups\",\"mgid\":\"ff12\"}",
		"'mgid': expected a GID such as ff12:401b:ffff:0:0:0:ffff:ffff; found 'ff12'");
}

TEST(a_node_with_all_attributes)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"node\",\"node\":\"S-0002000000000001\"}", true), *port;

	assert_string_equal(json_string_value(json_object_get(a, "type")), "switch");
	assert_int_equal(json_array_size(json_object_get(a, "groups")), 2);
	assert_int_equal(json_array_size(json_object_get(a, "ports")), 5);
	port = json_array_get(json_object_get(a, "ports"), 1);
	assert_string_equal(json_string_value(json_object_get(port, "state")), "Active");
	assert_true(json_array_size(json_object_get(port, "fields")) > 40);
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"node\",\"node\":\"1\"}", true);
	assert_null(json_object_get(a, "table"));
	json_decref(a);
	refused("{\"cmd\":\"node\"}", "node needs 'node'");
}

static struct run_counter_ask counters;

static int on_counters(void *ctx UNUSED, const struct run_counter_ask *ask, struct err *e UNUSED)
{
	counters = *ask;
	return -EINPROGRESS;
}

TEST(counters_are_asked_of_the_device)
{
	struct run_orders o = {.counters = on_counters};
	struct strbuf out = {0};

	assert_false(run_control_answer(
		&w.v, &o, "{\"cmd\":\"counters\",\"node\":\"S-0002000000000001\"}", &out));
	assert_int_equal(out.len, 0);
	assert_int_equal(counters.guid, 0x0002000000000001);
	assert_int_equal(counters.nports, 4);
	assert_int_equal(counters.dlid, sm_lid_of(w.v.sm, 0x0002000000000001, NULL));
	assert_false(run_control_answer(
		&w.v, &o, "{\"cmd\":\"counters\",\"node\":\"S-0002000000000001\",\"port\":3}",
		&out));
	assert_int_equal(counters.nports, 1);
	assert_int_equal(counters.ports[0], 3);
	strbuf_free(&out);
	refused("{\"cmd\":\"counters\",\"node\":\"S-0002000000000001\",\"port\":5}",
		"'port': expected 1 to 4");
	refused("{\"cmd\":\"counters\",\"node\":\"S-0002000000000001\"}",
		"counters cannot be read here");
}

/* Members of a partition, by the rows of an answer; its numbers agree with the rows. */
static size_t members_of(const json_t *partition, const char *as)
{
	size_t n = 0, i;
	json_t *m;

	json_array_foreach(json_object_get(partition, "members"), i, m) n +=
		!strcmp(json_string_value(json_object_get(m, "as")), as);
	return n;
}

TEST(partitions_with_members)
{
	static const char conf[] =
		"Default=0x7fff, ipoib : ALL=limited, SELF=full ;\n"
		"storage=0x10, ipoib, indx0 : ALL_CAS=full, ALL_SWITCHES=both ;\n"
		"empty=0x11 : ;\n";
	json_t *a = ask(&w.v, "{\"cmd\":\"partitions\"}", true), *rows, *b;
	struct pol *p = pol_new();
	struct err e;

	assert_false(json_is_true(json_object_get(a, "configured")));
	rows = json_object_get(a, "partitions");
	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(members_of(json_array_get(rows, 0), "full"), 14);
	json_decref(a);
	assert_int_equal(pol_read_partitions(p, "f", conf, strlen(conf), &e), 0);
	p->both = true;
	sm_policy_set((struct sm *)w.v.sm, p);
	pol_free(p);
	a = ask(&w.v, "{\"cmd\":\"partitions\"}", true);
	assert_true(json_is_true(json_object_get(a, "configured")));
	rows = json_object_get(a, "partitions");
	assert_int_equal(json_array_size(rows), 3);
	assert_int_equal(members_of(json_array_get(rows, 0), "limited"), 13);
	assert_int_equal(members_of(json_array_get(rows, 0), "full"), 1);
	assert_int_equal(num(json_array_get(rows, 0), "limited"), 13);
	assert_int_equal(members_of(json_array_get(rows, 1), "full"), 8);
	assert_int_equal(members_of(json_array_get(rows, 1), "both"), 6);
	assert_true(json_is_true(json_object_get(json_array_get(rows, 1), "indx0")));
	b = json_array_get(json_object_get(json_array_get(rows, 1), "groups"), 0);
	assert_string_equal(json_string_value(json_object_get(b, "mgid")),
			    "ff12:401b:8010:0:0:0:ffff:ffff");
	assert_string_not_equal(json_string_value(json_object_get(b, "mlid")), "0x0000");
	assert_int_equal(json_array_size(json_object_get(json_array_get(rows, 2), "members")), 0);
	assert_int_equal(num(a, "records"), 29);
	assert_int_equal(num(a, "next"), 29);
	json_decref(a);
}

static size_t memberships(const char *node, const char *of)
{
	char question[96];
	json_t *a;
	size_t n;

	snprintf(question, sizeof(question), "{\"cmd\":\"memberships\",\"node\":\"%s\"}", node);
	a = ask(&w.v, question, true);
	n = json_array_size(json_object_get(a, of));
	json_decref(a);
	return n;
}

TEST(memberships_of_one_node)
{
	json_t *a;

	a = ask(&w.v, "{\"cmd\":\"memberships\",\"node\":\"H-0001000000000010\"}", true);
	assert_int_equal(json_array_size(json_object_get(a, "partitions")), 1);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(a, "partitions"), 0), "as")),
			    "full");
	json_decref(a);
	assert_int_equal(memberships("S-0002000000000001", "partitions"), 1);
	assert_int_equal(memberships("H-0001000000000010", "groups"), 0);
	refused("{\"cmd\":\"memberships\",\"node\":\"nobody\"}",
		"'nobody' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name");
	refused("{\"cmd\":\"memberships\"}", "memberships needs 'node'");
}

/* Parts of the list, of any size, have each member once. */
TEST(partitions_in_parts)
{
	for (unsigned count = 1; count < 31; count++) {
		size_t members = 0, next = 0, all;

		do {
			char line[80];
			json_t *a, *row;
			size_t i;

			snprintf(line, sizeof(line),
				 "{\"cmd\":\"partitions\",\"first\":%zu,\"count\":%u}", next,
				 count);
			a = ask(&w.v, line, true);
			json_array_foreach(json_object_get(a, "partitions"), i, row) members +=
				json_array_size(json_object_get(row, "members"));
			assert_true(num(a, "next") > (json_int_t)next);
			next = (size_t)num(a, "next");
			all = (size_t)num(a, "records");
			json_decref(a);
		} while (next < all);
		assert_int_equal(members, 28);
	}
}

TEST(partitions_without_members_and_one_of_them)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"partitions\",\"members\":0,\"count\":1}", true), *row;
	long long all = num(a, "records");

	assert_true(all >= 2);
	assert_int_equal(num(a, "next"), 1);
	row = json_array_get(json_object_get(a, "partitions"), 0);
	assert_int_equal(json_array_size(json_object_get(row, "members")), 0);
	assert_true(num(row, "full") + num(row, "limited") > 0);
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"partitions\",\"pkey\":\"0x7fff\"}", true);
	assert_int_equal(json_array_size(json_object_get(a, "partitions")), 1);
	row = json_array_get(json_object_get(a, "partitions"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "pkey")), "0x7fff");
	assert_int_equal(json_array_size(json_object_get(row, "members")), num(a, "records"));
	row = json_array_get(json_object_get(row, "members"), 0);
	assert_int_equal(strncmp(json_string_value(json_object_get(row, "node")), "0x000", 5), 0);
	json_decref(a);
	refused("{\"cmd\":\"partitions\",\"pkey\":\"0x10000\"}",
		"'pkey': expected a P_Key such as 0x8001; found '0x10000'");
}

TEST(switches_and_ports)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"switches\"}", true),
	       *rows = json_object_get(a, "switches"), *row;

	assert_int_equal(json_array_size(rows), 6);
	assert_int_equal(num(json_array_get(rows, 0), "entries"), 14);
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"ports\",\"node\":\"S-0002000000000001\"}", true);
	rows = json_object_get(a, "ports");
	assert_int_equal(json_array_size(rows), 5); /* port 0 and four others */
	row = json_array_get(rows, 1);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "Active");
	assert_true(json_is_object(json_object_get(row, "peer")));
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"ports\"}", true);
	assert_int_equal(json_array_size(json_object_get(a, "ports")),
			 2 * sm_fabric(w.v.sm)->nlinks);
	json_decref(a);
}

/* From every host to every port that has a LID, hop by hop along real cables. */
TEST(routes_end_at_the_destination)
{
	const struct fab *f = sm_fabric(w.v.sm);
	unsigned followed = 0;

	for (port_id from = 0; from < f->nports; from++)
		for (port_id to = 0; f->ports[from].lid && to < f->nports; to++) {
			view_hops hops = {0};
			struct err e;

			if (!f->ports[to].lid)
				continue;
			assert_int_equal(view_route(w.v.sm, from, f->ports[to].lid, &hops, &e), 0);
			assert_int_equal(hops.at[0].node, f->ports[from].node);
			assert_int_equal(hops.at[hops.n - 1].node, f->ports[to].node);
			for (size_t i = 1; i < hops.n; i++)
				assert_int_equal(f->ports[fab_port_id(f, hops.at[i - 1].node,
								      hops.at[i - 1].out)]
							 .peer,
						 fab_port_id(f, hops.at[i].node, hops.at[i].in));
			followed++;
			vec_free(&hops);
		}
	assert_int_equal(followed, 14 * 14);
}

TEST(one_route)
{
	const struct fab *f = sm_fabric(w.v.sm);
	char line[256], id[32];
	json_t *a, *hops;

	fab_node_ident(f, fab_node_by_guid(f, 0x0002000000000001), id);
	snprintf(line, sizeof(line), "{\"cmd\":\"route\",\"from\":\"%u\",\"to\":\"%s\"}",
		 f->ports[fab_port_id(f, lab_sm_node(w.lab), 1)].lid, id);
	a = ask(&w.v, line, true);
	hops = json_object_get(a, "hops");
	assert_true(json_is_true(json_object_get(a, "reached")));
	assert_true(json_array_size(hops) >= 2);
	assert_true(json_is_null(json_object_get(json_array_get(hops, 0), "in")));
	assert_int_equal(num(json_array_get(hops, 0), "out"), 1);
	json_decref(a);
	refused("{\"cmd\":\"route\",\"from\":\"1\"}", "route needs 'to'");
	refused("{\"cmd\":\"route\",\"from\":\"1\",\"to\":\"nobody\"}",
		"'nobody' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name");
	refused("{\"cmd\":\"route\",\"from\":\"1\",\"to\":\"0xdead\"}",
		"'0xdead' is not in the subnet: expected a GUID, a LID, an S-/H- id or a name");
	refused("{\"cmd\":\"route\",\"from\":\"1\",\"to\":7}", "'to': expected a string");
}

TEST(changes)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"changes\"}", true), *rows = json_object_get(a, "changes"),
	       *row;

	assert_int_equal(json_array_size(rows), 3);
	row = json_array_get(rows, 0);
	assert_int_equal(num(row, "number"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "cause")), "start");
	assert_true(json_is_true(json_object_get(row, "clean")));
	assert_true(json_real_value(json_object_get(json_object_get(row, "phases_s"), "discover")) >
		    0);
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"changes\",\"count\":2}", true);
	rows = json_object_get(a, "changes");
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(num(json_array_get(rows, 1), "number"), 3);
	json_decref(a);
	refused("{\"cmd\":\"changes\",\"count\":-2}", "'count': expected a number");
	refused("{\"cmd\":\"changes\",\"count\":\"2\"}", "'count': expected a number");
}

/* What needs a restart is said; a reload that fails has every fault. */
static void reload_check(void)
{
	json_t *a = ask(&w.v, "{\"cmd\":\"reload\"}", true), *f;

	assert_string_equal(json_string_value(json_object_get(a, "after_restart")),
			    "transport.device");
	json_decref(a);
	a = ask(&w.v, "{\"cmd\":\"reload\"}", false);
	f = json_object_get(a, "faults");
	assert_int_equal(json_array_size(f), 2);
	assert_string_equal(json_string_value(json_array_get(f, 1)), "w.yaml:2:1: b");
	json_decref(a);
}

TEST(orders_reach_the_manager)
{
	json_t *a;

	json_decref(ask(&w.v, "{\"cmd\":\"sweep\"}", true));
	json_decref(ask(&w.v, "{\"cmd\":\"resync\"}", true));
	reload_check();
	json_decref(ask(&w.v, "{\"cmd\":\"stop\"}", true));
	json_decref(ask(&w.v, "{\"cmd\":\"log\",\"level\":\"debug\"}", true));
	assert_int_equal(w.level, RUN_LOG_DEBUG);
	refused("{\"cmd\":\"log\",\"level\":\"loud\"}",
		"expected error, warning, notice, info or debug; found 'loud'");
	a = ask(&w.v, "{\"cmd\":\"log\"}", true);
	assert_string_equal(json_string_value(json_object_get(a, "level")), "notice");
	json_decref(a);
	json_decref(ask(&w.v, "{\"cmd\":\"dump\"}", true));
	refused("{\"cmd\":\"dump\"}", "the disk is gone");
	assert_true(w.swept == 1 && w.resynced == 1 && w.reloaded == 2 && w.stopped == 1 &&
		    w.dumped == 2);
	a = ask(&w.v, "{\"cmd\":\"config\"}", true);
	assert_non_null(strstr(json_string_value(json_object_get(a, "text")), "mechanism: weft"));
	json_decref(a);
}

/* What is in them is for tests/interop/dumps.sh, where ibdmchk reads them. */
TEST(dumps_that_cannot_be_written)
{
	struct run_view none = {.cfg = &w.cfg};
	struct err e;

	assert_int_equal(run_dump(&none, "/tmp", &e), -EAGAIN);
	assert_int_equal(run_dump(&w.v, "/nonexistent/x", &e), -ENOENT);
	assert_string_equal(
		e.text, "/nonexistent/x: cannot create the directory: No such file or directory");
	assert_int_equal(run_dump(&w.v, "/dev/null", &e), -ENOTDIR);
	assert_string_equal(e.text, "/dev/null/opensm-subnet.lst: cannot write: Not a directory");
}

TEST(unknown_requests_are_refused)
{
	static const char *const junk[] = {"",
					   "status",
					   "{",
					   "[]",
					   "7",
					   "null",
					   "{}",
					   "{\"cmd\":7}",
					   "{\"cmd\":null}",
					   "{\"cmd\":\"\"}",
					   "{\"cmd\":\"status\"} x",
					   "{\"cmd\":\"status\",\"cmd\":\"stop\"}",
					   "{\"cmd\":\"\\u0000\"}",
					   "\xff"};

	for (size_t i = 0; i < ARRAY_LEN(junk); i++)
		json_decref(ask(&w.v, junk[i], false));
	refused("{\"cmd\":\"statsu\"}", "unknown command 'statsu', did you mean 'status'?");
	refused("{\"cmd\":\"xyzzy\"}",
		"unknown command 'xyzzy': expected one of status, topology, route, switches, ports, node, "
		"tables, tree, counters, perf, sick, changes, "
		"smps, config, sa, paths, groups, group_tree, partitions, memberships, services, subscriptions, sweep, resync, handover, log, dump, reload, stop, vm_list, vm_hosts, vm_create, "
		"vm_start, vm_stop, vm_migrate, vm_destroy, vm_batch, vm_defragment");
	refused("{\"cmd\":\"status\",\"verbose\":1}", "status takes no 'verbose'");
	refused("{}", "expected {\"cmd\": \"...\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status),
		cmocka_unit_test(managers),
		cmocka_unit_test(nothing_connected),
		cmocka_unit_test(topology),
		cmocka_unit_test(topology_in_parts),
		cmocka_unit_test(pieces_at_rest),
		cmocka_unit_test(tables_and_trees),
		cmocka_unit_test(the_tree_of_a_group),
		cmocka_unit_test(a_node_with_all_attributes),
		cmocka_unit_test(counters_are_asked_of_the_device),
		cmocka_unit_test(memberships_of_one_node),
		cmocka_unit_test(partitions_with_members),
		cmocka_unit_test(partitions_in_parts),
		cmocka_unit_test(partitions_without_members_and_one_of_them),
		cmocka_unit_test(switches_and_ports),
		cmocka_unit_test(routes_end_at_the_destination),
		cmocka_unit_test(one_route),
		cmocka_unit_test(changes),
		cmocka_unit_test(orders_reach_the_manager),
		cmocka_unit_test(dumps_that_cannot_be_written),
		cmocka_unit_test(unknown_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
