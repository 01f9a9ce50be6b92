/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PathRecord: paths between two ends, from or to all ends, or between all. No state. A path is answered if and only if the
 * tables that will be in force lead from its SLID to its DLID; MTU and rate are the lowest on that way, the SL is that of
 * the routing engine. Does not choose among equals: paths come in the order in which OpenSM ranks them.
 */
#include "sa/paths.h"
#include "sa/registry.h"

/* ---- one path ---- */

static bool walk(struct sa_walk *w, const struct sa_view *v, const struct rt_tables *t,
		 const struct sa_end *from, const struct sa_end *to, uint16_t dlid)
{
	sa_walk_begin(w, v, t, from->port, to->port, dlid);
	while (w->step == SA_ON)
		sa_walk_on(w);
	return w->step == SA_THERE;
}

/* What of a route is in its record. */
struct way {
	uint8_t mtu, sl;
	uint16_t rate;
	bool back; /* packets of the other direction find theirs, with the same SL: who answers uses that (IBA 9.6.1.5, 12.6.6) */
};

/* From an end to its switch. False: there is none. */
static bool narrow(const struct sa_view *v, port_id p, struct way *y)
{
	if (!v->joined[p])
		return false;
	if (!fab_is_switch(v->fab, v->fab->ports[p].node)) {
		y->mtu = MIN(y->mtu, v->links[p].mtu);
		y->rate = MIN(y->rate, v->links[p].rate);
	} else {
		y->mtu = MIN(y->mtu, v->mtu[p]);
		y->rate = MIN(y->rate, v->rate[p]);
	}
	return true;
}

/*
 * A route that need not be followed. The manager uses no tables but those that lead from each port to each other one that
 * cables join, as its verifier found. With one lane the way there and the way back have SL 0, and MTU and rate are those of the
 * ends where no link between switches has less. LIDs of VFs are followed: their entries change without that verdict.
 */
static bool is_plain(const struct sa_view *v, const struct rt_tables *t, const struct sa_path *p,
		     struct way *y)
{
	*y = (struct way){.mtu = UINT8_MAX, .rate = UINT16_MAX, .back = true};
	return !t->lanes && !p->from->slot && !p->to->slot && p->from->port != p->to->port &&
	       MAX(p->slid, p->dlid) <= t->top_lid && narrow(v, p->from->port, y) &&
	       narrow(v, p->to->port, y) && y->mtu <= v->least_mtu && y->rate <= v->least_rate;
}

static bool way_find(const struct sa_view *v, const struct rt_tables *t, const struct sa_path *p,
		     struct way *y)
{
	struct sa_walk there, back;

	if (is_plain(v, t, p, y))
		return true;
	if (!walk(&there, v, t, p->from, p->to, p->dlid))
		return false;
	*y = (struct way){.mtu = there.mtu, .rate = there.rate, .sl = there.sl};
	y->back = walk(&back, v, t, p->to, p->from, p->slid) && back.sl == there.sl;
	return true;
}

/* Those that will be in force; while they are computed, those until then: see any_route_serves(). */
static const struct rt_tables *tables_of(const struct sa *sa)
{
	const struct rt_tables *t = sm_tables_to_stand(sa->view.sm);

	return t ? t : sm_tables_until_then(sa->view.sm);
}

/* From p->slid to p->dlid; false: there is none, or none that is wanted. */
static bool path_find(const struct sa_view *v, const struct rt_tables *t, const struct sa_wish *w,
		      const struct sa_level *l, struct sa_path *p)
{
	struct way y;

	if (!way_find(v, t, p, &y))
		return false;
	p->mtu = y.mtu;
	p->rate = (uint8_t)sa_rate_number(y.rate);
	p->sl = y.sl;
	p->life = p->from->guid == p->to->guid ? 0 : SA_PATH_LIFE; /* loopback has none */
	sa_level_apply(l, t->lanes, p);
	if (!p->mtu || !p->rate || (w->has_sl && p->sl != w->sl) || !sa_bounds_hold(w, p))
		return false;
	p->reversible = y.back;
	return p->reversible || !w->reversible;
}

