/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value of one setting, from text and to text. State: none. Ways in: setting_set(),
 * setting_text(). Knows neither files nor options.
 */
#include "base/spelling.h"
#include "base/units.h"
#include "settings/settings.h"

static void *field(const struct setting *k, struct settings *c)
{
	return (char *)c + k->at;
}

static const void *field_of(const struct setting *k, const struct settings *c)
{
	return (const char *)c + k->at;
}

static const char *row_name(const void *row)
{
	return *(const char *const *)row; /* every row begins with its name */
}

static const void *row_at(const struct setting *k, unsigned i)
{
	return (const char *)k->rows + i * k->stride;
}

const char *setting_choice(const struct setting *k, unsigned i)
{
	return k->rows ? row_name(row_at(k, i)) : k->choices ? k->choices[i] : NULL;
}

/* ---- numbers and their units ---- */

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

static void expects_choice(const struct setting *k, struct strbuf *out)
{
	const char *c;

	for (unsigned i = 0; (c = setting_choice(k, i)); i++)
		strbuf_addf(out, "%s%s", !i ? "" : setting_choice(k, i + 1) ? ", " : " or ", c);
}

static void expects_time(const struct setting *k, struct strbuf *out)
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

void setting_range(const struct setting *k, struct strbuf *out)
{
	if (setting_choice(k, 0)) {
		expects_choice(k, out);
	} else if (k->kind == SETTING_UINT) {
		strbuf_addf(out, "%llu to %llu", (unsigned long long)k->min,
			    (unsigned long long)k->max);
	} else if (k->kind == SETTING_TIME) {
		time_text(out, k->min);
		strbuf_add(out, " to ");
		time_text(out, k->max);
	}
}

/* Of a setting without choices. */
static void expects_value(const struct setting *k, struct strbuf *out)
{
	switch (k->kind) {
	case SETTING_BOOL:
		strbuf_add(out, "true or false");
		return;
	case SETTING_UINT:
		strbuf_addf(out, "a number from %llu to %llu", (unsigned long long)k->min,
			    (unsigned long long)k->max);
		return;
	case SETTING_BYTES:
		strbuf_add(out, "a size such as 64MiB, up to ");
		bytes_text(out, k->max);
		return;
	case SETTING_TIME:
		expects_time(k, out);
		return;
	case SETTING_MODE:
		strbuf_addf(out, "permissions in octal, such as 0660, up to 0%llo",
			    (unsigned long long)k->max);
		return;
	case SETTING_TEXT:
		strbuf_addf(out, "a text of 1 to %zu bytes, or %s", k->size - 1, k->nothing);
		return;
	case SETTING_CHOICE:
	case SETTING_ROW:
		return;
	case SETTING_HEX:
		strbuf_add(out, "64 bits in hexadecimal, such as 0x0002c90300001234");
		return;
	case SETTING_LIST:
		strbuf_addf(
			out,
			"a list of names and of GUIDs such as 0x0002c90300001234, none of them 0, with up to "
			"%zu bytes in all",
			k->size - 1);
		return;
	case SETTING_HEXES:
		strbuf_addf(
			out,
			"a list of up to %zu numbers such as 0x0002c90300001234, none of them 0",
			k->size / sizeof(uint64_t));
		return;
	}
}

void setting_expects(const struct setting *k, struct strbuf *out)
{
	expects_choice(k, out);
	if (!setting_choice(k, 0))
		expects_value(k, out);
}

/* What was found, without control characters, shortened. */
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

static int refuse(const struct setting *k, const char *text, struct err *e)
{
	struct spelling near = {.word = text};
	struct strbuf want = {0}, found = {0};
	const char *c;

	setting_expects(k, &want);
	found_text(&found, text);
	for (unsigned i = 0; (c = setting_choice(k, i)); i++)
		spelling_offer(&near, c, c);
	err_set(e, 0, "expected %s; found %s%s%s%s", want.s, found.s,
		near.best ? ", did you mean '" : "", near.best ? near.best : "",
		near.best ? "'?" : "");
	strbuf_free(&want);
	strbuf_free(&found);
	return -EINVAL;
}

/* ---- setting ---- */

