/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier after a change: walks only what differs from tables that were verified. State: struct
 * change, for one call; the way in is rt_verify_change(). Says yes only where rt_verify() with the same
 * ranks does; where the proof does not hold it says no, and rt_verify() decides.
 *
 * A step differs if the switch has another entry for the LID, or the entry leads to another port than
 * before, or by a link of another direction. A route without such a step is unchanged. Any other route
 * reaches its first such step as before; so it is enough to follow the routes that begin with such a
 * step, and to check the turns into it. All routes to a LID that is new or moved are walked.
 *
 * Lanes need no walk. The ranks prove that links have no cycle of dependencies, and a cycle of (link,
 * VL) pairs would be one of links; it is enough that no map discards a packet.
 */
#include "route/route_priv.h"

enum {
	BLOCK = 64,
	STEPS_A_SWITCH = 1024
}; /* LIDs of a row compared at once; with more steps than this for each switch rt_verify() is quicker */

struct step {
	uint32_t sw;
	uint16_t lid;
};

struct change {
	const struct fab *f, *b;
	const struct rt_tables *t, *old;
	const uint64_t *rank, *old_rank;
	uint32_t *was; /* by switch: its index before; FAB_NONE: new */
	port_id *lids, *old_lids;
	uint32_t top, old_top;
	uint8_t *moved; /* by LID: another port has it, or its port is behind another switch port */
	uint32_t ports; /* of the largest switch, and port 0 */
	uint32_t *after; /* [switch][port]: the switch behind it, FAB_NONE: none */
	VEC(struct step) steps;
	uint32_t *good, stamp; /* by switch: the stamp of the LID to which its route is good */
	uint32_t *path;
};

/* ---- what is behind a port ---- */

static uint32_t switch_behind(const struct fab *f, uint32_t s, unsigned port)
{
	node_id n = f->switches[s];
	port_id peer = port && port <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, port)].peer
							  : FAB_NONE;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* Whether both are the same port of the same node, or both none. */
static bool same_peer(const struct change *x, port_id now, port_id then)
{
	const struct fab_port *p, *q;

	if (now == FAB_NONE || then == FAB_NONE)
		return now == then;
	p = &x->f->ports[now];
	q = &x->b->ports[then];
	return p->num == q->num && x->f->nodes[p->node].guid == x->b->nodes[q->node].guid;
}

/* Whether this port leads to the same port as before, in the same direction. */
static bool port_stands(const struct change *x, uint32_t s, unsigned port)
{
	node_id n = x->f->switches[s], m = x->b->switches[x->was[s]];
	uint32_t v;

	if (!same_peer(x, x->f->ports[fab_port_id(x->f, n, port)].peer,
		       x->b->ports[fab_port_id(x->b, m, port)].peer))
		return false;
	v = switch_behind(x->f, s, port);
	return v == FAB_NONE ||
	       (x->was[v] != FAB_NONE &&
		(x->rank[s] < x->rank[v]) == (x->old_rank[x->was[s]] < x->old_rank[x->was[v]]));
}

static void after_fill(struct change *x)
{
	const struct fab *f = x->f;

	for (uint32_t s = 0; s < f->nswitches; s++)
		x->ports = MAX(x->ports, f->nodes[f->switches[s]].nports + 1u);
	x->after = mem_array((size_t)f->nswitches * x->ports + 1, sizeof(*x->after));
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned p = 0; p < x->ports; p++)
			x->after[(size_t)s * x->ports + p] = switch_behind(f, s, p);
}

/* ---- which steps to look at ---- */

/* A port without a cable need not be reachable. LIDs that moved are checked separately. */
static bool wants(const struct change *x, uint32_t lid)
{
	port_id p = lid <= x->top ? x->lids[lid] : FAB_NONE;

	return p != FAB_NONE && !x->moved[lid] &&
	       (!x->f->ports[p].num || x->f->ports[p].peer != FAB_NONE);
}

static void want(struct change *x, uint32_t s, uint32_t lid)
{
	if (wants(x, lid))
		vec_push(&x->steps, (struct step){s, (uint16_t)lid});
}

