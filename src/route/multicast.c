/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast trees for all groups of a snapshot. State: struct mc_space, for one computation. Way in: rt_multicast(). Trees
 * that are right stay as they are and come first; the others are built one after another by MLID, each around what is left
 * of its old links. Does not know how a tree is built: multicast_updown.c and multicast_grow.c do.
 */
#include "route/multicast_priv.h"

/* Table entries up to which the order of all routes is made to keep trees over other ranks. */
enum { MOST_ENTRIES = 4000000 };

/* ---- masks and trees ---- */

unsigned rt_ports_next(const struct rt_ports *p, unsigned port)
{
	while (port < 256) {
		uint64_t left = p->w[port / 64] >> port % 64;

		if (left)
			return port + (unsigned)__builtin_ctzll(left);
		port = (port / 64 + 1) * 64;
	}
	return 256;
}

void rt_mtrees_free(rt_mtrees *t)
{
	for (size_t i = 0; i < t->n; i++)
		vec_free(&t->at[i].at);
	vec_free(t);
}

const struct rt_mtree *rt_mtree_find(const rt_mtrees *t, uint16_t mlid)
{
	size_t lo = 0, hi = t ? t->n : 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->at[mid].mlid < mlid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t && lo < t->n && t->at[lo].mlid == mlid ? &t->at[lo] : NULL;
}

const struct rt_ports *rt_mtree_at(const struct rt_mtree *t, uint32_t sw)
{
	size_t lo = 0, hi = t ? t->at.n : 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->at.at[mid].sw < sw)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t && lo < t->at.n && t->at.at[lo].sw == sw ? &t->at.at[lo].ports : NULL;
}

/* ---- one group ---- */

static void work_clear(struct mc_space *x)
{
	struct mc_work *w = &x->w;
	uint32_t n = x->g.n;

	memset(w->links, 0, n * sizeof(*w->links));
	memset(w->copies, 0, n * sizeof(*w->copies));
	memset(w->terminal, 0, n * sizeof(*w->terminal));
	w->n = 0;
}

/* The switch of a member, and the port of it that leads there; FAB_NONE: it has none. */
static uint32_t member_switch(const struct fab *f, port_id p, unsigned *port)
{
	const struct fab_port *x = &f->ports[p];

	*port = 0;
	if (fab_is_switch(f, x->node))
		return x->num ? FAB_NONE : f->switch_index[x->node];
	if (x->peer == FAB_NONE)
		return FAB_NONE;
	*port = f->ports[x->peer].num;
	return f->switch_index[f->ports[x->peer].node];
}

/* False: a member has no switch, or that one has no room. */
static bool members_place(struct mc_space *x, const struct rt_group *gr)
{
	struct mc_work *w = &x->w;
	bool all = true;

	for (uint32_t i = 0; i < gr->nmembers; i++) {
		unsigned port;
		uint32_t sw = member_switch(x->m->f, gr->members[i].port, &port);

		if (sw == FAB_NONE || !mc_room(x, sw, gr->mlid)) {
			all = false;
			continue;
		}
		w->terminal[sw] = true;
		if (gr->members[i].receives)
			rt_ports_add(&w->copies[sw], port);
	}
	for (uint32_t s = 0; s < x->g.n; s++)
		if (w->terminal[s])
			w->list[w->n++] = s;
	return all;
}

/* The links of an old tree that are there at both ends. */
static void links_of(const struct mc_space *x, const struct rt_mtree *t, struct rt_ports *links)
{
	for (size_t i = 0; i < t->at.n; i++) {
		const struct rt_branch *b = &t->at.at[i];

		for (unsigned p = rt_ports_next(&b->ports, 0); p < 256;
		     p = rt_ports_next(&b->ports, p + 1)) {
			uint32_t a = graph_arc(&x->g, b->sw, p);

			if (a != FAB_NONE)
				rt_ports_add(&links[b->sw], p);
		}
	}
}

