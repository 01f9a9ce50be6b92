/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BEFORE and AFTER joined in one fabric: all nodes of both, the links of BEFORE, and those links of AFTER that
 * lead to a node which is off before. State: struct lab_change, the joined fabric and both sets of nodes and
 * links. Way in: lab_change_new(). Does not run it: change_run.c does.
 */
#include "lab/change.h"
#include "lab/lab_priv.h"

struct lab_change {
	struct fab *fab;
	node_id sm;
	bool *on_before, *on_after;
	port_id *peer_before, *peer_after; /* by port of fab */
	uint32_t *cable_after;
};

static void copy_node(struct fab_builder *b, node_id to, const struct fab *f, node_id n)
{
	const struct fab_node *s = &f->nodes[n];
	struct fab_node *d = fab_builder_node(b, to);

	d->flags = s->flags;
	d->sriov = s->sriov;
	d->vfs = s->vfs;
	d->linear_cap = s->linear_cap;
	d->random_cap = s->random_cap;
	d->mcast_cap = s->mcast_cap;
	d->sys_guid = s->sys_guid;
	d->vendor_id = s->vendor_id;
	d->device_id = s->device_id;
	for (unsigned i = 0; i <= s->nports; i++) {
		const struct fab_port *x = &f->ports[s->first_port + i];
		struct fab_port *y = fab_builder_port(b, to, i);

		y->guid = x->guid;
		y->lid = x->lid;
		y->lmc = x->lmc;
		y->width = x->width;
		y->speed = x->speed;
	}
}

/* The functions of an HCA go with it. */
static bool is_gone(const struct fab *f, const bool *gone, node_id n)
{
	port_id hca = FAB_NONE;

	if (gone && f->nodes[n].flags & FAB_FUNCTION)
		hca = f->ports[fab_port_id(f, n, 1)].peer;
	return gone && (gone[n] || (hca != FAB_NONE && gone[f->ports[hca].node]));
}

/* Without the nodes of gone, if there is one, and without the link at cut. */
static struct fab *copy_without(const struct fab *f, const bool *gone, port_id cut)
{
	struct fab_builder *b = fab_builder_new();
	node_id *id = mem_array(f->nnodes, sizeof(*id));

	for (node_id n = 0; n < f->nnodes; n++) {
		if (is_gone(f, gone, n))
			continue;
		id[n] = fab_add_node(b, f->nodes[n].type, f->nodes[n].guid, f->nodes[n].nports,
				     fab_node_name(f, n));
		copy_node(b, id[n], f, n);
	}
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p], *y;

		if (x->peer == FAB_NONE || x->peer < p || p == cut || x->peer == cut)
			continue;
		y = &f->ports[x->peer];
		if (!is_gone(f, gone, x->node) && !is_gone(f, gone, y->node))
			fab_add_link(b, id[x->node], x->num, id[y->node], y->num);
	}
	free(id);
	return fab_build(b);
}

struct fab *lab_without(const struct fab *f, const bool *gone)
{
	return copy_without(f, gone, FAB_NONE);
}

struct fab *lab_without_link(const struct fab *f, port_id p)
{
	return copy_without(f, NULL, p);
}

node_id lab_sm_switch(const struct fab *f, node_id sm)
{
	if (sm == FAB_NONE || (fab_is_switch(f, sm) && !(f->nodes[sm].flags & FAB_VSWITCH)))
		return sm;
	for (unsigned p = 1; p <= f->nodes[sm].nports; p++) {
		port_id q = f->ports[fab_port_id(f, sm, p)].peer;

		if (q != FAB_NONE)
			return f->ports[q].node;
	}
	return FAB_NONE;
}

size_t lab_spread(size_t i, size_t many, size_t all)
{
	return (2 * i + 1) * all / (2 * many);
}

static int join_nodes(struct fab_builder *b, const struct fab *before, const struct fab *after,
		      struct err *e)
{
	for (node_id n = 0; n < after->nnodes; n++) {
		const struct fab_node *a = &after->nodes[n], *o;
		node_id k = fab_node_by_guid(before, a->guid);

		if (k != FAB_NONE) {
			o = &before->nodes[k];
			if (o->type != a->type || o->nports != a->nports)
				return err_set(
					e, -EINVAL,
					"node %016llx has %u ports before and %u after: expected the "
					"same device",
					(unsigned long long)a->guid, o->nports, a->nports);
			continue;
		}
		k = fab_add_node(b, a->type, a->guid, a->nports, fab_node_name(after, n));
		copy_node(b, k, after, n);
	}
	return 0;
}

/*
 * A cable of AFTER to a node that is off before can be plugged in from the start: it carries nothing, and
 * the hosts at its ends get numbers for traffic. Not at a CA that is linked already: a manager there would
 * use the first port with a cable.
 */
static bool may_plug_in(struct fab_builder *b, const struct fab *before, const struct fab *after,
			port_id p)
{
	const struct fab_port *x = &after->ports[p];
	node_id old = fab_node_by_guid(before, after->nodes[x->node].guid);
	node_id n = fab_builder_find(b, after->nodes[x->node].guid);

	if (fab_builder_port(b, n, x->num)->peer != FAB_NONE)
		return false;
	for (unsigned i = 1;
	     old != FAB_NONE && !fab_is_switch(before, old) && i <= before->nodes[old].nports; i++)
		if (before->ports[fab_port_id(before, old, i)].peer != FAB_NONE)
			return false;
	return true;
}

/* A port without a cable before has the rate of AFTER. */
static void join_rates(struct fab_builder *b, const struct fab *after)
{
	for (port_id p = 0; p < after->nports; p++) {
		const struct fab_port *x = &after->ports[p];
		node_id n = fab_builder_find(b, after->nodes[x->node].guid);
		struct fab_port *d = fab_builder_port(b, n, x->num);

		if (x->peer == FAB_NONE || d->peer != FAB_NONE)
			continue;
		d->width = x->width;
		d->speed = x->speed;
	}
}

