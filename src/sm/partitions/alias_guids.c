/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs written to ports by Set(GUIDInfo), a block of eight in an SMP, and read where a copy of a Set may come late.
 * State: struct sm_aliases, see alias_state.c. Way in: sm_aliases_next(), in the phase that configures devices and at rest.
 * Blocks of ports without aliases are neither read nor set. Does not choose GUIDs: subnet administration does.
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

static void request_make(struct sm *sm, uint32_t port, enum iba_method method, unsigned block,
			 struct sm_req *r)
{
	if (sm->topo.nodes.at[sm->topo.ports.at[port].node].type == IBA_NODE_SWITCH) {
		sm_req_node(sm, r, method, SM_FOR_CONFIGURATION, sm->topo.ports.at[port].node,
			    IBA_ATTR_GUID_INFO, block);
		r->target = sm_target_port(sm, port);
	} else {
		sm_req_port(sm, r, method, SM_FOR_CONFIGURATION, port);
		r->attr_id = IBA_ATTR_GUID_INFO;
		r->attr_mod = block;
	}
	r->question = Q_PKEYS;
	r->aside = true;
}

static void set_make(struct sm *sm, struct sm_alias_block *b, uint32_t port, struct sm_req *r)
{
	struct iba_guid_info gi;

	memcpy(gi.guid, b->guid, sizeof(gi.guid));
	if (!b->block)
		gi.guid[0] = b->port_guid; /* read-only: a device ignores it */
	request_make(sm, port, IBA_SET, b->block, r);
	iba_guid_info_put(&gi, r->data);
	memcpy(b->sent, b->guid, sizeof(b->sent));
	b->held = false;
	b->sets++;
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
	if (b->given_up)
		return false;
	if (b->verify)
		request_make(sm, port, IBA_GET, b->block, r);
	else
		set_make(sm, b, port, r);
	b->asked = true;
	sm->partitions.aliases.asked++;
	return true;
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

static bool holds(const struct sm_alias_block *b, const uint8_t *data)
{
	struct iba_guid_info gi;

	iba_guid_info_get(&gi, data, IBA_SMP_DATA_SIZE);
	if (!b->block)
		gi.guid[0] = b->sent[0];
	return !memcmp(gi.guid, b->sent, sizeof(gi.guid));
}

void sm_aliases_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_alias_block *b = block_of(sm, t);

	if (!b || !b->asked)
		return;
	answered(sm, b);
	b->held = t->method == IBA_SET || holds(b, data);
	b->verify = false;
	if (t->method == IBA_SET && (t->tries > 1 || sm->audit.doubling))
		sm_alias_doubt(sm, b, sm_copies_until(sm));
}

void sm_aliases_fail(struct sm *sm, const struct sm_txn *t)
{
	struct sm_alias_block *b = block_of(sm, t);

	if (!b || !b->asked)
		return;
	answered(sm, b);
	b->given_up = true;
	if (t->method == IBA_SET)
		sm_alias_doubt(sm, b, sm_copies_until(sm));
}
