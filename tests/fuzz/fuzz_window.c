/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as commands of the page, one on each line: the engine must answer each by one JSON frame and must not
 * crash. Keeps the engine for one input; libFuzzer is the way in, or replay.c over files.
 */
#include "window/window.h"

enum { LINES = 40, EVENTS = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_frame(void *ctx, const uint8_t *frame, size_t len)
{
	unsigned *replies = ctx;

	if (len < 8 || len != (frame[0] | (size_t)frame[1] << 8 | (size_t)frame[2] << 16 |
			       (size_t)frame[3] << 24))
		abort();
	*replies += frame[4] == WINDOW_JSON && len > 13 && !memcmp(frame + 8, "{\"re\":", 6);
}

/* A generated fabric of any size is a matter of the netlist's limits; here it would only take time. */
/* An experiment takes as long as its fabric is large; the window gives it a process of its own. */
static bool is_long(const char *line, size_t len)
{
	return memmem(line, len, "whatif", 6);
}

static bool is_large(const char *line, size_t len)
{
	unsigned digits = 0;

	if (!memmem(line, len, "words", 5))
		return false;
	for (size_t i = 0; i < len; i++) {
		digits = line[i] >= '0' && line[i] <= '9' ? digits + 1 : 0;
		if (digits > 1)
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	unsigned replies = 0, lines = 0;
	struct window *w = window_new(on_frame, &replies);

	for (; at < end && lines < LINES; lines++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((next ? next : end) - at);

		if (is_large(at, len) || is_long(at, len))
			break;
		window_command(w, at, len);
		if (replies != lines + 1)
			abort();
		window_work(w, 20000, EVENTS);
		at += len + 1;
	}
	window_free(w);
	return 0;
}
