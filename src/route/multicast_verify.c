/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier of multicast trees: sends a packet of each group from each switch that has a member, copy by copy as switches
 * do, and searches all dependencies, unicast and multicast, for cycles. State: struct check, for one run. Way in:
 * rt_multicast_verify(). Shares no code with what builds trees.
 */
#include "route/cdg.h"
#include "route/multicast_trees.h"

struct check {
	const struct fab *f;
	const struct rt_tables *t;
	const uint64_t *rank;
	struct rt_mreport *r;
	const struct rt_ports **mask; /* by switch: of the tree that is looked at */
	uint32_t *got;		      /* by port id of a switch: copies that left by it */
	uint32_t *visits;	      /* by switch */
	port_id *stack;	      /* ports that copies came in by; port 0: the packet starts here */
	uint8_t *member;      /* by port id of a switch: 1 a member behind it receives */
	VEC(port_id) members; /* these ports */
	VEC(port_id) touched; /* ports with copies of the last packet */
	VEC(uint32_t) visited;
	struct cdg cdg;
};

static void problem(struct rt_mreport *r, const char *fmt, ...)
{
	va_list ap;

	if (r->nproblems == ARRAY_LEN(r->problem))
		return;
	va_start(ap, fmt);
	vsnprintf(r->problem[r->nproblems++], sizeof(r->problem[0]), fmt, ap);
	va_end(ap);
}

static bool mask_has(const struct rt_ports *m, unsigned port)
{
	return m && (m->w[port >> 6] & (uint64_t)1 << (port & 63));
}

/* ---- copies ---- */

/* One copy leaves a switch by a port. Returns the port that it comes in by at another switch, or FAB_NONE. */
static port_id copy_leaves(struct check *c, uint16_t mlid, port_id out)
{
	const struct fab_port *p = &c->f->ports[out];

	if (!c->got[out]++)
		vec_push(&c->touched, out);
	if (!p->num)
		return FAB_NONE;
	if (p->peer == FAB_NONE) {
		c->r->dead++;
		problem(c->r, "MLID 0x%04x: %s has port %u in its mask, which has no link", mlid,
			fab_node_name(c->f, p->node), p->num);
		return FAB_NONE;
	}
	return fab_is_switch(c->f, c->f->ports[p->peer].node) ? p->peer : FAB_NONE;
}

static bool carried(const struct check *c, uint32_t sw, unsigned in, unsigned out, unsigned sl)
{
	return !c->t || !out || rt_vl(c->t, sw, in, out, sl) < rt_nvls(c->t);
}

/* What the last packet left: large fabrics have many ports, and trees few. */
static void flood_forget(struct check *c)
{
	for (size_t i = 0; i < c->touched.n; i++)
		c->got[c->touched.at[i]] = 0;
	for (size_t i = 0; i < c->visited.n; i++)
		c->visits[c->visited.at[i]] = 0;
	c->touched.n = c->visited.n = 0;
}

/* A packet that starts at a switch. False: it got back to a switch, and the walk ended. */
static bool flood(struct check *c, const struct rt_group *gr, uint32_t from)
{
	size_t n = 0;

	flood_forget(c);
	c->stack[n++] = fab_port_id(c->f, c->f->switches[from], 0);
	while (n) {
		port_id in = c->stack[--n];
		const struct fab_node *node = &c->f->nodes[c->f->ports[in].node];
		uint32_t sw = c->f->switch_index[c->f->ports[in].node];

		if (c->visits[sw]++)
			return false;
		vec_push(&c->visited, sw);
		for (unsigned p = 0; p <= node->nports; p++) {
			unsigned came = c->f->ports[in].num;
			port_id next;

			if (!mask_has(c->mask[sw], p) || (came && p == came))
				continue;
			if (!carried(c, sw, came, p, gr->sl)) {
				c->r->discarded++;
				continue;
			}
			next = copy_leaves(c, gr->mlid, node->first_port + p);
			if (next != FAB_NONE)
				c->stack[n++] = next;
		}
	}
	return true;
}

static bool is_end(const struct fab *f, port_id id)
{
	port_id q = f->ports[id].peer;

	return !f->ports[id].num || (q != FAB_NONE && !fab_is_switch(f, f->ports[q].node));
}

/* Each member got one copy, and no other port that a device is behind got any. */
static bool copies_as_wanted(const struct check *c)
{
	for (size_t i = 0; i < c->members.n; i++)
		if (c->got[c->members.at[i]] != 1)
			return false;
	for (size_t i = 0; i < c->touched.n; i++)
		if (!c->member[c->touched.at[i]] && is_end(c->f, c->touched.at[i]))
			return false;
	return true;
}

