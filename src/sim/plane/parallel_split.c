/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulation dealt out to parts, and put together again. State: struct crew. Ways in:
 * crew_deal(), crew_join(), and crew_refill() between two windows. Does not run events: crew.c
 * does.
 */
#include "sim/plane/parallel_priv.h"

enum { PART_PORTS = 1536, PARTS_MAX = 1024, POOL_LEAST = 256 };

/* ---- which nodes ---- */

/* About what a core's second-level cache holds, but one for each thread that was asked for. */
unsigned crew_part_count(const struct sim *s, unsigned threads)
{
	unsigned most = MIN((unsigned)PARTS_MAX, MAX(s->fab->nnodes, 1u));

	return MIN(MAX((s->fab->nports + PART_PORTS / 2) / PART_PORTS, threads), most);
}

/* The switch at the other end of a host's first cable; the node itself if there is none. */
static node_id anchor_of(const struct sim *s, node_id n)
{
	const struct fab_node *fn = &s->fab->nodes[n];

	for (unsigned p = 1; !sim_is_switch(s, n) && p <= fn->nports; p++) {
		port_id far = s->ports[fn->first_port + p].peer;

		if (far != FAB_NONE && sim_is_switch(s, s->fab->ports[far].node))
			return s->fab->ports[far].node;
	}
	return n;
}

/* In order of ids, which keeps neighbours together in most fabrics, with as many cables to each. */
static void deal_nodes(struct crew *c)
{
	const struct sim *s = c->whole;
	uint64_t *weight = mem_zarray(s->fab->nnodes, sizeof(*weight)), sum = 0, seen = 0;
	uint16_t *of = mem_array(s->fab->nnodes, sizeof(*of));

	for (port_id p = 0; p < s->fab->nports; p++)
		if (s->ports[p].peer != FAB_NONE) {
			weight[anchor_of(s, s->fab->ports[p].node)]++;
			sum++;
		}
	for (node_id n = 0; n < s->fab->nnodes; n++) {
		of[n] = (uint16_t)MIN(seen * c->nparts / MAX(sum, (uint64_t)1), c->nparts - 1u);
		seen += weight[n];
	}
	for (port_id p = 0; p < s->fab->nports; p++)
		c->part_of[p] = of[anchor_of(s, s->fab->ports[p].node)];
	free(weight);
	free(of);
}

/* ---- which events ---- */

/* The port whose node an event belongs to; FAB_NONE: it is for the whole. */
static port_id event_port(const struct sim *s, const struct ev *e)
{
	switch ((enum sim_ev)e->kind) {
	case EV_P_HEAD:
	case EV_P_FC:
	case EV_P_LINK:
	case EV_P_SENT:
	case EV_P_REFRESH:
		return e->a;
	case EV_P_ROUTE:
		return s->fab->nodes[e->a].first_port;
	case EV_P_MAP:
	case EV_P_CROSS:
	case EV_P_CROSSED:
	case EV_P_SINK:
	case EV_P_HOQ:
	case EV_P_STALL:
	case EV_P_LIFE:
		return chan_port(s->plane, e->a);
	case EV_P_MAKE:
		return e->a < s->plane->hosts.n ? s->plane->hosts.at[e->a] : FAB_NONE;
	case EV_P_PACED:
	case EV_P_RETRAIN:
	case EV_CALL:
	case EV_LINK:
	case EV_ARRIVE:
	case EV_SMI:
	case EV_INJECT:
	case EV_TRAP:
	case EV_LEASE:
	case EV_ORDER:
		break;
	}
	return FAB_NONE;
}

/* What is for the whole stays there, and the parts run no further than that. */
static void deal_events(struct crew *c)
{
	struct sim *s = c->whole;
	VEC(struct ev) keep = {0};
	struct ev e;

	while (evq_pop(&s->q, &e)) {
		port_id p = event_port(s, &e);

		if (p != FAB_NONE) {
			evq_put(&c->parts[c->part_of[p]].sim.q, &e);
			continue;
		}
		vec_push(&keep, e);
		c->limit = MIN(c->limit, e.when - (e.when > 0));
	}
	for (size_t i = 0; i < keep.n; i++)
		evq_put(&s->q, &keep.at[i]);
	vec_free(&keep);
}

/* ---- which places of the pools: one array for all, and each part knows some that are free ---- */

static uint32_t pkts_back(struct plane *pl, struct plane *from)
{
	uint32_t p, n = 0;

	for (; (p = from->pkt_free) != PKT_NONE; n++) {
		from->pkt_free = pl->pkts.at[p].next_free;
		pl->pkts.at[p].next_free = pl->pkt_free;
		pl->pkt_free = p;
	}
	return n;
}

static uint32_t cells_back(struct plane *pl, struct plane *from)
{
	uint32_t c, n = 0;

	for (; (c = from->cell_free) != CELL_NONE; n++) {
		from->cell_free = pl->cells.at[c].next;
		pl->cells.at[c].next = pl->cell_free;
		pl->cell_free = c;
	}
	return n;
}

