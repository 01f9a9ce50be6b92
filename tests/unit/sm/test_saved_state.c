/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager that restores the subnet state of the one before it: what it requests, what it does after a
 * change or after another manager, and bytes that are not a saved state.
 * Covers: saved_state.c, saved_vms.c, saved_answers.c turn_marks.c
 */
#include "mechanism_fixture.h"

#include "sm/restore/saved_state.h"

enum { LOCAL_PORT = 28 }; /* in a PortInfo */

struct tally {
	struct mech_world *w;
	unsigned gets, sets, ports, table_gets;
};

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct tally *t = ctx;
	bool get;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(t->w->lab))
		return;
	get = iba_smp_method(smp->mad) == IBA_GET;
	t->gets += get;
	t->sets += iba_smp_method(smp->mad) == IBA_SET;
	t->ports += get && iba_smp_attr_id(smp->mad) == IBA_ATTR_PORT_INFO;
	t->table_gets += get && iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
}

static void up(struct mech_world *w)
{
	mech_draw(w, sm_mechanism_find("weft"));
	w->cfg.sm.read_back = true;
	mech_up(w);
	mech_settle(w);
}

/* The last one is gone already: one that knows what it knew has its first round. */
static struct tally resume(struct mech_world *w)
{
	struct tally t = {.w = w};

	sim_watch(lab_sim(w->lab), (struct sim_watch){on_seen, &t});
	assert_true(lab_manager_resume(w->lab, 0));
	assert_true(lab_run_ready(w->lab, sim_now(lab_sim(w->lab)) + 60 * PS_PER_S));
	sim_watch(lab_sim(w->lab), (struct sim_watch){0});
	return t;
}

/* Everything the manager knows is true: each PortInfo, SwitchInfo and table, and each peer. */
TEST(restored_state_equals_the_devices)
{
	struct mech_world w;
	const struct sm_saved *m;
	struct err e;
	uint8_t *bytes;
	size_t len;
	struct sm *sm;

	up(&w);
	assert_true(sm_at_rest(lab_sm(w.lab)));
	bytes = sm_state_save(lab_sm(w.lab), &len);
	sm = sm_new(&w.cfg.sm);
	assert_int_equal(sm_state_load(sm, bytes, len, &e), 0);
	m = sm->restored.saved;
	assert_int_equal(m->nodes.n, w.fab->nnodes);
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct sm_saved_node *n = &m->nodes.at[i];
		node_id at = mech_node(&w, n->guid);
		bool is_switch = n->type == IBA_NODE_SWITCH;

		struct iba_node_info ni;

		assert_true(sm_node_info(lab_sm(w.lab), n->guid, &ni));
		assert_int_equal(n->revision, ni.revision);
		assert_int_equal(n->partition_cap, ni.partition_cap);
		assert_true(n->partition_cap > 0);
		assert_int_equal(n->vendor_id, ni.vendor_id);
		assert_int_equal(n->nports, w.fab->nodes[at].nports);
		for (unsigned p = is_switch ? 0 : 1; p <= n->nports; p++) {
			const struct sm_saved_port *port = &m->ports.at[n->first_port + p];
			port_id id = fab_port_id(w.fab, at, p), peer = w.fab->ports[id].peer;
			uint8_t data[IBA_SMP_DATA_SIZE];

			iba_port_info_put(sim_port_info(lab_sim(w.lab), id), data);
			data[LOCAL_PORT] = port->pi[LOCAL_PORT]; /* by which the question came */
			assert_memory_equal(port->pi, data, sizeof(data));
			assert_int_equal(
				port->peer,
				peer == FAB_NONE ? 0 : w.fab->nodes[w.fab->ports[peer].node].guid);
			assert_int_equal(port->peer_num,
					 peer == FAB_NONE ? 0 : w.fab->ports[peer].num);
		}
		for (unsigned lid = 0; is_switch && lid < n->nblocks * (unsigned)IBA_LFT_BLOCK;
		     lid++)
			assert_int_equal(n->lft[lid], sim_lft(lab_sim(w.lab), at, lid));
	}
	sm_free(sm);
	free(bytes);
	mech_close(&w);
}

TEST(a_restore_sends_three_gets_to_each_switch)
{
	struct mech_lids before, after;
	struct mech_world w;
	struct tally t;

	up(&w);
	before = mech_lids(&w);
	lab_manager_stop(w.lab, 0);
	t = resume(&w);
	assert_int_equal(t.sets, 0);
	assert_int_equal(t.gets, 3 * SWITCHES + 3);
	assert_int_equal(t.table_gets, SWITCHES);
	after = mech_lids(&w);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(mech_settle(&w), 10);
	mech_close(&w);
}

/* Only devices that were read are asked for their name: the manager's own node and the next. */
TEST(names_are_restored)
{
	struct mech_world w;
	uint64_t before;

	mech_draw(&w, sm_mechanism_find("weft"));
	w.cfg.sm.read_back = w.cfg.sm.names = true;
	mech_up(&w);
	mech_settle(&w);
	mech_wait(&w, 10 * PS_PER_MS);
	lab_manager_stop(w.lab, 0);
	resume(&w);
	before = lab_sm(w.lab)->core.st.smps[SM_FOR_NAMES];
	mech_settle(&w);
	assert_true(before <= 2);
	assert_int_equal(lab_sm(w.lab)->core.st.smps[SM_FOR_NAMES], 2);
	assert_non_null(sm_name_known(lab_sm(w.lab), sw_guid(4)));
	mech_close(&w);
}

