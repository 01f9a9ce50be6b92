/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Odd fabrics: the same from one seed, legal, and with each oddity in some of them. Keeps no state.
 */
#include "fabric_fixture.h"

static struct fab *odd(uint64_t seed, bool duplicates)
{
	return fabric_make((struct fab_gen){.kind = "odd", .seed = seed, .duplicates = duplicates});
}

static char *text_of(const struct fab *f)
{
	struct strbuf b = {0};

	fab_netlist_write(f, &b);
	return b.s;
}

TEST(a_seed_gives_one_fabric_and_its_netlist_gives_it_back)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct fab *f = odd(seed, seed % 2);
		char *a = text_of(f), *b;
		struct fab_netlist n = {0};
		struct err e = {""};

		fab_free(f);
		f = odd(seed, seed % 2);
		b = text_of(f);
		assert_string_equal(a, b);
		free(b);
		if (fab_netlist_parse(&n, "odd", a, strlen(a), &e))
			fail_msg("seed %d: %s", (int)seed, e.text);
		b = text_of(n.fab);
		assert_string_equal(a, b);
		fab_netlist_free(&n);
		fab_free(f);
		free(a);
		free(b);
	}
}

/* ---- what there is in it ---- */

struct seen {
	bool parallel, self_loop, dual_port, dual_rail, island, router, wide, one_port, unplugged,
		long_chain, enhanced, fdr10, xdr, host_loop;
};

static void see_host(const struct fab *f, node_id n, struct seen *s)
{
	uint32_t *d = mem_array(f->nnodes, sizeof(*d));

	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		port_id p = f->ports[fab_port_id(f, n, i)].peer;

		for (unsigned k = 1; p != FAB_NONE && k < i; k++) {
			port_id q = f->ports[fab_port_id(f, n, k)].peer;

			if (q == FAB_NONE || f->ports[p].node == n)
				continue;
			fab_distances(f, f->ports[p].node, d);
			s->dual_port |= d[f->ports[q].node] != UINT32_MAX;
			s->dual_rail |= d[f->ports[q].node] == UINT32_MAX;
		}
		s->host_loop |= p != FAB_NONE && f->ports[p].node == n;
	}
	free(d);
}

static void see_switch(const struct fab *f, node_id n, struct seen *s)
{
	s->wide |= f->nodes[n].nports == 254;
	s->one_port |= f->nodes[n].nports == 1;
	s->enhanced |= f->nodes[n].flags & FAB_ENHANCED_PORT0;
	for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
		const struct fab_port *p = &f->ports[fab_port_id(f, n, i)], *q;

		s->unplugged |= p->peer == FAB_NONE;
		if (p->peer == FAB_NONE)
			continue;
		q = &f->ports[p->peer];
		s->self_loop |= q->node == n;
		s->fdr10 |= p->speed == FAB_FDR10;
		s->xdr |= p->speed == FAB_XDR;
		for (unsigned k = 1; k < i && fab_is_switch(f, q->node) && q->node != n; k++) {
			port_id o = f->ports[fab_port_id(f, n, k)].peer;

			s->parallel |= o != FAB_NONE && f->ports[o].node == q->node;
		}
	}
}

TEST(seeds_reach_every_oddity)
{
	struct seen s = {0};

	for (uint64_t seed = 0; seed < 120; seed++) {
		struct fab *f = odd(seed, false);
		struct fab_stats st;

		fab_stats(f, &st);
		s.island |= st.components - st.isolated > 1;
		s.router |= st.routers > 0;
		s.long_chain |= st.diameter > IBA_MAX_HOPS;
		for (node_id n = 0; n < f->nnodes; n++) {
			if (fab_is_switch(f, n))
				see_switch(f, n, &s);
			else
				see_host(f, n, &s);
		}
		fab_free(f);
	}
	assert_true(s.parallel && s.self_loop && s.dual_port && s.dual_rail && s.island);
	assert_true(s.router && s.wide && s.one_port && s.unplugged && s.long_chain);
	assert_true(s.enhanced && s.fdr10 && s.xdr && s.host_loop);
}

/* GUIDs of nodes and of ports with an address that occur twice. */
static unsigned doubles(const struct fab *f, unsigned *lids)
{
	struct map64 guids = {0}, used = {0};
	unsigned n = 0;

	*lids = 0;
	for (node_id i = 0; i < f->nnodes; i++)
		n += fab_node_by_guid(f, f->nodes[i].guid) != i;
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];

		n += q->guid && map64_get(&guids, q->guid) != MAP_NONE;
		*lids += q->lid && map64_get(&used, q->lid) != MAP_NONE;
		map64_put(&guids, q->guid, p);
		map64_put(&used, q->lid, p);
	}
	map64_free(&guids);
	map64_free(&used);
	return n;
}