static int number_read(const struct setting *k, const char *s, uint64_t *v)
{
	int rc = k->kind == SETTING_TIME    ? parse_time(s, v)
		 : k->kind == SETTING_BYTES ? bytes_read(s, v)
		 : k->kind == SETTING_MODE  ? mode_read(s, v)
		 : k->kind == SETTING_HEX   ? hex_read(s, v)
					    : parse_u64(s, v);

	if (rc || (k->kind != SETTING_HEX && (*v < k->min || *v > k->max)))
		return -EINVAL;
	if (k->kind == SETTING_TIME && *v % k->unit)
		return -EINVAL;
	if (k->kind == SETTING_TIME)
		*v /= k->unit;
	return 0;
}

static void number_put(const struct setting *k, struct settings *c, uint64_t v)
{
	if (k->size == sizeof(uint64_t))
		*(uint64_t *)field(k, c) = v;
	else if (k->size == sizeof(unsigned))
		*(unsigned *)field(k, c) = (unsigned)v;
	else
		*(bool *)field(k, c) = v;
}

static int choice_read(const struct setting *k, const char *s, uint64_t *v)
{
	const char *c;

	for (*v = 0; (c = setting_choice(k, (unsigned)*v)); ++*v)
		if (!strcmp(c, s))
			return 0;
	return -EINVAL;
}

static void row_put(const struct setting *k, struct settings *c, unsigned i)
{
	if (k->rows == sm_mechanisms)
		settings_mechanism(row_at(k, i), field(k, c));
	else if (k->size == k->stride)
		memcpy(field(k, c), row_at(k, i), k->stride);
	else
		*(const void **)field(k, c) = row_at(k, i);
}

static int text_put(const struct setting *k, struct settings *c, const char *s)
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

static int list_put(const struct setting *k, struct settings *s, char *const *texts, unsigned n,
		    struct err *e)
{
	unsigned room = (unsigned)(k->size / sizeof(uint64_t));
	uint64_t *v = mem_zarray(room, sizeof(*v));
	unsigned i = 0;

	while (i < n && i < room && !hex_read(texts[i], &v[i]) && v[i])
		i++;
	if (i == n)
		memcpy(field(k, s), v, k->size);
	free(v);
	return i < n ? refuse(k, texts[i], e) : 0;
}

/* A GUID in one form; other texts as they are. */
static int element_add(struct strbuf *b, const char *s)
{
	uint64_t v;

	if (!hex_read(s, &v) && v) {
		strbuf_addf(b, "0x%016llx\n", (unsigned long long)v);
		return 0;
	}
	if (!s[strspn(s, "0123456789")] || !strncmp(s, "0x", 2)) /* a GUID with a fault */
		return -EINVAL;
	for (size_t left = strlen(s), at = 0, len; left; at += len, left -= len) {
		len = utf8_len(s + at, left);
		if (!len)
			return -EINVAL; /* a control character */
	}
	strbuf_addf(b, "%s\n", s);
	return 0;
}

static int texts_put(const struct setting *k, struct settings *s, char *const *texts, unsigned n,
		     struct err *e)
{
	struct strbuf b = {0};
	unsigned i = 0;

	while (i < n && !element_add(&b, texts[i]) && b.len < k->size)
		i++;
	if (i == n) {
		memset(field(k, s), 0, k->size);
		memcpy(field(k, s), b.len ? b.s : "", b.len);
	}
	strbuf_free(&b);
	return i < n ? refuse(k, texts[i], e) : 0;
}

static int one_put(const struct setting *k, struct settings *c, const char *s)
{
	uint64_t v;

	switch (k->kind) {
	case SETTING_BOOL:
		*(bool *)field(k, c) = !strcmp(s, "true");
		return strcmp(s, "true") && strcmp(s, "false") ? -EINVAL : 0;
	case SETTING_TEXT:
		return text_put(k, c, s);
	case SETTING_CHOICE:
		if (choice_read(k, s, &v))
			return -EINVAL;
		number_put(k, c, v);
		return 0;
	case SETTING_ROW:
		if (choice_read(k, s, &v))
			return -EINVAL;
		row_put(k, c, (unsigned)v);
		return 0;
	case SETTING_UINT:
	case SETTING_BYTES:
	case SETTING_TIME:
	case SETTING_MODE:
	case SETTING_HEX:
		if (number_read(k, s, &v))
			return -EINVAL;
		number_put(k, c, v);
		return 0;
	case SETTING_HEXES:
	case SETTING_LIST:
		break;
	}
	return -EINVAL;
}

