/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at a run: nodes, routes, trees, users of links, and what a failure would cost.
 * Covers: window_look.c, window_routes.c, window_whatif.c, window_quality.c, quality_reply.c
 */
#include "unit_test.h"

#include "window_page.h"

/* Four switches of one level, two above: each host is two, four or no switch away. */
static void bring_up(struct page *p)
{
	page_open(p);
	ask(p, "{'cmd':'generate','words':'mtree 4 2'}");
	ask(p, "{'cmd':'start'}");
	go(p, 100000);
}

static json_t *member(struct page *p, const char *key)
{
	json_t *v = json_object_get(p->reply, key);

	assert_non_null(v);
	return v;
}

static int64_t integer(json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

static const char *field(json_t *fields, const char *name)
{
	size_t i;
	json_t *v;

	json_array_foreach(fields, i,
			   v) if (!strcmp(json_string_value(json_array_get(v, 0)),
					  name)) return json_string_value(json_array_get(v, 1));
	fail_msg("no field %s", name);
	return NULL;
}

TEST(a_node_shows_what_it_holds)
{
	struct page p;
	json_t *n, *port;

	bring_up(&p);
	ask(&p, "{'cmd':'node','node':'S-0002000000000001'}");
	n = member(&p, "node");
	assert_string_equal(json_string_value(json_object_get(n, "guid")), "0x0002000000000001");
	assert_true(integer(n, "lid") > 0);
	assert_int_equal(json_array_size(json_object_get(n, "groups")), 2);
	assert_int_equal(json_array_size(json_object_get(n, "ports")), 5);
	assert_true(json_array_size(json_object_get(n, "lft")) > 2);
	port = json_array_get(json_object_get(n, "ports"), 1);
	assert_string_equal(json_string_value(json_object_get(port, "state")), "Active");
	assert_string_equal(field(json_object_get(port, "fields"), "state"), "4 (Active)");
	assert_true(json_is_integer(json_object_get(port, "peer")));
	assert_true(json_is_null(json_object_get(n, "manager")));
	ask(&p, "{'cmd':'node','guid':'0x0001000000000010'}");
	n = json_object_get(member(&p, "node"), "manager");
	assert_string_equal(json_string_value(json_object_get(n, "state")), "Master");
	assert_string_equal(field(json_object_get(n, "fields"), "mechanism"), "weft");
	page_close(&p);
}

static void find_lid(struct page *p, int64_t lid, int64_t node)
{
	char text[60];

	snprintf(text, sizeof(text), "{'cmd':'find','text':'%d'}", (int)lid);
	ask(p, text);
	assert_int_equal(json_integer_value(json_array_get(member(p, "nodes"), 0)), node);
}

TEST(a_route_leads_from_host_to_host)
{
	struct page p;
	json_t *hops;
	int64_t to;

	bring_up(&p);
	ask(&p, "{'cmd':'route','from':'H-0001000000000010','to':'host 7'}");
	assert_string_equal(text_of(&p, "ends"), "reached");
	hops = member(&p, "hops");
	assert_int_equal(json_array_size(hops), 5);
	assert_int_equal(json_array_size(member(&p, "vls")), 4);
	to = integer(json_array_get(hops, 4), "node");
	find_lid(&p, integer(p.reply, "lid"), to);
	ask(&p, "{'cmd':'tree','node':'host 7'}");
	assert_int_equal(integer(p.reply, "node"), to);
	assert_int_equal(json_array_size(member(&p, "out")), 6);
	ask(&p, "{'cmd':'event','text':'off S-0002000000000001'}");
	ask(&p, "{'cmd':'route','from':'H-0001000000000010','to':'host 7'}");
	assert_string_not_equal(text_of(&p, "ends"), "reached");
	page_close(&p);
}

/* 8 hosts: each sends to 7 others, and receives from 7. */
TEST(loads_count_routes)
{
	struct page p;
	const uint8_t *f, *l;
	uint32_t nodes, links;

	bring_up(&p);
	ask(&p, "{'cmd':'loads'}");
	f = p.last[WINDOW_FABRIC];
	l = p.last[WINDOW_LOADS];
	nodes = (uint32_t)number(f + 12, 4);
	links = (uint32_t)number(f + 16, 4);
	assert_int_equal(p.len[WINDOW_LOADS], 12 + 8 * links);
	for (uint32_t i = 0; i < links; i++) {
		const uint8_t *x = f + 28 + 28 * nodes + 12 * i;
		uint64_t a = number(x, 4), b = number(x + 4, 4);

		if (f[28 + 28 * a + 22] == 1 || f[28 + 28 * b + 22] == 1) {
			assert_int_equal(number(l + 12 + 8 * i, 4), 7);
			assert_int_equal(number(l + 16 + 8 * i, 4), 7);
		}
	}
	ask(&p, "{'cmd':'users','port':{'node':'host 2','port':1}}");
	assert_int_equal(integer(p.reply, "count"), 14);
	assert_int_equal(json_array_size(member(&p, "routes")), 14);
	page_close(&p);
}

TEST(a_failure_has_a_price)
{
	struct page p;
	json_t *x;

	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'mtree 4 2'}");
	ask(&p, "{'cmd':'whatif','kill':'S-0002000000000002','load':5}");
	x = member(&p, "figures");
	assert_string_equal(field(x, "settled"), "yes");
	assert_true(atoi(field(x, "pairs cut")) > 0 && atoi(field(x, "SMPs")) > 10);
	assert_true(atoi(field(x, "packets lost")) > 0);
	assert_non_null(strstr(text_of(&p, "text"), "--kill 0x0002000000000002 --sm "));
	ask(&p, "{'cmd':'whatif','unlink':{'node':'S-0002000000000005','port':1},'load':0}");
	assert_string_equal(field(member(&p, "figures"), "pairs cut"), "0");
	assert_non_null(strstr(text_of(&p, "text"), " --unlink '0x0002000000000005[1]' --sm "));
	page_close(&p);
}

