/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between two snapshots: nodes that are gone or came, links that went down or came up, each
 * as a note. A link that is in both went down and came up again if it was Active and is in Initialize now.
 * State: none. Way in: sm_snapshot_diff_note(). Does not change the snapshots.
 */
#include "sm/manager.h"

struct differ {
	struct sm *sm;
	const struct fab *is;
	const uint32_t *node_of;	 /* of `is`: into the topology database */
	bool was_active;		 /* every link of the old snapshot */
	uint32_t counts[SM_NOTE_NKINDS]; /* of the four kinds */
	uint32_t n;
};

static void add(struct differ *d, struct sm_note n)
{
	d->counts[n.kind]++;
	n.more = d->n >= SM_NOTES_SHOWN;
	if (d->n++ < SM_NOTES_LISTED)
		sm_note_put(d->sm, n);
}

/* Nodes of one snapshot that the other one lacks; both are in the order of GUIDs. */
static void missing_nodes(struct differ *d, const struct fab *in, const struct fab *from,
			  enum sm_note_kind kind)
{
	node_id k = 0;

	for (node_id n = 0; n < in->nnodes; n++) {
		uint64_t guid = in->nodes[n].guid;

		while (k < from->nnodes && from->nodes[k].guid < guid)
			k++;
		if (k < from->nnodes && from->nodes[k].guid == guid)
			continue;
		add(d, (struct sm_note){
			       .kind = kind,
			       .about = {.kind = SM_ABOUT_DEVICE, .a = {.guid = guid}},
			       .node = {(enum iba_node_type)in->nodes[n].type},
		       });
	}
}

static struct sm_port_ref ref(const struct fab *f, port_id p)
{
	return (struct sm_port_ref){f->nodes[f->ports[p].node].guid, f->ports[p].num};
}

static bool same_ref(struct sm_port_ref x, struct sm_port_ref y)
{
	return x.guid == y.guid && x.port == y.port;
}

/* Does port `num` of node n, FAB_NONE for no such node, lead to that port? */
static bool has_link(const struct fab *f, node_id n, unsigned num, struct sm_port_ref far)
{
	port_id peer = n == FAB_NONE || num > f->nodes[n].nports
			       ? FAB_NONE
			       : f->ports[fab_port_id(f, n, num)].peer;

	return peer != FAB_NONE && same_ref(ref(f, peer), far);
}

static bool is_reset(const struct differ *d, port_id p)
{
	const struct sm_topology *t = &d->sm->topo;
	const struct sm_node *n = &t->nodes.at[d->node_of[d->is->ports[p].node]];

	return t->ports.at[n->first_port + d->is->ports[p].num].pi.state == IBA_PORT_INIT;
}

/* Port p of the new snapshot has a link that the old one has, too. */
static bool went_and_came(const struct differ *d, port_id p)
{
	return d->was_active && (is_reset(d, p) || is_reset(d, d->is->ports[p].peer));
}

static void missing_links_of(struct differ *d, const struct fab *in, node_id n,
			     const struct fab *from, node_id same, enum sm_note_kind kind)
{
	node_id now = in == d->is ? n : same;

	for (unsigned i = 1; i <= in->nodes[n].nports; i++) {
		port_id p = fab_port_id(in, n, i), peer = in->ports[p].peer;
		struct sm_port_ref near, far;

		if (peer == FAB_NONE || peer < p) /* of the two ends, the first one counts */
			continue;
		near = ref(in, p);
		far = ref(in, peer);
		if (!has_link(from, same, i, far) || went_and_came(d, fab_port_id(d->is, now, i)))
			add(d, (struct sm_note){
				       .kind = kind,
				       .about = {.kind = SM_ABOUT_LINK, .a = near, .b = far},
			       });
	}
}

static void missing_links(struct differ *d, const struct fab *in, const struct fab *from,
			  enum sm_note_kind kind)
{
	node_id k = 0;

	for (node_id n = 0; n < in->nnodes; n++) {
		uint64_t guid = in->nodes[n].guid;

		while (k < from->nnodes && from->nodes[k].guid < guid)
			k++;
		missing_links_of(d, in, n, from,
				 k < from->nnodes && from->nodes[k].guid == guid ? k : FAB_NONE,
				 kind);
	}
}

void sm_snapshot_diff_note(struct sm *sm, const struct fab *was, const struct fab *is,
			   const uint32_t *node_of)
{
	struct differ d = {.sm = sm,
			   .is = is,
			   .node_of = node_of,
			   .was_active = !sm->core.incomplete && sm->routes.tables};

	missing_nodes(&d, was, is, SM_NOTE_NODE_GONE);
	missing_nodes(&d, is, was, SM_NOTE_NODE_CAME);
	missing_links(&d, was, is, SM_NOTE_LINK_DOWN);
	missing_links(&d, is, was, SM_NOTE_LINK_UP);
	if (d.n <= SM_NOTES_SHOWN)
		return;
	sm_note_put(sm, (struct sm_note){
				.kind = SM_NOTE_MORE_CHANGES,
				.changes = {.links_down = d.counts[SM_NOTE_LINK_DOWN],
					    .links_up = d.counts[SM_NOTE_LINK_UP],
					    .nodes_gone = d.counts[SM_NOTE_NODE_GONE],
					    .nodes_came = d.counts[SM_NOTE_NODE_CAME],
					    .more = d.n - SM_NOTES_SHOWN,
					    .unlisted = d.n - MIN(d.n, SM_NOTES_LISTED)},
			});
}
