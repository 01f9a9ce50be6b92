/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan of a small change, from the entries that differ (rt_plan_change()). State: struct quick, for one call. Gives what
 * rt_plan() gives, or nothing: then rt_plan() decides.
 *
 * New tables obey the ranks, so they have no turn from down to up, and no cycle is possible without one. Old tables obeyed the
 * ranks before; where links had another direction then, they are searched for such turns. All others can only be
 * a mixture: an entry that changes, followed by one that changes, one of them old and one new. These are
 * looked at one by one. A cycle passes such a turn, and from there leads on over dependencies of the tables; they are looked up
 * only as far as they lead back to such a turn: upwards, and down to where one is reached.
 */
#include "route/plan_priv.h"
#include "route/switch_graph.h"

enum { WHITE, GREY, BLACK };
enum { BEFORE = 1, NOW = 2 }; /* in quick.verified */

struct frame {
	port_id p;
	uint64_t rest[4]; /* output ports of the next switch that are not looked at yet */
};

struct quick {
	const struct fab *f;
	const struct rt_tables *old, *new;
	const uint64_t *rank;
	struct switch_graph g;
	uint32_t *was;		 /* by switch: its index before, FAB_NONE: new */
	uint8_t *verified;	 /* by LID: when routes to it were */
	struct cdg turns;	 /* of old tables, which the ranks forbid */
	struct cdg outward, any; /* mixtures: old before new; new before old */
	VEC(port_id)
	start_outward, start_any; /* channels that such a turn or a mixture leads up to */
	bool *differs;		  /* by switch: an entry of it changes */
	bool *reaches;		  /* by switch: links down lead to a mixture */
	struct cdg tables; /* what follows a channel in either tables, where that was looked up: */
	bool *followed;	   /* by channel */
	struct cdg sub;	   /* all dependencies of the channels that a search met */
	uint8_t *state;	   /* by channel */
	VEC(struct frame) stack;
	uint64_t entries, blocks;
};

static port_id port_of(const struct quick *q, uint32_t s, unsigned port)
{
	return fab_port_id(q->f, q->f->switches[s], port);
}

static bool is_up(const struct quick *q, uint32_t a)
{
	return q->rank[q->g.arc[a].to] < q->rank[q->g.arc[a].from];
}

/* ---- turns of old tables that the ranks forbid ---- */

static void switches_match(struct quick *q, const struct fab *b)
{
	for (uint32_t s = 0; s < q->g.n; s++) {
		node_id n = fab_node_by_guid(b, q->f->nodes[q->f->switches[s]].guid);

		q->was[s] = n == FAB_NONE ? FAB_NONE : b->switch_index[n];
	}
}

/* The switch behind a port of a switch in the snapshot before; FAB_NONE. */
static uint32_t behind_before(const struct fab *b, uint32_t s, unsigned port)
{
	node_id n = b->switches[s];
	port_id peer =
		port <= b->nodes[n].nports ? b->ports[fab_port_id(b, n, port)].peer : FAB_NONE;

	return peer == FAB_NONE ? FAB_NONE : b->switch_index[b->ports[peer].node];
}

/* Whether an entry for a LID that was verified leads to a port. */
static bool row_uses(const struct quick *q, uint32_t s, uint8_t port)
{
	const uint8_t *row = rt_row(q->old, s), *end = row + q->old->stride, *at = row;

	while (at < end && (at = memchr(at, port, (size_t)(end - at))))
		if (q->verified[at++ - row] & BEFORE)
			return true;
	return false;
}

/* Packets come down by arc `in` and leave switch v upwards: a cycle can pass there. */
static void turn_note(struct quick *q, const struct graph_arc *in, uint32_t v, uint8_t out)
{
	q->reaches[in->from] = true;
	vec_push(&q->start_outward, port_of(q, v, out));
}

/* Old entries that lead down to switch s and up from there. */
static void turns_at(struct quick *q, uint32_t s)
{
	const struct switch_graph *g = &q->g;
	const uint8_t *row = rt_row(q->old, s);
	bool up[256] = {false};

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
		up[g->arc[a].port] = is_up(q, a);
	for (uint32_t i = g->in_first[s]; i < g->in_first[s + 1]; i++) {
		const struct graph_arc *in = &g->arc[g->in[i]];
		const uint8_t *from = rt_row(q->old, in->from), *end = from + q->old->stride;
		uint64_t *has = cdg_row(&q->turns, port_of(q, in->from, in->port), 0, 0);

		for (const uint8_t *at = from; !is_up(q, g->in[i]) && at < end; at++) {
			uint8_t out;

			at = memchr(at, in->port, (size_t)(end - at));
			if (!at)
				break;
			out = row[at - from];
			if (!up[out] || has[out / 64] >> out % 64 & 1)
				continue;
			has[out / 64] |= 1ull << out % 64;
			turn_note(q, in, s, out);
		}
	}
}

