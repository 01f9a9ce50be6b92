/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mechanisms while the fabric changes: between sweeps, during each phase, at the manager's own port; SMPs
 * that are lost, devices that fall silent; and each combination of techniques. State: struct mech_world,
 * one for each test. Does not check tables: test_distribution.c does.
 * Covers: mechanism.c, technique.c, parts.c, phases.c, partial_discovery.c, missing_devices.c, sweep.c,
 * sweep_state.c, device_config.c, route_request.c, route_worker.c, plan_worker.c, fresh_worker.c,
 * verdict_worker.c, routes_state.c, ranks.c
 */
#include "mechanism_fixture.h"
#include "fabric_fixture.h"

/* Those whose discovery is partial; the others look at everything anyway. */
static const char *const partial[] = {"improved", "improved+partial", "improved+traps", "weft"};

/* ---- telling stories ---- */

/* What happens to a subnet that is up; told once for each of these mechanisms. */
struct story {
	void (*tell)(struct mech_world *w);
};

TEST(every_story_for_every_mechanism)
{
	const struct story *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(partial); i++) {
		struct mech_world w;

		mech_open(&w, partial[i]);
		s->tell(&w);
		mech_close(&w);
	}
}

#define STORY(fn)                                                                                  \
	{                                                                                          \
		"test_" #fn, every_story_for_every_mechanism, NULL, NULL, &(struct story)          \
		{                                                                                  \
			fn                                                                         \
		}                                                                                  \
	}

static void assert_lids_are(struct mech_world *w, const struct mech_lids *before)
{
	struct mech_lids now = mech_lids(w);

	assert_memory_equal(before, &now, sizeof(now));
}

/* Whether the manager enters the phase; true only once. */
static bool strikes(struct mech_world *w, const struct sm_note *n, enum sm_phase phase)
{
	if (w->struck || n->kind != SM_NOTE_PHASE || n->phase.to != phase)
		return false;
	w->struck = true;
	return true;
}

static port_id host_port(const struct mech_world *w, unsigned host)
{
	return fab_port_id(w->fab, mech_node(w, host_guid(host)), 1);
}

/* ---- devices that come back ---- */

static unsigned linear_top(const struct mech_world *w, unsigned sw)
{
	return sim_switch_info(lab_sim(w->lab), mech_node(w, sw_guid(sw)))->linear_top;
}

static void a_power_cycled_switch_gets_everything_again(struct mech_world *w)
{
	struct mech_lids before = mech_lids(w);

	mech_power(w, sw_guid(1), false);
	mech_wait(w, PS_PER_US);
	mech_power(w, sw_guid(1),
		   true); /* long before the next sweep: the manager did not notice */
	assert_int_equal(linear_top(w, 1), 0);
	assert_int_equal(mech_settle(w), 10);
	assert_lids_are(w, &before);
	assert_int_equal(mech_notes(w, SM_NOTE_RESTART), 0); /* found without a full discovery */
	assert_int_equal(mech_notes(w, SM_NOTE_NODE_GONE), 0);
	assert_true(linear_top(w, 1) > 0);
}

static void a_host_that_bounced_gets_its_lid_again(struct mech_world *w)
{
	uint16_t lid = mech_lid(w, host_guid(3));

	mech_power(w, host_guid(3), false);
	mech_wait(w, PS_PER_US);
	mech_power(w, host_guid(3), true);
	assert_int_equal(mech_lid(w, host_guid(3)), 0);
	assert_int_equal(mech_settle(w), 10);
	assert_int_equal(mech_lid(w, host_guid(3)), lid);
}

static void lids_of_those_that_stay_never_change(struct mech_world *w)
{
	struct mech_lids before = mech_lids(w), now;

	mech_power(w, sw_guid(2), false); /* sw4 and two hosts are cut off as well */
	assert_int_equal(mech_settle(w), 6);
	now = mech_lids(w);
	assert_memory_equal(before.sw, now.sw, 2 * sizeof(now.sw[0]));
	assert_memory_equal(before.host, now.host, 2 * sizeof(now.host[0]));
	assert_int_equal(before.sw[3], now.sw[3]);
	assert_int_equal(before.host[3], now.host[3]);
	mech_power(w, sw_guid(2), true);
	assert_int_equal(mech_settle(w), 10);
	assert_lids_are(w, &before); /* and those that went have theirs again */
}

