/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier. State: one struct verifier for a run and one struct walker a thread; the way in is
 * rt_verify(). Uses nothing of the engines: it follows the tables as packets would and trusts
 * nothing else.
 *
 * For each destination LID every switch has one next step, so all routes to it together are walked
 * in one pass over the switches. Tables lie row by row, a walk reads a column: walkers transpose 64
 * columns at a time first.
 */
#include "route/verify_priv.h"

enum { TILE = 64 };

/* ---- what can send, and what is where ---- */

static bool is_host_port(const struct fab *f, port_id p)
{
	return !fab_is_switch(f, f->ports[p].node) && f->ports[p].num &&
	       f->ports[p].peer != FAB_NONE;
}

/* Endports: port 0 of switches and connected ports of all other nodes. */
static bool takes_part(const struct fab *f, port_id p)
{
	return fab_is_switch(f, f->ports[p].node) ? !f->ports[p].num : is_host_port(f, p);
}

/* The switch of an endport; FAB_NONE: its cable leads to another host. */
static uint32_t switch_of(const struct verifier *v, port_id p)
{
	const struct fab_port *x = &v->f->ports[p];

	return v->f->switch_index[x->num ? v->f->ports[x->peer].node : x->node];
}

static void sources_count(struct verifier *v)
{
	const struct fab *f = v->f;

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];
		uint32_t sw;

		if (!takes_part(f, p))
			continue;
		if (!x->lid) {
			if (!v->no_lid++)
				v->no_lid_first = p;
			continue;
		}
		v->nsources++;
		sw = switch_of(v, p);
		if (!x->num)
			v->speaks[sw] = 1;
		else if (sw == FAB_NONE)
			vec_push(&v->loose, p);
		else
			v->hosts[sw]++;
	}
}

static void map_make(struct verifier *v)
{
	const struct fab *f = v->f;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];

		v->first[s] = f->nodes[n].first_port;
		v->nports[s] = f->nodes[n].nports;
		for (unsigned i = 0; i <= f->nodes[n].nports; i++) {
			port_id p = v->first[s] + i, peer = f->ports[p].peer;

			if (!i)
				v->behind[p] = BEHIND_PORT | p;
			else if (peer == FAB_NONE)
				v->behind[p] = BEHIND_NOTHING;
			else if (fab_is_switch(f, f->ports[peer].node))
				v->behind[p] = f->switch_index[f->ports[peer].node];
			else
				v->behind[p] = BEHIND_PORT | peer;
		}
	}
}

static int verifier_init(struct verifier *v, struct err *e)
{
	const struct fab *f = v->f;
	uint32_t n = f->nswitches;
	int rc;

	if (v->t->nswitches != n)
		return err_set(e, -EINVAL, "tables of %u switches for a fabric with %u",
			       v->t->nswitches, n);
	rc = rt_lanes_check(f, v->t, e);
	if (!rc)
		rc = fab_lid_table(f, &v->lid_port, &v->top_lid, e);
	if (rc)
		return rc;
	v->first = mem_array(n, sizeof(*v->first));
	v->nports = mem_array(n, 1);
	v->behind = mem_array(f->nports, sizeof(*v->behind));
	v->hosts = mem_zarray(n, sizeof(*v->hosts));
	v->speaks = mem_zarray(n, sizeof(*v->speaks));
	map_make(v);
	sources_count(v);
	if (v->o->hosts_only)
		memset(v->speaks, 0, n * sizeof(*v->speaks));
	islands_find(v);
	v->all_carry = true;
	for (uint32_t s = 0; s < n; s++)
		v->all_carry &= v->hosts[s] || v->speaks[s];
	cdg_init(&v->cdg, f, rt_nvls(v->t));
	return 0;
}

static void verifier_free(struct verifier *v)
{
	free(v->first);
	free(v->nports);
	free(v->behind);
	free(v->hosts);
	free(v->speaks);
	free(v->lid_port);
	islands_free(v);
	vec_free(&v->loose);
	cdg_free(&v->cdg);
}

