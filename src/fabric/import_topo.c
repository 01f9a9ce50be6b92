/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a plan as ibutils have it (.topo): systems with their type and name, and a line for each cable.
 *
 *	MTS3600 sw1
 *	   P1 -4x-10G-> HCA h1 P1
 *
 * State: struct topo. Way in: import_topo(). What is inside a type of systems is in ibutils' .ibnl files: sections of them may come before the
 * plan in the same text, and fab_netlist_load() reads files (import_files.c). A plan has no GUIDs: they are made up, so that it is
 * compared by name (weft topo diff --names).
 *
 * A type without an .ibnl file is one device: an adapter if it is called like one (CA, HCA, MT2..., ConnectX, ...) or, of an unknown type, if no
 * port beyond 2 is used and it is cabled to one other system; else it is a switch. All systems of such a type have as many ports as the
 * highest that one of them uses; of types that end with a number of ports (MTS2400-24, MTS3600) that number.
 */
#include "fabric/ibnl.h"

#include <strings.h>

struct system {
	struct nl_span type, name, cfg;
	uint32_t line, kind;
	node_id n;		 /* of several devices: the first one; they follow each other */
	struct ibnl_system made; /* of a type that an .ibnl file describes */
	uint32_t other;		 /* a system that it is cabled to; FAB_NONE */
	bool several;		 /* and to others */
};

struct kind { /* of systems */
	struct nl_span name;
	uint32_t top;  /* highest port that is used */
	uint32_t ibnl; /* FAB_NONE: it is one device */
	bool adapter;
};

struct cable {
	uint32_t line, from, to;
	uint64_t from_port, to_port; /* of systems of one device */
	struct nl_span from_name, to_name;
	uint8_t width, speed; /* 0: not stated */
};

struct topo {
	VEC(struct system) systems;
	VEC(struct kind) kinds;
	VEC(struct cable) cables;
	struct map64 by_name, by_kind;
	struct ibnl *lib, own; /* own: without files, from sections in the text alone */
};

/* ---- words ---- */

static uint64_t span_hash(struct nl_span w)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < w.n; i++)
		h = (h ^ (uint8_t)w.s[i]) * UINT64_C(1099511628211);
	return h;
}

/* ---- kinds and systems ---- */

static bool is_adapter(struct nl_span type)
{
	static const char *const words[] = {"CA",     "HCA",	 "MT2",	 "ConnectX",
					    "Cougar", "Cheetah", "Lion", "Eagle"};

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (type.n >= strlen(words[i]) && !strncasecmp(type.s, words[i], strlen(words[i])))
			return true;
	return false;
}

static uint32_t kind_of(struct topo *t, struct nl_span name)
{
	uint64_t h = span_hash(name);
	uint32_t i = map64_get(&t->by_kind, h);

	if (i != MAP_NONE && import_span_same(t->kinds.at[i].name, name))
		return i;
	vec_push(&t->kinds, ((struct kind){.name = name,
					   .ibnl = ibnl_top_find(t->lib, name),
					   .adapter = is_adapter(name)}));
	map64_put(&t->by_kind, h, (uint32_t)t->kinds.n - 1);
	return (uint32_t)t->kinds.n - 1;
}

static int system_of(struct import *im, struct topo *t, struct nl_span type, struct nl_span name,
		     uint32_t *at)
{
	uint64_t h = span_hash(name);
	uint32_t i = map64_get(&t->by_name, h);

	if (i != MAP_NONE && import_span_same(t->systems.at[i].name, name)) {
		*at = i;
		if (import_span_same(t->systems.at[i].type, type))
			return 0;
		return nl_fail_found(
			&im->l, "one type for each system", "%.*s as a %.*s, in line %u as another",
			nl_shown(name.s, name.s + name.n), name.s,
			nl_shown(type.s, type.s + type.n), type.s, t->systems.at[i].line);
	}
	*at = (uint32_t)t->systems.n;
	vec_push(&t->systems, ((struct system){.type = type,
					       .name = name,
					       .line = im->l.line,
					       .kind = kind_of(t, type),
					       .n = FAB_NONE,
					       .other = FAB_NONE}));
	map64_put(&t->by_name, h, *at);
	return 0;
}

