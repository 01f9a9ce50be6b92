/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes by destination: the switches that lead there form a tree, along which hosts are added up. State: struct
 * census, for one call. Way in: lab_census(). Does not know disabled turns or lanes: a subnet at rest has none.
 */
#include "lab/route_census.h"
#include "lab/lab_priv.h"

enum { OPEN, ON_PATH, ARRIVES, FAILS };

struct census {
	const struct lab *l;
	const struct fab *f;
	uint32_t *hosts; /* by node: hosts at Active ports of this switch */
	uint32_t *state; /* by node: walk * 4 + OPEN... */
	uint64_t *flow;	 /* by node: routes that enter or begin there */
	uint64_t *load;	 /* by port: routes that leave by it */
	uint64_t *last;	 /* the same, towards a host; NULL: not wanted */
	uint64_t *reach; /* by node: destinations that its hosts reach; with last */
	port_id *out;	 /* by node: the port towards the destination */
	node_id *done;	 /* switches in the order in which their way was known */
	node_id *path;
	uint32_t ndone, walk;
};

static bool is_active(const struct census *c, port_id p)
{
	return sim_node_on(c->l->sim, c->f->ports[p].node) &&
	       sim_port_info(c->l->sim, p)->state == IBA_PORT_ACTIVE;
}

/* The node at the other end of an Active link; FAB_NONE: the packet is lost. */
static node_id beyond(const struct census *c, port_id p)
{
	port_id q = sim_port_peer(c->l->sim, p);

	return q != FAB_NONE && is_active(c, p) && is_active(c, q) ? c->f->ports[q].node : FAB_NONE;
}

static void path_end(struct census *c, uint32_t n, unsigned how)
{
	while (n) {
		node_id sw = c->path[--n];

		c->state[sw] = c->walk * 4 + how;
		if (how == ARRIVES)
			c->done[c->ndone++] = sw;
	}
}

/* From a switch to the destination's node: every switch on the way is known afterwards. */
static void walk(struct census *c, node_id from, uint16_t lid, node_id dest)
{
	uint32_t n = 0;
	node_id at = from;

	while (c->state[at] / 4 != c->walk) {
		unsigned out = sim_route(c->l->sim, at, lid);
		node_id next;

		c->state[at] = c->walk * 4 + ON_PATH;
		c->path[n++] = at;
		c->out[at] = fab_port_id(c->f, at, out);
		next = out && out <= c->f->nodes[at].nports ? beyond(c, c->out[at]) : FAB_NONE;
		if (next == dest || next == FAB_NONE || !fab_is_switch(c->f, next)) {
			path_end(c, n, next == dest ? ARRIVES : FAILS);
			return;
		}
		at = next;
	}
	path_end(c, n, c->state[at] % 4 == ARRIVES ? ARRIVES : FAILS);
}

/* Hosts along the tree, the farthest switches first; returns the hosts that reach the destination. */
static uint64_t add_up(struct census *c, node_id dest)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->ndone; i++)
		c->flow[c->done[i]] = c->hosts[c->done[i]];
	for (uint32_t i = c->ndone; i-- > 0;) {
		node_id sw = c->done[i], next = beyond(c, c->out[sw]);

		if (c->reach)
			c->reach[sw]++;
		if (next == dest) {
			sum += c->flow[sw];
			if (c->last) /* not from the destination itself, which is at this switch */
				c->last[c->out[sw]] += c->flow[sw] - 1;
		} else {
			c->load[c->out[sw]] += c->flow[sw];
			c->flow[next] += c->flow[sw];
		}
	}
	return sum ? sum - 1 : 0; /* not the destination itself, which is at one of the switches */
}

static uint64_t one_destination(struct census *c, port_id p)
{
	uint16_t lid = sim_port_info(c->l->sim, p)->lid;

	if (!lid || !is_active(c, p))
		return 0;
	c->walk++;
	c->ndone = 0;
	for (uint32_t i = 0; i < c->f->nswitches; i++)
		if (c->hosts[c->f->switches[i]] && sim_node_on(c->l->sim, c->f->switches[i]))
			walk(c, c->f->switches[i], lid, c->f->ports[p].node);
	return add_up(c, c->f->ports[p].node);
}

