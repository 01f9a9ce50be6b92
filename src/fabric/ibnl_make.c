/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a system of a type that an .ibnl file describes: its boards and devices, what is behind each connector. State: struct ibnl_system.
 * Ways in: ibnl_make(), ibnl_resolve(), ibnl_link(). Reads no text: import_ibnl.c does.
 *
 * A connection that leads to a connector which a board does not have is left out, as ibutils do: boards of several widths share the lines of
 * their chassis. Width and speed that are stated nearest to the device count.
 */
#include "fabric/ibnl.h"

enum { DEEPEST = 8, MOST_MADE = 1 << 16 };

/* ---- types ---- */

/* The next part of a list with commas. */
static bool list_next(struct nl_span *list, struct nl_span *part)
{
	const char *comma;

	if (!list->n)
		return false;
	comma = memchr(list->s, ',', list->n);
	*part = (struct nl_span){list->s, comma ? (size_t)(comma - list->s) : list->n};
	list->s += part->n + (comma != NULL);
	list->n -= part->n + (comma != NULL);
	*part = import_trimmed(*part);
	return true;
}

/* "TYPE", or "TYPE:mod" */
static bool is_called(struct nl_span names, struct nl_span type, struct nl_span mod)
{
	struct nl_span name;

	while (list_next(&names, &name)) {
		if (!mod.n && import_span_same(name, type))
			return true;
		if (mod.n && name.n == type.n + 1 + mod.n && !memcmp(name.s, type.s, type.n) &&
		    name.s[type.n] == ':' && !memcmp(name.s + type.n + 1, mod.s, mod.n))
			return true;
	}
	return false;
}

uint32_t ibnl_top_find(const struct ibnl *b, struct nl_span type)
{
	for (uint32_t i = 0; i < b->boards.n; i++)
		if (b->boards.at[i].top &&
		    is_called(b->boards.at[i].names, type, (struct nl_span){0}))
			return i;
	return FAB_NONE;
}

static uint32_t board_find(const struct ibnl *b, uint32_t set, struct nl_span type,
			   struct nl_span mod)
{
	for (uint32_t i = 0; i < b->boards.n; i++)
		if (b->boards.at[i].set == set && !b->boards.at[i].top &&
		    is_called(b->boards.at[i].names, type, mod))
			return i;
	return FAB_NONE;
}

/* What the plan says about a board, as "12x"; empty: nothing. */
static struct nl_span modifier_of(struct nl_span cfg, struct nl_span name)
{
	struct nl_span part;

	while (list_next(&cfg, &part)) {
		const char *is = part.n ? memchr(part.s, '=', part.n) : NULL;

		if (is &&
		    import_span_same(
			    import_trimmed((struct nl_span){part.s, (size_t)(is - part.s)}), name))
			return import_trimmed(
				(struct nl_span){is + 1, (size_t)(part.s + part.n - is - 1)});
	}
	return (struct nl_span){0};
}

/* ---- a system ---- */

struct making {
	struct import *im;
	const struct ibnl *b;
	struct ibnl_system *s;
	uint32_t set;
	struct nl_span cfg;
};

static int children_make(const struct making *m, uint32_t at, unsigned depth);

static int subsystem_make(const struct making *m, uint32_t at, unsigned depth)
{
	const struct ibnl_inst *x = &m->b->insts.at[m->s->made.at[at].inst];
	struct nl_span mod = modifier_of(m->cfg, x->name);
	uint32_t board;

	if (mod.n == 1 && *mod.s == 'R')
		return 0; /* removed */
	board = board_find(m->b, m->set, x->type, mod);
	if (board == FAB_NONE)
		return nl_fail_found(&m->im->l, "a board that its .ibnl file describes",
				     "%.*s of type %.*s%s%.*s",
				     nl_shown(x->name.s, x->name.s + x->name.n), x->name.s,
				     nl_shown(x->type.s, x->type.s + x->type.n), x->type.s,
				     mod.n ? ":" : "", nl_shown(mod.s, mod.s + mod.n), mod.s);
	m->s->made.at[at].board = board;
	return children_make(m, at, depth + 1);
}

