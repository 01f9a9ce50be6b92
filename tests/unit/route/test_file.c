/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine file: tables of dumps for fabrics with other LIDs, with lanes, with devices missing on either side. Keeps no state;
 * each test makes its own fabric.
 * Covers: file.c
 */
#include "route_fixture.h"

static void put(void *ctx, const char *text, size_t len)
{
	strbuf_addn(ctx, text, len);
}

struct dumps {
	struct strbuf lfts, sls, sl2vl;
	struct rt_given given;
};

static void dumps_make(struct dumps *d, const struct fab *f, const struct rt_tables *t)
{
	*d = (struct dumps){0};
	rt_lfts_write(f, t, &d->lfts);
	d->given.lfts = (struct rt_dump){"x.lfts", d->lfts.s, d->lfts.len, true};
	if (!t->lanes)
		return;
	rt_path_sls_each(f, t, put, &d->sls);
	rt_sl2vl_each(f, t, put, &d->sl2vl);
	d->given.sls = (struct rt_dump){"x.sls", d->sls.s, d->sls.len, true};
	d->given.sl2vl = (struct rt_dump){"x.sl2vl", d->sl2vl.s, d->sl2vl.len, true};
}

static void dumps_free(struct dumps *d)
{
	strbuf_free(&d->lfts);
	strbuf_free(&d->sls);
	strbuf_free(&d->sl2vl);
}

static void dumps_of(struct dumps *d, const struct rt_engine *g, const struct fab *f)
{
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t;
	struct err e;

	assert_int_equal(rt_compute(g, f, &o, &t, &e), 0);
	dumps_make(d, f, t);
	rt_tables_free(t);
}

/* The same fabric with LIDs in the opposite order, 2^lmc for each host. */
static struct fab *other_lids(const struct fab *f, unsigned lmc)
{
	struct fab_builder *b = fab_builder_from(f);
	uint16_t lid = 64;

	for (port_id p = f->nports; p--;) {
		struct fab_port *x = fab_builder_port(b, f->ports[p].node, f->ports[p].num);

		if (!f->ports[p].lid)
			continue;
		x->lid = lid;
		x->lmc = fab_is_switch(f, f->ports[p].node) ? 0 : (uint8_t)lmc;
		lid = (uint16_t)(lid + (1u << lmc));
	}
	return fab_build(b);
}

static struct rt_tables *given(const struct fab *f, const struct dumps *d, bool ok)
{
	struct rt_opts o = {.root = FAB_NONE, .given = &d->given};
	struct rt_tables *t;
	struct rt_report r;
	struct err e;

	assert_int_equal(rt_compute(&rt_file, f, &o, &t, &e), 0);
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.ok, ok);
	rt_report_free(&r);
	return t;
}

static void refused(const struct fab *f, const struct dumps *d, unsigned lanes, const char *why)
{
	struct rt_opts o = {.root = FAB_NONE, .given = &d->given, .lanes = lanes};
	struct rt_tables *t;
	struct err e;

	assert_int_equal(rt_compute(&rt_file, f, &o, &t, &e), -EINVAL);
	if (!strstr(e.text, why))
		fail_msg("expected '%s' in '%s'", why, e.text);
}

static struct fab *without(const struct fab *f, node_id gone)
{
	struct world_down d = world_down_new(f);
	struct fab *g;

	d.node[gone] = true;
	g = world_now(f, &d);
	world_down_free(&d);
	return g;
}

/* Every port is reached by the same ports whatever its LIDs are. */
TEST(ports_keep_their_ways_under_other_lids)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}});
	struct fab *g = other_lids(f, 2);
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t, *u;
	struct dumps d;
	struct err e;

	assert_int_equal(rt_compute(&rt_tree, f, &o, &t, &e), 0);
	dumps_make(&d, f, t);
	u = given(g, &d, true);
	for (port_id p = 0; p < f->nports; p++)
		for (uint32_t s = 0; f->ports[p].lid && s < f->nswitches; s++)
			for (unsigned i = 0; i < 1u << g->ports[p].lmc; i++)
				assert_int_equal(rt_row(u, s)[g->ports[p].lid + i],
						 rt_row(t, s)[f->ports[p].lid]);
	rt_tables_free(t);
	rt_tables_free(u);
	dumps_free(&d);
	fab_free(f);
	fab_free(g);
}

