/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees: m-port n-tree, k-ary n-tree, folded Clos, star. State: struct tree, one a call. Way in:
 * fab_generate(). Does not prune trees to other sizes: the formulas hold exactly.
 */
#include "fabric/gen_priv.h"

/*
 * Both fat trees are one: a switch is <w, level> with digits w[0..n-2] of radix k, except that w[0]
 * has radix `top` below the roots. Switches of levels l and l + 1 are joined when they agree in
 * every digit but w[l]: the upper one's port is the lower one's w[l], the lower one's port is
 * k + the upper one's w[l]. In an m-port n-tree k = m/2 and top = m, as roots use all their ports
 * downwards; in a k-ary n-tree top = k. A leaf's ports 1..k go to its hosts.
 */
struct tree {
	unsigned k, n, top, ports;
	unsigned hosts;	   /* a leaf */
	node_id first[33]; /* of each level; 0 is the roots' */
};

static uint32_t tree_level_size(const struct tree *t, unsigned level)
{
	uint64_t v = gen_pow(t->k, t->n - 1);

	return (uint32_t)(level ? v / t->k * t->top : v);
}

/* Weight of digit i in a switch's index: w[n-2] counts ones. */
static uint32_t tree_weight(const struct tree *t, unsigned i)
{
	return (uint32_t)gen_pow(t->k, t->n - 2 - i);
}

static void tree_name(const struct tree *t, unsigned level, uint32_t index, char *buf, size_t size)
{
	const char *word = level + 1 == t->n ? "leaf" : level ? "mid" : "root";
	int at = snprintf(buf, size, "%s", word);

	if (t->n > 3 && level && level + 1 < t->n)
		at += snprintf(buf + at, size - (size_t)at, "%u_", level);
	for (unsigned i = 0; i + 1 < t->n && (size_t)at < size; i++) {
		uint32_t w = tree_weight(t, i), digit = index / w;

		if (i)
			digit %= t->k;
		at += snprintf(buf + at, size - (size_t)at, i ? "_%u" : "%u", digit);
	}
}

static void tree_switches(struct gen *G, struct tree *t)
{
	char name[64];

	for (unsigned level = t->n; level-- > 0;) {
		uint32_t size = tree_level_size(t, level);

		for (uint32_t i = 0; i < size; i++) {
			node_id s;

			tree_name(t, level, i, name, sizeof(name));
			s = gen_switch(G, t->ports, "%s", name);
			if (!i)
				t->first[level] = s;
		}
	}
}

/* All links between level and level + 1, from the lower side. */
static void tree_links(struct gen *G, const struct tree *t, unsigned level)
{
	uint32_t w = tree_weight(t, level), size = tree_level_size(t, level + 1);
	unsigned radix = level ? t->k : t->top;

	for (uint32_t i = 0; i < size; i++) {
		uint32_t digit = i / w % radix, rest = i - digit * w;

		for (unsigned up = 0; up < t->k; up++)
			gen_link(G, t->first[level + 1] + i, t->k + up + 1,
				 t->first[level] + rest + up * w, digit + 1);
	}
}

static struct fab *tree_make(const struct fab_gen *g, struct tree *t, unsigned room, struct err *e)
{
	uint64_t size = gen_pow(t->k, t->n - 1), leaves = t->n == 1 ? 1 : size / t->k * t->top;
	uint64_t switches = size + gen_mul(t->n - 1, size / t->k * t->top);
	struct gen G;

	t->hosts = gen_hosts_each(g, room);
	if (t->hosts > room) {
		err_set(e, -EINVAL, "%s: %u hosts a leaf asked for; a leaf has %u ports for them",
			g->kind, t->hosts, room);
		return NULL;
	}
	if (size >= UINT32_MAX)
		switches = size;
	if (gen_check_no_links(g, e) || gen_check_ports(g, 2 * (uint64_t)t->k, &t->ports, e) ||
	    gen_check_size(g, switches, t->ports, gen_mul(leaves, t->hosts), e))
		return NULL;
	gen_begin(&G, g);
	tree_switches(&G, t);
	for (uint64_t i = 0; i < leaves; i++)
		gen_hosts(&G, t->first[t->n - 1] + (node_id)i, t->hosts);
	for (unsigned level = 0; level + 1 < t->n; level++)
		tree_links(&G, t, level);
	return gen_end(&G);
}

