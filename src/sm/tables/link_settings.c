/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of links by SMPs of their own, as the thesis's manager sends them (3.2.4, 4.3.4): MTU, VLs and limits
 * of each port that came up, and the SL-to-VL table of each pair of ports that was not in use before. State:
 * sm_row.mapped and the cursors of the phases. Does not run unless cfg.link_sets is set: otherwise the Set that
 * arms a port carries the former, and only QoS needs the latter. With cfg.links_first new ports become Active
 * before tables are sent, after the SL-to-VL tables of routes with several lanes.
 */
#include "sm/tables/random_tables.h"

static bool is_linked(const struct sm *sm, uint32_t node, unsigned num)
{
	const struct fab_node *f = &sm->topo.fab->nodes[sm->topo.nodes.at[node].fab];

	return num && sm->topo.fab->ports[f->first_port + num].peer != FAB_NONE;
}

/* The next port of this node, from *num on, that came up. */
bool sm_link_set_next(struct sm *sm, uint32_t node, uint32_t *num, struct sm_req *r)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	struct iba_port_info pi;

	while (sm->cfg.link_sets && *num <= n->nports) {
		uint32_t at = (*num)++, port = n->first_port + at;

		if (!is_linked(sm, node, at) || sm->topo.ports.at[port].pi.state >= IBA_PORT_ARMED)
			continue;
		sm_req_port(sm, r, IBA_SET, SM_FOR_CONFIGURATION, port);
		sm_link_fill(sm, &sm->topo.ports.at[port], &pi);
		iba_port_info_put(&pi, r->data);
		return true;
	}
	return false;
}

/* ---- pairs of ports ---- */

static bool is_mapped(const struct sm_row *row, unsigned num)
{
	return row->mapped[num / 8] >> num % 8 & 1;
}

static void note_mapped(struct sm *sm, uint32_t node)
{
	struct sm_row *row = &sm->dev.rows.at[sm->topo.nodes.at[node].row];

	for (unsigned num = 1; num <= sm->topo.nodes.at[node].nports; num++)
		if (is_linked(sm, node, num))
			row->mapped[num / 8] |= (uint8_t)(1u << num % 8);
}

static bool is_new_pair(const struct sm *sm, uint32_t node, unsigned in, unsigned out)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	const struct sm_row *row = &sm->dev.rows.at[n->row];

	return in != out && is_linked(sm, node, in) && is_linked(sm, node, out) &&
	       !(is_mapped(row, in) && is_mapped(row, out)) &&
	       sm_disabled_find(sm, n->guid, in, out) == SIZE_MAX;
}

/* The next pair of ports, over all switches, at least one of which is new. A disabled turn stays disabled. */
bool sm_pair_set_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r)
{
	for (; sm->cfg.link_sets && at->node < sm->topo.fab->nswitches; at->node++, at->step = 0) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[at->node]];
		uint32_t width = sm->topo.nodes.at[node].nports + 1u;

		while (at->step < width * width) {
			uint32_t in = at->step / width, out = at->step % width;

			at->step++;
			if (!is_new_pair(sm, node, in, out))
				continue;
			sm_slvl_make(sm, node, in, out, SM_FOR_DISTRIBUTION, r);
			return true;
		}
		note_mapped(sm, node);
	}
	return false;
}

/* ---- new links before tables ---- */

bool sm_links_first(const struct sm *sm)
{
	return sm->cfg.links_first && sm->cfg.one_set && !sm_technique_now(sm)->stops_all;
}

static enum sm_outcome links_begin(struct sm *sm)
{
	sm->run.arm.at = sm->run.arm.pair = sm->run.arm.map = (struct sm_cursor){0};
	return SM_GOING_ON;
}

/* Ports that this distribution stopped stay so until tables are in place. */
static bool links_next(struct sm *sm, struct sm_req *r)
{
	uint32_t port;

	if (sm_map_next(sm, &sm->run.arm.map, r) || sm_pair_set_next(sm, &sm->run.arm.pair, r))
		return true;
	while ((port = sm_link_port_next(sm, &sm->run.arm.at)) != NONE) {
		if (sm->topo.ports.at[port].pi.state >= IBA_PORT_ARMED ||
		    sm->topo.ports.at[port].order.stopped)
			continue;
		sm_port_order(sm, port, IBA_PORT_ACTIVE, SM_FOR_ACTIVATION, r);
		return true;
	}
	return false;
}

static enum sm_outcome links_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	sm_map_acknowledged(sm, t);
	return t->attr_id == IBA_ATTR_PORT_INFO ? sm_port_take(sm, t, data) : SM_GOING_ON;
}

static enum sm_outcome links_done(struct sm *sm)
{
	(void)sm;
	return SM_DONE;
}

const struct sm_part sm_part_links_first = {
	.begin = links_begin,
	.next = links_next,
	.recv = links_recv,
	.fail = sm_failed,
	.done = links_done,
};
