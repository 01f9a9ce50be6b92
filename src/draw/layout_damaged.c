/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tori and hypercubes with a few faults: all switches have equally many neighbours, except beside cables that are cut or
 * a switch that is gone. With these put back, the shape must be that of a grid exactly. State: struct mend, for one
 * call. Way in: lay_damaged_grid(). Does not look at meshes, whose switches differ anyway.
 */
#include "draw/layout_priv.h"

enum {
	MOST_CABLES = 8, /* put back */
	MOST_NEIGHBOURS = 32,
};

struct cable {
	uint32_t a, b;
};

struct mend {
	struct lay_part *p;
	uint32_t usual; /* neighbours of a switch */
	uint32_t *lack; /* how many fewer a switch has */
	uint32_t all;	/* of all together */
	VEC(struct cable) cables;
};

/* The number of neighbours that most switches have; false when they differ too much. */
static bool find_lacks(struct mend *m)
{
	const struct lay_part *p = m->p;

	for (uint32_t s = 0; s < p->n; s++)
		m->usual = MAX(m->usual, lay_degree(p, s));
	for (uint32_t s = 0; s < p->n; s++) {
		m->lack[s] = m->usual - lay_degree(p, s);
		m->all += m->lack[s];
	}
	return m->all && (m->all <= 2 * MOST_CABLES || m->all == m->usual) &&
	       m->all * 3 <= p->n * m->usual;
}

static bool joined(const struct mend *m, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < m->cables.n; i++)
		if ((m->cables.at[i].a == a && m->cables.at[i].b == b) ||
		    (m->cables.at[i].a == b && m->cables.at[i].b == a))
			return true;
	return lay_adjacent(m->p, a, b);
}

/* Neighbours of s, with those by cables that were put back; at most 32. */
static uint32_t neighbours(const struct mend *m, uint32_t s, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t k = m->p->first[s]; k < m->p->first[s + 1] && n < MOST_NEIGHBOURS; k++)
		list[n++] = m->p->adj[k];
	for (size_t i = 0; i < m->cables.n && n < MOST_NEIGHBOURS; i++)
		if (m->cables.at[i].a == s || m->cables.at[i].b == s)
			list[n++] = m->cables.at[i].a == s ? m->cables.at[i].b : m->cables.at[i].a;
	return n;
}

/* The number of squares that a cable between a and b would close, of those that share no other cable: in a grid all
 * are such, and switches farther apart have few. */
static uint32_t squares(const struct mend *m, uint32_t a, uint32_t b)
{
	uint32_t by_a[MOST_NEIGHBOURS], by_b[MOST_NEIGHBOURS], n = 0;
	uint32_t na = neighbours(m, a, by_a), nb = neighbours(m, b, by_b);

	for (uint32_t i = 0; i < na; i++) {
		uint32_t partner = 0, partners = 0, back = 0;

		for (uint32_t j = 0; j < nb; j++)
			if (by_a[i] != by_b[j] && joined(m, by_a[i], by_b[j])) {
				partner = by_b[j];
				partners++;
			}
		for (uint32_t j = 0; j < na && partners == 1; j++)
			back += by_a[j] != partner && joined(m, by_a[j], partner);
		n += partners == 1 && back == 1;
	}
	return n;
}

/* The cable that closes most squares, again and again until no switch lacks one. */
static bool choose_cables(struct mend *m)
{
	uint32_t short_of[2 * MOST_CABLES], n = 0;

	if (m->all > 2 * MOST_CABLES || m->usual > MOST_NEIGHBOURS)
		return false;
	for (uint32_t s = 0; s < m->p->n; s++)
		if (m->lack[s])
			short_of[n++] = s;
	for (uint32_t left = m->all; left; left -= 2) {
		struct cable best = {FAB_NONE, FAB_NONE};
		uint32_t most = 0;

		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = i + 1; j < n; j++) {
				uint32_t a = short_of[i], b = short_of[j];
				uint32_t k = m->lack[a] && m->lack[b] && !joined(m, a, b)
						     ? squares(m, a, b)
						     : 0;

				if (k > most) {
					most = k;
					best = (struct cable){a, b};
				}
			}
		if (!most || left < 2)
			return false;
		vec_push(&m->cables, best);
		m->lack[best.a]--;
		m->lack[best.b]--;
	}
	return true;
}

/* A switch with the number n, and a cable to each that lacks one. */
static bool choose_switch(struct mend *m)
{
	const struct lay_part *p = m->p;

	m->cables.n = 0;
	for (uint32_t s = 0; s < p->n; s++)
		if (m->usual > lay_degree(p, s))
			vec_push(&m->cables, (struct cable){s, p->n});
	return m->all == m->usual && m->cables.n == m->usual;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Neighbours with the cables put back. */
static void connect(const struct mend *m, uint32_t n, uint32_t *first, uint32_t *adj)
{
	const struct lay_part *p = m->p;
	uint32_t at = 0;

	for (uint32_t s = 0; s < n; s++) {
		first[s] = at;
		for (uint32_t k = s < p->n ? p->first[s] : 0; s < p->n && k < p->first[s + 1]; k++)
			adj[at++] = p->adj[k];
		for (size_t i = 0; i < m->cables.n; i++)
			if (m->cables.at[i].a == s || m->cables.at[i].b == s)
				adj[at++] = m->cables.at[i].a == s ? m->cables.at[i].b
								   : m->cables.at[i].a;
		qsort(adj + first[s], at - first[s], sizeof(*adj), by_number);
	}
	first[n] = at;
}

/* Whether the island is a grid with these cables; n is one more than its switches when one is put back. */
static bool try_grid(const struct mend *m, uint32_t n)
{
	struct lay_part *p = m->p, whole = *p;
	uint32_t links = p->first[p->n] - p->first[0] + 2 * (uint32_t)m->cables.n;
	uint32_t *first = mem_array((size_t)n + 1, sizeof(*first)),
		 *adj = mem_array(links, sizeof(*adj));
	uint32_t *hosts = mem_zarray(n, sizeof(*hosts));
	bool found;

	connect(m, n, first, adj);
	memcpy(hosts, p->hosts, p->n * sizeof(*hosts));
	whole.n = n;
	whole.first = first;
	whole.adj = adj;
	whole.hosts = hosts;
	whole.x = mem_zarray(n, sizeof(*whole.x));
	whole.y = mem_zarray(n, sizeof(*whole.y));
	whole.group = mem_zarray(n, sizeof(*whole.group));
	whole.seat = mem_zarray(n, sizeof(*whole.seat));
	memcpy(whole.group, p->group, p->n * sizeof(*p->group));
	found = lay_grid(&whole);
	if (found) {
		memcpy(p->x, whole.x, p->n * sizeof(*p->x));
		memcpy(p->y, whole.y, p->n * sizeof(*p->y));
		memcpy(p->group, whole.group, p->n * sizeof(*p->group));
		memcpy(p->seat, whole.seat, p->n * sizeof(*p->seat));
	}
	free(first);
	free(adj);
	free(hosts);
	free(whole.x);
	free(whole.y);
	free(whole.group);
	free(whole.seat);
	return found;
}

bool lay_damaged_grid(struct lay_part *p)
{
	struct mend m = {.p = p};
	bool found;

	if (p->n < 8)
		return false;
	m.lack = mem_array(p->n, sizeof(*m.lack));
	found = find_lacks(&m) && ((choose_cables(&m) && try_grid(&m, p->n)) ||
				   (choose_switch(&m) && try_grid(&m, p->n + 1)));
	free(m.lack);
	vec_free(&m.cables);
	return found;
}
