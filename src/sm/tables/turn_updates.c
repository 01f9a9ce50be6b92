/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distributor, gentler ways to keep old and new tables from a deadlock: some ports of break nodes
 * stop (thesis 7.2.2), or single turns are switched off by mapping them to VL15 (7.2.3), and come on
 * again when tables no longer need that. State: sm->dev.turns, those of the running distribution.
 * Does not decide which turns a plan needs.
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
	rt_forbidden_turns(sm->topo.fab, sm->routes.rank, &sm->dev.turns);
	sm->run.step = 0;
}

static void stopped(struct sm *sm)
{
	sm_phase_set(sm, SM_JOIN);
}

/* ---- up ports of break nodes, all but one ---- */

/* Turns are in the order of switch, in, out: a new `in` that is not its switch's first is a port. */
static bool break_ports_next(struct sm *sm, struct sm_req *r)
{
	while (sm->run.step < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.step++], *before = t - 1;
		uint32_t port;

		if (t == sm->dev.turns.at || before->sw != t->sw || before->in == t->in)
			continue;
		port = sm->topo.nodes.at[turn_node(sm, t)].first_port + t->in;
		if (sm->topo.ports.at[port].pi.state < IBA_PORT_ARMED)
			continue;
		sm_port_order(sm, port, IBA_PORT_DOWN, SM_FOR_DISTRIBUTION, r);
		/* In the thesis's model the other end stays as it is; a real link goes down at both. */
		if (sm->topo.ports.at[port].peer != NONE)
			sm->topo.ports.at[sm->topo.ports.at[port].peer].in_doubt = true;
		return true;
	}
	return false;
}

const struct sm_part sm_part_break_ports = {turns_of_break_nodes, break_ports_next, sm_port_take,
					    sm_failed, stopped};

/* ---- turns off ---- */

static size_t turn_off_find(const struct sm *sm, const struct rt_turn *t)
{
	return sm_off_find(sm, sm->topo.nodes.at[turn_node(sm, t)].guid, t->in, t->out);
}

static void turns_off_begin(struct sm *sm)
{
	sm->run.pass = 0;
	if (sm_technique_now(sm)->plan && sm_rows_in_doubt(sm)) {
		turns_of_break_nodes(
			sm); /* no plan holds for what is not known: this is safe with anything */
	} else if (sm_technique_now(sm)->plan) {
		sm->dev.turns.n = 0;
		for (size_t i = 0; i < sm->routes.plan.turns.n; i++)
			vec_push(&sm->dev.turns, sm->routes.plan.turns.at[i]);
		sm_note(sm, SM_NOTE_PLAN, sm->routes.plan.kind, sm->dev.turns.n);
		sm->run.step = 0;
	} else {
		turns_of_break_nodes(sm);
	}
}

/* From now on, whether an answer comes or not. */
static size_t off_note(struct sm *sm, const struct rt_turn *t)
{
	return sm_off_add(sm, sm->topo.nodes.at[turn_node(sm, t)].guid, t->in, t->out, false);
}

/* Before the first of its turns is off a switch is marked. */
static bool mark_next(struct sm *sm, struct sm_req *r)
{
	while (sm->cfg.read_back && sm->run.pass < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.pass++];

		off_note(sm, t);
		if (sm_mark_make(sm, turn_node(sm, t), r))
			return true;
	}
	return false;
}

/* Some devices, ibsim's among them, do not keep SubnetTimeOut: no use to try again and again. */
static void mark_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_port_info sent;

	sm_port_take(sm, t, data);
	iba_port_info_get(&sent, iba_smp_data_const(t->send.mad), IBA_SMP_DATA_SIZE);
	if (sent.subnet_timeout != sm->topo.ports.at[t->ref].pi.subnet_timeout)
		sm->topo.nodes.at[sm->topo.ports.at[t->ref].node].markless = true;
}

static bool turns_off_next(struct sm *sm, struct sm_req *r)
{
	struct iba_slvl_table off;

	if (mark_next(sm, r))
		return true;
	if (sm->cfg.read_back && !sm->run.step && sm->txn.outstanding)
		return false; /* a mark that was lost, and nobody would ever know of the turn */
	while (sm->run.step < sm->dev.turns.n) {
		const struct rt_turn *t = &sm->dev.turns.at[sm->run.step++];
		size_t at = off_note(sm, t);

		if (sm->dev.off.at[at].sure)
			continue;
		memset(off.vl, IBA_VL_SUBN, sizeof(off.vl));
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, turn_node(sm, t),
			    IBA_ATTR_SLVL_TABLE, (uint32_t)t->in << 8 | t->out);
		iba_slvl_table_put(&off, r->data);
		r->kind = sm->run.step - 1;
		return true;
	}
	return false;
}