TEST(guids_and_lids_are_doubled_on_request_only)
{
	unsigned with_guids = 0, with_lids = 0, lids;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct fab *f = odd(seed, false);

		assert_int_equal(doubles(f, &lids), 0);
		assert_int_equal(lids, 0);
		fab_free(f);
		f = odd(seed, true);
		with_guids += doubles(f, &lids) > 0;
		with_lids += lids > 0;
		fab_free(f);
	}
	assert_in_range(with_guids, 30, 60);
	assert_in_range(with_lids, 10, 60);
}

TEST(size_ports_and_rate_can_be_given)
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct fab_gen g = {.kind = "odd",
				    .seed = seed,
				    .dims = {9},
				    .ndims = 1,
				    .ports = 8,
				    .speed = FAB_EDR};
		struct fab *f = fabric_make(g);

		assert_in_range(f->nswitches, 9, 10);
		for (node_id n = 0; n < f->nnodes; n++)
			assert_in_range(f->nodes[n].nports, 1, 8);
		for (port_id p = 0; p < f->nports; p++)
			if (f->ports[p].peer != FAB_NONE)
				assert_int_equal(f->ports[p].speed, FAB_EDR);
		fab_free(f);
	}
}

/* Two nodes of one GUID: the first answers to the GUID, the other one to its number as well. */
TEST(a_twin_has_a_name_of_its_own)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f;
	char ident[32];

	fab_add_node(b, IBA_NODE_CA, 0x10, 1, "one");
	fab_add_node(b, IBA_NODE_CA, 0x10, 1, "two");
	f = fab_build(b);
	assert_int_equal(fab_node_by_guid(f, 0x10), 0);
	fab_node_ident(f, 0, ident);
	assert_string_equal(ident, "H-0000000000000010");
	fab_node_ident(f, 1, ident);
	assert_string_equal(ident, "T1-0000000000000010");
	assert_int_equal(fab_node_by_text(f, ident), 1);
	assert_int_equal(fab_node_by_text(f, "T0-0000000000000010"), FAB_NONE);
	assert_int_equal(fab_node_by_text(f, "T7-0000000000000010"), FAB_NONE);
	fab_free(f);
}

TEST(what_cannot_be_made)
{
	static const struct {
		struct fab_gen g;
		const char *says;
	} row[] = {
		{GEN("odd", 4, 4), "expected 1 size ([N]), found 2"},
		{GEN("odd", 5000), "at most 4096"},
		{{.kind = "odd", .has_hosts = true}, "the seed already gives the hosts"},
		{{.kind = "odd", .links = 3}, "--links is for irregular"},
		{{.kind = "odd", .ports = 1}, "needs 2 ports"},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct err e = {""};
		struct fab *f = fab_generate(&row[i].g, &e);

		if (f || !strstr(e.text, row[i].says))
			fail_msg("row %zu: expected '%s', found '%s'", i, row[i].says,
				 f ? "a fabric" : e.text);
	}
}

/* Each of the nodes that share a GUID is compared with itself, and not with the first of them. */
TEST(a_fabric_with_twins_does_not_differ_from_itself)
{
	unsigned twins = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct fab *f = odd(seed, true), *g = odd(seed, true);
		fab_diff_list l = {0};

		for (node_id n = 0; n < f->nnodes; n++)
			twins += fab_node_by_guid(f, f->nodes[n].guid) != n;
		fab_diff(f, g, &l);
		if (l.n)
			fail_msg("seed %llu: %zu differences", (unsigned long long)seed, l.n);
		fab_diff_free(&l);
		fab_free(f);
		fab_free(g);
	}
	assert_true(twins > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_gives_one_fabric_and_its_netlist_gives_it_back),
		cmocka_unit_test(seeds_reach_every_oddity),
		cmocka_unit_test(guids_and_lids_are_doubled_on_request_only),
		cmocka_unit_test(size_ports_and_rate_can_be_given),
		cmocka_unit_test(a_twin_has_a_name_of_its_own),
		cmocka_unit_test(a_fabric_with_twins_does_not_differ_from_itself),
		cmocka_unit_test(what_cannot_be_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
