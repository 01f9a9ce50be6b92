/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "dragonfly": lanes that change with the group. State: struct steps, for one call. Way in: dragonfly_steps(). Chooses no way.
 *
 * A packet that came into a group by a link between groups goes on in the next lane. On the shortest routes of a whole
 * dragonfly, at most one link inside a group, one between groups and one inside a group again, this closes no cycle: two lanes and one
 * service level suffice, however many groups there are. A switch knows the kinds of the two links that a packet comes and leaves
 * by, not how many groups it has passed. So where links are missing, and routes take two links inside a group or pass a third one,
 * a path gets the first rule with which it closes no cycle, and its SL names the rule; where no rule serves, an SL with a lane of its
 * own.
 */
#include "route/channel_order.h"
#include "route/dragonfly.h"

enum kind { INSIDE, BETWEEN, ENTRY, KINDS };

enum { RULES = 5, RULE_VLS = 2 };

/* The VL of a packet by the link that it came by, and the one that it leaves by. */
static const uint8_t rules[RULES][KINDS][ENTRY] = {
	/* the next lane in each further group */
	{[ENTRY] = {0, 0}, [INSIDE] = {0, 0}, [BETWEEN] = {1, 1}},
	/* the same where the last group takes two links */
	{[ENTRY] = {0, 0}, [INSIDE] = {1, 0}, [BETWEEN] = {1, 1}},
	/* from the second link on */
	{[ENTRY] = {0, 0}, [INSIDE] = {1, 1}, [BETWEEN] = {1, 1}},
	/* one lane */
	{[ENTRY] = {0, 0}, [INSIDE] = {0, 0}, [BETWEEN] = {0, 0}},
	{[ENTRY] = {1, 1}, [INSIDE] = {1, 1}, [BETWEEN] = {1, 1}},
};

struct steps {
	const struct switch_graph *g;
	const struct groups *groups;
	struct rt_tables *t;
	struct channel_order order;
	unsigned most; /* VLs that are tried */
	uint8_t *sl;   /* [switch][stride] */
	unsigned nvls; /* in use */
};

static enum kind kind_of(const struct steps *x, uint32_t a)
{
	const struct graph_arc *y = &x->g->arc[a];

	return x->groups->of[y->from] == x->groups->of[y->to] ? INSIDE : BETWEEN;
}

static unsigned vl_of(unsigned sl, enum kind in, enum kind out)
{
	return sl < RULES ? rules[sl][in][out] : RULE_VLS + sl - RULES;
}

/* ---- one path ---- */

struct added {
	uint32_t x, y;
};

/* Lets the packets of a path with this SL pass. False: that would close a cycle, and nothing changes. */
static bool path_add(struct steps *x, unsigned sl, uint32_t s, uint32_t to, uint32_t lid,
		     unsigned *highest)
{
	VEC(struct added) added = {0};
	uint32_t before = FAB_NONE;
	enum kind in = ENTRY;
	bool ok = true;

	*highest = 0;
	while (ok && s != to) {
		uint32_t a = graph_arc(x->g, s, rt_row(x->t, s)[lid]), now;
		unsigned vl = vl_of(sl, in, kind_of(x, a));

		now = channel(a, vl);
		*highest = MAX(*highest, vl);
		if (before != FAB_NONE && !channel_has(&x->order, before, now)) {
			ok = channel_add(&x->order, before, now);
			if (ok)
				vec_push(&added, (struct added){before, now});
		}
		before = now;
		in = kind_of(x, a);
		s = x->g->arc[a].to;
	}
	for (size_t i = 0; !ok && i < added.n; i++)
		channel_remove(&x->order, added.at[i].x, added.at[i].y);
	vec_free(&added);
	return ok;
}

static bool path_place(struct steps *x, uint32_t s, uint32_t to, uint32_t lid)
{
	for (unsigned sl = 0; sl < RT_SLS; sl++) {
		unsigned highest;

		if (sl >= RULES && vl_of(sl, ENTRY, INSIDE) >= x->most)
			return false;
		if (!path_add(x, sl, s, to, lid, &highest))
			continue;
		x->sl[(size_t)s * x->t->stride + lid] = (uint8_t)sl;
		x->nvls = MAX(x->nvls, highest + 1);
		return true;
	}
	return false;
}

