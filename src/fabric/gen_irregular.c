/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Irregular networks: a random spanning tree, random further links, hosts on what is left. State:
 * struct irr, one a call, with the links as a list until all are drawn. Draws only from the seed.
 */
#include "base/rng.h"
#include "fabric/gen_priv.h"

enum { STREAM = 0x746f706f };

struct irr {
	struct rng rng;
	unsigned n, ports;
	uint32_t want;	     /* links between switches */
	bool must;	     /* want was asked for by number: double links rather than fewer */
	unsigned *hosts;     /* a switch */
	unsigned *room;	     /* ports still free for links between switches */
	unsigned *deg;	     /* links drawn so far */
	uint32_t *adj;	     /* n rows of `ports` neighbours */
	VEC(uint64_t) links; /* lower end << 32 | other end */
};

static bool irr_joined(const struct irr *s, uint32_t a, uint32_t b)
{
	for (unsigned i = 0; i < s->deg[a]; i++)
		if (s->adj[a * s->ports + i] == b)
			return true;
	return false;
}

static void irr_join(struct irr *s, uint32_t a, uint32_t b)
{
	s->adj[a * s->ports + s->deg[a]++] = b;
	s->adj[b * s->ports + s->deg[b]++] = a;
	s->room[a]--;
	s->room[b]--;
	vec_push(&s->links, (uint64_t)MIN(a, b) << 32 | MAX(a, b));
}

static void irr_forget(struct irr *s, uint32_t a, uint32_t b)
{
	uint32_t *row = s->adj + a * s->ports;

	for (unsigned i = 0; i < s->deg[a]; i++) {
		if (row[i] == b) {
			row[i] = row[--s->deg[a]];
			s->room[a]++;
			return;
		}
	}
}

static void shuffle(struct rng *r, uint32_t *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = rng_below(r, i), t = v[j];

		v[j] = v[i - 1];
		v[i - 1] = t;
	}
}

/* Every switch joins a random earlier one that has room. Switches with room for one link only come
 * last, so that the tree cannot close itself off: each of the others adds at least as much room as
 * it takes. */
static void irr_tree(struct irr *s)
{
	uint32_t *order = mem_array(s->n, sizeof(*order)), *open = mem_array(s->n, sizeof(*open));
	uint32_t nopen = 0, at = 0;

	for (uint32_t i = 0; i < s->n; i++)
		open[i] = i;
	shuffle(&s->rng, open, s->n);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < s->n; i++)
			if ((s->room[open[i]] < 2) == pass)
				order[at++] = open[i];
	for (uint32_t i = 0; i < s->n; i++) {
		if (i) {
			uint32_t j = rng_below(&s->rng, nopen), to = open[j];

			irr_join(s, order[i], to);
			if (!s->room[to])
				open[j] = open[--nopen];
		}
		if (s->room[order[i]])
			open[nopen++] = order[i];
	}
	free(order);
	free(open);
}

/* A random switch of open[] that a may be joined to, FAB_NONE when there is none. */
static uint32_t irr_partner(struct irr *s, uint32_t a, const uint32_t *open, uint32_t nopen,
			    uint32_t *scratch)
{
	uint32_t n = 0;

	for (int i = 0; i < 16; i++) { /* usually the first try does */
		uint32_t b = open[rng_below(&s->rng, nopen)];

		if (b != a && !irr_joined(s, a, b))
			return b;
	}
	for (uint32_t i = 0; i < nopen; i++)
		if (open[i] != a && !irr_joined(s, a, open[i]))
			scratch[n++] = open[i];
	return n ? scratch[rng_below(&s->rng, n)] : FAB_NONE;
}

static uint32_t drop(uint32_t *v, uint32_t n, uint32_t x)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == x)
			v[i] = v[--n];
	return n;
}

