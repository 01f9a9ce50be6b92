/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a plan as ibutils have it (.topo): systems with their type and name, and a line for each cable.
 *
 *	MTS3600 sw1
 *	   P1 -4x-10G-> HCA h1 P1
 *
 * State: struct topo. Way in: import_topo(). Systems of one device alone: what is inside a chassis is in ibutils' .ibnl files, which are
 * not read. A plan has no GUIDs: they are made up, so that it is compared by name (weft topo diff --names).
 *
 * A system is an adapter if its type is called like one (CA, HCA, MT2..., ConnectX, ...) or, of an unknown type, if no port beyond 2 is
 * used and it is cabled to one other system; else it is a switch. All systems of one type have as many ports as the highest that one
 * of them uses; of types that end with a number of ports (MTS2400-24, MTS3600) that number.
 */
#include "fabric/import.h"

#include <strings.h>

struct system {
	struct nl_span type, name;
	uint32_t line, kind;
	node_id n;
	uint32_t other; /* a system that it is cabled to; FAB_NONE */
	bool several;	/* and to others */
};

struct kind { /* of systems */
	struct nl_span name;
	uint32_t top; /* highest port that is used */
	bool adapter;
};

struct cable {
	uint32_t line, from, to;
	uint64_t from_port, to_port;
	uint8_t width, speed;
};

struct topo {
	VEC(struct system) systems;
	VEC(struct kind) kinds;
	VEC(struct cable) cables;
	struct map64 by_name, by_kind;
};

/* ---- words ---- */

static uint64_t span_hash(struct nl_span w)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < w.n; i++)
		h = (h ^ (uint8_t)w.s[i]) * UINT64_C(1099511628211);
	return h;
}

static bool same(struct nl_span a, struct nl_span b)
{
	return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

/* Up to a blank, or up to the arrow. */
static struct nl_span take_word(struct nl *l)
{
	struct nl_span w;

	nl_skip_space(l);
	for (w = (struct nl_span){l->at, 0}; l->at < l->end && *l->at != ' ' && *l->at != '\t';
	     l->at++)
		w.n++;
	return w;
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

	if (i != MAP_NONE && same(t->kinds.at[i].name, name))
		return i;
	vec_push(&t->kinds, ((struct kind){.name = name, .adapter = is_adapter(name)}));
	map64_put(&t->by_kind, h, (uint32_t)t->kinds.n - 1);
	return (uint32_t)t->kinds.n - 1;
}

static int system_of(struct import *im, struct topo *t, struct nl_span type, struct nl_span name,
		     uint32_t *at)
{
	uint64_t h = span_hash(name);
	uint32_t i = map64_get(&t->by_name, h);

	if (i != MAP_NONE && same(t->systems.at[i].name, name)) {
		*at = i;
		if (same(t->systems.at[i].type, type))
			return 0;
		return nl_fail_found(
			&im->l, "one type for each system", "%.*s as a %.*s, in line %u as another",
			nl_shown(name.s, name.s + name.n), name.s,
			nl_shown(type.s, type.s + type.n), type.s, t->systems.at[i].line);
	}
	*at = (uint32_t)t->systems.n;
	vec_push(&t->systems, ((struct system){type, name, im->l.line, kind_of(t, type), FAB_NONE,
					       FAB_NONE, false}));
	map64_put(&t->by_name, h, *at);
	return 0;
}

/* "P3", "3" or "U1/P3", the port of the only device. */
static int port_of(struct nl *l, struct nl_span w, uint64_t *num)
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
			   ? "a port such as P3: systems of several boards need their .ibnl file, "
			     "which is not read"
			   : "a port from P1 to P254");
}

/* ---- lines ---- */

/* "-4x-10G->": both may be missing, and then are 4x SDR as with ibutils. */
static int take_arrow(struct nl *l, struct cable *c)
{
	static const struct {
		const char *word;
		uint8_t width, speed;
	} words[] = {{"1x", 1, 0},	  {"2x", 2, 0},	       {"4x", 4, 0},
		     {"8x", 8, 0},	  {"12x", 12, 0},      {"2.5G", 0, FAB_SDR},
		     {"5G", 0, FAB_DDR},  {"10G", 0, FAB_QDR}, {"14G", 0, FAB_FDR},
		     {"25G", 0, FAB_EDR}, {"50G", 0, FAB_HDR}, {"100G", 0, FAB_NDR},
		     {"200G", 0, FAB_XDR}};
	struct nl_span w = take_word(l);
	const char *at = w.s, *end = w.s + w.n, *dash;

	c->width = 4;
	c->speed = FAB_SDR;
	while (end - at > 2 && *at == '-' && (dash = memchr(at + 1, '-', (size_t)(end - at - 1)))) {
		struct nl_span part = {at + 1, (size_t)(dash - at - 1)};
		unsigned i;

		for (i = 0; i < ARRAY_LEN(words); i++)
			if (part.n == strlen(words[i].word) &&
			    !strncasecmp(part.s, words[i].word, part.n))
				break;
		if (i == ARRAY_LEN(words))
			break;
		c->width = words[i].width ? words[i].width : c->width;
		c->speed = words[i].speed ? words[i].speed : c->speed;
		at = dash;
	}
	if (end - at == 2 && !memcmp(at, "->", 2))
		return 0;
	l->at = w.s;
	return nl_fail(l, "an arrow such as -> or -4x-10G->");
}

