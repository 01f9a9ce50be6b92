/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * M_Keys that devices hold from earlier managers: tried one after another, remembered, and replaced by the
 * configured one. State: struct mech_world, one for each test. Does not test how a device checks its key:
 * test_sma.c does.
 */
#include "mechanism_fixture.h"

#define OLD   0x1111u
#define OLDER 0x2222u
#define NEW   0x3333u

static void expect_key(const struct mech_world *w, uint64_t key, unsigned protect)
{
	for (node_id n = 0; n < w->fab->nnodes; n++) {
		const struct iba_port_info *pi = sim_port_info(
			lab_sim(w->lab), fab_port_id(w->fab, n, fab_is_switch(w->fab, n) ? 0 : 1));

		assert_true(pi->m_key == key);
		assert_int_equal(pi->m_key_protect, protect);
	}
}

static void draw(struct mech_world *w, const char *mechanism, uint64_t key, unsigned protect)
{
	mech_draw(w, sm_mechanism_find(mechanism));
	w->cfg.sm.read_back = true;
	w->cfg.sm.m_key = key;
	w->cfg.sm.m_key_protect = protect;
}

static struct sm_config with_keys(const struct mech_world *w, uint64_t key, uint64_t first,
				  uint64_t second)
{
	struct sm_config c = w->cfg.sm;

	c.m_key = key;
	c.m_keys[0] = first;
	c.m_keys[1] = second;
	return c;
}

static void follow(struct mech_world *w, const struct sm_config *c)
{
	lab_manager_stop(w->lab, 0);
	lab_manager_config(w->lab, 0, c);
	lab_manager_start(w->lab, 0, false);
}

TEST(the_next_manager_knows_old_keys)
{
	static const char *const names[] = {"basic", "weft"};

	for (unsigned i = 0; i < 8; i++) {
		unsigned protect = i / 2;
		struct mech_world w;
		struct sm_config c;

		draw(&w, names[i % 2], OLD, protect);
		mech_up(&w);
		expect_key(&w, OLD, protect);
		c = with_keys(&w, NEW, OLDER, OLD);
		follow(&w, &c);
		mech_settle(&w);
		expect_key(&w, NEW, protect);
		mech_close(&w);
	}
}

/* Some have this, some that. */
TEST(each_device_has_another_key)
{
	for (unsigned protect = 0; protect <= 3; protect++) {
		struct mech_lids before, after;
		struct mech_world w;
		struct sm_config c;

		draw(&w, "weft", OLDER, protect);
		mech_up(&w);
		before = mech_lids(&w);
		lab_manager_stop(w.lab, 0);
		for (unsigned i = 1; i < SWITCHES;
		     i += 2) { /* off and on, and another manager in between */
			mech_power(&w, host_guid(i), false);
			mech_power(&w, host_guid(i), true);
		}
		c = with_keys(&w, OLD, OLDER, 0);
		lab_manager_config(w.lab, 0, &c);
		lab_manager_start(w.lab, 0, true);
		mech_wait(&w, 15 * PS_PER_MS); /* it stops before or after it has set all keys */
		c = with_keys(&w, NEW, OLD, OLDER);
		follow(&w, &c);
		mech_settle(&w);
		expect_key(&w, NEW, protect);
		after = mech_lids(&w);
		assert_memory_equal(before.sw, after.sw, sizeof(before.sw));
		mech_close(&w);
	}
}

TEST(devices_with_an_unknown_key_stay_locked)
{
	struct mech_world w;
	struct sm_config c;

	draw(&w, "weft", OLD, 2);
	mech_up(&w);
	mech_power(&w, host_guid(0), false); /* so that the manager's own port has none */
	mech_power(&w, host_guid(0), true);
	c = with_keys(&w, NEW, OLDER, 0);
	follow(&w, &c);
	mech_wait(&w, PS_PER_S);
	assert_int_equal(lab_sm(w.lab)->topo.fab->nnodes, 1);
	/* Told the key it gets on: a new look comes by itself. */
	c = with_keys(&w, NEW, OLDER, OLD);
	sm_reconfigure((struct sm *)lab_sm(w.lab), &c);
	mech_wait(&w, 60 * PS_PER_S);
	assert_int_equal(mech_settle(&w), 10);
	expect_key(&w, NEW, 2);
	mech_close(&w);
}

