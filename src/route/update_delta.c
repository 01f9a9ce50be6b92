/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The effect of a change on FERa's distances. State: struct delta, the two snapshots side by side and
 * the distances of one destination; the way in is delta_new(). Writes no table.
 *
 * FERa's distances are the only solution of one equation for each switch (see fera.c), and the
 * equations of the two snapshots differ only at switches where a link came, went or changed direction.
 * The old distances come from walking the old tables. If they solve the new equations at those few
 * switches, they are the new distances everywhere. New switches have no old distance: their equation
 * computes it from their neighbours.
 */
#include "route/update.h"

struct delta {
	const struct fera *g;
	const uint64_t *rank;
	const struct rt_before *b;
	uint32_t *was;		  /* by switch: its index before, FAB_NONE for a new one */
	uint32_t *start, *behind; /* before: behind[start[s] + port] is a switch or FAB_NONE */
	port_id *lids;		  /* before */
	uint32_t top_lid;	  /* before */
	bool *unsettled;	  /* by switch: a LID behind it is new or moved */
	VEC(struct delta_switch) at;
	VEC(uint32_t) fresh; /* new switches, by rank */
	/* of the current destination */
	uint32_t dest;
	uint16_t lid;
	uint32_t *walked; /* by switch before: the number of the walk that filled the next two */
	uint32_t walk;
	uint16_t *down, *dist;	       /* by switch before, as in struct work */
	uint16_t *new_down, *new_dist; /* by switch, for new ones only */
	uint32_t *path;
};

/* ---- two snapshots side by side ---- */

/* What a port means for routes: the switch behind it before the change, and whether that is up. */
struct meaning {
	uint32_t sw;
	bool up;
};

static struct meaning meant_before(const struct delta *x, uint32_t s, unsigned port)
{
	uint32_t v =
		port < x->start[s + 1] - x->start[s] ? x->behind[x->start[s] + port] : FAB_NONE;

	return (struct meaning){v, v != FAB_NONE && x->b->rank[v] < x->b->rank[s]};
}

/* For every destination a walk looks up which switch is behind a port: a table makes that quick. */
static void behind_make(struct delta *x)
{
	const struct fab *f = x->b->f;
	uint32_t at = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];

		x->start[s] = at;
		for (unsigned p = 0; p <= f->nodes[n].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, n, p)].peer;
			uint32_t v =
				peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

			x->behind[at++] = v == s ? FAB_NONE : v;
		}
	}
	x->start[f->nswitches] = at;
}

static struct meaning means(const struct delta *x, uint32_t s, unsigned port)
{
	const struct fab *f = x->g->f;
	node_id n = f->switches[s];
	port_id peer =
		port <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, port)].peer : FAB_NONE;
	uint32_t v = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

	if (v == FAB_NONE || v == s)
		return (struct meaning){FAB_NONE, false};
	/* a new switch has no index before, but the port leads to it */
	return (struct meaning){x->was[v] == FAB_NONE ? FAB_NONE - 1 : x->was[v],
				x->rank[v] < x->rank[s]};
}

static bool ports_compare(const struct delta *x, struct delta_switch *q)
{
	uint32_t s = q->sw;
	const struct fab *f = x->g->f, *b = x->b->f;
	unsigned n = MAX(f->nodes[f->switches[s]].nports, b->nodes[b->switches[x->was[s]]].nports);
	bool any = false;

	for (unsigned p = 1; p <= n; p++) {
		struct meaning now = means(x, s, p), then = meant_before(x, x->was[s], p);

		if (now.sw != then.sw || now.up != then.up) {
			q->ports[p / 64] |= 1ull << p % 64;
			q->gained |= now.sw != FAB_NONE;
			any = true;
		}
	}
	return any;
}

static void switches_compare(struct delta *x)
{
	const struct fab *f = x->g->f, *b = x->b->f;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = fab_node_by_guid(b, f->nodes[f->switches[s]].guid);

		x->was[s] = n == FAB_NONE ? FAB_NONE : b->switch_index[n];
	}
	for (uint32_t s = 0; s < f->nswitches; s++) {
		struct delta_switch q = {.sw = s, .is_new = x->was[s] == FAB_NONE};

		if (q.is_new)
			memset(q.ports, 0xff, sizeof(q.ports));
		if (q.is_new || ports_compare(x, &q))
			vec_push(&x->at, q);
	}
	for (uint32_t i = 0; i < f->nswitches; i++)
		if (x->was[x->g->order[i]] == FAB_NONE)
			vec_push(&x->fresh, x->g->order[i]);
}