static int rest_is_empty(struct nl *l)
{
	nl_skip_space(l);
	return l->at == l->end ? 0 : nl_fail(l, "the end of the line");
}

static void end_note(struct topo *t, uint32_t at, uint64_t port, uint32_t other)
{
	struct system *s = &t->systems.at[at];
	struct kind *k = &t->kinds.at[s->kind];

	k->top = MAX(k->top, (uint32_t)port);
	s->several |= s->other != FAB_NONE && s->other != other;
	s->other = other;
}

static int cable_line(struct import *im, struct topo *t, uint32_t from)
{
	struct cable c = {.line = im->l.line, .from = from};
	struct nl_span type, name;
	struct nl *l = &im->l;
	int rc;

	if ((rc = port_of(l, take_word(l), &c.from_port)) || (rc = take_arrow(l, &c)))
		return rc;
	type = take_word(l);
	name = take_word(l);
	if (!type.n || !name.n)
		return nl_fail(l, "type, name and port of the other system");
	if ((rc = port_of(l, take_word(l), &c.to_port)) || (rc = rest_is_empty(l)) ||
	    (rc = system_of(im, t, type, name, &c.to)))
		return rc;
	end_note(t, from, c.from_port, c.to);
	end_note(t, c.to, c.to_port, from);
	vec_push(&t->cables, c);
	return 0;
}

static int system_line(struct import *im, struct topo *t, uint32_t *now)
{
	struct nl_span type = take_word(&im->l), name = take_word(&im->l);

	if (!name.n)
		return nl_fail(&im->l, "a system: its type and its name");
	nl_skip_space(&im->l);
	if (im->l.at < im->l.end && *im->l.at != '#')
		return nl_fail(&im->l, "the end of the line: configurations of boards (CFG) need "
				       "their .ibnl file, which is not read");
	return system_of(im, t, type, name, now);
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
		if (!memmem(im->l.at, (size_t)(im->l.end - im->l.at), "->", 2))
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

static int nodes_add(struct import *im, struct topo *t)
{
	uint64_t next[4] = {0, UINT64_C(0x100000), UINT64_C(0x200000), 0};
	int rc = 0;

	for (uint32_t i = 0; i < t->systems.n && !rc; i++) {
		struct system *s = &t->systems.at[i];
		const struct kind *k = &t->kinds.at[s->kind];
		bool adapter = k->adapter || looks_like_adapter(t, s);
		struct import_node v = {.type = adapter ? IBA_NODE_CA : IBA_NODE_SWITCH,
					.name = s->name,
					.nports = ports_of(k, adapter)};

		v.guid = v.sys_guid = next[v.type];
		next[v.type] += adapter ? v.nports + 1 : 1;
		im->l.line = s->line;
		rc = import_node(im, &v, &s->n);
		for (unsigned p = 1; !rc && adapter && p <= v.nports; p++)
			fab_builder_port(im->b, s->n, p)->guid = v.guid + p;
	}
	return rc;
}

static int links_add(struct import *im, const struct topo *t)
{
	int rc = 0;

	for (size_t i = 0; i < t->cables.n && !rc; i++) {
		const struct cable *c = &t->cables.at[i];

		im->l.line = c->line;
		rc = import_link(im, (struct import_end){t->systems.at[c->from].n, c->from_port},
				 (struct import_end){t->systems.at[c->to].n, c->to_port}, c->width,
				 c->speed);
	}
	return rc;
}

int import_topo(struct import *im)
{
	struct topo t = {0};
	int rc = lines_read(im, &t);

	if (!rc && !(rc = nodes_add(im, &t)))
		rc = links_add(im, &t);
	vec_free(&t.systems);
	vec_free(&t.kinds);
	vec_free(&t.cables);
	map64_free(&t.by_name);
	map64_free(&t.by_kind);
	return rc;
}
