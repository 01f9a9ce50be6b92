/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An order of (link, VL) channels that the dependencies of unicast routes and of trees follow: what follows it has no cycle.
 * State: struct mc_order. Ways in: mc_order_routes(), mc_order_tree(). A trial that fails is taken back. Builds no trees:
 * multicast_grow.c does.
 */
#include "route/multicast_priv.h"

/* Channels of links up come before those of links down: dependencies of up/down routes cost no search then. */
static void keys_make(struct mc_order *o, const struct switch_graph *g, const uint64_t *rank)
{
	o->key = mem_array((size_t)g->narcs * CHANNEL_VLS + 1, sizeof(*o->key));
	for (uint32_t a = 0; a < g->narcs; a++) {
		uint64_t from = rank ? MIN(rank[g->arc[a].from], (uint64_t)UINT32_MAX) : 0,
			 to = rank ? MIN(rank[g->arc[a].to], (uint64_t)UINT32_MAX) : 0;
		uint64_t key = to < from ? UINT32_MAX - from : (uint64_t)UINT32_MAX + 1 + from;

		for (unsigned vl = 0; vl < CHANNEL_VLS; vl++)
			o->key[channel(a, vl)] = rank ? key : 0;
	}
}

static bool *turns_make(const struct switch_graph *g, const rt_turns *off)
{
	bool *turn = mem_zarray((size_t)g->narcs * g->ports + 1, sizeof(*turn));

	for (size_t i = 0; i < off->n; i++) {
		const struct rt_turn *t = &off->at[i];
		uint32_t out = graph_arc(g, t->sw, t->in);
		uint32_t in = out == FAB_NONE ? FAB_NONE : mc_back(g, out);

		if (in != FAB_NONE && t->out < g->ports)
			turn[(size_t)in * g->ports + t->out] = true;
	}
	return turn;
}

struct mc_order *mc_order_new(const struct switch_graph *g, const struct rt_tables *t,
			      const uint64_t *rank, const rt_turns *off)
{
	struct mc_order *o = mem_zalloc(sizeof(*o));

	keys_make(o, g, rank);
	o->t = t;
	o->off = off && off->n ? turns_make(g, off) : NULL;
	channel_order_init(&o->o, g, o->key);
	return o;
}

void mc_order_free(struct mc_order *o)
{
	if (!o)
		return;
	channel_order_free(&o->o);
	free(o->key);
	free(o->off);
	free(o->routed);
	vec_free(&o->log);
	free(o);
}

bool mc_order_add(struct mc_order *o, uint32_t x, uint32_t y)
{
	const struct switch_graph *g = o->o.g;

	if (o->off && o->off[(size_t)(x / CHANNEL_VLS) * g->ports + g->arc[y / CHANNEL_VLS].port])
		return true;
	if (channel_has(&o->o, x, y))
		return true;
	if (!channel_add(&o->o, x, y))
		return false;
	vec_push(&o->log, (struct mc_dep){x, y});
	return true;
}

void mc_order_undo(struct mc_order *o, size_t mark)
{
	while (o->log.n > mark) {
		o->log.n--;
		channel_remove(&o->o, o->log.at[o->log.n].x, o->log.at[o->log.n].y);
	}
}

/* ---- unicast routes ---- */

bool mc_order_route(struct mc_order *o, uint32_t a, uint32_t b)
{
	const struct switch_graph *g = o->o.g;
	size_t bit = (size_t)a * g->ports + g->arc[b].port;

	if (!o->routed)
		o->routed = mem_zarray(((size_t)g->narcs * g->ports + 64) / 64, sizeof(*o->routed));
	if (o->routed[bit / 64] >> bit % 64 & 1)
		return true;
	o->routed[bit / 64] |= 1ull << bit % 64;
	return mc_order_add(o, channel(a, 0), channel(b, 0));
}

/* The routes to one LID where all packets are on VL 0. */
static bool lid_plain(struct mc_order *o, uint32_t lid)
{
	const struct switch_graph *g = o->o.g;

	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t a = graph_arc(g, s, rt_row(o->t, s)[lid]), b;

		if (a == FAB_NONE)
			continue;
		b = graph_arc(g, g->arc[a].to, rt_row(o->t, g->arc[a].to)[lid]);
		if (b != FAB_NONE && !mc_order_route(o, a, b))
			return false;
	}
	return true;
}

/* One packet with its SL, from where it enters; seen: by switch and port, SLs that were followed from there. */
static bool walk(struct mc_order *o, uint32_t lid, uint32_t s, unsigned in, unsigned sl,
		 uint16_t *seen)
{
	const struct switch_graph *g = o->o.g;
	uint32_t last = FAB_NONE;

	for (;;) {
		uint32_t a = graph_arc(g, s, rt_row(o->t, s)[lid]), c;
		unsigned vl;

		if (a == FAB_NONE)
			return true;
		vl = rt_vl(o->t, s, in, g->arc[a].port, sl);
		if (vl >= CHANNEL_VLS)
			return true; /* it is discarded */
		c = channel(a, vl);
		if (last != FAB_NONE && !mc_order_add(o, last, c))
			return false;
		if (seen[(size_t)s * g->ports + in] & 1u << sl)
			return true;
		seen[(size_t)s * g->ports + in] |= (uint16_t)(1u << sl);
		in = mc_back_port(g, a);
		s = g->arc[a].to;
		last = c;
	}
}