/* ---- paths between two ends ---- */

static void lids_of(const struct sa_end *e, uint16_t wanted, uint32_t *first, uint32_t *last)
{
	*first = wanted ? wanted : e->lid;
	*last = wanted ? wanted : e->lid + e->nlids - 1u;
}

struct pairs {
	uint32_t slid, slid_last, dlid, dlid_last;
	const struct sa_level *level;
};

/*
 * Pairs of LIDs with the same number in both ranges come first: they differ at both ends. Preference 0 says so, 2 marks all
 * others (1 would be for ranges of different size).
 */
static bool pairs_of(const struct sa_view *v, const struct rt_tables *t, const struct sa_wish *w,
		     const struct pairs *r, struct sa_path *p, sa_path_sink *sink, void *ctx)
{
	uint32_t left = w->paths;

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t s = r->slid; s <= r->slid_last; s++)
			for (uint32_t d = r->dlid; d <= r->dlid_last; d++) {
				bool same = s - r->slid == d - r->dlid;

				if (same == (pass > 0) || !sa_level_takes(r->level, d - p->to->lid))
					continue;
				if (!left)
					return true;
				p->slid = (uint16_t)s;
				p->dlid = (uint16_t)d;
				p->preference = pass ? 2 : 0;
				if (!path_find(v, t, w, r->level, p))
					continue;
				left--;
				if (!sink(ctx, p))
					return false;
			}
	return true;
}

bool sa_paths_between(struct sa *sa, const struct sa_request *q, const struct sa_wish *w,
		      const struct sa_end *from, const struct sa_end *to, sa_path_sink *sink,
		      void *ctx)
{
	const struct rt_tables *t = tables_of(sa);
	struct sa_path p = {.from = from, .to = to};
	struct sa_level l;
	struct pairs r = {.level = &l};

	if ((w->has_pkey && !w->pkey) || /* no partition has it */
	    !sa_ends_share(sa, from, to, w->has_pkey ? w->pkey : 0, &p.pkey) ||
	    !sa_may_ask_of(sa, q, from) || !sa_may_ask_of(sa, q, to))
		return true;
	sa_level_of(sa, w, &p, &l);
	if (l.none)
		return true;
	lids_of(from, w->slid, &r.slid, &r.slid_last);
	lids_of(to, w->dlid, &r.dlid, &r.dlid_last);
	return pairs_of(&sa->view, t, w, &r, &p, sink, ctx);
}

/* ---- records ---- */

void sa_path_put(const struct sa *sa, const struct sa_path *p, uint8_t *out)
{
	struct iba_sa_path r = {.dlid = p->dlid,
				.slid = p->slid,
				.reversible = p->reversible,
				.pkey = p->pkey,
				.sl = p->sl,
				.mtu_selector = IBA_SA_EXACTLY,
				.mtu = p->mtu,
				.rate_selector = IBA_SA_EXACTLY,
				.rate = p->rate,
				.life_selector = IBA_SA_EXACTLY,
				.life = p->life,
				.preference = p->preference};

	sa_gid_make(sa, p->from->guid, r.sgid);
	sa_gid_make(sa, p->to->guid, r.dgid);
	iba_sa_path_put(&r, out);
}

struct table {
	const struct sa *sa;
	struct sa_answer *a;
	bool one;
};

static bool take(void *ctx, const struct sa_path *p)
{
	struct table *t = ctx;

	if (t->a->len + t->a->size > SA_TABLE_BYTES) {
		t->a->status = IBA_SA_NO_RESOURCES;
		return false;
	}
	sa_path_put(t->sa, p, sa_record(t->a));
	return !t->one;
}

/* ---- the request ---- */

static struct sa_bound bound(bool asked, unsigned selector, unsigned value)
{
	return (struct sa_bound){asked, (uint8_t)selector, (uint8_t)value};
}

