/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Silent links: links of an earlier snapshot that no SMP crosses any more, though no port of theirs was seen Down or in
 * Initialize since, and Armed or Active ports whose other end is in no snapshot. They may still carry data. State:
 * topo.silent, and topo.data_fab, the snapshot with these links. Does not route over them: plans must know each
 * dependency that old entries have.
 */
#include "sm/manager.h"

const struct fab *sm_data_fab(const struct sm *sm)
{
	return sm->topo.data_fab ? sm->topo.data_fab : sm->topo.fab;
}

void sm_data_fab_free(struct sm *sm)
{
	sm_retire_fab(sm, sm->topo.data_fab);
	sm->topo.data_fab = NULL;
}

/* ---- which links ---- */

static struct sm_port_ref ref(const struct fab *f, port_id p)
{
	return (struct sm_port_ref){f->nodes[f->ports[p].node].guid, f->ports[p].num};
}

/* The port in a snapshot, FAB_NONE: the snapshot does not have it. */
static port_id find(const struct fab *f, struct sm_port_ref r)
{
	node_id n = fab_node_by_guid(f, r.guid);

	return n == FAB_NONE || r.port > f->nodes[n].nports ? FAB_NONE : fab_port_id(f, n, r.port);
}

/* Neither was the port seen without Armed and Active, nor does it have a link in the snapshot. Of a device that is not met nothing is known. */
static bool may_carry(const struct sm *sm, struct sm_port_ref r)
{
	const struct fab *f = sm->topo.fab;
	uint32_t n = map64_get(&sm->topo.by_guid, r.guid);
	port_id at = find(f, r);
	const struct sm_port *p;

	if (at != FAB_NONE && f->ports[at].peer != FAB_NONE)
		return false;
	if (n == MAP_NONE || sm->topo.nodes.at[n].gone)
		return true;
	if (r.port > sm->topo.nodes.at[n].nports)
		return false;
	p = &sm->topo.ports.at[sm->topo.nodes.at[n].first_port + r.port];
	return !p->ask.known || p->pi.state >= IBA_PORT_ARMED;
}

/* Links between switches; those of hosts are in no cycle. The list has none of them: it has no link of a snapshot. */
static void list_lost(struct sm *sm, const struct fab *was)
{
	for (port_id p = 0; p < was->nports; p++) {
		port_id q = was->ports[p].peer;
		struct sm_silent_link l;

		if (q == FAB_NONE || q < p || !fab_is_switch(was, was->ports[p].node) ||
		    !fab_is_switch(was, was->ports[q].node))
			continue;
		l = (struct sm_silent_link){ref(was, p), ref(was, q)};
		if (may_carry(sm, l.a) && may_carry(sm, l.b))
			vec_push(&sm->topo.silent, l);
	}
}

/* The other end as the database knows it; GUID 0: that is not known. */
static struct sm_port_ref other_end(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_port *q;

	if (p->peer == NONE)
		return (struct sm_port_ref){0};
	q = &sm->topo.ports.at[p->peer];
	return (struct sm_port_ref){sm->topo.nodes.at[q->node].guid, q->num};
}

static bool leads_to_host(const struct sm *sm, const struct sm_port *p)
{
	return p->peer != NONE &&
	       sm->topo.nodes.at[sm->topo.ports.at[p->peer].node].type != IBA_NODE_SWITCH;
}

static bool is_listed(const struct sm *sm, struct sm_port_ref r)
{
	for (size_t i = 0; i < sm->topo.silent.n; i++) {
		const struct sm_silent_link *l = &sm->topo.silent.at[i];

		if ((l->a.guid == r.guid && l->a.port == r.port) ||
		    (l->b.guid == r.guid && l->b.port == r.port))
			return true;
	}
	return false;
}

/*
 * A manager that has just started has no earlier snapshot: a switch that answered in part, or not at all, shows by the
 * Active ports that lead there.
 */