static struct walker *walker_new(const struct verifier *v)
{
	struct walker *w = mem_zalloc(sizeof(*w));
	uint32_t n = v->f->nswitches;

	w->tile = mem_array((size_t)TILE * n, 1);
	w->next = mem_array(n, sizeof(*w->next));
	w->out = mem_array(n, sizeof(*w->out));
	w->end = mem_array(n, sizeof(*w->end));
	w->order = mem_array(n, sizeof(*w->order));
	w->flow = mem_array(n, sizeof(*w->flow));
	w->carries = mem_array(n, 1);
	w->turns = mem_array(n, 1);
	w->lanes = v->t->lanes ? lane_walk_new(v->f) : NULL;
	w->load = mem_zarray(v->f->nports, sizeof(*w->load));
	memset(w->carries, 1, n);
	return w;
}

static void walker_free(struct walker *w)
{
	free(w->tile);
	free(w->next);
	free(w->out);
	free(w->end);
	free(w->order);
	free(w->flow);
	free(w->carries);
	free(w->turns);
	lane_walk_free(w->lanes);
	free(w->load);
	free(w);
}

/* ---- walking ---- */

static void tile_load(const struct verifier *v, struct walker *w, uint32_t lid0)
{
	uint32_t n = v->f->nswitches;

	for (uint32_t s = 0; s < n; s++) {
		const uint8_t *row = rt_row(v->t, s) + lid0;

		for (unsigned i = 0; i < TILE; i++)
			w->tile[(size_t)i * n + s] = row[i];
	}
}

static void steps_load(const struct verifier *v, struct walker *w, const uint8_t *ports)
{
	for (uint32_t s = 0; s < v->f->nswitches; s++) {
		w->out[s] = v->first[s] + ports[s];
		w->next[s] = ports[s] <= v->nports[s] ? v->behind[w->out[s]] : BEHIND_NOTHING;
		w->end[s] = UNSEEN;
	}
}

static int32_t leave(const struct walker *w, uint32_t s, port_id dest, const uint8_t *ports)
{
	if (w->next[s] == BEHIND_NOTHING)
		return ports[s] == IBA_PORT_NONE ? UNASSIGNED : DEAD;
	if (w->next[s] != (BEHIND_PORT | dest))
		return WRONG;
	return ports[s] ? 1 : 0; /* port 0 is the switch itself: no link */
}

/* Follow the route from s until a switch whose end is known; then set the end of every switch on
 * the way. */
static void walk_from(const struct verifier *v, struct walker *w, uint32_t s, uint32_t lid,
		      const uint8_t *ports)
{
	uint32_t start = w->norder, n = start;
	port_id dest = v->lid_port[lid];
	int32_t end;

	for (;;) {
		w->end[s] = ON_PATH;
		w->order[n++] = s;
		if (!is_switch_index(w->next[s])) {
			end = leave(w, s, dest, ports);
			if (end < 0 && !is_apart(v, s, switch_of(v, dest)))
				sample_add(&w->samples, end, (struct sample){lid, s, 0, 0});
			end -= end >= 0; /* the loop below adds it again */
			break;
		}
		s = w->next[s];
		if (w->end[s] == ON_PATH) {
			end = LOOP;
			sample_add(&w->samples, LOOP, (struct sample){lid, s, 0, 0});
			break;
		}
		if (w->end[s] != UNSEEN) {
			end = w->end[s];
			break;
		}
	}
	w->norder = n;
	for (uint32_t i = start, j = n - 1; i < j; i++, j--) {
		uint32_t swap = w->order[i];

		w->order[i] = w->order[j];
		w->order[j] = swap;
	}
	for (uint32_t i = start; i < n; i++)
		w->end[w->order[i]] = end < UNSEEN ? end : ++end;
}

