/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's snapshot with what requests look for: ends of paths by LID and by GUID. State: struct sa_view. Way in:
 * sa_view_update(), whenever the manager has another snapshot. Does not keep the snapshot alive: between two calls of the
 * manager's owner it is not used.
 */
#include "sa/sa_priv.h"

static void add_end(struct sa_view *v, struct sa_end e)
{
	uint32_t n = (uint32_t)v->ends.n;

	map64_put(&v->by_guid, e.guid, n);
	for (uint32_t i = 0; i < e.nlids; i++)
		if (v->by_lid && e.lid + i <= v->top_lid)
			v->end_of[e.lid + i] = n;
	vec_push(&v->ends, e);
}

static void index_ends(struct sa_view *v)
{
	const struct fab *f = v->fab;
	const struct fab_vlid *vf;

	v->ends.n = 0;
	map64_clear(&v->by_guid);
	map64_clear(&v->unaddressed);
	v->end_of = mem_resize(v->end_of, v->top_lid + 1u, sizeof(*v->end_of));
	for (uint32_t i = 0; i <= v->top_lid; i++)
		v->end_of[i] = FAB_NONE;
	for (port_id p = 0; p < f->nports; p++) {
		uint32_t nvf = f->ports[p].lid ? fab_vlids_of(f, p, &vf) : 0;

		if (f->ports[p].lid)
			add_end(v, (struct sa_end){f->ports[p].guid, p, f->ports[p].lid,
						   (uint16_t)(1u << f->ports[p].lmc), 0});
		else if (f->ports[p].guid)
			map64_put(&v->unaddressed, f->ports[p].guid, p);
		for (uint32_t i = 0; i < nvf; i++)
			add_end(v, (struct sa_end){vf[i].guid, p, vf[i].lid, 1, vf[i].slot});
	}
}

static void index_lids(struct sa_view *v)
{
	struct err e;

	free(v->by_lid);
	v->by_lid = NULL;
	v->top_lid = 0;
	if (fab_lid_table(v->fab, &v->by_lid, &v->top_lid, &e)) {
		v->by_lid =
			NULL; /* two ports with one LID: the manager mends that before it has tables */
		v->top_lid = 0;
	}
}

void sa_view_update(struct sa_view *v, const struct sm *sm)
{
	struct sm_standing st;

	sm_standing(sm, &st);
	v->number = st.snapshot;
	v->fab = sm_fabric(sm);
	if (!v->fab)
		return;
	free(v->mtu);
	free(v->rate);
	free(v->links);
	free(v->joined);
	free(v->key_first);
	v->mtu = NULL;
	v->rate = NULL;
	v->links = NULL;
	v->joined = NULL;
	v->key_first = NULL;
	index_lids(v);
	index_ends(v);
}

void sa_view_free(struct sa_view *v)
{
	free(v->by_lid);
	free(v->end_of);
	free(v->mtu);
	free(v->rate);
	free(v->links);
	free(v->joined);
	free(v->key_first);
	vec_free(&v->keys);
	vec_free(&v->ends);
	map64_free(&v->by_guid);
	map64_free(&v->unaddressed);
	*v = (struct sa_view){.aliases = v->aliases};
}

port_id sa_port_by_lid(const struct sa_view *v, uint32_t lid)
{
	return v->fab && v->by_lid && lid && lid <= v->top_lid ? v->by_lid[lid] : FAB_NONE;
}

const struct sa_end *sa_end_by_lid(const struct sa_view *v, uint32_t lid)
{
	uint32_t n = v->fab && v->by_lid && lid && lid <= v->top_lid ? v->end_of[lid] : FAB_NONE;

	return n == FAB_NONE ? NULL : &v->ends.at[n];
}

/* Machines behind a port that they share have the LIDs of that port. */
static const struct sa_end *end_of_shared(const struct sa_view *v, uint64_t guid,
					  struct sa_end *shared)
{
	uint64_t host = v->sm ? sm_shared_host(v->sm, guid) : 0;
	node_id n = host ? fab_node_by_guid(v->fab, host) : FAB_NONE;
	const struct sa_end *e = NULL;