/* All ports are looked at where something is wrong: problems are told in the order of switches and ports. */
static void count_copies(struct check *c, const struct rt_group *gr, uint32_t from)
{
	const char *at = fab_node_name(c->f, c->f->switches[from]);

	if (copies_as_wanted(c)) {
		c->r->pairs += c->members.n;
		return;
	}
	for (uint32_t s = 0; s < c->f->nswitches; s++) {
		const struct fab_node *n = &c->f->nodes[c->f->switches[s]];

		for (unsigned p = 0; p <= n->nports; p++) {
			port_id id = n->first_port + p;

			if (c->member[id]) {
				c->r->pairs++;
				c->r->missing += !c->got[id];
				c->r->doubled += c->got[id] > 1;
				if (c->got[id] != 1)
					problem(c->r,
						"MLID 0x%04x: %u copies from %s to %s port %u",
						gr->mlid, c->got[id], at, c->f->strings + n->name,
						p);
			} else if (c->got[id] && is_end(c->f, id)) {
				c->r->strangers += c->got[id];
				problem(c->r,
					"MLID 0x%04x: %s port %u gets copies, and is no member",
					gr->mlid, c->f->strings + n->name, p);
			}
		}
	}
}

/* The port of a switch that is behind a member; FAB_NONE: it is connected to none. */
static port_id attached(const struct fab *f, port_id member)
{
	const struct fab_port *p = &f->ports[member];

	if (fab_is_switch(f, p->node))
		return p->num ? FAB_NONE : member;
	if (p->peer == FAB_NONE || !fab_is_switch(f, f->ports[p->peer].node))
		return FAB_NONE;
	return p->peer;
}

static void group_check(struct check *c, const struct rt_group *gr)
{
	uint8_t *sends = mem_zarray(c->f->nswitches + 1u, 1);

	for (size_t i = 0; i < c->members.n; i++)
		c->member[c->members.at[i]] = 0;
	c->members.n = 0;
	for (uint32_t i = 0; i < gr->nmembers; i++) {
		port_id at = attached(c->f, gr->members[i].port);

		if (at == FAB_NONE)
			continue;
		if (gr->members[i].receives && !c->member[at]) {
			c->member[at] = 1;
			vec_push(&c->members, at);
		}
		sends[c->f->switch_index[c->f->ports[at].node]] = 1;
	}
	for (uint32_t s = 0; s < c->f->nswitches; s++) {
		if (!sends[s])
			continue;
		if (flood(c, gr, s)) {
			count_copies(c, gr, s);
		} else {
			c->r->loops++;
			problem(c->r, "MLID 0x%04x: packets from %s get back to a switch", gr->mlid,
				fab_node_name(c->f, c->f->switches[s]));
		}
	}
	free(sends);
}

/* ---- dependencies ---- */

static uint64_t rank_behind(const struct check *c, port_id out)
{
	return c->rank[c->f->switch_index[c->f->ports[c->f->ports[out].peer].node]];
}

/* With ranks: whether it turns from down to up. */
static void turn_check(struct check *c, port_id from, unsigned out)
{
	node_id mid = c->f->ports[c->f->ports[from].peer].node;
	uint64_t first = c->rank[c->f->switch_index[c->f->ports[from].node]],
		 second = c->rank[c->f->switch_index[mid]];

	c->r->cyclic += second >= first && rank_behind(c, fab_port_id(c->f, mid, out)) <= second;
}

static void depend(struct check *c, port_id from, unsigned vl, unsigned out, unsigned next_vl)
{
	if (c->rank) {
		turn_check(c, from, out);
		return;
	}
	if (vl < c->cdg.nvls && next_vl < c->cdg.nvls)
		cdg_add(&c->cdg, from, vl, out, next_vl);
}

static bool to_switch(const struct fab *f, node_id sw, unsigned out, port_id *at)
{
	if (!out || out > f->nodes[sw].nports)
		return false;
	*at = f->ports[fab_port_id(f, sw, out)].peer;
	return *at != FAB_NONE && fab_is_switch(f, f->ports[*at].node);
}

static unsigned vl_of(const struct check *c, uint32_t sw, unsigned in, unsigned out, unsigned sl)
{
	return c->t && c->t->lanes ? rt_vl(c->t, sw, in, out, sl) : 0;
}

/* Packets that enter at a switch, to one LID: every step, and the step before it. */
static void follow(struct check *c, uint32_t sw, unsigned in, uint32_t lid)
{
	unsigned sl = rt_sl(c->t, sw, in, lid), vl = 0;
	port_id from = FAB_NONE, next;

	for (uint32_t hops = 0; hops <= c->f->nswitches; hops++) {
		node_id node = c->f->switches[sw];
		unsigned out = rt_row(c->t, sw)[lid], v;

		if (!to_switch(c->f, node, out, &next))
			return;
		v = vl_of(c, sw, in, out, sl);
		if (from != FAB_NONE)
			depend(c, from, vl, out, v);
		from = fab_port_id(c->f, node, out);
		vl = v;
		in = c->f->ports[next].num;
		sw = c->f->switch_index[c->f->ports[next].node];
	}
}

/* Without lanes two entries make a dependency. Those of LIDs that no port has any more count as well: packets come by them. */
static void unicast_plain(struct check *c)
{
	const struct fab *f = c->f;

	for (uint32_t lid = 1; lid < c->t->stride; lid++)
		for (uint32_t s = 0; s < f->nswitches; s++) {
			node_id node = f->switches[s];
			unsigned out = rt_row(c->t, s)[lid], on;
			port_id next, then;

			if (!to_switch(f, node, out, &next))
				continue;
			on = rt_row(c->t, f->switch_index[f->ports[next].node])[lid];
			if (to_switch(f, f->ports[next].node, on, &then))
				depend(c, fab_port_id(f, node, out), 0, on, 0);
		}
}

