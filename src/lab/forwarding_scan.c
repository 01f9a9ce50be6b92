/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the packets of every host through the tables, port states and disabled turns of the devices, and
 * searches the dependencies between links for cycles. State: struct lab_scan, memory that scans reuse. Way
 * in: lab_scan_run(). Does not tell VLs apart: a cycle of links counts even where VLs would break it. Once hosts have
 * service levels from a manager, lane_scan.c does.
 */
#include "lab/scan_priv.h"
#include "sim/plane/sim_plane.h"

/* Of a port, in table entries: a scan looks at all of them several times. */
enum { PORT_COST = 8 };

struct lab_scan *lab_scan_new(const struct lab *l)
{
	struct lab_scan *s = mem_zalloc(sizeof(*s));
	size_t n = l->fab->nports;

	s->lab = l;
	s->f = l->fab;
	s->to = mem_array(n, sizeof(*s->to));
	s->part = mem_array(n, sizeof(*s->part));
	s->mark = mem_zarray(n, sizeof(*s->mark));
	s->next = mem_zarray(n, sizeof(*s->next));
	s->routes = mem_zarray(n, sizeof(*s->routes));
	s->path = mem_array(n, sizeof(*s->path));
	s->stack = mem_array(n, sizeof(*s->stack));
	s->index = mem_array(n, sizeof(*s->index));
	s->low = mem_array(n, sizeof(*s->low));
	s->stacked = mem_zarray(n, sizeof(*s->stacked));
	s->cyclic = mem_zarray(n, sizeof(*s->cyclic));
	s->channel = mem_zarray(n, sizeof(*s->channel));
	s->at = mem_array(n, sizeof(*s->at));
	s->count = mem_array(n, sizeof(*s->count));
	for (port_id p = 0; p < n; p++)
		if (l->fab->ports[p].num && !fab_is_switch(l->fab, l->fab->ports[p].node))
			vec_push(&s->hosts, p);
	return s;
}

void lab_scan_free(struct lab_scan *s)
{
	if (!s)
		return;
	free(s->to);
	free(s->part);
	free(s->mark);
	free(s->next);
	free(s->routes);
	free(s->path);
	free(s->stack);
	free(s->index);
	free(s->low);
	free(s->stacked);
	free(s->cyclic);
	free(s->channel);
	free(s->at);
	free(s->count);
	lane_scan_free(s);
	copy_scan_free(s);
	vec_free(&s->hosts);
	vec_free(&s->senders);
	free(s);
}

void lab_scan_machines(struct lab_scan *s)
{
	s->machines = true;
}

void lab_scan_connectivity(struct lab_scan *s, uint64_t pairs)
{
	s->most_pairs = pairs;
}

uint64_t lab_scan_cost(const struct lab_scan *s)
{
	return s->cost + s->steps;
}

uint64_t lab_scan_steps(const struct lab_scan *s)
{
	return s->steps;
}

/* ---- links ---- */

static bool port_on(const struct lab_scan *s, port_id p)
{
	return sim_node_on(s->lab->sim, s->f->ports[p].node);
}

/* Only Active ports send data; an Armed port accepts it and becomes Active (thesis 2.4.1). */
static port_id arrives_at(const struct lab_scan *s, port_id p)
{
	port_id q = sim_port_peer(s->lab->sim, p);
	unsigned there;

	if (q == FAB_NONE || !port_on(s, p) || !port_on(s, q) ||
	    sim_port_info(s->lab->sim, p)->state != IBA_PORT_ACTIVE)
		return FAB_NONE;
	there = sim_port_info(s->lab->sim, q)->state;
	return there == IBA_PORT_ACTIVE || there == IBA_PORT_ARMED ? q : FAB_NONE;
}

static port_id part_of(struct lab_scan *s, port_id p)
{
	while (s->part[p] != p)
		p = s->part[p] = s->part[s->part[p]];
	return p;
}

/* A cable between two nodes that are on, neither of its ports disabled. */
static bool is_cable(const struct lab_scan *s, port_id p)
{
	port_id q = sim_port_peer(s->lab->sim, p);

	return q != FAB_NONE && port_on(s, p) && port_on(s, q) &&
	       sim_port_info(s->lab->sim, p)->phys_state != IBA_PHYS_DISABLED &&
	       sim_port_info(s->lab->sim, q)->phys_state != IBA_PHYS_DISABLED;
}

