/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot as a Graphviz graph, with port numbers on the links. Keeps no state. Way in: draw_fabric_dot().
 * Does not compute positions: dot(1), neato(1) or sfdp(1) do.
 */
#include "draw/draw.h"

static void add_quoted(struct strbuf *out, const char *s)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		len = utf8_len(s, n);
		if (*s == '"' || *s == '\\')
			strbuf_addf(out, "\\%c", *s);
		else
			strbuf_addn(out, len ? s : "?", MAX(len, (size_t)1));
		len = MAX(len, (size_t)1);
	}
}

static void add_node(struct strbuf *out, const struct fab *f, node_id n)
{
	uint16_t lid = f->ports[fab_port_id(f, n, fab_is_switch(f, n) ? 0 : 1)].lid;
	const char *shape = "ellipse";
	char ident[32];

	if (fab_is_switch(f, n))
		shape = "box";
	else if (f->nodes[n].type == IBA_NODE_ROUTER)
		shape = "diamond";
	fab_node_ident(f, n, ident);
	strbuf_addf(out, "\t\"%s\" [shape=%s, label=\"", ident, shape);
	add_quoted(out, *fab_node_name(f, n) ? fab_node_name(f, n) : ident);
	if (lid)
		strbuf_addf(out, "\\nLID %u", lid);
	if (f->nodes[n].sriov)
		strbuf_addf(out, "\\n%u VF%s", f->nodes[n].vfs, f->nodes[n].vfs == 1 ? "" : "s");
	strbuf_addf(out, "\"%s];\n", f->nodes[n].sriov ? ", peripheries=2" : "");
}

static void add_link(struct strbuf *out, const struct fab *f, const struct fab_port *a,
		     const struct fab_port *b)
{
	unsigned width = a->width ? a->width : b->width, speed = a->speed ? a->speed : b->speed;
	char from[32], to[32];

	fab_node_ident(f, a->node, from);
	fab_node_ident(f, b->node, to);
	strbuf_addf(out, "\t\"%s\" -- \"%s\" [taillabel=\"%u\", headlabel=\"%u\"", from, to, a->num,
		    b->num);
	if (width && speed)
		strbuf_addf(out, ", tooltip=\"%ux %s\"", width, fab_speed_name(speed));
	strbuf_add(out, "];\n");
}

void draw_fabric_dot(const struct fab *f, struct strbuf *out)
{
	strbuf_add(out, "graph fabric {\n"
			"\tgraph [rankdir=BT, overlap=false, splines=true];\n"
			"\tnode [fontsize=10, fontname=\"sans-serif\", height=0.3];\n"
			"\tedge [fontsize=7, color=\"#555555\"];\n");
	for (node_id n = 0; n < f->nnodes; n++)
		add_node(out, f, n);
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && f->ports[p].peer > p)
			add_link(out, f, &f->ports[p], &f->ports[f->ports[p].peer]);
	strbuf_add(out, "}\n");
}
