/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots, groups of hosts and tables that a configuration names: what the manager makes of them, when names become known, after
 * a reload, and when tables do not fit the subnet. State: one lab for each test.
 * Covers: wishes.c, name_lookup.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/manager.h"

struct story {
	struct fab *fab;
	struct lab *lab;
	struct lab_config cfg;
	unsigned instead, worse_roots, refused, unknown; /* notes */
	struct sm_note names;				 /* the last about names */
	char serves[16], why[SM_WHY];
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;

	s->refused += n->kind == SM_NOTE_REFUSED;
	s->worse_roots += n->kind == SM_NOTE_WORSE_ROOTS;
	s->unknown += n->kind == SM_NOTE_UNKNOWN_NAMES;
	if (n->kind == SM_NOTE_UNKNOWN_NAMES)
		s->names = *n;
	if (n->kind != SM_NOTE_OTHER_ENGINE && n->kind != SM_NOTE_WORSE_ROOTS)
		return;
	s->instead += n->kind == SM_NOTE_OTHER_ENGINE;
	snprintf(s->serves, sizeof(s->serves), "%s", n->engine.instead);
	snprintf(s->why, sizeof(s->why), "%s", n->engine.why);
}

/* At rest with correct tables for every pair; names are read, and what follows from them is done. */
static void settle(struct story *s)
{
	time_ps now = sim_now(lab_sim(s->lab));
	struct lab_verdict v;

	assert_true(lab_run_settled(s->lab, now, now + 60 * PS_PER_S));
	lab_run_until(s->lab, sim_now(lab_sim(s->lab)) + PS_PER_S);
	now = sim_now(lab_sim(s->lab));
	assert_true(lab_run_settled(s->lab, now, now + 60 * PS_PER_S));
	lab_judge(s->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
	assert_int_equal(s->refused, 0);
}

static void begin_on(struct story *s, struct fab *f, const char *routes, const struct sm_inputs *in)
{
	struct err e;

	*s = (struct story){.fab = f};
	assert_non_null(s->fab);
	lab_config_default(&s->cfg);
	s->cfg.threads = 1;
	s->cfg.sm.mechanism.routes = sm_supply_find(routes);
	s->cfg.sm.inputs = in;
	s->lab = lab_new(s->fab, &s->cfg, &e);
	lab_on_note(s->lab, on_note, s);
	lab_power_on(s->lab, NULL);
	settle(s);
}

static void begin(struct story *s, struct fab_gen g, const char *routes, const struct sm_inputs *in)
{
	struct err e;

	begin_on(s, fab_generate(&g, &e), routes, in);
}

static void end(struct story *s)
{
	lab_free(s->lab);
	fab_free(s->fab);
}

static const struct fab_gen tree = {.kind = "mtree", .dims = {4, 3}, .ndims = 2};

/* Tables of an engine for a fabric with LIDs of its own. */
static char *dump_of(struct fab_gen g, const struct rt_engine *engine, struct rt_dump *d)
{
	struct err e;
	struct fab *f = fab_generate(&g, &e), *with = fab_assign_lids(f, 0, &e);
	struct strbuf text = {0};
	struct rt_tables *t;

	assert_int_equal(rt_compute(engine, with, &(struct rt_opts){.root = FAB_NONE}, &t, &e), 0);
	rt_tables_fill(t);
	rt_lfts_write(with, t, &text);
	*d = (struct rt_dump){.name = "x.lfts", .text = text.s, .len = text.len, .part = true};
	rt_tables_free(t);
	fab_free(f);
	fab_free(with);
	return text.s;
}

/* Entries that lead elsewhere than the dump says. */
static uint64_t others(const struct story *s, const struct rt_dump *d)
{
	const struct sm *sm = lab_sm(s->lab);
	struct rt_given given = {.lfts = *d};
	struct rt_opts o = {.root = FAB_NONE, .given = &given};
	struct rt_tables *t;
	uint64_t n = 0;
	struct err e;

	assert_int_equal(rt_compute(&rt_file, sm->topo.fab, &o, &t, &e), 0);
	for (size_t i = 0; i < (size_t)t->nswitches * t->stride; i++)
		n += t->lft[i] != IBA_PORT_NONE && t->lft[i] != sm->routes.tables->lft[i];
	rt_tables_free(t);
	return n;
}

static port_id trunk(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[f->ports[p].peer].node))
			return p;
	return FAB_NONE;
}

/* PIRa's tables are like no other engine's. A dead link breaks them; another engine serves until it is there again. */
TEST(tables_of_a_file_serve_as_long_as_they_fit)
{
	struct sm_inputs in = {.number = 1};
	char *text = dump_of(tree, &rt_pira, &in.tables.lfts);
	struct story s;
	const char *why;
	port_id p, q;

	begin(&s, tree, "file", &in);
	assert_int_equal(s.instead, 0);
	assert_int_equal(others(&s, &in.tables.lfts), 0);
	p = trunk(s.fab);
	q = s.fab->ports[p].peer;
	sim_uncable(lab_sim(s.lab), p);
	settle(&s);
	assert_true(s.instead > 0);
	assert_non_null(strstr(s.why, "failed verification"));
	assert_string_equal(sm_engine(lab_sm(s.lab), &why)->name, s.serves);
	assert_string_not_equal(s.serves, "file");
	s.instead = 0;
	sim_cable(lab_sim(s.lab), p, q);
	settle(&s);
	assert_int_equal(s.instead, 0);
	assert_int_equal(others(&s, &in.tables.lfts), 0);
	assert_string_equal(sm_engine(lab_sm(s.lab), &why)->name, "file");
	end(&s);
	free(text);
}