static struct sa_wish wish_of(const struct sa_request *q, const struct iba_sa_path *ask)
{
	return (struct sa_wish){
		.mtu = bound(sa_asks(q, path, mtu_selector) && sa_asks(q, path, mtu),
			     ask->mtu_selector, ask->mtu),
		.rate = bound(sa_asks(q, path, rate_selector) && sa_asks(q, path, rate),
			      ask->rate_selector, ask->rate),
		.life = bound(sa_asks(q, path, life_selector) && sa_asks(q, path, life),
			      ask->life_selector, ask->life),
		.has_pkey = sa_asks(q, path, pkey),
		.pkey = ask->pkey,
		.has_sl = sa_asks(q, path, sl),
		.sl = ask->sl,
		.reversible = sa_asks(q, path, reversible) && ask->reversible,
		.has_service_id =
			sa_asks(q, path, service_id_high) || sa_asks(q, path, service_id_low),
		.service_id = (uint64_t)ask->service_id_high << 56 | ask->service_id_low,
		.has_qos_class = sa_asks(q, path, qos_class),
		.qos_class = ask->qos_class,
		.slid = sa_asks(q, path, slid) ? ask->slid : 0,
		.dlid = sa_asks(q, path, dlid) ? ask->dlid : 0,
		.paths = q->method == SA_GET	       ? 1
			 : sa_asks(q, path, num_paths) ? ask->num_paths
						       : SA_PATHS_ALL,
	};
}

const struct sa_end *sa_end_by_gid(const struct sa *sa, const uint8_t gid[16],
				   struct sa_end *shared)
{
	return sa_gid_is_local(sa, gid) ? sa_end_by_guid(&sa->view, sa_gid_guid(gid), shared)
					: NULL;
}

static bool has_lid(const struct sa_end *e, uint16_t lid)
{
	return lid >= e->lid && lid < e->lid + e->nlids;
}

/* One side of a request: the end that it names. The status, or 0. */
struct side {
	const uint8_t *gid; /* NULL: none is named */
	uint16_t lid;	    /* the same with by_lid */
	bool by_lid;
};

static uint16_t side_end(const struct sa *sa, const struct side *s, struct sa_end *shared,
			 const struct sa_end **end)
{
	*end = NULL;
	if (s->gid) {
		*end = sa_end_by_gid(sa, s->gid, shared);
		if (!*end)
			return IBA_SA_BAD_GID;
		return s->by_lid && !has_lid(*end, s->lid) ? IBA_SA_NO_RECORDS : 0;
	}
	if (s->by_lid)
		*end = sa_end_by_lid(&sa->view, s->lid);
	return s->by_lid && !*end ? IBA_SA_NO_RECORDS : 0;
}

uint16_t sa_path_ends(const struct sa *sa, const struct sa_request *q,
		      const struct iba_sa_path *ask, struct sa_path_ends *e)
{
	struct side source = {sa_asks(q, path, sgid) ? ask->sgid : NULL, ask->slid,
			      sa_asks(q, path, slid)};
	struct side target = {sa_asks(q, path, dgid) ? ask->dgid : NULL, ask->dlid,
			      sa_asks(q, path, dlid)};
	uint16_t status = side_end(sa, &source, &e->shared_from, &e->from);

	return status ? status : side_end(sa, &target, &e->shared_to, &e->to);
}

static bool answer_later(struct sa_answer *a)
{
	a->status = IBA_STATUS_BUSY;
	a->later = true;
	return false;
}

bool sa_paths_ready(struct sa *sa, struct sa_answer *a)
{
	const struct rt_tables *t = sm_tables_to_stand(sa->view.sm);

	if (!t || t->nswitches != sa->view.fab->nswitches)
		return answer_later(a);
	sa_view_links(&sa->view);
	return true;
}

