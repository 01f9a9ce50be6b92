/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON writer. State: the caller's struct json. Way in: json_open(). Does not parse.
 */
#include "base/json.h"

#include <math.h>

/* The number of leading bytes that need no escape. */
static size_t plain_len(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void add_string(struct strbuf *b, const char *s)
{
	strbuf_add(b, "\"");
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		unsigned char c = (unsigned char)*s;

		len = plain_len(s);
		if (len) { /* most of it */
			strbuf_addn(b, s, len);
			continue;
		}
		len = utf8_len(s, n);
		if (c == '"' || c == '\\')
			strbuf_addf(b, "\\%c", c);
		else if (len)
			strbuf_addn(b, s, len);
		else
			strbuf_addf(b, "\\u%04x", c); /* not UTF-8: read as Latin-1 */
		len = MAX(len, (size_t)1);
	}
	strbuf_add(b, "\"");
}

static void new_line(struct json *j)
{
	if (j->line)
		return;
	strbuf_add(&j->out, "\n");
	for (int i = 0; i < j->depth; i++)
		strbuf_add(&j->out, "  ");
}

static void begin(struct json *j, const char *key)
{
	if (j->depth) {
		strbuf_add(&j->out, j->first ? "" : ",");
		new_line(j);
	}
	if (key) {
		add_string(&j->out, key);
		strbuf_add(&j->out, j->line ? ":" : ": ");
	}
	j->first = false;
}

void json_open(struct json *j, const char *key, char brace)
{
	assert(j->depth < (int)sizeof(j->close));
	begin(j, key);
	strbuf_addn(&j->out, &brace, 1);
	j->close[j->depth++] = brace == '{' ? '}' : ']';
	j->first = true;
}

void json_close(struct json *j)
{
	assert(j->depth > 0);
	j->depth--;
	if (!j->first)
		new_line(j);
	strbuf_addn(&j->out, &j->close[j->depth], 1);
	if (!j->depth && !j->line)
		strbuf_add(&j->out, "\n");
	j->first = false;
}

void json_str(struct json *j, const char *key, const char *s)
{
	begin(j, key);
	add_string(&j->out, s);
}

void json_raw(struct json *j, const char *key, const char *json_text)
{
	begin(j, key);
	strbuf_add(&j->out, json_text);
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_raw(j, key, v ? "true" : "false");
}

void json_none(struct json *j, const char *key)
{
	json_raw(j, key, "null");
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	strbuf_addf(&j->out, "%llu", (unsigned long long)v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	begin(j, key);
	strbuf_addf(&j->out, "%lld", (long long)v);
}

void json_hex64(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	strbuf_addf(&j->out, "\"0x%016llx\"", (unsigned long long)v);
}

void json_fixed(struct json *j, const char *key, uint64_t v, int digits)
{
	uint64_t unit = 1;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	begin(j, key);
	strbuf_addf(&j->out, "%llu.%0*llu", (unsigned long long)(v / unit), digits,
		    (unsigned long long)(v % unit));
}

void json_seconds(struct json *j, const char *key, time_ps t)
{
	json_fixed(j, key, t, 12);
}

void json_double(struct json *j, const char *key, double v)
{
	if (!isfinite(v)) { /* JSON cannot represent it */
		json_none(j, key);
		return;
	}
	begin(j, key);
	strbuf_addf(&j->out, "%.6g", v);
}

void json_free(struct json *j)
{
	strbuf_free(&j->out);
}

void json_pair(struct json *j, const char *name, const char *value)
{
	json_open(j, NULL, '[');
	json_str(j, NULL, name);
	json_str(j, NULL, value);
	json_close(j);
}

void json_pair_u64(struct json *j, const char *name, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	json_pair(j, name, text);
}
