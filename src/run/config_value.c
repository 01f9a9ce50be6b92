/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of keys from text and to text. State: none. Ways in: cfg_value_set(), cfg_value_text(). Knows
 * nothing of files.
 */
#include "base/words.h"
#include "run/config_priv.h"

static void *field(const struct cfg_key *k, struct run_config *c)
{
	return (char *)c + k->at;
}

static const void *field_of(const struct cfg_key *k, const struct run_config *c)
{
	return (const char *)c + k->at;
}

static const char *row_name(const void *row)
{
	return *(const char *const *)row; /* what every row begins with */
}

static const void *row_at(const struct cfg_key *k, unsigned i)
{
	return (const char *)k->rows + i * k->stride;
}

const char *cfg_choice(const struct cfg_key *k, unsigned i)
{
	return k->rows ? row_name(row_at(k, i)) : k->choices ? k->choices[i] : NULL;
}

/* ---- numbers, with what they are written in ---- */

static const struct {
	const char *name;
	uint64_t n;
} times[] = {{"s", PS_PER_S}, {"ms", PS_PER_MS}, {"us", PS_PER_US}, {"ns", PS_PER_NS}, {"ps", 1}},
  sizes[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}};

static void time_text(struct strbuf *out, time_ps t)
{
	unsigned i = 0;

	while (t && t % times[i].n)
		i++;
	strbuf_addf(out, t ? "%llu%s" : "%llu", (unsigned long long)(t / times[i].n),
		    times[i].name);
}

static void bytes_text(struct strbuf *out, uint64_t v)
{
	unsigned i = 0;

	while (v % sizes[i].n)
		i++;
	strbuf_addf(out, v ? "%llu%s" : "%llu", (unsigned long long)(v / sizes[i].n),
		    sizes[i].name);
}

static int bytes_read(const char *s, uint64_t *v)
{
	size_t digits = strspn(s, "0123456789");
	char number[24];

	for (unsigned i = 0; i < ARRAY_LEN(sizes) && digits && digits < sizeof(number); i++) {
		if (strcmp(s + digits, sizes[i].name))
			continue;
		snprintf(number, sizeof(number), "%.*s", (int)digits, s);
		return parse_u64(number, v) || __builtin_mul_overflow(*v, sizes[i].n, v) ? -EINVAL
											 : 0;
	}
	return -EINVAL;
}

/* 0x and up to 16 digits, or all 16, with or without the colons that some programs write. */
static int hex_read(const char *s, uint64_t *v)
{
	char digits[20] = "0x";
	size_t n = 2;
	bool prefixed = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

	if (!strcmp(s, "0")) {
		*v = 0;
		return 0;
	}
	for (const char *p = prefixed ? s + 2 : s; *p; p++) {
		if (*p == ':' && !prefixed && n > 2 && (n - 2) % 4 == 0 && p[1])
			continue;
		if (!strchr("0123456789abcdefABCDEF", *p) || n == 18)
			return -EINVAL;
		digits[n++] = *p;
	}
	return n == 2 || (!prefixed && n != 18) ? -EINVAL : parse_u64(digits, v);
}

static int mode_read(const char *s, uint64_t *v)
{
	if (!*s || strlen(s) > 5 || s[strspn(s, "01234567")])
		return -EINVAL;
	*v = strtoul(s, NULL, 8);
	return 0;
}

/* ---- what is expected ---- */

static void expects_choice(const struct cfg_key *k, struct strbuf *out)
{
	const char *c;

	for (unsigned i = 0; (c = cfg_choice(k, i)); i++)
		strbuf_addf(out, "%s%s", !i ? "" : cfg_choice(k, i + 1) ? ", " : " or ", c);
}

static void expects_time(const struct cfg_key *k, struct strbuf *out)
{
	strbuf_add(out, "a time from ");
	time_text(out, k->min);
	strbuf_add(out, " to ");
	time_text(out, k->max);
	strbuf_add(out, ", such as 500ms or 1.5s");
	if (k->unit > 1) {
		strbuf_add(out, ", in whole ");
		strbuf_add(out, k->unit == PS_PER_S ? "seconds" : "microseconds");
	}
}

void cfg_range(const struct cfg_key *k, struct strbuf *out)
{
	if (cfg_choice(k, 0)) {
		expects_choice(k, out);
	} else if (k->kind == CFG_UINT) {
		strbuf_addf(out, "%llu to %llu", (unsigned long long)k->min,
			    (unsigned long long)k->max);
	} else if (k->kind == CFG_TIME) {
		time_text(out, k->min);
		strbuf_add(out, " to ");
		time_text(out, k->max);
	}
}