/* Random pairs until enough are joined or no two switches with room are still apart. */
static void irr_pairs(struct irr *s)
{
	uint32_t *open = mem_array(s->n, sizeof(*open)), *scratch = mem_array(s->n, sizeof(*open));
	uint32_t nopen = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->room[i])
			open[nopen++] = i;
	while (nopen > 1 && s->links.n < s->want) {
		uint32_t a = open[rng_below(&s->rng, nopen)];
		uint32_t b = irr_partner(s, a, open, nopen, scratch);

		if (b == FAB_NONE) {
			nopen = drop(open, nopen, a);
			continue;
		}
		irr_join(s, a, b);
		if (!s->room[a])
			nopen = drop(open, nopen, a);
		if (!s->room[b])
			nopen = drop(open, nopen, b);
	}
	free(open);
	free(scratch);
}

/* a and b have room but are joined already, or are the same switch with room for two: take a link
 * u-v away and join a-u and b-v. That is one link more, and u and v stay connected through a and b.
 */
static bool irr_swap(struct irr *s, uint32_t a, uint32_t b, bool doubles)
{
	uint32_t n = (uint32_t)s->links.n, from = rng_below(&s->rng, n);

	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t at = (from + i / 2) % n;
		uint32_t x = (uint32_t)(s->links.at[at] >> 32), y = (uint32_t)s->links.at[at];
		uint32_t u = i % 2 ? y : x, v = i % 2 ? x : y;

		if (u == a || u == b || v == a || v == b)
			continue;
		if (!doubles && (irr_joined(s, a, u) || irr_joined(s, b, v)))
			continue;
		s->links.at[at] = s->links.at[--s->links.n];
		irr_forget(s, u, v);
		irr_forget(s, v, u);
		irr_join(s, a, u);
		irr_join(s, b, v);
		return true;
	}
	return false;
}

/* The first two places with room; the same switch twice when it alone has room for two. */
static bool irr_left_over(const struct irr *s, uint32_t pair[2])
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n && n < 2; i++)
		if (s->room[i])
			pair[n++] = i;
	if (n == 1 && s->room[pair[0]] > 1)
		pair[n++] = pair[0];
	return n == 2;
}

static void irr_more(struct irr *s)
{
	uint32_t p[2];

	while (s->links.n < s->want && irr_left_over(s, p)) {
		bool apart = p[0] != p[1] && !irr_joined(s, p[0], p[1]);

		if (!apart && irr_swap(s, p[0], p[1], false))
			continue;
		if (!apart && !s->must)
			return;
		if (p[0] != p[1])
			irr_join(s, p[0], p[1]);
		else if (!irr_swap(s, p[0], p[1], true))
			return;
	}
}

/* ---- what to draw ---- */

static int irr_check(const struct fab_gen *g, unsigned n, uint64_t ports, struct err *e)
{
	uint64_t all = n * ports, links = MAX(g->links, n - 1);

	if (g->links && g->links < n - 1)
		return err_set(e, -EINVAL,
			       "irregular: %u links cannot connect %u switches; %u are needed",
			       g->links, n, n - 1);
	if (n == 1 && g->links)
		return err_set(e, -EINVAL, "irregular: one switch has nothing to be linked with");
	if (2 * links > all)
		return err_set(
			e, -EINVAL,
			"irregular: %llu links between switches need %llu ports; %u switches "
			"of %llu ports have %llu",
			(unsigned long long)links, (unsigned long long)(2 * links), n,
			(unsigned long long)ports, (unsigned long long)all);
	if (g->has_hosts && g->hosts + 2 * links > all)
		return err_set(
			e, -EINVAL,
			"irregular: %u hosts do not fit: of %llu ports the %llu links between "
			"switches take %llu and leave %llu",
			g->hosts, (unsigned long long)all, (unsigned long long)links,
			(unsigned long long)(2 * links), (unsigned long long)(all - 2 * links));
	return 0;
}

