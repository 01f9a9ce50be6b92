/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a MAD: decode by every layout, print, summarise; what was decoded must survive a
 * round trip. Keeps no state. Way in: libFuzzer, or replay.c over files.
 */
#include "base/base.h"
#include "iba/iba.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union host {
#define MEMBER(stem, FIELDS, size, ...) struct iba_##stem stem;
	IBA_STRUCTS(MEMBER)
};

/* Unlike assert, also in builds without assertions. */
static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_mad: %s\n", what);
	abort();
}

/* wire is exactly as long as the layout, so that a sanitizer sees any step beyond. */
static void check_round_trip(const struct iba_layout *l, const uint8_t *wire)
{
	uint8_t *once = mem_alloc(l->wire_size), *twice = mem_alloc(l->wire_size);
	union host a, b;

	must(iba_layout_get(l, &a, wire, l->wire_size) == 0, "full length refused");
	must(iba_layout_get(l, &b, wire, l->wire_size - 1u) == -EBADMSG, "short length taken");
	iba_layout_put(l, &a, once);
	for (unsigned i = 0; i < l->wire_size; i++)
		must((once[i] & ~wire[i]) == 0, "a bit that was not there");
	must(iba_layout_get(l, &b, once, l->wire_size) == 0, "own bytes refused");
	must(!iba_layout_diff(l, &a, &b), "a field changed in a round trip");
	iba_layout_put(l, &b, twice);
	must(!memcmp(once, twice, l->wire_size), "bytes changed in a second round");
	free(once);
	free(twice);
}

/* The straight-line codec must agree with the table. */
#define CHECK_STEM(stem, FIELDS, size, ...)                                                        \
	static void check_##stem(const uint8_t *data)                                              \
	{                                                                                          \
		const struct iba_layout *l = iba_layout_by_name(#stem);                            \
		uint8_t *wire = mem_alloc(size), *table = mem_alloc(size);                         \
		struct iba_##stem a, b;                                                            \
                                                                                                   \
		memcpy(wire, data, size);                                                          \
		check_round_trip(l, wire);                                                         \
		must(iba_##stem##_get(&a, wire, size) == 0, #stem " refused");                     \
		iba_layout_get(l, &b, wire, size);                                                 \
		must(!iba_layout_diff(l, &a, &b), #stem ": codecs read differently");              \
		iba_layout_put(l, &a, table);                                                      \
		iba_##stem##_put(&a, wire);                                                        \
		must(!memcmp(wire, table, size), #stem ": codecs write differently");              \
		free(wire);                                                                        \
		free(table);                                                                       \
	}
IBA_STRUCTS(CHECK_STEM)

static void check_text(const struct strbuf *b, bool lines)
{
	must(b->len > 0 && strlen(b->s) == b->len, "text with a NUL or none at all");
	must(lines == (b->s[b->len - 1] == '\n'), "text ends wrongly");
	for (size_t i = 0; i < b->len; i++)
		must((b->s[i] >= 0x20 && b->s[i] < 0x7f) || (lines && b->s[i] == '\n'),
		     "a character that a terminal may obey");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mad = mem_zalloc(IBA_MAD_SIZE);
	struct strbuf b = {0};

	if (size)
		memcpy(mad, data, MIN(size, (size_t)IBA_MAD_SIZE));
/* As an attribute, and at the very end of the buffer. */
#define RUN_STEM(stem, FIELDS, wire, ...)                                                          \
	check_##stem(mad + IBA_SMP_DATA_OFF);                                                      \
	check_##stem(mad + IBA_MAD_SIZE - (wire));
	IBA_STRUCTS(RUN_STEM)
	iba_mad_print(&b, mad);
	check_text(&b, true);
	strbuf_free(&b);
	iba_mad_summary(&b, mad);
	check_text(&b, false);
	strbuf_free(&b);
	free(mad);
	return 0;
}
