/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs of a migration on fat trees of 36-port switches, counted on computed tables (MECHANISM 10): those of
 * a full reconfiguration, the least and the most of a swap and of a copy. State: struct tree, for one row of
 * vswitch-smps.csv. Sends no SMP: `weft sim migrate` does.
 */
#include "unit_test.h"

#include "example15.h"
#include "base/rng.h"
#include "route/moves.h"

static const char *dir = "tests/golden";

enum {
	ALL_PAIRS = 700,
	DRAWN = 3000
}; /* hosts up to which every pair is counted; pairs otherwise */

struct row {
	unsigned hosts, switches, lids, blocks, full, swap_min, swap_max, copy_max;
	struct fab_gen gen;
};

struct extremes {
	uint32_t swap_min, swap_max, copy_min, copy_max;
};

struct tree {
	struct fab *f;
	struct rt_tables *t;
	uint16_t *lid; /* of the hosts */
	uint32_t nhosts;
	rt_move_entries e;
	struct extremes found;
};

static void fabric_parse(struct row *r, const char *words)
{
	static char kind[16];
	unsigned *d = r->gen.dims;
	int n = sscanf(words, "%15s %u %u %u", kind, &d[0], &d[1], &d[2]);

	assert_in_range(n, 3, 4);
	r->gen.kind = kind;
	r->gen.ndims = (unsigned)n - 1;
}

/* The n-th row of the table; false at its end. */
static bool row_load(unsigned n, struct row *r)
{
	FILE *f = table_open(dir, "vswitch-smps.csv");
	char line[256], words[64];
	bool found = false;

	while (!found && fgets(line, sizeof(line), f)) {
		if (line[0] < '0' || line[0] > '9' || n--)
			continue;
		*r = (struct row){0};
		assert_int_equal(sscanf(line, "%u,%63[^,],%u,%u,%u,%u,%u,%u,%u", &r->hosts, words,
					&r->switches, &r->lids, &r->blocks, &r->full, &r->swap_min,
					&r->swap_max, &r->copy_max),
				 9);
		fabric_parse(r, words);
		found = true;
	}
	fclose(f);
	return found;
}

static void tree_make(struct tree *x, const struct row *r)
{
	struct rt_opts o = {.root = FAB_NONE};
	struct err e;
	struct fab *bare = fab_generate(&r->gen, &e);

	*x = (struct tree){.found = {UINT32_MAX, 0, UINT32_MAX, 0}};
	assert_non_null(bare);
	x->f = fab_assign_lids(bare, 0, &e);
	fab_free(bare);
	assert_non_null(x->f);
	o.root = rt_root_choose(x->f, NULL, 0, FAB_NONE);
	assert_int_equal(rt_compute(&rt_fera, x->f, &o, &x->t, &e), 0);
	x->lid = mem_array(x->f->nhosts, sizeof(*x->lid));
	for (node_id n = 0; n < x->f->nnodes; n++)
		if (!fab_is_switch(x->f, n))
			x->lid[x->nhosts++] = x->f->ports[fab_port_id(x->f, n, 1)].lid;
}

static void tree_free(struct tree *x)
{
	vec_free(&x->e);
	rt_tables_free(x->t);
	free(x->lid);
	fab_free(x->f);
}

static uint32_t smps(struct tree *x, const struct rt_move *m, size_t n)
{
	x->e.n = 0;
	rt_moves_effects(x->f, x->t, m, n, &x->e);
	return rt_moves_blocks(&x->e, NULL);
}

/* The VM with the LID of host a goes to host b, with either scheme. */
static void pair_count(struct tree *x, uint32_t a, uint32_t b)
{
	struct rt_move m[] = {{x->lid[a], x->lid[b]}, {x->lid[b], x->lid[a]}};
	uint32_t swap = smps(x, m, 2), copy = smps(x, m, 1);

	x->found.swap_min = MIN(x->found.swap_min, swap);
	x->found.swap_max = MAX(x->found.swap_max, swap);
	x->found.copy_min = MIN(x->found.copy_min, copy);
	x->found.copy_max = MAX(x->found.copy_max, copy);
}

/* Every pair on small trees, drawn pairs and neighbours on large ones. */
static void pairs_count(struct tree *x)
{
	struct rng r;

	rng_seed(&r, 1, 1);
	for (uint32_t a = 0; a < x->nhosts && x->nhosts <= ALL_PAIRS; a++)
		for (uint32_t b = a + 1; b < x->nhosts; b++)
			pair_count(x, a, b);
	for (int i = 0; i < DRAWN && x->nhosts > ALL_PAIRS; i++) {
		uint32_t a = rng_below(&r, x->nhosts), b = rng_below(&r, x->nhosts);

		if (a != b)
			pair_count(x, a, b);
		pair_count(x, a, (a + 1) % x->nhosts);
	}
}

static void row_holds(unsigned n)
{
	struct row r;
	struct tree x;

	assert_true(row_load(n, &r));
	tree_make(&x, &r);
	assert_int_equal(x.f->nhosts, r.hosts);
	assert_int_equal(x.f->nswitches, r.switches);
	assert_int_equal(x.t->top_lid, r.lids);
	assert_int_equal(x.t->stride / 64, r.blocks);
	assert_int_equal(x.f->nswitches * (x.t->stride / 64), r.full);
	pairs_count(&x);
	assert_int_equal(x.found.swap_min, r.swap_min);
	assert_int_equal(x.found.swap_max, r.swap_max);
	assert_int_equal(x.found.copy_min, 1);
	assert_int_equal(x.found.copy_max, r.copy_max);
	tree_free(&x);
}

TEST(a_tree_of_324_hosts)
{
	row_holds(0);
}

TEST(a_tree_of_648_hosts)
{
	row_holds(1);
}

TEST(a_tree_of_5832_hosts)
{
	row_holds(2);
}

TEST(a_tree_of_11664_hosts)
{
	row_holds(3);
}

TEST(these_are_all_rows)
{
	struct row r;

	assert_false(row_load(4, &r));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_of_324_hosts),	cmocka_unit_test(a_tree_of_648_hosts),
		cmocka_unit_test(a_tree_of_5832_hosts), cmocka_unit_test(a_tree_of_11664_hosts),
		cmocka_unit_test(these_are_all_rows),
	};

	if (argc > 1)
		dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