static void list_open(struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_node *n = &f->nodes[f->ports[p].node];
		const struct sm_node *known;
		const struct sm_port *port;
		struct sm_silent_link l;

		if (n->type != IBA_NODE_SWITCH || !f->ports[p].num || f->ports[p].peer != FAB_NONE)
			continue;
		known = &sm->topo.nodes.at[map64_get(&sm->topo.by_guid, n->guid)];
		port = &sm->topo.ports.at[known->first_port + f->ports[p].num];
		l = (struct sm_silent_link){ref(f, p), other_end(sm, port)};
		if (!leads_to_host(sm, port) && port->ask.known && may_carry(sm, l.a) &&
		    may_carry(sm, l.b) && !is_listed(sm, l.a))
			vec_push(&sm->topo.silent, l);
	}
}

static void drop_seen(struct sm *sm)
{
	size_t kept = 0;

	for (size_t i = 0; i < sm->topo.silent.n; i++) {
		struct sm_silent_link l = sm->topo.silent.at[i];

		if (may_carry(sm, l.a) && may_carry(sm, l.b))
			sm->topo.silent.at[kept++] = l;
	}
	sm->topo.silent.n = kept;
}

/* ---- the snapshot with them ---- */

static bool is_between_known(const struct sm *sm, const struct sm_silent_link *l)
{
	return find(sm->topo.fab, l->a) != FAB_NONE && find(sm->topo.fab, l->b) != FAB_NONE;
}

/* Nodes and ports have the same numbers as in the snapshot. */
static struct fab *with_silent(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab;
	struct fab_builder *b = fab_builder_from(f);

	for (size_t i = 0; i < sm->topo.silent.n; i++) {
		const struct sm_silent_link *l = &sm->topo.silent.at[i];

		if (is_between_known(sm, l))
			fab_add_link(b, fab_node_by_guid(f, l->a.guid), l->a.port,
				     fab_node_by_guid(f, l->b.guid), l->b.port);
	}
	return fab_build(b);
}

/* ---- towards devices that are not met ---- */

/* The port of the snapshot whose link leads to such a device; FAB_NONE: not this link. */
static port_id lone_end(const struct sm *sm, const struct sm_silent_link *l)
{
	port_id x = find(sm->topo.fab, l->a), y = find(sm->topo.fab, l->b);

	return x == FAB_NONE ? y : y == FAB_NONE ? x : FAB_NONE;
}

bool sm_leads_astray(const struct sm *sm, port_id p)
{
	for (size_t i = 0; i < sm->topo.silent.n; i++)
		if (lone_end(sm, &sm->topo.silent.at[i]) == p)
			return true;
	return false;
}

static void turns_from(const struct sm *sm, port_id in, rt_turns *out)
{
	const struct fab *f = sm_data_fab(sm);
	node_id n = f->ports[in].node;

	for (unsigned o = 1; o <= f->nodes[n].nports; o++) {
		port_id p = fab_port_id(f, n, o), peer = f->ports[p].peer;

		if (p != in && (peer == FAB_NONE ? sm_leads_astray(sm, p)
						 : fab_is_switch(f, f->ports[peer].node)))
			vec_push(out, (struct rt_turn){f->switch_index[n], f->ports[in].num,
						       (uint8_t)o});
	}
}

void sm_silent_turns(const struct sm *sm, rt_turns *out)
{
	for (size_t i = 0; i < sm->topo.silent.n; i++) {
		port_id p = lone_end(sm, &sm->topo.silent.at[i]);

		if (p != FAB_NONE)
			turns_from(sm, p, out);
	}
}

void sm_silent_links_find(struct sm *sm, const struct fab *was)
{
	bool any = false;

	drop_seen(sm);
	if (was)
		list_lost(sm, was);
	list_open(sm);
	sm_data_fab_free(sm);
	for (size_t i = 0; i < sm->topo.silent.n; i++)
		any |= is_between_known(sm, &sm->topo.silent.at[i]);
	if (any)
		sm->topo.data_fab = with_silent(sm);
}
