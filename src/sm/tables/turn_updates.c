/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways to prevent a deadlock of old and new tables without stopping all traffic: some ports of
 * break nodes stop (thesis 7.2.2), or single turns are disabled by mapping them to VL15 (7.2.3),
 * and enabled again when tables no longer need that. State: dev.turns, those of the running
 * distribution. Does not decide which turns a plan needs.
 */
#include "sm/manager.h"

static uint32_t turn_node(const struct sm *sm, const struct rt_turn *t)
{
	return sm->topo.node_of[sm->topo.fab->switches[t->sw]];
}

static void turns_of_break_nodes(struct sm *sm)
{
	sm_rank_ensure(sm);
	sm->dev.turns.n = 0;
	rt_forbidden_turns(sm_data_fab(sm), sm->routes.rank, &sm->dev.turns);
	sm->run.turns.turn = 0;
}

static enum sm_outcome done(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

/* ---- up ports of break nodes, all but one ---- */

static enum sm_outcome break_ports_begin(struct sm *sm)
{
	turns_of_break_nodes(sm);
	sm_drain_begin(sm);
	return SM_GOING_ON;
}

/* Turns are sorted by switch, in, out: each further `in` of a switch is a port to stop. */
static bool break_ports_next(struct sm *sm, struct sm_req *r)
{
	while (sm->run.turns.turn < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.turns.turn++], *before = t - 1;
		uint32_t port;

		if (t == sm->dev.turns.at || before->sw != t->sw || before->in == t->in)
			continue;
		port = sm->topo.nodes.at[turn_node(sm, t)].first_port + t->in;
		if (!sm_port_may_carry(&sm->topo.ports.at[port]))
			continue;
		sm_port_order(sm, port, IBA_PORT_DOWN, SM_FOR_DISTRIBUTION, r);
		/*
		 * In the thesis's model the other end stays up; a real link goes down at both
		 * ends.
		 */
		if (sm->topo.ports.at[port].peer != NONE)
			sm->topo.ports.at[sm->topo.ports.at[port].peer].order.in_doubt = true;
		return true;
	}
	return false;
}

/* Packets that the port received before it stopped still take turns, which new tables must not meet. */
static enum sm_outcome break_ports_recv(struct sm *sm, const struct sm_txn *txn,
					const uint8_t *data)
{
	uint32_t node = sm->topo.ports.at[txn->target.port].node;
	unsigned in = sm->topo.ports.at[txn->target.port].num;

	for (size_t i = 0; i < sm->dev.turns.n; i++) {
		const struct rt_turn *t = &sm->dev.turns.at[i];

		if (t->in == in && turn_node(sm, t) == node)
			sm_drain_turn_off(sm, node, in, t->out);
	}
	return sm_port_take(sm, txn, data);
}

const struct sm_part sm_part_break_ports = {
	.begin = break_ports_begin,
	.next = break_ports_next,
	.recv = break_ports_recv,
	.fail = sm_failed,
	.done = done,
};

/* ---- turns off ---- */

/* The order that rt_forbidden_turns() gives them. */
static int turn_cmp(const void *a, const void *b)
{
	const struct rt_turn *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->in != y->in ? x->in - y->in : x->out - y->out;
}

/*
 * A switch that is not met, but whose links are still Active, forwards by a table that no plan knows: no packet that
 * comes from there goes on to another switch.
 */
static void turns_from_unknown(struct sm *sm)
{
	size_t kept = 0, n = sm->dev.turns.n;

	sm_silent_turns(sm, &sm->dev.turns);
	if (sm->dev.turns.n == n)
		return;
	qsort(sm->dev.turns.at, sm->dev.turns.n, sizeof(*sm->dev.turns.at), turn_cmp);
	for (size_t i = 0; i < sm->dev.turns.n; i++)
		if (!i || turn_cmp(&sm->dev.turns.at[i], &sm->dev.turns.at[i - 1]))
			sm->dev.turns.at[kept++] = sm->dev.turns.at[i];
	sm->dev.turns.n = kept;
}

