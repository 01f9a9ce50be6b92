/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drawings of fabrics: each node and link once, well-formed XML, escaped names. Keeps no state.
 * Covers: svg.c, svg_geometry.c, svg_heat.c, svg_layout.c, dot.c
 */
#include "fabric_fixture.h"

#include "base/rng.h"
#include "draw/draw.h"

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

/* Tags are nested and closed; no '<', '&' or control character is unescaped. */
static void assert_xml(const char *s)
{
	char stack[16][16];
	int depth = 0;

	while (*s) {
		char name[16] = "";
		const char *end;

		assert_true((unsigned char)*s >= 0x20 || *s == '\n');
		if (*s == '&')
			assert_true(s[1] == '#' && s[2 + strspn(s + 2, "0123456789")] == ';');
		if (*s != '<') {
			s++;
			continue;
		}
		end = strpbrk(s + 1, "<>");
		assert_true(end && *end == '>');
		sscanf(s + 1 + (s[1] == '/'), "%15[a-z]", name);
		if (s[1] == '/') {
			assert_true(depth > 0);
			assert_string_equal(stack[--depth], name);
		} else if (end[-1] != '/') {
			assert_true(depth < 16);
			memcpy(stack[depth++], name, sizeof(name));
		}
		s = end + 1;
	}
	assert_int_equal(depth, 0);
}

static void assert_drawn(const struct fab *f)
{
	struct strbuf svg = {0}, dot = {0}, again = {0};

	draw_fabric_svg(f, &svg);
	draw_fabric_svg(f, &again);
	draw_fabric_dot(f, &dot);
	assert_string_equal(svg.s, again.s);
	assert_xml(svg.s);
	assert_int_equal(count(svg.s, "</path>"), f->nlinks);
	assert_int_equal(count(dot.s, " -- "), f->nlinks);
	for (node_id n = 0; n < f->nnodes; n++) {
		char ident[32], tag[64];

		fab_node_ident(f, n, ident);
		snprintf(tag, sizeof(tag), "<g id=\"%s\"", ident);
		assert_int_equal(count(svg.s, tag), 1);
		snprintf(tag, sizeof(tag), "\"%s\" [shape=", ident);
		assert_int_equal(count(dot.s, tag), 1);
	}
	strbuf_free(&svg);
	strbuf_free(&again);
	strbuf_free(&dot);
}

TEST(every_node_is_drawn_once)
{
	static const struct fab_gen row[] = {
		GEN("mtree", 4, 3),   GEN("irregular", 16),
		GEN("torus", 4, 4),   GEN("dragonfly", 2, 2, 1),
		GEN("star", 9),	      GEN("ring", 5),
		GEN("ring", 1),	      GEN("ring", 2),
		GEN("clos", 3, 1, 4), GEN("fullmesh", 5),
		GEN("mesh", 330),
	};
	struct fab *f;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		f = fabric_make(row[i]);
		assert_drawn(f);
		fab_free(f);
	}
	f = fabric_odd();
	assert_drawn(f);
	fab_free(f);
	f = fab_build(fab_builder_new());
	assert_drawn(f);
	fab_free(f);
}

TEST(drawings_show_names_and_lids)
{
	struct fab *f = fabric_odd();
	struct strbuf svg = {0}, dot = {0};

	draw_fabric_svg(f, &svg);
	draw_fabric_dot(f, &dot);
	assert_non_null(strstr(svg.s, "9 switches, 2 hosts, 1 router, 12 links"));
	assert_non_null(strstr(svg.s, "a&#60;b&#62;&#38;&#34;c&#39;\\\xc3\xa9??"));
	assert_non_null(strstr(svg.s, "LID 7"));
	assert_non_null(strstr(dot.s, "a<b>&\\\"c'\\\\\xc3\xa9??"));
	assert_non_null(strstr(dot.s, "\\nLID 7"));
	strbuf_free(&svg);
	strbuf_free(&dot);
	fab_free(f);
}

/* Links by value: each once, in the group of its level, the busiest last; bars below. */
static void assert_heat(const struct fab *f, uint64_t top)
{
	static const uint64_t bins[] = {5, 0, 3, 1};
	uint64_t *value = mem_zarray(f->nports, sizeof(*value));
	struct draw_heat h = {.value = value,
			      .least = 2000,
			      .title = "flows",
			      .unit = "flows",
			      .bins = bins,
			      .nbins = 4,
			      .bins_title = "links"};
	struct strbuf svg = {0};

	for (port_id p = 0; top && p < f->nports; p++)
		value[p] = hash64(p) % (top + 1);
	draw_fabric_heat(f, &h, &svg);
	assert_xml(svg.s);
	assert_int_equal(count(svg.s, "</path>"), f->nlinks);
	assert_int_equal(count(svg.s, " there, "), f->nlinks);
	assert_non_null(strstr(svg.s, ">links</text>"));
	assert_non_null(strstr(svg.s, "55.6 %</text>"));
	strbuf_free(&svg);
	free(value);
}

TEST(links_by_value)
{
	static const struct fab_gen row[] = {GEN("mtree", 4, 3), GEN("ring", 2), GEN("star", 9)};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fab *f = fabric_make(row[i]);

		assert_heat(f, 0);
		assert_heat(f, 1500);
		assert_heat(f, 123456);
		assert_heat(f, UINT32_MAX);
		fab_free(f);
	}
	{
		struct fab *f = fabric_odd();

		assert_heat(f, 3000);
		fab_free(f);
	}
}

TEST(drawings_show_virtual_functions)
{
	struct fab_gen g = GEN("mtree", 4, 2);
	struct fab *plain = fabric_make(g), *f;
	struct strbuf svg = {0}, dot = {0};
	struct fab_builder *b = fab_builder_from(plain);
	node_id host = 0;

	while (fab_is_switch(plain, host))
		host++;
	fab_builder_node(b, host)->sriov = FAB_SRIOV_VSWITCH;
	fab_builder_node(b, host)->vfs = 4;
	fab_add_vlid(b, host, 3, 77, 0);
	f = fab_build(b);
	assert_drawn(f);
	draw_fabric_svg(f, &svg);
	draw_fabric_dot(f, &dot);
	assert_non_null(strstr(svg.s, "8 hosts with 4 VFs, 16 links"));
	assert_non_null(strstr(svg.s, "\n4 VFs, vSwitch\nVF 3: LID 77</title>"));
	assert_int_equal(count(svg.s, "class=\"v\""), 2); /* the host, and the legend */
	assert_int_equal(count(dot.s, "\\n4 VFs\", peripheries=2]"), 1);
	strbuf_free(&svg);
	strbuf_free(&dot);
	fab_free(plain);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_node_is_drawn_once),
		cmocka_unit_test(drawings_show_names_and_lids),
		cmocka_unit_test(links_by_value),
		cmocka_unit_test(drawings_show_virtual_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