/* ---- links ---- */

static void a_link_moves_from_port_to_port(struct mech_world *w)
{
	struct mech_lids before = mech_lids(w);

	mech_cut(w, 1, 1); /* sw1 to sw2, now by ports 5 and 6 */
	sim_cable(lab_sim(w->lab), mech_port(w, 1, 5), mech_port(w, 2, 6));
	assert_int_equal(mech_settle(w), 10);
	mech_cut(w, 3, 3); /* and h3 moves to sw4 */
	sim_cable(lab_sim(w->lab), mech_port(w, 4, 6), host_port(w, 3));
	assert_int_equal(mech_settle(w), 10);
	assert_lids_are(w, &before);
}

static void two_cables_are_swapped(struct mech_world *w)
{
	mech_cut(w, 1, 3);
	mech_cut(w, 2, 3);
	sim_cable(lab_sim(w->lab), mech_port(w, 1, 3), host_port(w, 2));
	sim_cable(lab_sim(w->lab), mech_port(w, 2, 3), host_port(w, 1));
	assert_int_equal(mech_settle(w), 10);
}

static void several_changes_at_once(struct mech_world *w)
{
	mech_cut(w, 0, 1);
	mech_power(w, sw_guid(4), false);
	mech_power(w, host_guid(2), false);
	sim_cable(lab_sim(w->lab), mech_port(w, 0, 5), mech_port(w, 2, 5));
	assert_int_equal(mech_settle(w), 7);
	mech_power(w, sw_guid(3), false);
	mech_power(w, sw_guid(4), true);
	mech_power(w, host_guid(2), true);
	mech_join(w, 0, 1);
	assert_int_equal(mech_settle(w), 8);
}

/* ---- at a bad moment ---- */

static void strike_once(struct mech_world *w, const struct sm_note *n)
{
	if (!strikes(w, n, w->strike_in))
		return;
	mech_cut(w, 2, 1);
	mech_power(w, sw_guid(4), false);
}

/* A change starts a round; when the round comes to the phase, more changes. */
static bool change_in_phase(const struct sm_mechanism *m, enum sm_phase phase)
{
	struct mech_world w;
	bool struck;

	mech_draw(&w, m);
	mech_up(&w);
	w.strike_in = phase;
	w.on_note = strike_once;
	mech_cut(&w, 0, 1);
	mech_settle(&w);
	struck = w.struck;
	if (struck) {
		assert_int_equal(lab_sm(w.lab)->topo.fab->nnodes,
				 4); /* half of the ring, cut twice */
		mech_join(&w, 0, 1);
		mech_power(&w, sw_guid(4), true);
		mech_join(&w, 2, 1);
		assert_int_equal(mech_settle(&w), 10);
	}
	mech_close(&w);
	return struck;
}

TEST(changes_during_every_phase)
{
	unsigned struck[SM_NPHASES] = {0}, n = 0;

	for (; sm_mechanisms[n].name; n++)
		for (unsigned p = SM_DISCOVER; p < SM_NPHASES; p++)
			struck[p] += change_in_phase(&sm_mechanisms[n], p);
	for (unsigned p = SM_DISCOVER; p < SM_NPHASES; p++)
		/* no SMP is lost here, there is no other manager, no VM and no multicast group */
		if (p != SM_AUDIT && p != SM_STANDBY && p != SM_SETTLE && p != SM_MOVE &&
		    p != SM_PRUNE && p != SM_TREES)
			assert_int_equal(struck[p], n);
}

/* ---- a switch restarts at a bad moment ---- */

static void on_again(void *ctx, uint64_t guid)
{
	mech_power(ctx, guid, true);
}

