/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as sentences and as JSON. State: none. Ways in: record_text(), record_json(). Knows no record's
 * meaning.
 */
#include "base/record.h"

/* ---- values ---- */

static bool present(const struct record_value *v)
{
	if (!v)
		return false;
	switch (v->type) {
	case RECORD_TEXT:
		return v->s && *v->s;
	case RECORD_COUNT:
	case RECORD_GUID:
	case RECORD_HEX:
	case RECORD_MICROSECONDS:
	case RECORD_LID:
		return true;
	case RECORD_DEVICE:
	case RECORD_BEHIND:
	case RECORD_PLACE:
	case RECORD_LINK:
		return v->a.guid || (v->a.name && *v->a.name);
	}
	return false;
}

static void time_text(uint64_t us, struct strbuf *out)
{
	if (us < 1000)
		strbuf_addf(out, "%llu us", (unsigned long long)us);
	else if (us < 1000000)
		strbuf_addf(out, "%llu.%llu ms", (unsigned long long)us / 1000,
			    (unsigned long long)us % 1000 / 100);
	else
		strbuf_addf(out, "%llu.%03llu s", (unsigned long long)us / 1000000,
			    (unsigned long long)us % 1000000 / 1000);
}

static void plain_text(const char *s, struct strbuf *out)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		len = utf8_len(s, n);
		if (len)
			strbuf_addn(out, s, len);
		else
			strbuf_addf(out, "\\x%02x", (unsigned char)*s);
		len = MAX(len, (size_t)1);
	}
}

static bool has_name(const struct record_end *e)
{
	return e->name && *e->name;
}

static void end_text(const struct record_end *e, struct strbuf *out)
{
	if (has_name(e))
		plain_text(e->name, out);
	else if (e->guid)
		strbuf_addf(out, "0x%016llx", (unsigned long long)e->guid);
	else
		strbuf_add(out, "an unknown device");
	if (e->port >= 0)
		strbuf_addf(out, " port %d", e->port);
}

static void value_text(const struct record_value *v, struct strbuf *out)
{
	switch (v->type) {
	case RECORD_TEXT:
		plain_text(v->s ? v->s : "", out);
		break;
	case RECORD_COUNT:
		strbuf_addf(out, "%llu", (unsigned long long)v->u);
		break;
	case RECORD_GUID:
		strbuf_addf(out, "0x%016llx", (unsigned long long)v->u);
		break;
	case RECORD_HEX:
		strbuf_addf(out, "0x%04llx", (unsigned long long)v->u);
		break;
	case RECORD_MICROSECONDS:
		time_text(v->u, out);
		break;
	case RECORD_LID:
		strbuf_addf(out, "LID %llu", (unsigned long long)v->u);
		break;
	case RECORD_BEHIND:
		strbuf_add(out, "the device behind ");
		end_text(&v->a, out);
		break;
	case RECORD_DEVICE:
	case RECORD_PLACE:
		end_text(&v->a, out);
		break;
	case RECORD_LINK:
		end_text(&v->a, out);
		strbuf_add(out, " <-> ");
		end_text(&v->b, out);
		break;
	}
}

static const struct record_value *value_of(const struct record_value *v, const char *key,
					   size_t len)
{
	for (; v->key; v++)
		if (strlen(v->key) == len && !memcmp(v->key, key, len))
			return v;
	return NULL;
}

/* ---- text ---- */

/* What is between t and end. */
static void fill(const char *t, const char *end, const struct record_value *v, struct strbuf *out)
{
	while (t < end) {
		const char *close = *t == '{'	? memchr(t, '}', (size_t)(end - t))
				    : *t == '[' ? memchr(t, ']', (size_t)(end - t))
						: NULL;
		const struct record_value *x;

		if (!close) {
			strbuf_addn(out, t++, 1);
		} else if (*t == '{') {
			x = value_of(v, t + 1, (size_t)(close - t - 1));
			if (x)
				value_text(x, out);
			t = close + 1;
		} else {
			const char *key = memchr(t, '{', (size_t)(close - t));

			x = key ? value_of(v, key + 1, strcspn(key + 1, "}")) : NULL;
			if (present(x))
				fill(t + 1, close, v, out);
			t = close + 1;
		}
	}
}

void record_text(const char *text, const struct record_value *v, struct strbuf *out)
{
	strbuf_add(out, "");
	fill(text, text + strlen(text), v, out);
}

static void guid_text(const struct record_end *e, unsigned *n, struct strbuf *out)
{
	if (!has_name(e) || !e->guid)
		return;
	strbuf_addf(out, "%s0x%016llx", (*n)++ ? ", " : " (GUID ", (unsigned long long)e->guid);
}

void record_guids(const struct record_value *v, struct strbuf *out)
{
	unsigned n = 0;

	for (; v->key; v++) {
		if (v->type != RECORD_DEVICE && v->type != RECORD_BEHIND &&
		    v->type != RECORD_PLACE && v->type != RECORD_LINK)
			continue;
		guid_text(&v->a, &n, out);
		if (v->type == RECORD_LINK)
			guid_text(&v->b, &n, out);
	}
	if (n)
		strbuf_add(out, ")");
}

/* ---- JSON ---- */

void record_end_json(struct json *j, const char *key, const struct record_end *e)
{
	json_open(j, key, '{');
	json_str(j, "name", e->name ? e->name : "");
	json_hex64(j, "guid", e->guid);
	if (e->port >= 0)
		json_u64(j, "port", (uint64_t)e->port);
	json_close(j);
}

static void device_json(struct json *j, const struct record_value *v)
{
	if (!present(v))
		return;
	json_hex64(j, v->key, v->a.guid);
	if (v->a.name)
		json_str(j, "name", v->a.name);
	if (v->a.port >= 0)
		json_u64(j, "port", (uint64_t)v->a.port);
	if (v->type == RECORD_BEHIND)
		json_bool(j, "behind", true);
}

static void value_json(struct json *j, const struct record_value *v)
{
	struct strbuf s = {0};

	switch (v->type) {
	case RECORD_TEXT:
		if (v->s)
			json_str(j, v->key, v->s);
		break;
	case RECORD_COUNT:
	case RECORD_MICROSECONDS:
		json_u64(j, v->key, v->u);
		break;
	case RECORD_LID:
		json_u64(j, "lid", v->u);
		break;
	case RECORD_GUID:
	case RECORD_HEX:
		value_text(v, &s);
		json_str(j, v->key, s.s);
		strbuf_free(&s);
		break;
	case RECORD_DEVICE:
	case RECORD_BEHIND:
		device_json(j, v);
		break;
	case RECORD_PLACE:
		if (present(v))
			record_end_json(j, v->key, &v->a);
		break;
	case RECORD_LINK:
		record_end_json(j, "a", &v->a);
		record_end_json(j, "b", &v->b);
		break;
	}
}

void record_json(struct json *j, const struct record_value *v)
{
	for (; v->key; v++)
		if (!v->text_only)
			value_json(j, v);
}
