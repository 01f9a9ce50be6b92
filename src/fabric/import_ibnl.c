/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads ibutils' descriptions of systems (.ibnl): SYSTEM and TOPSYSTEM sections with NODE and SUBSYSTEM inside, and a line for each
 * pin. State: struct ibnl. Way in: ibnl_line(), for lines from import_line() without comments. Does not connect anything: ibnl_make.c does.
 */
#include "fabric/ibnl.h"

#include <strings.h>

enum { MOST = 1 << 20 }; /* boards, instances, pins */

struct nl_span import_trimmed(struct nl_span w)
{
	while (w.n && (*w.s == ' ' || *w.s == '\t')) {
		w.s++;
		w.n--;
	}
	while (w.n && (w.s[w.n - 1] == ' ' || w.s[w.n - 1] == '\t'))
		w.n--;
	return w;
}

bool import_span_same(struct nl_span a, struct nl_span b)
{
	return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

struct nl_span import_word(struct nl *l)
{
	struct nl_span w;

	nl_skip_space(l);
	for (w = (struct nl_span){l->at, 0}; l->at < l->end && *l->at != ' ' && *l->at != '\t';
	     l->at++)
		w.n++;
	return w;
}

int import_line_ends(struct nl *l)
{
	nl_skip_space(l);
	return l->at == l->end ? 0 : nl_fail(l, "the end of the line");
}

int import_arrow(struct nl *l, uint8_t *width, uint8_t *speed)
{
	static const struct {
		const char *word;
		uint8_t width, speed;
	} words[] = {{"1x", 1, 0},	  {"2x", 2, 0},	       {"4x", 4, 0},
		     {"8x", 8, 0},	  {"12x", 12, 0},      {"2.5G", 0, FAB_SDR},
		     {"5G", 0, FAB_DDR},  {"10G", 0, FAB_QDR}, {"14G", 0, FAB_FDR},
		     {"25G", 0, FAB_EDR}, {"50G", 0, FAB_HDR}, {"100G", 0, FAB_NDR},
		     {"200G", 0, FAB_XDR}};
	struct nl_span w = import_word(l);
	const char *at = w.s, *end = w.s + w.n, *dash;

	*width = *speed = 0;
	while (end - at > 2 && *at == '-' && (dash = memchr(at + 1, '-', (size_t)(end - at - 1)))) {
		struct nl_span part = {at + 1, (size_t)(dash - at - 1)};
		unsigned i;

		for (i = 0; i < ARRAY_LEN(words); i++)
			if (part.n == strlen(words[i].word) &&
			    !strncasecmp(part.s, words[i].word, part.n))
				break;
		if (i == ARRAY_LEN(words))
			break;
		*width = words[i].width ? words[i].width : *width;
		*speed = words[i].speed ? words[i].speed : *speed;
		at = dash;
	}
	if (end - at == 2 && !memcmp(at, "->", 2))
		return 0;
	l->at = w.s;
	return nl_fail(l, "an arrow such as -> or -4x-10G->");
}

/* ---- sections ---- */

bool ibnl_is_header(struct nl_span line)
{
	return (line.n > 7 && !memcmp(line.s, "SYSTEM ", 7)) ||
	       (line.n > 10 && !memcmp(line.s, "TOPSYSTEM ", 10));
}

void ibnl_end(struct ibnl *b)
{
	b->open = false;
	b->set++;
}

static int board_line(struct import *im, struct ibnl *b, bool top)
{
	struct nl_span names;

	if (b->boards.n && b->boards.at[b->boards.n - 1].top &&
	    b->boards.at[b->boards.n - 1].set == b->set)
		b->set++; /* another system of the same file */
	nl_skip_space(&im->l);
	names = (struct nl_span){im->l.at, (size_t)(im->l.end - im->l.at)};
	if (!names.n)
		return nl_fail(&im->l, "names of the system");
	if (b->boards.n >= MOST)
		return nl_fail_found(&im->l, "fewer", "%d systems", MOST);
	vec_push(&b->boards, ((struct ibnl_board){.names = names,
						  .set = b->set,
						  .first_inst = (uint32_t)b->insts.n,
						  .first_pin = (uint32_t)b->pins.n,
						  .top = top}));
	b->open = true;
	return 0;
}

static int inst_add(struct import *im, struct ibnl *b, const struct ibnl_inst *x)
{
	if (!x->name.n)
		return nl_fail(&im->l, "a name of this part");
	if (b->insts.n >= MOST)
		return nl_fail_found(&im->l, "fewer", "%d parts", MOST);
	vec_push(&b->insts, *x);
	b->boards.at[b->boards.n - 1].ninsts++;
	return import_line_ends(&im->l);
}

/* NODE SW 36 MT48436 U1 */
static int node_line(struct import *im, struct ibnl *b)
{
	struct nl_span kind = import_word(&im->l), count = import_word(&im->l);
	struct ibnl_inst x = {.line = im->l.line, .adapter = !nl_word_is(kind, "SW")};
	const char *at = count.s;
	uint64_t n = 0;

	if (x.adapter && !nl_word_is(kind, "CA") && !nl_word_is(kind, "HCA")) {
		im->l.at = kind.s;
		return nl_fail(&im->l, "SW, CA or HCA");
	}
	if (!nl_take_dec(&at, count.s + count.n, &n) || at != count.s + count.n || !n || n > 254) {
		im->l.at = count.s;
		return nl_fail(&im->l, "a number of ports from 1 to 254");
	}
	x.nports = (uint8_t)n;
	x.type = import_word(&im->l);
	x.name = import_word(&im->l);
	return inst_add(im, b, &x);
}

/* SUBSYSTEM LEAF leaf1 */
static int subsystem_line(struct import *im, struct ibnl *b)
{
	struct ibnl_inst x = {.line = im->l.line};

	x.type = import_word(&im->l);
	x.name = import_word(&im->l);
	return inst_add(im, b, &x);
}

static int pin_line(struct import *im, struct ibnl *b)
{
	struct ibnl_board *board = &b->boards.at[b->boards.n - 1];
	struct ibnl_pin p = {.inst = (uint32_t)b->insts.n - 1};
	int rc;

	if (!board->ninsts)
		return nl_fail(&im->l, "NODE or SUBSYSTEM before its ports");
	if (b->pins.n >= MOST)
		return nl_fail_found(&im->l, "fewer", "%d ports", MOST);
	p.port = import_word(&im->l);
	if ((rc = import_arrow(&im->l, &p.width, &p.speed)))
		return rc;
	p.to_inst = import_word(&im->l);
	p.to_port = import_word(&im->l);
	if (!p.to_inst.n)
		return nl_fail(&im->l, "a connector, or a part and its port");
	if (!p.to_port.n) {
		p.to_port = p.to_inst;
		p.to_inst.n = 0;
	}
	vec_push(&b->pins, p);
	board->npins++;
	return import_line_ends(&im->l);
}

int ibnl_line(struct import *im, struct ibnl *b)
{
	struct nl *l = &im->l;
	const char *begin = l->at;
	struct nl_span w = import_word(l);

	if (nl_word_is(w, "SYSTEM") || nl_word_is(w, "TOPSYSTEM"))
		return board_line(im, b, *w.s == 'T');
	if (!b->open)
		return nl_fail(l, "SYSTEM or TOPSYSTEM");
	if (nl_word_is(w, "NODE"))
		return node_line(im, b);
	if (nl_word_is(w, "SUBSYSTEM"))
		return subsystem_line(im, b);
	l->at = begin;
	if (memmem(begin, (size_t)(l->end - begin), "->", 2))
		return pin_line(im, b);
	if (memchr(begin, '=', (size_t)(l->end - begin))) /* U1=isChaBma */
		return 0;
	return nl_fail(l, "NODE, SUBSYSTEM, a port with its connection, or an attribute");
}

void ibnl_free(struct ibnl *b)
{
	vec_free(&b->boards);
	vec_free(&b->insts);
	vec_free(&b->pins);
}