/* Whether all links have both ends, connect all terminals, leave no other end, and have no cycle. */
static bool is_tree(struct mc_space *x)
{
	struct mc_work *w = &x->w;
	uint32_t nodes = 0, ends = 0, n = 1;

	memset(w->in, 0, x->g.n * sizeof(*w->in));
	w->in[w->list[0]] = true;
	w->queue[0] = w->list[0];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = w->queue[i], degree = 0;

		for (unsigned p = rt_ports_next(&w->links[s], 0); p < 256;
		     p = rt_ports_next(&w->links[s], p + 1)) {
			uint32_t a = graph_arc(&x->g, s, p), to = x->g.arc[a].to;

			degree++;
			if (!rt_ports_has(&w->links[to], mc_back_port(&x->g, a)))
				return false;
			if (!w->in[to]) {
				w->in[to] = true;
				w->queue[n++] = to;
			}
		}
		if (degree < 2 && !w->terminal[s])
			return false;
		nodes++;
		ends += degree;
	}
	for (uint32_t s = 0; s < x->g.n; s++)
		if (!w->in[s] && (w->terminal[s] || !rt_ports_none(&w->links[s])))
			return false;
	return ends == 2 * (nodes - 1);
}

/* Links count, and the top of a tree over ranks: the switch without a link up. by: 1, or -1 for a tree that goes. */
static void tree_count(struct mc_space *x, int by)
{
	const uint64_t *rank = x->m->rank;

	for (uint32_t s = 0; s < x->g.n; s++) {
		bool top = !rt_ports_none(&x->w.links[s]);

		for (unsigned p = rt_ports_next(&x->w.links[s], 0); p < 256;
		     p = rt_ports_next(&x->w.links[s], p + 1)) {
			uint32_t a = graph_arc(&x->g, s, p);

			x->load[a] += (uint32_t)by;
			top &= !rank || rank[x->g.arc[a].to] > rank[s];
		}
		if (top && rank)
			x->tops[s] += (uint32_t)by;
	}
}

static void tree_emit(struct mc_space *x, const struct rt_group *gr, struct rt_mtree *out)
{
	out->mlid = gr->mlid;
	out->sl = gr->sl;
	for (uint32_t s = 0; s < x->g.n; s++) {
		struct rt_ports p = x->w.links[s];

		for (unsigned i = 0; i < 4; i++)
			p.w[i] |= x->w.copies[s].w[i];
		if (!rt_ports_none(&p))
			vec_push(&out->at, (struct rt_branch){s, p});
	}
}

/* ---- the order of channels, where ranks do not suffice ---- */

/* For each SL of groups that have no tree yet; false: for one of them none fits. */
static bool bases_make(struct mc_space *x, const bool *done)
{
	unsigned sls = 0;
	bool ok = true;

	for (uint32_t i = 0; i < x->m->ngroups; i++)
		if (!done[i])
			sls |= 1u << x->m->groups[i].sl % RT_SLS;
	for (unsigned sl = 0; sl < RT_SLS; sl++) {
		if (!(sls >> sl & 1))
			continue;
		work_clear(x);
		ok &= mc_order_base(x, sl);
	}
	return ok;
}

/* None where routes have a cycle themselves, or more VLs than an order takes. */
static void order_make(struct mc_space *x)
{
	if (rt_nvls(x->m->t) > CHANNEL_VLS)
		return;
	x->order = mc_order_new(&x->g, x->m->t, x->m->rank, NULL);
	if (mc_order_routes(x->order))
		return;
	mc_order_free(x->order);
	x->order = NULL;
}

/* ---- all groups ---- */

