/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How tables reach the switches, for each technique: what is sent and in which order, from what the
 * switches of a small subnet receive. State: struct mech_world, one for each test. Does not test changes
 * during distribution: test_mechanism.c does.
 * Covers: distribution.c, outward_updates.c, turn_updates.c, disabled_turns.c, switch_tables.c,
 * new_links.c, tables_state.c
 */
#include "mechanism_fixture.h"

#include "base/rng.h"

/* Any technique with partial discovery and these routes, in one stage. */
static struct sm_mechanism one_stage(const char *routes, const char *technique)
{
	struct sm_mechanism m = *sm_mechanism_find("basic");

	m.discovery = sm_discovery_find("partial");
	m.routes = sm_supply_find(routes);
	m.first = m.second = sm_technique_find(technique);
	return m;
}

static void expect_tables_as_told(const struct mech_world *w)
{
	for (unsigned s = 0; s < SWITCHES; s++)
		for (unsigned lid = 0; lid <= lab_sm(w->lab)->routes.tables->top_lid; lid++)
			assert_int_equal(w->lft[s][lid],
					 sim_lft(lab_sim(w->lab), mech_node(w, sw_guid(s)), lid));
}

/* ---- partial tables (thesis 7.4) ---- */

TEST(test_partial_tables_send_only_blocks_that_differ)
{
	struct sm_mechanism m = one_stage("update", "none");
	struct mech_world w;
	unsigned blocks = 0;

	m.partial_tables = true;
	mech_draw(&w, &m);
	w.cfg.sm.lmc = 5; /* 32 LIDs a host: five blocks a switch */
	mech_up(&w);
	blocks = lab_sm(w.lab)->routes.tables->stride / IBA_LFT_BLOCK;
	assert_true(blocks >= 3);
	mech_cut(&w, 1, 1);
	mech_settle(&w);
	assert_in_range(w.sets.n, 1, SWITCHES * blocks - 1);
	for (size_t i = 0; i < w.sets.n; i++) {
		assert_memory_not_equal(w.sets.at[i].data, w.sets.at[i].was, IBA_LFT_BLOCK);
		for (size_t k = 0; k < i; k++) /* each once */
			assert_false(w.sets.at[i].sw == w.sets.at[k].sw &&
				     w.sets.at[i].block == w.sets.at[k].block);
	}
	expect_tables_as_told(&w);
	mech_close(&w);
}

TEST(test_whole_tables_send_every_block)
{
	struct sm_mechanism m = one_stage("update", "none");
	struct mech_world w;

	mech_draw(&w, &m);
	w.cfg.sm.lmc = 5;
	mech_up(&w);
	mech_cut(&w, 1, 1);
	mech_settle(&w);
	assert_int_equal(w.sets.n,
			 SWITCHES * (lab_sm(w.lab)->routes.tables->stride / IBA_LFT_BLOCK));
	mech_close(&w);
}

/* ---- from the destinations outwards (thesis 6.3) ---- */

static unsigned next_switch(const struct mech_world *w, unsigned sw, uint8_t out)
{
	port_id peer =
		out && out <= 6 ? sim_port_peer(lab_sim(w->lab), mech_port(w, sw, out)) : FAB_NONE;
	uint64_t guid = peer == FAB_NONE ? 0 : w->fab->nodes[w->fab->ports[peer].node].guid;

	return guid >= sw_guid(0) && guid < sw_guid(SWITCHES) ? (unsigned)(guid - sw_guid(0))
							      : SWITCHES;
}

