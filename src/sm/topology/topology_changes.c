/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes of the topology database, each a function: other rooms report what devices answered. State:
 * struct sm_topology. Does not decide what a change means.
 */
#include "sm/manager.h"

/* ---- nodes ---- */

/* A node that returns gets its old place. */
static uint32_t place_for(struct sm *sm, const struct iba_node_info *ni)
{
	struct sm_topology *t = &sm->topo;
	uint32_t n = map64_get(&t->by_guid, ni->node_guid), first = (uint32_t)t->ports.n;

	if (n != MAP_NONE)
		return n;
	n = (uint32_t)t->nodes.n;
	vec_room(&t->nodes, t->nodes.n + 1);
	vec_room(&t->ports, t->ports.n + ni->num_ports + 1u);
	t->nodes.n++;
	t->ports.n += ni->num_ports + 1u;
	t->nodes.at[n].first_port = first;
	map64_put(&t->by_guid, ni->node_guid, n);
	return n;
}

uint32_t sm_node_add(struct sm *sm, const struct iba_node_info *ni, struct sm_path path)
{
	uint32_t n = place_for(sm, ni), first = sm->topo.nodes.at[n].first_port;
	bool sw = ni->node_type == IBA_NODE_SWITCH;

	sm->topo.nodes.at[n] = (struct sm_node){
		.guid = ni->node_guid,
		.sys_guid = ni->sys_guid,
		.first_port = first,
		.vendor_id = ni->vendor_id,
		.device_id = ni->device_id,
		.revision = ni->revision,
		.partition_cap = ni->partition_cap,
		.base_version = ni->base_version,
		.class_version = ni->class_version,
		.type = ni->node_type,
		.nports = ni->num_ports,
		.path = path,
		.row = sw ? sm_row_find(sm, ni->node_guid) : NONE,
		.fab = FAB_NONE,
		.ask = {.polled = sm->topo.epoch}, /* all of it is asked now */
	};
	for (unsigned p = 0; p <= ni->num_ports; p++)
		sm->topo.ports.at[first + p] =
			(struct sm_port){.node = n, .peer = NONE, .num = (uint8_t)p};
	return n;
}

void sm_node_gone(struct sm *sm, uint32_t node)
{
	sm->topo.nodes.at[node].gone = true;
	sm->topo.nodes.at[node].fab = FAB_NONE;
}

void sm_node_unchanged(struct sm *sm, uint32_t node, bool unchanged)
{
	sm->topo.nodes.at[node].unchanged = unchanged;
}

void sm_node_markless(struct sm *sm, uint32_t node)
{
	sm->topo.nodes.at[node].markless = true;
}

void sm_node_partition_cap(struct sm *sm, uint32_t node, uint16_t cap)
{
	sm->topo.nodes.at[node].partition_cap = cap;
}

void sm_node_path(struct sm *sm, uint32_t node, struct sm_path path)
{
	sm->topo.nodes.at[node].path = path;
}

void sm_switch_learn(struct sm *sm, uint32_t node, const struct iba_switch_info *si)
{
	sm->topo.nodes.at[node].si = *si;
}

void sm_switch_restart(struct sm *sm, uint32_t node)
{
	sm->topo.nodes.at[node].si.linear_top = 0;
}

void sm_switch_default_port(struct sm *sm, uint32_t node, uint8_t port)
{
	sm->topo.nodes.at[node].si.default_port = port;
}

/* ---- ports ---- */

void sm_port_learn(struct sm *sm, uint32_t port, const uint8_t *data)
{
	iba_port_info_get(&sm->topo.ports.at[port].pi, data, IBA_SMP_DATA_SIZE);
	sm_pkeys_port_read(sm, port);
	sm_maps_port_read(sm, port);
}

void sm_port_took(struct sm *sm, uint32_t port, const struct iba_port_info *pi)
{
	sm->topo.ports.at[port].pi = *pi;
	sm_pkeys_port_read(sm, port);
	sm_maps_port_read(sm, port);
}

bool sm_port_has_manager(struct sm *sm, uint32_t port)
{
	struct iba_port_info *pi = &sm->topo.ports.at[port].pi;
	bool news = !(pi->cap_mask & IBA_CAP_IS_SM);

	pi->cap_mask |= IBA_CAP_IS_SM;
	return news;
}

void sm_resp_time_seen(struct sm *sm, unsigned exponent)
{
	sm->topo.max_resp = MAX(sm->topo.max_resp, exponent);
}

void sm_port_guid(struct sm *sm, uint32_t port, uint64_t guid)
{
	sm->topo.ports.at[port].guid = guid;
	map64_put(&sm->topo.by_port_guid, guid, port);
}

void sm_port_path(struct sm *sm, uint32_t port, struct sm_path path)
{
	sm->topo.ports.at[port].path = path;
}

void sm_port_state(struct sm *sm, uint32_t port, unsigned state)
{
	sm->topo.ports.at[port].pi.state = (uint8_t)state;
}

void sm_port_lid(struct sm *sm, uint32_t port, uint16_t lid, unsigned lmc)
{
	sm->topo.ports.at[port].pi.lid = lid;
	sm->topo.ports.at[port].pi.lmc = (uint8_t)lmc;
}

void sm_port_timeout(struct sm *sm, uint32_t port, uint8_t value)
{
	sm->topo.ports.at[port].pi.subnet_timeout = value;
}

void sm_port_enforce(struct sm *sm, uint32_t port, uint8_t in, uint8_t out)
{
	sm->topo.ports.at[port].pi.part_enf_in = in;
	sm->topo.ports.at[port].pi.part_enf_out = out;
}

void sm_port_has_lid(struct sm *sm, uint32_t port, bool has)
{
	sm->topo.ports.at[port].has_lid = has;
}

void sm_port_by_lid(struct sm *sm, uint32_t port, bool by_lid)
{
	sm->topo.ports.at[port].by_lid = by_lid;
}

/* ---- links ---- */

void sm_unlink(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];

	sm->topo.ports.at[p->peer].peer = NONE;
	p->peer = NONE;
}

void sm_link(struct sm *sm, uint32_t a, uint32_t b)
{
	struct sm_port *x = &sm->topo.ports.at[a], *y = &sm->topo.ports.at[b];

	if (x->peer != NONE && x->peer != b)
		sm_unlink(sm, a);
	if (y->peer != NONE && y->peer != a)
		sm_unlink(sm, b);
	x->peer = b;
	y->peer = a;
}
