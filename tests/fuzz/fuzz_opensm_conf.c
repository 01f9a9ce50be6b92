/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as opensm.conf: reading must not crash; what is refused is explained; what is read prints as a configuration
 * that reads the same. Keeps nothing. libFuzzer is the way in, or replay.c over files.
 */
#include "run/run.h"
#include "settings/from_opensm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opensm_result r;
	struct settings again;
	struct strbuf text = {0};
	struct pol *p = pol_new();
	struct err e = {""};

	if (settings_from_opensm("fuzz", (const char *)data, size, &r, &e)) {
		CHECK(*e.text);
	} else {
		settings_print_changed(&r.s, r.p, &text);
		settings_default(&again);
		CHECK(!text.len || !run_config_read("again", text.s, text.len, &again, p, &e));
		for (const struct setting *k = settings_table; k->key; k++)
			CHECK(setting_same(k, &r.s, &again));
		CHECK(pol_same(r.p, p));
	}
	strbuf_free(&text);
	opensm_result_free(&r);
	pol_free(p);
	return 0;
}