TEST(a_file_for_another_subnet_is_refused_with_a_reason)
{
	struct fab_gen small = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct sm_inputs in = {.number = 1};
	char *text = dump_of(small, &rt_tree, &in.tables.lfts);
	struct story s;

	begin(&s, tree, "file", &in);
	assert_true(s.instead > 0);
	assert_non_null(strstr(s.why, "x.lfts has no "));
	assert_string_equal(s.serves, "tree");
	end(&s);
	free(text);
}

/* A reload is applied at rest, without another change. */
TEST(other_tables_replace_those_in_force_after_a_reload)
{
	struct sm_inputs first = {.number = 1}, second = {.number = 2}, bad = {.number = 3};
	char *a = dump_of(tree, &rt_tree, &first.tables.lfts);
	char *b = dump_of(tree, &rt_pira, &second.tables.lfts);
	struct story s;

	bad.tables.lfts = (struct rt_dump){.name = "bad", .text = "no", .len = 2};
	begin(&s, tree, "file", &first);
	assert_true(others(&s, &second.tables.lfts) > 0);
	s.cfg.sm.inputs = &second;
	sm_reconfigure((struct sm *)lab_sm(s.lab), &s.cfg.sm);
	assert_false(sm_inputs_unused(lab_sm(s.lab), &second));
	settle(&s);
	assert_int_equal(others(&s, &second.tables.lfts), 0);
	assert_true(sm_inputs_unused(lab_sm(s.lab), &first));
	assert_int_equal(s.instead, 0);
	s.cfg.sm.inputs = &bad;
	sm_reconfigure((struct sm *)lab_sm(s.lab), &s.cfg.sm);
	settle(&s);
	assert_int_equal(s.instead, 1);
	assert_non_null(strstr(s.why, "bad:1: expected"));
	end(&s);
	free(a);
	free(b);
}

/* ---- roots ---- */

static bool is_root(const struct story *s, const char *name)
{
	const struct sm *sm = lab_sm(s->lab);
	const struct fab *f = sm->topo.fab;
	node_id n = fab_node_by_text(s->fab, name);
	uint32_t best = 0;

	for (uint32_t sw = 0; sw < f->nswitches; sw++)
		best = sm->routes.rank[sw] < sm->routes.rank[best] ? sw : best;
	return n != FAB_NONE && f->nodes[f->switches[best]].guid == s->fab->nodes[n].guid;
}

/* The first that is present is FERa's; names count when they are read. */
TEST(roots_by_name_are_taken_when_names_are_known)
{
	const struct sm_inputs in = {.roots = "no such switch\nmid0_1\n", .number = 5};
	struct story s;

	begin(&s, (struct fab_gen){.kind = "mtree", .dims = {4, 3}, .ndims = 2}, "fera", &in);
	assert_true(is_root(&s, "mid0_1"));
	assert_int_equal(s.unknown, 1);
	assert_string_equal(s.names.unknown.list, "routes.roots");
	assert_string_equal(s.names.unknown.first, "no such switch");
	assert_int_equal(s.names.unknown.entries, 1);
	end(&s);
}

/* Once for each list and configuration; a change of the subnet and a reload without change repeat nothing. */
TEST(entries_that_no_device_matches_are_told_once)
{
	const struct sm_inputs in = {
		.group = {NULL, "host 1*\nstorage*\n0x12\nmetadata\n", "leaf0_0\n"}, .number = 3};
	const struct sm_inputs good = {.group = {"host 2\n"}, .number = 4};
	struct story s;
	port_id p;

	begin(&s, tree, "tree", &in);
	assert_int_equal(s.unknown, 1);
	assert_string_equal(s.names.unknown.list, "routes.io_nodes");
	assert_string_equal(s.names.unknown.first, "storage*");
	assert_int_equal(s.names.unknown.entries, 3);
	p = trunk(s.fab);
	sim_uncable(lab_sim(s.lab), p);
	settle(&s);
	assert_int_equal(s.unknown, 1);
	s.cfg.sm.inputs = &good;
	sm_reconfigure((struct sm *)lab_sm(s.lab), &s.cfg.sm);
	settle(&s);
	assert_int_equal(s.unknown, 1);
	s.cfg.sm.inputs = &in;
	sm_reconfigure((struct sm *)lab_sm(s.lab), &s.cfg.sm);
	settle(&s);
	assert_int_equal(s.unknown, 2);
	end(&s);
}