/* No machine runs on a VF with its own GUID. The PF is slot 0. */
static bool is_empty(const struct lab_scan *s, port_id p)
{
	node_id n = s->f->ports[p].node;

	return s->machines && s->f->nodes[n].flags & FAB_FUNCTION &&
	       s->f->ports[s->f->ports[p].peer].num > FAB_SLOT0_PORT &&
	       sim_port_guid(s->lab->sim, p) == sim_function_guid(s->lab->sim, n);
}

/* Nor on a function without a LID. */
static bool is_there(const struct lab_scan *s, port_id p)
{
	return is_cable(s, p) && !is_empty(s, p) &&
	       (!(s->f->nodes[s->f->ports[p].node].flags & FAB_FUNCTION) ||
		sim_port_info(s->lab->sim, p)->lid);
}

/* Ordered pairs of host ports that are physically connected. */
static uint64_t physical_pairs(struct lab_scan *s)
{
	uint64_t pairs = 0;

	for (port_id p = 0; p < s->f->nports; p++) {
		node_id n = s->f->ports[p].node;

		s->part[p] = fab_is_switch(s->f, n) ? s->f->nodes[n].first_port : p;
		s->count[p] = 0;
	}
	for (port_id p = 0; p < s->f->nports; p++)
		if (is_cable(s, p))
			s->part[part_of(s, p)] = part_of(s, sim_port_peer(s->lab->sim, p));
	for (size_t h = 0; h < s->hosts.n; h++)
		if (is_there(s, s->hosts.at[h]))
			pairs += 2ull * s->count[part_of(s, s->hosts.at[h])]++;
	return pairs;
}

/* The same to those hosts that are destinations of this scan. */
static uint64_t sampled_pairs(struct lab_scan *s)
{
	uint64_t pairs = 0;

	for (size_t h = 0; h < s->senders.n; h += scan_stride(s))
		if (is_there(s, s->senders.at[h]))
			pairs += s->count[part_of(s, s->senders.at[h])] - 1;
	return pairs;
}

/* One direction of a link between switches. */
static bool is_channel(const struct lab_scan *s, port_id p)
{
	port_id from = sim_port_peer(s->lab->sim, p);

	return from != FAB_NONE && fab_is_switch(s->f, s->f->ports[p].node) && s->f->ports[p].num &&
	       fab_is_switch(s->f, s->f->ports[from].node) && s->to[from] == p;
}

/* ---- packets ---- */

/* The next port of a packet for lid that entered by p, or FAB_NONE: it is discarded. */
static port_id step(struct lab_scan *s, port_id p, uint16_t lid)
{
	const struct fab_port *in = &s->f->ports[p];
	const struct fab_node *n = &s->f->nodes[in->node];
	unsigned out = sim_route(s->lab->sim, in->node, lid);
	port_id q;

	s->steps++;
	if (!out || out > n->nports || out == in->num)
		return FAB_NONE;
	q = s->to[n->first_port + out];
	if (q == FAB_NONE || sim_turn_off(s->lab->sim, in->node, in->num, out))
		return FAB_NONE;
	s->next[p][out / 64] |= 1ull << out % 64;
	return q;
}

/* Whether a packet for lid that enters a switch by p arrives at dest; marks every port on the way. */
static bool arrives(struct lab_scan *s, port_id p, uint16_t lid, port_id dest)
{
	unsigned end = WALK_FAILS;
	size_t n = 0;

	for (;;) {
		if (s->mark[p] >> 2 == s->walk) {
			end = (s->mark[p] & 3) == WALK_ARRIVES ? WALK_ARRIVES : WALK_FAILS;
			break;
		}
		s->mark[p] = s->walk << 2 | WALK_ON_PATH;
		s->path[n++] = p;
		p = step(s, p, lid);
		if (p == FAB_NONE)
			break;
		if (!fab_is_switch(s->f, s->f->ports[p].node)) {
			end = p == dest ? WALK_ARRIVES : WALK_FAILS;
			break;
		}
	}
	while (n)
		s->mark[s->path[--n]] = s->walk << 2 | end;
	return end == WALK_ARRIVES;
}

static bool reaches(struct lab_scan *s, port_id from, uint16_t lid, port_id dest)
{
	port_id first = s->to[from];

	if (first == FAB_NONE ||
	    sim_turn_off(s->lab->sim, s->f->ports[from].node, 0, s->f->ports[from].num))
		return false;
	if (!fab_is_switch(s->f, s->f->ports[first].node))
		return first == dest;
	return arrives(s, first, lid, dest);
}