/*
 * Links are where they were, and no old entry leads over a new one but for LIDs that lids_stand() looks at. Where links have
 * another direction than before, old entries may make turns that the ranks forbid now.
 */
static bool switch_stands(struct quick *q, const struct rt_before *b, uint32_t s)
{
	uint32_t was = q->was[s];
	bool turned = false;

	for (uint32_t a = q->g.first[s]; a < q->g.first[s + 1]; a++) {
		const struct graph_arc *arc = &q->g.arc[a];
		uint32_t then = q->was[arc->to];

		if (was == FAB_NONE || then == FAB_NONE ||
		    behind_before(b->f, was, arc->port) != then) {
			if (row_uses(q, s, arc->port))
				return false;
		} else if ((q->rank[s] < q->rank[arc->to]) != (b->rank[was] < b->rank[then])) {
			turned = true;
		}
	}
	if (turned)
		turns_at(q, s);
	return true;
}

static uint32_t next_switch(const struct quick *q, const struct rt_tables *t, uint32_t s,
			    uint32_t lid)
{
	uint32_t a = graph_arc(&q->g, s, rt_row(t, s)[lid]);

	return a == FAB_NONE ? FAB_NONE : q->g.arc[a].to;
}

static bool column_turns(const struct quick *q, const struct rt_tables *t, uint32_t lid)
{
	for (uint32_t s = 0; s < q->g.n; s++) {
		uint32_t v = next_switch(q, t, s, lid), w;

		if (v == FAB_NONE || q->rank[v] < q->rank[s])
			continue;
		w = next_switch(q, t, v, lid);
		if (w != FAB_NONE && q->rank[w] < q->rank[v])
			return true;
	}
	return false;
}

/* Marks LIDs to which the verifier looks at routes: a port without a cable need not be reached. False: two ports have one. */
static bool verified_mark(struct quick *q, const struct fab *f, uint8_t when)
{
	port_id *lids = NULL;
	uint32_t top;
	struct err e;

	if (fab_lid_table(f, &lids, &top, &e))
		return false;
	for (uint32_t lid = 0; lid < q->old->stride && lid <= top; lid++) {
		port_id p = lids[lid];

		if (p != FAB_NONE && (!f->ports[p].num || f->ports[p].peer != FAB_NONE))
			q->verified[lid] |= when;
	}
	free(lids);
	return true;
}

/* Routes to LIDs that were not there before, or are not there now, were not verified. */
static bool lids_stand(const struct quick *q)
{
	for (uint32_t lid = 0; lid < q->old->stride; lid++)
		if ((!(q->verified[lid] & BEFORE) && column_turns(q, q->old, lid)) ||
		    (!(q->verified[lid] & NOW) && column_turns(q, q->new, lid)))
			return false;
	return true;
}

static bool has_own_loop(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE &&
		    f->ports[f->ports[p].peer].node == f->ports[p].node)
			return true;
	return false;
}

static bool ranks_hold(struct quick *q, const struct rt_before *b)
{
	if (has_own_loop(q->f) || !verified_mark(q, b->f, BEFORE) || !verified_mark(q, q->f, NOW))
		return false;
	switches_match(q, b->f);
	for (uint32_t s = 0; s < q->g.n; s++)
		if (!switch_stands(q, b, s))
			return false;
	return lids_stand(q);
}

/* ---- mixtures ---- */

static bool changes(const struct quick *q, uint32_t s, uint32_t lid)
{
	return rt_row(q->old, s)[lid] != rt_row(q->new, s)[lid];
}

/* A packet comes from switch s by an entry of one tables and leaves the next switch by one of the other. */
static void mixture_add(struct quick *q, uint32_t s, uint32_t lid, bool old_first)
{
	const struct rt_tables *one = old_first ? q->old : q->new;
	const struct rt_tables *two = old_first ? q->new : q->old;
	uint32_t a = graph_arc(&q->g, s, rt_row(one, s)[lid]), v, b;

	if (a == FAB_NONE)
		return;
	v = q->g.arc[a].to;
	b = changes(q, v, lid) ? graph_arc(&q->g, v, rt_row(two, v)[lid]) : FAB_NONE;
	if (b == FAB_NONE)
		return;
	cdg_add(old_first ? &q->outward : &q->any, port_of(q, s, q->g.arc[a].port), 0,
		q->g.arc[b].port, 0);
	if (is_up(q, a) || !is_up(q, b))
		return;
	if (old_first) {
		turn_note(q, &q->g.arc[a], v, q->g.arc[b].port);
		return;
	}
	q->reaches[s] = true;
	vec_push(&q->start_any, port_of(q, v, q->g.arc[b].port));
}

