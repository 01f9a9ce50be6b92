/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From old trees to new ones while traffic flows. State: struct between, for one change. Way in: rt_multicast_between().
 *
 * Switches hold a part of the old tree at first and of the new tree at last, in any mixture on the way. Everything is safe
 * if all old and new links together are a tree that fits: then no mixture has a link or a turn that it has not. Where they
 * are not, links that the new tree has not are removed from all switches first; what is left is a part of both. And while
 * unicast tables change, dependencies of any mixture of old and new entries count with those of the trees: a tree that does
 * not fit among them loses all its links first.
 */
#include "route/multicast_priv.h"

struct between {
	const struct rt_mchange *c;
	struct switch_graph g;
	struct mc_order *new;	/* t and new trees, and unions that fit; NULL: ranks tell */
	struct mc_order *mixed; /* any mixture of was and t; NULL: it has not to be looked at */
	bool cut;		/* no link stays while unicast tables change */
	struct rt_ports *links;
};

static void branch_links(const struct between *b, const struct rt_mtree *t, struct rt_ports *links)
{
	for (size_t i = 0; t && i < t->at.n; i++) {
		const struct rt_branch *x = &t->at.at[i];

		for (unsigned p = rt_ports_next(&x->ports, 0); p < 256;
		     p = rt_ports_next(&x->ports, p + 1)) {
			uint32_t a = graph_arc(&b->g, x->sw, p);

			if (a == FAB_NONE)
				continue;
			rt_ports_add(&links[x->sw], p);
			/* A mask at one end is enough for packets to pass. */
			rt_ports_add(&links[b->g.arc[a].to], mc_back_port(&b->g, a));
		}
	}
}

static uint32_t find(uint32_t *part, uint32_t s)
{
	while (part[s] != s)
		s = part[s] = part[part[s]];
	return s;
}

/* Links without a cycle, each looked at from one end. */
static bool is_forest(const struct between *b)
{
	uint32_t *part = mem_array(b->g.n + 1u, sizeof(*part));
	bool ok = true;

	for (uint32_t s = 0; s < b->g.n; s++)
		part[s] = s;
	for (uint32_t a = 0; ok && a < b->g.narcs; a++) {
		const struct graph_arc *x = &b->g.arc[a];

		if (a > mc_back(&b->g, a) || !rt_ports_has(&b->links[x->from], x->port))
			continue;
		ok = find(part, x->from) != find(part, x->to);
		part[find(part, x->from)] = find(part, x->to);
	}
	free(part);
	return ok;
}

/* The new tree has nothing that the old one has not. */
static bool only_less(const struct rt_mtree *old, const struct rt_mtree *new)
{
	for (size_t i = 0; new &&i < new->at.n; i++) {
		const struct rt_ports *was = rt_mtree_at(old, new->at.at[i].sw);

		for (unsigned w = 0; w < 4; w++)
			if (new->at.at[i].ports.w[w] & ~(was ? was->w[w] : 0))
				return false;
	}
	return true;
}

/* Copies may go where nothing is known, and come back from there. */
static bool leads_astray(const struct between *b, const struct rt_mtree *old)
{
	const struct fab *f = b->c->f;

	for (size_t i = 0; b->c->astray && old && i < old->at.n; i++) {
		const struct rt_branch *x = &old->at.at[i];
		const struct fab_node *n = &f->nodes[f->switches[x->sw]];

		for (unsigned p = rt_ports_next(&x->ports, 1); p <= n->nports && p < 256;
		     p = rt_ports_next(&x->ports, p + 1))
			if (b->c->astray[n->first_port + p])
				return true;
	}
	return false;
}

/* Old and new links together are a tree that fits among the new routes and the other trees. */
static bool together(struct between *b, const struct rt_mtree *old, const struct rt_mtree *new)
{
	memset(b->links, 0, b->g.n * sizeof(*b->links));
	branch_links(b, old, b->links);
	if (!only_less(old, new)) {
		if (leads_astray(b, old))
			return false;
		branch_links(b, new, b->links);
	}
	if (b->c->rank && !b->new)
		return mc_updown_obeys(&b->g, b->c->rank, b->links);
	return b->new &&is_forest(b) && mc_order_tree(b->new, b->links, new ? new->sl : old->sl);
}

/* ---- while unicast tables change ---- */

/* The first entry that leads a packet to s for this LID, of either tables. */
static uint32_t arc_by(const struct switch_graph *g, const struct rt_tables *t, uint32_t s,
		       uint32_t lid)
{
	return lid < t->stride ? graph_arc(g, s, rt_row(t, s)[lid]) : FAB_NONE;
}

static bool mixed_add(struct mc_order *o, uint32_t a, uint32_t b)
{
	return a == FAB_NONE || b == FAB_NONE || mc_order_route(o, a, b);
}

