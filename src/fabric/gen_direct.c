/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct networks, where every switch bears hosts: mesh, torus, hypercube, ring, full mesh,
 * dragonfly. State: struct grid, one a call. Way in: fab_generate(). Hosts are on the lowest ports.
 */
#include "fabric/gen_priv.h"

/* Ports after the hosts': 2d + 1 leads to the next lower coordinate of dimension d, 2d + 2 to the
 * next higher. At the border of a mesh they stay free, as does one of the two in a size of 2. */
struct grid {
	unsigned ndims, size[GEN_MAX_PORTS];
	unsigned hosts, ports, count;
	bool wrap, cube; /* cube: one port a dimension, names without separators */
};

static void grid_name(const struct grid *s, unsigned i, char *buf, size_t size)
{
	int at = snprintf(buf, size, "sw");

	for (unsigned d = 0, w = s->count; d < s->ndims && (size_t)at < size; d++) {
		w /= s->size[d];
		at += snprintf(buf + at, size - (size_t)at, d && !s->cube ? "_%u" : "%u",
			       i / w % s->size[d]);
	}
}

static void grid_links(struct gen *G, const struct grid *s, unsigned d, unsigned weight)
{
	unsigned size = s->size[d], low = s->hosts + (s->cube ? d + 1 : 2 * d + 1);
	unsigned high = s->cube ? low : low + 1;

	for (unsigned i = 0; i < s->count; i++) {
		unsigned x = i / weight % size;

		if (x + 1 < size)
			gen_link(G, i, high, i + weight, low);
		else if (s->wrap && size > 2)
			gen_link(G, i, high, i - x * weight, low);
	}
}

static struct fab *grid_make(const struct fab_gen *g, struct grid *s, struct err *e)
{
	uint64_t count = 1;
	struct gen G;
	char name[64];

	s->hosts = gen_hosts_each(g, 1);
	for (unsigned d = 0; d < s->ndims; d++)
		count = gen_mul(count, s->size[d]);
	if (gen_check_no_links(g, e) ||
	    gen_check_ports(g, s->hosts + (s->cube ? 1ull : 2ull) * s->ndims, &s->ports, e) ||
	    gen_check_size(g, count, s->ports, gen_mul(count, s->hosts), e))
		return NULL;
	s->count = (unsigned)count;
	gen_begin(&G, g);
	for (unsigned i = 0; i < s->count; i++) {
		grid_name(s, i, name, sizeof(name));
		gen_switch(&G, s->ports, "%s", name);
	}
	for (unsigned i = 0; i < s->count; i++)
		gen_hosts(&G, i, s->hosts);
	for (unsigned d = 0, weight = s->count; d < s->ndims; d++) {
		weight /= s->size[d];
		grid_links(&G, s, d, weight);
	}
	return gen_end(&G);
}

static struct fab *grid_from_dims(const struct fab_gen *g, bool wrap, unsigned max, struct err *e)
{
	struct grid s = {.ndims = g->ndims, .wrap = wrap};

	if (gen_check_dims(g, 1, max, e))
		return NULL;
	memcpy(s.size, g->dims, g->ndims * sizeof(g->dims[0]));
	return grid_make(g, &s, e);
}

struct fab *gen_mesh(const struct fab_gen *g, struct err *e)
{
	return grid_from_dims(g, false, ARRAY_LEN(g->dims), e);
}

struct fab *gen_torus(const struct fab_gen *g, struct err *e)
{
	return grid_from_dims(g, true, ARRAY_LEN(g->dims), e);
}

struct fab *gen_ring(const struct fab_gen *g, struct err *e)
{
	return grid_from_dims(g, true, 1, e);
}

struct fab *gen_hypercube(const struct fab_gen *g, struct err *e)
{
	struct grid s = {.ndims = g->dims[0], .cube = true};

	if (gen_check_dims(g, 1, 1, e))
		return NULL;
	if (s.ndims > 20) {
		err_set(e, -EINVAL, "hypercube: %u dimensions asked for, expected 1 to 20",
			s.ndims);
		return NULL;
	}
	for (unsigned d = 0; d < s.ndims; d++)
		s.size[d] = 2;
	return grid_make(g, &s, e);
}

