/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BEFORE and AFTER as one fabric: all nodes of both, the links of BEFORE, and what to do to turn one
 * into the other at once. State: the joined snapshot and the two lists of links. Does not run it.
 */
#include "lab/lab_priv.h"

struct lab_change {
	struct fab *fab;
	bool *on_before, *on_after;
	port_id *peer_after; /* by port of fab */
	uint32_t *cable_after;
};

static int join_nodes(struct fab_builder *b, const struct fab *before, const struct fab *after,
		      struct err *e)
{
	for (node_id n = 0; n < after->nnodes; n++) {
		const struct fab_node *a = &after->nodes[n], *o;
		node_id k = fab_node_by_guid(before, a->guid);

		if (k != FAB_NONE) {
			o = &before->nodes[k];
			if (o->type != a->type || o->nports != a->nports)
				return err_set(e, -EINVAL,
					       "node %016llx has %u ports before and %u after: expected the "
					       "same device",
					       (unsigned long long)a->guid, o->nports, a->nports);
			continue;
		}
		k = fab_add_node(b, a->type, a->guid, a->nports, fab_node_name(after, n));
		fab_builder_node(b, k)->flags = a->flags;
		fab_builder_node(b, k)->sys_guid = a->sys_guid;
		for (unsigned p = 0; p <= a->nports; p++) {
			const struct fab_port *s = &after->ports[a->first_port + p];
			struct fab_port *d = fab_builder_port(b, k, p);

			d->guid = s->guid;
			d->width = s->width;
			d->speed = s->speed;
		}
	}
	return 0;
}

struct lab_change *lab_change_new(const struct fab *before, const struct fab *after, struct err *e)
{
	struct fab_builder *b = fab_builder_from(before);
	struct lab_change *c;

	if (join_nodes(b, before, after, e)) {
		fab_builder_free(b);
		return NULL;
	}
	c = mem_zalloc(sizeof(*c));
	c->fab = fab_build(b);
	c->on_before = mem_zarray(c->fab->nnodes, sizeof(bool));
	c->on_after = mem_zarray(c->fab->nnodes, sizeof(bool));
	c->peer_after = mem_array(c->fab->nports, sizeof(*c->peer_after));
	c->cable_after = mem_zarray(c->fab->nports, sizeof(*c->cable_after));
	memset(c->peer_after, 0xff, c->fab->nports * sizeof(*c->peer_after));
	memset(c->on_before, true, before->nnodes * sizeof(bool));
	for (port_id p = 0; p < after->nports; p++) {
		const struct fab_port *x = &after->ports[p];
		node_id n = fab_node_by_guid(c->fab, after->nodes[x->node].guid);

		c->on_after[n] = true;
		if (x->peer == FAB_NONE)
			continue;
		const struct fab_port *y = &after->ports[x->peer];
		node_id m = fab_node_by_guid(c->fab, after->nodes[y->node].guid);

		c->peer_after[fab_port_id(c->fab, n, x->num)] = fab_port_id(c->fab, m, y->num);
		c->cable_after[fab_port_id(c->fab, n, x->num)] = x->cable_cm;
	}
	return c;
}

void lab_change_free(struct lab_change *c)
{
	if (!c)
		return;
	fab_free(c->fab);
	free(c->on_before);
	free(c->on_after);
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

/* "1 node off, 8 links down": what goes and what comes, by number. */
void lab_change_text(const struct lab_change *c, char *buf, size_t size)
{
	unsigned off = 0, on = 0, cut = 0, made = 0;
	size_t at = 0;

	for (node_id n = 0; n < c->fab->nnodes; n++) {
		off += c->on_before[n] && !c->on_after[n];
		on += !c->on_before[n] && c->on_after[n];
	}
	for (port_id p = 0; p < c->fab->nports; p++) {
		port_id old = c->fab->ports[p].peer, new = c->peer_after[p];

		cut += old != FAB_NONE && old > p && old != new;
		made += new != FAB_NONE && new > p && old != new;
	}
	const struct {
		unsigned n;
		const char *one, *what;
	} parts[] = {{off, "node", "off"}, {on, "node", "on"}, {cut, "link", "down"}, {made, "link", "up"}};

	snprintf(buf, size, "nothing");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].n && at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%u %s%s %s", at ? ", " : "", parts[i].n,
					       parts[i].one, parts[i].n == 1 ? "" : "s", parts[i].what);
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