/* Its old tree serves as it is: w.links is it. */
static bool old_serves(struct mc_space *x, const struct rt_mtree *old, const struct rt_group *gr)
{
	bool room = true;

	if (!x->w.n)
		return true;
	if (!old || (!x->order && !x->m->rank))
		return false;
	links_of(x, old, x->w.links);
	for (uint32_t s = 0; s < x->g.n; s++)
		room &= rt_ports_none(&x->w.links[s]) || mc_room(x, s, gr->mlid);
	if (room && is_tree(x) &&
	    (x->order ? mc_order_tree(x->order, x->w.links, gr->sl)
		      : mc_updown_obeys(&x->g, x->m->rank, x->w.links)))
		return true;
	memset(x->w.links, 0, x->g.n * sizeof(*x->w.links));
	return false;
}

static bool build(struct mc_space *x, const struct rt_group *gr, const struct rt_mtree *old)
{
	if (x->m->rank && mc_updown_tree(x, gr, old) &&
	    (!x->order || mc_order_tree(x->order, x->w.links, gr->sl)))
		return true;
	memset(x->w.links, 0, x->g.n * sizeof(*x->w.links));
	return x->order && mc_order_grow(x, gr, old);
}

static bool group_run(struct mc_space *x, uint32_t i, bool keep, rt_mtrees *out, bool *done)
{
	const struct rt_group *gr = &x->m->groups[i];
	const struct rt_mtree *old = rt_mtree_find(x->m->old, gr->mlid);
	bool all;

	work_clear(x);
	all = members_place(x, gr);
	if (keep ? !old_serves(x, old, gr) : x->w.n > 1 && !build(x, gr, old)) {
		if (keep)
			return false;
		/* Members at one switch get each other's packets. */
		memset(x->w.links, 0, x->g.n * sizeof(*x->w.links));
		all = false;
	}
	tree_emit(x, gr, &out->at[i]);
	out->at[i].partial = !all;
	tree_count(x, 1);
	done[i] = true;
	return true;
}

static void space_init(struct mc_space *x, const struct rt_multicast *m)
{
	uint32_t n = m->f->nswitches + 1;

	*x = (struct mc_space){.m = m, .without = UINT32_MAX};
	graph_init(&x->g, m->f, fab_top_lid(m->f));
	x->words = (n + 63) / 64;
	x->above = m->rank ? mem_zarray((size_t)n * x->words, sizeof(*x->above)) : NULL;
	x->load = mem_zarray((size_t)x->g.narcs + 1, sizeof(*x->load));
	x->tops = mem_zarray(n, sizeof(*x->tops));
	x->w.links = mem_zarray(n, sizeof(*x->w.links));
	x->w.copies = mem_zarray(n, sizeof(*x->w.copies));
	x->w.terminal = mem_zarray(n, sizeof(*x->w.terminal));
	x->w.list = mem_zarray(2 * (size_t)n, sizeof(*x->w.list));
	x->w.up = mem_zarray(n, sizeof(*x->w.up));
	x->w.via = mem_zarray(n, sizeof(*x->w.via));
	x->w.queue = mem_zarray(n, sizeof(*x->w.queue));
	x->w.parent = mem_zarray(n, sizeof(*x->w.parent));
	x->w.in = mem_zarray(n, sizeof(*x->w.in));
}

void rt_mspace_free(struct mc_space *x)
{
	if (!x)
		return;
	mc_order_free(x->order);
	graph_free(&x->g);
	for (unsigned sl = 0; sl < RT_SLS; sl++)
		free(x->base[sl]);
	free(x->above);
	free(x->load);
	free(x->tops);
	free(x->w.links);
	free(x->w.copies);
	free(x->w.terminal);
	free(x->w.list);
	free(x->w.up);
	free(x->w.via);
	free(x->w.queue);
	free(x->w.parent);
	free(x->w.in);
	free(x);
}

/* The space of the last computation, without the trees that may become others; or a new one. */
static struct mc_space *space_open(const struct rt_multicast *m)
{
	struct mc_space *x = m->space ? *m->space : NULL;

	if (!x) {
		x = mem_zalloc(sizeof(*x));
		space_init(x, m);
		return x;
	}
	*m->space = NULL;
	x->m = m;
	for (size_t i = 0; i < m->old->n; i++) {
		work_clear(x);
		links_of(x, &m->old->at[i], x->w.links);
		tree_count(x, -1);
	}
	return x;
}

