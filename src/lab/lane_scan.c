/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows packets through tables and SL-to-VL tables of the devices with the service levels that hosts have, and searches
 * the dependencies between (link, VL) channels for cycles. State: struct lane_scan. Ways in: lane_scan_run() of
 * forwarding_scan.c, which has found ports, pairs and senders. Does not trust the manager: it knows its service levels
 * only as hosts learnt them.
 */
#include "lab/host_sls.h"
#include "lab/scan_priv.h"
#include "route/cdg.h"
#include "sim/plane/sim_plane.h"

struct lane_scan {
	struct cdg graph;
	uint32_t *mark; /* by port of a switch and SL: walk * 4 + WALK_* */
	uint32_t *path, *part;
	uint64_t nbuffered;
};

static struct lane_scan *lanes_of(struct lab_scan *s)
{
	struct lane_scan *x = s->lanes;

	if (x)
		return x;
	x = s->lanes = mem_zalloc(sizeof(*x));
	cdg_init(&x->graph, s->f, iba_vl_count(s->lab->cfg.sim.vl_cap));
	x->mark = mem_zarray((size_t)s->f->nports * RT_SLS, sizeof(*x->mark));
	x->path = mem_array((size_t)s->f->nports * RT_SLS, sizeof(*x->path));
	x->part = mem_array((size_t)s->f->nports * x->graph.nvls, sizeof(*x->part));
	return x;
}

void lane_scan_free(struct lab_scan *s)
{
	if (!s->lanes)
		return;
	cdg_free(&s->lanes->graph);
	free(s->lanes->mark);
	free(s->lanes->path);
	free(s->lanes->part);
	free(s->lanes);
	s->lanes = NULL;
}

static void graph_clear(struct cdg *c)
{
	memset(c->bits, 0, (size_t)c->nvls * c->f->nports * c->nvls * c->words * sizeof(*c->bits));
}

/* ---- packets ---- */

/* The VL by which a packet leaves port `out`; false: it is discarded. */
static bool vl_out(const struct lab_scan *s, node_id n, unsigned in, unsigned out, unsigned sl,
		   unsigned *vl)
{
	const struct iba_port_info *pi = sim_port_info(s->lab->sim, fab_port_id(s->f, n, out));

	*vl = sim_slvl(s->lab->sim, n, in, out, sl);
	return *vl < iba_vl_count(pi->oper_vls) && *vl < s->lanes->graph.nvls;
}

static bool in_switch(const struct lab_scan *s, port_id p)
{
	return fab_is_switch(s->f, s->f->ports[p].node);
}

/* Packets that came to p on `vl` may leave by `out` on `next`. */
static void depend(struct lab_scan *s, port_id p, unsigned vl, unsigned out, unsigned next)
{
	port_id from = sim_port_peer(s->lab->sim, p),
		q = s->to[s->f->nodes[s->f->ports[p].node].first_port + out];

	if (from != FAB_NONE && in_switch(s, from) && q != FAB_NONE && in_switch(s, q))
		cdg_add(&s->lanes->graph, from, vl, out, next);
}

/* The next port of a packet for lid that came to p on *vl, which becomes its next VL; FAB_NONE: it is discarded. */
static port_id step(struct lab_scan *s, port_id p, unsigned sl, uint16_t lid, unsigned *vl)
{
	const struct fab_port *in = &s->f->ports[p];
	const struct fab_node *n = &s->f->nodes[in->node];
	unsigned out = sim_route(s->lab->sim, in->node, lid), next;

	s->steps++;
	if (!out || out > n->nports || out == in->num || s->to[n->first_port + out] == FAB_NONE ||
	    !vl_out(s, in->node, in->num, out, sl, &next))
		return FAB_NONE;
	depend(s, p, *vl, out, next);
	*vl = next;
	return s->to[n->first_port + out];
}

/*
 * Whether a packet arrives at dest that enters a switch by p on this VL. From a place that was met before with the same
 * SL it goes on as before, but it may have come by another VL: its next step counts.
 */
static bool arrives(struct lab_scan *s, port_id p, unsigned sl, unsigned vl, uint16_t lid,
		    port_id dest)
{
	struct lane_scan *x = s->lanes;
	unsigned end = WALK_FAILS;
	size_t n = 0;

	for (;;) {
		uint32_t at = p * RT_SLS + sl;
		port_id q = step(s, p, sl, lid, &vl);

		if (x->mark[at] >> 2 == s->walk) {
			end = (x->mark[at] & 3) == WALK_ARRIVES ? WALK_ARRIVES : WALK_FAILS;
			break;
		}
		x->mark[at] = s->walk << 2 | WALK_ON_PATH;
		x->path[n++] = at;
		if (q == FAB_NONE)
			break;
		if (!in_switch(s, q)) {
			end = q == dest ? WALK_ARRIVES : WALK_FAILS;
			break;
		}
		p = q;
	}
	while (n)
		x->mark[x->path[--n]] = s->walk << 2 | end;
	return end == WALK_ARRIVES;
}

