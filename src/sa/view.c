/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's snapshot with what requests look for: ports by LID and by GUID. State: struct sa_view. Way in:
 * sa_view_update(), whenever the manager has another snapshot. Does not keep the snapshot alive: between two calls of the
 * manager's owner it is not used.
 */
#include "sa/sa_priv.h"

static void index_guids(struct sa_view *v)
{
	map64_clear(&v->by_guid);
	for (port_id p = 0; p < v->fab->nports; p++)
		if (v->fab->ports[p].guid)
			map64_put(&v->by_guid, v->fab->ports[p].guid, p);
}

static void index_lids(struct sa_view *v)
{
	struct err e;

	free(v->by_lid);
	v->by_lid = NULL;
	v->top_lid = 0;
	if (fab_lid_table(v->fab, &v->by_lid, &v->top_lid, &e))
		v->by_lid =
			NULL; /* two ports with one LID: the manager mends that before it has tables */
}

void sa_view_update(struct sa_view *v, const struct sm *sm)
{
	struct sm_status st;

	sm_status(sm, &st);
	v->number = st.snapshot;
	v->fab = sm_fabric(sm);
	if (!v->fab)
		return;
	index_guids(v);
	index_lids(v);
}

void sa_view_free(struct sa_view *v)
{
	free(v->by_lid);
	map64_free(&v->by_guid);
	*v = (struct sa_view){0};
}

port_id sa_port_by_lid(const struct sa_view *v, uint32_t lid)
{
	return v->fab && v->by_lid && lid && lid <= v->top_lid ? v->by_lid[lid] : FAB_NONE;
}

port_id sa_port_by_guid(const struct sa_view *v, uint64_t guid)
{
	return v->fab && guid ? map64_get(&v->by_guid, guid) : FAB_NONE;
}

uint16_t sa_lid_of(const struct sa_view *v, port_id p)
{
	const struct fab_node *n = &v->fab->nodes[v->fab->ports[p].node];

	return v->fab->ports[n->type == IBA_NODE_SWITCH ? n->first_port : p].lid;
}

/* The k-th port with a LID of a node: port 0 of a switch, each connected port of a CA or router; FAB_NONE: no more. */
port_id sa_linked_port(const struct sa_view *v, node_id n, unsigned k)
{
	const struct fab_node *node = &v->fab->nodes[n];

	if (node->type == IBA_NODE_SWITCH)
		return k ? FAB_NONE : node->first_port;
	for (unsigned p = 1; p <= node->nports; p++)
		if (v->fab->ports[node->first_port + p].lid && !k--)
			return node->first_port + p;
	return FAB_NONE;
}