/* "P3", "3" or "U1/P3", the port of the only device. */
static int number_of(struct nl *l, struct nl_span w, uint64_t *num)
{
	const char *at = w.s, *end = w.s + w.n;

	if (w.n > 3 && !strncasecmp(at, "U1/", 3))
		at += 3;
	if (at < end && (*at == 'P' || *at == 'p'))
		at++;
	if (at < end && nl_take_dec(&at, end, num) && at == end && *num >= 1 && *num <= 254)
		return 0;
	l->at = w.s;
	l->end = end;
	return nl_fail(
		l, memchr(w.s, '/', w.n)
			   ? "a port such as P3: a system of several boards needs its .ibnl file, "
			     "beside the plan or in $IBDM_IBNL_PATH"
			   : "a port from P1 to P254");
}

/* ---- lines ---- */

static void end_note(struct topo *t, uint32_t at, uint64_t port, uint32_t other)
{
	struct system *s = &t->systems.at[at];
	struct kind *k = &t->kinds.at[s->kind];

	k->top = MAX(k->top, (uint32_t)port);
	s->several |= s->other != FAB_NONE && s->other != other;
	s->other = other;
}

static bool is_described(const struct topo *t, uint32_t system)
{
	return t->kinds.at[t->systems.at[system].kind].ibnl != FAB_NONE;
}

static int port_of(struct import *im, const struct topo *t, uint32_t system, struct nl_span name,
		   uint64_t *num)
{
	return is_described(t, system) ? 0 : number_of(&im->l, name, num);
}

static int cable_line(struct import *im, struct topo *t, uint32_t from)
{
	struct cable c = {.line = im->l.line, .from = from};
	struct nl_span type, name;
	struct nl *l = &im->l;
	int rc;

	c.from_name = import_word(l);
	if ((rc = port_of(im, t, from, c.from_name, &c.from_port)) ||
	    (rc = import_arrow(l, &c.width, &c.speed)))
		return rc;
	type = import_word(l);
	name = import_word(l);
	if (!type.n || !name.n)
		return nl_fail(l, "type, name and port of the other system");
	c.to_name = import_word(l);
	if ((rc = import_line_ends(l)) || (rc = system_of(im, t, type, name, &c.to)) ||
	    (rc = port_of(im, t, c.to, c.to_name, &c.to_port)))
		return rc;
	end_note(t, from, c.from_port, c.to);
	end_note(t, c.to, c.to_port, from);
	vec_push(&t->cables, c);
	return 0;
}

/* "Gazelle GZ1 CFG: leaf1=R,leaf7=R" */
static int system_line(struct import *im, struct topo *t, uint32_t *now)
{
	struct nl_span type = import_word(&im->l), name = import_word(&im->l), cfg;
	int rc;

	if (!name.n)
		return nl_fail(&im->l, "a system: its type and its name");
	if ((rc = system_of(im, t, type, name, now)))
		return rc;
	cfg = import_word(&im->l);
	if (!cfg.n)
		return 0;
	if (cfg.n < 4 || memcmp(cfg.s, "CFG:", 4)) {
		im->l.at = cfg.s;
		return nl_fail(&im->l, "CFG: and boards, or the end of the line");
	}
	if (!is_described(t, *now)) {
		im->l.at = cfg.s;
		return nl_fail(&im->l, "the end of the line: a system with boards needs its .ibnl "
				       "file, beside the plan or in $IBDM_IBNL_PATH");
	}
	t->systems.at[*now].cfg = (struct nl_span){cfg.s + 4, (size_t)(im->l.end - cfg.s - 4)};
	return 0;
}

/* Sections of .ibnl files come before the plan: it begins with a system, which has two words and no equals sign, or CFG. */
static bool is_section(const struct nl *l)
{
	return ibnl_is_header((struct nl_span){l->at, (size_t)(l->end - l->at)});
}

static bool is_plan(const struct nl *l)
{
	struct nl look = *l;
	struct nl_span first = import_word(&look), second = import_word(&look);
	struct nl_span third = import_word(&look);

	return second.n && !memmem(l->at, (size_t)(l->end - l->at), "->", 2) &&
	       !nl_word_is(first, "NODE") && !nl_word_is(first, "SUBSYSTEM") && !is_section(l) &&
	       (third.n ? third.n >= 4 && !memcmp(third.s, "CFG:", 4)
			: !memchr(l->at, '=', (size_t)(l->end - l->at)));
}

