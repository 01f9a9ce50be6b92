/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a table dump: reading must not crash, what was read must verify or fail to verify in
 * peace, and writing it and reading that again must give the same tables. Keeps one small fabric;
 * libFuzzer is the way in, or replay.c over files.
 */
#include "route/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

/* Four switches in a ring, one of them with two cables to the next; hosts, one with two ports; two HCAs with
 * virtual functions, one of which has a LID. */
static struct fab *fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id h;

	for (unsigned i = 0; i < 4; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x10 + i, 6, "switch");
	for (unsigned i = 0; i < 4; i++)
		CHECK(!fab_add_link(b, i, 1, (i + 1) % 4, 2));
	CHECK(!fab_add_link(b, 0, 3, 1, 3));
	for (unsigned i = 0; i < 4; i++) {
		h = fab_add_node(b, IBA_NODE_CA, 0x100 + 16 * i, 2, i % 2 ? "host" : "");
		fab_builder_port(b, h, 1)->guid = 0x101 + 16 * i;
		CHECK(!fab_add_link(b, h, 1, i, 4));
	}
	CHECK(!fab_add_link(b, h, 2, 0, 5));
	for (unsigned i = 0; i < 2; i++) {
		h = fab_add_node(b, IBA_NODE_CA, 0x200 + 16 * i, 1, i ? "vm" : "");
		fab_builder_node(b, h)->sriov = FAB_SRIOV_VSWITCH;
		fab_builder_node(b, h)->vfs = 12;
		CHECK(!fab_add_link(b, h, 1, i, 6));
	}
	fab_add_vlid(b, h, 3, 50, 0x333);
	return fab_build(b);
}

static void again(const struct fab *f, const struct fab *g, const struct rt_tables *t)
{
	struct strbuf text = {0};
	struct rt_tables *u;
	struct fab *h;
	struct err e;

	rt_lfts_write(g, t, &text);
	if (rt_lfts_parse(f, "again", text.s, text.len, &h, &u, &e)) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
	for (uint32_t s = 0; s < f->nswitches; s++)
		CHECK(!memcmp(rt_row(t, s), rt_row(u, s), MIN(t->top_lid, u->top_lid) + 1));
	strbuf_free(&text);
	rt_tables_free(u);
	fab_free(h);
}

/* Engine file: tables for LIDs of the fabric's own. */
static void as_engine(const struct fab *f, const char *text, size_t len)
{
	struct rt_given d = {.lfts = {.name = "fuzz", .text = text, .len = len, .part = true}};
	struct rt_opts o = {.root = FAB_NONE, .threads = 1, .given = &d};
	struct rt_verify_opts v = {.threads = 1};
	static struct fab *g;
	struct rt_tables *t;
	struct rt_report r;
	struct err e;

	if (!g)
		g = fab_assign_lids(f, 1, &e);
	CHECK(g);
	if (rt_compute(&rt_file, g, &o, &t, &e))
		return;
	CHECK(!rt_verify(g, t, &v, &r, &e));
	rt_report_free(&r);
	rt_tables_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fab *f;
	struct rt_verify_opts o = {.threads = 1};
	struct rt_tables *t;
	struct rt_report r;
	struct fab *g;
	struct err e;

	if (!f)
		f = fabric();
	as_engine(f, (const char *)data, size);
	if (rt_lfts_parse(f, "fuzz", (const char *)data, size, &g, &t, &e))
		return 0;
	CHECK(!rt_verify(g, t, &o, &r, &e));
	rt_report_free(&r);
	again(f, g, t);
	rt_tables_free(t);
	fab_free(g);
	return 0;
}