/* An order of channels has dependencies of one computation. */
static void space_close(const struct rt_multicast *m, struct mc_space *x)
{
	if (m->space && !x->order && m->rank) {
		x->m = NULL;
		*m->space = x;
	} else {
		rt_mspace_free(x);
	}
}

/* An old tree that serves as it is, over other ranks: a manager that restarts may have others than the one before. */
static bool is_over_others(struct mc_space *x, const struct rt_group *gr)
{
	const struct rt_mtree *old = rt_mtree_find(x->m->old, gr->mlid);

	if (!old || (uint64_t)x->g.n * x->m->t->top_lid > MOST_ENTRIES)
		return false;
	links_of(x, old, x->w.links);
	return !mc_updown_obeys(&x->g, x->m->rank, x->w.links) && is_tree(x);
}

/*
 * Whether a group has no switch above all its members, or a tree over other ranks: such trees are grown or kept inside an
 * order, and then all must be in it.
 */
static bool needs_order(struct mc_space *x)
{
	bool obey = x->m->rank != NULL;

	for (uint32_t i = 0; obey && i < x->m->ngroups; i++) {
		work_clear(x);
		members_place(x, &x->m->groups[i]);
		obey = x->w.n < 2 || (mc_updown_has_top(x, x->m->groups[i].mlid) &&
				      !is_over_others(x, &x->m->groups[i]));
	}
	return !obey;
}

static void trees_clear(const struct rt_multicast *m, rt_mtrees *out)
{
	for (size_t i = 0; i < out->n; i++)
		vec_free(&out->at[i].at);
	vec_room(out, m->ngroups);
	if (m->ngroups)
		memset(out->at, 0, m->ngroups * sizeof(*out->at));
	out->n = m->ngroups;
}

/*
 * Old trees that serve stay, the others are built. Where an order is needed, a spanning tree is the last resort: it has its place
 * behind the old trees, or before them if none is left there. False: none was left.
 */
static bool all_groups(const struct rt_multicast *m, bool base_first, rt_mtrees *out)
{
	bool *done = mem_zarray(m->ngroups + 1u, sizeof(*done)), ok = true;
	struct mc_space *x = space_open(m);

	trees_clear(m, out);
	if (m->ngroups && needs_order(x))
		order_make(x);
	if (x->order && base_first)
		bases_make(x, done);
	for (uint32_t i = 0; i < m->ngroups; i++)
		group_run(x, i, true, out, done);
	if (x->order && !base_first)
		ok = bases_make(x, done);
	for (uint32_t i = 0; ok && i < m->ngroups; i++)
		if (!done[i])
			group_run(x, i, false, out, done);
	space_close(m, x);
	free(done);
	return ok;
}

uint32_t rt_multicast(const struct rt_multicast *m, rt_mtrees *out)
{
	uint32_t partial = 0;

	if (!all_groups(m, false, out))
		all_groups(m, true, out);
	for (uint32_t i = 0; i < m->ngroups; i++)
		partial += out->at[i].partial;
	return partial;
}

unsigned rt_multicast_sls(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	struct rt_multicast m = {.f = f, .t = t, .rank = rank};
	unsigned sls = 0;
	struct mc_space *x;
	bool ordered;

	if ((rank && !t->lanes) || f->nswitches < 2)
		return 0xffff;
	x = space_open(&m);
	x->order = mc_order_new(&x->g, t, rank, NULL);
	ordered = rt_nvls(t) <= CHANNEL_VLS && mc_order_routes(x->order);
	for (unsigned sl = 0; ordered && sl < (t->lanes ? RT_SLS : 1u); sl++) {
		work_clear(x);
		sls |= mc_order_has_base(x, sl) ? 1u << sl : 0;
	}
	if (!t->lanes)
		sls = sls ? 0xffff : 0;
	rt_mspace_free(x);
	return sls;
}
