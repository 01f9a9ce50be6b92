/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a schedule: reading must not crash, and what was read must be written and read again as the same.
 * Keeps nothing; libFuzzer is the way in, or replay.c over files.
 */
#include "trial/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct schedule *s)
{
	struct strbuf a = {0}, b = {0};
	struct schedule t;
	struct fab *f;
	struct err e;

	schedule_write(s, &a);
	if (schedule_read(&t, &f, "again", a.s, a.len, &e)) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
	schedule_write(&t, &b);
	if (strcmp(a.s, b.s))
		abort();
	strbuf_free(&a);
	strbuf_free(&b);
	fab_free(f);
	schedule_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schedule s;
	struct fab *f;
	struct err e;

	if (schedule_read(&s, &f, "fuzz", (const char *)data, size, &e))
		return 0;
	again(&s);
	fab_free(f);
	schedule_free(&s);
	return 0;
}