static void row_compare(struct change *x, uint32_t s)
{
	const uint8_t *now = rt_row(x->t, s), *then = rt_row(x->old, x->was[s]);
	uint32_t common = MIN(x->t->stride, x->old->stride);

	for (uint32_t lid0 = memcmp(now, then, common) ? 0 : common; lid0 < common; lid0 += BLOCK) {
		if (!memcmp(now + lid0, then + lid0, BLOCK))
			continue;
		for (uint32_t i = lid0; i < lid0 + BLOCK; i++)
			if (now[i] != then[i])
				want(x, s, i);
	}
	for (uint32_t i = common; i <= x->top; i++)
		want(x, s, i);
}

static void ports_compare(struct change *x, uint32_t s)
{
	unsigned nports = x->f->nodes[x->f->switches[s]].nports;
	const uint8_t *row = rt_row(x->t, s);
	bool other[256] = {false}, any = false;

	for (unsigned p = 1; p <= nports; p++)
		any |= other[p] = !port_stands(x, s, p);
	for (uint32_t i = 0; any && i <= x->top; i++)
		if (other[row[i]])
			want(x, s, i);
}

static void steps_find(struct change *x)
{
	for (uint32_t s = 0; s < x->f->nswitches; s++) {
		for (uint32_t i = 0; x->was[s] == FAB_NONE && i <= x->top; i++)
			want(x, s, i);
		if (x->was[s] == FAB_NONE)
			continue;
		row_compare(x, s);
		ports_compare(x, s);
	}
}

/* False: the two snapshots do not compare. */
static bool switches_match(struct change *x)
{
	for (uint32_t s = 0; s < x->f->nswitches; s++) {
		const struct fab_node *n = &x->f->nodes[x->f->switches[s]];
		node_id m = fab_node_by_guid(x->b, n->guid);

		x->was[s] = m == FAB_NONE ? FAB_NONE : x->b->switch_index[m];
		if (m != FAB_NONE && (x->was[s] == FAB_NONE || x->b->nodes[m].nports != n->nports))
			return false;
		/* A switch with a LID is a source. One that has a LID only now is a source that
		 * was not verified. */
		if (!x->f->ports[n->first_port].lid ||
		    (m != FAB_NONE && !x->b->ports[x->b->nodes[m].first_port].lid))
			return false;
	}
	return true;
}

/* Every endport has a LID and is connected to a switch. */
static bool ports_fit(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];

		if (fab_is_switch(f, x->node) || !x->num || x->peer == FAB_NONE)
			continue;
		if (!x->lid || !fab_is_switch(f, f->ports[x->peer].node))
			return false;
	}
	return true;
}

/* Mark LIDs whose port is new or was elsewhere. */
static void lids_compare(struct change *x)
{
	for (uint32_t i = 0; i <= x->top; i++) {
		port_id now = x->lids[i], then = i <= x->old_top ? x->old_lids[i] : FAB_NONE;

		if (now == FAB_NONE)
			continue;
		x->moved[i] = !same_peer(x, now, then) ||
			      (x->f->ports[now].num &&
			       !same_peer(x, x->f->ports[now].peer, x->b->ports[then].peer));
	}
}

/* ---- walking ---- */

static inline unsigned entry(const struct change *x, uint32_t s, uint32_t lid)
{
	return rt_row(x->t, s)[lid];
}

static inline uint32_t next_switch(const struct change *x, uint32_t s, uint32_t lid)
{
	unsigned port = entry(x, s, lid);

	return port < x->ports ? x->after[(size_t)s * x->ports + port] : FAB_NONE;
}

static bool arrives(const struct change *x, uint32_t s, unsigned port, port_id dest)
{
	const struct fab_node *n = &x->f->nodes[x->f->switches[s]];

	if (!port)
		return dest == n->first_port;
	return port <= n->nports && x->f->ports[n->first_port + port].peer == dest &&
	       dest != FAB_NONE;
}

/* Whether the route goes down from s to t and then up, which the ranks forbid. */
static bool turns_back(const struct change *x, uint32_t s, uint32_t t, uint32_t lid)
{
	uint32_t u = next_switch(x, t, lid);

	return u != FAB_NONE && x->rank[t] > x->rank[s] && x->rank[u] < x->rank[t];
}

