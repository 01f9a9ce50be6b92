/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as hexadecimal text: reading must not crash; a refusal says where and leaves the MAD
 * alone; what was read must read the same again as plain hexadecimal. Keeps no state. Way in:
 * libFuzzer, or replay.c over files.
 */
#include "iba/iba.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_hex: %s\n", what);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mad[IBA_MAD_SIZE], again[IBA_MAD_SIZE], before[IBA_MAD_SIZE];
	char *text =
		mem_alloc(size + 1); /* exactly as long, so that a sanitizer sees a step beyond */
	struct strbuf plain = {0};
	struct err e = {{0}};

	memset(mad, 0x5a, sizeof(mad));
	memcpy(before, mad, sizeof(mad));
	memcpy(text, data, size);
	if (iba_mad_from_text(mad, "in", text, size, &e)) {
		must(!strncmp(e.text, "in:", 3), "no place in the message");
		must(strstr(e.text, "expected") != NULL, "nothing expected");
		must(!memcmp(mad, before, sizeof(mad)), "a refused text changed the MAD");
	} else {
		for (unsigned i = 0; i < IBA_MAD_SIZE; i++)
			strbuf_addf(&plain, "%02x ", mad[i]);
		/* Where the first word looks like an offset, the rows are read another way. */
		if (mad[0] == 1) {
			must(!iba_mad_from_text(again, "in", plain.s, plain.len, &e),
			     "own text refused");
			must(!memcmp(mad, again, sizeof(mad)), "other bytes the second time");
		}
	}
	if (iba_attr_from_text(again, "in", text, size, &e))
		must(strstr(e.text, "expected") != NULL, "nothing expected of attribute data");
	strbuf_free(&plain);
	free(text);
	return 0;
}