/* From every other host to all LIDs of one host; only the first LID counts. */
static uint64_t reach_one(struct lab_scan *s, port_id dest)
{
	const struct iba_port_info *pi = sim_port_info(s->lab->sim, dest);
	uint64_t sum = 0;

	if (!pi->lid || !port_on(s, dest))
		return 0;
	for (unsigned i = 0; i < 1u << pi->lmc; i++) {
		s->walk++;
		for (size_t h = 0; h < s->senders.n; h++)
			if (s->senders.at[h] != dest &&
			    reaches(s, s->senders.at[h], (uint16_t)(pi->lid + i), dest) && !i)
				sum++;
	}
	return sum;
}

/* ---- cycles of dependencies ---- */

/* The next channel that packets in p wait for, from output port *at on; FAB_NONE: no more. */
static port_id waits_for(const struct lab_scan *s, port_id p, uint32_t *at)
{
	const struct fab_node *n = &s->f->nodes[s->f->ports[p].node];

	while (*at <= n->nports) {
		uint64_t left = s->next[p][*at / 64] >> *at % 64;
		port_id q;

		if (!left) {
			*at = (*at / 64 + 1) * 64;
			continue;
		}
		*at += (uint32_t)__builtin_ctzll(left);
		q = s->to[n->first_port + *at];
		(*at)++;
		if (s->channel[q])
			return q;
	}
	return FAB_NONE;
}

/* A strongly connected component is complete: take it off the stack. */
static uint32_t part_done(struct lab_scan *s, port_id root, size_t *nstack)
{
	bool alone = s->stack[*nstack - 1] == root, itself = false;
	uint32_t at = 0, n = 0;
	port_id q, p;

	while (alone && (q = waits_for(s, root, &at)) != FAB_NONE)
		itself |= q == root;
	do {
		p = s->stack[--*nstack];
		s->stacked[p] = false;
		s->cyclic[p] = !alone || itself;
		n += s->cyclic[p];
	} while (p != root);
	return n;
}

/* Tarjan's strongly connected components, without recursion. Returns the number of channels in cycles. */
static uint32_t visit(struct lab_scan *s, port_id start, size_t *nstack)
{
	size_t depth = 0;
	uint32_t sum = 0;

	s->path[depth++] = start;
	s->index[start] = s->low[start] = s->order++;
	s->stack[(*nstack)++] = start;
	s->stacked[start] = true;
	s->at[start] = 0;
	while (depth) {
		port_id p = s->path[depth - 1], q = waits_for(s, p, &s->at[p]);

		if (q == FAB_NONE) {
			depth--;
			if (depth)
				s->low[s->path[depth - 1]] =
					MIN(s->low[s->path[depth - 1]], s->low[p]);
			if (s->low[p] == s->index[p])
				sum += part_done(s, p, nstack);
		} else if (s->index[q] == UINT32_MAX) {
			s->path[depth++] = q;
			s->index[q] = s->low[q] = s->order++;
			s->stack[(*nstack)++] = q;
			s->stacked[q] = true;
			s->at[q] = 0;
		} else if (s->stacked[q]) {
			s->low[p] = MIN(s->low[p], s->index[q]);
		}
	}
	return sum;
}

/* Returns the number of channels in cycles. */
static uint32_t find_cycles(struct lab_scan *s)
{
	size_t nstack = 0;
	uint32_t cyclic = 0;

	memset(s->index, 0xff, s->f->nports * sizeof(*s->index));
	memset(s->cyclic, 0, s->f->nports * sizeof(*s->cyclic));
	s->order = 0;
	for (port_id p = 0; p < s->f->nports; p++)
		if (s->channel[p] && s->index[p] == UINT32_MAX)
			cyclic += visit(s, p, &nstack);
	return cyclic;
}

static uint32_t count_channels(const struct lab_scan *s)
{
	uint32_t n = 0;

	for (port_id p = 0; p < s->f->nports; p++)
		n += s->channel[p];
	return n;
}

