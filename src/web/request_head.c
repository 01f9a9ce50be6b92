/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of an HTTP request. State: none. Way in: web_request_parse(). Does not decide what is allowed
 * (access.c) and does not see the body.
 */
#include "web/request_head.h"

bool web_text_is(struct web_text t, const char *s)
{
	return t.s && t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

/* ASCII letters without regard to case; no locale. */
static bool text_is_word(struct web_text t, const char *word)
{
	if (t.len != strlen(word))
		return false;
	for (size_t i = 0; i < t.len; i++) {
		char c = t.s[i] >= 'A' && t.s[i] <= 'Z' ? (char)(t.s[i] + 32) : t.s[i];

		if (c != word[i])
			return false;
	}
	return true;
}

/* The line at *at without its CR LF; *at moves behind it. False: no CR before LF, or a control character. */
static bool line_next(const char **at, const char *end, struct web_text *line)
{
	const char *lf = memchr(*at, '\n', (size_t)(end - *at));

	if (!lf || lf == *at || lf[-1] != '\r')
		return false;
	*line = (struct web_text){*at, (size_t)(lf - 1 - *at)};
	*at = lf + 1;
	for (size_t i = 0; i < line->len; i++)
		if (((unsigned char)line->s[i] < 0x20 && line->s[i] != '\t') || line->s[i] == 0x7f)
			return false;
	return true;
}

/* ---- the first line ---- */

/* "token=abc&session=x": the members that matter; the last one of a name counts. */
static void query_read(const char *s, const char *end, struct web_request *r)
{
	while (s < end) {
		const char *amp = memchr(s, '&', (size_t)(end - s)), *stop = amp ? amp : end;
		const char *eq = memchr(s, '=', (size_t)(stop - s));
		struct web_text key = {s, (size_t)((eq ? eq : stop) - s)};
		struct web_text value = {eq ? eq + 1 : stop, (size_t)(eq ? stop - eq - 1 : 0)};

		if (web_text_is(key, "token"))
			r->token = value;
		else if (web_text_is(key, "session"))
			r->session = value;
		s = stop + (amp != NULL);
	}
}

static bool target_read(struct web_text t, struct web_request *r)
{
	const char *query;

	if (!t.len || t.s[0] != '/')
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.s[i] <= ' ' || t.s[i] > '~')
			return false;
	query = memchr(t.s, '?', t.len);
	r->path = (struct web_text){t.s, query ? (size_t)(query - t.s) : t.len};
	if (query)
		query_read(query + 1, t.s + t.len, r);
	return true;
}

static int first_line(struct web_text line, struct web_request *r)
{
	static const char *const methods[] = {
		[WEB_GET] = "GET", [WEB_HEAD] = "HEAD", [WEB_POST] = "POST"};
	const char *end = line.s + line.len, *a = memchr(line.s, ' ', line.len);
	const char *b = a ? memchr(a + 1, ' ', (size_t)(end - a - 1)) : NULL;
	unsigned m = 0;

	if (!b || !target_read((struct web_text){a + 1, (size_t)(b - a - 1)}, r))
		return 400;
	if (!web_text_is((struct web_text){b + 1, (size_t)(end - b - 1)}, "HTTP/1.1"))
		return end - b > 6 && !memcmp(b + 1, "HTTP/", 5) ? 505 : 400;
	while (m < ARRAY_LEN(methods) &&
	       !web_text_is((struct web_text){line.s, (size_t)(a - line.s)}, methods[m]))
		m++;
	if (m == ARRAY_LEN(methods))
		return 405;
	r->method = (enum web_method)m;
	return 200;
}

/* ---- header lines ---- */

static int length_read(struct web_text v, struct web_request *r, bool *seen)
{
	if (*seen || !v.len || v.len > 18)
		return 400;
	*seen = true;
	for (size_t i = 0; i < v.len; i++) {
		if (v.s[i] < '0' || v.s[i] > '9')
			return 400;
		r->body = r->body * 10 + (unsigned)(v.s[i] - '0');
	}
	return 200;
}

static int once(struct web_text *t, struct web_text v)
{
	if (t->s)
		return 400;
	*t = v;
	return 200;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* "name: value" into its parts, without blanks around the value. */
static bool header_split(struct web_text line, struct web_text *name, struct web_text *value)
{
	const char *colon = memchr(line.s, ':', line.len), *s, *end = line.s + line.len;

	if (!colon || colon == line.s)
		return false;
	for (s = line.s; s < colon; s++)
		if (!is_name_char(*s))
			return false;
	*name = (struct web_text){line.s, (size_t)(colon - line.s)};
	for (s = colon + 1; s < end && (*s == ' ' || *s == '\t'); s++)
		;
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*value = (struct web_text){s, (size_t)(end - s)};
	return true;
}

static int header_read(struct web_text line, struct web_request *r, bool *length_seen)
{
	struct web_text name, value;

	if (!header_split(line, &name, &value))
		return 400;
	if (text_is_word(name, "host"))
		return once(&r->host, value);
	if (text_is_word(name, "origin"))
		return once(&r->origin, value);
	if (text_is_word(name, "sec-fetch-site"))
		return once(&r->site, value);
	if (text_is_word(name, "content-length"))
		return length_read(value, r, length_seen);
	if (text_is_word(name, "transfer-encoding"))
		return 501;
	if (text_is_word(name, "connection"))
		r->last |= text_is_word(value, "close");
	if (text_is_word(name, "expect")) {
		r->expects = text_is_word(value, "100-continue");
		return r->expects ? 200 : 417;
	}
	return 200;
}

int web_request_parse(const char *data, size_t len, struct web_request *r)
{
	const char *end = memmem(data, MIN(len, (size_t)WEB_HEAD_MAX), "\r\n\r\n", 4), *at = data;
	struct web_text line;
	bool length_seen = false;
	int status;

	memset(r, 0, sizeof(*r));
	if (!end)
		return len >= WEB_HEAD_MAX ? 431 : 0;
	end += 2;
	r->head_len = (size_t)(end - data) + 2;
	if (!line_next(&at, end, &line))
		return 400;
	status = first_line(line, r);
	while (status == 200 && at < end)
		status = line_next(&at, end, &line) ? header_read(line, r, &length_seen) : 400;
	if (status == 200 && (!r->host.s || (r->body && r->method != WEB_POST)))
		status = 400;
	return status;
}
