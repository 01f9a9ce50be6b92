/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a damaged state file, and as its log: rows that come out have sane values and the right
 * sum. Keeps nothing. libFuzzer is the way in, or replay.c over files.
 */
#include "run/state_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void row(void *ctx, const struct state_row *r)
{
	if (!state_row_is_sane(r) || strlen(r->name) > STATE_NAME_MAX || r->kind > STATE_ROW_VM)
		abort();
	++*(unsigned *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = mem_alloc(size); /* of exactly this size: what is read behind it is found */
	unsigned n = 0;

	memcpy(copy, data, size);
	state_rows_find(copy, size, false, row, &n);
	state_rows_find(copy, size, true, row, &n);
	if (n > size)
		abort();
	free(copy);
	return 0;
}