static int lines_read(struct import *im, struct topo *t)
{
	uint32_t now = FAB_NONE;
	int rc = 0;

	while (!rc && import_line(im)) {
		const char *hash = memchr(im->l.at, '#', (size_t)(im->l.end - im->l.at));

		im->l.end = hash ? hash : im->l.end;
		nl_skip_space(&im->l);
		if (im->l.at == im->l.end)
			continue;
		if (now == FAB_NONE && (t->lib->open || is_section(&im->l)) && !is_plan(&im->l))
			rc = ibnl_line(im, t->lib);
		else if (!memmem(im->l.at, (size_t)(im->l.end - im->l.at), "->", 2))
			rc = system_line(im, t, &now);
		else if (now == FAB_NONE)
			rc = nl_fail(&im->l, "a system before its cables");
		else
			rc = cable_line(im, t, now);
	}
	return rc;
}

/* ---- the fabric ---- */

/* Ports that a type's name says: MTS2400-24, MTS3600 (36), at least those that are used. */
static unsigned ports_of(const struct kind *k, bool adapter)
{
	const char *at = k->name.s + k->name.n;
	uint64_t n = 0;

	if (!adapter && k->name.n == 7 && !memcmp(k->name.s, "MTS3600", 7))
		n = 36;
	while (at > k->name.s && nl_is_digit(at[-1]))
		at--;
	if (!adapter && at > k->name.s && at[-1] == '-')
		nl_take_dec(&at, k->name.s + k->name.n, &n);
	return (unsigned)MAX(MAX(n <= 254 ? n : 0, k->top), 1u);
}

/* Of a type that is not known: cabled to one other system, at its first two ports. */
static bool looks_like_adapter(const struct topo *t, const struct system *s)
{
	return t->kinds.at[s->kind].top <= 2 && !s->several;
}

/* Where GUIDs go on, by type of node. */
struct guids {
	uint64_t next[4];
};

static int node_add(struct import *im, struct guids *g, struct import_node *v, node_id *n)
{
	bool adapter = v->type == IBA_NODE_CA;
	int rc;

	v->guid = g->next[v->type];
	v->sys_guid = v->sys_guid ? v->sys_guid : v->guid;
	g->next[v->type] += adapter ? v->nports + 1 : 1;
	rc = import_node(im, v, n);
	for (unsigned p = 1; !rc && adapter && p <= v->nports; p++)
		fab_builder_port(im->b, *n, p)->guid = v->guid + p;
	return rc;
}

/* The devices of a system, in the order of its file: "sw1/leaf1/U1", or the name of the system alone if it is one. */
static int devices_add(struct import *im, const struct topo *t, struct guids *g, struct system *s)
{
	struct import_node v = {0};
	int rc = ibnl_make(im, t->lib, t->kinds.at[s->kind].ibnl, s->cfg, &s->made);

	for (uint32_t i = 1; !rc && i < s->made.made.n; i++) {
		const struct ibnl_made *m = &s->made.made.at[i];
		struct strbuf name = {0};
		node_id n;

		if (m->node == FAB_NONE)
			continue;
		strbuf_addf(&name, "%.*s", (int)s->name.n, s->name.s);
		if (s->made.nnodes > 1) {
			strbuf_add(&name, "/");
			ibnl_name(t->lib, &s->made, i, &name);
		}
		v.name = (struct nl_span){name.s, name.len};
		v.type = t->lib->insts.at[m->inst].adapter ? IBA_NODE_CA : IBA_NODE_SWITCH;
		v.nports = t->lib->insts.at[m->inst].nports;
		rc = node_add(im, g, &v, &n);
		s->n = s->n == FAB_NONE ? n : s->n;
		strbuf_free(&name);
	}
	if (!rc && s->n == FAB_NONE)
		rc = nl_fail_found(&im->l, "a device", "a system without any");
	return rc;
}

