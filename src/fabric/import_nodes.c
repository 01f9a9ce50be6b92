/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the readers of other tools' files share: lines, nodes and links into a builder. State: struct import. Ways in: import_line(),
 * import_node(), import_link(). Knows no format.
 */
#include "fabric/import.h"

/* ---- lines ---- */

bool import_line(struct import *im)
{
	struct nl *l = &im->l;
	const char *eol;

	if (im->text >= im->stop)
		return false;
	eol = memchr(im->text, '\n', (size_t)(im->stop - im->text));
	l->line++;
	l->at = im->text;
	l->end = eol ? eol : im->stop;
	im->text = eol ? eol + 1 : im->stop;
	while (l->end > l->at && l->end[-1] == '\r')
		l->end--;
	return true;
}

/* ---- nodes ---- */

/* NodeDescription has 64 bytes; quotes and control characters are not for netlists. */
static void name_text(struct strbuf *b, struct nl_span name)
{
	while (name.n && *name.s == ' ') {
		name.s++;
		name.n--;
	}
	strbuf_add(b, "");
	nl_printable(b, name.s, name.n, SIZE_MAX);
	for (size_t i = 0; i < b->len; i++)
		if (b->s[i] == '"' || b->s[i] == '\'')
			b->s[i] = '_';
	b->len = MIN(b->len, (size_t)64);
	while (b->len && ((b->s[b->len] & 0xc0) == 0x80 || b->s[b->len - 1] == ' '))
		b->len--;
	b->s[b->len] = 0;
}

static int node_check(struct import *im, const struct import_node *v)
{
	if (!v->guid)
		return nl_fail_found(&im->l, "a GUID that is not 0", "a node with GUID 0");
	if (!v->nports || v->nports > 254)
		return nl_fail_found(&im->l, "1 to 254", "a node with %llu ports",
				     (unsigned long long)v->nports);
	im->slots += v->nports + 1;
	if (im->slots > NL_MAX_SLOTS)
		return nl_fail_found(&im->l, "a smaller fabric", "more than %u ports",
				     NL_MAX_SLOTS);
	return 0;
}

int import_node(struct import *im, const struct import_node *v, node_id *n)
{
	struct strbuf name = {0};
	struct fab_node *f;
	int rc;

	*n = fab_builder_find(im->b, v->guid);
	if (v->guid && *n != FAB_NONE) {
		f = fab_builder_node(im->b, *n);
		if (f->nports == v->nports && f->type == v->type)
			return 0;
		return nl_fail_found(&im->l, "the same as before",
				     "another type or number of ports of GUID 0x%016llx",
				     (unsigned long long)v->guid);
	}
	if ((rc = node_check(im, v)))
		return rc;
	name_text(&name, v->name);
	*n = fab_add_node(im->b, v->type, v->guid, (unsigned)v->nports, name.s);
	f = fab_builder_node(im->b, *n);
	f->flags = nl_node_flags(v->type, v->device_id, name.s);
	strbuf_free(&name);
	f->sys_guid = v->sys_guid;
	f->vendor_id = v->vendor_id & 0xffffff;
	f->device_id = v->device_id;
	if (v->type == IBA_NODE_SWITCH)
		fab_builder_port(im->b, *n, 0)->guid = v->guid;
	return 0;
}

void import_lid(struct import *im, node_id n, uint64_t port, uint64_t lid, uint64_t lmc)
{
	const struct fab_node *f = fab_builder_node(im->b, n);
	struct fab_port *p;

	if (!lid || lid > IBA_LID_MAX_UNICAST || port > f->nports ||
	    (!port && f->type != IBA_NODE_SWITCH))
		return;
	p = fab_builder_port(im->b, n, f->type == IBA_NODE_SWITCH ? 0 : (unsigned)port);
	p->lid = (uint16_t)lid;
	p->lmc = lmc <= 7 ? (uint8_t)lmc : 0;
}

/* ---- links ---- */

static int end_check(struct import *im, const struct import_end *x)
{
	const struct fab_node *f = fab_builder_node(im->b, x->node);

	if (x->port >= 1 && x->port <= f->nports)
		return 0;
	return nl_fail_found(&im->l, "a port that the node has",
			     "port %llu of a node with %u ports", (unsigned long long)x->port,
			     f->nports);
}

/* Twice the same link is one. */
static bool is_there(struct import *im, struct import_end a, struct import_end b)
{
	const struct fab_port *p = fab_builder_port(im->b, a.node, (unsigned)a.port),
			      *q = fab_builder_port(im->b, b.node, (unsigned)b.port);
	port_id first = fab_builder_node(im->b, b.node)->first_port;

	return p->peer != FAB_NONE && q->peer != FAB_NONE && p->peer == first + b.port;
}

int import_link(struct import *im, struct import_end a, struct import_end b, unsigned width,
		unsigned speed)
{
	int rc = end_check(im, &a);

	if (rc || (rc = end_check(im, &b)))
		return rc;
	if (a.node == b.node && a.port == b.port) {
		nl_warn(&im->l, im->l.line, "a port leads to itself; it is left without a link");
		return 0;
	}
	if (is_there(im, a, b))
		return 0;
	if (fab_add_link(im->b, a.node, (unsigned)a.port, b.node, (unsigned)b.port)) {
		nl_warn(&im->l, im->l.line,
			"port %llu or its other end has a link already; the first one counts",
			(unsigned long long)a.port);
		return 0;
	}
	for (unsigned i = 0; i < 2; i++) {
		struct fab_port *p = fab_builder_port(im->b, i ? b.node : a.node,
						      (unsigned)(i ? b.port : a.port));

		p->width = (uint8_t)width;
		p->speed = (uint8_t)speed;
	}
	return 0;
}

/* ---- rates ---- */

unsigned import_speed(struct nl_span w)
{
	static const struct {
		const char *text;
		unsigned speed;
	} speeds[] = {{"2.5", FAB_SDR}, {"5", FAB_DDR},	      {"10", FAB_QDR},
		      {"14", FAB_FDR},	{"FDR10", FAB_FDR10}, {"25", FAB_EDR},
		      {"50", FAB_HDR},	{"100", FAB_NDR},     {"200", FAB_XDR}};
	size_t n = 0;

	while (n < w.n && (nl_is_digit(w.s[n]) || nl_is_alpha(w.s[n]) || w.s[n] == '.'))
		n++;
	for (unsigned i = 0; i < ARRAY_LEN(speeds); i++)
		if (strlen(speeds[i].text) == n && !memcmp(speeds[i].text, w.s, n))
			return speeds[i].speed;
	return FAB_SPEED_UNKNOWN;
}
