/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page without a browser: it sends commands to the engine of src/window and keeps the last frame of each kind.
 */
#ifndef WEFT_TEST_WINDOW_PAGE_H
#define WEFT_TEST_WINDOW_PAGE_H

#include "window/window.h"

#include <jansson.h>

enum { KINDS = 9, ALL = 1000000 };

/* The last frame of each kind, and how many there were. */
struct page {
	struct window *w;
	uint8_t *last[KINDS];
	size_t len[KINDS];
	unsigned count[KINDS];
	json_t *reply;
};

static inline uint64_t number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static inline void on_frame(void *ctx, const uint8_t *frame, size_t len)
{
	struct page *p = ctx;
	unsigned kind = frame[4];

	assert_true(len >= 8 && number(frame, 4) == len && kind && kind < KINDS);
	free(p->last[kind]);
	p->last[kind] = mem_alloc(len + 1);
	memcpy(p->last[kind], frame, len);
	p->last[kind][len] = 0;
	p->len[kind] = len;
	p->count[kind]++;
	if (kind != WINDOW_JSON)
		return;
	json_decref(p->reply);
	p->reply = json_loadb((const char *)frame + 8, len - 8, 0, NULL);
	assert_non_null(p->reply);
}

static inline void page_open(struct page *p)
{
	memset(p, 0, sizeof(*p));
	p->w = window_new(on_frame, p);
}

static inline void page_close(struct page *p)
{
	window_free(p->w);
	for (unsigned i = 0; i < KINDS; i++)
		free(p->last[i]);
	json_decref(p->reply);
}

static inline void forget(struct page *p)
{
	memset(p->count, 0, sizeof(p->count));
}

static inline void say(struct page *p, const char *json)
{
	window_command(p->w, json, strlen(json));
}

/* Quotes are written as ' in tests. */
static inline void ask(struct page *p, const char *command)
{
	char *s = mem_strdup(command);

	for (char *c = s; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	say(p, s);
	free(s);
	if (json_object_get(p->reply, "error"))
		fail_msg("%s: %s", command, json_string_value(json_object_get(p->reply, "error")));
	assert_true(json_is_true(json_object_get(p->reply, "ok")));
}

static inline const char *text_of(struct page *p, const char *key)
{
	const char *s = json_string_value(json_object_get(p->reply, key));

	assert_non_null(s);
	return s;
}

static inline uint64_t now_of(const struct page *p)
{
	return number(p->last[WINDOW_STATE] + 8, 8);
}

static inline void go_ps(struct page *p, uint64_t at)
{
	char text[80];

	snprintf(text, sizeof(text), "{'cmd':'go','at':'%llu'}", (unsigned long long)at);
	ask(p, text);
	while (window_work(p->w, 1000, 10000))
		;
	assert_int_equal(now_of(p), at);
}

static inline void go(struct page *p, unsigned us)
{
	go_ps(p, us * PS_PER_US);
}

#endif