static void restart_once(struct mech_world *w, const struct sm_note *n)
{
	struct sim *s = lab_sim(w->lab);

	if (!strikes(w, n, w->strike_in))
		return;
	mech_power(w, sw_guid(w->strike_sw), false);
	sim_call(s, sim_now(s) + w->strike_for, on_again, w, sw_guid(w->strike_sw));
}

/* While the subnet comes up, so that some of what the switch holds is from before, some from after.
 */
static void restart_in_phase(const struct sm_mechanism *m, unsigned sw, enum sm_phase phase,
			     time_ps off)
{
	struct mech_world w;

	mech_draw(&w, m);
	w.strike_in = phase;
	w.strike_sw = sw;
	w.strike_for = off;
	w.on_note = restart_once;
	mech_up(&w);
	assert_int_equal(mech_settle(&w), 10);
	mech_cut(&w, 2, 1);
	w.struck = false; /* and once more while a change is assimilated */
	assert_int_equal(mech_settle(&w), 10);
	mech_close(&w);
}

/* sw0 is between the manager and all other nodes: its LIDs and tables carry all SMPs. */
TEST(a_switch_restarts_during_every_phase)
{
	static const time_ps off[] = {PS_PER_US, 200 * PS_PER_US, 12 * PS_PER_MS};

	for (unsigned i = 0; sm_mechanisms[i].name; i++)
		for (unsigned p = SM_DISCOVER; p < SM_NPHASES; p++)
			for (size_t k = 0; k < ARRAY_LEN(off); k++) {
				restart_in_phase(&sm_mechanisms[i], 0, p, off[k]);
				restart_in_phase(&sm_mechanisms[i], 2, p, off[k]);
			}
}

/* ---- the manager's own link, while it looks at everything ---- */

static void own_link_down(void *ctx, uint64_t cookie)
{
	(void)cookie;
	mech_cut(ctx, 0, 3);
	mech_join(ctx, 0, 3);
}

static void bounce_in_discovery(struct mech_world *w, const struct sm_note *n)
{
	struct sim *s = lab_sim(w->lab);

	if (strikes(w, n, SM_DISCOVER))
		sim_call(s, sim_now(s) + w->strike_for, own_link_down, w, 0);
}

/* Its own port is the only one that is read before its switch is asked for changes. */
TEST(the_managers_own_link_bounces_during_a_full_discovery)
{
	struct sm_mechanism m = *sm_mechanism_find("basic");

	m.first = m.second =
		sm_technique_find("none"); /* which touches no port that seems to be Active */
	for (time_ps t = 0; t < 120 * PS_PER_US; t += 4 * PS_PER_US) {
		struct mech_world w;

		mech_draw(&w, &m);
		mech_up(&w);
		w.strike_for = t;
		w.on_note = bounce_in_discovery;
		mech_cut(&w, 2, 1);
		assert_int_equal(mech_settle(&w), 10);
		assert_true(w.struck);
		mech_close(&w);
	}
}

static void cut_in_sweep(struct mech_world *w, const struct sm_note *n)
{
	if (strikes(w, n, SM_SWEEP))
		mech_cut(w, 1, 1);
}

/* The trap overtakes the answer of the same switch, or comes behind it. */
TEST(a_trap_while_a_sweep_is_under_way)
{
	static const char *const with_traps[] = {"improved+traps", "weft"};

	for (size_t i = 0; i < ARRAY_LEN(with_traps); i++) {
		struct mech_world w;

		mech_open(&w, with_traps[i]);
		w.on_note = cut_in_sweep;
		mech_wait(&w, 30 * PS_PER_MS);
		assert_true(w.struck);
		assert_true(mech_notes(&w, SM_NOTE_TRAP) >= 2); /* both ends tell */
		assert_int_equal(mech_settle(&w), 10);
		assert_int_equal(mech_notes(&w, SM_NOTE_RESTART), 0);
		mech_close(&w);
	}
}

/* ---- the manager's own link ---- */

