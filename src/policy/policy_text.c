/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines, words, numbers and GIDs of policy files. State: none. Ways in: policy_priv.h. Knows no keyword.
 */
#include "policy/policy_priv.h"

int pol_fault(const struct pol_place *at, struct err *e, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, -EINVAL, "%.80s:%u: %s", at->file, at->line, text);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char *pol_trim(char *s)
{
	size_t n;

	while (is_blank(*s))
		s++;
	for (n = strlen(s); n && is_blank(s[n - 1]); n--)
		s[n - 1] = 0;
	return s;
}

int pol_number(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	if (parse_u64(s, v) || *v < min || *v > max)
		return -EINVAL;
	return 0;
}

bool pol_is_prefix(const char *word, const char *whole)
{
	return *word && !strncmp(word, whole, strlen(word));
}

void pol_name_set(char name[POL_NAME], const char *text)
{
	size_t n = strnlen(text, POL_NAME - 1);

	memcpy(name, text, n);
	memset(name + n, 0, POL_NAME - n);
}

/* ---- lines ---- */

bool pol_line(const char **text, const char *end, struct pol_place *at, struct strbuf *buf)
{
	const char *nl, *hash;

	if (*text >= end)
		return false;
	nl = memchr(*text, '\n', (size_t)(end - *text));
	nl = nl ? nl : end;
	hash = memchr(*text, '#', (size_t)(nl - *text));
	buf->len = 0;
	strbuf_addn(buf, *text, (size_t)((hash ? hash : nl) - *text));
	strbuf_add(buf, "");
	*text = nl + 1;
	at->line++;
	return true;
}

/* Names go into documents and logs: no control characters, no bytes that are not UTF-8. */
int pol_line_check(const struct pol_place *at, const char *line, size_t len, struct err *e)
{
	for (size_t i = 0; i < len;) {
		unsigned n = line[i] == '\t' || line[i] == '\r' ? 1 : utf8_len(line + i, len - i);

		if (!n)
			return pol_fault(at, e, "expected UTF-8 text, found byte 0x%02x",
					 (unsigned char)line[i]);
		i += n;
	}
	return 0;
}

/* ---- names ---- */

bool pol_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) { /* the star takes one character more */
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* ---- GIDs ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* One group of up to four digits; its length, 0: none. */
static unsigned gid_part(const char *s, unsigned *v)
{
	unsigned n = 0;

	for (*v = 0; n < 4 && hex_digit(s[n]) >= 0; n++)
		*v = *v << 4 | (unsigned)hex_digit(s[n]);
	return n;
}

int pol_gid_parse(const char *s, uint8_t gid[16])
{
	unsigned parts[8], n = 0, gap = 9, len;

	if (!strncmp(s, "::", 2)) {
		gap = 0;
		s += 2;
	}
	while (*s) {
		if (n == 8 || !(len = gid_part(s, &parts[n])))
			return -EINVAL;
		n++;
		s += len;
		if (!strncmp(s, "::", 2)) {
			if (gap != 9)
				return -EINVAL;
			gap = n;
			s += 2;
		} else if (*s == ':' && s[1]) {
			s++;
		} else if (*s) {
			return -EINVAL;
		}
	}
	if (gap == 9 ? n != 8 : n == 8)
		return -EINVAL;
	memset(gid, 0, 16);
	for (unsigned i = 0; i < n; i++) {
		unsigned to = i < gap ? i : 8 - n + i;

		gid[2 * to] = (uint8_t)(parts[i] >> 8);
		gid[2 * to + 1] = (uint8_t)parts[i];
	}
	return 0;
}

/* The longest run of zero parts, of two or more, becomes "::". */
void pol_gid_text(const uint8_t gid[16], char text[48])
{
	unsigned best = 8, length = 1;
	char *p = text;

	for (unsigned i = 0; i < 8; i++) {
		unsigned run = 0;

		while (i + run < 8 && !gid[2 * (i + run)] && !gid[2 * (i + run) + 1])
			run++;
		if (run > length) {
			best = i;
			length = run;
		}
	}
	for (unsigned i = 0; i < 8;) {
		if (i == best) {
			p += snprintf(p, 3, "::");
			i += length;
			continue;
		}
		p += snprintf(p, 6, "%s%x", i && i != best + length ? ":" : "",
			      gid[2 * i] << 8 | gid[2 * i + 1]);
		i++;
	}
	*p = 0;
}