/* Whether this LID was behind the same port of the same switch. */
static bool lid_stayed(const struct delta *x, uint32_t d, const struct dest *at)
{
	const struct fab *b = x->b->f;
	port_id p = at->lid <= x->top_lid ? x->lids[at->lid] : FAB_NONE;

	if (p == FAB_NONE || x->was[d] == FAB_NONE)
		return false;
	if (!fab_is_switch(b, b->ports[p].node))
		p = b->ports[p].peer;
	return p != FAB_NONE && b->switch_index[b->ports[p].node] == x->was[d] &&
	       b->ports[p].num == at->port;
}

static void lids_compare(struct delta *x)
{
	for (uint32_t d = 0; d < x->g->f->nswitches; d++)
		for (uint32_t i = x->g->dest_first[d]; i < x->g->dest_first[d + 1]; i++)
			x->unsettled[d] |= !lid_stayed(x, d, &x->g->dest[i]);
}

struct delta *delta_new(const struct fera *g, const struct rt_opts *o, int *rc, struct err *e)
{
	uint32_t n = g->f->nswitches, nb = o->before->f->nswitches;
	struct delta *x;

	*rc = 0;
	if (o->before->t->nswitches != nb) {
		*rc = err_set(e, -EINVAL, "update: tables of %u switches for %u before the change",
			      o->before->t->nswitches, nb);
		return NULL;
	}
	x = mem_zalloc(sizeof(*x));
	x->g = g;
	x->rank = o->rank;
	x->b = o->before;
	*rc = fab_lid_table(x->b->f, &x->lids, &x->top_lid, e);
	x->was = mem_array(n, sizeof(*x->was));
	x->unsettled = mem_zarray(n, sizeof(*x->unsettled));
	x->start = mem_array(nb + 1, sizeof(*x->start));
	x->behind = mem_array(x->b->f->nports, sizeof(*x->behind));
	x->walked = mem_zarray(nb, sizeof(*x->walked));
	x->down = mem_array(nb, sizeof(*x->down));
	x->dist = mem_array(nb, sizeof(*x->dist));
	x->path = mem_array(nb, sizeof(*x->path));
	x->new_down = mem_array(n, sizeof(*x->new_down));
	x->new_dist = mem_array(n, sizeof(*x->new_dist));
	if (!*rc) {
		behind_make(x);
		switches_compare(x);
		lids_compare(x);
	}
	if (*rc || x->at.n > n / 4 + 8) {
		delta_free(x);
		return NULL;
	}
	return x;
}

void delta_free(struct delta *x)
{
	if (!x)
		return;
	free(x->lids);
	free(x->was);
	free(x->unsettled);
	free(x->start);
	free(x->behind);
	free(x->walked);
	free(x->down);
	free(x->dist);
	free(x->path);
	free(x->new_down);
	free(x->new_dist);
	vec_free(&x->at);
	vec_free(&x->fresh);
	free(x);
}

const struct delta_switch *delta_switches(const struct delta *x, uint32_t *n)
{
	*n = (uint32_t)x->at.n;
	return x->at.at;
}

bool delta_had_lid(const struct delta *x, uint32_t lid)
{
	return lid <= x->top_lid && x->lids[lid] != FAB_NONE;
}

/* ---- the distances of one destination ---- */

static uint8_t entry_before(const struct delta *x, uint32_t s)
{
	return x->lid <= x->b->t->top_lid ? rt_row(x->b->t, s)[x->lid] : IBA_PORT_NONE;
}

/* Walk the old tables from s to the destination or to a switch with a known distance, then fill
 * in the switches on the way. */
static void walk(struct delta *x, uint32_t s)
{
	uint32_t n = 0;

	while (x->walked[s] != x->walk) {
		uint32_t v = meant_before(x, s, entry_before(x, s)).sw;

		x->walked[s] = x->walk;
		x->down[s] = x->dist[s] = DIST_NONE;
		if (v == FAB_NONE)
			break;
		x->path[n++] = s;
		s = v;
	}
	while (n--) {
		uint32_t v = s;

		s = x->path[n];
		if (x->dist[v] == DIST_NONE)
			continue;
		x->dist[s] = (uint16_t)(x->dist[v] + 1);
		if (x->down[v] != DIST_NONE && x->b->rank[v] > x->b->rank[s])
			x->down[s] = (uint16_t)(x->down[v] + 1);
	}
}