static void the_managers_own_link_bounces(struct mech_world *w)
{
	struct mech_lids before = mech_lids(w);

	mech_cut(w, 0, 3); /* back before the manager reads it */
	mech_wait(w, PS_PER_US);
	mech_join(w, 0, 3);
	assert_int_equal(mech_settle(w), 10);
	mech_cut(w, 0, 3); /* away for long: the manager is alone */
	assert_int_equal(mech_settle(w), 1);
	mech_join(w, 0, 3);
	assert_int_equal(mech_settle(w), 10);
	assert_lids_are(w, &before);
}

/* No trap arrives while the manager's own switch restarts, and no sweep is due for long. */
TEST(the_managers_own_switch_restarts)
{
	static const char *const all[] = {"basic", "improved", "improved+traps", "weft"};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct mech_world w;
		struct lab_verdict v;
		time_ps now;

		mech_draw(&w, sm_mechanism_find(all[i]));
		w.cfg.sm.sweep_period_ps = 30 * PS_PER_S;
		w.cfg.sm.own_port_ps = 5 * PS_PER_MS;
		mech_up(&w);
		mech_power(&w, sw_guid(0), false);
		mech_wait(&w, PS_PER_MS);
		mech_power(&w, sw_guid(0), true);
		now = sim_now(lab_sim(w.lab));
		mech_wait(&w, 100 * PS_PER_MS);
		assert_true(lab_run_ready(w.lab, now + PS_PER_S));
		lab_judge(w.lab, &v);
		if (!v.active || !v.verified || !v.complete)
			fail_msg("%s: %s", all[i], v.why);
		rt_report_free(&v.report);
		mech_close(&w);
	}
}

static void the_manager_moves_to_another_switch(struct mech_world *w)
{
	mech_cut(w, 0, 3);
	sim_cable(lab_sim(w->lab), mech_port(w, 2, 5), host_port(w, 0));
	assert_int_equal(mech_settle(w), 10);
}

/* ---- SMPs are lost, devices fall silent ---- */

static void lose(struct mech_world *w, unsigned percent)
{
	struct sim_faults f = {.loss_q32 = ((uint64_t)percent << 32) / 100};

	sim_set_faults(lab_sim(w->lab), &f);
}

TEST(smps_are_lost)
{
	for (unsigned i = 0; sm_mechanisms[i].name; i++) {
		struct mech_world w;

		mech_draw(&w, &sm_mechanisms[i]);
		mech_up(&w);
		lose(&w, 10);
		mech_cut(&w, 0, 1);
		mech_power(&w, sw_guid(4), false);
		mech_settle(&w);
		mech_join(&w, 0, 1);
		mech_power(&w, sw_guid(4), true);
		mech_settle(&w);
		lose(&w, 0);
		assert_int_equal(mech_settle(&w), 10);
		mech_close(&w);
	}
}

static void lose_all_in_discovery(struct mech_world *w, const struct sm_note *n)
{
	if (strikes(w, n, SM_DISCOVER))
		lose(w, 100);
}

/* What partial discovery cannot make sense of is looked at from scratch. */
static void falls_back_to_full_discovery(struct mech_world *w)
{
	w->on_note = lose_all_in_discovery;
	mech_power(w, host_guid(1), false);
	mech_wait(w, 400 * PS_PER_MS); /* every retry fails */
	assert_true(w->struck);
	lose(w, 0);
	assert_int_equal(mech_settle(w), 9);
	assert_true(mech_notes(w, SM_NOTE_RESTART) > 0);
	assert_int_equal(lab_sm(w->lab)->disc.allowed, SM_DISCOVERY_PARTIAL);
	mech_power(w, host_guid(1), true); /* and partial discovery is back at work after it */
	assert_int_equal(mech_settle(w), 10);
	assert_int_equal(lab_sm(w->lab)->disc.kind, SM_DISCOVERY_PARTIAL);
}

