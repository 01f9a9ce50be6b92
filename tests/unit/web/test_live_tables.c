/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of a live subnet from answers in pieces, and routes by link: four hosts at two switches with two links between.
 */
#include "unit_test.h"

#include "web/live_tables.h"

/* LIDs: switches 1 and 2, hosts a 3 and b 4 at switch 1, c 5 and d 6 at switch 2. */
static const char net[] =
	"Switch 4 \"S-0000000000000001\" # \"s1\" base port 0 lid 1 lmc 0\n"
	"[1] \"H-00000000000000a0\"[1]\n[2] \"H-00000000000000b0\"[1]\n"
	"[3] \"S-0000000000000002\"[3]\n[4] \"S-0000000000000002\"[4]\n\n"
	"Switch 4 \"S-0000000000000002\" # \"s2\" base port 0 lid 2 lmc 0\n"
	"[1] \"H-00000000000000c0\"[1]\n[2] \"H-00000000000000d0\"[1]\n"
	"[3] \"S-0000000000000001\"[3]\n[4] \"S-0000000000000001\"[4]\n\n"
	"Ca 1 \"H-00000000000000a0\"\n[1](00000000000000a1) \"S-0000000000000001\"[1] # lid 3\n\n"
	"Ca 1 \"H-00000000000000b0\"\n[1](00000000000000b1) \"S-0000000000000001\"[2] # lid 4\n\n"
	"Ca 1 \"H-00000000000000c0\"\n[1](00000000000000c1) \"S-0000000000000002\"[1] # lid 5\n\n"
	"Ca 1 \"H-00000000000000d0\"\n[1](00000000000000d1) \"S-0000000000000002\"[2] # lid 6\n\n";

#define FIRST  "ff000301020304" /* c by port 3, d by port 4 */
#define SECOND "ff030003030102" /* a and b by port 3 */

static struct fab_netlist n;

static int setup(void **state UNUSED)
{
	struct err e;

	return fab_netlist_parse(&n, "net", net, strlen(net), &e);
}

static int teardown(void **state UNUSED)
{
	fab_netlist_free(&n);
	return 0;
}

static bool take(struct live_tables *t, const char *version, unsigned first, const char *rows)
{
	char text[512];
	json_t *a;
	bool taken;

	snprintf(text, sizeof(text),
		 "{\"ok\":true,\"version\":\"%s\",\"switches\":2,\"top_lid\":6,\"first\":%u,"
		 "\"tables\":[%s]}",
		 version, first, rows);
	a = json_loads(text, 0, NULL);
	assert_non_null(a);
	taken = live_tables_take(t, a);
	json_decref(a);
	return taken;
}

static port_id port(uint64_t guid, unsigned num)
{
	return fab_port_id(n.fab, fab_node_by_guid(n.fab, guid), num);
}

TEST(pieces)
{
	struct live_tables t = {0};

	assert_true(take(&t, "1", 0, ""));
	assert_false(live_tables_whole(&t));
	assert_true(take(&t, "1", 0, "\"" FIRST "\""));
	assert_true(take(&t, "1", 0, "\"" FIRST "\"")); /* again: it is there already */
	assert_int_equal(t.known, 1);
	assert_true(take(&t, "1", 1, "\"" SECOND "\""));
	assert_true(live_tables_whole(&t));
	assert_true(take(&t, "1", 0, "")); /* the version is the same: nothing is lost */
	assert_true(live_tables_whole(&t));
	assert_true(take(&t, "2", 1, "\"" SECOND "\"")); /* another one: it begins again */
	assert_int_equal(t.known, 0);
	live_tables_clear(&t);
}

TEST(answers_that_make_no_sense)
{
	static const char *const bad[] = {"7", "\"ff\"", "\"ff0103010203zz\"", "null",
					  "\"" FIRST "\",\"" SECOND "\",\"" SECOND "\""};
	struct live_tables t = {0};
	json_t *empty = json_object();

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_false(take(&t, "1", 0, bad[i]));
		assert_int_equal(t.known, 0);
	}
	assert_false(live_tables_take(&t, empty));
	assert_false(live_tables_take(&t, NULL));
	assert_false(take(&t,
			  "1234567890123456789012345678901234567890123456789012345678901234567890",
			  0, ""));
	json_decref(empty);
	live_tables_clear(&t);
}

TEST(loads)
{
	struct live_tables t = {0};
	uint32_t *load;

	take(&t, "1", 0, "\"" FIRST "\",\"" SECOND "\"");
	load = live_tables_loads(&t, n.fab);
	assert_int_equal(load[port(1, 3)], 2); /* a and b to c */
	assert_int_equal(load[port(1, 4)], 2); /* a and b to d */
	assert_int_equal(load[port(2, 3)], 4);
	assert_int_equal(load[port(2, 4)], 0);
	assert_int_equal(load[port(1, 1)], 3);
	assert_int_equal(load[port(0xa0, 1)], 3);
	assert_int_equal(load[port(0xd0, 1)], 3);
	free(load);
	live_tables_clear(&t);
}

TEST(users)
{
	struct live_tables t = {0};
	live_users u = {0};

	take(&t, "1", 0, "\"" FIRST "\",\"" SECOND "\"");
	live_tables_users(&t, n.fab, port(1, 3), &u);
	assert_int_equal(u.n, 2);
	assert_int_equal(n.fab->nodes[u.at[0].from].guid, 0xa0);
	assert_int_equal(n.fab->nodes[u.at[0].to].guid, 0xc0);
	live_tables_users(&t, n.fab, port(2, 3), &u);
	assert_int_equal(u.n, 6);
	u.n = 0;
	live_tables_users(&t, n.fab, port(0xb0, 1), &u);
	assert_int_equal(u.n, 3);
	u.n = 0;
	live_tables_users(&t, n.fab, port(2, 4), &u);
	assert_int_equal(u.n, 0);
	vec_free(&u);
	live_tables_clear(&t);
}

/* Loops, entries that lead nowhere and tables of another subnet count no route. */
TEST(tables_that_lead_nowhere)
{
	struct live_tables t = {0};
	live_users u = {0};
	uint32_t *load;

	take(&t, "1", 0, "\"ff000301020303\",\"ff030003030303\"");
	load = live_tables_loads(&t, n.fab);
	assert_int_equal(load[port(1, 3)], 0);
	assert_int_equal(load[port(0xc0, 1)], 2); /* to a and b */
	free(load);
	take(&t, "2", 0, "\"ffffffffffffff\",\"ff090909090909\"");
	load = live_tables_loads(&t, n.fab);
	for (port_id p = 0; p < n.fab->nports; p++)
		assert_int_equal(load[p], 0);
	free(load);
	t.nswitches = t.known = 1;
	load = live_tables_loads(&t, n.fab);
	assert_int_equal(load[port(0xa0, 1)], 0);
	free(load);
	live_tables_users(&t, n.fab, port(1, 1), &u);
	assert_int_equal(u.n, 0);
	vec_free(&u);
	live_tables_clear(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces),
		cmocka_unit_test(answers_that_make_no_sense),
		cmocka_unit_test(loads),
		cmocka_unit_test(users),
		cmocka_unit_test(tables_that_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