static void pkts_give(struct plane *pl, struct plane *to, uint32_t n)
{
	for (uint32_t p; n--;) {
		if (pl->pkt_free == PKT_NONE) {
			pl->pkt_free = dpkt_add(pl);
			pl->pkts.at[pl->pkt_free].next_free = PKT_NONE;
		}
		p = pl->pkt_free;
		pl->pkt_free = pl->pkts.at[p].next_free;
		pl->pkts.at[p].next_free = to->pkt_free;
		to->pkt_free = p;
	}
}

static void cells_give(struct plane *pl, struct plane *to, uint32_t n)
{
	for (uint32_t c; n--;) {
		if (pl->cell_free == CELL_NONE) {
			pl->cell_free = cell_add(pl);
			pl->cells.at[pl->cell_free].next = CELL_NONE;
		}
		c = pl->cell_free;
		pl->cell_free = pl->cells.at[c].next;
		pl->cells.at[c].next = to->cell_free;
		to->cell_free = c;
	}
}

bool crew_is_dry(const struct crew_part *p)
{
	return p->plane.pkt_free == PKT_NONE || p->plane.cell_free == CELL_NONE;
}

/* When one has run dry all is dealt anew: packets are made in one part and end in another. */
void crew_refill(struct crew *c)
{
	struct plane *pl = c->whole->plane;
	uint32_t pkts = 0, cells = 0;
	bool dry = false;

	for (unsigned k = 0; k < c->nparts; k++)
		dry |= crew_is_dry(&c->parts[k]);
	if (!dry)
		return;
	for (unsigned k = 0; k < c->nparts; k++) {
		pkts += pkts_back(pl, &c->parts[k].plane);
		cells += cells_back(pl, &c->parts[k].plane);
	}
	for (unsigned k = 0; k < c->nparts; k++) {
		pkts_give(pl, &c->parts[k].plane, MAX(pkts / c->nparts, (uint32_t)POOL_LEAST));
		cells_give(pl, &c->parts[k].plane, MAX(cells / c->nparts, (uint32_t)POOL_LEAST));
	}
	for (unsigned k = 0; k < c->nparts; k++) {
		c->parts[k].plane.pkts.at = pl->pkts.at;
		c->parts[k].plane.cells.at = pl->cells.at;
	}
}

/* ---- apart and together ---- */

static void part_begin(struct crew *c, unsigned k)
{
	struct crew_part *p = &c->parts[k];
	struct sim *s = c->whole;

	p->sim = *s;
	p->plane = *s->plane;
	p->sim.q = (struct evq){.seq = s->q.seq};
	p->sim.plane = &p->plane;
	p->sim.crew = c;
	p->sim.part = k;
	p->sim.stats = (struct sim_stats){0};
	p->plane.stats = (struct sim_plane_stats){.window_start = s->plane->stats.window_start,
						  .window_end = s->plane->stats.window_end};
	p->plane.pkt_free = PKT_NONE;
	p->plane.cell_free = CELL_NONE;
	memset(&p->plane.lineage, 0, sizeof(p->plane.lineage));
	p->plane.lineage_full = 0;
}

static void stats_add(struct sim_plane_stats *to, const struct sim_plane_stats *from)
{
	to->generated += from->generated;
	to->delivered += from->delivered;
	to->in_flight += from->in_flight; /* below 0 in a part, modulo 2^64; never in the sum */
	to->copies += from->copies;
	to->delivered_bytes += from->delivered_bytes;
	to->hops += from->hops;
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		to->discarded[i] += from->discarded[i];
	to->fc_packets += from->fc_packets;
	to->recoveries += from->recoveries;
	to->downed += from->downed;
	hist_merge(&to->latency, &from->latency);
	hist_merge(&to->header_latency, &from->header_latency);
	to->window_delivered += from->window_delivered;
	to->window_bytes += from->window_bytes;
	to->window_generated += from->window_generated;
}

static void part_end(struct crew *c, unsigned k)
{
	struct crew_part *p = &c->parts[k];
	struct sim *s = c->whole;
	struct ev e;

	while (evq_pop(&p->sim.q, &e))
		evq_put(&s->q, &e);
	s->q.seq = MAX(s->q.seq, p->sim.q.seq);
	s->now = MAX(s->now, p->sim.now);
	s->stats.events += p->sim.stats.events;
	stats_add(&s->plane->stats, &p->plane.stats);
	pkts_back(s->plane, &p->plane);
	cells_back(s->plane, &p->plane);
	for (size_t i = 0; i < p->plane.lineage.n; i++)
		vec_push(&s->plane->lineage, p->plane.lineage.at[i]);
	vec_free(&p->plane.lineage);
	evq_free(&p->sim.q);
}

static bool copies_happen(const struct sim *s)
{
	for (node_id n = 0; n < s->fab->nnodes; n++)
		if (s->nodes[n].mft)
			return true;
	return false;
}

void crew_deal(struct crew *c)
{
	c->part_of = mem_array(c->whole->fab->nports, sizeof(*c->part_of));
	c->parts = mem_zarray(c->nparts, sizeof(*c->parts));
	if (copies_happen(c->whole))
		plane_copies_room(c->whole); /* later it would be too late for the others to see */
	deal_nodes(c);
	for (unsigned k = 0; k < c->nparts; k++)
		part_begin(c, k);
	deal_events(c);
}

void crew_join(struct crew *c)
{
	for (unsigned k = 0; k < c->nparts; k++)
		part_end(c, k);
	free(c->part_of);
	free(c->parts);
}