/* Which switches carry a route that counts for dependencies. */
static void mark_carriers(const struct verifier *v, struct walker *w)
{
	uint32_t n = v->f->nswitches;

	memset(w->carries, 0, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = i;

		if (!v->hosts[i] && !v->speaks[i])
			continue;
		while (is_switch_index(s) && !w->carries[s]) {
			w->carries[s] = 1;
			s = w->next[s];
		}
	}
}

/* Count ends, hops and loads. A switch comes before the one it leads to, so flows add up on the
 * way. */
static void account(const struct verifier *v, struct walker *w, port_id dest, uint32_t dest_sw)
{
	bool dest_is_switch = !v->f->ports[dest].num;

	for (uint32_t s = 0; s < v->f->nswitches; s++)
		w->flow[s] = 0;
	for (uint32_t i = w->norder; i-- > 0;) {
		uint32_t s = w->order[i];
		uint64_t hosts = v->hosts[s] - (s == dest_sw && !dest_is_switch);
		uint64_t own = hosts + (v->speaks[s] && !(s == dest_sw && dest_is_switch));
		uint32_t far = (uint32_t)w->end[s] + 1;

		w->pairs += own;
		if (w->end[s] < 0) {
			*(w->end[s] == LOOP	    ? &w->loops
			  : is_apart(v, s, dest_sw) ? &w->apart
						    : &w->unreachable) += own;
			continue;
		}
		w->hops_sum += own * (uint64_t)w->end[s] + hosts;
		if (own)
			w->hops_max = MAX(w->hops_max, hosts ? far : far - 1);
		w->flow[s] += own;
		if (is_switch_index(w->next[s])) {
			w->load[w->out[s]] += w->flow[s];
			w->flow[w->next[s]] += w->flow[s];
		}
	}
}

static void account_loose(const struct verifier *v, struct walker *w, port_id dest)
{
	for (size_t i = 0; i < v->loose.n; i++) {
		if (v->loose.at[i] == dest)
			continue;
		w->pairs++;
		if (v->f->ports[v->loose.at[i]].peer == dest) {
			w->hops_sum++;
			w->hops_max = MAX(w->hops_max, 1u);
		} else {
			w->apart++;
		}
	}
}

static void find_turns(const struct verifier *v, struct walker *w, uint32_t lid)
{
	const uint64_t *rank = v->o->rank;
	uint32_t n = v->f->nswitches;

	memset(w->turns, 0, n);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t t = w->next[s], u;

		if (!is_switch_index(t) || !w->carries[s] || rank[t] <= rank[s] || w->turns[t])
			continue;
		u = w->next[t];
		if (!is_switch_index(u) || rank[u] >= rank[t])
			continue;
		w->turns[t] = 1;
		w->down_up++;
		sample_add(&w->samples, TURN, (struct sample){lid, t, 0, 0});
	}
}

static void add_dependencies(struct verifier *v, const struct walker *w, const uint8_t *ports)
{
	for (uint32_t s = 0; s < v->f->nswitches; s++) {
		uint32_t t = w->next[s];

		if (is_switch_index(t) && is_switch_index(w->next[t]) && w->carries[s])
			cdg_add(&v->cdg, w->out[s], 0, ports[t], 0);
	}
}

/* ---- one destination, one block of destinations ---- */

static void verify_lid(struct verifier *v, struct walker *w, uint32_t lid, const uint8_t *ports)
{
	const struct fab *f = v->f;
	port_id dest = v->lid_port[lid];
	uint32_t dest_sw;

	if (dest == FAB_NONE || !takes_part(f, dest) || (v->o->hosts_only && !f->ports[dest].num))
		return;
	dest_sw = switch_of(v, dest);
	steps_load(v, w, ports);
	w->norder = 0;
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (w->end[s] == UNSEEN)
			walk_from(v, w, s, lid, ports);
	account(v, w, dest, dest_sw);
	account_loose(v, w, dest);
	if (!v->all_carry)
		mark_carriers(v, w);
	if (v->o->rank)
		find_turns(v, w, lid);
	if (w->lanes)
		lane_walk_lid(v, w, lid);
	else
		add_dependencies(v, w, ports);
}