/* When an entry changes, the next switch on the new way has its new entry already. */
static void expect_outwards(const struct mech_world *w)
{
	uint8_t has[SWITCHES][BLOCKS_MAX * IBA_LFT_BLOCK];
	unsigned changed = 0, later = 0;

	memcpy(has, w->lft, sizeof(has));
	for (size_t i = w->sets.n; i-- > 0;) /* back to what was there before */
		memcpy(has[w->sets.at[i].sw] + w->sets.at[i].block * IBA_LFT_BLOCK,
		       w->sets.at[i].was, IBA_LFT_BLOCK);
	for (size_t i = 0; i < w->sets.n; i++) {
		const struct mech_set *x = &w->sets.at[i];

		for (unsigned e = 0; e < IBA_LFT_BLOCK; e++) {
			unsigned lid = x->block * IBA_LFT_BLOCK + e, next;

			if (x->data[e] == x->was[e] || x->data[e] == IBA_PORT_NONE)
				continue;
			assert_int_equal(x->data[e],
					 w->lft[x->sw][lid]); /* each entry changes once */
			next = next_switch(w, x->sw, x->data[e]);
			changed++;
			if (next == SWITCHES)
				continue;
			later += has[next][lid] != w->lft[next][lid] ? 0 : 1;
			assert_int_equal(has[next][lid], w->lft[next][lid]);
		}
		memcpy(has[x->sw] + x->block * IBA_LFT_BLOCK, x->data, IBA_LFT_BLOCK);
	}
	assert_true(changed >= 4 && later >= 2); /* there was something to get wrong */
}

TEST(test_entries_change_from_the_destination_outwards)
{
	static const unsigned windows[] = {1, 4, 64};

	for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
		struct sm_mechanism m = one_stage("fera", "outwards");
		struct mech_world w;

		mech_draw(&w, &m);
		w.cfg.sm.window = windows[i];
		w.cfg.sm.lmc = 4;
		mech_up(&w);
		mech_cut(&w, 0, 1); /* the ring is a line now: much turns round */
		mech_settle(&w);
		expect_outwards(&w);
		expect_tables_as_told(&w);
		assert_int_equal(w.stops + w.slvl_sets, 0);
		w.sets.n = 0;
		mech_join(&w, 0, 1);
		mech_settle(&w);
		expect_outwards(&w);
		mech_close(&w);
	}
}

/* ---- provisional routes, then final ones (thesis 6.3) ---- */

static void expect_engine(struct mech_world *w, const struct rt_engine *g)
{
	const struct sm *sm = lab_sm(w->lab);
	const struct fab *f = sm->topo.fab;
	struct rt_opts o = {.root = fab_node_by_guid(f, sw_guid(0)), .threads = 1};
	struct rt_tables *t;
	struct err e;

	assert_int_equal(rt_compute(g, f, &o, &t, &e), 0);
	rt_tables_fill(t);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			assert_int_equal(sim_lft(lab_sim(w->lab),
						 mech_node(w, f->nodes[f->switches[s]].guid), lid),
					 rt_row(t, s)[lid]);
	rt_tables_free(t);
}

static void provisional_in_place(struct mech_world *w, const struct sm_note *n)
{
	if (n->kind != SM_NOTE_PHASE || n->phase.from != SM_ACTIVATE || n->phase.to != SM_COMPUTE)
		return;
	w->struck = true;
	expect_engine(w, &rt_pira);
}

TEST(test_provisional_routes_then_final_ones)
{
	struct mech_world w;
	struct sm_status st;

	mech_open(&w, "improved");
	expect_engine(&w, &rt_fera);
	w.on_note = provisional_in_place;
	mech_cut(&w, 2, 1);
	mech_settle(&w);
	assert_true(w.struck);
	expect_engine(&w, &rt_fera);
	sm_status(lab_sm(w.lab), &st);
	assert_true(st.last.in_place[SM_PROVISIONAL] > st.last.start);
	assert_true(st.last.in_place[SM_FINAL] > st.last.in_place[SM_PROVISIONAL]);
	assert_int_equal(mech_entered(&w, SM_COMPUTE), 2);
	for (size_t i = 1; i < w.sets.n; i++) /* never a provisional table after a final one */
		assert_false(w.sets.at[i - 1].stage == SM_FINAL &&
			     w.sets.at[i].stage == SM_PROVISIONAL);
	mech_close(&w);
}

/* Where nothing is in force yet there is nothing to hurry for: one stage. */
TEST(test_a_subnet_that_comes_up_has_no_provisional_routes)
{
	struct mech_world w;
	struct sm_status st;

	mech_open(&w, "improved");
	sm_status(lab_sm(w.lab), &st);
	assert_int_equal(st.last.in_place[SM_PROVISIONAL], 0);
	assert_true(st.last.in_place[SM_FINAL] > 0);
	mech_close(&w);
}