/* Each LID of a port as the dump has it, where the dump has as many. */
TEST(several_lids_of_a_port_stay_apart)
{
	struct fab *one = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 2}});
	struct fab *f = other_lids(one, 1), *g = fab_assign_lids(one, 0, NULL);
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t, *u;
	uint32_t differ = 0;
	struct dumps d;
	struct err e;

	assert_int_equal(rt_compute(&rt_tree, f, &o, &t, &e), 0);
	dumps_make(&d, f, t);
	u = given(f, &d, true);
	assert_memory_equal(t->lft, u->lft, (size_t)t->nswitches * t->stride);
	for (port_id p = 0; p < f->nports; p++)
		for (uint32_t s = 0; f->ports[p].lmc && s < f->nswitches; s++)
			differ +=
				rt_row(u, s)[f->ports[p].lid] != rt_row(u, s)[f->ports[p].lid + 1];
	assert_true(differ);
	rt_tables_free(u);
	u = given(g, &d, true); /* of two LIDs the first */
	rt_tables_free(t);
	rt_tables_free(u);
	dumps_free(&d);
	fab_free(one);
	fab_free(f);
	fab_free(g);
}

TEST(lanes_come_along)
{
	struct fab *f = world_make(
		(struct fab_gen){.kind = "torus", .dims = {5, 5}, .hosts = 1, .has_hosts = true});
	struct fab *g = other_lids(f, 0);
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t, *u;
	struct dumps d, again;
	struct err e;

	assert_int_equal(rt_compute(&rt_torus, f, &o, &t, &e), 0);
	assert_true(rt_nvls(t) > 1);
	dumps_make(&d, f, t);
	u = given(f, &d, true);
	dumps_make(&again, f, u);
	assert_string_equal(again.sls.s, d.sls.s);
	assert_string_equal(again.sl2vl.s, d.sl2vl.s);
	dumps_free(&again);
	rt_tables_free(u);
	rt_tables_free(given(g, &d, true));
	refused(f, &d, 1, "use 2 lanes; there are 1");
	d.given.sls.text = d.given.sl2vl.text = NULL; /* then there is a credit loop */
	rt_tables_free(given(f, &d, false));
	rt_tables_free(t);
	dumps_free(&d);
	fab_free(f);
	fab_free(g);
}

TEST(what_the_dump_lacks_is_named)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	struct fab *small = without(f, f->nnodes - 1), *less = without(f, f->switches[0]);
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t;
	struct dumps d;
	struct err e;

	dumps_of(&d, &rt_tree, small);
	refused(f, &d, 0, "x.lfts has no routes to");
	rt_tables_free(given(small, &d, true));
	dumps_free(&d);
	dumps_of(&d, &rt_tree, less);
	refused(f, &d, 0, "has no");
	dumps_free(&d);
	assert_int_equal(rt_compute(&rt_file, f, &o, &t, &e), -EINVAL);
	assert_string_equal(e.text, "file: no tables are given");
	fab_free(f);
	fab_free(small);
	fab_free(less);
}

/* A dump of more than there is: a host that is off does no harm; a top switch that carried routes does, and that shows. */
TEST(what_the_fabric_lacks_is_left_out)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	struct fab *host = without(f, f->nnodes - 1), *top = NULL;
	struct dumps d;

	dumps_of(&d, &rt_tree, f);
	rt_tables_free(given(host, &d, true));
	for (uint32_t s = 0; s < f->nswitches && !top; s++) {
		node_id n = f->switches[s];
		bool leaf = false;

		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			port_id q = f->ports[fab_port_id(f, n, i)].peer;

			leaf |= q != FAB_NONE && !fab_is_switch(f, f->ports[q].node);
		}
		top = leaf ? NULL : without(f, n);
	}
	assert_non_null(top);
	rt_tables_free(given(top, &d, false));
	dumps_free(&d);
	fab_free(f);
	fab_free(host);
	fab_free(top);
}

TEST(faults_have_file_and_line)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	struct dumps d;

	dumps_of(&d, &rt_tree, f);
	d.given.sls = (struct rt_dump){"x.sls", "nonsense\n", 9, true};
	refused(f, &d, 0, "file: x.sls:1: expected");
	d.given.lfts = (struct rt_dump){"y.lfts", "\nnonsense\n", 10, true};
	refused(f, &d, 0, "file: y.lfts:2: expected");
	dumps_free(&d);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_keep_their_ways_under_other_lids),
		cmocka_unit_test(several_lids_of_a_port_stay_apart),
		cmocka_unit_test(lanes_come_along),
		cmocka_unit_test(what_the_dump_lacks_is_named),
		cmocka_unit_test(what_the_fabric_lacks_is_left_out),
		cmocka_unit_test(faults_have_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