static void join_links(struct fab_builder *b, const struct fab *before, const struct fab *after)
{
	for (port_id p = 0; p < after->nports; p++) {
		const struct fab_port *x = &after->ports[p], *y;
		uint64_t from, to;

		if (x->peer == FAB_NONE || x->peer < p)
			continue;
		y = &after->ports[x->peer];
		from = after->nodes[x->node].guid;
		to = after->nodes[y->node].guid;
		if (fab_node_by_guid(before, from) != FAB_NONE &&
		    fab_node_by_guid(before, to) != FAB_NONE)
			continue;
		if (may_plug_in(b, before, after, p) && may_plug_in(b, before, after, x->peer))
			fab_add_link(b, fab_builder_find(b, from), x->num, fab_builder_find(b, to),
				     y->num);
	}
}

static void find_ends(struct lab_change *c, const struct fab *f, bool *on, port_id *peer)
{
	memset(peer, 0xff, c->fab->nports * sizeof(*peer));
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p], *y;
		node_id n = fab_node_by_guid(c->fab, f->nodes[x->node].guid), m;

		on[n] = true;
		if (x->peer == FAB_NONE)
			continue;
		y = &f->ports[x->peer];
		m = fab_node_by_guid(c->fab, f->nodes[y->node].guid);
		peer[fab_port_id(c->fab, n, x->num)] = fab_port_id(c->fab, m, y->num);
	}
}

static void find_cables(struct lab_change *c, const struct fab *after)
{
	for (port_id p = 0; p < after->nports; p++) {
		const struct fab_port *x = &after->ports[p];
		node_id n = fab_node_by_guid(c->fab, after->nodes[x->node].guid);

		if (x->peer != FAB_NONE)
			c->cable_after[fab_port_id(c->fab, n, x->num)] = x->cable_cm;
	}
}

struct lab_change *lab_change_new(const struct fab *before, const struct fab *after, struct err *e)
{
	struct fab_builder *b = fab_builder_from(before);
	struct lab_change *c;

	if (join_nodes(b, before, after, e)) {
		fab_builder_free(b);
		return NULL;
	}
	join_rates(b, after);
	join_links(b, before, after);
	c = mem_zalloc(sizeof(*c));
	c->fab = fab_build(b);
	c->sm = lab_choose_node(before);
	if (c->sm != FAB_NONE)
		c->sm = fab_node_by_guid(c->fab, before->nodes[c->sm].guid);
	c->on_before = mem_zarray(c->fab->nnodes, sizeof(bool));
	c->on_after = mem_zarray(c->fab->nnodes, sizeof(bool));
	c->peer_after = mem_array(c->fab->nports, sizeof(*c->peer_after));
	c->peer_before = mem_array(c->fab->nports, sizeof(*c->peer_before));
	c->cable_after = mem_zarray(c->fab->nports, sizeof(*c->cable_after));
	find_ends(c, before, c->on_before, c->peer_before);
	find_ends(c, after, c->on_after, c->peer_after);
	find_cables(c, after);
	return c;
}

void lab_change_free(struct lab_change *c)
{
	if (!c)
		return;
	fab_free(c->fab);
	free(c->on_before);
	free(c->on_after);
	free(c->peer_before);
	free(c->peer_after);
	free(c->cable_after);
	free(c);
}

const struct fab *lab_change_fab(const struct lab_change *c)
{
	return c->fab;
}

const bool *lab_change_on(const struct lab_change *c)
{
	return c->on_before;
}

void lab_change_text(const struct lab_change *c, char *buf, size_t size)
{
	unsigned off = 0, on = 0, cut = 0, made = 0;
	size_t at = 0;

	for (node_id n = 0; n < c->fab->nnodes; n++) {
		off += c->on_before[n] && !c->on_after[n];
		on += !c->on_before[n] && c->on_after[n];
	}
	for (port_id p = 0; p < c->fab->nports; p++) {
		port_id old = c->peer_before[p], new = c->peer_after[p];

		cut += old != FAB_NONE && old > p && old != new;
		made += new != FAB_NONE &&new > p &&old != new;
	}
	const struct {
		unsigned n;
		const char *one, *what;
	} parts[] = {{off, "node", "off"},
		     {on, "node", "on"},
		     {cut, "link", "down"},
		     {made, "link", "up"}};

	snprintf(buf, size, "nothing");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].n && at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%u %s%s %s", at ? ", " : "",
					       parts[i].n, parts[i].one, parts[i].n == 1 ? "" : "s",
					       parts[i].what);
}

node_id lab_change_sm(const struct lab_change *c)
{
	return c->sm;
}

bool lab_change_has(const struct lab_change *c, node_id n)
{
	return c->on_before[n] && c->on_after[n];
}

void lab_change_apply(const struct lab_change *c, struct sim *s)
{
	for (node_id n = 0; n < c->fab->nnodes; n++)
		if (!c->on_after[n])
			sim_node_power(s, n, false);
	for (port_id p = 0; p < c->fab->nports; p++)
		if (sim_port_peer(s, p) != FAB_NONE && sim_port_peer(s, p) != c->peer_after[p])
			sim_uncable(s, p);
	for (node_id n = 0; n < c->fab->nnodes; n++)
		if (c->on_after[n])
			sim_node_power(s, n, true);
	for (port_id p = 0; p < c->fab->nports; p++)
		if (sim_port_peer(s, p) == FAB_NONE && c->peer_after[p] != FAB_NONE) {
			sim_cable(s, p, c->peer_after[p]);
			sim_cable_length(s, p, c->cable_after[p]);
		}
}
