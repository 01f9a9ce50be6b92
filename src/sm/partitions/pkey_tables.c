/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_Key tables that ports hold, and the policy. State: struct sm_partitions, tables by GUID through every discovery.
 * Ways in: sm_pkey_table(), sm_pkey_block(), and what other rooms report. Calls no other room: see pkey_updates.c.
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

/* ---- the work ---- */

/* Whether settings say what ports hold beyond what the manager needs. */
static bool has_values(const struct sm_config *c)
{
	return c->hoq_life || c->leaf_hoq_life || c->vl_stall || c->leaf_vl_stall ||
	       c->phy_errors || c->overrun_errors || c->link_speed || c->link_speed_ext ||
	       c->link_width;
}

static bool same_values(const struct sm_config *a, const struct sm_config *b)
{
	return a->hoq_life == b->hoq_life && a->leaf_hoq_life == b->leaf_hoq_life &&
	       a->vl_stall == b->vl_stall && a->leaf_vl_stall == b->leaf_vl_stall &&
	       a->phy_errors == b->phy_errors && a->overrun_errors == b->overrun_errors &&
	       a->link_speed == b->link_speed && a->link_speed_ext == b->link_speed_ext &&
	       a->link_width == b->link_width && a->part_enforce == b->part_enforce &&
	       a->vl_high_limit == b->vl_high_limit;
}

void sm_partitions_configured(struct sm *sm, const struct sm_config *old)
{
	if (same_values(&sm->cfg, old))
		return;
	sm->partitions.values |=
		has_values(&sm->cfg) || sm->cfg.vl_high_limit != old->vl_high_limit;
	sm->partitions.restart = true;
}

void sm_pkeys_outdated(struct sm *sm)
{
	if (sm->partitions.serving && !sm_pkeys_busy(sm) && pol_names_used(sm_policy(sm)))
		sm->partitions.restart = true;
}

bool sm_pkeys_updating(const struct sm *sm)
{
	return !sm->cfg.observe && (sm->partitions.serving || sm->partitions.values) &&
	       (sm->partitions.restart || sm->partitions.stage != SM_PKEYS_END);
}

bool sm_pkeys_busy(const struct sm *sm)
{
	return sm_pkeys_updating(sm) || sm_aliases_busy(sm);
}

bool sm_pkeys_open(const struct sm *sm)
{
	return sm_pkeys_busy(sm) || ((sm->partitions.serving || sm->partitions.aliases.blocks.n) &&
				     sm->partitions.reread_at != TIME_NEVER);
}

time_ps sm_pkeys_wake(const struct sm *sm)
{
	return sm_pkeys_busy(sm) ? TIME_NEVER : sm->partitions.reread_at;
}

/* ---- Sets that may be carried out late ---- */

void sm_pkeys_doubt(struct sm *sm, struct sm_pkey_table *t, time_ps until)
{
	struct sm_partitions *s = &sm->partitions;

	t->doubtful = true;
	s->reread_at = s->reread_at == TIME_NEVER ? until : MAX(s->reread_at, until);
}

void sm_pkeys_doubling(struct sm *sm, time_ps until)
{
	struct sm_partitions *s = &sm->partitions;

	for (size_t i = 0; i < s->nodes.n; i++)
		for (unsigned p = 0; p < s->nodes.at[i].width; p++) {
			struct sm_pkey_table *t = &s->nodes.at[i].ports[p];

			if (t->set_at && t->set_at + (until - sm->core.now) >= sm->core.now)
				sm_pkeys_doubt(sm, t, until);
		}
	sm_aliases_doubling(sm, until);
}

void sm_partitions_time_back(struct sm *sm, time_ps by)
{
	struct sm_partitions *s = &sm->partitions;

	sm_time_shift(&s->reread_at, by);
	for (size_t i = 0; i < s->nodes.n; i++)
		for (unsigned p = 0; p < s->nodes.at[i].width; p++)
			sm_time_shift(&s->nodes.at[i].ports[p].set_at, by);
	sm_aliases_time_back(sm, by);
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
	sm_aliases_free(sm);
	vec_free(&sm->partitions.who);
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
	unsigned width = n->nports + 1u + sm_pkey_slots(sm, n);

	if (x && x->width == width)
		return x;
	if (!x) {
		map64_put(&sm->partitions.by_guid, n->guid, (uint32_t)sm->partitions.nodes.n);
		vec_push(&sm->partitions.nodes, (struct sm_pkey_node){.guid = n->guid});
		x = &sm->partitions.nodes.at[sm->partitions.nodes.n - 1];
	}
	tables_free(x);
	x->width = (uint16_t)width;
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

struct sm_pkey_table *sm_pkey_table(struct sm *sm, struct sm_pkey_place at)
{
	const struct sm_port *p = &sm->topo.ports.at[at.port];
	unsigned n = at.slot ? sm->topo.nodes.at[p->node].nports + at.slot : p->num;
	struct sm_pkey_table *t = &node_of(sm, p->node)->ports[n];
	unsigned nblocks = (sm_pkey_room(sm, at.port) + SM_PKEY_BLOCK - 1) / SM_PKEY_BLOCK;

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

bool sm_pkeys_known(const struct sm_pkey_table *t)
{
	for (unsigned b = 0; b < t->nblocks; b++)
		if (t->block[b] == SM_PKEYS_UNKNOWN)
			return false;
	return true;
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
	sm_aliases_unknown(sm, node);
}

/* A host whose link is not Armed may have restarted. */
void sm_pkeys_port_read(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if ((sm->partitions.serving || sm->partitions.aliases.blocks.n) &&
	    sm->topo.nodes.at[p->node].type != IBA_NODE_SWITCH && p->pi.state < IBA_PORT_ARMED)
		sm_pkeys_unknown(sm, p->node);
}

void sm_pkeys_restarted(struct sm *sm, uint32_t host)
{
	sm_pkeys_unknown(sm, host);
	if (sm->partitions.serving)
		sm->partitions.stage = SM_PKEYS_READ;
}

void sm_pkeys_forget(struct sm *sm)
{
	for (size_t i = 0; i < sm->partitions.nodes.n; i++)
		for (unsigned p = 0; p < sm->partitions.nodes.at[i].width; p++)
			table_unknown(&sm->partitions.nodes.at[i].ports[p]);
	sm->partitions.asked = 0;
	sm_aliases_forget(sm);
	if (sm->partitions.serving)
		sm->partitions.stage = SM_PKEYS_READ;
}

/* ---- ports ---- */

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
