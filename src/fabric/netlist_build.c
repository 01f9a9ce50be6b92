/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the statements of a netlist to a snapshot: GUIDs for nodes without one, port counts, links
 * that both ends, one end or contradicting ends state. State: struct nl plus a table of which port
 * line spoke first for each port. Way in: nl_build(). Does not read text and never fails over a
 * link: what cannot hold is left out with a warning that names both ends.
 */
#include "fabric/netlist_priv.h"

struct build {
	struct nl *l;
	struct fab_builder *b;
	VEC(port_id) first; /* node -> its port 0, while snapshots are not there yet */
	uint32_t *said;	    /* port -> 1 + the first port line about it, 0 when there is none */
};

/* ---- how messages call an end ---- */

static void node_text(struct strbuf *b, const struct nl *l, const struct nl_node *n)
{
	if (n->id.guid) {
		strbuf_addf(b, "%c-%016llx", "?HSR"[n->type & 3], (unsigned long long)n -> guid);
	} else {
		const char *s = l->sym_text.s + l->syms.at[n->id.sym];

		nl_printable(b, s, strlen(s), SIZE_MAX);
	}
}

/* S-0002000000000001[3] "leaf1" */
static void end_text(struct strbuf *b, const struct nl *l, uint32_t node, unsigned num)
{
	const struct nl_node *n = &l->nodes.at[node];

	node_text(b, l, n);
	strbuf_addf(b, "[%u]", num);
	if (n->has_name && n->name.n) {
		strbuf_add(b, " \"");
		nl_printable(b, n->name.s, n->name.n, SIZE_MAX);
		strbuf_add(b, "\"");
	}
}

static void far_text(struct strbuf *b, const struct nl *l, const struct nl_end *d)
{
	if (d->far_node != FAB_NONE) {
		end_text(b, l, d->far_node, d->far_num);
	} else if (d->far_id.guid) {
		strbuf_addf(b, "%c-%016llx[%u]", d->far_id.letter,
			    (unsigned long long)d->far_id.guid, d->far_num);
	} else {
		const char *s = l->sym_text.s + l->syms.at[d->far_id.sym];

		nl_printable(b, s, strlen(s), SIZE_MAX);
		strbuf_addf(b, "[%u]", d->far_num);
	}
}

/* "A[1] leads to B[2], <why>" */
static void warn_link(struct nl *l, const struct nl_end *d, const char *why)
{
	struct strbuf b = {0};

	end_text(&b, l, d->node, d->num);
	strbuf_add(&b, " leads to ");
	far_text(&b, l, d);
	nl_warn(l, d->line, "%s, %s", b.s, why);
	strbuf_free(&b);
}

/* ---- nodes ---- */

/* Nodes named by text get the GUIDs that ibsim would give: one for a switch; for a CA one more
 * than it has ports, since its ports take the following ones. GUIDs that the file uses elsewhere
 * are skipped. */
static void make_guids(struct nl *l)
{
	uint64_t next[4] = {0}, last_wish[4] = {0};

	for (uint32_t i = 0; i < l->nodes.n; i++) {
		struct nl_node *n = &l->nodes.at[i];
		uint64_t *at = &next[n->type];
		struct strbuf b = {0};

		if (n->guid)
			continue;
		if (n->guid_wish > *at || n->guid_wish < last_wish[n->type])
			*at = n->guid_wish; /* continue where the last search ended */
		last_wish[n->type] = n->guid_wish;
		while (!*at || map64_get(&l->by_guid, *at) != MAP_NONE)
			++*at;
		n->guid = *at;
		map64_put(&l->by_guid, n->guid, i);
		node_text(&b, l, n);
		if (!strcmp(b.s + MIN((size_t)1, b.len), "-0000000000000000"))
			nl_warn(l, n->line, "%s has GUID 0; it is given 0x%016llx", b.s,
				(unsigned long long)n->guid);
		strbuf_free(&b);
	}
}

/* The highest port that a line uses of a node, and that line. */
struct used {
	uint32_t line;
	uint8_t num;
};

static void use_port(struct used *u, unsigned num, uint32_t line)
{
	if (num > u->num)
		*u = (struct used){.line = line, .num = (uint8_t)num};
}

static void grow_ports(struct nl *l, struct nl_node *n, const struct used *u)
{
	struct strbuf b = {0};
	unsigned nports = MAX(u->num, 1);

	if (nports <= n->nports)
		return;
	node_text(&b, l, n);
	if (u->num)
		nl_warn(l, u->line,
			"%s is declared with %u ports, but port %u is used; it is given %u", b.s,
			n->nports, nports, nports);
	else
		nl_warn(l, n->line, "%s is declared with 0 ports; it is given 1", b.s);
	strbuf_free(&b);
	l->nslots += nports - n->nports;
	n->nports = (uint8_t)nports;
}

