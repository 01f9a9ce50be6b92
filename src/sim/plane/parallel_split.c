/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulation divided into shards, and put together again. State: struct parallel. Ways in:
 * shards_split(), shards_join(), and shards_refill() between two windows. Does not run events:
 * parallel.c does.
 */
#include "sim/plane/parallel_priv.h"

enum { SHARD_PORTS = 1536, SHARDS_MAX = 1024, POOL_LEAST = 256 };

/* ---- nodes ---- */

/* About what a core's second-level cache holds, but at least one for each thread requested. */
unsigned shard_count(const struct sim *s, unsigned threads)
{
	unsigned most = MIN((unsigned)SHARDS_MAX, MAX(s->fab->nnodes, 1u));

	return MIN(MAX((s->fab->nports + SHARD_PORTS / 2) / SHARD_PORTS, threads), most);
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
static void split_nodes(struct parallel *c)
{
	const struct sim *s = c->sim;
	uint64_t *weight = mem_zarray(s->fab->nnodes, sizeof(*weight)), sum = 0, seen = 0;
	uint16_t *of = mem_array(s->fab->nnodes, sizeof(*of));

	for (port_id p = 0; p < s->fab->nports; p++)
		if (s->ports[p].peer != FAB_NONE) {
			weight[anchor_of(s, s->fab->ports[p].node)]++;
			sum++;
		}
	for (node_id n = 0; n < s->fab->nnodes; n++) {
		of[n] = (uint16_t)MIN(seen * c->nshards / MAX(sum, (uint64_t)1), c->nshards - 1u);
		seen += weight[n];
	}
	for (port_id p = 0; p < s->fab->nports; p++)
		c->shard_of[p] = of[anchor_of(s, s->fab->ports[p].node)];
	free(weight);
	free(of);
}

/* ---- events ---- */

/* The port whose node an event belongs to; FAB_NONE: it needs the simulation as a whole. */
static port_id event_port(const struct sim *s, const struct ev_what *e)
{
	switch ((enum sim_ev)e->kind) {
	case EV_P_HEAD:
		return e->head.port;
	case EV_P_FC:
		return e->credit.port;
	case EV_P_LINK:
	case EV_P_SENT:
		return e->port.port;
	case EV_P_REFRESH:
		return e->link.port;
	case EV_P_ROUTE:
		return s->fab->nodes[e->node.node].first_port;
	case EV_P_MAP:
	case EV_P_CROSS:
	case EV_P_CROSSED:
	case EV_P_SINK:
	case EV_P_HOQ:
	case EV_P_STALL:
	case EV_P_LIFE:
		return chan_port(s->plane, e->chan.chan);
	case EV_P_MAKE:
		return e->make.host < s->plane->hosts.n ? s->plane->hosts.at[e->make.host]
							: FAB_NONE;
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

/* Events that need the whole stay in its queue, and the shards run no further than those. */
static void split_events(struct parallel *c)
{
	struct sim *s = c->sim;
	ev_list keep = {0};
	struct ev e;

	while (evq_pop(&s->main.q, &e)) {
		port_id p = event_port(s, &e.what);

		if (p != FAB_NONE) {
			evq_put(&c->shards[c->shard_of[p]].q, &e);
			continue;
		}
		vec_push(&keep, e);
		c->limit = MIN(c->limit, e.when - (e.when > 0));
	}
	for (size_t i = 0; i < keep.n; i++)
		evq_put(&s->main.q, &keep.at[i]);
	vec_free(&keep);
}

/* ---- which places of the pools: one array for all, and each shard has a list of free ones ---- */

static uint32_t pkts_move(struct plane *pl, struct shard *to, struct shard *from)
{
	uint32_t p, n = 0;

	for (; (p = from->own.dpkt_free) != PKT_NONE; n++) {
		from->own.dpkt_free = pl->pkts.at[p].next_free;
		pl->pkts.at[p].next_free = to->own.dpkt_free;
		to->own.dpkt_free = p;
	}
	return n;
}

static uint32_t cells_move(struct plane *pl, struct shard *to, struct shard *from)
{
	uint32_t c, n = 0;

	for (; (c = from->own.cell_free) != CELL_NONE; n++) {
		from->own.cell_free = pl->cells.at[c].next;
		pl->cells.at[c].next = to->own.cell_free;
		to->own.cell_free = c;
	}
	return n;
}

static void pkts_give(struct sim *s, struct shard *to, uint32_t n)
{
	struct plane *pl = s->plane;

	for (uint32_t p; n--;) {
		if (s->main.own.dpkt_free == PKT_NONE) {
			s->main.own.dpkt_free = dpkt_add(pl);
			pl->pkts.at[s->main.own.dpkt_free].next_free = PKT_NONE;
		}
		p = s->main.own.dpkt_free;
		s->main.own.dpkt_free = pl->pkts.at[p].next_free;
		pl->pkts.at[p].next_free = to->own.dpkt_free;
		to->own.dpkt_free = p;
	}
}

static void cells_give(struct sim *s, struct shard *to, uint32_t n)
{
	struct plane *pl = s->plane;

	for (uint32_t c; n--;) {
		if (s->main.own.cell_free == CELL_NONE) {
			s->main.own.cell_free = cell_add(pl);
			pl->cells.at[s->main.own.cell_free].next = CELL_NONE;
		}
		c = s->main.own.cell_free;
		s->main.own.cell_free = pl->cells.at[c].next;
		pl->cells.at[c].next = to->own.cell_free;
		to->own.cell_free = c;
	}
}

bool shard_is_dry(const struct shard *sh)
{
	return sh->own.dpkt_free == PKT_NONE || sh->own.cell_free == CELL_NONE;
}

/* If one has no free place, all places are divided again: packets begin in one shard and end in
 * another. */
void shards_refill(struct parallel *c)
{
	struct sim *s = c->sim;
	uint32_t pkts = 0, cells = 0;
	bool dry = false;

	for (unsigned k = 0; k < c->nshards; k++)
		dry |= shard_is_dry(&c->shards[k]);
	if (!dry)
		return;
	for (unsigned k = 0; k < c->nshards; k++) {
		pkts += pkts_move(s->plane, &s->main, &c->shards[k]);
		cells += cells_move(s->plane, &s->main, &c->shards[k]);
	}
	for (unsigned k = 0; k < c->nshards; k++) {
		pkts_give(s, &c->shards[k], MAX(pkts / c->nshards, (uint32_t)POOL_LEAST));
		cells_give(s, &c->shards[k], MAX(cells / c->nshards, (uint32_t)POOL_LEAST));
	}
}

/* ---- split and join ---- */

static void begin(struct parallel *c, unsigned k)
{
	const struct sim_plane_stats *st = &c->sim->main.own.stats;
	struct shard *sh = &c->shards[k];

	shard_begin(sh, c->sim, k);
	plane_own_init(&sh->own, st->window_start, st->window_end);
}

static void stats_add(struct sim_plane_stats *to, const struct sim_plane_stats *from)
{
	to->generated += from->generated;
	to->delivered += from->delivered;
	to->in_flight += from->in_flight; /* below 0 in a shard, modulo 2^64; never in the sum */
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

static void end(struct parallel *c, unsigned k)
{
	struct shard *sh = &c->shards[k], *main = &c->sim->main;

	shard_end(sh, c->sim);
	stats_add(&main->own.stats, &sh->own.stats);
	pkts_move(c->sim->plane, main, sh);
	cells_move(c->sim->plane, main, sh);
	for (size_t i = 0; i < sh->own.lineage.n; i++)
		vec_push(&main->own.lineage, sh->own.lineage.at[i]);
	vec_free(&sh->own.lineage);
}

void shards_progress(struct parallel *c)
{
	struct sim_plane_stats *st = &c->sim->main.own.stats;

	st->generated = c->generated;
	st->delivered = c->delivered;
	for (unsigned k = 0; k < c->nshards; k++) {
		st->generated += c->shards[k].own.stats.generated;
		st->delivered += c->shards[k].own.stats.delivered;
	}
}

static bool copies_happen(const struct sim *s)
{
	for (node_id n = 0; n < s->fab->nnodes; n++)
		if (s->nodes[n].mft)
			return true;
	return false;
}

void shards_split(struct parallel *c)
{
	struct sim *s = c->sim;

	c->shard_of = mem_array(s->fab->nports, sizeof(*c->shard_of));
	c->shards = mem_zarray(c->nshards, sizeof(*c->shards));
	c->generated = s->main.own.stats.generated;
	c->delivered = s->main.own.stats.delivered;
	if (copies_happen(s))
		plane_copies_room(s); /* no shard may allocate it */
	split_nodes(c);
	for (unsigned k = 0; k < c->nshards; k++)
		begin(c, k);
	split_events(c);
}

void shards_join(struct parallel *c)
{
	c->sim->main.own.stats.generated = c->generated;
	c->sim->main.own.stats.delivered = c->delivered;
	for (unsigned k = 0; k < c->nshards; k++)
		end(c, k);
	free(c->shard_of);
	free(c->shards);
}
