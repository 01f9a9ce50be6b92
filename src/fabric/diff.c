/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between two snapshots, by GUID and port number. Keeps no state. Way in: fab_diff().
 * Does not guess that a node moved or was renamed: same GUID is the same node, whatever its index; of nodes that share
 * a GUID, each is compared with the one that has its place among them.
 */
#include "fabric/fabric.h"

struct differ {
	const struct fab *before, *after;
	fab_diff_list *out;
	unsigned what;	    /* FAB_DIFF_LIDS, FAB_DIFF_RATES */
	struct strbuf text; /* what changed at the place looked at */
};

static void note(struct differ *d, const char *fmt, ...) PRINTF(2, 3);
static void note(struct differ *d, const char *fmt, ...)
{
	char piece[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	if (d->text.len)
		strbuf_add(&d->text, "; ");
	strbuf_add(&d->text, piece);
}

static void note_number(struct differ *d, const char *what, uint64_t a, uint64_t b)
{
	if (a != b)
		note(d, "%s %llu -> %llu", what, (unsigned long long)a, (unsigned long long)b);
}

static void note_hex(struct differ *d, const char *what, uint64_t a, uint64_t b)
{
	if (a != b)
		note(d, "%s 0x%llx -> 0x%llx", what, (unsigned long long)a, (unsigned long long)b);
}

/* Hand over what was noted as one item about that node and port. */
static void flush(struct differ *d, uint64_t guid, unsigned port)
{
	if (!d->text.len)
		return;
	vec_push(d->out, (struct fab_diff_item){.kind = FAB_NODE_CHANGED,
						.guid_a = guid,
						.port_a = (uint8_t)port,
						.text = mem_strdup(d->text.s)});
	d->text.len = 0;
}

static void rate_text(char buf[16], const struct fab_port *p)
{
	if (p->width)
		snprintf(buf, 16, "%ux%s", p->width, fab_speed_name(p->speed));
	else
		snprintf(buf, 16, "%s", p->speed ? fab_speed_name(p->speed) : "unknown");
}

static void compare_port(struct differ *d, const struct fab_port *p, const struct fab_port *q)
{
	char x[16], y[16];

	note_hex(d, "port GUID", p->guid, q->guid);
	if (d->what & FAB_DIFF_LIDS) {
		note_number(d, "LID", p->lid, q->lid);
		note_number(d, "LMC", p->lmc, q->lmc);
	}
	if (p->peer == FAB_NONE || q->peer == FAB_NONE)
		return; /* the rate of a port without a link says nothing */
	if (d->what & FAB_DIFF_RATES && (p->width != q->width || p->speed != q->speed)) {
		rate_text(x, p);
		rate_text(y, q);
		note(d, "rate %s -> %s", x, y);
	}
	if (p->cable_cm != q->cable_cm) {
		fab_cable_text(x, p->cable_cm);
		fab_cable_text(y, q->cable_cm);
		note(d, "cable %s -> %s", x, y);
	}
}

static const char *port0_word(const struct fab_node *n)
{
	return n->flags & FAB_ENHANCED_PORT0 ? "enhanced" : "base";
}

static void compare_node(struct differ *d, node_id a, node_id b)
{
	const struct fab_node *n = &d->before->nodes[a], *m = &d->after->nodes[b];
	const char *x = fab_node_name(d->before, a), *y = fab_node_name(d->after, b);

	if (n->type != m->type)
		note(d, "type %s -> %s", iba_node_type_name(n->type), iba_node_type_name(m->type));
	if (strcmp(x, y))
		note(d, "name \"%.200s\" -> \"%.200s\"", x, y);
	note_number(d, "ports", n->nports, m->nports);
	note_hex(d, "vendor", n->vendor_id, m->vendor_id);
	note_hex(d, "device", n->device_id, m->device_id);
	note_hex(d, "system GUID", n->sys_guid, m->sys_guid);
	if ((n->flags ^ m->flags) & FAB_ENHANCED_PORT0)
		note(d, "port 0 %s -> %s", port0_word(n), port0_word(m));
	if ((n->flags ^ m->flags) & FAB_SHARP_AN)
		note(d, "%s an aggregation node", m->flags & FAB_SHARP_AN ? "now" : "no longer");
	if (n->sriov != m->sriov)
		note(d, "sriov %s -> %s", fab_sriov_name(n->sriov), fab_sriov_name(m->sriov));
	note_number(d, "VFs", n->vfs, m->vfs);
	note_number(d, "linear table", n->linear_cap, m->linear_cap);
	note_number(d, "random table", n->random_cap, m->random_cap);
	note_number(d, "multicast table", n->mcast_cap, m->mcast_cap);
	for (unsigned p = 0; p <= MIN(n->nports, m->nports); p++) {
		compare_port(d, &d->before->ports[n->first_port + p],
			     &d->after->ports[m->first_port + p]);
		flush(d, n->guid, p);
	}
}

/* The same node in another snapshot: of nodes that share a GUID, the one with as many before it. */
static node_id counterpart(const struct fab *in, node_id n, const struct fab *other)
{
	uint64_t guid = in->nodes[n].guid;
	node_id m = fab_node_by_guid(other, guid);
	uint32_t before = 0;

	for (node_id i = fab_node_by_guid(in, guid); i < n; i++)
		before += in->nodes[i].guid == guid;
	for (; before && m < other->nnodes; before--)
		do
			m++;
		while (m < other->nnodes && other->nodes[m].guid != guid);
	return m < other->nnodes ? m : FAB_NONE;
}

/* A link is reported by its end with the lower GUID. */
static bool is_first_end(const struct fab *f, port_id p)
{
	const struct fab_port *x = &f->ports[p], *y = &f->ports[x->peer];
	uint64_t a = f->nodes[x->node].guid, b = f->nodes[y->node].guid;

	if (a != b)
		return a < b;
	return x->node != y->node ? x->node < y->node : x->num < y->num;
}

/* Nodes of one snapshot that the other lacks. */
static void missing_nodes(struct differ *d, const struct fab *in, const struct fab *from,
			  enum fab_diff_kind kind)
{
	for (node_id n = 0; n < in->nnodes; n++)
		if (counterpart(in, n, from) == FAB_NONE)
			vec_push(d->out,
				 (struct fab_diff_item){.kind = kind, .guid_a = in->nodes[n].guid});
}

/* The link of this port, in another snapshot. */
static bool has_link(const struct fab *in, const struct fab_port *x, const struct fab *from)
{
	const struct fab_port *y = &in->ports[x->peer];
	node_id a = counterpart(in, x->node, from), b = counterpart(in, y->node, from);

	return a != FAB_NONE && b != FAB_NONE && x->num <= from->nodes[a].nports &&
	       y->num <= from->nodes[b].nports &&
	       from->ports[fab_port_id(from, a, x->num)].peer == fab_port_id(from, b, y->num);
}

static void missing_links(struct differ *d, const struct fab *in, const struct fab *from,
			  enum fab_diff_kind kind)
{
	for (port_id p = 0; p < in->nports; p++) {
		const struct fab_port *x = &in->ports[p], *y;

		if (x->peer == FAB_NONE || !is_first_end(in, p))
			continue;
		y = &in->ports[x->peer];
		if (!has_link(in, x, from))
			vec_push(d->out, (struct fab_diff_item){.kind = kind,
								.guid_a = in->nodes[x->node].guid,
								.guid_b = in->nodes[y->node].guid,
								.port_a = x->num,
								.port_b = y->num});
	}
}

static int compare_items(const void *a, const void *b)
{
	const struct fab_diff_item *x = a, *y = b;
	int order;

#define BY(field)                                                                                  \
	if ((order = (x->field > y->field) - (x->field < y->field)))                               \
	return order
	BY(kind);
	BY(guid_a);
	BY(port_a);
	BY(guid_b);
	BY(port_b);
#undef BY
	return 0;
}

void fab_diff(const struct fab *before, const struct fab *after, fab_diff_list *out)
{
	fab_diff_some(before, after, FAB_DIFF_ALL, out);
}

void fab_diff_some(const struct fab *before, const struct fab *after, unsigned what,
		   fab_diff_list *out)
{
	struct differ d = {.before = before, .after = after, .out = out, .what = what};
	size_t start = out->n;

	missing_nodes(&d, after, before, FAB_NODE_ADDED);
	missing_nodes(&d, before, after, FAB_NODE_GONE);
	missing_links(&d, after, before, FAB_LINK_ADDED);
	missing_links(&d, before, after, FAB_LINK_GONE);
	for (node_id a = 0; a < before->nnodes; a++) {
		node_id b = counterpart(before, a, after);

		if (b != FAB_NONE)
			compare_node(&d, a, b);
	}
	if (out->n > start)
		qsort(out->at + start, out->n - start, sizeof(*out->at), compare_items);
	strbuf_free(&d.text);
}

void fab_diff_free(fab_diff_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].text);
	vec_free(l);
}
