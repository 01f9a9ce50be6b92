/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Key tables that ports hold, and the policy. State: struct sm_partitions, tables by GUID through every discovery.
 * Ways in: sm_policy_set(), sm_pkey_table(), sm_pkey_block(). Does not send anything: see pkey_updates.c.
 */
#include "sm/manager.h"

/* ---- the policy ---- */

void sm_partitions_init(struct sm *sm)
{
	sm->partitions.policy = pol_new();
	sm->partitions.stage = SM_PKEYS_END;
	sm_partitions_configured(sm, &(struct sm_config){.vl_high_limit = sm->cfg.vl_high_limit});
	sm->partitions.reread_at = TIME_NEVER;
}

const struct pol *sm_policy(const struct sm *sm)
{
	return sm->partitions.policy;
}

uint32_t sm_policy_number(const struct sm *sm)
{
	return sm->partitions.number;
}

void sm_policy_set(struct sm *sm, const struct pol *p)
{
	struct sm_partitions *s = &sm->partitions;

	if (pol_same(s->policy, p))
		return;
	pol_free(s->policy);
	s->policy = pol_copy(p);
	s->number++;
	s->serving |= p->configured;
	sm_pkeys_round(sm);
	if (sm->core.phase == SM_READY && sm->cfg.qos) { /* tables of VLs are written in a round */
		sm_unfinished(sm);
		sm_change_later(sm, SM_CAUSE_ORDER, SM_ABOUT_NOTHING);
	}
}

/* ---- tables ---- */

static void tables_free(struct sm_pkey_node *n)
{
	for (unsigned p = 0; p < n->width; p++) {
		free(n->ports[p].held);
		free(n->ports[p].block);
	}
	free(n->ports);
}

void sm_partitions_free(struct sm *sm)
{
	for (size_t i = 0; i < sm->partitions.nodes.n; i++)
		tables_free(&sm->partitions.nodes.at[i]);
	vec_free(&sm->partitions.nodes);
	map64_free(&sm->partitions.by_guid);
	pol_free(sm->partitions.policy);
}

static struct sm_pkey_node *node_find(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->partitions.by_guid, guid);

	return at == MAP_NONE ? NULL : &sm->partitions.nodes.at[at];
}

static struct sm_pkey_node *node_of(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	struct sm_pkey_node *x = node_find(sm, n->guid);

	if (x && x->width == n->nports + 1u)
		return x;
	if (!x) {
		map64_put(&sm->partitions.by_guid, n->guid, (uint32_t)sm->partitions.nodes.n);
		vec_push(&sm->partitions.nodes, (struct sm_pkey_node){.guid = n->guid});
		x = &sm->partitions.nodes.at[sm->partitions.nodes.n - 1];
	}
	tables_free(x);
	x->width = (uint16_t)(n->nports + 1u);
	x->ports = mem_zarray(x->width, sizeof(*x->ports));
	return x;
}

/* Of ports of switches behind which hosts are, SwitchInfo tells; of all others NodeInfo. What a device says is bounded. */
unsigned sm_pkey_room(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];
	unsigned room =
		n->type == IBA_NODE_SWITCH && p->num ? n->si.partition_enf_cap : n->partition_cap;

	return MIN(room, (unsigned)POL_MOST_KEYS);
}

struct sm_pkey_table *sm_pkey_table(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	struct sm_pkey_table *t = &node_of(sm, p->node)->ports[p->num];
	unsigned nblocks = (sm_pkey_room(sm, port) + SM_PKEY_BLOCK - 1) / SM_PKEY_BLOCK;

	if (t->nblocks == nblocks)
		return t;
	free(t->held);
	free(t->block);
	*t = (struct sm_pkey_table){
		.nblocks = (uint16_t)nblocks,
		.held = mem_zarray((size_t)nblocks * SM_PKEY_BLOCK + 1, sizeof(*t->held)),
		.block = mem_zarray(nblocks + 1u, sizeof(*t->block)),
	};
	return t;
}

static void table_unknown(struct sm_pkey_table *t)
{
	if (t->block)
		memset(t->block, SM_PKEYS_UNKNOWN, t->nblocks);
}

void sm_pkeys_unknown(struct sm *sm, uint32_t node)
{
	struct sm_pkey_node *x = node_find(sm, sm->topo.nodes.at[node].guid);

	for (unsigned p = 0; x && p < x->width; p++)
		table_unknown(&x->ports[p]);
}

/* A host whose link is not Armed may have restarted. */
void sm_pkeys_port_read(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if (sm->partitions.serving && sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH &&
	    p->pi.state < IBA_PORT_ARMED)
		sm_pkeys_unknown(sm, p->node);
}

void sm_pkeys_forget(struct sm *sm)
{
	for (size_t i = 0; i < sm->partitions.nodes.n; i++)
		for (unsigned p = 0; p < sm->partitions.nodes.at[i].width; p++)
			table_unknown(&sm->partitions.nodes.at[i].ports[p]);
	sm->partitions.asked = 0;
	if (sm->partitions.serving)
		sm->partitions.stage = SM_PKEYS_READ;
}

/* ---- ports ---- */

struct pol_port sm_pol_port(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return (struct pol_port){
		.guid = p->guid,
		.node_guid = n->guid,
		.type = (enum iba_node_type)n->type,
		.num = p->num,
		.description = sm_node_desc(sm, n->guid),
		.is_sm = sm_is_own(sm, p),
	};
}

uint32_t sm_pkeys_of(const struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if (sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH || !p->num)
		return port;
	if (p->peer == NONE ||
	    sm->topo.nodes.at[sm->topo.ports.at[p->peer].node].type == IBA_NODE_SWITCH)
		return NONE;
	return p->peer;
}

/* ---- looking in ---- */

bool sm_pkey_block(const struct sm *sm, uint64_t node_guid, unsigned port, unsigned block,
		   uint16_t keys[SM_PKEYS_A_BLOCK])
{
	const struct sm_pkey_node *x = node_find(sm, node_guid);
	const struct sm_pkey_table *t = x && port < x->width ? &x->ports[port] : NULL;

	if (!sm->partitions.serving) { /* not read: as devices are at power-on */
		memset(keys, 0, SM_PKEYS_A_BLOCK * sizeof(*keys));
		keys[0] = POL_DEFAULT_KEY | POL_FULL_BIT;
		return !block && map64_get(&sm->topo.by_guid, node_guid) != MAP_NONE;
	}
	if (!t || block >= t->nblocks || t->block[block] != SM_PKEYS_KNOWN)
		return false;
	memcpy(keys, t->held + block * SM_PKEY_BLOCK, SM_PKEYS_A_BLOCK * sizeof(*keys));
	return true;
}
