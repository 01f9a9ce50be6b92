/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distribution of random forwarding tables. State: the progress of each switch (struct sm_rft)
 * and the list of those not done, dev.rft_todo. Does not decide what an entry says, nor, when
 * tables change entry by entry while traffic flows, which is due: see outward_updates.c. While
 * the DefaultPort stays, each entry changes on its own, like those of a linear table. When it
 * changes, entries are added first, then the DefaultPort follows, and entries that it makes
 * redundant are removed last, each step when the one before is acknowledged: at any moment every
 * LID takes its old or its new route. Only where the table has no room for old and new entries
 * together do some LIDs take the old DefaultPort in between, until the last block is written.
 */
#include "sm/tables/random_tables.h"

static uint32_t node_at(const struct sm *sm, uint32_t sw)
{
	return sm->topo.node_of[sm->topo.fab->switches[sw]];
}

/* ---- beginning ---- */

static bool traffic_stopped(const struct sm *sm)
{
	return sm_technique_now(sm)->stops_all;
}

void sm_rft_begin(struct sm *sm, enum sm_rft_which which)
{
	sm->dev.rft_todo.n = 0;
	sm->dev.rft_turn = 0;
	for (uint32_t sw = 0; sw < sm->topo.fab->nswitches; sw++) {
		struct sm_rft *t = sm_rft_of(sm, sw);

		if (!t)
			continue;
		sm_rft_reset(t, sm->routes.tables->stride);
		if (which == RFT_EARLY && !t->unknown && !sm_rft_crowded(sm, sw))
			continue;
		sm_rft_lay_out(sm, sw, sm_rft_choose(sm, sw));
		t->step = RFT_ADD;
		t->cur = 0;
		t->direct = !t->dflt_known || t->dflt == t->want_dflt || traffic_stopped(sm);
		t->resend = which == RFT_ALL && !sm_differences_only(sm);
		vec_push(&sm->dev.rft_todo, sw);
	}
}

/* ---- one switch ---- */

/*
 * The content of a slot at this step: while entries are added, none is removed that is still
 * needed.
 */
static struct sm_rft_slot slot_now(const struct sm_rft *t, uint32_t i)
{
	return t->step == RFT_ADD && !t->direct && !t->want[i].lid ? t->has[i] : t->want[i];
}

static bool block_due(const struct sm_rft *t, uint32_t block)
{
	bool used = false;

	if (!t->known[block])
		return true;
	for (uint32_t i = block * IBA_RFT_BLOCK; i < (block + 1) * IBA_RFT_BLOCK; i++) {
		struct sm_rft_slot s = slot_now(t, i);

		if (s.lid != t->has[i].lid || s.port != t->has[i].port)
			return true;
		used |= s.lid != 0;
	}
	return used && t->resend && t->step == RFT_ADD;
}

static void make_block(struct sm *sm, uint32_t sw, uint32_t block, struct sm_req *r)
{
	const struct sm_rft *t = sm_rft_of(sm, sw);
	struct iba_rft b = {0};

	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++) {
		struct sm_rft_slot s = slot_now(t, block * IBA_RFT_BLOCK + i);

		b.lid[i] = s.lid;
		b.port[i] = s.port;
		b.valid[i] = s.lid != 0;
	}
	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node_at(sm, sw), IBA_ATTR_RFT, block);
	iba_rft_put(&b, r->data);
}

void sm_rft_make(struct sm *sm, uint32_t sw, uint32_t block, struct sm_req *r)
{
	sm_rft_of(sm, sw)->step = RFT_END;
	make_block(sm, sw, block, r);
}

static void make_default(struct sm *sm, uint32_t sw, struct sm_req *r)
{
	struct iba_switch_info si = sm->topo.nodes.at[node_at(sm, sw)].si;

	si.default_port = sm_rft_of(sm, sw)->want_dflt;
	si.port_state_change = 0; /* writing one would clear it */
	sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node_at(sm, sw), IBA_ATTR_SWITCH_INFO, 0);
	iba_switch_info_put(&si, r->data);
}

static bool blocks_next(struct sm *sm, uint32_t sw, struct sm_rft *t, struct sm_req *r)
{
	while (t->cur < t->nblocks) {
		uint32_t b = t->cur++;

		if (!block_due(t, b))
			continue;
		make_block(sm, sw, b, r);
		return true;
	}
	return false;
}