/* ---- all of them ---- */

/* Whether s has a way to the LID: tables of an engine have no loops. */
static bool is_joined(const struct steps *x, uint32_t s, uint32_t to, uint32_t lid)
{
	while (s != to) {
		uint32_t a = graph_arc(x->g, s, rt_row(x->t, s)[lid]);

		if (a == FAB_NONE)
			return false;
		s = x->g->arc[a].to;
	}
	return true;
}

/* Those between hosts, or the others. */
static bool lid_place(struct steps *x, uint32_t to, const struct graph_dest *d, bool hosts)
{
	for (uint32_t s = 0; s < x->g->n; s++)
		if (s != to && (d->port && x->g->senders[s]) == hosts &&
		    is_joined(x, s, to, d->lid) && !path_place(x, s, to, d->lid))
			return false;
	return true;
}

/* Hosts' routes come first: those of switches must not take their place. */
static bool all_place(struct steps *x)
{
	const struct switch_graph *g = x->g;

	for (unsigned hosts = 2; hosts-- > 0;)
		for (uint32_t to = 0; to < g->n; to++)
			for (uint32_t i = g->dest_first[to]; i < g->dest_first[to + 1]; i++)
				if (!lid_place(x, to, &g->dest[i], hosts))
					return false;
	return true;
}

/* ---- SL-to-VL maps ---- */

static unsigned map_for(struct steps *x, enum kind in, enum kind out)
{
	struct rt_sl2vl m = {{0}};

	for (unsigned sl = 0; sl < RT_SLS; sl++)
		if (vl_of(sl, in, out) < x->nvls)
			m.vl[sl] = (uint8_t)vl_of(sl, in, out);
	return rt_sl2vl_map(x->t, &m);
}

static void maps_write(struct steps *x)
{
	unsigned map[KINDS][ENTRY];

	for (enum kind in = 0; in < KINDS; in++)
		for (enum kind out = 0; out < ENTRY; out++)
			map[in][out] = map_for(x, in, out);
	for (uint32_t a = 0; a < x->g->narcs; a++) {
		const struct graph_arc *y = &x->g->arc[a];
		enum kind out = kind_of(x, a);

		rt_sl2vl_use(x->t, y->from, RT_ANY_PORT, y->port, map[ENTRY][out]);
		for (uint32_t b = x->g->first[y->from]; b < x->g->first[y->from + 1]; b++)
			rt_sl2vl_use(x->t, y->from, x->g->arc[b].port, y->port,
				     map[kind_of(x, b)][out]);
	}
}

static void lanes_write(struct steps *x)
{
	rt_lanes_add(x->t, x->g->f, x->nvls, 1);
	rt_sl_by_switch(x->t, x->sl);
	maps_write(x);
}

/* Links inside groups, then links between groups, in the first lane; the other way round in the second. */
static uint64_t start_key(const struct steps *x, uint32_t c)
{
	unsigned vl = c % CHANNEL_VLS;
	bool between = kind_of(x, c / CHANNEL_VLS) == BETWEEN;

	return (uint64_t)vl << 1 | (vl ? !between : between);
}

unsigned dragonfly_steps(const struct switch_graph *g, const struct groups *groups,
			 struct rt_tables *t, unsigned most)
{
	struct steps x = {.g = g,
			  .groups = groups,
			  .t = t,
			  .most = MIN(MAX(most, (unsigned)RULE_VLS), (unsigned)CHANNEL_VLS),
			  .nvls = 1};
	uint64_t *key = mem_array((size_t)g->narcs * CHANNEL_VLS + 1, sizeof(*key));
	unsigned n;

	for (uint32_t c = 0; c < g->narcs * CHANNEL_VLS; c++)
		key[c] = start_key(&x, c);
	channel_order_init(&x.order, g, key);
	free(key);
	x.sl = mem_zarray((size_t)g->n + 1, t->stride);
	n = all_place(&x) ? x.nvls : CHANNEL_VLS + 1;
	if (n > 1 && n <= most)
		lanes_write(&x);
	channel_order_free(&x.order);
	free(x.sl);
	return n;
}
