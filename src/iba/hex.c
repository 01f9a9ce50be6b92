/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A MAD, or the data of one attribute, from hexadecimal text, however it was dumped. State: struct hex_in
 * while one text is read. Ways in: iba_mad_from_text(), iba_attr_from_text(). Does not look at what the
 * bytes mean.
 */
#include "iba/iba.h"

#include <ctype.h>

/* Each row of a dump may start with the place of its first byte. That is so when the text's first
 * word is 4 to 8 digits that end with a colon and a blank, or are all zero (no MAD has base version
 * 0). Then every row must continue where the one before it ended, or follow a '*' row, which stands
 * for repetitions of the row before it. Such rows hold at most ROW_MAX bytes: what comes after is
 * the dump's column of characters. */
enum { ROW_MAX = 16 };

struct hex_in {
	const char *name; /* for messages */
	const char *text, *end;
	const char *p;		/* next character */
	const char *line_start; /* of the line that p is in */
	unsigned line;
	uint8_t bytes[IBA_MAD_SIZE];
	size_t nbytes;		     /* found; may be more than were kept */
	bool is_attr;		     /* attribute data, which may begin with zeros */
	uint8_t row[ROW_MAX];	     /* the last row, for '*' */
	unsigned row_len, row_bytes; /* bytes of the last full row and of this one */
	bool started, offsets, starred;
	uint64_t base; /* offset of the first row */
	struct err *e;
};

static int hex_fail(struct hex_in *in, const char *at, const char *what)
{
	unsigned col = (unsigned)(at - in->line_start) + 1;
	unsigned char c = at < in->end ? (unsigned char)*at : '\n';

	if (c == '\n' || c == '\r')
		return err_set(in->e, -EINVAL, "%s:%u:%u: expected %s, found the end of the line",
			       in->name, in->line, col, what);
	if (c < 0x20 || c >= 0x7f)
		return err_set(in->e, -EINVAL, "%s:%u:%u: expected %s, found byte 0x%02x", in->name,
			       in->line, col, what, c);
	return err_set(in->e, -EINVAL, "%s:%u:%u: expected %s, found '%c'", in->name, in->line, col,
		       what, c);
}

static bool is_blank(const struct hex_in *in, const char *p)
{
	return p >= in->end || *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n';
}

static unsigned hex_digits(const struct hex_in *in, const char *p)
{
	unsigned n = 0;

	while (p + n < in->end && isxdigit((unsigned char)p[n]))
		n++;
	return n;
}

static const char *skip_0x(const struct hex_in *in, const char *p)
{
	return in->end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p;
}

static unsigned digit_value(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

static void hex_byte(struct hex_in *in, uint8_t v)
{
	if (in->nbytes < sizeof(in->bytes))
		in->bytes[in->nbytes] = v;
	in->nbytes++;
	if (in->row_bytes < ROW_MAX)
		in->row[in->row_bytes++] = v;
}

/* Whether the word at p, the first of its line, is an offset, and where it ends. */
static bool offset_at(const struct hex_in *in, const char *p, uint64_t *v, const char **after)
{
	const char *s = skip_0x(in, p);
	unsigned n = hex_digits(in, s);

	if (n < 4 || n > 8)
		return false;
	*v = 0;
	for (unsigned i = 0; i < n; i++)
		*v = *v << 4 | digit_value(s[i]);
	*after = s + n;
	if (s + n < in->end && s[n] == ':' && is_blank(in, s + n + 1)) {
		*after = s + n + 1;
		return true;
	}
	/* smpdump prints words of four digits and no offsets. */
	return is_blank(in, s + n) && (in->offsets || (!*v && (n > 4 || !in->is_attr)));
}

/* The bytes that a '*' row stands for. */
static void repeat_rows(struct hex_in *in, uint64_t until)
{
	uint8_t row[ROW_MAX];
	unsigned n = in->row_len;

	memcpy(row, in->row, sizeof(row));
	while (n && in->base + in->nbytes + n <= until && in->nbytes <= sizeof(in->bytes))
		for (unsigned i = 0; i < n; i++)
			hex_byte(in, row[i]);
	memcpy(in->row, row, sizeof(row));
}

static int take_offset(struct hex_in *in)
{
	const char *after = NULL;
	uint64_t v;
	bool is = offset_at(in, in->p, &v, &after);

	if (!in->started) {
		in->offsets = is;
		in->base = is ? v : 0;
	}
	if (!in->offsets)
		return 0;
	if (!is)
		return hex_fail(in, in->p, "the row's offset, as on the rows before");
	if (in->starred)
		repeat_rows(in, v);
	in->starred = false;
	if (v != in->base + in->nbytes)
		return err_set(in->e, -EINVAL,
			       "%s:%u: expected offset 0x%llx after %zu bytes, found 0x%llx",
			       in->name, in->line, (unsigned long long)(in->base + in->nbytes),
			       in->nbytes, (unsigned long long)v);
	in->p = after;
	return 0;
}

/* A word of digits: whole bytes, or one digit for a byte below 16. */
static int take_word(struct hex_in *in)
{
	const char *s = skip_0x(in, in->p);
	unsigned n = hex_digits(in, s);

	if (!n)
		return hex_fail(in, s, "hexadecimal digits");
	if (n == 1) {
		hex_byte(in, (uint8_t)digit_value(*s));
	} else if (n % 2) {
		return err_set(in->e, -EINVAL,
			       "%s:%u:%u: expected two digits a byte, found a word of %u digits",
			       in->name, in->line, (unsigned)(in->p - in->line_start) + 1, n);
	} else {
		for (unsigned i = 0; i < n; i += 2)
			hex_byte(in, (uint8_t)(digit_value(s[i]) << 4 | digit_value(s[i + 1])));
	}
	in->p = s + n;
	return 0;
}

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ':' || c == ';';
}