/* Follow the route from s to its end or to a switch whose route to this LID is known to be good. */
static bool walk(struct change *x, uint32_t s, uint32_t lid)
{
	uint32_t n = 0;

	while (x->good[s] != x->stamp && n <= x->f->nswitches) {
		uint32_t t = next_switch(x, s, lid);

		x->path[n++] = s;
		if (t == FAB_NONE ? !arrives(x, s, entry(x, s, lid), x->lids[lid])
				  : turns_back(x, s, t, lid))
			return false;
		if (t == FAB_NONE)
			break;
		s = t;
	}
	if (n > x->f->nswitches)
		return false; /* a loop */
	while (n)
		x->good[x->path[--n]] = x->stamp;
	return true;
}

/* If the route goes up from s, no switch above s may send this LID down to s. */
static bool entered_well(const struct change *x, uint32_t s, uint32_t lid)
{
	uint32_t u = next_switch(x, s, lid);
	unsigned nports = x->f->nodes[x->f->switches[s]].nports;

	if (u == FAB_NONE || x->rank[u] >= x->rank[s])
		return true;
	for (unsigned p = 1; p <= nports; p++) {
		uint32_t v = x->after[(size_t)s * x->ports + p];

		if (v != FAB_NONE && x->rank[v] < x->rank[s] && next_switch(x, v, lid) == s)
			return false;
	}
	return true;
}

/* LIDs of one switch are in the same lines of memory, so steps are taken LID by LID. */
static void steps_sort(struct change *x)
{
	uint32_t *at = mem_zarray((size_t)x->top + 2, sizeof(*at));
	struct step *sorted = mem_array(x->steps.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < x->steps.n; i++)
		at[x->steps.at[i].lid + 1]++;
	for (uint32_t lid = 1; lid <= x->top + 1; lid++)
		at[lid] += at[lid - 1];
	for (size_t i = 0; i < x->steps.n; i++)
		sorted[at[x->steps.at[i].lid]++] = x->steps.at[i];
	memcpy(x->steps.at, sorted, x->steps.n * sizeof(*sorted));
	free(sorted);
	free(at);
}

static bool steps_walk(struct change *x)
{
	uint32_t lid = 0;

	if (x->steps.n)
		steps_sort(x);
	for (size_t i = 0; i < x->steps.n; i++) {
		const struct step *p = &x->steps.at[i];

		x->stamp += p->lid != lid;
		lid = p->lid;
		if (!walk(x, p->sw, lid) || !entered_well(x, p->sw, lid))
			return false;
	}
	return true;
}

static bool moved_walk(struct change *x)
{
	for (uint32_t lid = 0; lid <= x->top; lid++) {
		port_id p = x->moved[lid] ? x->lids[lid] : FAB_NONE;

		if (p == FAB_NONE || (x->f->ports[p].num && x->f->ports[p].peer == FAB_NONE))
			continue;
		x->stamp++;
		for (uint32_t s = 0; s < x->f->nswitches; s++)
			if (!walk(x, s, lid))
				return false;
	}
	return true;
}

static bool prove(struct change *x)
{
	struct err e;

	if (fab_lid_table(x->f, &x->lids, &x->top, &e) ||
	    fab_lid_table(x->b, &x->old_lids, &x->old_top, &e) || x->top > x->t->top_lid ||
	    !switches_match(x) || !ports_fit(x->f))
		return false;
	lids_compare(x);
	after_fill(x);
	steps_find(x);
	return x->steps.n <= (size_t)x->f->nswitches * STEPS_A_SWITCH && steps_walk(x) &&
	       moved_walk(x);
}

bool rt_verify_change(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		      const struct rt_before *before)
{
	uint32_t n = f->nswitches;
	struct change x = {.f = f,
			   .b = before->f,
			   .t = t,
			   .old = before->t,
			   .rank = rank,
			   .old_rank = before->rank,
			   .stamp = 1};
	struct err e;
	bool ok;

	if (t->nswitches != n || before->t->nswitches != before->f->nswitches ||
	    rt_lanes_check(f, t, &e) || !rt_lanes_discard_nothing(t))
		return false;
	x.was = mem_array(n, sizeof(*x.was));
	x.moved = mem_zarray(IBA_LID_MAX_UNICAST + 1, 1);
	x.good = mem_zarray((size_t)n + 1, sizeof(*x.good));
	x.path = mem_array(n + 1, sizeof(*x.path));
	ok = prove(&x);
	free(x.was);
	vec_free(&x.steps);
	free(x.lids);
	free(x.old_lids);
	free(x.moved);
	free(x.good);
	free(x.after);
	free(x.path);
	return ok;
}