/* Switches with an aggregation node inside often declare one port too few. */
static void count_ports(struct nl *l)
{
	struct used *used = mem_zarray(l->nodes.n, sizeof(*used));

	for (size_t i = 0; i < l->ends.n; i++) {
		struct nl_end *d = &l->ends.at[i];

		d->far_node = d->unlinked ? FAB_NONE : nl_find(l, &d->far_id);
		use_port(&used[d->node], d->num, d->line);
		if (d->far_node != FAB_NONE)
			use_port(&used[d->far_node], d->far_num, d->line);
	}
	for (size_t i = 0; i < l->nodes.n; i++)
		grow_ports(l, &l->nodes.at[i], &used[i]);
	free(used);
}

static void add_nodes(struct build *w)
{
	struct nl *l = w->l;
	struct strbuf name = {0};
	port_id first = 0;

	for (size_t i = 0; i < l->nodes.n; i++) {
		const struct nl_node *s = &l->nodes.at[i];
		struct fab_node *n;
		struct fab_port *p;

		name.len = 0;
		strbuf_addn(&name, s->name.s ? s->name.s : "", s->name.n);
		if (!s->has_name && !s->id.guid)
			strbuf_add(&name, l->sym_text.s + l->syms.at[s->id.sym]);
		n = fab_builder_node(w->b, fab_add_node(w->b, s->type, s->guid, s->nports, name.s));
		if (s->has_sys_guid)
			n->sys_guid = s->sys_guid;
		n->vendor_id = s->vendor_id;
		n->device_id = s->device_id;
		n->flags = s->flags | nl_node_flags(s->type, s->device_id, name.s);
		n->sriov = s->sriov;
		n->vfs = s->vfs;
		n->linear_cap = s->caps[NL_LINEAR_CAP];
		n->random_cap = s->caps[NL_RANDOM_CAP];
		n->mcast_cap = s->caps[NL_MCAST_CAP];
		p = fab_builder_port(w->b, (node_id)i, 0);
		if (s->has_port0_guid)
			p->guid = s->port0_guid;
		p->lid = s->lid;
		p->lmc = s->lmc;
		vec_push(&w->first, first);
		first += s->nports + 1u;
	}
	strbuf_free(&name);
}

/* ---- links ---- */

static uint32_t *said_slot(struct build *w, uint32_t node, unsigned num)
{
	return &w->said[w->first.at[node] + num];
}

/* The same port a second time: no conflict when both lines state the same. */
static void warn_repeated(struct nl *l, const struct nl_end *d, const struct nl_end *first)
{
	char why[80];

	if (d->unlinked)
		return;
	if (d->far_node == first->far_node && d->far_num == first->far_num && !first->unlinked)
		snprintf(why, sizeof(why), "as line %u says already", first->line);
	else
		snprintf(why, sizeof(why), "but line %u says otherwise and is kept", first->line);
	warn_link(l, d, why);
}

/* What a line states about its own port. The first line about a port counts. */
static void hear(struct build *w, uint32_t i)
{
	const struct nl_end *d = &w->l->ends.at[i];
	uint32_t *slot = said_slot(w, d->node, d->num);
	bool is_switch = w->l->nodes.at[d->node].type == IBA_NODE_SWITCH;
	struct fab_port *p = fab_builder_port(w->b, d->node, d->num);

	if (!d->num) {
		warn_link(w->l, d, "but port 0 has no cable; the line is ignored");
		return;
	}
	if (*slot) {
		warn_repeated(w->l, d, &w->l->ends.at[*slot - 1]);
		return;
	}
	*slot = i + 1;
	p->width = d->width;
	p->speed = d->speed;
	if (!is_switch) {
		p->guid = d->guid;
		p->lid = d->lid;
		p->lmc = d->lmc;
	}
}

/* A cable has one length, stated at either end. */
static void hear_cable(struct build *w, const struct nl_end *d, const struct nl_end *far)
{
	struct fab_port *p = fab_builder_port(w->b, d->node, d->num);
	uint32_t here = d->cable_cm, there = far ? far->cable_cm : 0;

	if (p->cable_cm)
		return; /* the far end spoke first */
	if (here && there && here != there)
		warn_link(w->l, d, "which gives the cable another length; this line's is kept");
	p->cable_cm = here ? here : there;
	fab_builder_port(w->b, d->far_node, d->far_num)->cable_cm = p->cable_cm;
}

/* What a line states about the far port counts where that port has no line of its own that
 * states it. */
static void hear_far(struct build *w, const struct nl_end *d)
{
	uint32_t told = *said_slot(w, d->far_node, d->far_num);
	const struct nl_end *own = told ? &w->l->ends.at[told - 1] : NULL;
	const struct nl_node *n = &w->l->nodes.at[d->far_node];
	struct fab_port *p = fab_builder_port(w->b, d->far_node, d->far_num);

	if (!own || own->unlinked) {
		p->width = d->width;
		p->speed = d->speed;
	}
	hear_cable(w, d, own);
	if (n->type == IBA_NODE_SWITCH) {
		struct fab_port *p0 = fab_builder_port(w->b, d->far_node, 0);

		if (!n->has_lid && !p0->lid && d->has_far_lid)
			p0->lid = d->far_lid;
		return;
	}
	if (!(own && own->has_guid) && d->has_far_guid)
		p->guid = d->far_guid;
	if (!(own && own->has_lid) && d->has_far_lid)
		p->lid = d->far_lid;
}