/* Each channel of a cyclic component waits for another one in it: walk until one repeats. */
size_t lab_scan_cycle(struct lab_scan *s, port_id **ring)
{
	port_id p = 0;
	size_t n = 0, from = 0;

	*ring = NULL;
	if (s->lab->sls)
		return lane_scan_cycle(s, ring);
	while (p < s->f->nports && !s->cyclic[p])
		p++;
	if (p == s->f->nports)
		return 0;
	memset(s->index, 0xff, s->f->nports * sizeof(*s->index));
	while (s->index[p] == UINT32_MAX) {
		uint32_t at = 0;
		port_id q;

		s->index[p] = (uint32_t)n;
		s->path[n++] = p;
		do
			q = waits_for(s, p, &at);
		while (!s->cyclic[q]);
		p = q;
	}
	from = s->index[p];
	*ring = mem_array(n - from, sizeof(**ring));
	for (size_t i = from; i < n; i++)
		(*ring)[i - from] = sim_port_peer(s->lab->sim, s->path[i]);
	return n - from;
}

/* ---- packets in buffers ---- */

/* One packet: it waits for the output that its switch has chosen, or will choose now. */
static void on_buffered(void *ctx, const struct sim_buffered *b)
{
	struct lab_scan *s = ctx;

	s->nbuffered++;
	if (!b->out)
		step(s, b->in, b->dlid);
	else if (s->to[s->f->nodes[s->f->ports[b->in].node].first_port + b->out] != FAB_NONE)
		s->next[b->in][b->out / 64] |= 1ull << b->out % 64;
}

/* The dependencies of packets alone. */
static uint32_t find_waiting(struct lab_scan *s)
{
	memset(s->next, 0, s->f->nports * sizeof(*s->next));
	s->nbuffered = 0;
	sim_plane_buffered(s->lab->sim, on_buffered, s);
	return s->nbuffered > 1 ? find_cycles(s) : 0;
}

/* ---- a scan ---- */

static void links_cycles(struct lab_scan *s, struct lab_levels *v)
{
	copy_scan_links(s);
	v->cyclic = find_cycles(s);
	v->waiting = v->cyclic ? 0 : find_waiting(s);
	v->deadlock = v->links ? (uint32_t)((uint64_t)v->cyclic * 1000000 / v->links) : 0;
}

static void links_scan(struct lab_scan *s, struct lab_levels *v)
{
	v->connected = scan_connected(s, reach_one);
	if (s->most_pairs)
		return;
	memcpy(s->routes, s->next, s->f->nports * sizeof(*s->next));
	links_cycles(s, v);
	s->again = true;
}

void lab_scan_run(struct lab_scan *s, struct lab_levels *v)
{
	const struct fab *f = s->f;

	*v = (struct lab_levels){0};
	s->again = false;
	if (s->walk > UINT32_MAX / 8) { /* numbers of old walks must not be used again */
		memset(s->mark, 0, f->nports * sizeof(*s->mark));
		lane_scan_free(s); /* with marks of its own */
		s->walk = 0;
	}
	memset(s->next, 0, f->nports * sizeof(*s->next));
	for (port_id p = 0; p < f->nports; p++)
		s->to[p] = f->ports[p].num ? arrives_at(s, p) : FAB_NONE;
	for (port_id p = 0; p < f->nports; p++)
		s->channel[p] = is_channel(s, p);
	v->pairs = physical_pairs(s);
	s->senders.n = 0;
	for (size_t h = 0; h < s->hosts.n; h++)
		if (!is_empty(s, s->hosts.at[h]))
			vec_push(&s->senders, s->hosts.at[h]);
	if (scan_stride(s) > 1)
		v->pairs = sampled_pairs(s);
	v->links = count_channels(s);
	s->cost += PORT_COST * (uint64_t)f->nports;
	if (s->lab->sls)
		lane_scan_run(s, v);
	else
		links_scan(s, v);
	s->steps += s->machines ? (uint64_t)s->senders.n * s->senders.n : 0;
	v->connectivity = v->pairs ? (uint32_t)(v->connected * 1000000 / v->pairs) : 1000000;
	v->deadlock = v->links ? (uint32_t)((uint64_t)v->cyclic * 1000000 / v->links) : 0;
	s->last = *v;
}

void lab_scan_masks(struct lab_scan *s, struct lab_levels *v)
{
	if (!s->again || s->lab->sls) {
		lab_scan_run(s, v);
		return;
	}
	*v = s->last;
	memcpy(s->next, s->routes, s->f->nports * sizeof(*s->next));
	links_cycles(s, v);
}

void lab_levels(const struct lab *l, struct lab_levels *v)
{
	struct lab_scan *s = lab_scan_new(l);

	lab_scan_run(s, v);
	lab_scan_free(s);
}