/* ---- turns ---- */

static unsigned turns_off(const struct mech_world *w)
{
	unsigned n = 0;

	for (unsigned s = 0; s < SWITCHES; s++)
		for (unsigned in = 1; in <= 6; in++)
			for (unsigned out = 1; out <= 6; out++)
				n += sim_slvl(lab_sim(w->lab), mech_node(w, sw_guid(s)), in, out,
					      0) == IBA_VL_SUBN;
	return n;
}

static bool is_off(const struct mech_world *w, unsigned sw, unsigned in, unsigned out)
{
	return sim_slvl(lab_sim(w->lab), mech_node(w, sw_guid(sw)), in, out, 0) == IBA_VL_SUBN;
}

/* sw2 is opposite the root, sw0: the break node of the ring. Without the ring there is none. */
TEST(test_turns_come_on_again_when_no_longer_forbidden)
{
	struct sm_mechanism m = one_stage("fera", "dependencies");
	struct mech_world w;

	mech_draw(&w, &m);
	mech_up(&w);
	assert_true(is_off(&w, 2, 1, 2) && is_off(&w, 2, 2, 1));
	assert_int_equal(turns_off(&w), 2);
	mech_cut(&w, 0, 1);
	mech_settle(&w);
	assert_int_equal(turns_off(&w), 0);
	assert_int_equal(w.slvl_sets, 2);
	mech_join(&w, 0, 1);
	mech_settle(&w);
	assert_true(is_off(&w, 2, 1, 2) && is_off(&w, 2, 2, 1));
	assert_int_equal(turns_off(&w), 2);
	mech_close(&w);
}

TEST(test_a_plan_leaves_no_turn_off)
{
	struct sm_mechanism m = one_stage("fera", "plan");
	char roots[64];
	const struct sm_inputs inputs = {.roots = roots};
	unsigned planned = 0;
	struct mech_world w;

	mech_draw(&w, &m);
	/* the root goes and comes: break nodes move */
	snprintf(roots, sizeof(roots), "0x%llx\n0x%llx\n", (unsigned long long)sw_guid(4),
		 (unsigned long long)sw_guid(0));
	w.cfg.sm.inputs = &inputs;
	mech_up(&w);
	for (unsigned i = 0; i < 2; i++) {
		mech_power(&w, sw_guid(4), i);
		mech_settle(&w);
		assert_int_equal(turns_off(&w), 0);
	}
	for (size_t i = 0; i < w.notes.n; i++)
		if (w.notes.at[i].kind == SM_NOTE_PLAN && w.notes.at[i].plan.kind == RT_PLAN_TURNS)
			planned += w.notes.at[i].plan.turns;
	assert_true(planned > 0);
	assert_int_equal(w.slvl_sets, 2 * planned); /* off, and on again */
	mech_close(&w);
}

/* ---- SMPs that change the tables they travel by ---- */

/* In any order half-new tables may lead in circles; then SMPs do not rely on them. See mech_seen().
 */
TEST(test_smps_do_not_travel_by_tables_that_change_in_any_order)
{
	static const char *const unordered[] = {"full", "ports", "dependencies", "none"};

	for (size_t i = 0; i < ARRAY_LEN(unordered); i++) {
		struct sm_mechanism m = one_stage("fera", unordered[i]);
		struct mech_world w;

		m.by_lid = true;
		mech_draw(&w, &m);
		mech_up(&w);
		mech_cut(&w, 1, 1);
		mech_settle(&w);
		assert_true(w.sets.n > 0);
		for (size_t k = 0; k < w.sets.n; k++)
			assert_true(w.sets.at[k].directed);
		mech_close(&w);
	}
}

/* ---- by LID only where a plan says that it arrives ---- */

static uint64_t smps_lost(const struct mech_world *w)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SIM_NDROPS; i++)
		n += sim_stats(lab_sim(w->lab))->dropped[i];
	return n;
}

