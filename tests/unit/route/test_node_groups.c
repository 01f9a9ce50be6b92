/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of hosts: each is balanced by itself by the engines that say so, and numbers of groups reach all LIDs of a host. Keeps
 * no state; each test makes its own fabric.
 * Covers: node_groups.c, named_nodes.c
 */
#include "route_fixture.h"

#include "route/choose.h"
#include "route/named_nodes.h"
#include "route/node_groups.h"
#include "route/quality.h"

/* The last host of each leaf of an 8-port 3-tree, which has four. */
static uint8_t *storage_nodes(const struct fab *f)
{
	uint8_t *group = mem_zarray(f->nports, 1);
	rt_hosts all = {0};

	rt_quality_hosts(f, &all);
	for (size_t i = 3; i < all.n; i += 4)
		group[all.at[i]] = 1;
	vec_free(&all);
	return group;
}

static void measure(const struct fab *f, const struct rt_engine *g, const struct rt_opts *o,
		    const uint8_t *group, uint64_t share[2])
{
	struct rt_opts inside = {.group = group};
	struct rt_tables *t;
	struct rt_report r;
	struct err e;

	assert_int_equal(rt_compute(g, f, o, &t, &e), 0);
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	rt_report_free(&r);
	assert_int_equal(rt_group_quality(f, t, &inside, 200, &share[0], &share[1], &e), 0);
	rt_tables_free(t);
}

TEST(each_group_is_balanced_by_itself)
{
	const struct rt_engine *const engines[] = {&rt_tree, &rt_updn, &rt_balanced};
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	uint8_t *group = storage_nodes(f);

	for (size_t i = 0; i < ARRAY_LEN(engines); i++) {
		struct rt_opts with = {.root = FAB_NONE, .group = group}, none = {.root = FAB_NONE};
		uint64_t before[2], after[2];

		assert_true(engines[i]->groups);
		measure(f, engines[i], &none, group, before);
		measure(f, engines[i], &with, group, after);
		assert_true(after[0] * 100 > before[0] * 103);
	}
	free(group);
	fab_free(f);
}

TEST(auto_takes_an_engine_that_knows_groups)
{
	struct fab *f = world_make(
		(struct fab_gen){.kind = "torus", .dims = {3, 3}, .has_hosts = true, .hosts = 2});
	uint8_t *group = mem_zarray(f->nports, 1);
	struct rt_opts o = {.root = FAB_NONE, .group = group};
	struct rt_choice c;
	struct err e;

	group[f->nports - 1] = 1;
	assert_int_equal(rt_choose(f, &o, &c, &e), 0);
	assert_true(c.engine->groups);
	rt_choice_free(&c);
	free(group);
	fab_free(f);
}

TEST(all_lids_of_a_host_are_in_its_group)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {3}});
	uint8_t *group = mem_zarray(f->nports, 1), *by;
	struct fab *more;
	struct err e;

	for (port_id p = 0; p < f->nports; p++)
		group[p] = fab_is_switch(f, f->ports[p].node) ? 9 : 5;
	more = fab_assign_lids(f, 2, &e);
	assert_non_null(more);
	by = rt_group_by_lid(more, &(struct rt_opts){.group = group}, fab_top_lid(more));
	for (port_id p = 0; p < more->nports; p++) {
		bool host = !fab_is_switch(more, more->ports[p].node);

		for (uint32_t i = 0; more->ports[p].lid && i < 1u << more->ports[p].lmc; i++)
			assert_int_equal(by[more->ports[p].lid + i], host ? 5 : 0);
	}
	free(by);
	by = rt_group_by_lid(more, &(struct rt_opts){0}, fab_top_lid(more));
	for (uint32_t i = 0; i <= fab_top_lid(more); i++)
		assert_int_equal(by[i], 0);
	free(by);
	free(group);
	fab_free(more);
	fab_free(f);
}

/* GUIDs of nodes and ports, names, switches for their hosts, patterns; lists with faults by line. */
TEST(hosts_are_found_as_users_name_them)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	bool *in = mem_zarray(f->nports + 1, sizeof(*in));
	struct strbuf guids = {0};
	struct rt_naming x;
	struct err e;
	char text[32];

	rt_naming_init(&x, f, NULL, NULL);
	assert_int_equal(rt_hosts_named(&x, "host 1", in), 1);
	assert_int_equal(rt_hosts_named(&x, "host*", in), f->nhosts);
	assert_int_equal(rt_hosts_named(&x, "leaf0", in), 2);
	assert_int_equal(rt_hosts_named(&x, "nothing", in), 0);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)f->nodes[f->switches[1]].guid);
	assert_int_equal(rt_node_named(&x, text), f->switches[1]);
	assert_int_equal(rt_node_named(&x, "0xdead"), FAB_NONE);
	assert_int_equal(rt_guid_list("x", "# none\n0x12 host\n 34\r\n", 22, &guids, &e), 0);
	assert_string_equal(guids.s, "0x0000000000000012\n0x0000000000000034\n");
	assert_int_equal(rt_guid_list("x", "0x12\nhost", 9, &guids, &e), -EINVAL);
	assert_non_null(strstr(e.text, "x:2: expected a GUID"));
	assert_int_equal(rt_guid_list("x", "\x1b[31m\xff\n", 7, &guids, &e), -EINVAL);
	assert_non_null(strstr(e.text, "found '?[31m?'"));
	strbuf_free(&guids);
	rt_naming_free(&x);
	free(in);
	fab_free(f);
}

/* As all hosts have whose description was never set. */
TEST(all_hosts_that_share_a_name_are_named_by_it)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	bool *in = mem_zarray(f->nports + 1, sizeof(*in));
	struct rt_naming x;

	for (node_id n = 0; n < f->nnodes; n++)
		if (!strcmp(fab_node_name(f, n), "host 3") ||
		    !strcmp(fab_node_name(f, n), "host 6"))
			memcpy(f->strings + f->nodes[n].name, "MT4123", 7);
	rt_naming_init(&x, f, NULL, NULL);
	assert_int_equal(rt_hosts_named(&x, "MT4123", in), 2);
	assert_int_equal(rt_hosts_named(&x, "host 1", in), 1);
	rt_naming_free(&x);
	free(in);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_group_is_balanced_by_itself),
		cmocka_unit_test(auto_takes_an_engine_that_knows_groups),
		cmocka_unit_test(all_lids_of_a_host_are_in_its_group),
		cmocka_unit_test(hosts_are_found_as_users_name_them),
		cmocka_unit_test(all_hosts_that_share_a_name_are_named_by_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
