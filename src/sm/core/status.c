/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SM knows of nodes and ports, for callers. State: none of its own. Does not change
 * anything.
 */
#include "sm/manager.h"
#include "sm/tables/random_tables.h"

static const struct sm_node *known(const struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->topo.by_guid, guid);

	return at == MAP_NONE || sm->topo.nodes.at[at].gone ? NULL : &sm->topo.nodes.at[at];
}

/* When the discovery that is under way began. */
static const struct sm_node *known_before(const struct sm *sm, uint64_t guid)
{
	uint32_t at =
		sm->topo.before.nodes.n ? map64_get(&sm->topo.before.by_guid, guid) : MAP_NONE;

	return at == MAP_NONE || sm->topo.before.nodes.at[at].gone ? NULL
								   : &sm->topo.before.nodes.at[at];
}

bool sm_node_info(const struct sm *sm, uint64_t node_guid, struct iba_node_info *ni)
{
	const struct sm_node *n = known(sm, node_guid);

	if (!n)
		n = known_before(sm, node_guid);
	if (!n)
		return false;
	*ni = (struct iba_node_info){.base_version = n->base_version,
				     .class_version = n->class_version,
				     .node_type = n->type,
				     .num_ports = n->nports,
				     .sys_guid = n->sys_guid,
				     .node_guid = n->guid,
				     .partition_cap = n->partition_cap,
				     .device_id = n->device_id,
				     .revision = n->revision,
				     .vendor_id = n->vendor_id};
	return true;
}

bool sm_switch_info(const struct sm *sm, uint64_t node_guid, struct iba_switch_info *si)
{
	const struct sm_node *n = known(sm, node_guid);

	if (!n || !n->ask.has_si)
		n = known_before(sm, node_guid);
	if (!n || n->type != IBA_NODE_SWITCH || !n->ask.has_si)
		return false;
	*si = n->si;
	return true;
}

bool sm_port_info(const struct sm *sm, uint64_t node_guid, unsigned port, struct iba_port_info *pi)
{
	const struct sm_node *n = known(sm, node_guid);
	const struct sm_port *p =
		n && port <= n->nports ? &sm->topo.ports.at[n->first_port + port] : NULL;

	if (!p || !p->ask.known) {
		n = known_before(sm, node_guid);
		p = n && port <= n->nports ? &sm->topo.before.ports.at[n->first_port + port] : NULL;
	}
	if (!p || !p->ask.known)
		return false;
	*pi = p->pi;
	return true;
}

static bool is_alone(const struct sm *sm)
{
	const struct sm_node *own = sm->topo.nodes.n ? &sm->topo.nodes.at[0] : NULL;

	if (!own || (sm->topo.fab && sm->topo.fab->nnodes > 1))
		return false;
	for (unsigned p = 1; p <= own->nports; p++) {
		const struct sm_port *q = &sm->topo.ports.at[own->first_port + p];

		if (q->ask.known && sm_is_way_out(sm, q) && q->pi.state != IBA_PORT_DOWN)
			return q->peer == NONE || sm->topo.ports.at[q->peer].node != 0;
	}
	return false;
}

void sm_standing(const struct sm *sm, struct sm_standing *st)
{
	st->phase = sm->core.phase;
	st->state = sm->election.state;
	st->lid = sm->lids.own ? sm->lids.own : sm->mirror.standby.own_lid;
	st->snapshot = sm->topo.snapshot;
}

void sm_status(const struct sm *sm, struct sm_status *st)
{
	struct sm_standing now;

	sm_standing(sm, &now);
	*st = sm->core.st;
	st->phase = now.phase;
	st->state = now.state;
	st->lid = now.lid;
	st->snapshot = now.snapshot;
	st->epoch = sm->topo.epoch;
	st->nodes = sm->topo.fab ? sm->topo.fab->nnodes : 0;
	st->switches = sm->topo.fab ? sm->topo.fab->nswitches : 0;
	st->orders_refused = sm->election.refused;
	st->routers = sm->topo.fab ? sm->topo.fab->nrouters : 0;
	st->alone = is_alone(sm);
	st->staged = sm->routes.staged;
	st->comparing = sm_balance_is_open(sm);
	st->held = sm_damp_count(sm);
	st->change_pending = sm->core.change_pending ||
			     (sm->core.phase == SM_READY && sm_pkeys_open(sm)) ||
			     sm_election_busy(sm) || sm->sweep.retry_at != TIME_NEVER ||
			     (sm_audit_open(sm) && sm->topo.fab) || sm_vms_waiting(sm) ||
			     sm->virtual.left.n || sm_multicast_busy(sm);
}

const struct fab *sm_fabric(const struct sm *sm)
{
	return sm->topo.fab;
}

const struct rt_tables *sm_tables(const struct sm *sm)
{
	return sm->routes.tables;
}

const struct rt_tables *sm_tables_to_stand(const struct sm *sm)
{
	const struct sm_routing *x = &sm->routes;

	return x->tables && x->leg < x->legs.n ? x->legs.at[x->legs.n - 1].tables : x->tables;
}

const struct rt_tables *sm_tables_until_then(const struct sm *sm)
{
	const struct sm_routing *x = &sm->routes;

	return sm->core.phase == SM_COMPUTE && !x->tables ? x->until_then : NULL;
}

/* ---- what devices were told ---- */

bool sm_sl2vl(const struct sm *sm, uint64_t node_guid, unsigned in, unsigned out,
	      struct iba_slvl_table *t)
{
	uint64_t map;

	if (sm_disabled_find(sm, node_guid, in, out) != SIZE_MAX)
		map = UINT64_MAX;
	else if (!sm_map_known(sm, node_guid, in, out, &map))
		return false;
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		t->vl[sl] = (uint8_t)(map >> 4 * sl & 15);
	return true;
}

bool sm_vlarb(const struct sm *sm, uint64_t node_guid, unsigned port, unsigned block,
	      struct iba_vlarb_table *t)
{
	const struct sm_maps *m = sm_maps_find(sm, node_guid);
	uint32_t n = map64_get(&sm->topo.by_guid, node_guid);

	if (block != 1 || !m || n == MAP_NONE || port >= m->width ||
	    !(m->shared[port / 8] >> port % 8 & 1))
		return false;
	sm_vlarb_fill(sm, sm->topo.nodes.at[n].first_port + port, t);
	return true;
}

bool sm_rft_entries(const struct sm *sm, uint64_t node_guid, uint32_t block, struct iba_rft *b)
{
	uint32_t n = map64_get(&sm->topo.by_guid, node_guid);
	uint32_t row = n == MAP_NONE ? NONE : sm->topo.nodes.at[n].row;
	const struct sm_rft *t = row == NONE ? NULL : sm->dev.rows.at[row].rft;

	if (!t || block >= t->nblocks || !t->known[block])
		return false;
	*b = (struct iba_rft){0};
	for (uint32_t i = 0; i < IBA_RFT_BLOCK && block * IBA_RFT_BLOCK + i < t->cap; i++) {
		const struct sm_rft_slot *s = &t->has[block * IBA_RFT_BLOCK + i];

		b->lid[i] = s->lid;
		b->valid[i] = s->lid != 0;
		b->port[i] = s->port;
	}
	return true;
}