static bool reaches(struct lab_scan *s, port_id from, uint16_t lid, port_id dest)
{
	unsigned sl = lab_host_sl(s->lab, from, lid), vl;
	port_id first = s->to[from];

	if (first == FAB_NONE ||
	    !vl_out(s, s->f->ports[from].node, 0, s->f->ports[from].num, sl, &vl))
		return false;
	return in_switch(s, first) ? arrives(s, first, sl, vl, lid, dest) : first == dest;
}

/* From every other host to all LIDs of one host; only the first LID counts. */
static uint64_t reach_one(struct lab_scan *s, port_id dest)
{
	const struct iba_port_info *pi = sim_port_info(s->lab->sim, dest);
	uint64_t sum = 0;

	if (!pi->lid || !sim_node_on(s->lab->sim, s->f->ports[dest].node))
		return 0;
	for (unsigned i = 0; i < 1u << pi->lmc; i++) {
		s->walk++;
		for (size_t h = 0; h < s->senders.n; h++)
			if (s->senders.at[h] != dest &&
			    reaches(s, s->senders.at[h], (uint16_t)(pi->lid + i), dest) && !i)
				sum++;
	}
	return sum;
}

/* ---- cycles ---- */

/* Links with a lane in a cycle. */
static uint32_t cyclic_links(struct lab_scan *s)
{
	struct lane_scan *x = s->lanes;
	uint32_t n = 0;

	if (!cdg_parts(&x->graph, x->part))
		return 0;
	for (port_id p = 0; p < s->f->nports; p++) {
		bool any = false;

		for (unsigned vl = 0; vl < x->graph.nvls; vl++)
			any |= x->part[(size_t)vl * s->f->nports + p] != 0;
		n += any;
	}
	return n;
}

/* One packet: it waits for the output that its switch has chosen, or will choose now. */
static void on_buffered(void *ctx, const struct sim_buffered *b)
{
	struct lab_scan *s = ctx;
	unsigned vl = b->vl;

	s->lanes->nbuffered++;
	if (!b->out)
		step(s, b->in, b->sl, b->dlid, &vl);
	else if (b->out_vl < s->lanes->graph.nvls)
		depend(s, b->in, b->vl, b->out, b->out_vl);
}

static uint32_t find_waiting(struct lab_scan *s)
{
	graph_clear(&s->lanes->graph);
	s->lanes->nbuffered = 0;
	sim_plane_buffered(s->lab->sim, on_buffered, s);
	return s->lanes->nbuffered > 1 ? cyclic_links(s) : 0;
}

/* Whether copies for an MLID can have come into a switch by this port: from a host, or by a link of the tree. */
static bool copies_enter(const struct lab_scan *s, node_id n, unsigned port, const uint64_t mask[4])
{
	port_id p = sim_port_peer(s->lab->sim, fab_port_id(s->f, n, port));

	return !port || (p != FAB_NONE && (!in_switch(s, p) || mask[port / 64] >> port % 64 & 1));
}

/* Copies that came by any VL that the switch before may give them. */
static void copy_depends(struct lab_scan *s, port_id in, unsigned out, uint16_t mlid)
{
	unsigned sl = s->lab->mlid_sl[mlid - IBA_LID_MCAST_FIRST], vl, next;
	const struct fab_port *p = &s->f->ports[in], *from;
	uint64_t mask[4];

	from = &s->f->ports[sim_port_peer(s->lab->sim, in)];
	if (!vl_out(s, p->node, p->num, out, sl, &next))
		return;
	sim_mft(s->lab->sim, from->node, mlid, mask);
	for (unsigned k = 0; k <= s->f->nodes[from->node].nports; k++)
		if (k != from->num && copies_enter(s, from->node, k, mask) &&
		    vl_out(s, from->node, k, from->num, sl, &vl))
			depend(s, in, vl, out, next);
}

void lane_scan_run(struct lab_scan *s, struct lab_levels *v)
{
	graph_clear(&lanes_of(s)->graph);
	v->connected = scan_connected(s, reach_one);
	if (s->most_pairs)
		return;
	scan_copies(s, copy_depends);
	v->cyclic = cyclic_links(s);
	if (!v->cyclic)
		v->waiting = find_waiting(s);
}

/* Of the last scan, whose graph is still there if it found a cycle. */
size_t lane_scan_cycle(struct lab_scan *s, port_id **ring)
{
	cdg_path path = {0};
	uint32_t channels;
	size_t n = 0;

	if (s->lanes)
		cdg_cycles(&s->lanes->graph, &path, &channels);
	*ring = path.n ? mem_array(path.n, sizeof(**ring)) : NULL;
	for (; n < path.n; n++)
		(*ring)[n] = path.at[n].port;
	vec_free(&path);
	return n;
}
