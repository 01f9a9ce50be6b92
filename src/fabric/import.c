/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of other tools: which format a text has, and its reader. State: none. Ways in: import_recognise(), import_parse(). Understands
 * none itself: import_lst.c, import_csv.c, import_topo.c and import_net_dump.c do.
 */
#include "fabric/ibnl.h"

/* ---- which format it is ---- */

static bool next_line(const char **at, const char *end, struct nl_span *line)
{
	const char *eol;

	if (*at >= end)
		return false;
	eol = memchr(*at, '\n', (size_t)(end - *at));
	*line = (struct nl_span){*at, (size_t)((eol ? eol : end) - *at)};
	*at = eol ? eol + 1 : end;
	while (line->n && (line->s[line->n - 1] == '\r' || line->s[line->n - 1] == ' '))
		line->n--;
	while (line->n && (*line->s == ' ' || *line->s == '\t')) {
		line->s++;
		line->n--;
	}
	return true;
}

/* The next line that is neither empty nor a comment. */
static bool next_content(const char **at, const char *end, struct nl_span *line)
{
	while (next_line(at, end, line))
		if (line->n && *line->s != '#')
			return true;
	return false;
}

static bool begins(struct nl_span w, const char *s)
{
	return w.n >= strlen(s) && !memcmp(w.s, s, strlen(s));
}

/* "MTS3600 sw1", then "P1 -4x-10G-> HCA h1 P1" */
static bool is_topo(struct nl_span first, struct nl_span second)
{
	const char *arrow = memmem(second.s, second.n, "->", 2);

	return arrow && arrow > second.s && memchr(first.s, ' ', first.n) &&
	       !memchr(first.s, '"', first.n) && !memchr(second.s, '"', second.n) &&
	       !memmem(first.s, first.n, "->", 2);
}

/* "leaf1", Mellanox, 0x1070fd03001adeb4, LID 24328 */
static bool is_net_dump(struct nl_span first)
{
	return begins(first, "\"") && memmem(first.s, first.n, "\", ", 3) &&
	       memmem(first.s, first.n, ", 0x", 4) && memmem(first.s, first.n, ", LID ", 6);
}

enum import_kind import_recognise(const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	struct nl_span first, second;

	if (!len || !next_content(&at, end, &first))
		return IMPORT_NONE;
	if (begins(first, "{ CA") || begins(first, "{ SW") || begins(first, "{ RT"))
		return IMPORT_LST;
	if (begins(first, "START_"))
		return IMPORT_CSV;
	if (is_net_dump(first))
		return IMPORT_NET_DUMP;
	if (ibnl_is_header(first))
		return IMPORT_TOPO;
	if (next_content(&at, end, &second) && is_topo(first, second))
		return IMPORT_TOPO;
	return IMPORT_NONE;
}

/* ---- all of it ---- */

static int parse(struct import *im, struct fab_netlist *out, enum import_kind kind, size_t len)
{
	int rc;

	if (memchr(im->text, 0, len))
		rc = err_set(im->l.e, -EINVAL, "%s:1: found a zero byte, expected plain text",
			     im->l.file);
	else
		rc = kind == IMPORT_LST	       ? import_lst(im)
		     : kind == IMPORT_CSV      ? import_csv(im)
		     : kind == IMPORT_NET_DUMP ? import_net_dump(im)
					       : import_topo(im);
	if (rc) {
		fab_builder_free(im->b);
		fab_netlist_free(&im->l.out);
		return rc;
	}
	im->l.out.fab = fab_build(im->b);
	*out = im->l.out;
	return 0;
}

int import_parse_with(struct fab_netlist *out, enum import_kind kind, struct ibnl *systems,
		      const char *name, const char *text, size_t len, struct err *e)
{
	struct import im = {.l = {.file = name, .e = e},
			    .b = fab_builder_new(),
			    .systems = systems,
			    .text = text,
			    .stop = text + len};

	return parse(&im, out, kind, len);
}

int import_parse(struct fab_netlist *out, enum import_kind kind, const char *name, const char *text,
		 size_t len, struct err *e)
{
	return import_parse_with(out, kind, NULL, name, text, len, e);
}