static void row_compare(struct quick *q, uint32_t s)
{
	const uint8_t *old = rt_row(q->old, s), *new = rt_row(q->new, s);
	uint32_t stride = q->new->stride;

	q->differs[s] = memcmp(old, new, stride);
	if (!q->differs[s])
		return;
	for (uint32_t lid0 = 0; lid0 < stride; lid0 += 64) {
		if (!memcmp(old + lid0, new + lid0, 64))
			continue;
		q->blocks++;
		for (uint32_t lid = lid0; lid < lid0 + 64; lid++) {
			if (old[lid] == new[lid])
				continue;
			q->entries++;
			mixture_add(q, s, lid, true);
			mixture_add(q, s, lid, false);
		}
	}
}

/* All switches from which links down lead to a mixture. */
static void reaches_spread(struct quick *q)
{
	uint32_t *queue = mem_array((size_t)q->g.n + 1, sizeof(*queue)), tail = 0;

	for (uint32_t s = 0; s < q->g.n; s++)
		if (q->reaches[s])
			queue[tail++] = s;
	while (tail) {
		uint32_t s = queue[--tail];

		for (uint32_t a = q->g.first[s]; a < q->g.first[s + 1]; a++)
			if (is_up(q, a) && !q->reaches[q->g.arc[a].to]) {
				q->reaches[q->g.arc[a].to] = true;
				queue[tail++] = q->g.arc[a].to;
			}
	}
	free(queue);
}

/* ---- dependencies, as far as they are needed ---- */

/* Which ports of the next switch follow a port of s in these tables. */
static void followers(const struct rt_tables *t, uint32_t s, uint8_t port, uint32_t v,
		      uint64_t *bits)
{
	const uint8_t *row = rt_row(t, s), *end = row + t->stride, *next = rt_row(t, v);

	for (const uint8_t *at = row; (at = memchr(at, port, (size_t)(end - at))); at++) {
		uint8_t out = next[at - row];

		bits[out / 64] |= 1ull << out % 64;
		if (at + 1 == end)
			break;
	}
}

/* All that follow a channel in either tables. */
static void follow(struct quick *q, port_id p, uint32_t s, uint8_t port, uint32_t v)
{
	uint64_t bits[4] = {0};

	followers(q->new, s, port, v, bits);
	if (q->differs[s] || q->differs[v])
		followers(q->old, s, port, v, bits);
	memcpy(cdg_row(&q->tables, p, 0, 0), bits, q->tables.words * sizeof(*bits));
	q->followed[p] = true;
}

/* Ports behind which the search has to go on: up, and down where a mixture is reached. */
static void keep_useful(const struct quick *q, uint32_t v, uint64_t *bits)
{
	uint64_t useful[4] = {0};

	for (uint32_t a = q->g.first[v]; a < q->g.first[v + 1]; a++)
		if (is_up(q, a) || q->reaches[q->g.arc[a].to] || q->reaches[v])
			useful[q->g.arc[a].port / 64] |= 1ull << q->g.arc[a].port % 64;
	for (unsigned w = 0; w < 4; w++)
		bits[w] &= useful[w];
}

static void visit(struct quick *q, port_id p, bool any)
{
	struct frame x = {.p = p};
	uint32_t s = q->f->switch_index[q->f->ports[p].node];
	uint32_t a = graph_arc(&q->g, s, q->f->ports[p].num), v = q->g.arc[a].to;

	if (!q->followed[p])
		follow(q, p, s, q->g.arc[a].port, v);
	memcpy(x.rest, cdg_row(&q->tables, p, 0, 0), q->tables.words * sizeof(*x.rest));
	for (uint32_t w = 0; w < q->outward.words; w++)
		x.rest[w] |=
			cdg_row(&q->outward, p, 0, 0)[w] | (any ? cdg_row(&q->any, p, 0, 0)[w] : 0);
	keep_useful(q, v, x.rest);
	memcpy(cdg_row(&q->sub, p, 0, 0), x.rest, q->sub.words * sizeof(*x.rest));
	q->state[p] = GREY;
	vec_push(&q->stack, x);
}

/* Follows dependencies from one channel; whether they close a cycle. */
static bool closes_from(struct quick *q, port_id start, bool any)
{
	bool cycle = false;

	if (q->state[start] == WHITE)
		visit(q, start, any);
	while (q->stack.n) {
		struct frame *x = &q->stack.at[q->stack.n - 1];
		unsigned w = 0;
		port_id p;

		while (w < 4 && !x->rest[w])
			w++;
		if (w == 4) {
			q->state[x->p] = BLACK;
			q->stack.n--;
			continue;
		}
		p = q->f->nodes[q->f->ports[q->f->ports[x->p].peer].node].first_port + w * 64 +
		    (unsigned)__builtin_ctzll(x->rest[w]);
		x->rest[w] &= x->rest[w] - 1;
		cycle |= q->state[p] == GREY;
		if (q->state[p] == WHITE)
			visit(q, p, any);
	}
	return cycle;
}