static bool row_ended(const struct hex_in *in)
{
	if (in->p >= in->end || *in->p == '\n' || *in->p == '#')
		return true;
	return in->offsets && (*in->p == '|' || in->row_bytes >= ROW_MAX);
}

static int take_row(struct hex_in *in)
{
	int rc = take_offset(in);

	in->started = true;
	in->row_bytes = 0;
	while (!rc && !row_ended(in)) {
		if (is_separator(*in->p))
			in->p++;
		else
			rc = take_word(in);
	}
	if (in->row_bytes)
		in->row_len = in->row_bytes;
	return rc;
}

/* smpdump ends with the SMP's status. */
static bool is_status_line(const struct hex_in *in)
{
	static const char words[] = "SMP status:";

	return (size_t)(in->end - in->p) >= strlen(words) && !memcmp(in->p, words, strlen(words));
}

static int take_line(struct hex_in *in)
{
	int rc = 0;

	in->row_bytes = 0;
	while (in->p < in->end && is_separator(*in->p))
		in->p++;
	if (in->p < in->end && *in->p == '*' && in->offsets && is_blank(in, in->p + 1))
		in->starred = true;
	else if (in->is_attr && is_status_line(in))
		;
	else if (!row_ended(in))
		rc = take_row(in);
	while (in->p < in->end && *in->p != '\n')
		in->p++;
	return rc;
}

static int hex_parse(struct hex_in *in)
{
	for (in->p = in->text; in->p < in->end; in->p++) {
		int rc;

		in->line++;
		in->line_start = in->p;
		rc = take_line(in);
		if (rc)
			return rc;
	}
	return 0;
}

int iba_mad_from_text(uint8_t mad[IBA_MAD_SIZE], const char *name, const char *text, size_t len,
		      struct err *e)
{
	struct hex_in in = {.name = name, .text = text, .end = text + len, .e = e};
	int rc = hex_parse(&in);

	if (!rc && in.nbytes != IBA_MAD_SIZE)
		rc = err_set(e, -EINVAL, "%s: found %zu bytes, expected the %d of a MAD", name,
			     in.nbytes, IBA_MAD_SIZE);
	if (!rc)
		memcpy(mad, in.bytes, IBA_MAD_SIZE);
	return rc;
}

int iba_attr_from_text(uint8_t data[IBA_SMP_DATA_SIZE], const char *name, const char *text,
		       size_t len, struct err *e)
{
	struct hex_in in = {.name = name, .text = text, .end = text + len, .is_attr = true, .e = e};
	int rc = hex_parse(&in);

	if (!rc && (!in.nbytes || in.nbytes > IBA_SMP_DATA_SIZE))
		rc = err_set(e, -EINVAL, "%s: found %zu bytes, expected 1 to %d of an attribute",
			     name, in.nbytes, IBA_SMP_DATA_SIZE);
	if (!rc)
		memcpy(data, in.bytes, IBA_SMP_DATA_SIZE);
	return rc;
}