/* Another manager takes sw4 over: with its key, sw4 no longer answers ours. */
static void rekey_sw4(struct mech_world *w, uint64_t key, uint64_t next)
{
	static const uint8_t to_sw4[] = {1, 1, 4}; /* from h1 */
	struct sim_smp smp = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};
	struct iba_port_info pi = *sim_port_info(lab_sim(w->lab), mech_port(w, 4, 0));

	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	pi.m_key = next;
	pi.m_key_protect = next ? 3 : 0;
	iba_smp_init(smp.mad, IBA_CLASS_SUBN_DR, IBA_SET, IBA_ATTR_PORT_INFO, 0);
	iba_smp_set_dr_slid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(smp.mad, ARRAY_LEN(to_sw4));
	memcpy(iba_smp_initial_path(smp.mad) + 1, to_sw4, sizeof(to_sw4));
	iba_smp_set_m_key(smp.mad, key);
	iba_port_info_put(&pi, iba_smp_data(smp.mad));
	sim_send(lab_sim(w->lab), mech_node(w, host_guid(1)), 1, &smp);
	mech_wait(w, PS_PER_MS / 10);
	assert_int_equal(sim_port_info(lab_sim(w->lab), mech_port(w, 4, 0))->m_key, next);
}

static void a_silent_switch_is_left_out_and_comes_back(struct mech_world *w)
{
	struct mech_lids before = mech_lids(w);

	rekey_sw4(w, 0, 0xbad);
	mech_wait(w, 2 * PS_PER_S);
	/* It and its host are out of reach, the others are served: h1 and h3 across the ring. */
	assert_int_equal(lab_sm(w->lab)->topo.fab->nnodes, 8);
	assert_int_equal(sim_port_info(lab_sim(w->lab), mech_port(w, 2, 3))->state,
			 IBA_PORT_ACTIVE);
	mech_cut(w, 0, 1); /* and changes elsewhere are still assimilated */
	mech_wait(w, 2 * PS_PER_S);
	assert_int_equal(lab_sm(w->lab)->topo.fab->nlinks, 4 + 3);
	mech_join(w, 0, 1);
	rekey_sw4(w, 0xbad, 0);
	assert_int_equal(mech_settle(w), 10);
	assert_lids_are(w, &before);
}

/* ---- every combination ---- */

/* ---- many devices behind few ---- */

struct asked {
	const struct fab *f;
	bool asked[200]; /* by switch, in its row of the fabric */
	unsigned n;
	bool over; /* the discovery */
};

/* Notes switches that were asked for changes by their LID: those that tables still lead to. */
static void note_asked(void *ctx, enum sim_seen what, node_id n, unsigned port,
		       const struct sim_smp *smp, unsigned detail)
{
	struct asked *a = ctx;

	(void)port;
	(void)detail;
	if (a->over || what != SIM_SEEN_RECV || !fab_is_switch(a->f, n) ||
	    iba_smp_is_dr(smp->mad) || iba_smp_method(smp->mad) != IBA_GET ||
	    iba_smp_attr_id(smp->mad) != IBA_ATTR_SWITCH_INFO)
		return;
	a->n += !a->asked[a->f->switch_index[n]];
	a->asked[a->f->switch_index[n]] = true;
}

static void note_end(void *ctx, const struct sm_note *n)
{
	struct asked *a = ctx;

	a->over |= n->kind == SM_NOTE_PHASE && n->phase.to == SM_COMPUTE;
}

/*
 * In a tree all leaves answer the manager over one link. When that fails they are missing, and are asked over another
 * switch of their pod: one for all leaves of the pod, not each of its switches.
 */
TEST(few_switches_are_asked_for_many_that_are_missing)
{
	struct fab *f = fabric_make(GEN("mtree", 8, 3));
	struct lab_config cfg;
	struct asked a = {.f = f};
	struct lab *lab;
	struct err e;
	time_ps now;

	lab_config_default(&cfg);
	cfg.threads = 1;
	lab = lab_new(f, &cfg, &e);
	assert_non_null(lab);
	lab_power_on(lab, NULL);
	assert_true(lab_run_settled(lab, 0, 60 * PS_PER_S));
	sim_watch(lab_sim(lab), (struct sim_watch){note_asked, &a});
	lab_on_note(lab, note_end, &a);
	now = sim_now(lab_sim(lab));
	/* of leaf0_0, to which the manager's host is connected */
	sim_uncable(lab_sim(lab), fab_port_id(f, f->switches[0], 5));
	assert_true(lab_run_settled(lab, now, now + 60 * PS_PER_S));
	assert_true(a.over);
	assert_int_equal(a.n, 1 + 8); /* leaf0_0, and a switch of each pod */
	lab_free(lab);
	fab_free(f);
}