TEST(test_no_smp_is_lost_on_half_new_tables)
{
	static const char *const names[] = {"full", "ports", "dependencies", "none", "plan"};

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		for (unsigned link = 0; link < 4; link++) {
			struct sm_mechanism m = *sm_mechanism_find("weft");
			struct mech_world w;
			uint64_t before;

			m.first = sm_technique_find(names[i]);
			m.second = sm_technique_find(names[(i + 1) % ARRAY_LEN(names)]);
			mech_draw(&w, &m);
			mech_up(&w);
			mech_cut(&w, link, 1);
			mech_settle(&w);
			before = smps_lost(&w);
			mech_join(&w, link, 1);
			mech_settle(&w);
			assert_int_equal(smps_lost(&w), before);
			mech_close(&w);
		}
}

/* ---- which turns are off ---- */

struct turn_list {
	struct {
		uint64_t guid;
		unsigned in, out;
	} at[600];
	size_t n;
};

static size_t list_find(const struct turn_list *l, uint64_t guid, unsigned in, unsigned out)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].guid == guid && l->at[i].in == in && l->at[i].out == out)
			return i;
	return SIZE_MAX;
}

static void list_flip(struct turn_list *l, struct sm *sm, uint64_t guid, unsigned in, unsigned out)
{
	size_t at = list_find(l, guid, in, out);

	if (at == SIZE_MAX) {
		l->at[l->n].guid = guid;
		l->at[l->n].in = in;
		l->at[l->n].out = out;
		assert_int_equal(sm_disabled_add(sm, guid, in, out, false), l->n++);
	} else {
		assert_int_equal(sm_disabled_add(sm, guid, in, out, false), at); /* it is there */
		sm_disabled_remove(sm, at);
		memmove(&l->at[at], &l->at[at + 1], (--l->n - at) * sizeof(l->at[0]));
	}
}

TEST(test_turns_that_are_off_are_found_and_keep_their_order)
{
	struct turn_list l = {.n = 0};
	struct sm_config c;
	struct rng r;
	struct sm *sm;

	sm_config_default(&c);
	sm = sm_new(&c);
	rng_seed(&r, 5, 1);
	for (unsigned step = 0; step < 20000; step++) {
		uint64_t guid = 7 + rng_below(&r, 5);
		unsigned in = rng_below(&r, 10), out = rng_below(&r, 10);

		assert_int_equal(sm_disabled_find(sm, guid, in, out), list_find(&l, guid, in, out));
		list_flip(&l, sm, guid, in, out);
		assert_int_equal(sm->dev.off.n, l.n);
		if (step == 9000)
			sm->dev.off_serial = MAP_NONE; /* restart the serial numbers */
		if (step % 3000 == 2999) {
			sm_disabled_clear(sm);
			l.n = 0;
			assert_false(sm_disabled_any(sm, guid));
		}
	}
	for (size_t i = 0; i < l.n; i++)
		assert_true(sm->dev.off.at[i].guid == l.at[i].guid &&
			    sm->dev.off.at[i].in == l.at[i].in &&
			    sm->dev.off.at[i].out == l.at[i].out &&
			    sm_disabled_any(sm, l.at[i].guid));
	while (sm->dev.off.n)
		sm_disabled_remove(sm, rng_below(&r, (uint32_t)sm->dev.off.n));
	for (uint64_t guid = 7; guid < 12; guid++)
		assert_false(sm_disabled_any(sm, guid));
	sm_free(sm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_smp_is_lost_on_half_new_tables),
		cmocka_unit_test(test_partial_tables_send_only_blocks_that_differ),
		cmocka_unit_test(test_whole_tables_send_every_block),
		cmocka_unit_test(test_entries_change_from_the_destination_outwards),
		cmocka_unit_test(test_provisional_routes_then_final_ones),
		cmocka_unit_test(test_a_subnet_that_comes_up_has_no_provisional_routes),
		cmocka_unit_test(test_turns_come_on_again_when_no_longer_forbidden),
		cmocka_unit_test(test_a_plan_leaves_no_turn_off),
		cmocka_unit_test(test_turns_that_are_off_are_found_and_keep_their_order),
		cmocka_unit_test(test_smps_do_not_travel_by_tables_that_change_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