static int check_height(const struct fab_gen *g, struct err *e)
{
	if (g->dims[1] > 20) /* more would not fit even with two-port switches */
		return err_set(e, -EINVAL, "%s: %u levels asked for, expected 1 to 20", g->kind,
			       g->dims[1]);
	return 0;
}

struct fab *gen_mtree(const struct fab_gen *g, struct err *e)
{
	unsigned m = g->dims[0];
	struct tree t = {.k = m / 2, .n = g->dims[1], .top = m};

	if (gen_check_dims(g, 2, 2, e) || check_height(g, e))
		return NULL;
	if (m % 2) {
		err_set(e, -EINVAL, "mtree: M is %u, expected an even number of ports", m);
		return NULL;
	}
	return tree_make(g, &t, t.n == 1 ? m : t.k, e);
}

struct fab *gen_kary(const struct fab_gen *g, struct err *e)
{
	struct tree t = {.k = g->dims[0], .n = g->dims[1], .top = g->dims[0]};

	if (gen_check_dims(g, 2, 2, e) || check_height(g, e))
		return NULL;
	return tree_make(g, &t, t.k, e);
}

/* ---- two levels ---- */

/* The Clos network (3, 1, 4) of the seeds has 7 switches and 4 hosts, and its switches 2, 3 and 4
 * stand for one another; so half of the edge switches come before the middle ones. */
static void clos_switches(struct gen *G, node_id *middle, node_id *edge, const unsigned ports[2])
{
	unsigned m = G->spec->dims[0], r = G->spec->dims[2];

	for (unsigned i = 0; i < r / 2; i++)
		edge[i] = gen_switch(G, ports[0], "edge%u", i);
	for (unsigned j = 0; j < m; j++)
		middle[j] = gen_switch(G, ports[1], "middle%u", j);
	for (unsigned i = r / 2; i < r; i++)
		edge[i] = gen_switch(G, ports[0], "edge%u", i);
}

struct fab *gen_clos(const struct fab_gen *g, struct err *e)
{
	unsigned m = g->dims[0], n = g->dims[1], r = g->dims[2], ports[2];
	node_id middle[GEN_MAX_PORTS], edge[GEN_MAX_PORTS];
	struct gen G;

	if (gen_check_dims(g, 3, 3, e) || gen_check_no_hosts(g, e) || gen_check_no_links(g, e) ||
	    gen_check_ports(g, (uint64_t)m + n, &ports[0], e) ||
	    gen_check_ports(g, r, &ports[1], e))
		return NULL;
	gen_begin(&G, g);
	clos_switches(&G, middle, edge, ports);
	for (unsigned i = 0; i < r; i++)
		gen_hosts(&G, edge[i], n);
	for (unsigned i = 0; i < r; i++)
		for (unsigned j = 0; j < m; j++)
			gen_link(&G, edge[i], n + j + 1, middle[j], i + 1);
	return gen_end(&G);
}

struct fab *gen_star(const struct fab_gen *g, struct err *e)
{
	unsigned n = g->dims[0], hosts = gen_hosts_each(g, 1), centre_ports, leaf_ports;
	struct gen G;
	node_id centre;

	if (gen_check_dims(g, 1, 1, e) || gen_check_no_links(g, e) ||
	    gen_check_ports(g, n, &centre_ports, e) ||
	    gen_check_ports(g, (uint64_t)hosts + 1, &leaf_ports, e))
		return NULL;
	gen_begin(&G, g);
	centre = gen_switch(&G, centre_ports, "centre");
	for (unsigned i = 0; i < n; i++)
		gen_link(&G, gen_switch(&G, leaf_ports, "leaf%u", i), hosts + 1, centre, i + 1);
	for (unsigned i = 0; i < n; i++)
		gen_hosts(&G, centre + 1 + i, hosts);
	return gen_end(&G);
}