/* A large fabric gets fewer packets, and a very large one none, so that an answer comes soon; the command says it. */
TEST(a_price_comes_soon)
{
	struct page p;
	json_t *x;

	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'mtree 16 2'}");
	ask(&p, "{'cmd':'whatif','kill':'root1'}");
	x = member(&p, "figures");
	assert_non_null(strstr(field(x, "load of each host"), "packets/s"));
	assert_in_range(atoi(field(x, "packets sent")), 1000, 800000);
	assert_non_null(strstr(text_of(&p, "text"), " --rate "));
	ask(&p, "{'cmd':'generate','words':'clos 2 60 9'}");
	ask(&p, "{'cmd':'whatif','kill':'S-0002000000000001'}");
	assert_non_null(strstr(text_of(&p, "text"), "add: --rate "));
	page_close(&p);
}

static double real(json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* Of a tree whose routes are balanced: shifts get all of a link. */
TEST(the_quality_of_routes)
{
	json_t *q, *x, *link;
	struct page p;
	size_t i;

	bring_up(&p);
	ask(&p, "{'cmd':'quality'}");
	q = member(&p, "quality");
	assert_int_equal(integer(q, "hosts"), 8);
	assert_int_equal(integer(q, "links"), 8);
	assert_int_equal(integer(q, "lanes"), 1);
	assert_string_equal(json_string_value(json_object_get(q, "engine")), "fera");
	assert_true(json_is_false(json_object_get(q, "instead")));
	json_array_foreach(json_object_get(q, "patterns"), i, x)
	{
		assert_true(real(x, "mean") > 0 && real(x, "mean") <= 1);
		assert_int_equal(integer(x, "no_path"), 0);
	}
	assert_true(i > 8);
	assert_int_equal(json_array_size(json_object_get(q, "worst")), 16);
	link = json_array_get(json_object_get(q, "worst"), 0);
	assert_true(integer(link, "routes") > 0 && real(link, "flows") > 0);
	/* Without a switch that hosts have: they are not measured; the others are. */
	ask(&p, "{'cmd':'event','text':'off S-0002000000000003'}");
	ask(&p, "{'cmd':'quality'}");
	assert_int_equal(integer(member(&p, "quality"), "hosts"), 6);
	page_close(&p);
}

TEST(what_a_netlist_gives_is_shown)
{
	json_t *g, *open;
	struct page p;
	char *text;

	page_open(&p);
	open = json_pack("{s:s,s:s}", "cmd", "open", "netlist",
			 "mcastcap=64\nlinearcap=100\nSwitch 3 \"S-0000000000000009\" # \"a\"\n"
			 "sriov=vswitch vfs=5\nCa 1 \"H-0000000000000001\" # \"h\"\n"
			 "[1] \"S-0000000000000009\"[1]\n");
	text = json_dumps(open, 0);
	say(&p, text);
	free(text);
	json_decref(open);
	ask(&p, "{'cmd':'start'}");
	ask(&p, "{'cmd':'node','node':'a'}");
	g = json_object_get(member(&p, "node"), "given");
	assert_int_equal(integer(g, "linear"), 100);
	assert_int_equal(integer(g, "mcast"), 64);
	g = json_object_get(json_array_get(json_object_get(member(&p, "node"), "groups"), 1),
			    "fields");
	assert_string_equal(field(g, "linear_cap"), "100");
	assert_string_equal(field(g, "mcast_cap"), "64");
	ask(&p, "{'cmd':'node','node':'h'}");
	assert_int_equal(integer(json_object_get(member(&p, "node"), "given"), "vfs"), 5);
	page_close(&p);
}

TEST(what_cannot_be_looked_at)
{
	static const char *const bad[] = {
		"{\"cmd\":\"node\",\"node\":99}",
		"{\"cmd\":\"node\"}",
		"{\"cmd\":\"route\",\"from\":0}",
		"{\"cmd\":\"route\",\"from\":0,\"to\":-1}",
		"{\"cmd\":\"tree\",\"lid\":40000}",
		"{\"cmd\":\"users\",\"port\":1}",
		"{\"cmd\":\"users\",\"port\":{\"node\":0,\"port\":200}}",
		"{\"cmd\":\"whatif\"}",
		"{\"cmd\":\"whatif\",\"kill\":\"H-0001000000000010\"}",
		"{\"cmd\":\"whatif\",\"kill\":1,\"load\":101}",
	};
	struct page p;

	bring_up(&p);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		say(&p, bad[i]);
		if (!json_is_string(json_object_get(p.reply, "error")))
			fail_msg("no error: %s", bad[i]);
	}
	page_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_shows_what_it_holds),
		cmocka_unit_test(a_route_leads_from_host_to_host),
		cmocka_unit_test(loads_count_routes),
		cmocka_unit_test(a_failure_has_a_price),
		cmocka_unit_test(a_price_comes_soon),
		cmocka_unit_test(the_quality_of_routes),
		cmocka_unit_test(what_a_netlist_gives_is_shown),
		cmocka_unit_test(what_cannot_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
