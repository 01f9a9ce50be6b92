/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at a run: nodes, routes, trees, users of links, and what a failure would cost.
 * Covers: window_look.c, window_routes.c, window_whatif.c
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
		cmocka_unit_test(what_cannot_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
