/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes about links and nodes that went and came, for each mechanism. State: struct mech_world, one for each
 * test. Does not test their wording: test_note_table.c does.
 */
#include "mechanism_fixture.h"

static bool is_port(struct sm_port_ref r, uint64_t guid, unsigned port)
{
	return r.guid == guid && r.port == port;
}

/* The notes of this kind about a link between these ports, whichever end is first. */
static unsigned links_noted(const struct mech_world *w, enum sm_note_kind kind, uint64_t x,
			    unsigned px, uint64_t y, unsigned py)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->notes.n; i++) {
		const struct sm_note *t = &w->notes.at[i];

		n += t->kind == kind && t->about.kind == SM_ABOUT_LINK &&
		     ((is_port(t->about.a, x, px) && is_port(t->about.b, y, py)) ||
		      (is_port(t->about.a, y, py) && is_port(t->about.b, x, px)));
	}
	return n;
}

static unsigned nodes_noted(const struct mech_world *w, enum sm_note_kind kind, uint64_t guid)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->notes.n; i++)
		n += w->notes.at[i].kind == kind && w->notes.at[i].about.a.guid == guid;
	return n;
}

static void expect_counts(const struct mech_world *w, unsigned down, unsigned up, unsigned gone,
			  unsigned came)
{
	assert_int_equal(mech_notes(w, SM_NOTE_LINK_DOWN), down);
	assert_int_equal(mech_notes(w, SM_NOTE_LINK_UP), up);
	assert_int_equal(mech_notes(w, SM_NOTE_NODE_GONE), gone);
	assert_int_equal(mech_notes(w, SM_NOTE_NODE_CAME), came);
}

TEST(a_link_is_noted_with_both_ends)
{
	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++) {
		struct mech_world w;

		mech_open(&w, m->name);
		mech_cut(&w, 1, 1);
		mech_settle(&w);
		expect_counts(&w, 1, 0, 0, 0);
		assert_int_equal(links_noted(&w, SM_NOTE_LINK_DOWN, sw_guid(1), 1, sw_guid(2), 2),
				 1);
		w.notes.n = 0;
		mech_join(&w, 1, 1);
		mech_settle(&w);
		expect_counts(&w, 0, 1, 0, 0);
		assert_int_equal(links_noted(&w, SM_NOTE_LINK_UP, sw_guid(1), 1, sw_guid(2), 2), 1);
		mech_close(&w);
	}
}

/* With sw4 its host is no longer connected. */
TEST(a_switch_is_noted_with_its_links_and_hosts)
{
	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++) {
		struct mech_world w;

		mech_open(&w, m->name);
		mech_power(&w, sw_guid(4), false);
		mech_settle(&w);
		expect_counts(&w, 2, 0, 2, 0);
		assert_int_equal(nodes_noted(&w, SM_NOTE_NODE_GONE, sw_guid(4)), 1);
		assert_int_equal(nodes_noted(&w, SM_NOTE_NODE_GONE, host_guid(4)), 1);
		assert_int_equal(links_noted(&w, SM_NOTE_LINK_DOWN, sw_guid(2), 4, sw_guid(4), 1),
				 1);
		assert_int_equal(links_noted(&w, SM_NOTE_LINK_DOWN, sw_guid(4), 3, host_guid(4), 1),
				 1);
		w.notes.n = 0;
		mech_power(&w, sw_guid(4), true);
		mech_settle(&w);
		expect_counts(&w, 0, 2, 0, 2);
		assert_int_equal(nodes_noted(&w, SM_NOTE_NODE_CAME, sw_guid(4)), 1);
		assert_int_equal(nodes_noted(&w, SM_NOTE_NODE_CAME, host_guid(4)), 1);
		mech_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_noted_with_both_ends),
		cmocka_unit_test(a_switch_is_noted_with_its_links_and_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
