/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves of LIDs in tables: which entries change, the change and the way back, SMPs. Keeps no state; each
 * test makes its own fabric. Does not look at the order of the changes: test_moves_plan.c does.
 */
#include "route_fixture.h"
#include "route/moves.h"

struct place {
	struct fab *f;
	struct rt_tables *t, *before; /* before: a copy */
	rt_move_entries e;
};

static struct rt_tables *copy(const struct rt_tables *t)
{
	struct rt_tables *c = rt_tables_new(t->nswitches, t->top_lid);

	memcpy(c->lft, t->lft, (size_t)t->nswitches * t->stride);
	return c;
}

static struct place place_make(struct fab_gen g)
{
	struct place p = {.f = world_make(g)};

	p.t = world_fera(p.f, NULL);
	p.before = copy(p.t);
	return p;
}

static void place_free(struct place *p)
{
	vec_free(&p->e);
	rt_tables_free(p->t);
	rt_tables_free(p->before);
	fab_free(p->f);
}

static struct place tree(void)
{
	return place_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}});
}

/* The LID of the n-th host, and the switch it hangs on. */
static uint16_t host(const struct fab *f, uint32_t n, uint32_t *sw)
{
	for (node_id i = 0; i < f->nnodes; i++) {
		port_id p = fab_port_id(f, i, 1);

		if (!fab_is_switch(f, i) && !n--) {
			if (sw)
				*sw = f->switch_index[f->ports[f->ports[p].peer].node];
			return f->ports[p].lid;
		}
	}
	fail_msg("no such host");
	return 0;
}

static void effects(struct place *p, bool whole, const struct rt_move *m, size_t n)
{
	p->e.n = 0;
	rt_moves_effects(whole ? NULL : p->f, p->t, m, n, &p->e);
}

static void column_is(const struct place *p, uint32_t lid, uint32_t like)
{
	for (uint32_t s = 0; s < p->t->nswitches; s++)
		assert_int_equal(rt_row(p->t, s)[lid], rt_row(p->before, s)[like]);
}

TEST(a_copy_changes_one_column_where_it_differs)
{
	struct place p = tree();
	uint16_t a = host(p.f, 0, NULL), b = host(p.f, 15, NULL);
	uint32_t differ = 0, switches;

	for (uint32_t s = 0; s < p.t->nswitches; s++)
		differ += rt_row(p.t, s)[a] != rt_row(p.t, s)[b];
	effects(&p, false, &(struct rt_move){a, b}, 1);
	assert_int_equal(p.e.n, differ);
	assert_int_equal(rt_moves_blocks(&p.e, &switches), differ);
	assert_int_equal(switches, differ);
	for (size_t i = 1; i < p.e.n; i++)
		assert_true(p.e.at[i - 1].sw < p.e.at[i].sw);
	assert_memory_equal(p.t->lft, p.before->lft, (size_t)p.t->nswitches * p.t->stride);
	rt_moves_apply(p.t, &p.e);
	column_is(&p, a, b);
	column_is(&p, b, b);
	rt_moves_undo(p.t, &p.e);
	assert_memory_equal(p.t->lft, p.before->lft, (size_t)p.t->nswitches * p.t->stride);
	place_free(&p);
}

TEST(a_swap_is_two_moves_that_read_the_tables_before_both)
{
	struct place p = tree();
	uint16_t a = host(p.f, 0, NULL), b = host(p.f, 15, NULL), c = host(p.f, 9, NULL);
	struct rt_move m[] = {{b, a}, {a, b}}, ring[] = {{c, a}, {a, b}, {b, c}};

	effects(&p, false, m, 2);
	rt_moves_apply(p.t, &p.e);
	column_is(&p, a, b);
	column_is(&p, b, a);
	effects(&p, false, m, 2);
	rt_moves_apply(p.t, &p.e);
	assert_memory_equal(p.t->lft, p.before->lft, (size_t)p.t->nswitches * p.t->stride);
	effects(&p, false, ring, 3);
	for (size_t i = 1; i < p.e.n; i++)
		assert_true(p.e.at[i - 1].sw < p.e.at[i].sw || (p.e.at[i - 1].sw == p.e.at[i].sw &&
								p.e.at[i - 1].lid < p.e.at[i].lid));
	rt_moves_apply(p.t, &p.e);
	column_is(&p, c, a);
	column_is(&p, a, b);
	column_is(&p, b, c);
	place_free(&p);
}