/* As switches without a management processor do. */
TEST(all_switches_that_share_a_name_are_roots)
{
	const struct sm_inputs one = {.roots = "Spine\n", .number = 5};
	const struct sm_inputs all = {.roots = "root0_0\nroot0_1\nroot1_0\nroot1_1\n", .number = 6};
	struct err e;
	struct fab *f = fab_generate(&tree, &e);
	struct story s, t;
	const struct rt_tables *a, *b;

	for (node_id n = 0; n < f->nnodes; n++)
		if (!strncmp(fab_node_name(f, n), "root", 4))
			memcpy(f->strings + f->nodes[n].name, "Spine", 6);
	begin_on(&s, f, "updn", &one);
	begin(&t, tree, "updn", &all);
	a = lab_sm(s.lab)->routes.tables;
	b = lab_sm(t.lab)->routes.tables;
	assert_int_equal(a->nswitches, b->nswitches);
	assert_memory_equal(a->lft, b->lft, (size_t)a->nswitches * a->stride);
	end(&s);
	end(&t);
}

/* One leaf of a tree as root of updn: less than half of what its top gives. */
TEST(roots_that_cost_bandwidth_are_reported_with_both_figures)
{
	struct fab_gen g = {.kind = "mtree", .dims = {8, 3}, .ndims = 2};
	char root[32];
	const struct sm_inputs in = {.roots = root, .number = 7};
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	struct story s = {0};

	snprintf(root, sizeof(root), "0x%llx\n",
		 (unsigned long long)f->nodes[f->switches[f->nswitches - 1]].guid);
	fab_free(f);
	s.fab = fab_generate(&g, &e);
	lab_config_default(&s.cfg);
	s.cfg.threads = 1;
	s.cfg.sm.advise = true;
	s.cfg.sm.mechanism.routes = sm_supply_find("fera");
	s.cfg.sm.inputs = &in;
	s.lab = lab_new(s.fab, &s.cfg, &e);
	lab_on_note(s.lab, on_note, &s);
	lab_power_on(s.lab, NULL);
	settle(&s);
	assert_int_equal(s.worse_roots, 1);
	assert_non_null(strstr(s.why, "; roots: auto: bisections 0."));
	end(&s);
}

/* ---- groups ---- */

/* The last of the four hosts of each leaf is a storage node: each group gets more bandwidth inside itself. */
TEST(groups_by_name_are_balanced_by_themselves)
{
	struct fab_gen g = {.kind = "mtree", .dims = {8, 2}, .ndims = 2};
	struct strbuf list = {0};
	struct sm_inputs in = {.number = 9};
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	uint64_t up[2] = {0};
	unsigned k = 0;

	for (node_id n = 0; n < f->nnodes; n++)
		if (!fab_is_switch(f, n) && k++ % 4 == 3)
			strbuf_addf(&list, "%s\n", fab_node_name(f, n));
	in.group[1] = list.s;
	for (unsigned i = 0; i < 2; i++) {
		const struct sm *sm;
		struct story s;
		uint64_t most = 0, *over;

		begin(&s, g, "tree", i ? &in : NULL);
		sm = lab_sm(s.lab);
		over = mem_zarray((size_t)sm->topo.fab->nports + 1, sizeof(*over));
		/* routes to storage nodes over each port of one leaf that leads up */
		for (node_id n = 0; n < sm->topo.fab->nnodes; n++) {
			const struct fab *now = sm->topo.fab;
			node_id of = fab_node_by_guid(f, now->nodes[n].guid);
			port_id p = fab_port_id(now, n, 1);
			uint32_t leaf;

			if (fab_is_switch(now, n) || !strstr(list.s, fab_node_name(f, of)))
				continue;
			leaf = now->switch_index[now->ports[now->ports[p].peer].node];
			for (uint32_t sw = 0; sw < now->nswitches; sw++) {
				unsigned out = rt_row(sm->routes.tables, sw)[now->ports[p].lid];

				if (sw != leaf)
					over[fab_port_id(now, now->switches[sw], out)]++;
			}
		}
		for (port_id p = 0; p < sm->topo.fab->nports; p++)
			most = MAX(most, over[p]);
		up[i] = most;
		free(over);
		end(&s);
	}
	if (up[1] >= up[0])
		fail_msg("most routes over a link: %llu without, %llu with groups",
			 (unsigned long long)up[0], (unsigned long long)up[1]);
	strbuf_free(&list);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_a_file_serve_as_long_as_they_fit),
		cmocka_unit_test(a_file_for_another_subnet_is_refused_with_a_reason),
		cmocka_unit_test(other_tables_replace_those_in_force_after_a_reload),
		cmocka_unit_test(roots_by_name_are_taken_when_names_are_known),
		cmocka_unit_test(entries_that_no_device_matches_are_told_once),
		cmocka_unit_test(all_switches_that_share_a_name_are_roots),
		cmocka_unit_test(roots_that_cost_bandwidth_are_reported_with_both_figures),
		cmocka_unit_test(groups_by_name_are_balanced_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