static void verify_block(struct verifier *v, struct walker *w, uint32_t lid0)
{
	uint32_t n = v->f->nswitches;
	bool there = lid0 < v->t->stride;

	if (there)
		tile_load(v, w, lid0);
	else /* LIDs beyond the end of the tables */
		memset(w->tile, IBA_PORT_NONE, (size_t)TILE * n);
	for (unsigned i = 0; i < TILE && lid0 + i <= v->top_lid; i++)
		verify_lid(v, w, lid0 + i, w->tile + (size_t)i * n);
}

/* ---- putting it together ---- */

struct totals {
	uint64_t *load;
	struct samples samples;
};

static void collect(const struct verifier *v, const struct walker *w, struct totals *sum,
		    struct rt_report *r)
{
	r->pairs += w->pairs;
	r->apart += w->apart;
	r->unreachable += w->unreachable;
	r->loops += w->loops;
	r->discarded += w->discarded;
	r->down_up += w->down_up;
	r->hops_sum += w->hops_sum;
	r->hops_max = MAX(r->hops_max, w->hops_max);
	for (port_id p = 0; p < v->f->nports; p++)
		sum->load[p] += w->load[p];
	for (int k = 0; k < NKINDS; k++)
		for (uint32_t i = 0; i < w->samples.n[k]; i++)
			sample_add(&sum->samples, UNASSIGNED - k, w->samples.at[k][i]);
}

static void verify_all(struct verifier *v, struct totals *sum, struct rt_report *r)
{
	uint32_t nblocks = v->top_lid / TILE + 1;
	uint64_t entries = (uint64_t)v->f->nswitches * v->top_lid;
	int nthreads UNUSED = rt_threads(v->o->threads, nblocks, entries);

	RT_OMP(omp parallel num_threads(nthreads))
	{
		struct walker *w = walker_new(v);

		RT_OMP(omp for schedule(dynamic))
		for (uint32_t b = 0; b < nblocks; b++)
			verify_block(v, w, b * TILE);
		RT_OMP(omp critical(rt_verify_collect))
		collect(v, w, sum, r);
		walker_free(w);
	}
}

static void loads_report(const struct verifier *v, const uint64_t *load, struct rt_report *r)
{
	const struct fab *f = v->f;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned i = 1; i <= v->nports[s]; i++) {
			port_id p = v->first[s] + i;

			if (!is_switch_index(v->behind[p]))
				continue;
			r->nlinks++;
			r->link_load_sum += load[p];
			r->link_load_max = MAX(r->link_load_max, load[p]);
		}
}

int rt_verify(const struct fab *f, const struct rt_tables *t, const struct rt_verify_opts *o,
	      struct rt_report *r, struct err *e)
{
	struct verifier v = {.f = f, .t = t, .o = o};
	struct totals sum = {0};
	cdg_path path = {0};
	int rc;

	*r = (struct rt_report){0};
	rc = verifier_init(&v, e);
	if (rc)
		return rc;
	sum.load = mem_zarray(f->nports, sizeof(*sum.load));
	verify_all(&v, &sum, r);
	r->islands = v.nislands;
	loads_report(&v, sum.load, r);
	r->cycles = cdg_cycles(&v.cdg, &path, &r->cyclic_channels);
	for (size_t i = 0; i < path.n; i++)
		vec_push(&r->cycle, path.at[i]);
	vec_free(&path);
	problems_report(&v, &sum.samples, r);
	r->ok = !r->unreachable && !r->loops && !r->discarded && !r->down_up && !r->cycles &&
		!v.no_lid;
	free(sum.load);
	verifier_free(&v);
	return 0;
}

void rt_report_free(struct rt_report *r)
{
	vec_free(&r->cycle);
}
