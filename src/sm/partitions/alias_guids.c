/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs written to ports by Set(GUIDInfo), a block of eight in an SMP. State: struct sm_aliases, see alias_state.c. Way
 * in: sm_aliases_next(), in the phase that configures devices and at rest. Blocks of ports without aliases are neither read
 * nor set. Does not choose GUIDs: subnet administration does.
 */
#include "sm/manager.h"

enum { SETS_MOST = 16 }; /* of one block in a round, before the device counts as one that refuses */

/* ---- requests ---- */

/* The port, if the snapshot has it with a link; NONE. */
static uint32_t port_there(const struct sm *sm, uint64_t port_guid)
{
	const struct fab *f = sm->topo.fab;
	uint32_t port = map64_get(&sm->topo.by_port_guid, port_guid);
	const struct sm_port *p;
	node_id n;

	if (port == MAP_NONE)
		return NONE;
	p = &sm->topo.ports.at[port];
	n = fab_node_by_guid(f, sm->topo.nodes.at[p->node].guid);
	if (n == FAB_NONE || p->num > f->nodes[n].nports)
		return NONE;
	return !p->num || f->ports[f->nodes[n].first_port + p->num].peer != FAB_NONE ? port : NONE;
}

static void request_make(struct sm *sm, struct sm_alias_block *b, uint32_t port, struct sm_req *r)
{
	struct iba_guid_info gi;

	memcpy(gi.guid, b->guid, sizeof(gi.guid));
	if (!b->block)
		gi.guid[0] = b->port_guid; /* read-only: a device ignores it */
	if (sm->topo.nodes.at[sm->topo.ports.at[port].node].type == IBA_NODE_SWITCH) {
		sm_req_node(sm, r, IBA_SET, SM_FOR_CONFIGURATION, sm->topo.ports.at[port].node,
			    IBA_ATTR_GUID_INFO, b->block);
		r->target = sm_target_port(sm, port);
	} else {
		sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
		r->attr_id = IBA_ATTR_GUID_INFO;
		r->attr_mod = b->block;
	}
	r->question = Q_PKEYS;
	r->aside = true;
	iba_guid_info_put(&gi, r->data);
	memcpy(b->sent, b->guid, sizeof(b->sent));
	b->asked = true;
	b->held = false;
	b->sets++;
	sm->partitions.aliases.asked++;
	b->set_at = MAX(sm->core.now, 1);
}

/* A port that is not there: when it comes, a round does. */
static bool block_next(struct sm *sm, struct sm_alias_block *b, struct sm_req *r)
{
	uint32_t port;

	if (b->asked || b->given_up || sm_alias_is_right(b))
		return false;
	port = port_there(sm, b->port_guid);
	if (port == NONE)
		return false;
	b->given_up = b->sets > SETS_MOST;
	if (!b->given_up)
		request_make(sm, b, port, r);
	return !b->given_up;
}

bool sm_aliases_next(struct sm *sm, struct sm_req *r)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	if (!sm_aliases_busy(sm))
		return false;
	while (s->at < s->blocks.n)
		if (block_next(sm, &s->blocks.at[s->at++], r))
			return true;
	s->work = s->asked;
	return false;
}

/* ---- answers ---- */

static struct sm_alias_block *block_of(const struct sm *sm, const struct sm_txn *t)
{
	return sm_alias_block(sm, sm->topo.ports.at[t->target.port].guid,
			      iba_smp_attr_mod(t->send.mad));
}

static void answered(struct sm *sm, struct sm_alias_block *b)
{
	sm->partitions.aliases.asked -= sm->partitions.aliases.asked > 0;
	b->asked = false;
	sm_aliases_work(sm);
}

void sm_aliases_recv(struct sm *sm, const struct sm_txn *t)
{
	struct sm_alias_block *b = block_of(sm, t);

	if (!b || !b->asked)
		return;
	answered(sm, b);
	b->held = true;
	if (t->tries > 1 || sm->audit.doubling)
		sm_alias_doubt(sm, b, sm_copies_until(sm));
}

void sm_aliases_fail(struct sm *sm, const struct sm_txn *t)
{
	struct sm_alias_block *b = block_of(sm, t);

	if (!b || !b->asked)
		return;
	answered(sm, b);
	b->given_up = true;
	sm_alias_doubt(sm, b, sm_copies_until(sm));
}