/* Spread the hosts evenly over the first n switches and keep their ports; which get one more is drawn. */
static void irr_spread(struct irr *s, unsigned hosts, uint32_t n)
{
	uint32_t *order = mem_array(n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (hosts % n)
		shuffle(&s->rng, order, n);
	for (uint32_t i = 0; i < n; i++)
		s->hosts[order[i]] = hosts / n + (i < hosts % n);
	free(order);
}

static int irr_check_leaves(const struct fab_gen *g, unsigned n, unsigned ports, struct err *e)
{
	uint64_t hosts = (uint64_t)g->leaves * g->leaf_hosts;

	if (g->leaf_hosts && !g->leaves)
		return err_set(e, -EINVAL, "irregular: --leaf-hosts needs --leaves");
	if (!g->leaves)
		return 0;
	if (g->leaves + 2 > n)
		return err_set(e, -EINVAL,
			       "irregular: %u leaves of %u switches; expected at most %u",
			       g->leaves, n, n > 2 ? n - 2 : 0);
	if (g->leaf_hosts >= ports)
		return err_set(e, -EINVAL,
			       "irregular: a leaf of %u ports has one link and room for %u hosts, "
			       "not %u",
			       ports, ports - 1, g->leaf_hosts);
	if (!g->has_hosts || hosts > g->hosts)
		return err_set(e, -EINVAL,
			       "irregular: leaves have %llu hosts; expected --hosts with at least "
			       "as many",
			       (unsigned long long)hosts);
	return 0;
}

static void irr_plan(struct irr *s, const struct fab_gen *g)
{
	uint64_t all = (uint64_t)s->n * s->ports, links = g->links ? g->links : s->n - 1, left = 0;

	uint32_t inner = s->n - g->leaves;

	if (g->has_hosts)
		irr_spread(s, g->hosts - g->leaves * g->leaf_hosts, inner);
	else if (!g->links)
		irr_spread(s, (unsigned)MIN(s->n, all - 2 * links), s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		s->hosts[i] = i < inner ? s->hosts[i] : g->leaf_hosts;
		left += s->room[i] = i < inner ? s->ports - s->hosts[i] : 1;
	}
	s->must = g->links > 0;
	s->want = g->links;
	if (!s->must)
		s->want = (uint32_t)MIN(left / 2, (uint64_t)s->n * (s->n - 1) / 2);
}

static struct fab *irr_build(struct irr *s, const struct fab_gen *g)
{
	bool where_free = g->links && !g->has_hosts;
	unsigned *next = mem_array(s->n, sizeof(*next));
	struct gen G;

	gen_begin(&G, g);
	for (uint32_t i = 0; i < s->n; i++)
		gen_switch(&G, s->ports, "switch %u", i);
	for (uint32_t i = 0; i < s->n; i++) {
		unsigned hosts = where_free ? s->room[i] > 0 : s->hosts[i];

		gen_hosts(&G, i, hosts);
		next[i] = hosts + 1;
	}
	for (size_t i = 0; i < s->links.n; i++) {
		uint32_t a = (uint32_t)(s->links.at[i] >> 32), b = (uint32_t)s->links.at[i];

		gen_link(&G, a, next[a], b, next[b]);
		next[a]++;
		next[b]++;
	}
	free(next);
	return gen_end(&G);
}

static void irr_free(struct irr *s)
{
	free(s->hosts);
	free(s->room);
	free(s->deg);
	free(s->adj);
	vec_free(&s->links);
}

struct fab *gen_irregular(const struct fab_gen *g, struct err *e)
{
	struct irr s = {.n = g->dims[0], .ports = g->ports ? g->ports : 4};
	struct fab *f;

	if (gen_check_dims(g, 1, 1, e) || gen_check_ports(g, 1, &(unsigned){0}, e) ||
	    irr_check(g, s.n, s.ports, e) || irr_check_leaves(g, s.n, s.ports, e) ||
	    gen_check_size(g, s.n, s.ports, g->has_hosts ? g->hosts : s.n, e))
		return NULL;
	rng_seed(&s.rng, g->seed, STREAM);
	s.hosts = mem_zarray(s.n, sizeof(*s.hosts));
	s.room = mem_zarray(s.n, sizeof(*s.room));
	s.deg = mem_zarray(s.n, sizeof(*s.deg));
	s.adj = mem_array((size_t)s.n * s.ports, sizeof(*s.adj));
	irr_plan(&s, g);
	irr_tree(&s);
	irr_pairs(&s);
	irr_more(&s);
	f = irr_build(&s, g);
	irr_free(&s);
	return f;
}