static bool lid_lanes(struct mc_order *o, uint32_t lid, uint16_t *seen)
{
	const struct switch_graph *g = o->o.g;
	const struct fab *f = g->f;

	memset(seen, 0, (size_t)g->n * g->ports * sizeof(*seen));
	for (uint32_t s = 0; s < g->n; s++) {
		const struct fab_node *n = &f->nodes[f->switches[s]];

		for (unsigned p = 0; p <= n->nports; p++)
			if ((!p || (f->ports[n->first_port + p].peer != FAB_NONE &&
				    graph_arc(g, s, p) == FAB_NONE)) &&
			    !walk(o, lid, s, p, rt_sl(o->t, s, p, lid), seen))
				return false;
	}
	return true;
}

/* Packets for LIDs that no port has are under way for a while, by entries that are still there. */
static void stale_plain(struct mc_order *o)
{
	const struct switch_graph *g = o->o.g;
	uint8_t *assigned = mem_zarray((size_t)o->t->stride, 1);

	for (uint32_t i = 0; i < g->dest_first[g->n]; i++)
		if (g->dest[i].lid < o->t->stride)
			assigned[g->dest[i].lid] = 1;
	for (uint32_t lid = 1; lid < o->t->stride; lid++)
		if (!assigned[lid])
			lid_plain(
				o,
				lid); /* what closes a cycle without trees is not theirs to avoid */
	free(assigned);
}

bool mc_order_routes(struct mc_order *o)
{
	const struct switch_graph *g = o->o.g;
	uint16_t *seen = o->t->lanes ? mem_array((size_t)g->n * g->ports + 1, sizeof(*seen)) : NULL;
	bool ok = true;

	for (uint32_t i = 0; ok && i < g->dest_first[g->n]; i++) {
		uint32_t lid = g->dest[i].lid;

		if (lid <= o->t->top_lid)
			ok = seen ? lid_lanes(o, lid, seen) : lid_plain(o, lid);
	}
	if (ok && !seen)
		stale_plain(o);
	free(seen);
	o->log.n = 0;
	return ok;
}

/* ---- trees ---- */

/* VLs of packets of the tree on a link, a bit for each; those from hosts included. */
static unsigned arc_vls(const struct mc_order *o, const struct rt_ports *links, uint32_t a,
			unsigned sl)
{
	const struct switch_graph *g = o->o.g;
	uint32_t s = g->arc[a].from;
	const struct fab_node *n = &g->f->nodes[g->f->switches[s]];
	unsigned out = g->arc[a].port, vls = 0;

	if (!o->t->lanes)
		return 1;
	for (unsigned in = 0; in <= n->nports; in++) {
		unsigned vl;

		if (in == out || (graph_arc(g, s, in) != FAB_NONE && !rt_ports_has(&links[s], in)))
			continue;
		vl = rt_vl(o->t, s, in, out, sl);
		vls |= vl < CHANNEL_VLS ? 1u << vl : 0;
	}
	return vls;
}

/* From one link of the tree to another one that meets it in a switch. */
static bool turn_add(struct mc_order *o, const struct rt_ports *links, uint32_t in, uint32_t out,
		     unsigned sl)
{
	const struct switch_graph *g = o->o.g;
	unsigned vls = arc_vls(o, links, in, sl);
	unsigned vl = o->t->lanes ? rt_vl(o->t, g->arc[out].from, mc_back_port(g, in),
					  g->arc[out].port, sl)
				  : 0;

	if (vl >= CHANNEL_VLS)
		return false; /* copies would be discarded */
	for (; vls; vls &= vls - 1)
		if (!mc_order_add(o, channel(in, (unsigned)__builtin_ctz(vls)), channel(out, vl)))
			return false;
	return true;
}

bool mc_order_turns(struct mc_order *o, const struct rt_ports *links, uint32_t s, unsigned sl)
{
	const struct switch_graph *g = o->o.g;

	for (unsigned p = rt_ports_next(&links[s], 0); p < 256; p = rt_ports_next(&links[s], p + 1))
		for (unsigned q = rt_ports_next(&links[s], 0); q < 256;
		     q = rt_ports_next(&links[s], q + 1)) {
			uint32_t in = mc_back(g, graph_arc(g, s, p)), out = graph_arc(g, s, q);

			if (p != q && !turn_add(o, links, in, out, sl))
				return false;
		}
	return true;
}

bool mc_order_tree(struct mc_order *o, const struct rt_ports *links, unsigned sl)
{
	o->log.n = 0;
	for (uint32_t s = 0; s < o->o.g->n; s++)
		if (!mc_order_turns(o, links, s, sl)) {
			mc_order_undo(o, 0);
			return false;
		}
	return true;
}