static int children_make(const struct making *m, uint32_t at, unsigned depth)
{
	const struct ibnl_board *board = &m->b->boards.at[m->s->made.at[at].board];
	uint32_t first = (uint32_t)m->s->made.n;
	int rc = 0;

	if (depth > DEEPEST || m->s->made.n + board->ninsts > MOST_MADE)
		return nl_fail_found(&m->im->l, "a smaller system",
				     "boards within boards without end");
	m->s->made.at[at].first = first;
	for (uint32_t i = 0; i < board->ninsts; i++)
		vec_push(&m->s->made, ((struct ibnl_made){.inst = board->first_inst + i,
							  .board = FAB_NONE,
							  .first = FAB_NONE,
							  .parent = at,
							  .node = FAB_NONE}));
	for (uint32_t i = 0; i < board->ninsts && !rc; i++) {
		if (m->b->insts.at[board->first_inst + i].nports)
			m->s->made.at[first + i].node = m->s->nnodes++;
		else
			rc = subsystem_make(m, first + i, depth);
	}
	return rc;
}

int ibnl_make(struct import *im, const struct ibnl *b, uint32_t top, struct nl_span cfg,
	      struct ibnl_system *out)
{
	struct making m = {im, b, out, b->boards.at[top].set, cfg};

	*out = (struct ibnl_system){0};
	vec_push(&out->made,
		 ((struct ibnl_made){
			 .inst = FAB_NONE, .board = top, .parent = FAB_NONE, .node = FAB_NONE}));
	return children_make(&m, 0, 0);
}

void ibnl_system_free(struct ibnl_system *s)
{
	vec_free(&s->made);
}

void ibnl_name(const struct ibnl *b, const struct ibnl_system *s, uint32_t made, struct strbuf *out)
{
	const struct nl_span name = b->insts.at[s->made.at[made].inst].name;

	if (s->made.at[made].parent) {
		ibnl_name(b, s, s->made.at[made].parent, out);
		strbuf_add(out, "/");
	}
	strbuf_addf(out, "%.*s", (int)name.n, name.s);
}

/* ---- connectors ---- */

/* The pin of a board that leads to this connector; NULL: there is none. */
static const struct ibnl_pin *connector(const struct ibnl *b, uint32_t board, struct nl_span port)
{
	const struct ibnl_board *x = &b->boards.at[board];

	for (uint32_t i = 0; i < x->npins; i++) {
		const struct ibnl_pin *p = &b->pins.at[x->first_pin + i];

		if (!p->to_inst.n && import_span_same(p->to_port, port))
			return p;
	}
	return NULL;
}

static uint32_t child(const struct ibnl *b, const struct ibnl_system *s, uint32_t made,
		      uint32_t inst)
{
	return s->made.at[made].first + inst - b->boards.at[s->made.at[made].board].first_inst;
}

static bool device_port(const struct ibnl_inst *x, struct nl_span port, uint64_t *num)
{
	const char *at = port.s, *end = port.s + port.n;

	return nl_take_dec(&at, end, num) && at == end && *num >= 1 && *num <= x->nports;
}

bool ibnl_resolve(const struct ibnl *b, const struct ibnl_system *s, uint32_t made,
		  struct nl_span port, struct ibnl_end *out)
{
	const struct ibnl_made *m = &s->made.at[made];
	const struct ibnl_pin *p;

	if (m->node != FAB_NONE) {
		*out = (struct ibnl_end){.node = m->node};
		return device_port(&b->insts.at[m->inst], port, &out->port);
	}
	if (m->board == FAB_NONE)
		return false;
	p = connector(b, m->board, port);
	if (!p || !ibnl_resolve(b, s, child(b, s, made, p->inst), p->port, out))
		return false;
	out->width = out->width ? out->width : p->width;
	out->speed = out->speed ? out->speed : p->speed;
	return true;
}

static uint32_t inst_by_name(const struct ibnl *b, uint32_t board, struct nl_span name)
{
	const struct ibnl_board *x = &b->boards.at[board];

	for (uint32_t i = 0; i < x->ninsts; i++)
		if (import_span_same(b->insts.at[x->first_inst + i].name, name))
			return x->first_inst + i;
	return FAB_NONE;
}

bool ibnl_link(const struct ibnl *b, const struct ibnl_system *s, uint32_t board_made, uint32_t pin,
	       struct ibnl_end *from, struct ibnl_end *to)
{
	uint32_t board = s->made.at[board_made].board;
	const struct ibnl_pin *p = &b->pins.at[b->boards.at[board].first_pin + pin];
	uint32_t far = p->to_inst.n ? inst_by_name(b, board, p->to_inst) : FAB_NONE;

	if (far == FAB_NONE ||
	    !ibnl_resolve(b, s, child(b, s, board_made, p->inst), p->port, from) ||
	    !ibnl_resolve(b, s, child(b, s, board_made, far), p->to_port, to))
		return false;
	from->width = from->width ? from->width : p->width;
	from->speed = from->speed ? from->speed : p->speed;
	return true;
}