void cfg_expects(const struct cfg_key *k, struct strbuf *out)
{
	switch (k->kind) {
	case CFG_BOOL:
		strbuf_add(out, "true or false");
		return;
	case CFG_UINT:
		strbuf_addf(out, "a number from %llu to %llu", (unsigned long long)k->min,
			    (unsigned long long)k->max);
		return;
	case CFG_BYTES:
		strbuf_add(out, "a size such as 64MiB, up to ");
		bytes_text(out, k->max);
		return;
	case CFG_TIME:
		expects_time(k, out);
		return;
	case CFG_MODE:
		strbuf_addf(out, "permissions in octal, such as 0660, up to 0%llo",
			    (unsigned long long)k->max);
		return;
	case CFG_TEXT:
		if (k->choices)
			expects_choice(k, out);
		else
			strbuf_addf(out, "a text of 1 to %zu bytes, or %s", k->size - 1,
				    k->nothing);
		return;
	case CFG_CHOICE:
	case CFG_ROW:
		expects_choice(k, out);
		return;
	case CFG_HEX:
		strbuf_add(out, "64 bits in hexadecimal, such as 0x0002c90300001234");
		return;
	case CFG_HEXES:
		strbuf_addf(
			out,
			"a list of up to %zu numbers such as 0x0002c90300001234, none of them 0",
			k->size / sizeof(uint64_t));
		return;
	}
}

/* What was found, as it may be shown: no control characters, not too long. */
static void found_text(struct strbuf *out, const char *s)
{
	size_t n = 0;

	if (!*s) {
		strbuf_add(out, "nothing");
		return;
	}
	strbuf_add(out, "'");
	for (size_t left = strlen(s), len; left && n < 60; s += len, left -= len, n += len) {
		len = utf8_len(s, left);
		strbuf_addn(out, len ? s : "?", len ? len : 1);
		len = MAX(len, (size_t)1);
	}
	strbuf_add(out, *s ? "...'" : "'");
}

static int refuse(const struct cfg_key *k, const char *text, struct err *e)
{
	struct word_near near = {.word = text};
	struct strbuf want = {0}, found = {0};
	const char *c;

	cfg_expects(k, &want);
	found_text(&found, text);
	for (unsigned i = 0; (c = cfg_choice(k, i)); i++)
		word_near_offer(&near, c, c);
	err_set(e, 0, "%s.%s: expected %s; found %s%s%s%s", k->section, k->name, want.s, found.s,
		near.best ? ", did you mean '" : "", near.best ? near.best : "",
		near.best ? "'?" : "");
	strbuf_free(&want);
	strbuf_free(&found);
	return -EINVAL;
}

/* ---- setting ---- */

static int number_read(const struct cfg_key *k, const char *s, uint64_t *v)
{
	int rc = k->kind == CFG_TIME	? parse_time(s, v)
		 : k->kind == CFG_BYTES ? bytes_read(s, v)
		 : k->kind == CFG_MODE	? mode_read(s, v)
		 : k->kind == CFG_HEX	? hex_read(s, v)
					: parse_u64(s, v);

	if (rc || (k->kind != CFG_HEX && (*v < k->min || *v > k->max)))
		return -EINVAL;
	if (k->kind == CFG_TIME && *v % k->unit)
		return -EINVAL;
	if (k->kind == CFG_TIME)
		*v /= k->unit;
	return 0;
}

static void number_put(const struct cfg_key *k, struct run_config *c, uint64_t v)
{
	if (k->size == sizeof(uint64_t))
		*(uint64_t *)field(k, c) = v;
	else if (k->size == sizeof(unsigned))
		*(unsigned *)field(k, c) = (unsigned)v;
	else
		*(bool *)field(k, c) = v;
}

static int choice_read(const struct cfg_key *k, const char *s, uint64_t *v)
{
	const char *c;

	for (*v = 0; (c = cfg_choice(k, (unsigned)*v)); ++*v)
		if (!strcmp(c, s))
			return 0;
	return -EINVAL;
}

static void row_put(const struct cfg_key *k, struct run_config *c, unsigned i)
{
	if (k->size == k->stride)
		memcpy(field(k, c), row_at(k, i), k->stride);
	else
		*(const void **)field(k, c) = row_at(k, i);
}

static int text_put(const struct cfg_key *k, struct run_config *c, const char *s)
{
	uint64_t v;

	if (!*s || strlen(s) >= k->size || (k->choices && choice_read(k, s, &v)))
		return -EINVAL;
	for (size_t left = strlen(s), at = 0, len; left; at += len, left -= len) {
		len = utf8_len(s + at, left);
		if (!len)
			return -EINVAL; /* a control character */
	}
	memset(field(k, c), 0, k->size);
	strcpy(field(k, c), strcmp(s, k->nothing) ? s : "");
	return 0;
}

static int list_put(const struct cfg_key *k, struct run_config *c, char *const *texts, unsigned n,
		    struct err *e)
{
	uint64_t *to = field(k, c);
	unsigned room = (unsigned)(k->size / sizeof(*to));

	if (n > room)
		return refuse(k, texts[room], e);
	memset(to, 0, k->size);
	for (unsigned i = 0; i < n; i++)
		if (hex_read(texts[i], &to[i]) || !to[i])
			return refuse(k, texts[i], e);
	return 0;
}