/* Two hosts of one switch: others send there already, whatever their way. */
TEST(a_move_inside_one_leaf_changes_the_leaf_alone)
{
	struct place p = tree();
	uint32_t sw, other, switches;
	uint16_t a = host(p.f, 2, &sw), b = host(p.f, 3, &other);
	struct rt_move m[] = {{a, b}, {b, a}};
	struct rt_report r;

	assert_int_equal(sw, other);
	effects(&p, true, m, 2);
	assert_true(p.e.n > 2); /* by columns alone, ways of their own would be exchanged as well */
	effects(&p, false, m, 2);
	assert_int_equal(p.e.n, 2);
	assert_int_equal(p.e.at[0].sw, sw);
	assert_int_equal(rt_moves_blocks(&p.e, &switches), 1);
	assert_int_equal(switches, 1);
	rt_moves_apply(p.t, &p.e);
	r = world_verify(p.f, p.t, (struct rt_verify_opts){0});
	assert_int_equal(r.loops + r.cycles, 0);
	rt_report_free(&r);
	place_free(&p);
}

TEST(a_start_fills_a_column_and_a_stop_empties_it)
{
	struct place p = tree();
	uint16_t a = host(p.f, 5, NULL), vm = 200;
	uint32_t n = p.t->nswitches;

	effects(&p, false, &(struct rt_move){vm, a}, 1);
	assert_int_equal(p.e.n, n);
	assert_int_equal(p.e.at[0].from, IBA_PORT_NONE);
	rt_moves_reach(p.t, vm);
	assert_int_equal(p.t->top_lid, vm);
	assert_int_equal(p.t->stride, 256);
	rt_moves_apply(p.t, &p.e);
	column_is(&p, vm, a);
	column_is(&p, a, a);
	assert_int_equal(rt_row(p.t, n - 1)[vm - 1], IBA_PORT_NONE);
	effects(&p, false, &(struct rt_move){vm, a}, 1);
	assert_int_equal(p.e.n, 0);
	effects(&p, false, &(struct rt_move){vm, 0}, 1);
	assert_int_equal(p.e.n, n);
	assert_int_equal(p.e.at[0].to, IBA_PORT_NONE);
	rt_moves_reach(p.t, 100); /* fits */
	assert_int_equal(p.t->top_lid, vm);
	rt_moves_apply(p.t, &p.e);
	for (uint32_t s = 0; s < n; s++)
		assert_int_equal(rt_row(p.t, s)[vm], IBA_PORT_NONE);
	place_free(&p);
}

TEST(service_levels_keep_their_places_in_wider_tables)
{
	struct place p = tree();

	rt_lanes_add(p.t, p.f, 2, 2);
	rt_sl_row(p.t, 1)[7] = 5;
	rt_moves_reach(p.t, 300);
	assert_int_equal(rt_sl_row(p.t, 1)[7], 5);
	assert_int_equal(rt_sl_row(p.t, 1)[300], 0);
	assert_int_equal(rt_sl_row(p.t, 0)[7], 0);
	place_free(&p);
}

TEST(a_block_is_sent_once_for_each_stage_with_entries_in_it)
{
	struct rt_move_entry at[] = {{0, 3, 1, 2, 0},  {0, 9, 1, 2, 1},	  {0, 63, 1, 2, 0},
				     {0, 64, 1, 2, 0}, {0, 128, 1, 2, 2}, {4, 130, 1, 2, 2}};
	rt_move_entries e = {.at = at, .n = ARRAY_LEN(at)}, none = {0};
	uint32_t switches;
	struct rt_tables *t = rt_tables_new(5, 130);

	assert_int_equal(rt_moves_blocks(&e, &switches), 5);
	assert_int_equal(switches, 2);
	assert_int_equal(rt_moves_blocks(&none, &switches), 0);
	assert_int_equal(switches, 0);
	rt_moves_apply_stage(t, &e, 0);
	assert_int_equal(rt_row(t, 0)[3], 2);
	assert_int_equal(rt_row(t, 0)[9], IBA_PORT_NONE);
	rt_moves_apply_stage(t, &e, 1);
	assert_int_equal(rt_row(t, 0)[9], 2);
	rt_tables_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_changes_one_column_where_it_differs),
		cmocka_unit_test(a_swap_is_two_moves_that_read_the_tables_before_both),
		cmocka_unit_test(a_move_inside_one_leaf_changes_the_leaf_alone),
		cmocka_unit_test(a_start_fills_a_column_and_a_stop_empties_it),
		cmocka_unit_test(service_levels_keep_their_places_in_wider_tables),
		cmocka_unit_test(a_block_is_sent_once_for_each_stage_with_entries_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
