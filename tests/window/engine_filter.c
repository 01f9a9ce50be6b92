/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window's engine as a filter, to be compared with the same engine as WebAssembly (ui/test/static/equal.mjs). A line of
 * the input is a command (JSON) or `work WALL_US EVENTS TIMES`; all frames go to standard output. At the end: CPU seconds of
 * the work on standard error.
 */
#include <stdio.h>
#include <time.h>

#include "window/window.h"

static void emit(void *ctx UNUSED, const uint8_t *frame, size_t len)
{
	fwrite(frame, 1, len, stdout);
}

int main(void)
{
	struct window *w = window_new(emit, NULL);
	unsigned long long wall, events;
	unsigned times;
	char *line = NULL;
	size_t cap = 0;
	clock_t spent = 0, begin;
	ssize_t len;

	while ((len = getline(&line, &cap, stdin)) > 0) {
		if (line[len - 1] == '\n')
			len--;
		if (sscanf(line, "work %llu %llu %u", &wall, &events, &times) != 3) {
			window_command(w, line, (size_t)len);
			continue;
		}
		begin = clock();
		while (times-- && window_work(w, wall, events))
			;
		spent += clock() - begin;
	}
	free(line);
	window_free(w);
	fprintf(stderr, "%.3f\n", (double)spent / CLOCKS_PER_SEC);
	return 0;
}
