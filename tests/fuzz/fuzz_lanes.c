/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as dumps of service levels and SL-to-VL maps, split at the first NUL: reading must not
 * crash, what was read must verify, and writing it and reading that again must give the same lanes.
 * Keeps one ring of four switches with its tables; libFuzzer is the way in, or replay.c over files.
 */
#include "route/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static struct fab *fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;
	struct err e;

	for (unsigned i = 0; i < 4; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, 3, "switch");
	for (unsigned i = 0; i < 4; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x100 + 2 * i, 1, "host");

		fab_builder_port(b, h, 1)->guid = 0x101 + 2 * i;
		CHECK(!fab_add_link(b, h, 1, i, 3));
		CHECK(!fab_add_link(b, i, 1, (i + 1) % 4, 2));
	}
	f = fab_build(b);
	g = fab_assign_lids(f, 0, &e);
	CHECK(g);
	fab_free(f);
	return g;
}

static void put(void *ctx, const char *text, size_t len)
{
	strbuf_addn(ctx, text, len);
}

static void again(const struct fab *f, const struct rt_tables *t)
{
	struct rt_tables *u = rt_tables_carry(f, t, f);
	struct strbuf sls = {0}, maps = {0};
	struct err e;

	rt_path_sls_each(f, t, put, &sls);
	rt_sl2vl_each(f, t, put, &maps);
	CHECK(!rt_lanes_parse(f, u, &(struct rt_dump){.name = "sls", .text = sls.s, .len = sls.len},
			      &(struct rt_dump){.name = "maps", .text = maps.s, .len = maps.len},
			      &e));
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned in = 0; in <= 3; in += 3)
			for (uint32_t lid = 1; lid <= t->top_lid; lid++)
				CHECK(rt_sl(t, s, in, lid) == rt_sl(u, s, in, lid));
	strbuf_free(&sls);
	strbuf_free(&maps);
	rt_tables_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fab *f;
	static struct rt_tables *t;
	const uint8_t *stop = size ? memchr(data, 0, size) : NULL;
	struct rt_dump sls = {.name = "sls",
			      .text = (const char *)data,
			      .len = stop ? (size_t)(stop - data) : size};
	struct rt_dump maps = {.name = "maps",
			       .text = stop ? (const char *)stop + 1 : NULL,
			       .len = stop ? size - sls.len - 1 : 0};
	struct rt_tables *part;
	struct rt_report r;
	struct err e;

	if (!f) {
		f = fabric();
		CHECK(!rt_compute(&rt_fera, f, &(struct rt_opts){.root = FAB_NONE, .threads = 1},
				  &t, &e));
	}
	part = rt_tables_carry(f, t, f); /* as engine file reads them */
	rt_lanes_drop(part);
	sls.part = maps.part = true;
	rt_lanes_parse(f, part, &sls, stop ? &maps : NULL, &e);
	rt_tables_free(part);
	sls.part = maps.part = false;
	if (rt_lanes_parse(f, t, &sls, stop ? &maps : NULL, &e))
		return 0;
	CHECK(!rt_verify(f, t, &(struct rt_verify_opts){.threads = 1}, &r, &e));
	CHECK(!r.unreachable && !r.loops && !r.cycles); /* up*-down*: in any lanes */
	rt_report_free(&r);
	again(f, t);
	return 0;
}
