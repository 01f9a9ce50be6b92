/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which failures a sample takes. State: none. Way in: failure_weights(), failure_sample(). Does not know routes: a
 * fabric's shape is the same for every engine.
 */
#include "experiment/failure_sample.h"

enum { SOURCES_MOST = 512, LEVELS = 64 };

/* ---- weights ---- */

struct search {
	const struct fab *f;
	uint32_t *hosts;  /* by node: at this switch */
	uint32_t *far;	  /* by node: switches from the source; UINT32_MAX: not reached */
	uint64_t *passes; /* by node: pairs of the source that pass it on their way further */
	node_id *order;	  /* switches, the nearest first */
	uint32_t n;
	struct failure_weights *out;
};

/* The switch beyond a port; FAB_NONE: none there. */
static node_id next_switch(const struct fab *f, port_id p)
{
	port_id q = f->ports[p].peer;

	return q != FAB_NONE && fab_is_switch(f, f->ports[q].node) ? f->ports[q].node : FAB_NONE;
}

static void search_from(struct search *s, node_id from)
{
	for (uint32_t i = 0; i < s->f->nswitches; i++) {
		s->far[s->f->switches[i]] = UINT32_MAX;
		s->passes[s->f->switches[i]] = 0;
	}
	s->far[from] = 0;
	s->order[0] = from;
	s->n = 1;
	for (uint32_t i = 0; i < s->n; i++)
		for (unsigned p = 1; p <= s->f->nodes[s->order[i]].nports; p++) {
			node_id next = next_switch(s->f, fab_port_id(s->f, s->order[i], p));

			if (next == FAB_NONE || s->far[next] != UINT32_MAX)
				continue;
			s->far[next] = s->far[s->order[i]] + 1;
			s->order[s->n++] = next;
		}
}

/* What reaches a switch comes evenly from the links that lead towards the source. */
static void share(struct search *s, node_id sw, uint64_t amount, uint32_t times)
{
	const struct fab *f = s->f;
	uint64_t each, nearer = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		each = pass ? amount / nearer : 0;
		for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
			port_id q = fab_port_id(f, sw, p);
			node_id next = next_switch(f, q);

			if (next == FAB_NONE || s->far[next] + 1 != s->far[sw])
				continue;
			nearer += !pass;
			s->passes[next] += each;
			s->out->ports[q] += each * times;
			s->out->ports[f->ports[q].peer] += each * times;
		}
	}
}

static void source_add(struct search *s, node_id from)
{
	search_from(s, from);
	for (uint32_t i = s->n; i-- > 0;) {
		node_id sw = s->order[i];
		uint64_t amount = s->passes[sw] + (uint64_t)s->hosts[sw] * WEIGHT_OF_A_PAIR;

		s->out->nodes[sw] += amount * s->hosts[from];
		if (sw != from)
			share(s, sw, amount, s->hosts[from]);
	}
}

static uint32_t hosts_count(struct search *s, node_id *sources)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->f->nswitches; i++) {
		node_id sw = s->f->switches[i];

		for (unsigned p = 1; p <= s->f->nodes[sw].nports; p++) {
			port_id q = s->f->ports[fab_port_id(s->f, sw, p)].peer;

			s->hosts[sw] += q != FAB_NONE && !fab_is_switch(s->f, s->f->ports[q].node);
		}
		if (s->hosts[sw])
			sources[n++] = sw;
	}
	return n;
}

void failure_weights(const struct fab *f, struct failure_weights *out)
{
	struct search s = {.f = f,
			   .hosts = mem_zarray(f->nnodes, sizeof(*s.hosts)),
			   .far = mem_zarray(f->nnodes, sizeof(*s.far)),
			   .passes = mem_zarray(f->nnodes, sizeof(*s.passes)),
			   .order = mem_zarray(f->nswitches + 1, sizeof(*s.order)),
			   .out = out};
	node_id *sources = mem_zarray(f->nswitches + 1, sizeof(*sources));
	uint32_t all, many;

	out->nodes = mem_zarray(f->nnodes, sizeof(*out->nodes));
	out->ports = mem_zarray(f->nports, sizeof(*out->ports));
	all = hosts_count(&s, sources);
	many = MIN(all, (uint32_t)SOURCES_MOST);
	for (uint32_t i = 0; i < many; i++)
		source_add(&s, sources[lab_spread(i, many, all)]);
	free(sources);
	free(s.hosts);
	free(s.far);
	free(s.passes);
	free(s.order);
}

void failure_weights_free(struct failure_weights *w)
{
	free(w->nodes);
	free(w->ports);
}

/* ---- the sample ---- */

struct candidate {
	size_t at; /* among the failures */
	unsigned level;
	bool taken;
};

static uint64_t weight_of(const struct failure_weights *w, const struct lab_failure *x)
{
	return x->kind == LAB_FAILS_SWITCH ? w->nodes[x->node] : w->ports[x->port];
}

static int level_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static struct candidate *candidates_make(const struct failure_weights *w, const lab_failures *all,
					 size_t from, size_t n)
{
	struct candidate *c = mem_zarray(n, sizeof(*c));
	uint64_t most = 1;

	for (size_t i = 0; i < n; i++)
		most = MAX(most, weight_of(w, &all->at[from + i]));
	for (size_t i = 0; i < n; i++) {
		uint64_t each = most / LEVELS + 1;

		c[i].at = i;
		c[i].level = (unsigned)(weight_of(w, &all->at[from + i]) / each);
	}
	qsort(c, n, sizeof(*c), level_order);
	return c;
}

/* The first `many` in the order of levels; of the last level that they reach, some of all. */
static void heaviest_take(struct candidate *c, size_t n, size_t many)
{
	size_t lo, hi;

	if (!many)
		return;
	for (lo = many - 1; lo > 0 && c[lo - 1].level == c[many - 1].level;)
		lo--;
	for (hi = many; hi < n && c[hi].level == c[many - 1].level;)
		hi++;
	for (size_t i = 0; i < lo; i++)
		c[i].taken = true;
	for (size_t i = 0; i < many - lo; i++)
		c[lo + lab_spread(i, many - lo, hi - lo)].taken = true;
}

static void rest_take(struct candidate *c, size_t n, size_t many)
{
	size_t *open = mem_array(n, sizeof(*open)), nopen = 0;

	for (size_t i = 0; i < n; i++)
		if (!c[i].taken)
			open[nopen++] = i;
	for (size_t i = 0; i < many; i++)
		c[open[lab_spread(i, many, nopen)]].taken = true;
	free(open);
}

void failure_sample(const struct failure_weights *w, lab_failures *all, size_t from, size_t many)
{
	size_t n = all->n - from, heavy = (many + 1) / 2, kept = from;
	struct candidate *c;
	bool *keep;

	if (many >= n)
		return;
	c = candidates_make(w, all, from, n);
	keep = mem_zarray(n, sizeof(*keep));
	heaviest_take(c, n, heavy);
	rest_take(c, n, many - heavy);
	for (size_t i = 0; i < n; i++)
		keep[c[i].at] = c[i].taken;
	for (size_t i = 0; i < n; i++)
		if (keep[i])
			all->at[kept++] = all->at[from + i];
	all->n = kept;
	free(c);
	free(keep);
}
