/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a MAD: decode by every layout, print, summarise; what was decoded must survive a
 * round trip. Keeps no state. With -DFUZZ_REPLAY a program that runs the files it is given, so that
 * the corpus is a test for every compiler; "--seeds DIR" writes the corpus's first files.
 */
#include "base/base.h"
#include "iba/iba.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union host {
#define MEMBER(stem, FIELDS, size) struct iba_##stem stem;
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
#define CHECK_STEM(stem, FIELDS, size)                                                             \
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
#define RUN_STEM(stem, FIELDS, wire)                                                               \
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

#ifdef FUZZ_REPLAY
#include "base/rng.h"

#include <dirent.h>
#include <sys/stat.h>

static const uint16_t seed_attrs[] = {
    IBA_ATTR_NOTICE,	  IBA_ATTR_NODE_DESC,
    IBA_ATTR_NODE_INFO,	  IBA_ATTR_SWITCH_INFO,
    IBA_ATTR_GUID_INFO,	  IBA_ATTR_PORT_INFO,
    IBA_ATTR_PKEY_TABLE,  IBA_ATTR_SLVL_TABLE,
    IBA_ATTR_VLARB_TABLE, IBA_ATTR_LFT,
    IBA_ATTR_RFT,	  IBA_ATTR_MFT,
    IBA_ATTR_SM_INFO,	  0xff17 /* a vendor's */,
};

static const uint16_t seed_traps[] = {
    IBA_TRAP_GID_IN,	 IBA_TRAP_GID_OUT,     IBA_TRAP_MCAST_CREATED, IBA_TRAP_MCAST_DELETED,
    IBA_TRAP_LINK_STATE, IBA_TRAP_INTEGRITY,   IBA_TRAP_OVERRUN,       IBA_TRAP_WATCHDOG,
    IBA_TRAP_CAP_CHANGE, IBA_TRAP_SYS_GUID,    IBA_TRAP_BAD_MKEY,      IBA_TRAP_BAD_PKEY,
    IBA_TRAP_BAD_QKEY,	 IBA_TRAP_SW_BAD_PKEY,
};

static int seed_write(const char *dir, const char *kind, unsigned n, const uint8_t *mad)
{
	struct strbuf path = {0};
	struct err e;
	int rc;

	strbuf_addf(&path, "%s/%s-%u", dir, kind, n);
	rc = file_write(path.s, (const char *)mad, IBA_MAD_SIZE, &e);
	if (rc)
		fprintf(stderr, "%s\n", e.text);
	strbuf_free(&path);
	return rc;
}

/* Attribute bytes are random but the same every time: seeds exist to reach each decoder. */
static int seeds_write(const char *dir)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct iba_notice n;
	struct rng r;
	int rc = 0;

	rng_seed(&r, 2026, 0);
	for (size_t i = 0; i < ARRAY_LEN(seed_attrs) && !rc; i++) {
		iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET_RESP, seed_attrs[i], (uint32_t)i);
		iba_smp_set_status(mad, IBA_STATUS_DR_RETURN);
		iba_smp_set_hop_cnt(mad, (uint8_t)(i * 6)); /* the last are more than allowed */
		for (unsigned k = IBA_SMP_DATA_OFF; k < IBA_MAD_SIZE; k++)
			mad[k] = (uint8_t)rng_u64(&r);
		rc = seed_write(dir, "attr", seed_attrs[i], mad);
	}
	for (size_t i = 0; i < ARRAY_LEN(seed_traps) && !rc; i++) {
		iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
		n = (struct iba_notice){.is_generic = 1, .trap_number = seed_traps[i]};
		for (unsigned k = 0; k < sizeof(n.details); k++)
			n.details[k] = (uint8_t)rng_u64(&r);
		iba_notice_put(&n, iba_smp_data(mad));
		rc = seed_write(dir, "trap", seed_traps[i], mad);
	}
	return rc;
}

static int replay_file(const char *path, unsigned *runs)
{
	struct err e;
	char *data;
	size_t len;

	if (file_read(path, &data, &len, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)data, len);
	free(data);
	++*runs;
	return 0;
}

static int replay_dir(const char *path, unsigned *runs)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort), rc = 0;

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 2;
	}
	for (int i = 0; i < n; i++) {
		struct strbuf file = {0};

		strbuf_addf(&file, "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && !rc)
			rc = replay_file(file.s, runs);
		strbuf_free(&file);
		free(names[i]);
	}
	free(names);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned runs = 0;
	struct stat st;
	int rc = 0;

	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return seeds_write(argv[2]) ? 2 : 0;
	for (int i = 1; i < argc && !rc; i++) {
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			rc = replay_dir(argv[i], &runs);
		else
			rc = replay_file(argv[i], &runs);
	}
	if (!rc && !runs) {
		fprintf(stderr, "usage: fuzz_mad FILE|DIR... | --seeds DIR\n");
		rc = 2;
	}
	if (!rc)
		printf("%u inputs\n", runs);
	return rc;
}
#endif