/* Its neighbours report it; ports of the other switches are not read. */
TEST(a_link_failed_meanwhile)
{
	struct mech_world w;
	struct tally t;

	up(&w);
	lab_manager_stop(w.lab, 0);
	mech_cut(&w, 1, 1); /* between switches 1 and 2 */
	mech_wait(&w, PS_PER_MS);
	t = resume(&w);
	assert_true(t.sets > 0);
	assert_int_equal(t.ports,
			 SWITCHES + 1 + 2 * 6 + 2); /* own; of two switches all, and their hosts */
	assert_int_equal(mech_settle(&w), 10);
	mech_close(&w);
}

TEST(a_switch_and_a_host_restarted_meanwhile)
{
	struct mech_lids before, after;
	struct mech_world w;

	up(&w);
	before = mech_lids(&w);
	lab_manager_stop(w.lab, 0);
	mech_power(&w, sw_guid(3), false);
	mech_power(&w, host_guid(4), false);
	mech_power(&w, sw_guid(3), true);
	mech_power(&w, host_guid(4), true);
	mech_wait(&w, PS_PER_MS);
	resume(&w);
	assert_int_equal(mech_settle(&w), 10);
	after = mech_lids(&w);
	assert_memory_equal(&before, &after, sizeof(before));
	mech_close(&w);
}

static void set_by_hand(struct mech_world *w, uint16_t lid, uint16_t attr, uint32_t mod,
			const uint8_t *data)
{
	struct sim_smp smp = {.slid = mech_lid(w, host_guid(0)), .dlid = lid};

	iba_smp_init(smp.mad, IBA_CLASS_SUBN_LID, IBA_SET, attr, mod);
	memcpy(iba_smp_data(smp.mad), data, IBA_SMP_DATA_SIZE);
	sim_send(lab_sim(w->lab), lab_sm_node(w->lab), 1, &smp);
	mech_wait(w, PS_PER_MS);
}

/* Another table: everything is read then, and that table corrected. */
TEST(another_manager_wrote_a_table_meanwhile)
{
	uint8_t data[IBA_LFT_BLOCK];
	struct mech_world w;
	struct tally t;

	up(&w);
	lab_manager_stop(w.lab, 0);
	memset(data, 200, sizeof(data));
	set_by_hand(&w, mech_lid(&w, sw_guid(2)), IBA_ATTR_LFT, 0, data);
	t = resume(&w);
	assert_true(t.ports > 5 * 6);
	assert_int_equal(mech_settle(&w), 10);
	mech_close(&w);
}

/* Another SM's LID at a switch: it managed the subnet. */
TEST(another_manager_was_master_meanwhile)
{
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct iba_port_info pi;
	struct mech_world w;
	struct tally t;

	up(&w);
	lab_manager_stop(w.lab, 0);
	pi = *sim_port_info(lab_sim(w.lab), mech_port(&w, 4, 0));
	pi.sm_lid = mech_lid(&w, host_guid(4));
	pi.state = pi.phys_state = 0;
	iba_port_info_put(&pi, data);
	set_by_hand(&w, mech_lid(&w, sw_guid(4)), IBA_ATTR_PORT_INFO, 0, data);
	t = resume(&w);
	assert_true(t.ports > 5 * 6);
	assert_int_equal(mech_settle(&w), 10);
	assert_int_equal(sim_port_info(lab_sim(w.lab), mech_port(&w, 4, 0))->sm_lid,
			 mech_lid(&w, host_guid(0)));
	mech_close(&w);
}

TEST(state_is_saved_at_rest_only)
{
	struct mech_world w;

	mech_draw(&w, sm_mechanism_find("weft"));
	mech_up(&w);
	mech_settle(&w);
	assert_true(sm_at_rest(lab_sm(w.lab)));
	mech_cut(&w, 1, 1);
	while (lab_sm(w.lab)->core.phase == SM_READY)
		assert_true(sim_step(lab_sim(w.lab)));
	assert_false(sm_at_rest(lab_sm(w.lab)));
	mech_settle(&w);
	assert_true(sm_at_rest(lab_sm(w.lab)));
	mech_close(&w);
}

static unsigned turns_off(struct mech_world *w)
{
	unsigned n = 0;

	for (unsigned s = 0; s < SWITCHES; s++)
		for (unsigned in = 1; in <= w->fab->nodes[mech_node(w, sw_guid(s))].nports; in++)
			for (unsigned out = 1;
			     out <= w->fab->nodes[mech_node(w, sw_guid(s))].nports; out++)
				n += sim_turn_off(lab_sim(w->lab), mech_node(w, sw_guid(s)), in,
						  out);
	return n;
}

