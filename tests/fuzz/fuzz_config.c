/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a configuration: reading must not crash; what is refused changes nothing and is
 * explained; what is read prints as a file that reads the same. Keeps nothing. libFuzzer is the way
 * in, or replay.c over files.
 */
#include "run/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings c, before, again;
	struct strbuf text = {0};
	struct err e = {""};

	settings_default(&c);
	before = c;
	if (run_config_read("fuzz", (const char *)data, size, &c, NULL, &e)) {
		CHECK(!memcmp(&c, &before, sizeof(c)) && *e.text);
		return 0;
	}
	CHECK(!settings_check(&c, NULL, &e));
	settings_print_yaml(&c, true, &text);
	again = before;
	CHECK(!run_config_read("again", text.s, text.len, &again, NULL, &e));
	CHECK(!memcmp(&c, &again, sizeof(c)));
	strbuf_free(&text);
	return 0;
}
