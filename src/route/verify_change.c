/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier after a change: what does not differ from tables that were verified is not walked again.
 * State: struct change, for one call; the way in is rt_verify_change(). Says yes only to what rt_verify()
 * with the same ranks says yes to; where the proof does not hold it says no, and the other one decides.
 *
 * Routes to a LID are as they were if no switch has another entry for it and every entry that is used
 * leads to the same port as before, by a link of the same direction. All others are walked. A new
 * switch's routes end with a known one's, so only its own first steps are looked at.
 */
#include "route/route_priv.h"

enum { TILE = 64 };
enum { UNSEEN = 0, ON_PATH = 1, GOOD = 2 };

struct change {
	const struct fab *f, *b;
	const struct rt_tables *t, *old;
	const uint64_t *rank, *old_rank;
	uint32_t *was;        /* by switch: its index before; FAB_NONE: new */
	VEC(uint32_t) fresh;  /* new ones */
	port_id *lids, *old_lids;
	uint32_t top, old_top;
	uint8_t *look;        /* by LID: walk all routes to it */
	/* of the LIDs that are walked */
	uint8_t *tile, *entry; /* [TILE][switches], and the row of it */
	uint8_t *end;          /* by switch */
	uint32_t *path;
};

/* ---- what is behind a port ---- */

static uint32_t switch_behind(const struct fab *f, uint32_t s, unsigned port)
{
	node_id n = f->switches[s];
	port_id peer = port && port <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, port)].peer : FAB_NONE;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* The same port of the same node, or nothing both times. */
static bool same_peer(const struct change *x, port_id now, port_id then)
{
	const struct fab_port *p, *q;

	if (now == FAB_NONE || then == FAB_NONE)
		return now == then;
	p = &x->f->ports[now];
	q = &x->b->ports[then];
	return p->num == q->num && x->f->nodes[p->node].guid == x->b->nodes[q->node].guid;
}

/* Does this port mean what it meant, the direction of its link included? */
static bool port_stands(const struct change *x, uint32_t s, unsigned port)
{
	node_id n = x->f->switches[s], m = x->b->switches[x->was[s]];
	uint32_t v;

	if (!same_peer(x, x->f->ports[fab_port_id(x->f, n, port)].peer, x->b->ports[fab_port_id(x->b, m, port)].peer))
		return false;
	v = switch_behind(x->f, s, port);
	return v == FAB_NONE || (x->was[v] != FAB_NONE &&
				 (x->rank[s] < x->rank[v]) == (x->old_rank[x->was[s]] < x->old_rank[x->was[v]]));
}

/* ---- which LIDs to look at ---- */

static void row_compare(struct change *x, uint32_t s)
{
	const uint8_t *now = rt_row(x->t, s), *then = rt_row(x->old, x->was[s]);
	uint32_t common = MIN(x->t->stride, x->old->stride);

	for (uint32_t lid0 = 0; lid0 < common; lid0 += TILE) {
		if (!memcmp(now + lid0, then + lid0, TILE))
			continue;
		for (uint32_t i = lid0; i < lid0 + TILE && i <= x->top; i++)
			x->look[i] |= now[i] != then[i];
	}
	for (uint32_t i = common; i <= x->top; i++)
		x->look[i] = 1;
}

static void ports_compare(struct change *x, uint32_t s)
{
	unsigned nports = x->f->nodes[x->f->switches[s]].nports;
	const uint8_t *row = rt_row(x->t, s);
	bool moved[256] = {false}, any = false;

	for (unsigned p = 1; p <= nports; p++)
		any |= moved[p] = !port_stands(x, s, p);
	for (uint32_t i = 0; any && i <= x->top; i++)
		x->look[i] |= moved[row[i]];
}

/* False: this is not what can be told from before. */
static bool switches_match(struct change *x)
{
	for (uint32_t s = 0; s < x->f->nswitches; s++) {
		const struct fab_node *n = &x->f->nodes[x->f->switches[s]];
		node_id m = fab_node_by_guid(x->b, n->guid);

		x->was[s] = m == FAB_NONE ? FAB_NONE : x->b->switch_index[m];
		if (m != FAB_NONE && (x->was[s] == FAB_NONE || x->b->nodes[m].nports != n->nports))
			return false;
		if (m == FAB_NONE)
			vec_push(&x->fresh, s);
		/* Whoever speaks counts; one that began to would be a source that nobody looked at. */
		if (!x->f->ports[n->first_port].lid || (m != FAB_NONE && !x->b->ports[x->b->nodes[m].first_port].lid))
			return false;
	}
	return true;
}

/* Every port that takes part has a LID and a switch before it. */
static bool ports_fit(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];

		if (fab_is_switch(f, x->node) || !x->num || x->peer == FAB_NONE)
			continue;
		if (!x->lid || !fab_is_switch(f, f->ports[x->peer].node))
			return false;
	}
	return true;
}