static int nodes_add(struct import *im, struct topo *t)
{
	struct guids g = {{0, UINT64_C(0x100000), UINT64_C(0x200000), 0}};
	int rc = 0;

	for (uint32_t i = 0; i < t->systems.n && !rc; i++) {
		struct system *s = &t->systems.at[i];
		const struct kind *k = &t->kinds.at[s->kind];
		bool adapter = k->adapter || looks_like_adapter(t, s);
		struct import_node v = {.type = adapter ? IBA_NODE_CA : IBA_NODE_SWITCH,
					.name = s->name,
					.nports = ports_of(k, adapter)};

		im->l.line = s->line;
		rc = is_described(t, i) ? devices_add(im, t, &g, s) : node_add(im, &g, &v, &s->n);
	}
	return rc;
}

/* ---- links ---- */

static int link_add(struct import *im, const struct ibnl_end *a, const struct ibnl_end *b,
		    unsigned width, unsigned speed)
{
	unsigned w = MIN(a->width ? a->width : 255u, b->width ? b->width : 255u);
	unsigned s = MIN(a->speed ? a->speed : 255u, b->speed ? b->speed : 255u);

	/* 4x SDR where nothing is stated, as with ibutils */
	width = width ? width : w < 255 ? w : 4;
	speed = speed ? speed : s < 255 ? s : FAB_SDR;
	return import_link(im, (struct import_end){a->node, a->port},
			   (struct import_end){b->node, b->port}, width, speed);
}

static int inner_links_add(struct import *im, const struct topo *t, const struct system *s)
{
	int rc = 0;

	im->l.line = s->line;
	for (uint32_t i = 0; i < s->made.made.n && !rc; i++) {
		uint32_t board = s->made.made.at[i].board;

		for (uint32_t k = 0; board != FAB_NONE && !rc && k < t->lib->boards.at[board].npins;
		     k++) {
			struct ibnl_end a, b;

			if (!ibnl_link(t->lib, &s->made, i, k, &a, &b))
				continue;
			a.node += s->n;
			b.node += s->n;
			rc = link_add(im, &a, &b, 0, 0);
		}
	}
	return rc;
}

static int end_of(struct import *im, const struct topo *t, uint32_t system, struct nl_span name,
		  uint64_t number, struct ibnl_end *x)
{
	const struct system *s = &t->systems.at[system];

	*x = (struct ibnl_end){.node = s->n, .port = number};
	if (!is_described(t, system))
		return 0;
	if (!ibnl_resolve(t->lib, &s->made, 0, name, x))
		return nl_fail_found(&im->l, "a port that its .ibnl file describes", "%.*s of %.*s",
				     nl_shown(name.s, name.s + name.n), name.s,
				     nl_shown(s->name.s, s->name.s + s->name.n), s->name.s);
	x->node += s->n;
	return 0;
}

static int cable_add(struct import *im, const struct topo *t, const struct cable *c)
{
	struct ibnl_end a, b;
	int rc;

	im->l.line = c->line;
	if ((rc = end_of(im, t, c->from, c->from_name, c->from_port, &a)) ||
	    (rc = end_of(im, t, c->to, c->to_name, c->to_port, &b)))
		return rc;
	return link_add(im, &a, &b, c->width, c->speed);
}

/* In the order of lines, so that warnings are. */
static int links_add(struct import *im, const struct topo *t)
{
	size_t s = 0, c = 0;
	int rc = 0;

	while (!rc && (s < t->systems.n || c < t->cables.n)) {
		if (s < t->systems.n &&
		    (c == t->cables.n || t->systems.at[s].line <= t->cables.at[c].line))
			rc = inner_links_add(im, t, &t->systems.at[s++]);
		else
			rc = cable_add(im, t, &t->cables.at[c++]);
	}
	return rc;
}

int import_topo(struct import *im)
{
	struct topo t = {.lib = im->systems};
	int rc;

	if (!t.lib)
		t.lib = &t.own;
	rc = lines_read(im, &t);
	if (!rc && !(rc = nodes_add(im, &t)))
		rc = links_add(im, &t);
	for (size_t i = 0; i < t.systems.n; i++)
		ibnl_system_free(&t.systems.at[i].made);
	vec_free(&t.systems);
	vec_free(&t.kinds);
	vec_free(&t.cables);
	map64_free(&t.by_name);
	map64_free(&t.by_kind);
	ibnl_free(&t.own);
	return rc;
}