static enum sm_outcome turns_off_begin(struct sm *sm)
{
	sm->run.turns.mark = sm->run.turns.turn = 0;
	sm_drain_begin(sm);
	/*
	 * No plan holds for tables that are not known, or that deadlock together on every way: the turns of break nodes
	 * are safe with any, on whatever VL.
	 */
	if (!sm_technique_now(sm)->plan || sm_rows_in_doubt(sm) || sm->routes.unplanned) {
		turns_of_break_nodes(sm);
		turns_from_unknown(sm);
		return SM_GOING_ON;
	}
	sm->dev.turns.n = 0;
	for (size_t i = 0; i < sm->routes.plan.turns.n; i++)
		vec_push(&sm->dev.turns, sm->routes.plan.turns.at[i]);
	if (sm->routes.plan.kind != RT_PLAN_NOTHING)
		turns_from_unknown(sm);
	sm_note(sm, .kind = SM_NOTE_PLAN,
		.plan = {sm->routes.plan.kind, (uint32_t)sm->dev.turns.n});
	return SM_GOING_ON;
}

/* Counts as disabled from now on, whether a response comes or not. */
static size_t off_note(struct sm *sm, const struct rt_turn *t)
{
	return sm_disabled_add(sm, sm->topo.nodes.at[turn_node(sm, t)].guid, t->in, t->out, false);
}

/* A switch is marked before the first of its turns is disabled. */
static bool mark_next(struct sm *sm, struct sm_req *r)
{
	while (sm->cfg.read_back && sm->run.turns.mark < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.turns.mark++];

		off_note(sm, t);
		if (sm_mark_make(sm, turn_node(sm, t), r))
			return true;
	}
	return false;
}

/* Some devices, ibsim's among them, ignore SubnetTimeOut: they are not marked again. */
static void mark_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_port_info sent;

	sm_port_take(sm, t, data);
	iba_port_info_get(&sent, iba_smp_data_const(t->send.mad), IBA_SMP_DATA_SIZE);
	if (sent.subnet_timeout != sm->topo.ports.at[t->target.port].pi.subnet_timeout)
		sm_node_markless(sm, t->target.node);
	sm_turns_mark(sm, sm->topo.nodes.at[t->target.node].guid);
}

static bool turns_off_next(struct sm *sm, struct sm_req *r)
{
	struct iba_slvl_table off;

	if (mark_next(sm, r))
		return true;
	if (sm->cfg.read_back && !sm->run.turns.turn && sm->txn.outstanding)
		return false; /* without the mark a later SM would not find the disabled turn */
	while (sm->run.turns.turn < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.turns.turn++];
		size_t at = off_note(sm, t);

		if (sm->dev.off.at[at].sure)
			continue;
		sm_map_unknown(sm, sm->dev.off.at[at].guid, t->in, t->out);
		memset(off.vl, IBA_VL_SUBN, sizeof(off.vl));
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, turn_node(sm, t),
			    IBA_ATTR_SLVL_TABLE, (uint32_t)t->in << 8 | t->out);
		iba_slvl_table_put(&off, r->data);
		r->target = sm_target_turn(turn_node(sm, t), t->in, t->out);
		return true;
	}
	return false;
}

static size_t off_of(const struct sm *sm, struct sm_target turn)
{
	return sm_disabled_find(sm, sm->topo.nodes.at[turn.node].guid, turn.item >> 8,
				turn.item & 0xff);
}

static enum sm_outcome turns_off_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	size_t at;

	if (t->attr_id == IBA_ATTR_PORT_INFO) {
		mark_take(sm, t, data);
		return SM_GOING_ON;
	}
	at = off_of(sm, t->target);
	if (at != SIZE_MAX)
		sm->dev.off.at[at].sure = true;
	sm_drain_turn_off(sm, t->target.node, t->target.item >> 8, t->target.item & 0xff);
	return SM_GOING_ON;
}

const struct sm_part sm_part_turns_off = {
	.begin = turns_off_begin,
	.next = turns_off_next,
	.recv = turns_off_recv,
	.fail = sm_failed,
	.done = done,
};

/* ---- turns on again ---- */

/* Tables with lanes use any turn, and adopted ones may obey another graph. */
static bool may_stay_off(const struct sm *sm)
{
	if (!sm->routes.ranked || sm->routes.tables->lanes)
		return false;
	return sm->cfg.mechanism.first->stay_off || sm_technique_now(sm)->stay_off;
}

