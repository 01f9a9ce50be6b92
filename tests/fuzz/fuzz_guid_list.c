/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a list of GUIDs: reading must not crash; a refusal has file, line and what was expected; what was read must read
 * the same again, and has no more lines than the text. Keeps no state. Way in: libFuzzer, or replay.c over files.
 */
#include "route/named_nodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_guid_list: %s\n", what);
	abort();
}

static size_t lines(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_alloc(size + 1); /* a sanitizer sees a step beyond */
	struct strbuf out = {0}, again = {0};
	struct err e = {{0}};

	memcpy(text, data, size);
	if (rt_guid_list("in", text, size, &out, &e)) {
		must(!strncmp(e.text, "in:", 3), "no place in the message");
		must(strstr(e.text, "expected") != NULL, "nothing expected");
	} else {
		must(lines(out.s, out.len) <= lines(text, size) + 1, "more GUIDs than lines");
		must(!rt_guid_list("own", out.s, out.len, &again, &e), "own text refused");
		must(out.len == again.len && (!out.len || !memcmp(out.s, again.s, out.len)),
		     "other GUIDs the second time");
	}
	strbuf_free(&out);
	strbuf_free(&again);
	free(text);
	return 0;
}
