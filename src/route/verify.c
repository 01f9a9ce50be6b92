/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier. One struct verifier for a run, shared and read-only but for the dependency graph,
 * and one struct walker a thread; the way in is rt_verify(). Uses nothing of the engines: it
 * follows the tables as packets would and believes nothing else.
 *
 * For each destination LID every switch has one next step, so all routes to it together are walked
 * in one pass over the switches. Tables lie row by row, a walk reads a column: walkers turn 64
 * columns at a time around first.
 */
#include "route/cdg.h"
#include "route/route_priv.h"

enum {
	TILE = 64,
	VL_COUNT = 15, /* data VLs; a higher result means that the packet is discarded */
	SAMPLES = 2,   /* of each kind, for the texts */
};

/* What lies behind an output port: a switch's index, or one of these. */
#define BEHIND_PORT    0x80000000u /* | port id: here packets leave the fabric */
#define BEHIND_NOTHING UINT32_MAX

/* How a walk ends: links from the switch to the destination, or one of these. */
enum { UNSEEN = -1, ON_PATH = -2, UNASSIGNED = -3, DEAD = -4, WRONG = -5, LOOP = -6, TURN = -7 };
enum { NKINDS = 5 }; /* UNASSIGNED .. TURN */

struct sample {
	uint32_t lid, sw;
};

struct samples {
	struct sample at[NKINDS][SAMPLES];
	uint32_t n[NKINDS];
};

struct verifier {
	const struct fab *f;
	const struct rt_tables *t;
	const struct rt_verify_opts *o;
	port_id *first;	    /* first port id by switch index */
	uint32_t *behind;   /* by port id of a switch */
	uint8_t *nports;    /* by switch */
	uint32_t *hosts;    /* by switch: host ports that send through it */
	uint8_t *speaks;    /* by switch: it has a LID and so sends itself */
	bool all_carry;	    /* every switch has a route of its own that counts for dependencies */
	VEC(port_id) loose; /* hosts that are not connected to a switch */
	uint64_t nsources;
	port_id *lid_port;
	uint32_t top_lid;
	uint32_t no_lid; /* connected ports without a LID, and the first of them */
	port_id no_lid_first;
	struct cdg cdg;
};

struct walker {
	uint8_t *tile;	/* [TILE][nswitches] */
	uint32_t *next; /* by switch: what is behind the port its table names */
	port_id *out;	/* by switch: that port */
	int32_t *end;
	uint32_t *order, norder; /* switches, each after the one its next step leads to */
	uint64_t *flow;
	uint8_t *carries, *turns;
	uint16_t *sls;	/* by port id: service levels that come in there (with VLs only) */
	uint64_t *load; /* by port id */
	uint64_t pairs, unreachable, loops, down_up, hops_sum;
	uint32_t hops_max;
	struct samples samples;
};

/* ---- what can send, and what is where ---- */

static bool is_host_port(const struct fab *f, port_id p)
{
	return !fab_is_switch(f, f->ports[p].node) && f->ports[p].num &&
	       f->ports[p].peer != FAB_NONE;
}