/* A port of a host that is part of the subnet; no machine runs on a function without a LID. */
static bool is_host(const struct census *c, port_id p)
{
	node_id n = c->f->ports[p].node;

	return c->f->ports[p].num && !fab_is_switch(c->f, n) &&
	       (!(c->f->nodes[n].flags & FAB_FUNCTION) || sim_port_info(c->l->sim, p)->lid);
}

static uint64_t physical_pairs(const struct census *c)
{
	uint32_t *part = mem_array(c->f->nports, sizeof(*part));
	uint64_t *count = mem_zarray(c->f->nports + 2, sizeof(*count)), pairs = 0;

	lab_parts(c->l, part);
	for (port_id p = 0; p < c->f->nports; p++)
		if (is_host(c, p) && part[p] && sim_port_peer(c->l->sim, p) != FAB_NONE)
			pairs += 2 * count[part[p]]++;
	free(part);
	free(count);
	return pairs;
}

static void hosts_count(struct census *c)
{
	for (port_id p = 0; p < c->f->nports; p++) {
		node_id n;

		if (!is_host(c, p))
			continue;
		n = beyond(c, p);
		if (n != FAB_NONE && fab_is_switch(c->f, n))
			c->hosts[n]++;
	}
}

static void busiest_find(const struct census *c, struct lab_census *out)
{
	for (port_id p = 0; p < c->f->nports; p++)
		if (c->load[p] > out->busiest) {
			out->busiest = c->load[p];
			out->port = p;
		}
}

static void census_new(struct census *c, const struct lab *l)
{
	const struct fab *f = l->fab;

	*c = (struct census){.l = l,
			     .f = f,
			     .hosts = mem_zarray(f->nnodes, sizeof(*c->hosts)),
			     .state = mem_zarray(f->nnodes, sizeof(*c->state)),
			     .flow = mem_zarray(f->nnodes, sizeof(*c->flow)),
			     .load = mem_zarray(f->nports, sizeof(*c->load)),
			     .out = mem_zarray(f->nnodes, sizeof(*c->out)),
			     .done = mem_zarray(f->nnodes, sizeof(*c->done)),
			     .path = mem_zarray(f->nnodes, sizeof(*c->path))};
	hosts_count(c);
}

static void census_free(struct census *c)
{
	free(c->hosts);
	free(c->state);
	free(c->flow);
	free(c->load);
	free(c->last);
	free(c->reach);
	free(c->out);
	free(c->done);
	free(c->path);
}

static uint64_t all_destinations(struct census *c)
{
	uint64_t connected = 0;

	for (port_id p = 0; p < c->f->nports; p++)
		if (c->f->ports[p].num && !fab_is_switch(c->f, c->f->ports[p].node))
			connected += one_destination(c, p);
	return connected;
}

void lab_census(const struct lab *l, struct lab_census *out)
{
	struct census c;

	census_new(&c, l);
	*out = (struct lab_census){.port = FAB_NONE};
	out->pairs = physical_pairs(&c);
	out->connected = all_destinations(&c);
	busiest_find(&c, out);
	census_free(&c);
}

void lab_route_loads(const struct lab *l, uint64_t *load)
{
	struct census c;

	census_new(&c, l);
	c.last = mem_zarray(c.f->nports, sizeof(*c.last));
	c.reach = mem_zarray(c.f->nnodes, sizeof(*c.reach));
	all_destinations(&c);
	for (port_id p = 0; p < c.f->nports; p++) {
		node_id sw = is_host(&c, p) ? beyond(&c, p) : FAB_NONE;

		load[p] += c.load[p] + c.last[p];
		if (sw != FAB_NONE && fab_is_switch(c.f, sw) && c.reach[sw])
			load[p] += c.reach[sw] - 1; /* not to itself */
	}
	census_free(&c);
}