/* Pairs of entries for one LID; where the order is outwards, an old entry never follows a new one. */
static bool mixed_lid(const struct between *b, struct mc_order *o, uint32_t lid, bool any)
{
	const struct rt_mchange *c = b->c;

	for (uint32_t s = 0; s < b->g.n; s++) {
		uint32_t was = arc_by(&b->g, c->was, s, lid), now = arc_by(&b->g, c->t, s, lid);

		if (was != FAB_NONE) {
			uint32_t n = b->g.arc[was].to;

			if (!mixed_add(o, was, arc_by(&b->g, c->was, n, lid)) ||
			    !mixed_add(o, was, arc_by(&b->g, c->t, n, lid)))
				return false;
		}
		if (now != FAB_NONE && now != was) {
			uint32_t n = b->g.arc[now].to;

			if (!mixed_add(o, now, arc_by(&b->g, c->t, n, lid)) ||
			    (any && !mixed_add(o, now, arc_by(&b->g, c->was, n, lid))))
				return false;
		}
	}
	return true;
}

/* Whole blocks: behind the last LID in use are entries of ports that are gone. */
static bool mixed_routes(const struct between *b, struct mc_order *o)
{
	bool any = b->c->plan->kind == RT_PLAN_ANY_ORDER;
	uint32_t end = MAX(b->c->was->stride, b->c->t->stride);

	for (uint32_t lid = 1; lid < end; lid++)
		if (!mixed_lid(b, o, lid, any))
			return false;
	o->log.n = 0;
	return true;
}

/* Turns that stay disabled while tables change. */
static void turns_of(const struct rt_mchange *c, rt_turns *out)
{
	for (size_t i = 0; c->off && i < c->off->n; i++)
		vec_push(out, c->off->at[i]);
	for (size_t i = 0; i < c->plan->turns.n; i++)
		vec_push(out, c->plan->turns.at[i]);
}

static bool same_tables(const struct rt_mchange *c)
{
	return c->plan && c->plan->kind == RT_PLAN_NOTHING && !c->plan->lanes;
}

/* ---- the same over ranks: few entries change, and all others obey them ---- */

static bool is_off(const struct rt_mchange *c, uint32_t sw, unsigned in, unsigned out)
{
	const rt_turns *lists[] = {c->off, &c->plan->turns};

	for (unsigned k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; lists[k] && i < lists[k]->n; i++) {
			const struct rt_turn *t = &lists[k]->at[i];

			if (t->sw == sw && t->in == in && t->out == out)
				return true;
		}
	return false;
}

/* Not down and then up, from one link to the next. */
static bool pair_obeys(const struct between *b, uint32_t x, uint32_t y)
{
	const struct graph_arc *arc = b->g.arc;
	const uint64_t *rank = b->c->rank;

	if (x == FAB_NONE || y == FAB_NONE || rank[arc[x].to] < rank[arc[x].from] ||
	    rank[arc[y].to] > rank[arc[y].from])
		return true;
	return is_off(b->c, arc[x].to, mc_back_port(&b->g, x), arc[y].port);
}

/* An old entry that is another one in the new table, with those before and behind it. */
static bool entry_obeys(const struct between *b, uint32_t s, uint32_t lid)
{
	const struct switch_graph *g = &b->g;
	const struct rt_tables *was = b->c->was, *t = b->c->t;
	bool any = b->c->plan->kind == RT_PLAN_ANY_ORDER;
	uint32_t a = arc_by(g, was, s, lid);

	if (a == FAB_NONE)
		return true;
	if (!pair_obeys(b, a, arc_by(g, was, g->arc[a].to, lid)) ||
	    !pair_obeys(b, a, arc_by(g, t, g->arc[a].to, lid)))
		return false;
	for (uint32_t e = g->first[s]; e < g->first[s + 1]; e++) {
		uint32_t from = g->arc[e].to, in = mc_back(g, e);

		if ((arc_by(g, was, from, lid) == in || (any && arc_by(g, t, from, lid) == in)) &&
		    !pair_obeys(b, in, a))
			return false;
	}
	return true;
}

static bool switch_obeys(const struct between *b, uint32_t s)
{
	const uint8_t *was = rt_row(b->c->was, s), *now = rt_row(b->c->t, s);
	uint32_t n = b->c->t->stride;

	for (uint32_t first = 0; first < n; first += IBA_LFT_BLOCK) {
		if (!memcmp(was + first, now + first, IBA_LFT_BLOCK))
			continue;
		for (uint32_t lid = first; lid < first + IBA_LFT_BLOCK; lid++)
			if (was[lid] != now[lid] && !entry_obeys(b, s, lid))
				return false;
	}
	return true;
}

/* Then any mixture of tables and trees goes up and down as the new tables do, and no cycle closes. */
static bool mixture_obeys(const struct between *b)
{
	const struct rt_mchange *c = b->c;

	if (!c->rank || c->was->stride != c->t->stride)
		return false;
	for (uint32_t s = 0; s < b->g.n; s++)
		if (!switch_obeys(b, s))
			return false;
	for (size_t i = 0; i < c->old->n; i++) {
		memset(b->links, 0, b->g.n * sizeof(*b->links));
		branch_links(b, &c->old->at[i], b->links);
		if (!mc_updown_obeys(&b->g, c->rank, b->links))
			return false;
	}
	return true;
}