static void ring_opens_and_closes(struct mech_world *w)
{
	mech_cut(w, 1, 1);
	mech_settle(w);
	mech_join(w, 1, 1);
	mech_settle(w);
}

/* `improved` leaves turns disabled at rest. They are not saved, but the mark of their switch is: they are read. */
TEST(disabled_turns_are_found_again)
{
	struct mech_lids before, after;
	struct mech_world w;
	unsigned off;
	struct tally t;

	mech_draw(&w, sm_mechanism_find("improved"));
	w.cfg.sm.read_back = true;
	mech_up(&w);
	mech_settle(&w);
	ring_opens_and_closes(&w);
	off = turns_off(&w);
	assert_true(off > 0);
	assert_int_equal(lab_sm(w.lab)->dev.off.n, off);
	assert_true(sm_at_rest(lab_sm(w.lab)));
	before = mech_lids(&w);
	lab_manager_stop(w.lab, 0);
	t = resume(&w);
	assert_int_equal(t.sets, 0);
	assert_int_equal(t.table_gets, SWITCHES); /* tables are as saved */
	assert_int_equal(lab_sm(w.lab)->dev.off.n, off);
	after = mech_lids(&w);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(mech_settle(&w), 10);
	mech_close(&w);
}

static unsigned with_turns_off(const struct mech_world *w)
{
	for (unsigned s = 0; s < SWITCHES; s++)
		if (sm_disabled_any(lab_sm(w->lab), sw_guid(s)))
			return s;
	return 0;
}

/* The switch with disabled turns loses its links, and keeps turns and mark: they are read when it returns. */
static void turns_are_found(const char *mechanism)
{
	struct mech_world w;
	unsigned off, sw;

	mech_draw(&w, sm_mechanism_find(mechanism));
	w.cfg.sm.read_back = true;
	mech_up(&w);
	mech_settle(&w);
	ring_opens_and_closes(&w);
	sw = with_turns_off(&w);
	assert_true(sw > 0); /* the manager's own stays */
	off = turns_off(&w);
	mech_cut(&w, sw, 1);
	mech_cut(&w, sw, 2);
	assert_true(mech_settle(&w) < 10);
	assert_int_equal(turns_off(&w), off);
	assert_true(sm_disabled_any(lab_sm(w.lab), sw_guid(sw)));
	assert_true(sm_at_rest(lab_sm(w.lab)));
	lab_manager_stop(w.lab, 0);
	resume(&w);
	assert_int_equal(lab_sm(w.lab)->dev.off.n, 0);
	mech_join(&w, sw, 1);
	assert_int_equal(mech_settle(&w), 10);
	assert_int_equal(turns_off(&w), lab_sm(w.lab)->dev.off.n);
	mech_close(&w);
}

TEST(turns_of_a_switch_that_is_gone_are_found)
{
	turns_are_found("improved");
	turns_are_found("improved+partial");
}

/* Where no switch is marked, a later manager would not find them. */
TEST(turns_without_a_mark_are_not_saved)
{
	struct mech_world w;

	mech_draw(&w, sm_mechanism_find("improved"));
	mech_up(&w);
	mech_settle(&w);
	ring_opens_and_closes(&w);
	assert_true(turns_off(&w) > 0);
	assert_false(sm_at_rest(lab_sm(w.lab)));
	mech_close(&w);
}

/* Cut short anywhere, or with one byte another. */
TEST(truncated_state_is_refused)
{
	struct mech_world w;
	struct err e;
	uint8_t *bytes;
	size_t len;
	struct sm *sm;

	up(&w);
	bytes = sm_state_save(lab_sm(w.lab), &len);
	sm = sm_new(&w.cfg.sm);
	for (size_t n = 0; n < len; n += n < 64 ? 1 : 37)
		assert_int_equal(sm_state_load(sm, bytes, n, &e), -EBADMSG);
	for (size_t i = 0; i < len; i += 11) {
		bytes[i] ^= 0x10;
		assert_int_equal(sm_state_load(sm, bytes, len, &e), -EBADMSG);
		assert_null(sm->restored.saved);
		bytes[i] ^= 0x10;
	}
	assert_int_equal(sm_state_load(sm, bytes, len, &e), 0);
	assert_int_equal(sm_state_load((struct sm *)lab_sm(w.lab), bytes, len, &e), -EBUSY);
	sm_free(sm);
	free(bytes);
	mech_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restored_state_equals_the_devices),
		cmocka_unit_test(a_restore_sends_three_gets_to_each_switch),
		cmocka_unit_test(names_are_restored),
		cmocka_unit_test(a_link_failed_meanwhile),
		cmocka_unit_test(a_switch_and_a_host_restarted_meanwhile),
		cmocka_unit_test(another_manager_wrote_a_table_meanwhile),
		cmocka_unit_test(another_manager_was_master_meanwhile),
		cmocka_unit_test(state_is_saved_at_rest_only),
		cmocka_unit_test(disabled_turns_are_found_again),
		cmocka_unit_test(turns_of_a_switch_that_is_gone_are_found),
		cmocka_unit_test(turns_without_a_mark_are_not_saved),
		cmocka_unit_test(truncated_state_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