static void survive_a_change(const struct sm_mechanism *m)
{
	struct mech_world w;

	mech_draw(&w, m);
	mech_up(&w);
	mech_cut(&w, 0, 1); /* the ring opens: the break node goes, routes turn round */
	mech_power(&w, host_guid(4), false);
	assert_int_equal(mech_settle(&w), 9);
	mech_join(&w, 0, 1);
	mech_power(&w, host_guid(4), true);
	assert_int_equal(mech_settle(&w), 10);
	mech_close(&w);
}

/* What is done with the tables once they are there; flags, which depend on nothing, take turns. */
static unsigned with_techniques(struct sm_mechanism *m)
{
	bool staged = strcmp(m->provisional->name, "none");
	unsigned n = 0;
	struct err e;

	for (m->first = sm_techniques; m->first->name; m->first++)
		for (m->second = sm_techniques; m->second->name; m->second++) {
			/* Without provisional routes there is no second distribution. */
			if (!staged && m->second != m->first)
				continue;
			if (sm_mechanism_check(m, &e) ==
			    -EINVAL) /* lanes would not be programmed */
				continue;
			m->partial_tables = n & 1;
			m->by_lid = n & 2;
			m->traps = n & 4;
			survive_a_change(m);
			n++;
		}
	return n;
}

/* FERa and PIRa go with every engine; of the others each goes with these, since their pairs are many and alike. */
static bool is_common(const struct sm_supply *s)
{
	return (!s->engine && !s->choose) || s->engine == &rt_fera || s->engine == &rt_pira;
}

/* auto is for final routes, and tries many engines: it goes with repairs alone. */
static bool is_too_much(const struct sm_mechanism *m)
{
	return m->provisional->choose || (m->routes->choose && !m->provisional->keep);
}

TEST(every_combination_survives_a_change)
{
	struct sm_mechanism m = {.name = "any", .summary = ""};
	unsigned n = 0;

	for (m.discovery = sm_discoveries; m.discovery->name; m.discovery++)
		for (m.provisional = sm_supplies; m.provisional->name; m.provisional++)
			for (m.routes = sm_supplies; m.routes->name; m.routes++) {
				if (!strcmp(m.routes->name,
					    "none")) /* without routes there is no subnet */
					continue;
				if ((!is_common(m.provisional) && !is_common(m.routes)) ||
				    is_too_much(&m))
					continue;
				n += with_techniques(&m);
			}
	print_message("# %u combinations\n", n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORY(a_power_cycled_switch_gets_everything_again),
		STORY(a_host_that_bounced_gets_its_lid_again),
		STORY(lids_of_those_that_stay_never_change),
		STORY(a_link_moves_from_port_to_port),
		STORY(two_cables_are_swapped),
		STORY(several_changes_at_once),
		cmocka_unit_test(changes_during_every_phase),
		cmocka_unit_test(a_switch_restarts_during_every_phase),
		cmocka_unit_test(the_managers_own_link_bounces_during_a_full_discovery),
		cmocka_unit_test(a_trap_while_a_sweep_is_under_way),
		STORY(the_managers_own_link_bounces),
		cmocka_unit_test(the_managers_own_switch_restarts),
		STORY(the_manager_moves_to_another_switch),
		cmocka_unit_test(smps_are_lost),
		STORY(falls_back_to_full_discovery),
		STORY(a_silent_switch_is_left_out_and_comes_back),
		cmocka_unit_test(few_switches_are_asked_for_many_that_are_missing),
		cmocka_unit_test(every_combination_survives_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
