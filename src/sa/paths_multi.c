/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MultiPathRecord (IBA 15.2.5.20): paths between sources and destinations that a GetMulti lists, answered as PathRecords. No
 * state. With Independence, each next path is the one that shares the fewest links with those before it; of equals, the
 * first. Without, paths come pair by pair, best first.
 */
#include "sa/paths.h"

enum {
	HEAD = 24,	      /* where GIDs begin */
	MOST_PATHS = 127,     /* that NumbPath can say */
	MOST_CHOICE = 512,    /* among which independent ones are chosen */
	MOST_PAIRS = 1 << 14, /* routes are followed for each, though there may be no path */
	GID = 16,
};

struct choice {
	struct sa_path p;
	uint32_t first, n; /* ports of its route, into ports */
	uint32_t shared;   /* with those chosen so far */
	bool taken;
};

struct multi {
	struct sa *sa;
	struct sa_answer *a;
	uint32_t left; /* paths that may follow */
	bool apart;
	VEC(struct choice) choices;
	VEC(port_id) ports; /* by which each route leaves */
};

static bool take(void *ctx, const struct sa_path *p)
{
	struct multi *m = ctx;

	if (m->apart) {
		vec_push(&m->choices, (struct choice){.p = *p});
		return m->choices.n < MOST_CHOICE;
	}
	sa_path_put(m->sa, p, sa_record(m->a));
	return --m->left;
}

/* ---- independence ---- */

static void note_route(struct multi *m, struct choice *c)
{
	const struct sa_view *v = &m->sa->view;
	struct sa_walk w;

	c->first = (uint32_t)m->ports.n;
	vec_push(&m->ports, c->p.from->port);
	sa_walk_begin(&w, v, sm_tables_to_stand(v->sm), c->p.from->port, c->p.to->port, c->p.dlid);
	while (w.step == SA_ON) {
		node_id n = w.node;

		sa_walk_on(&w);
		vec_push(&m->ports, v->fab->nodes[n].first_port + w.out);
	}
	c->n = (uint32_t)m->ports.n - c->first;
}

static void count_shared(const struct multi *m, struct choice *c, const struct choice *taken)
{
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < taken->n; k++)
			c->shared += m->ports.at[c->first + i] == m->ports.at[taken->first + k];
}

static void choose(struct multi *m)
{
	for (size_t i = 0; i < m->choices.n; i++)
		note_route(m, &m->choices.at[i]);
	for (; m->left; m->left--) {
		struct choice *best = NULL;

		for (size_t i = 0; i < m->choices.n; i++)
			if (!m->choices.at[i].taken &&
			    (!best || m->choices.at[i].shared < best->shared))
				best = &m->choices.at[i];
		if (!best)
			return;
		best->taken = true;
		sa_path_put(m->sa, &best->p, sa_record(m->a));
		for (size_t i = 0; i < m->choices.n; i++)
			count_shared(m, &m->choices.at[i], best);
	}
}

/* ---- the request ---- */

static struct sa_bound bound(bool asked, unsigned selector, unsigned value)
{
	return (struct sa_bound){asked, (uint8_t)selector, (uint8_t)value};
}

static struct sa_wish wish_of(const struct sa_request *q, const struct iba_sa_multipath *ask)
{
	return (struct sa_wish){
		.mtu = bound(sa_asks(q, multipath, mtu_selector) && sa_asks(q, multipath, mtu),
			     ask->mtu_selector, ask->mtu),
		.rate = bound(sa_asks(q, multipath, rate_selector) && sa_asks(q, multipath, rate),
			      ask->rate_selector, ask->rate),
		.life = bound(sa_asks(q, multipath, life_selector) && sa_asks(q, multipath, life),
			      ask->life_selector, ask->life),
		.has_pkey = sa_asks(q, multipath, pkey),
		.pkey = ask->pkey,
		.has_sl = sa_asks(q, multipath, sl),
		.sl = ask->sl,
		.reversible = sa_asks(q, multipath, reversible) && ask->reversible,
		.has_service_id = sa_asks(q, multipath, service_id_high) ||
				  sa_asks(q, multipath, service_id_low),
		.service_id = (uint64_t)ask->service_id_high << 56 | ask->service_id_low,
		.has_qos_class = sa_asks(q, multipath, qos_class),
		.qos_class = ask->qos_class,
		.paths = SA_PATHS_ALL,
	};
}

/* All ends that the request lists; NULL: one of them is no port of this subnet. */
static struct sa_end *ends_of(struct sa *sa, const struct sa_request *q, unsigned n)
{
	struct sa_end *ends = mem_array(MAX(n, 1u), sizeof(*ends));

	for (unsigned i = 0; i < n; i++) {
		struct sa_end shared;
		const struct sa_end *e =
			sa_end_by_gid(sa, q->query + HEAD + (size_t)i * GID, &shared);

		if (!e) {
			free(ends);
			return NULL;
		}
		ends[i] = *e;
	}
	return ends;
}

static void pairs(struct multi *m, const struct sa_request *q, const struct sa_wish *w,
		  const struct sa_end *ends, const struct iba_sa_multipath *ask)
{
	for (unsigned s = 0; m->left && s < ask->sgid_count; s++)
		for (unsigned d = 0; d < ask->dgid_count; d++)
			if (!sa_paths_between(m->sa, q, w, &ends[s], &ends[ask->sgid_count + d],
					      take, m))
				return;
}

static uint16_t check(const struct sa_request *q, const struct iba_sa_multipath *ask)
{
	size_t room = q->len - IBA_SA_DATA_OFF - HEAD;

	if (!sa_asks(q, multipath, sgid_count) || !sa_asks(q, multipath, dgid_count))
		return IBA_SA_FEW_COMPONENTS;
	if (!ask->sgid_count || !ask->dgid_count ||
	    ((size_t)ask->sgid_count + ask->dgid_count) * GID > room)
		return IBA_SA_INVALID;
	return ask->sgid_count * ask->dgid_count > MOST_PAIRS ? IBA_SA_NO_RESOURCES : 0;
}

void sa_multipath_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct multi m = {.sa = sa, .a = a};
	struct iba_sa_multipath ask;
	struct sa_end *ends;
	struct sa_wish w;

	a->size = iba_sa_layout(IBA_SA_PATH)->table_size;
	iba_sa_multipath_get(&ask, q->query, IBA_SA_DATA_SIZE);
	w = wish_of(q, &ask);
	a->status = check(q, &ask);
	if (!a->status && !sa_wish_is_valid(&w))
		a->status = IBA_SA_INVALID;
	if (a->status || !sa_paths_ready(sa, a))
		return;
	ends = ends_of(sa, q, ask.sgid_count + ask.dgid_count);
	if (!ends) {
		a->status = IBA_SA_BAD_GID;
		return;
	}
	m.left = sa_asks(q, multipath, num_paths) ? ask.num_paths : MOST_PATHS;
	m.apart = sa_asks(q, multipath, independence) && ask.independence;
	pairs(&m, q, &w, ends, &ask);
	if (m.apart)
		choose(&m);
	vec_free(&m.choices);
	vec_free(&m.ports);
	free(ends);
}