/*
 * Thesis 7.2.3: new tables never use turns that the new graph forbids, so these may stay
 * disabled. But the graph changes with the fabric, and a turn that it no longer forbids has to be
 * enabled again.
 */
static bool stays_off(const struct sm *sm, const struct sm_turn_off *x, node_id n)
{
	struct rt_turn t = {sm->topo.fab->switch_index[n], x->in, x->out};

	if (!may_stay_off(sm) || !sm->dev.turns.n)
		return false;
	return bsearch(&t, sm->dev.turns.at, sm->dev.turns.n, sizeof(t), turn_cmp) != NULL;
}

static bool any_to_enable(const struct sm *sm)
{
	for (size_t i = 0; i < sm->dev.off.n; i++) {
		node_id n = fab_node_by_guid(sm->topo.fab, sm->dev.off.at[i].guid);

		if (n != FAB_NONE && !stays_off(sm, &sm->dev.off.at[i], n))
			return true;
	}
	return false;
}

static enum sm_outcome restore_begin(struct sm *sm)
{
	if (sm->dev.off.n &&
	    may_stay_off(sm)) /* final tables may have another graph than provisional ones */
		turns_of_break_nodes(sm);
	sm->run.turns.turn = sm->run.turns.mark = 0;
	/* A packet that was queued before the tables changed may still need a turn. */
	if (any_to_enable(sm))
		sm_drain_wait(sm);
	return SM_GOING_ON;
}

static bool restore_next(struct sm *sm, struct sm_req *r)
{
	while (sm->run.turns.turn < sm->dev.off.n) {
		struct sm_turn_off *x = &sm->dev.off.at[sm->run.turns.turn++];
		node_id n = fab_node_by_guid(sm->topo.fab, x->guid);

		if (n == FAB_NONE || stays_off(sm, x, n))
			continue;
		x->sure =
			false; /* from now on it may be enabled, whether a response comes or not */
		sm_slvl_make(sm, sm->topo.node_of[n], x->in, x->out, SM_FOR_DISTRIBUTION, r);
		r->target = sm_target_turn(sm->topo.node_of[n], x->in, x->out);
		return true;
	}
	if (sm->txn.outstanding)
		return false;
	while (sm->run.turns.mark < sm->topo.fab->nswitches) /* each once: a device may ignore it */
		if (sm_mark_make(sm, sm->topo.node_of[sm->topo.fab->switches[sm->run.turns.mark++]],
				 r))
			return true;
	return false;
}

static enum sm_outcome restore_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	size_t i;

	if (t->attr_id == IBA_ATTR_PORT_INFO) {
		mark_take(sm, t, data);
		return SM_GOING_ON;
	}
	sm_map_acknowledged(sm, t);
	i = off_of(sm, t->target);
	if (i == SIZE_MAX)
		return SM_GOING_ON;
	sm_disabled_remove(sm, i);
	if (sm->run.turns.turn > i) /* the cursor moves up with those behind it */
		sm->run.turns.turn--;
	return SM_GOING_ON;
}

const struct sm_part sm_part_restore = {
	.begin = restore_begin,
	.next = restore_next,
	.recv = restore_recv,
	.fail = sm_failed,
	.done = done,
};

/* ---- for the audit ---- */

/* On a mismatch the device's value is recorded; the next round corrects it. */
bool sm_turn_as_set(struct sm *sm, struct sm_target turn, const uint8_t *data)
{
	size_t at = off_of(sm, turn);
	struct iba_slvl_table is;

	iba_slvl_table_get(&is, data, IBA_SMP_DATA_SIZE);
	if (sm_map_is_off(is.vl) == (at != SIZE_MAX))
		return at != SIZE_MAX ||
		       sm_map_as_set(sm, turn.node, turn.item >> 8, turn.item & 0xff, data);
	sm_map_unknown(sm, sm->topo.nodes.at[turn.node].guid, turn.item >> 8, turn.item & 0xff);
	if (at == SIZE_MAX)
		sm_disabled_add(sm, sm->topo.nodes.at[turn.node].guid, turn.item >> 8,
				turn.item & 0xff, true);
	else
		sm_disabled_remove(sm, at);
	return false;
}
