/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a netlist: messages about what stands at the cursor, blanks, numbers, quotes, and
 * what comments tell of LIDs, rates and cables. State: the cursor in struct nl. Way in: netlist.c. Does not
 * know what a line means.
 */
#include "fabric/netlist_priv.h"

#include <strings.h>

/* ---- messages ---- */

void nl_printable(struct strbuf *b, const char *s, size_t n, size_t limit)
{
	size_t at = 0;

	while (at < n) {
		unsigned len = utf8_len(s + at, n - at);

		if (at + MAX(len, 1u) > limit) {
			strbuf_add(b, "...");
			return;
		}
		strbuf_addn(b, len ? s + at : "?", MAX(len, 1u));
		at += MAX(len, 1u);
	}
}

/* "found X, expected Y", where X is what stands at the cursor. */
int nl_fail(struct nl *l, const char *expected)
{
	struct strbuf b = {0};
	int rc;

	if (l->at < l->end) {
		strbuf_add(&b, "'");
		nl_printable(&b, l->at, (size_t)(l->end - l->at), 32);
		strbuf_add(&b, "'");
	} else {
		strbuf_add(&b, "the end of the line");
	}
	rc = err_set(l->e, -EINVAL, "%s:%u: found %s, expected %s", l->file, l->line, b.s,
		     expected);
	strbuf_free(&b);
	return rc;
}