static uint16_t down_of(struct delta *x, uint32_t s)
{
	if (x->was[s] == FAB_NONE)
		return x->new_down[s];
	walk(x, x->was[s]);
	return x->down[x->was[s]];
}

static uint16_t dist_of(struct delta *x, uint32_t s)
{
	if (x->was[s] == FAB_NONE)
		return x->new_dist[s];
	walk(x, x->was[s]);
	return x->dist[x->was[s]];
}

static uint16_t further(uint16_t d)
{
	return (uint16_t)(d + (d != DIST_NONE));
}

/* The two passes of FERa over the new switches only: all others have their distances. */
static void solve_new(struct delta *x)
{
	const struct fera *g = x->g;

	for (size_t i = x->fresh.n; i-- > 0;) {
		uint32_t s = x->fresh.at[i];

		x->new_down[s] = DIST_NONE;
		for (uint32_t a = g->down_first[s]; a < g->down_first[s + 1]; a++)
			x->new_down[s] = MIN(x->new_down[s], further(down_of(x, g->down[a].sw)));
	}
	for (size_t i = 0; i < x->fresh.n; i++) {
		uint32_t s = x->fresh.at[i];

		x->new_dist[s] = x->new_down[s];
		for (uint32_t a = g->up_first[s];
		     x->new_down[s] == DIST_NONE && a < g->up_first[s + 1]; a++)
			x->new_dist[s] = MIN(x->new_dist[s], further(dist_of(x, g->up[a].sw)));
	}
}

static bool differs(const struct delta_switch *q, unsigned port)
{
	return q->ports[port / 64] >> port % 64 & 1;
}

/* Whether a link that is new or changed direction gives switch q a shorter route than it had. */
static bool improves(struct delta *x, const struct delta_switch *q)
{
	const struct fera *g = x->g;
	uint32_t s = q->sw;
	uint16_t down = down_of(x, s), dist = dist_of(x, s);

	for (uint32_t a = g->down_first[s]; a < g->down_first[s + 1]; a++)
		if (differs(q, g->down[a].port) && further(down_of(x, g->down[a].sw)) < down)
			return true;
	for (uint32_t a = g->up_first[s]; down == DIST_NONE && a < g->up_first[s + 1]; a++)
		if (differs(q, g->up[a].port) && further(dist_of(x, g->up[a].sw)) < dist)
			return true;
	return false;
}

/* Whether switch q still has a route as short as the one it had. */
static bool still_there(struct delta *x, const struct delta_switch *q)
{
	uint8_t port[256];

	/* 255, no route, is the same as before */
	return !differs(q, entry_before(x, x->was[q->sw])) || delta_offers(x, q->sw, port);
}

void delta_dest(struct delta *x, uint32_t d)
{
	uint32_t was = x->was[d];

	x->dest = d;
	x->lid = x->g->dest[x->g->dest_first[d]].lid;
	x->walk++;
	x->walked[was] = x->walk;
	x->down[was] = x->dist[was] = 0;
	solve_new(x);
}

bool delta_touches(struct delta *x, uint32_t d)
{
	if (x->g->dest_first[d] == x->g->dest_first[d + 1])
		return false;
	if (x->unsettled[d])
		return true;
	delta_dest(x, d);
	for (size_t i = 0; i < x->at.n; i++) {
		const struct delta_switch *q = &x->at.at[i];

		if (q->is_new || q->sw == d)
			continue;
		if ((q->gained && improves(x, q)) || !still_there(x, q))
			return true;
	}
	return false;
}

unsigned delta_offers(struct delta *x, uint32_t s, uint8_t port[256])
{
	const struct fera *g = x->g;
	uint16_t down = down_of(x, s), dist = dist_of(x, s);
	unsigned n = 0;

	if (dist == DIST_NONE || s == x->dest)
		return 0;
	for (uint32_t a = g->down_first[s]; down != DIST_NONE && a < g->down_first[s + 1]; a++)
		if (down_of(x, g->down[a].sw) == down - 1)
			port[n++] = g->down[a].port;
	for (uint32_t a = g->up_first[s]; down == DIST_NONE && a < g->up_first[s + 1]; a++)
		if (dist_of(x, g->up[a].sw) == dist - 1)
			port[n++] = g->up[a].port;
	return n;
}