static int one_put(const struct cfg_key *k, struct run_config *c, const char *s)
{
	uint64_t v;

	switch (k->kind) {
	case CFG_BOOL:
		*(bool *)field(k, c) = !strcmp(s, "true");
		return strcmp(s, "true") && strcmp(s, "false") ? -EINVAL : 0;
	case CFG_TEXT:
		return text_put(k, c, s);
	case CFG_CHOICE:
		if (choice_read(k, s, &v))
			return -EINVAL;
		number_put(k, c, v);
		return 0;
	case CFG_ROW:
		if (choice_read(k, s, &v))
			return -EINVAL;
		row_put(k, c, (unsigned)v);
		return 0;
	case CFG_UINT:
	case CFG_BYTES:
	case CFG_TIME:
	case CFG_MODE:
	case CFG_HEX:
		if (number_read(k, s, &v))
			return -EINVAL;
		number_put(k, c, v);
		return 0;
	case CFG_HEXES:
		break;
	}
	return -EINVAL;
}

int cfg_value_set(const struct cfg_key *k, struct run_config *c, char *const *texts, unsigned n,
		  struct err *e)
{
	if (k->kind == CFG_HEXES)
		return list_put(k, c, texts, n, e);
	assert(n == 1);
	return one_put(k, c, texts[0]) ? refuse(k, texts[0], e) : 0;
}

/* ---- as text ---- */

static uint32_t code_point(const char *s, unsigned len)
{
	uint32_t v = (unsigned char)*s & (0x7fu >> len);

	for (unsigned i = 1; i < len; i++)
		v = v << 6 | ((unsigned char)s[i] & 0x3fu);
	return v;
}

/* Plain where YAML takes it as it is. From U+0800 on there are some that it takes for line breaks, or not
 * at all. */
static void yaml_text(struct strbuf *out, const char *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+";

	if (*s && !strchr("-+.", *s) && !s[strspn(s, plain)]) {
		strbuf_add(out, s);
		return;
	}
	strbuf_add(out, "\"");
	for (size_t left = strlen(s), len; left; s += len, left -= len) {
		len = utf8_len(s, left);
		if (*s == '"' || *s == '\\')
			strbuf_add(out, "\\");
		if (len < 3)
			strbuf_addn(out, s, len);
		else
			strbuf_addf(out, "\\U%08x", code_point(s, (unsigned)len));
	}
	strbuf_add(out, "\"");
}

static void list_text(const uint64_t *v, unsigned n, struct strbuf *out)
{
	strbuf_add(out, "[");
	for (unsigned i = 0; i < n && v[i]; i++)
		strbuf_addf(out, "%s0x%016llx", i ? ", " : "", (unsigned long long)v[i]);
	strbuf_add(out, "]");
}

static uint64_t number_get(const struct cfg_key *k, const struct run_config *c)
{
	const void *f = field_of(k, c);

	return k->size == sizeof(uint64_t)   ? *(const uint64_t *)f
	       : k->size == sizeof(unsigned) ? *(const unsigned *)f
					     : *(const bool *)f;
}

void cfg_value_text(const struct cfg_key *k, const struct run_config *c, struct strbuf *out)
{
	const void *f = field_of(k, c);

	switch (k->kind) {
	case CFG_BOOL:
		strbuf_add(out, *(const bool *)f ? "true" : "false");
		return;
	case CFG_UINT:
		strbuf_addf(out, "%llu", (unsigned long long)number_get(k, c));
		return;
	case CFG_BYTES:
		bytes_text(out, number_get(k, c));
		return;
	case CFG_TIME:
		time_text(out, number_get(k, c) * k->unit);
		return;
	case CFG_MODE:
		strbuf_addf(out, "0%03llo", (unsigned long long)number_get(k, c));
		return;
	case CFG_TEXT:
		yaml_text(out, *(const char *)f ? f : k->nothing);
		return;
	case CFG_CHOICE:
		strbuf_add(out, k->choices[number_get(k, c)]);
		return;
	case CFG_ROW:
		strbuf_add(out, row_name(k->size == k->stride ? f : *(const void *const *)f));
		return;
	case CFG_HEX:
		strbuf_addf(out, number_get(k, c) ? "0x%016llx" : "%llu",
			    (unsigned long long)number_get(k, c));
		return;
	case CFG_HEXES:
		list_text(f, (unsigned)(k->size / sizeof(uint64_t)), out);
		return;
	}
}

bool cfg_value_same(const struct cfg_key *k, const struct run_config *a, const struct run_config *b)
{
	struct strbuf x = {0}, y = {0};
	bool same;

	cfg_value_text(k, a, &x);
	cfg_value_text(k, b, &y);
	same = !strcmp(x.s, y.s);
	strbuf_free(&x);
	strbuf_free(&y);
	return same;
}