struct fab *gen_fullmesh(const struct fab_gen *g, struct err *e)
{
	unsigned n = g->dims[0], hosts = gen_hosts_each(g, 1), ports;
	struct gen G;

	if (gen_check_dims(g, 1, 1, e) || gen_check_no_links(g, e) ||
	    gen_check_ports(g, (uint64_t)hosts + n - 1, &ports, e))
		return NULL;
	gen_begin(&G, g);
	for (unsigned i = 0; i < n; i++)
		gen_switch(&G, ports, "sw%u", i);
	for (unsigned i = 0; i < n; i++)
		gen_hosts(&G, i, hosts);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i + 1; j < n; j++)
			gen_link(&G, i, hosts + j, j, hosts + i + 1);
	return gen_end(&G);
}

/* ---- dragonfly ---- */

struct dragonfly {
	unsigned p, a, h, groups, ports;
};

static void dragonfly_local(struct gen *G, const struct dragonfly *s, unsigned group)
{
	node_id first = group * s->a;

	for (unsigned i = 0; i < s->a; i++)
		for (unsigned j = i + 1; j < s->a; j++)
			gen_link(G, first + i, s->p + j, first + j, s->p + i + 1);
}

/* A group's global ports are numbered q = 0 .. a*h-1 over its switches. Port q = t * (G-1) + d - 1
 * leads d groups on, to that group's port of the same round t that leads G - d groups on. Ports
 * that do not fill a round stay free. */
static void dragonfly_global(struct gen *G, const struct dragonfly *s)
{
	unsigned n = s->groups, rounds = n > 1 ? s->a * s->h / (n - 1) : 0;

	for (unsigned from = 0; from < n; from++) {
		for (unsigned q = 0; q < rounds * (n - 1); q++) {
			unsigned t = q / (n - 1), d = q % (n - 1) + 1;
			unsigned to = (from + d) % n, r = t * (n - 1) + (n - d) - 1;
			unsigned first = s->p + s->a; /* the first global port's number */

			if (from < to)
				gen_link(G, from * s->a + q / s->h, first + q % s->h,
					 to * s->a + r / s->h, first + r % s->h);
		}
	}
}

static int dragonfly_check(const struct fab_gen *g, struct dragonfly *s, struct err *e)
{
	uint64_t most, switches;

	if (gen_check_dims(g, 3, 4, e) || gen_check_no_hosts(g, e) || gen_check_no_links(g, e) ||
	    gen_check_ports(g, (uint64_t)g->dims[0] + g->dims[1] - 1 + g->dims[2], &s->ports, e))
		return -EINVAL;
	s->p = g->dims[0];
	s->a = g->dims[1];
	s->h = g->dims[2];
	most = (uint64_t)s->a * s->h + 1;
	if (g->ndims == 4 && g->dims[3] > most)
		return err_set(e, -EINVAL,
			       "dragonfly: %u groups asked for; %u switches with %u global links "
			       "reach at most %llu",
			       g->dims[3], s->a, s->h, (unsigned long long)most);
	s->groups = g->ndims == 4 ? g->dims[3] : (unsigned)most;
	switches = gen_mul(s->groups, s->a);
	return gen_check_size(g, switches, s->ports, gen_mul(switches, s->p), e);
}

struct fab *gen_dragonfly(const struct fab_gen *g, struct err *e)
{
	struct dragonfly s;
	struct gen G;

	if (dragonfly_check(g, &s, e))
		return NULL;
	gen_begin(&G, g);
	for (unsigned i = 0; i < s.groups * s.a; i++)
		gen_switch(&G, s.ports, "g%u_%u", i / s.a, i % s.a);
	for (unsigned i = 0; i < s.groups * s.a; i++)
		gen_hosts(&G, i, s.p);
	for (unsigned i = 0; i < s.groups; i++)
		dragonfly_local(&G, &s, i);
	dragonfly_global(&G, &s);
	return gen_end(&G);
}