	if (n != FAB_NONE)
		e = sa_end_by_lid(v, v->fab->ports[fab_port_id(v->fab, n, 1)].lid);
	if (!e)
		return NULL;
	*shared = *e;
	shared->guid = guid;
	return shared;
}

static const struct sa_end *end_of_alias(const struct sa_view *v, uint64_t guid,
					 struct sa_end *shared)
{
	uint64_t port = sa_alias_port(v->aliases, guid);
	uint32_t n = port ? map64_get(&v->by_guid, port) : MAP_NONE;

	if (n == MAP_NONE)
		return NULL;
	*shared = v->ends.at[n];
	shared->guid = guid;
	return shared;
}

const struct sa_end *sa_end_by_guid(const struct sa_view *v, uint64_t guid, struct sa_end *shared)
{
	uint32_t n = v->fab && guid ? map64_get(&v->by_guid, guid) : MAP_NONE;
	const struct sa_end *e;

	if (n != MAP_NONE)
		return &v->ends.at[n];
	e = v->fab && guid ? end_of_shared(v, guid, shared) : NULL;
	return e || !v->fab || !guid ? e : end_of_alias(v, guid, shared);
}

port_id sa_port_by_guid(const struct sa_view *v, uint64_t guid)
{
	struct sa_end shared;
	const struct sa_end *e = sa_end_by_guid(v, guid, &shared);

	if (e)
		return e->port;
	return v->fab && guid ? map64_get(&v->unaddressed, guid) : FAB_NONE;
}

static struct sa_link link_at(const struct sa_view *v, port_id near)
{
	const struct fab *f = v->fab;
	port_id far = f->ports[near].peer;

	if (far == FAB_NONE)
		return (struct sa_link){.far = FAB_NONE, .sw = FAB_NONE};
	return (struct sa_link){.far = far,
				.sw = f->switch_index[f->ports[far].node],
				.rate = MIN(v->rate[near], v->rate[far]),
				.mtu = MIN(v->mtu[near], v->mtu[far]),
				.in = f->ports[far].num};
}

static void links_make(struct sa_view *v)
{
	const struct fab *f = v->fab;

	v->links = mem_array(f->nports, sizeof(*v->links));
	v->least_mtu = UINT8_MAX;
	v->least_rate = UINT16_MAX;
	for (port_id p = 0; p < f->nports; p++) {
		struct sa_link x = v->links[p] = link_at(v, p);

		if (x.sw == FAB_NONE || !fab_is_switch(f, f->ports[p].node))
			continue;
		v->least_mtu = MIN(v->least_mtu, x.mtu);
		v->least_rate = MIN(v->least_rate, x.rate);
	}
}

static void joined_make(struct sa_view *v)
{
	const struct fab *f = v->fab;

	v->joined = mem_zarray(f->nports, sizeof(*v->joined));
	if (f->nswitches)
		fab_subnet(f, f->nodes[f->switches[0]].first_port, v->joined);
}

/*
 * MTU and rate of each port. The MTU of a link that is up is the one that was set, of another one what its ends are capable
 * of, since the manager will set that.
 */
void sa_view_links(struct sa_view *v)
{
	if (v->mtu)
		return;
	v->mtu = mem_zarray(v->fab->nports, sizeof(*v->mtu));
	v->rate = mem_zarray(v->fab->nports, sizeof(*v->rate));
	for (port_id p = 0; p < v->fab->nports; p++) {
		const struct fab_port *x = &v->fab->ports[p];
		struct iba_port_info pi;

		if ((x->peer == FAB_NONE && x->num) ||
		    !sm_port_info(v->sm, v->fab->nodes[x->node].guid, x->num, &pi))
			continue;
		v->mtu[p] = pi.mtu_cap;
		if (x->num && pi.state >= IBA_PORT_ARMED && pi.neighbor_mtu)
			v->mtu[p] = MIN(v->mtu[p], pi.neighbor_mtu);
		v->rate[p] = (uint16_t)sa_rate_value(sa_rate_of(&pi));
	}
	links_make(v);
	joined_make(v);
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