int nl_fail_found(struct nl *l, const char *expected, const char *fmt, ...)
{
	char found[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(found, sizeof(found), fmt, ap);
	va_end(ap);
	return err_set(l->e, -EINVAL, "%s:%u: found %s, expected %s", l->file, l->line, found,
		       expected);
}

/* How many digits of a number that is too large a message shows. */
int nl_shown(const char *start, const char *end)
{
	return (int)MIN(end - start, (ptrdiff_t)40);
}

void nl_warn(struct nl *l, uint32_t line, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = mem_strdup("?");
	va_end(ap);
	vec_push(&l->out.warnings, (struct fab_warning){.line = line, .text = text});
}

/* ---- the cursor ---- */

bool nl_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool nl_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int hex_value(char c)
{
	if (nl_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of white space at s: 0, 1, or 2 for the no-break space that web pages put in. */
unsigned nl_space_at(const char *s, const char *end)
{
	if (*s == ' ' || (*s >= '\t' && *s <= '\r'))
		return 1;
	return end - s >= 2 && !memcmp(s, "\xc2\xa0", 2) ? 2 : 0;
}

void nl_skip_space(struct nl *l)
{
	unsigned n;

	while (l->at < l->end && (n = nl_space_at(l->at, l->end)))
		l->at += n;
}

bool nl_take(struct nl *l, char c)
{
	if (l->at == l->end || *l->at != c)
		return false;
	l->at++;
	return true;
}

/* Digits of a decimal number; UINT64_MAX when there are too many. */
bool nl_take_dec(const char **at, const char *end, uint64_t *v)
{
	const char *start = *at;

	for (*v = 0; *at < end && nl_is_digit(**at); ++*at)
		*v = *v > UINT64_MAX / 10 - 1 ? UINT64_MAX : *v * 10 + (uint64_t)(**at - '0');
	return *at > start;
}

/* Up to 16 hexadecimal digits, 0x before them or not. */
bool nl_take_hex(const char **at, const char *end, uint64_t *v)
{
	const char *s = *at;
	unsigned n = 0;

	if (end - s >= 3 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (*v = 0; s < end && hex_value(*s) >= 0; s++, n++)
		*v = *v << 4 | (unsigned)hex_value(*s);
	if (!n || n > 16)
		return false;
	*at = s;
	return true;
}

/* A quotation mark at s: straight, or curly in UTF-8 as word processors make them. */
enum nl_quote nl_quote_at(const char *s, const char *end, unsigned *len)
{
	*len = 1;
	if (s >= end)
		return QUOTE_NONE;
	if (*s == '"')
		return QUOTE_DOUBLE;
	if (*s == '\'' || *s == '`')
		return QUOTE_SINGLE;
	if (end - s < 3 || s[0] != '\xe2' || s[1] != '\x80')
		return QUOTE_NONE;
	*len = 3;
	if (s[2] >= '\x98' && s[2] <= '\x9b')
		return QUOTE_SINGLE;
	return s[2] >= '\x9c' && s[2] <= '\x9f' ? QUOTE_DOUBLE : QUOTE_NONE;
}

/* First or last mark of that kind in [s, end); NULL if there is none. */
const char *nl_quote_find(const char *s, const char *end, enum nl_quote kind, bool last,
			  unsigned *len)
{
	const char *found = NULL;
	unsigned n;

	for (; s < end; s++)
		if ((*s == '"' || *s == '\'' || *s == '`' || *s == '\xe2') &&
		    nl_quote_at(s, end, &n) == kind) {
			found = s;
			*len = n;
			if (!last)
				break;
		}
	return found;
}

bool nl_word_is(struct nl_span w, const char *s)
{
	return strlen(s) == w.n && !strncasecmp(w.s, s, w.n);
}

/* ---- what stands in comments: lid 5 lmc 0 4xEDR, and the masks of ibsim and `-f` ---- */

static bool width_ok(uint64_t w)
{
	return w == 1 || w == 2 || w == 4 || w == 8 || w == 12;
}

/* The best width in a LinkWidth mask, as ibsim chooses it. */
uint8_t nl_mask_width(uint64_t m)
{
	return m & 8 ? 12 : m & 4 ? 8 : m & 2 ? 4 : m & 16 ? 2 : m & 1 ? 1 : 0;
}

uint8_t nl_mask_speed(uint64_t m)
{
	return m & 4 ? FAB_QDR : m & 2 ? FAB_DDR : m & 1 ? FAB_SDR : FAB_SPEED_UNKNOWN;
}

uint8_t nl_mask_speed_ext(uint64_t m)
{
	return m & 16  ? FAB_XDR
	       : m & 8 ? FAB_NDR
	       : m & 4 ? FAB_HDR
	       : m & 2 ? FAB_EDR
	       : m & 1 ? FAB_FDR
		       : FAB_SPEED_UNKNOWN;
}

/* The speed after "4x"; false when it is no word for one. */
static bool take_speed(const char **at, const char *end, uint8_t *speed)
{
	const char *s = *at, *t;

	while (s < end && *s == ' ')
		s++;
	for (t = s; t < end && (nl_is_alpha(*t) || nl_is_digit(*t) || *t == '?'); t++)
		;
	*at = t;
	*speed = FAB_SPEED_UNKNOWN;
	for (unsigned i = FAB_SPEED_UNKNOWN; i < FAB_NSPEEDS; i++)
		if (nl_word_is((struct nl_span){s, (size_t)(t - s)}, fab_speed_name(i))) {
			*speed = (uint8_t)i;
			return true;
		}
	return nl_word_is((struct nl_span){s, (size_t)(t - s)}, "Unknown");
}

/* A length behind a rate, or a number or '?', perhaps with x and a speed behind it. */
static void scan_number(const char **at, const char *end, struct nl_facts *f)
{
	uint64_t v = 0;
	uint8_t speed;

	if (f->has_rate && fab_cable_take(at, end, &f->cable_cm))
		return;
	if (**at == '?')
		++*at;
	else
		nl_take_dec(at, end, &v);
	if (*at == end || (**at | 0x20) != 'x')
		return;
	++*at;
	if (take_speed(at, end, &speed) && (!v || width_ok(v))) {
		f->width = (uint8_t)v;
		f->speed = speed;
		f->has_rate = true;
	}
}

void nl_scan_word(struct nl_span w, const char **at, const char *end, struct nl_facts *f)
{
	const char *s = *at;
	uint64_t v;

	if (nl_word_is(w, "enhanced"))
		f->enhanced = true;
	while (s < end && (*s == ' ' || *s == '\t' || *s == ':' || *s == '='))
		s++;
	if (!nl_take_dec(&s, end, &v) || (s < end && (*s | 0x20) == 'x'))
		return;
	if (nl_word_is(w, "lid")) {
		f->lid = v;
		f->has_lid = true;
	} else if (nl_word_is(w, "lmc")) {
		f->lmc = v;
		f->has_lmc = true;
	} else if (w.n == 1 && **at == '=') {
		if (*w.s == 'w')
			f->mask_width = nl_mask_width(v);
		else if (*w.s == 's' && f->mask_speed <= FAB_QDR)
			f->mask_speed = nl_mask_speed(v);
		else if (*w.s == 'e' && nl_mask_speed_ext(v))
			f->mask_speed = nl_mask_speed_ext(v);
	} else {
		return;
	}
	*at = s;
}

/* Comments are free text: take what is understood, pass over the rest. */
void nl_scan_facts(const char *s, const char *end, struct nl_facts *f)
{
	while (s < end) {
		if (nl_is_digit(*s) || *s == '?') {
			scan_number(&s, end, f);
		} else if (nl_is_alpha(*s)) {
			struct nl_span w = {s, 0};

			while (s < end && nl_is_alpha(*s))
				s++;
			w.n = (size_t)(s - w.s);
			nl_scan_word(w, &s, end, f);
		} else {
			s++;
		}
	}
}

bool nl_lid_of(struct nl *l, const struct nl_facts *f, uint16_t *lid)
{
	if (!f->has_lid)
		return false;
	if (f->lid > IBA_LID_MAX_UNICAST) {
		nl_warn(l, l->line, "lid %llu is not a unicast LID (1 to 49151); it is ignored",
			(unsigned long long)f->lid);
		return false;
	}
	*lid = (uint16_t)f->lid;
	return true;
}

uint8_t nl_lmc_of(struct nl *l, const struct nl_facts *f)
{
	if (f->has_lmc && f->lmc > 7)
		nl_warn(l, l->line, "lmc %llu is not an LMC (0 to 7); it is ignored",
			(unsigned long long)f->lmc);
	return f->has_lmc && f->lmc <= 7 ? (uint8_t)f->lmc : 0;
}

/* An aggregation node looks like a CA; only its name or its device id tell. */
uint8_t nl_node_flags(unsigned type, unsigned device_id, const char *name)
{
	uint8_t flags = 0;

	if (type == IBA_NODE_CA && (device_id == 0xcf09 || strstr(name, "Aggregation Node")))
		flags |= FAB_SHARP_AN;
	if (type == IBA_NODE_SWITCH && device_id == IBA_DEVICE_VSWITCH)
		flags |= FAB_VSWITCH;
	if (type == IBA_NODE_CA && device_id == IBA_DEVICE_FUNCTION)
		flags |= FAB_FUNCTION;
	return flags;
}

void fab_netlist_free(struct fab_netlist *n)
{
	for (size_t i = 0; i < n->warnings.n; i++)
		free(n->warnings.at[i].text);
	vec_free(&n->warnings);
	fab_free(n->fab);
	n->fab = NULL;
}