static void mixed_make(struct between *b)
{
	const struct rt_mchange *c = b->c;
	rt_turns turns = {0};

	if (!c->was || same_tables(c))
		return;
	b->cut = !c->plan || c->was->lanes || c->t->lanes;
	if (b->cut || mixture_obeys(b))
		return;
	turns_of(c, &turns);
	b->mixed = mc_order_new(&b->g, c->t, c->rank, &turns);
	vec_free(&turns);
	if (mixed_routes(b, b->mixed))
		return;
	mc_order_free(b->mixed);
	b->mixed = NULL;
	b->cut = true;
}

static void new_make(struct between *b)
{
	const struct rt_mchange *c = b->c;
	bool ok = rt_nvls(c->t) <= CHANNEL_VLS;

	for (size_t i = 0; c->rank && ok && i < c->new->n; i++) {
		memset(b->links, 0, b->g.n * sizeof(*b->links));
		branch_links(b, &c->new->at[i], b->links);
		if (!mc_updown_obeys(&b->g, c->rank, b->links))
			break;
		if (i + 1 == c->new->n)
			return;
	}
	if ((c->rank && !c->new->n) || !ok)
		return;
	b->new = mc_order_new(&b->g, c->t, c->rank, NULL);
	ok = mc_order_routes(b->new);
	for (size_t i = 0; ok && i < c->new->n; i++) {
		memset(b->links, 0, b->g.n * sizeof(*b->links));
		branch_links(b, &c->new->at[i], b->links);
		ok = mc_order_tree(b->new, b->links, c->new->at[i].sl);
	}
	if (!ok) {
		mc_order_free(b->new);
		b->new = NULL;
	}
}

/* ---- what stays ---- */

/* Masks of the old tree, or what they have in common with the new one; links none: without any to other switches. */
static void stay(const struct between *b, const struct rt_mtree *old, const struct rt_mtree *new,
		 bool common, bool no_links, struct rt_mtree *out)
{
	for (size_t i = 0; i < old->at.n; i++) {
		struct rt_branch x = old->at.at[i];
		const struct rt_ports *n = rt_mtree_at(new, x.sw);

		for (unsigned w = 0; common && w < 4; w++)
			x.ports.w[w] &= n ? n->w[w] : 0;
		for (unsigned p = rt_ports_next(&x.ports, 0); no_links && p < 256;
		     p = rt_ports_next(&x.ports, p + 1))
			if (graph_arc(&b->g, x.sw, p) != FAB_NONE)
				rt_ports_drop(&x.ports, p);
		if (!rt_ports_none(&x.ports))
			vec_push(&out->at, x);
	}
}

/* Links that packets may use, in old and not in mid. */
static void losses(const struct between *b, const struct rt_mtree *old, const struct rt_mtree *mid,
		   struct rt_mlosses *lost)
{
	const struct fab *f = b->c->f;
	bool link = false, astray = false;

	for (size_t i = 0; i < old->at.n; i++) {
		const struct rt_branch *x = &old->at.at[i];
		const struct fab_node *n = &f->nodes[f->switches[x->sw]];
		const struct rt_ports *m = rt_mtree_at(mid, x->sw);

		for (unsigned p = rt_ports_next(&x->ports, 1); p <= n->nports && p < 256;
		     p = rt_ports_next(&x->ports, p + 1)) {
			if (m && rt_ports_has(m, p))
				continue;
			link |= graph_arc(&b->g, x->sw, p) != FAB_NONE;
			astray |= b->c->astray && b->c->astray[n->first_port + p];
		}
	}
	lost->links += link;
	lost->astray += astray;
}

static void tree_between(struct between *b, const struct rt_mtree *old, rt_mtrees *mid,
			 struct rt_mlosses *lost)
{
	const struct rt_mtree *new = rt_mtree_find(b->c->new, old->mlid);
	struct rt_mtree out = {.mlid = old->mlid, .sl = new ? new->sl : old->sl};
	bool common = !together(b, old, new), fits = !b->cut;

	stay(b, old, new, common, false, &out);
	if (b->mixed) {
		memset(b->links, 0, b->g.n * sizeof(*b->links));
		branch_links(b, &out, b->links);
		fits = mc_order_tree(b->mixed, b->links, out.sl);
	}
	if (!fits) {
		out.at.n = 0;
		stay(b, old, new, common, true, &out);
	}
	vec_push(mid, out);
	losses(b, old, &mid->at[mid->n - 1], lost);
}

void rt_multicast_between(const struct rt_mchange *c, rt_mtrees *mid, struct rt_mlosses *lost)
{
	struct between b = {.c = c};

	*lost = (struct rt_mlosses){0};
	if (!c->old->n) /* nothing has to be on the way */
		return;
	graph_init(&b.g, c->f, fab_top_lid(c->f));
	b.links = mem_array(b.g.n + 1u, sizeof(*b.links));
	new_make(&b);
	mixed_make(&b);
	for (size_t i = 0; i < c->old->n; i++)
		tree_between(&b, &c->old->at[i], mid, lost);
	mc_order_free(b.new);
	mc_order_free(b.mixed);
	graph_free(&b.g);
	free(b.links);
}