/* While it runs: the next round sets the key in all devices, and nothing else.  */
TEST(the_key_changes_while_the_manager_runs)
{
	for (unsigned protect = 0; protect <= 3; protect++) {
		struct mech_world w;
		struct sm_config c;

		draw(&w, "weft", OLD, protect);
		mech_up(&w);
		c = w.cfg.sm;
		c.port = 1;
		c.m_key = NEW;
		sm_reconfigure((struct sm *)lab_sm(w.lab), &c);
		mech_wait(&w, 100 * PS_PER_MS);
		mech_settle(&w);
		expect_key(&w, NEW, protect);
		assert_int_equal(w.sets.n + w.stops, 0);
		/* A change is looked at with the new one. */
		mech_cut(&w, 1, 1);
		mech_settle(&w);
		mech_close(&w);
	}
}

/* A request has (retries + 1) * 2 sends here: each key that was told has a turn among them. */
TEST(each_key_has_its_turn)
{
	for (unsigned retries = 0; retries <= 3; retries++) {
		struct sm sm = {.cfg = {.m_key = NEW, .m_keys = {OLD}, .retries = retries}};
		uint64_t hints[] = {NEW, OLD, OLDER /* a device reported it */};

		for (unsigned i = 0; i < ARRAY_LEN(hints); i++) {
			bool sent_new = false, sent_old = false;
			uint64_t key;

			sm.keys.hint = hints[i];
			key = sm_key_first(&sm);
			for (unsigned tries = 1; tries <= (retries + 1) * sm_key_count(&sm);
			     tries++) {
				sent_new |= key == NEW;
				sent_old |= key == OLD;
				key = sm_key_next(&sm, key, tries);
			}
			assert_true(sent_new && sent_old);
		}
	}
}

TEST(one_send_for_each_key_is_enough)
{
	struct mech_world w;
	struct sm_config c;

	draw(&w, "weft", OLD, 2);
	mech_up(&w);
	c = with_keys(&w, NEW, OLDER, OLD);
	c.retries = 0;
	follow(&w, &c);
	mech_settle(&w);
	expect_key(&w, NEW, 2);
	mech_close(&w);
}

/* The last of the sends had a key that was told; the one that the device reported is given up all the same. */
TEST(a_reported_key_that_does_not_open_is_forgotten)
{
	struct sm_txn t = {.target = {.kind = SM_TARGET_PORT}};
	struct mech_world w;
	struct sm *sm;

	draw(&w, "weft", NEW, 2);
	mech_up(&w);
	sm = (struct sm *)lab_sm(w.lab);
	t.target.port = sm->topo.nodes.at[0].first_port;
	iba_smp_set_m_key(t.send.mad, NEW);
	for (unsigned i = 0; i < 2; i++) {
		sm_key_learnt(sm, sm->topo.ports.at[t.target.port].guid, OLDER);
		assert_true(sm_key_of(sm, t.target.port) == OLDER);
		sm_key_unanswered(sm, &t);
		assert_true(sm_key_of(sm, t.target.port) == NEW);
	}
	mech_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_manager_knows_old_keys),
		cmocka_unit_test(each_device_has_another_key),
		cmocka_unit_test(devices_with_an_unknown_key_stay_locked),
		cmocka_unit_test(the_key_changes_while_the_manager_runs),
		cmocka_unit_test(each_key_has_its_turn),
		cmocka_unit_test(one_send_for_each_key_is_enough),
		cmocka_unit_test(a_reported_key_that_does_not_open_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