/* With lanes packets are followed from every port that they enter by. */
static void unicast_lanes(struct check *c)
{
	const struct fab *f = c->f;
	port_id *owner, next;
	uint32_t top;
	struct err e;

	if (fab_lid_table(f, &owner, &top, &e))
		return;
	for (uint32_t lid = 1; lid <= MIN(top, c->t->top_lid); lid++)
		for (uint32_t s = 0; owner[lid] != FAB_NONE && s < f->nswitches; s++)
			for (unsigned p = 0; p <= f->nodes[f->switches[s]].nports; p++)
				if (!p || !to_switch(f, f->switches[s], p, &next))
					follow(c, s, p, lid);
	free(owner);
}

/* A copy that came from switch s by `out` waits at the next switch for each other port of its mask. */
static void copies_wait(struct check *c, uint32_t s, unsigned out, unsigned vl, unsigned sl)
{
	node_id node = c->f->switches[s];
	port_id next, then;
	uint32_t to;

	if (!to_switch(c->f, node, out, &next))
		return;
	to = c->f->switch_index[c->f->ports[next].node];
	for (unsigned p = 1; p <= c->f->nodes[c->f->switches[to]].nports; p++)
		if (mask_has(c->mask[to], p) && p != c->f->ports[next].num &&
		    to_switch(c->f, c->f->switches[to], p, &then))
			depend(c, fab_port_id(c->f, node, out), vl, p,
			       vl_of(c, to, c->f->ports[next].num, p, sl));
}

static void tree_depends(struct check *c, const struct rt_mtree *t)
{
	for (size_t i = 0; i < t->at.n; i++) {
		uint32_t s = t->at.at[i].sw;
		unsigned nports = c->f->nodes[c->f->switches[s]].nports,
			 last = c->t && c->t->lanes ? nports : 0;

		/* Without lanes it is the same whichever port a copy came by. */
		for (unsigned out = 1; out <= nports; out++)
			for (unsigned in = 0; mask_has(c->mask[s], out) && in <= last; in++)
				if (in != out)
					copies_wait(c, s, out, vl_of(c, s, in, out, t->sl), t->sl);
	}
}

static void mask_use(struct check *c, const struct rt_mtree *t, bool on)
{
	for (size_t i = 0; t && i < t->at.n; i++)
		c->mask[t->at.at[i].sw] = on ? &t->at.at[i].ports : NULL;
}

static void cycles(struct check *c, const rt_mtrees *trees)
{
	cdg_path path = {0};

	cdg_init(&c->cdg, c->f, c->t ? rt_nvls(c->t) : 1);
	if (c->t && !c->rank)
		c->t->lanes ? unicast_lanes(c) : unicast_plain(c);
	for (size_t i = 0; i < trees->n; i++) {
		mask_use(c, &trees->at[i], true);
		tree_depends(c, &trees->at[i]);
		mask_use(c, &trees->at[i], false);
	}
	if (!c->rank)
		cdg_cycles(&c->cdg, &path, &c->r->cyclic);
	if (c->r->cyclic)
		problem(c->r, "%u links are in a cycle of dependencies, one leaves %s",
			c->r->cyclic,
			path.n ? fab_node_name(c->f, c->f->ports[path.at[0].port].node) : "?");
	vec_free(&path);
	cdg_free(&c->cdg);
}

static const struct rt_mtree *tree_of(const rt_mtrees *trees, uint16_t mlid)
{
	for (size_t i = 0; i < trees->n; i++)
		if (trees->at[i].mlid == mlid)
			return &trees->at[i];
	return NULL;
}

void rt_multicast_verify(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
			 const struct rt_group *groups, uint32_t ngroups, const rt_mtrees *trees,
			 struct rt_mreport *r)
{
	struct check c = {.f = f, .t = t, .rank = rank, .r = r};

	*r = (struct rt_mreport){.groups = ngroups};
	c.mask = mem_zarray(f->nswitches + 1u, sizeof(*c.mask));
	c.got = mem_zarray(f->nports + 1u, sizeof(*c.got));
	c.visits = mem_zarray(f->nswitches + 1u, sizeof(*c.visits));
	c.stack = mem_array(f->nports + 2u, sizeof(*c.stack));
	c.member = mem_zarray(f->nports + 1u, 1);
	for (uint32_t i = 0; i < ngroups; i++) {
		const struct rt_mtree *tree = tree_of(trees, groups[i].mlid);

		mask_use(&c, tree, true);
		group_check(&c, &groups[i]);
		mask_use(&c, tree, false);
	}
	cycles(&c, trees);
	r->ok = !r->missing && !r->doubled && !r->strangers && !r->loops && !r->dead &&
		!r->discarded && !r->cyclic;
	free(c.mask);
	free(c.got);
	free(c.visits);
	free(c.stack);
	free(c.member);
	vec_free(&c.members);
	vec_free(&c.touched);
	vec_free(&c.visited);
}