int setting_set_list(const struct setting *k, struct settings *s, char *const *texts, unsigned n,
		     struct err *e)
{
	if (k->kind == SETTING_HEXES)
		return list_put(k, s, texts, n, e);
	if (k->kind == SETTING_LIST)
		return texts_put(k, s, texts, n, e);
	assert(n == 1);
	if (one_put(k, s, texts[0]))
		return refuse(k, texts[0], e);
	if (k->clears)
		*(unsigned *)((char *)s + k->clears) = 0;
	return 0;
}

bool setting_is_list(const struct setting *k)
{
	return k->kind == SETTING_HEXES || k->kind == SETTING_LIST;
}

int setting_set(const struct setting *k, struct settings *s, const char *text, struct err *e)
{
	VEC(char *) elements = {0};
	char *copy = mem_strdup(text), *rest = copy;
	int rc;

	if (!setting_is_list(k))
		vec_push(&elements, copy);
	while (setting_is_list(k) && *text && rest)
		vec_push(&elements, strsep(&rest, ","));
	rc = setting_set_list(k, s, elements.at, (unsigned)elements.n, e);
	vec_free(&elements);
	free(copy);
	return rc;
}

/* ---- as text ---- */

static uint32_t code_point(const char *s, unsigned len)
{
	uint32_t v = (unsigned char)*s & (0x7fu >> len);

	for (unsigned i = 1; i < len; i++)
		v = v << 6 | ((unsigned char)s[i] & 0x3fu);
	return v;
}

/* Without quotes where YAML needs none. Characters from U+0800 on are escaped: YAML reads some of them as
 * line breaks and refuses others. */
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

static void texts_text(const char *s, struct strbuf *out)
{
	char *copy = mem_strdup(s), *rest = copy;

	strbuf_add(out, "[");
	for (char *at; (at = strsep(&rest, "\n")) && *at;) {
		strbuf_add(out, at == copy ? "" : ", ");
		yaml_text(out, at);
	}
	strbuf_add(out, "]");
	free(copy);
}

static uint64_t number_get(const struct setting *k, const struct settings *c)
{
	const void *f = field_of(k, c);

	return k->size == sizeof(uint64_t)   ? *(const uint64_t *)f
	       : k->size == sizeof(unsigned) ? *(const unsigned *)f
					     : *(const bool *)f;
}

void setting_text(const struct setting *k, const struct settings *c, struct strbuf *out)
{
	const void *f = field_of(k, c);

	switch (k->kind) {
	case SETTING_BOOL:
		strbuf_add(out, *(const bool *)f ? "true" : "false");
		return;
	case SETTING_UINT:
		strbuf_addf(out, "%llu", (unsigned long long)number_get(k, c));
		return;
	case SETTING_BYTES:
		bytes_text(out, number_get(k, c));
		return;
	case SETTING_TIME:
		time_text(out, number_get(k, c) * k->unit);
		return;
	case SETTING_MODE:
		strbuf_addf(out, "0%03llo", (unsigned long long)number_get(k, c));
		return;
	case SETTING_TEXT:
		yaml_text(out, *(const char *)f ? f : k->nothing);
		return;
	case SETTING_CHOICE:
		strbuf_add(out, k->choices[number_get(k, c)]);
		return;
	case SETTING_ROW:
		strbuf_add(out, row_name(k->size == k->stride ? f : *(const void *const *)f));
		return;
	case SETTING_HEX:
		strbuf_addf(out, number_get(k, c) ? "0x%016llx" : "%llu",
			    (unsigned long long)number_get(k, c));
		return;
	case SETTING_LIST:
		texts_text(f, out);
		return;
	case SETTING_HEXES:
		list_text(f, (unsigned)(k->size / sizeof(uint64_t)), out);
		return;
	}
}

bool setting_same(const struct setting *k, const struct settings *a, const struct settings *b)
{
	struct strbuf x = {0}, y = {0};
	bool same;

	setting_text(k, a, &x);
	setting_text(k, b, &y);
	same = !strcmp(x.s, y.s);
	strbuf_free(&x);
	strbuf_free(&y);
	return same;
}