/* Looks up everything that mixtures lead to, also behind a cycle. */
static bool closes(struct quick *q, bool any)
{
	bool cycle = false;

	memset(q->state, WHITE, q->f->nports);
	memset(q->sub.bits, 0, (size_t)q->f->nports * q->sub.words * sizeof(*q->sub.bits));
	for (size_t i = 0; i < q->start_outward.n; i++)
		cycle |= closes_from(q, q->start_outward.at[i], any);
	for (size_t i = 0; any && i < q->start_any.n && !cycle; i++)
		cycle |= closes_from(q, q->start_any.at[i], any);
	return cycle;
}

/* ---- the verdict ---- */

static bool turns_find(struct quick *q, struct rt_plan *out)
{
	uint32_t *part = mem_array(q->f->nports, sizeof(*part));
	struct cdg none;
	struct err e;
	bool ok = !turns_choose(&q->sub, &q->turns, q->rank, &out->turns, &e);

	cdg_init(&none, q->f, 1); /* new tables take no turn that the ranks forbid */
	if (!ok)
		ok = !turns_choose(&q->sub, &none, q->rank, &out->turns, &e);
	cdg_free(&none);
	for (size_t i = 0; i < out->turns.n; i++) {
		const struct rt_turn *t = &out->turns.at[i];
		port_id from = q->f->ports[port_of(q, t->sw, t->in)].peer;

		out->turns_in_use |= cdg_row(&q->turns, from, 0, 0)[t->out / 64] >> t->out % 64 & 1;
		cdg_cut(&q->sub, t->sw, t->in, t->out);
	}
	ok = ok && !cdg_parts(&q->sub, part);
	free(part);
	return ok;
}

static bool judge(struct quick *q, struct rt_plan *out)
{
	out->entries = q->entries;
	out->blocks = q->blocks;
	out->lanes = !rt_lanes_same(q->f, q->old, q->new);
	out->kind = q->entries || out->lanes ? RT_PLAN_ANY_ORDER : RT_PLAN_NOTHING;
	if (!q->start_outward.n && !q->start_any.n)
		return true;
	reaches_spread(q);
	if (!closes(q, true))
		return true;
	out->kind = RT_PLAN_OUTWARDS;
	if (!q->start_outward.n || !closes(q, false))
		return true;
	out->kind = RT_PLAN_TURNS;
	return turns_find(q, out);
}

static void quick_init(struct quick *q)
{
	const struct fab *f = q->f;

	graph_init(&q->g, f, MAX(q->old->top_lid, fab_top_lid(f)));
	cdg_init(&q->turns, f, 1);
	cdg_init(&q->outward, f, 1);
	cdg_init(&q->any, f, 1);
	cdg_init(&q->tables, f, 1);
	cdg_init(&q->sub, f, 1);
	q->was = mem_array((size_t)f->nswitches + 1, sizeof(*q->was));
	q->verified = mem_zarray((size_t)q->old->stride + 1, 1);
	q->differs = mem_zarray((size_t)f->nswitches + 1, sizeof(*q->differs));
	q->reaches = mem_zarray((size_t)f->nswitches + 1, sizeof(*q->reaches));
	q->followed = mem_zarray((size_t)f->nports + 1, sizeof(*q->followed));
	q->state = mem_zarray((size_t)f->nports + 1, 1);
}

static void quick_free(struct quick *q)
{
	cdg_free(&q->turns);
	cdg_free(&q->outward);
	cdg_free(&q->any);
	cdg_free(&q->tables);
	cdg_free(&q->sub);
	free(q->was);
	free(q->verified);
	free(q->differs);
	free(q->reaches);
	free(q->followed);
	free(q->state);
	vec_free(&q->start_outward);
	vec_free(&q->start_any);
	vec_free(&q->stack);
	graph_free(&q->g);
}

bool rt_plan_change(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		    const uint64_t *rank, const struct rt_before *before, struct rt_plan *out)
{
	struct quick q = {.f = f, .old = old, .new = new, .rank = rank};
	struct err e;
	bool ok;

	*out = (struct rt_plan){.kind = RT_PLAN_NOTHING};
	if (old->nswitches != f->nswitches || new->nswitches != f->nswitches ||
	    old->stride != new->stride || plan_lanes_count(old, new) || before->t->lanes ||
	    (old->lanes && rt_lanes_check(f, old, &e)))
		return false;
	quick_init(&q);
	ok = ranks_hold(&q, before);
	for (uint32_t s = 0; ok && s < f->nswitches; s++)
		row_compare(&q, s);
	ok = ok && judge(&q, out);
	if (!ok)
		rt_plan_free(out);
	quick_free(&q);
	return ok;
}
