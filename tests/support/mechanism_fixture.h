/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small subnet with a manager of any mechanism, for tests of changes: five switches, four of them in a ring,
 * a host at each, the manager on host 0. State: struct mech_world, with the table blocks that each switch received
 * and the notes of the manager. Include first.
 *
 *	h0 - sw0 - sw1 - h1
 *	      |     |
 *	h3 - sw3 - sw2 - h2      sw2 - sw4 - h4
 *
 * Ports of a switch: 1 to the next of the ring, 2 to the one before, 3 its host, 4 to 6 free; sw4
 * is connected to port 4 of sw2 by its port 1.
 */
#ifndef WEFT_TEST_MECHANISM_FIXTURE_H
#define WEFT_TEST_MECHANISM_FIXTURE_H

#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sm/manager.h" /* reads requests under way and disabled turns */
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { SWITCHES = 5, BLOCKS_MAX = 8 };

struct mech_set { /* a Set(LinearForwardingTable), as a switch received it */
	unsigned sw, block;
	uint8_t data[IBA_LFT_BLOCK];
	uint8_t was[IBA_LFT_BLOCK];
	enum sm_stage stage;
	bool directed;
};

struct mech_world {
	struct fab *fab;
	struct lab *lab;
	struct lab_config cfg;
	uint8_t lft[SWITCHES][BLOCKS_MAX * IBA_LFT_BLOCK]; /* as written by Sets */
	VEC(struct mech_set) sets;
	VEC(struct sm_note) notes;
	unsigned slvl_sets, stops; /* Set(SLtoVLMappingTable); Set(PortInfo) to Initialize */
	void (*on_note)(struct mech_world *w, const struct sm_note *n);
	enum sm_phase
		strike_in; /* for on_note: the phase in which to make a change, and whether it was made */
	bool struck;
	unsigned strike_sw;
	time_ps strike_for;
};

/* ---- the subnet ---- */

static inline uint64_t sw_guid(unsigned i)
{
	return 0x100 + i;
}

static inline uint64_t host_guid(unsigned i)
{
	return 0x200 + i;
}

static inline struct fab *mech_fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[SWITCHES], host;

	for (unsigned i = 0; i < SWITCHES; i++)
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, sw_guid(i), 6, "");
	for (unsigned i = 0; i < 4; i++)
		fab_add_link(b, sw[i], 1, sw[(i + 1) % 4], 2);
	fab_add_link(b, sw[2], 4, sw[4], 1);
	for (unsigned i = 0; i < SWITCHES; i++) {
		host = fab_add_node(b, IBA_NODE_CA, host_guid(i), 1, "");
		fab_builder_port(b, host, 1)->guid = host_guid(i);
		fab_add_link(b, sw[i], 3, host, 1);
	}
	return fab_build(b);
}

static inline node_id mech_node(const struct mech_world *w, uint64_t guid)
{
	node_id n = fab_node_by_guid(w->fab, guid);

	assert_true(n != FAB_NONE);
	return n;
}

static inline port_id mech_port(const struct mech_world *w, unsigned sw, unsigned port)
{
	return fab_port_id(w->fab, mech_node(w, sw_guid(sw)), port);
}

/* ---- observation ---- */

static inline void mech_lft_seen(struct mech_world *w, unsigned sw, const struct sim_smp *smp)
{
	struct mech_set x = {.sw = sw,
			     .block = iba_smp_attr_mod(smp->mad),
			     .stage = lab_sm(w->lab)->routes.stage,
			     .directed = iba_smp_is_dr(smp->mad)};
	uint8_t *at = w->lft[sw] + x.block * IBA_LFT_BLOCK;

	assert_true(x.block < BLOCKS_MAX);
	memcpy(x.data, iba_smp_data_const(smp->mad), IBA_LFT_BLOCK);
	memcpy(x.was, at, IBA_LFT_BLOCK);
	memcpy(at, x.data, IBA_LFT_BLOCK);
	vec_push(&w->sets, x);
}

/* For every technique: never two Sets under way for one block of one switch. */
static inline void mech_check_window(const struct sm *sm)
{
	for (uint32_t i = 0; i < sm->cfg.window; i++)
		for (uint32_t k = 0; k < i; k++) {
			const struct sm_txn *a = &sm->txn.slots[i], *b = &sm->txn.slots[k];

			assert_false(
				a->used && b->used && a->method == IBA_SET &&
				b->method == IBA_SET && a->attr_id == IBA_ATTR_LFT &&
				b->attr_id == IBA_ATTR_LFT && a->target.node == b->target.node &&
				iba_smp_attr_mod(a->send.mad) == iba_smp_attr_mod(b->send.mad));
		}
}

static inline void mech_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
			     const struct sim_smp *smp, unsigned detail)
{
	struct mech_world *w = ctx;
	struct iba_port_info pi;

	(void)port;
	(void)detail;
	if (what == SIM_SEEN_NODE && fab_is_switch(w->fab, n))
		memset(w->lft[w->fab->nodes[n].guid - sw_guid(0)], IBA_PORT_NONE,
		       sizeof(w->lft[0]));
	if (what != SIM_SEEN_RECV || iba_smp_method(smp->mad) != IBA_SET || !lab_sm(w->lab))
		return;
	if (iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT) {
		mech_check_window(lab_sm(w->lab));
		mech_lft_seen(w, (unsigned)(w->fab->nodes[n].guid - sw_guid(0)), smp);
	} else if (iba_smp_attr_id(smp->mad) == IBA_ATTR_SLVL_TABLE) {
		w->slvl_sets++;
	} else if (iba_smp_attr_id(smp->mad) == IBA_ATTR_PORT_INFO) {
		iba_port_info_get(&pi, iba_smp_data_const(smp->mad), IBA_SMP_DATA_SIZE);
		w->stops += pi.state == IBA_PORT_DOWN;
	}
}