static bool leads(const struct sa_view *v, const struct rt_tables *t, const struct sa_end *from,
		  const struct sa_end *to)
{
	struct sa_walk w;

	for (uint32_t k = 0; k < to->nlids; k++)
		if (!walk(&w, v, t, from, to, (uint16_t)(to->lid + k)))
			return false;
	return true;
}

/*
 * While tables are computed: whether the answer is the same whatever they are. The switches lead from one end to the other
 * and back now, over links that stay; the tables to come connect all ends, with one lane as those now, and no link between
 * switches has less than the ends.
 */
static bool any_route_serves(struct sa *sa, const struct sa_path_ends *e)
{
	const struct rt_tables *t = sm_tables_until_then(sa->view.sm);
	struct sa_view *v = &sa->view;

	if (!t || t->nswitches != v->fab->nswitches || !e->from || !e->to)
		return false;
	sa_view_links(v);
	return MIN(v->mtu[e->from->port], v->mtu[e->to->port]) <= v->least_mtu &&
	       MIN(v->rate[e->from->port], v->rate[e->to->port]) <= v->least_rate &&
	       leads(v, t, e->from, e->to) && leads(v, t, e->to, e->from);
}

typedef VEC(const struct sa_end *) ends;

/* The one that is named, or all that can have a path for this requester. */
static void ends_of(struct sa *sa, const struct sa_request *q, const struct sa_wish *w,
		    const struct sa_end *named, ends *list)
{
	if (named)
		vec_push(list, named);
	for (size_t i = 0; !named && i < sa->view.ends.n; i++) {
		const struct sa_end *e = &sa->view.ends.at[i];

		if (sa_may_ask_of(sa, q, e) && (!w->has_pkey || sa_end_has_key(sa, e, w->pkey)))
			vec_push(list, e);
	}
}

/* What they are is known before any route is followed: a request for too many is refused at once. */
static void all_pairs(struct sa *sa, const struct sa_request *q, const struct sa_wish *w,
		      const struct sa_path_ends *e, struct sa_answer *a)
{
	struct table t = {.sa = sa, .a = a, .one = q->method == SA_GET};
	ends from = {0}, to = {0};
	bool go_on = true;

	ends_of(sa, q, w, e->from, &from);
	ends_of(sa, q, w, e->to, &to);
	if ((uint64_t)from.n * to.n > SA_TABLE_BYTES / a->size)
		a->status = IBA_SA_NO_RESOURCES;
	for (size_t d = 0; !a->status && go_on && d < to.n; d++)
		for (size_t s = 0; go_on && s < from.n; s++)
			go_on = sa_paths_between(sa, q, w, from.at[s], to.at[d], take, &t);
	vec_free(&from);
	vec_free(&to);
}

/* A table without records is no error; what asks for one says why there is none. */
static void refuse(const struct sa_request *q, struct sa_answer *a, uint16_t status)
{
	if (status != IBA_SA_NO_RECORDS || q->method == SA_GET)
		a->status = status;
}

void sa_path_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	struct sa_path_ends e;
	struct sa_wish w;
	struct iba_sa_path ask;
	uint16_t status;

	if (q->method == SA_TRACE) {
		sa_trace_records(sa, q, a);
		return;
	}
	iba_sa_path_get(&ask, q->query, IBA_SA_DATA_SIZE);
	if (sa_asks(q, path, dgid) && ask.dgid[0] == 0xff) {
		sa_path_to_group(sa, q, &ask, a);
		return;
	}
	w = wish_of(q, &ask);
	status = sa_wish_is_valid(&w) ? sa_path_ends(sa, q, &ask, &e) : IBA_SA_INVALID;
	if (!status && q->method == SA_GET && (!e.from || !e.to))
		status = IBA_SA_FEW_COMPONENTS;
	if (status) {
		refuse(q, a, status);
		return;
	}
	if (!any_route_serves(sa, &e) && !sa_paths_ready(sa, a))
		return;
	all_pairs(sa, q, &w, &e, a);
}