/* Ports that take part: port 0 of switches and connected ports of everything else. */
static bool takes_part(const struct fab *f, port_id p)
{
	return fab_is_switch(f, f->ports[p].node) ? !f->ports[p].num : is_host_port(f, p);
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
		sw = f->switch_index[x->num ? f->ports[x->peer].node : x->node];
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

static bool is_switch_index(uint32_t behind)
{
	return behind < BEHIND_PORT;
}

static int verifier_init(struct verifier *v, struct err *e)
{
	const struct fab *f = v->f;
	uint32_t n = f->nswitches;
	int rc;

	if (v->t->nswitches != n)
		return err_set(e, -EINVAL, "tables of %u switches for a fabric with %u",
			       v->t->nswitches, n);
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
	v->all_carry = true;
	for (uint32_t s = 0; s < n; s++)
		v->all_carry &= v->hosts[s] || v->speaks[s];
	cdg_init(&v->cdg, f, v->o->vl ? VL_COUNT : 1);
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
	w->sls = v->o->vl ? mem_array(v->f->nports, sizeof(*w->sls)) : NULL;
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
	free(w->sls);
	free(w->load);
	free(w);
}

/* ---- samples for the texts: the smallest (LID, switch) of each kind, whoever finds them ---- */

static bool sample_before(struct sample a, struct sample b)
{
	return a.lid != b.lid ? a.lid < b.lid : a.sw < b.sw;
}

static void sample_add(struct samples *x, int kind, uint32_t lid, uint32_t sw)
{
	unsigned k = (unsigned)(UNASSIGNED - kind), i;
	struct sample new = {lid, sw};

	for (i = x->n[k]; i > 0 && sample_before(new, x->at[k][i - 1]); i--)
		if (i < SAMPLES)
			x->at[k][i] = x->at[k][i - 1];
	if (i < SAMPLES)
		x->at[k][i] = new;
	x->n[k] = MIN(x->n[k] + 1, (uint32_t)SAMPLES);
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

/* Follow the routes from s until something known; then give every switch on the way its end. */
static void walk_from(struct walker *w, uint32_t s, uint32_t lid, port_id dest,
		      const uint8_t *ports)
{
	uint32_t start = w->norder, n = start;
	int32_t end;

	for (;;) {
		w->end[s] = ON_PATH;
		w->order[n++] = s;
		if (!is_switch_index(w->next[s])) {
			end = leave(w, s, dest, ports);
			if (end < 0)
				sample_add(&w->samples, end, lid, s);
			end -= end >= 0; /* the loop below adds it again */
			break;
		}
		s = w->next[s];
		if (w->end[s] == ON_PATH) {
			end = LOOP;
			sample_add(&w->samples, LOOP, lid, s);
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

/* Count ends, hops and loads. A switch is met before the one it leads to: flows add up on the way.
 */
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
			*(w->end[s] == LOOP ? &w->loops : &w->unreachable) += own;
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
			w->unreachable++;
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
		sample_add(&w->samples, TURN, lid, t);
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

/* ---- the same with VLs: what a packet holds also depends on where it came in ---- */

static void inject(const struct verifier *v, struct walker *w, uint32_t s, port_id dest)
{
	const struct fab *f = v->f;

	if (v->speaks[s] && dest != v->first[s])
		w->sls[v->first[s]] = v->o->sl_mask;
	for (unsigned i = 1; i <= v->nports[s]; i++) {
		uint32_t b = v->behind[v->first[s] + i];
		port_id host = b & ~BEHIND_PORT;

		if (b != BEHIND_NOTHING && (b & BEHIND_PORT) && f->ports[host].lid && host != dest)
			w->sls[v->first[s] + i] = v->o->sl_mask;
	}
}

/* Move what came in at port `in` of s one switch on. Returns whether that was news there. */
static bool advance(struct verifier *v, struct walker *w, uint32_t s, unsigned in,
		    const uint8_t *ports)
{
	const struct rt_verify_opts *o = v->o;
	uint32_t t = w->next[s];
	port_id there = v->f->ports[w->out[s]].peer;
	unsigned in2 = v->f->ports[there].num;
	uint16_t mask = w->sls[v->first[s] + in], before = w->sls[there];

	for (unsigned sl = 0; sl < 16; sl++) {
		unsigned vl, vl2;

		if (!(mask >> sl & 1))
			continue;
		vl = o->vl(o->vl_ctx, s, in, ports[s], sl);
		if (vl >= VL_COUNT)
			continue;
		w->sls[there] |= (uint16_t)(1u << sl);
		if (!is_switch_index(w->next[t]))
			continue;
		vl2 = o->vl(o->vl_ctx, t, in2, ports[t], sl);
		if (vl2 < VL_COUNT)
			cdg_add(&v->cdg, w->out[s], vl, ports[t], vl2);
	}
	return w->sls[there] != before;
}

/* Upstream first, so one pass is enough unless the routes themselves run in a circle. */
static void add_vl_dependencies(struct verifier *v, struct walker *w, port_id dest,
				const uint8_t *ports)
{
	const struct fab *f = v->f;
	bool news, circle = false;

	memset(w->sls, 0, f->nports * sizeof(*w->sls));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		inject(v, w, s, dest);
		circle |= w->end[s] == LOOP;
	}
	do {
		news = false;
		for (uint32_t i = w->norder; i-- > 0;) {
			uint32_t s = w->order[i];

			for (unsigned in = 0; is_switch_index(w->next[s]) && in <= v->nports[s];
			     in++)
				if (w->sls[v->first[s] + in])
					news |= advance(v, w, s, in, ports);
		}
	} while (news && circle);
}

/* ---- one destination, one block of destinations ---- */

static void verify_lid(struct verifier *v, struct walker *w, uint32_t lid, const uint8_t *ports)
{
	const struct fab *f = v->f;
	port_id dest = v->lid_port[lid];
	uint32_t dest_sw;

	if (dest == FAB_NONE || !takes_part(f, dest) || (v->o->hosts_only && !f->ports[dest].num))
		return;
	dest_sw = f->switch_index[f->ports[dest].num ? f->ports[f->ports[dest].peer].node
						     : f->ports[dest].node];
	steps_load(v, w, ports);
	w->norder = 0;
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (w->end[s] == UNSEEN)
			walk_from(w, s, lid, dest, ports);
	account(v, w, dest, dest_sw);
	account_loose(v, w, dest);
	if (!v->all_carry)
		mark_carriers(v, w);
	if (v->o->rank)
		find_turns(v, w, lid);
	if (v->o->vl)
		add_vl_dependencies(v, w, dest, ports);
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
	r->unreachable += w->unreachable;
	r->loops += w->loops;
	r->down_up += w->down_up;
	r->hops_sum += w->hops_sum;
	r->hops_max = MAX(r->hops_max, w->hops_max);
	for (port_id p = 0; p < v->f->nports; p++)
		sum->load[p] += w->load[p];
	for (int k = 0; k < NKINDS; k++)
		for (uint32_t i = 0; i < w->samples.n[k]; i++)
			sample_add(&sum->samples, UNASSIGNED - k, w->samples.at[k][i].lid,
				   w->samples.at[k][i].sw);
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

/* ---- texts ---- */

static void text_port(const struct fab *f, struct strbuf *b, port_id p)
{
	char id[32];

	fab_node_ident(f, f->ports[p].node, id);
	strbuf_addf(b, "%s[%u]", id, f->ports[p].num);
}

static void text_loop(const struct verifier *v, struct strbuf *b, struct sample x)
{
	uint32_t s = x.sw;

	strbuf_add(b, "goes round for ever: ");
	do {
		unsigned port = rt_row(v->t, s)[x.lid];

		text_port(v->f, b, v->first[s] + port);
		strbuf_add(b, " -> ");
		s = v->behind[v->first[s] + port];
	} while (s != x.sw && b->len < 256);
	strbuf_add(b, "...");
}

static void text_sample(const struct verifier *v, struct strbuf *b, int kind, struct sample x)
{
	unsigned port = x.lid <= v->t->top_lid ? rt_row(v->t, x.sw)[x.lid] : IBA_PORT_NONE;
	uint32_t behind;
	char id[32];

	fab_node_ident(v->f, v->f->switches[x.sw], id);
	strbuf_addf(b, "LID %u (", x.lid);
	text_port(v->f, b, v->lid_port[x.lid]);
	strbuf_add(b, "): ");
	switch (kind) {
	case UNASSIGNED:
		strbuf_addf(b, "no entry in %s", id);
		break;
	case DEAD:
		strbuf_addf(b, "%s sends it to port %u, where nothing is connected", id, port);
		break;
	case WRONG:
		behind = v->behind[v->first[x.sw] + port];
		strbuf_addf(b, "%s[%u] delivers it to ", id, port);
		text_port(v->f, b, behind & ~BEHIND_PORT);
		break;
	case LOOP:
		text_loop(v, b, x);
		break;
	case TURN:
		strbuf_addf(b, "turns up after down at %s (port %u)", id, port);
		break;
	}
}

static void text_cycle(const struct fab *f, struct strbuf *b, const struct rt_report *r)
{
	strbuf_add(b, "credit loop: ");
	for (size_t i = 0; i <= r->cycle.n && b->len < 256; i++) {
		if (i)
			strbuf_add(b, " -> ");
		text_port(f, b, r->cycle.at[i % r->cycle.n]);
	}
}

static void problem_add(struct rt_report *r, struct strbuf *b)
{
	size_t room = sizeof(r->problem[0]) - 1;

	if (r->nproblems < ARRAY_LEN(r->problem)) {
		char *to = r->problem[r->nproblems++];

		memcpy(to, b->s, MIN(b->len, room) + 1);
		if (b->len > room)
			memcpy(to + room - 3, "...", 4);
	}
	strbuf_free(b);
}

/* One of each kind first, then second ones while there is room. */
static void problems_report(const struct verifier *v, const struct samples *x, struct rt_report *r)
{
	struct strbuf b = {0};

	if (v->no_lid) {
		text_port(v->f, &b, v->no_lid_first);
		strbuf_addf(&b, " has no LID");
		if (v->no_lid > 1)
			strbuf_addf(&b, ", and %u other connected ports have none", v->no_lid - 1);
		problem_add(r, &b);
	}
	if (r->cycles) {
		text_cycle(v->f, &b, r);
		problem_add(r, &b);
	}
	for (uint32_t i = 0; i < SAMPLES; i++)
		for (int k = 0; k < NKINDS; k++)
			if (i < x->n[k]) {
				text_sample(v, &b, UNASSIGNED - k, x->at[k][i]);
				problem_add(r, &b);
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
	loads_report(&v, sum.load, r);
	r->cycles = cdg_cycles(&v.cdg, &path, &r->cyclic_channels);
	for (size_t i = 0; i < path.n; i++)
		vec_push(&r->cycle, path.at[i]);
	vec_free(&path);
	problems_report(&v, &sum.samples, r);
	r->ok = !r->unreachable && !r->loops && !r->down_up && !r->cycles && !v.no_lid;
	free(sum.load);
	verifier_free(&v);
	return 0;
}

void rt_report_free(struct rt_report *r)
{
	vec_free(&r->cycle);
}