static inline void mech_noted(void *ctx, const struct sm_note *n)
{
	struct mech_world *w = ctx;

	vec_push(&w->notes, *n);
	if (w->on_note)
		w->on_note(w, n);
}

/* ---- open and close ---- */

/* Change w->cfg between the two. */
static inline void mech_draw(struct mech_world *w, const struct sm_mechanism *m)
{
	memset(w, 0, sizeof(*w));
	memset(w->lft, IBA_PORT_NONE, sizeof(w->lft));
	w->fab = mech_fabric();
	lab_config_default(&w->cfg);
	w->cfg.threads = 1;
	w->cfg.sm_node = mech_node(w, host_guid(0));
	w->cfg.sm.sweep_factor = 0;
	w->cfg.sm.sweep_period_ps = 20 * PS_PER_MS;
	w->cfg.sm.mechanism = *m;
}

static inline void mech_up(struct mech_world *w)
{
	struct err e;

	w->lab = lab_new(w->fab, &w->cfg, &e);
	assert_non_null(w->lab);
	sim_watch(lab_sim(w->lab), (struct sim_watch){mech_seen, w});
	lab_on_note(w->lab, mech_noted, w);
	lab_power_on(w->lab, NULL);
	if (!lab_run_settled(w->lab, 0, 60 * PS_PER_S))
		fail_msg("does not come up");
	w->sets.n = w->notes.n = 0;
	w->slvl_sets = w->stops = 0;
}

static inline void mech_open(struct mech_world *w, const char *mechanism)
{
	mech_draw(w, sm_mechanism_find(mechanism));
	mech_up(w);
}

static inline void mech_close(struct mech_world *w)
{
	lab_free(w->lab);
	fab_free(w->fab);
	vec_free(&w->sets);
	vec_free(&w->notes);
}

/* ---- changes and checks ---- */

static inline void mech_cut(struct mech_world *w, unsigned sw, unsigned port)
{
	sim_uncable(lab_sim(w->lab), mech_port(w, sw, port));
}

static inline void mech_join(struct mech_world *w, unsigned sw, unsigned port)
{
	port_id p = mech_port(w, sw, port);

	sim_cable(lab_sim(w->lab), p, w->fab->ports[p].peer);
}

static inline void mech_power(struct mech_world *w, uint64_t guid, bool on)
{
	sim_node_power(lab_sim(w->lab), mech_node(w, guid), on);
}

static inline void mech_wait(struct mech_world *w, time_ps t)
{
	lab_run_until(w->lab, sim_now(lab_sim(w->lab)) + t);
}

/* Run until a sweep finds no change; then the verdict must be good. Returns the number of nodes.
 */
static inline unsigned mech_settle(struct mech_world *w)
{
	time_ps now = sim_now(lab_sim(w->lab));
	struct lab_verdict v;

	if (!lab_run_settled(w->lab, now, now + 60 * PS_PER_S))
		fail_msg("%s/%s/%s/%s/%s: does not come to rest",
			 w->cfg.sm.mechanism.discovery->name, w->cfg.sm.mechanism.provisional->name,
			 w->cfg.sm.mechanism.routes->name, w->cfg.sm.mechanism.first->name,
			 w->cfg.sm.mechanism.second->name);
	lab_judge(w->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		fail_msg("%s/%s/%s/%s/%s: %s", w->cfg.sm.mechanism.discovery->name,
			 w->cfg.sm.mechanism.provisional->name, w->cfg.sm.mechanism.routes->name,
			 w->cfg.sm.mechanism.first->name, w->cfg.sm.mechanism.second->name, v.why);
	rt_report_free(&v.report);
	return v.nodes;
}

static inline unsigned mech_notes(const struct mech_world *w, enum sm_note_kind k)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->notes.n; i++)
		n += w->notes.at[i].kind == k;
	return n;
}

/* How often a phase was entered since the subnet came up. */
static inline unsigned mech_entered(const struct mech_world *w, enum sm_phase p)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->notes.n; i++)
		n += w->notes.at[i].kind == SM_NOTE_PHASE && w->notes.at[i].phase.to == p;
	return n;
}

/* LIDs as the devices have them: host i, or switch i. */
static inline uint16_t mech_lid(const struct mech_world *w, uint64_t guid)
{
	node_id n = mech_node(w, guid);

	return sim_port_info(lab_sim(w->lab),
			     fab_port_id(w->fab, n, fab_is_switch(w->fab, n) ? 0 : 1))
		->lid;
}

struct mech_lids {
	uint16_t sw[SWITCHES], host[SWITCHES];
};

static inline struct mech_lids mech_lids(const struct mech_world *w)
{
	struct mech_lids l;

	for (unsigned i = 0; i < SWITCHES; i++) {
		l.sw[i] = mech_lid(w, sw_guid(i));
		l.host[i] = mech_lid(w, host_guid(i));
	}
	return l;
}

#endif
