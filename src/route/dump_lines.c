/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of dumps and the words in them, for lfts.c and lane_dumps.c. State: struct dump_line, of one
 * reading; the way in is dump_lines_each(). Knows no table.
 */
#include "route/dump_lines.h"

int dump_lines_each(struct dump_line *l, const char *text, size_t len, int (*read)(void *ctx),
		    void *ctx)
{
	const char *end = text + len;

	for (const char *at = text; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		int rc;

		l->line++;
		l->at = at;
		l->end = stop ? stop : end;
		at = stop ? stop + 1 : end;
		while (l->end > l->at &&
		       (l->end[-1] == '\r' || l->end[-1] == ' ' || l->end[-1] == '\t'))
			l->end--;
		dump_skip_blanks(l);
		rc = read(ctx);
		if (rc)
			return rc;
	}
	return 0;
}

int dump_bad(const struct dump_line *l, const char *what)
{
	char found[41];
	size_t n = MIN((size_t)(l->end - l->at), sizeof(found) - 1);

	for (size_t i = 0; i < n; i++)
		found[i] = l->at[i] >= ' ' && l->at[i] < 127 ? l->at[i] : '?';
	found[n] = 0;
	if (!n)
		return err_set(l->e, -EINVAL, "%s:%u: expected %s, found the end of the line",
			       l->name, l->line, what);
	return err_set(l->e, -EINVAL, "%s:%u: expected %s, found '%s'", l->name, l->line, what,
		       found);
}

int dump_bad_from(struct dump_line *l, const char *start, const char *what)
{
	l->at = start;
	return dump_bad(l, what);
}

bool dump_take(struct dump_line *l, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(l->end - l->at) < n || memcmp(l->at, text, n))
		return false;
	l->at += n;
	return true;
}

bool dump_find(struct dump_line *l, const char *text)
{
	const char *hit = memmem(l->at, (size_t)(l->end - l->at), text, strlen(text));

	if (!hit)
		return false;
	l->at = hit + strlen(text);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return -1;
}

bool dump_number(struct dump_line *l, unsigned base, unsigned most, uint64_t *v)
{
	unsigned n = 0;

	for (*v = 0; l->at < l->end; l->at++, n++) {
		int d = hex_digit(*l->at);

		if (d < 0 || (unsigned)d >= base)
			break;
		if (n == most)
			return false;
		*v = *v * base + (unsigned)d;
	}
	return n > 0;
}

void dump_skip_blanks(struct dump_line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
		l->at++;
}

bool dump_at_end(const struct dump_line *l)
{
	return l->at == l->end;
}

uint64_t dump_port_guid(const struct fab *f, port_id p)
{
	const struct fab_port *x = &f->ports[p];

	return x->guid ? x->guid : f->nodes[x->node].guid + x->num;
}

const char *dump_type_name(unsigned type)
{
	return type == IBA_NODE_SWITCH	 ? "Switch"
	       : type == IBA_NODE_ROUTER ? "Router"
					 : "Channel Adapter";
}

void dump_add_name(struct strbuf *b, const char *name)
{
	size_t from = b->len;

	strbuf_add(b, name);
	for (size_t i = from; i < b->len; i++)
		if ((unsigned char)b->s[i] < ' ')
			b->s[i] = ' ';
}

port_id dump_port_by_node_guid(const struct fab *f, uint64_t guid)
{
	for (unsigned i = 1; i <= 254 && i < guid; i++) {
		node_id n = fab_node_by_guid(f, guid - i);

		if (n != FAB_NONE && !fab_is_switch(f, n) && i <= f->nodes[n].nports)
			return fab_port_id(f, n, i);
	}
	return FAB_NONE;
}