/* A LID of somebody who was not there, or elsewhere. */
static void lids_compare(struct change *x)
{
	for (uint32_t i = 0; i <= x->top; i++) {
		port_id now = x->lids[i], then = i <= x->old_top ? x->old_lids[i] : FAB_NONE;

		if (now == FAB_NONE)
			continue;
		x->look[i] |= !same_peer(x, now, then) ||
			      (x->f->ports[now].num && !same_peer(x, x->f->ports[now].peer, x->b->ports[then].peer));
	}
}

/* ---- walking ---- */

static bool arrives(const struct change *x, uint32_t s, unsigned port, port_id dest)
{
	const struct fab_node *n = &x->f->nodes[x->f->switches[s]];

	if (!port)
		return dest == n->first_port;
	return port <= n->nports && x->f->ports[n->first_port + port].peer == dest && dest != FAB_NONE;
}

/* Down, then up: not with these ranks. */
static bool turns_back(const struct change *x, uint32_t s, uint32_t t)
{
	uint32_t u = switch_behind(x->f, t, x->entry[t]);

	return u != FAB_NONE && x->rank[t] > x->rank[s] && x->rank[u] < x->rank[t];
}

static bool walk(struct change *x, uint32_t s, port_id dest)
{
	uint32_t n = 0;

	while (x->end[s] == UNSEEN) {
		uint32_t t = switch_behind(x->f, s, x->entry[s]);

		x->end[s] = ON_PATH;
		x->path[n++] = s;
		if (t == FAB_NONE ? !arrives(x, s, x->entry[s], dest) : turns_back(x, s, t))
			return false;
		if (t == FAB_NONE)
			break;
		if (x->end[t] == ON_PATH)
			return false;
		s = t;
	}
	while (n)
		x->end[x->path[--n]] = GOOD;
	return true;
}

static bool walk_all(struct change *x, uint32_t lid)
{
	memset(x->end, UNSEEN, x->f->nswitches);
	for (uint32_t s = 0; s < x->f->nswitches; s++)
		if (!walk(x, s, x->lids[lid]))
			return false;
	return true;
}

/* Of the others it is known that they arrive. */
static bool walk_new(struct change *x, uint32_t lid)
{
	memset(x->end, GOOD, x->f->nswitches);
	for (size_t i = 0; i < x->fresh.n; i++)
		x->end[x->fresh.at[i]] = UNSEEN;
	for (size_t i = 0; i < x->fresh.n; i++)
		if (!walk(x, x->fresh.at[i], x->lids[lid]))
			return false;
	return true;
}

/* Nobody can be reached where there is no cable, nor has to be. */
static bool wants(const struct change *x, uint32_t lid)
{
	port_id p = lid <= x->top ? x->lids[lid] : FAB_NONE;

	return p != FAB_NONE && (!x->f->ports[p].num || x->f->ports[p].peer != FAB_NONE) && (x->look[lid] || x->fresh.n);
}

/* Rows are long and columns are walked: those that are wanted are turned around first. */
static bool walk_tile(struct change *x, uint32_t lid0)
{
	uint32_t n = x->f->nswitches, want[TILE], k = 0;

	for (uint32_t i = 0; i < TILE; i++)
		if (wants(x, lid0 + i))
			want[k++] = i;
	for (uint32_t s = 0; k && s < n; s++)
		for (uint32_t i = 0; i < k; i++)
			x->tile[(size_t)i * n + s] = rt_row(x->t, s)[lid0 + want[i]];
	for (uint32_t i = 0; i < k; i++) {
		x->entry = x->tile + (size_t)i * n;
		if (!(x->look[lid0 + want[i]] ? walk_all(x, lid0 + want[i]) : walk_new(x, lid0 + want[i])))
			return false;
	}
	return true;
}

static bool prove(struct change *x)
{
	struct err e;

	if (fab_lid_table(x->f, &x->lids, &x->top, &e) || fab_lid_table(x->b, &x->old_lids, &x->old_top, &e) ||
	    x->top > x->t->top_lid || !switches_match(x) || !ports_fit(x->f))
		return false;
	for (uint32_t s = 0; s < x->f->nswitches; s++) {
		if (x->was[s] == FAB_NONE)
			continue;
		row_compare(x, s);
		ports_compare(x, s);
	}
	lids_compare(x);
	for (uint32_t lid0 = 0; lid0 <= x->top; lid0 += TILE)
		if (!walk_tile(x, lid0))
			return false;
	return true;
}

bool rt_verify_change(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		      const struct rt_before *before)
{
	uint32_t n = f->nswitches;
	struct change x = {.f = f, .b = before->f, .t = t, .old = before->t, .rank = rank, .old_rank = before->rank};
	bool ok;

	if (t->nswitches != n || before->t->nswitches != before->f->nswitches)
		return false;
	x.was = mem_array(n, sizeof(*x.was));
	x.look = mem_zarray(IBA_LID_MAX_UNICAST + TILE + 1, 1);
	x.tile = mem_array((size_t)TILE * n, 1);
	x.end = mem_array(n, 1);
	x.path = mem_array(n, sizeof(*x.path));
	ok = prove(&x);
	free(x.was);
	vec_free(&x.fresh);
	free(x.lids);
	free(x.old_lids);
	free(x.look);
	free(x.tile);
	free(x.end);
	free(x.path);
	return ok;
}