static void turns_off_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	size_t at;

	if (t->attr_id == IBA_ATTR_PORT_INFO) {
		mark_take(sm, t, data);
		return;
	}
	at = turn_off_find(sm, &sm->dev.turns.at[t->kind]);
	if (at != SIZE_MAX)
		sm->dev.off.at[at].sure = true;
}

const struct sm_part sm_part_turns_off = {turns_off_begin, turns_off_next, turns_off_recv,
					  sm_failed, stopped};

/* ---- turns on again ---- */

static bool may_stay_off(const struct sm *sm)
{
	if (sm->disc.found_old &&
	    !sm->routes.ranked) /* tables that were found may obey another graph */
		return false;
	return sm->cfg.mechanism.first->stay_off || sm_technique_now(sm)->stay_off;
}

/* The order that rt_forbidden_turns() gives them. */
static int turn_cmp(const void *a, const void *b)
{
	const struct rt_turn *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->in != y->in ? x->in - y->in : x->out - y->out;
}

/*
 * Thesis 7.2.3: new tables never take the turns that the new graph forbids, so these may stay off. But
 * the graph changes with the fabric, and a turn that it no longer forbids has to come on again.
 */
static bool stays_off(const struct sm *sm, const struct sm_turn_off *x, node_id n)
{
	struct rt_turn t = {sm->topo.fab->switch_index[n], x->in, x->out};

	if (!may_stay_off(sm) || !sm->dev.turns.n)
		return false;
	return bsearch(&t, sm->dev.turns.at, sm->dev.turns.n, sizeof(t), turn_cmp) != NULL;
}

static void restore_begin(struct sm *sm)
{
	if (sm->dev.off.n &&
	    may_stay_off(sm)) /* final tables may have another graph than provisional ones */
		turns_of_break_nodes(sm);
	sm->run.step = sm->run.pass = 0;
	/* A packet that took its place before the tables changed may still want a turn. */
	if (sm->dev.off.n && sm_technique_now(sm)->plan)
		sm->core.hold_until = sm->core.now + sm->cfg.drain_ps;
}

static bool restore_next(struct sm *sm, struct sm_req *r)
{
	while (sm->run.step < sm->dev.off.n) {
		const struct sm_turn_off *x = &sm->dev.off.at[sm->run.step++];
		node_id n = fab_node_by_guid(sm->topo.fab, x->guid);

		if (n == FAB_NONE || stays_off(sm, x, n))
			continue;
		sm_slvl_make(sm, sm->topo.node_of[n], x->in, x->out, SM_FOR_DISTRIBUTION, r);
		r->kind = (uint32_t)x->in << 8 | x->out;
		return true;
	}
	if (sm->txn.outstanding)
		return false;
	while (sm->run.pass <
	       sm->topo.fab->nswitches) /* each once: a device may not keep what it is told */
		if (sm_mark_make(sm, sm->topo.node_of[sm->topo.fab->switches[sm->run.pass++]], r))
			return true;
	return false;
}

static void restore_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	size_t i;

	if (t->attr_id == IBA_ATTR_PORT_INFO) {
		mark_take(sm, t, data);
		return;
	}
	i = sm_off_find(sm, sm->topo.nodes.at[t->ref].guid, t->kind >> 8, t->kind & 0xff);
	if (i == SIZE_MAX)
		return;
	sm_off_remove(sm, i);
	if (sm->run.step > i) /* the cursor moves up with those behind it */
		sm->run.step--;
}

static void restore_done(struct sm *sm)
{
	sm_phase_set(sm, SM_ARM);
}

const struct sm_part sm_part_restore = {restore_begin, restore_next, restore_recv, sm_failed,
					restore_done};

/* ---- for the audit ---- */

/* When a turn is not as it should be, what it is counts from now on; the next round mends it. */
bool sm_turn_as_set(struct sm *sm, size_t turn, const uint8_t *data)
{
	const struct rt_turn *t = &sm->dev.turns.at[turn];
	size_t at = turn_off_find(sm, t);
	struct iba_slvl_table is;

	iba_slvl_table_get(&is, data, IBA_SMP_DATA_SIZE);
	if ((is.vl[0] == IBA_VL_SUBN) == (at != SIZE_MAX))
		return true;
	if (at == SIZE_MAX)
		sm_off_add(sm, sm->topo.nodes.at[turn_node(sm, t)].guid, t->in, t->out, true);
	else
		sm_off_remove(sm, at);
	return false;
}