/* False: nothing for now; with RFT_END nothing at all. */
static bool switch_next(struct sm *sm, uint32_t sw, struct sm_rft *t, struct sm_req *r)
{
	if (t->step == RFT_ADD) {
		if (blocks_next(sm, sw, t, r))
			return true;
		t->step = RFT_DEFAULT;
	}
	if (t->step == RFT_DEFAULT) {
		if (t->flying)
			return false;
		t->step = RFT_REMOVE;
		t->cur = 0;
		if (!t->dflt_known || t->dflt != t->want_dflt) {
			make_default(sm, sw, r);
			return true;
		}
	}
	if (t->step == RFT_REMOVE) {
		if (!t->cur && t->flying)
			return false;
		if (blocks_next(sm, sw, t, r))
			return true;
		t->step = RFT_END;
	}
	return false;
}

/* One SMP of each switch in turn, so that none is a bottleneck. */
bool sm_rft_next(struct sm *sm, struct sm_req *r)
{
	for (size_t left = sm->dev.rft_todo.n; left > 0; left--) {
		uint32_t sw;
		struct sm_rft *t;

		if (sm->dev.rft_turn >= sm->dev.rft_todo.n)
			sm->dev.rft_turn = 0;
		sw = sm->dev.rft_todo.at[sm->dev.rft_turn];
		t = sm_rft_of(sm, sw);
		if (switch_next(sm, sw, t, r)) {
			t->flying++;
			r->question = Q_RANDOM;
			sm->dev.rft_turn++;
			return true;
		}
		if (t->step == RFT_END)
			sm->dev.rft_todo.at[sm->dev.rft_turn] =
				sm->dev.rft_todo.at[--sm->dev.rft_todo.n];
		else
			sm->dev.rft_turn++;
	}
	return false;
}

/* ---- answers ---- */

/*
 * A switch that restarted in between answers as usual. But its ports came up again, so it reports
 * a change: then its entries are not known, and are sent once more.
 */
static void default_set(struct sm *sm, uint32_t node, const uint8_t *data)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	sm_switch_default_port(sm, node, si.default_port);
	if (si.port_state_change)
		sm_rft_unknown(sm, node);
	sm_rft_take_default(sm, node, si.default_port);
}

void sm_rft_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_rft *x = sm->dev.rows.at[sm->topo.nodes.at[t->target.node].row].rft;
	struct iba_rft b;

	if (t->question == Q_RANDOM)
		x->flying--;
	if (t->attr_id == IBA_ATTR_SWITCH_INFO) {
		default_set(sm, t->target.node, data);
		return;
	}
	iba_rft_get(&b, iba_smp_data_const(t->send.mad), IBA_SMP_DATA_SIZE);
	sm_count_block(sm);
	sm_rft_take(sm, t->target.node, iba_smp_attr_mod(t->send.mad), &b);
}

/* ---- the audit: what was set in this round ---- */

/* Block nblocks of a random table stands for its DefaultPort. */
bool sm_rft_audit_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	for (; at->node < sm->topo.fab->nswitches; at->node++, at->step = 0) {
		const struct sm_rft *t = sm_rft_of(sm, at->node);
		uint32_t node = node_at(sm, at->node);

		while (t && at->step <= t->nblocks) {
			uint32_t b = at->step++;
			bool dflt = b == t->nblocks;

			if ((dflt ? t->dflt_known : t->known[b]) != sm->audit.generation)
				continue;
			sm_req_node(sm, r, IBA_GET, SM_FOR_AUDIT, node,
				    dflt ? IBA_ATTR_SWITCH_INFO : IBA_ATTR_RFT, dflt ? 0 : b);
			r->target = sm_target_block(node, b);
			r->question = Q_AUDIT_RANDOM;
			return true;
		}
	}
	return false;
}

static bool block_as_set(const struct sm_rft *t, uint32_t block, const uint8_t *data)
{
	struct iba_rft b;

	iba_rft_get(&b, data, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++) {
		const struct sm_rft_slot *s = &t->has[block * IBA_RFT_BLOCK + i];

		if (b.valid[i] ? b.lid[i] != s->lid || b.port[i] != s->port || b.lmc[i]
			       : s->lid != 0)
			return false;
	}
	return true;
}

bool sm_rft_audit(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t node = t->target.node, block = t->target.item;
	const struct sm_rft *x = sm->dev.rows.at[sm->topo.nodes.at[node].row].rft;
	struct iba_switch_info si;

	if (t->attr_id == IBA_ATTR_RFT) {
		if (block_as_set(x, block, data))
			return true;
		sm_rft_block_unknown(sm, node, block);
		return false;
	}
	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (si.default_port == x->dflt)
		return true;
	sm_rft_unknown(sm, node);
	return false;
}
