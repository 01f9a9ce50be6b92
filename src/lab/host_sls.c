/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels of hosts. State: struct lab_sls, by port of the fabric. Ways in: lab_sls_learn() when tables are in
 * place, lab_host_sl() for each packet. Does not choose any.
 */
#include "lab/host_sls.h"
#include "lab/lab_priv.h"
#include "sim/plane/sim_plane.h"

/* Hosts behind one switch mostly share one. */
struct sl_row {
	uint32_t users, top_lid;
	const uint8_t *from; /* while it is learnt: the manager's */
	uint8_t sl[];
};

struct lab_sls {
	uint32_t nports;
	struct sl_row **row; /* by port; NULL: SL 0 */
};

static void row_drop(struct sl_row *r)
{
	if (r && !--r->users)
		free(r);
}

static struct sl_row *row_take(struct sl_row *last, const uint8_t *from, uint32_t top_lid)
{
	struct sl_row *r = last;

	if (!r || r->from != from) {
		r = mem_alloc(sizeof(*r) + top_lid + 1);
		*r = (struct sl_row){.top_lid = top_lid, .from = from};
		memcpy(r->sl, from, top_lid + 1);
	}
	r->users++;
	return r;
}

/* The port of the manager's snapshot behind which a host's packets enter the subnet; FAB_NONE: it does not know it. A
 * function of an HCA sends through its vSwitch. */
static port_id ingress_of(const struct lab *l, const struct fab *known, port_id p)
{
	const struct fab_node *n = &l->fab->nodes[l->fab->ports[p].node];
	bool function = n->flags & FAB_FUNCTION && l->fab->ports[p].peer != FAB_NONE;
	node_id host = function ? l->fab->ports[l->fab->ports[p].peer].node : l->fab->ports[p].node,
		k = fab_node_by_guid(known, l->fab->nodes[host].guid);
	unsigned num = function ? 1 : l->fab->ports[p].num;
	port_id peer;

	if (k == FAB_NONE || num > known->nodes[k].nports)
		return FAB_NONE;
	peer = known->ports[fab_port_id(known, k, num)].peer;
	return peer != FAB_NONE && fab_is_switch(known, known->ports[peer].node) ? peer : FAB_NONE;
}

static unsigned sl_of(const void *ctx, port_id host, uint16_t dlid)
{
	return lab_host_sl(ctx, host, dlid);
}

void lab_sls_learn(struct lab *l, const struct sm *sm, uint32_t *seen)
{
	const struct fab *known = sm_fabric(sm);
	struct sl_row *last = NULL;

	if (*seen == sm_sls_number(sm))
		return;
	*seen = sm_sls_number(sm);
	if (!l->sls) {
		l->sls = mem_zalloc(sizeof(*l->sls));
		l->sls->nports = l->fab->nports;
		l->sls->row = mem_zarray(l->fab->nports, sizeof(*l->sls->row));
		sim_sls(l->sim, (struct sim_sl_source){sl_of, l});
	}
	for (port_id p = 0; p < l->fab->nports; p++) {
		port_id in = fab_is_switch(l->fab, l->fab->ports[p].node) ? FAB_NONE
									  : ingress_of(l, known, p);
		const uint8_t *from;
		uint32_t top;

		if (in == FAB_NONE)
			continue;
		from = sm_sls_from(sm, known->nodes[known->ports[in].node].guid,
				   known->ports[in].num, &top);
		row_drop(l->sls->row[p]);
		l->sls->row[p] = from ? row_take(last, from, top) : NULL;
		last = from ? l->sls->row[p] : last;
	}
	for (port_id p = 0; p < l->fab->nports; p++)
		if (l->sls->row[p])
			l->sls->row[p]->from = NULL;
}

unsigned lab_host_sl(const struct lab *l, port_id host, uint16_t dlid)
{
	const struct sl_row *r = l->sls ? l->sls->row[host] : NULL;

	if (dlid >= IBA_LID_MCAST_FIRST) /* a group has one for all */
		return l->mlid_sl[dlid - IBA_LID_MCAST_FIRST];
	return r && dlid <= r->top_lid ? r->sl[dlid] : 0;
}

void lab_sls_free(struct lab *l)
{
	for (port_id p = 0; l->sls && p < l->sls->nports; p++)
		row_drop(l->sls->row[p]);
	if (l->sls)
		free(l->sls->row);
	free(l->sls);
	l->sls = NULL;
}