static const char *impossible(const struct nl_end *d)
{
	if (d->far_node == FAB_NONE)
		return "which is not in the file; the link is left out";
	if (!d->far_num)
		return "but port 0 has no cable; the line is ignored";
	if (d->far_node == d->node && d->far_num == d->num)
		return "which is itself; a loopback plug is ignored";
	return NULL;
}

/* Does the port have a link already, and not the one that this line states? */
static bool taken(struct build *w, const struct nl_end *d, uint32_t node, unsigned num)
{
	const struct fab_port *p = fab_builder_port(w->b, node, num), *q;
	struct strbuf b = {0};

	if (p->peer == FAB_NONE)
		return false;
	q = fab_builder_port(w->b, 0, 0) +
	    p->peer; /* port ids count from the first node's port 0 */
	strbuf_add(&b, "but the link between ");
	end_text(&b, w->l, node, num);
	strbuf_add(&b, " and ");
	end_text(&b, w->l, q->node, q->num);
	strbuf_add(&b, " is stated first and kept");
	warn_link(w->l, d, b.s);
	strbuf_free(&b);
	return true;
}

/* Is there, in the end, the link that this line states? */
static bool link_stated(struct build *w, const struct nl_end *d)
{
	const char *why = impossible(d);
	uint32_t told;

	if (why) {
		warn_link(w->l, d, why);
		return false;
	}
	if (fab_builder_port(w->b, d->node, d->num)->peer == w->first.at[d->far_node] + d->far_num)
		return true;
	if (taken(w, d, d->node, d->num) || taken(w, d, d->far_node, d->far_num))
		return false;
	fab_add_link(w->b, d->node, d->num, d->far_node, d->far_num);
	told = *said_slot(w, d->far_node, d->far_num);
	if (!told || w->l->ends.at[told - 1].unlinked)
		warn_link(w->l, d, "which does not list it; the link is completed");
	return true;
}

static void link_ends(struct build *w)
{
	for (uint32_t i = 0; i < w->l->ends.n; i++) {
		const struct nl_end *d = &w->l->ends.at[i];

		if (d->unlinked || !d->num || *said_slot(w, d->node, d->num) != i + 1)
			continue;
		if (link_stated(w, d))
			hear_far(w, d);
	}
}

/* Ports of CAs and routers in use need a GUID; ibsim's are those behind the node's. */
static void make_port_guids(struct build *w)
{
	for (uint32_t i = 0; i < w->l->nodes.n; i++) {
		const struct nl_node *n = &w->l->nodes.at[i];

		if (n->type == IBA_NODE_SWITCH)
			continue;
		for (unsigned num = 1; num <= n->nports; num++) {
			struct fab_port *p = fab_builder_port(w->b, i, num);
			uint32_t told = *said_slot(w, i, num);
			bool stated = told && w->l->ends.at[told - 1].has_guid;

			if (p->peer != FAB_NONE && !p->guid && !stated)
				p->guid = n->guid + num;
		}
	}
}

/* ---- all together ---- */

struct line_order {
	uint32_t line, seq;
};

static int by_line(const void *a, const void *b)
{
	const struct line_order *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* By line; warnings about one line stay in the order they were found. */
static void sort_warnings(struct fab_netlist *n)
{
	size_t count = n->warnings.n;
	struct line_order *order = mem_array(count, sizeof(*order));
	struct fab_warning *sorted = mem_array(count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct line_order){n->warnings.at[i].line, (uint32_t)i};
	qsort(order, count, sizeof(*order), by_line);
	for (size_t i = 0; i < count; i++)
		sorted[i] = n->warnings.at[order[i].seq];
	free(order);
	free(n->warnings.at);
	n->warnings.at = sorted;
	n->warnings.cap = MAX(count, (size_t)1);
}

int nl_build(struct nl *l)
{
	struct build w = {.l = l};

	make_guids(l);
	count_ports(l);
	if (l->nslots > NL_MAX_SLOTS)
		return err_set(l->e, -EINVAL, "%s:%u: found %llu ports in all, expected at most %u",
			       l->file, l->line, (unsigned long long)l->nslots, NL_MAX_SLOTS);
	if (nl_sriov_check(l) || nl_caps_check(l))
		return -EINVAL;
	w.b = fab_builder_new();
	add_nodes(&w);
	w.said = mem_zarray(l->nslots, sizeof(*w.said));
	for (uint32_t i = 0; i < l->ends.n; i++)
		hear(&w, i);
	link_ends(&w);
	for (size_t i = 0; i < l->vfs.n; i++)
		if (l->vfs.at[i].node != FAB_NONE)
			fab_add_vlid(w.b, l->vfs.at[i].node, l->vfs.at[i].slot, l->vfs.at[i].lid,
				     l->vfs.at[i].guid);
	make_port_guids(&w);
	free(w.said);
	vec_free(&w.first);
	sort_warnings(&l->out);
	l->out.fab = fab_build(w.b);
	return 0;
}
