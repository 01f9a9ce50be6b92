/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lengths of cables, from a netlist or a generator to the time that a packet needs, with and without the
 * data plane. Fixture: plane_fixture.h. Does not test the rest of the netlist: test_netlist.c does.
 */
#include "plane_fixture.h"

#include "lab/change.h"
#include "lab/lab.h"

/* ---- words ---- */

static void reads(const char *text, uint32_t cm, size_t left)
{
	const char *at = text, *end = text + strlen(text);
	uint32_t got = 0;

	if (!fab_cable_take(&at, end, &got)) {
		if (cm)
			fail_msg("'%s' is not taken for a length", text);
		assert_ptr_equal(at, text);
		return;
	}
	if (got != cm || (size_t)(end - at) != left)
		fail_msg("'%s' is taken for %u cm", text, got);
}

TEST(lengths_with_units_are_read)
{
	reads("3m", 300, 0);
	reads("0.5m", 50, 0);
	reads("50cm", 50, 0);
	reads("1.25km", 125000, 0);
	reads("2.349m", 234, 0);
	reads("100km", FAB_CABLE_MAX_CM, 0);
	reads("7m \"name\"", 700, 7);
	reads("100.00001km", 0, 0);
	reads("99999999999999999999m", 0, 0);
	reads("0m", 0, 0);
	reads("0.001m", 0, 0);
	reads("5mm", 0, 0);
	reads("5m2", 0, 0);
	reads("5", 0, 0);
	reads("5.m", 0, 0);
	reads("m", 0, 0);
	reads("", 0, 0);
}

TEST(written_lengths_are_read_back)
{
	char text[16];

	for (uint32_t cm = 1; cm <= FAB_CABLE_MAX_CM; cm += cm < 1000 ? 1 : cm / 7) {
		fab_cable_text(text, cm);
		reads(text, cm, 0);
	}
	fab_cable_text(text, FAB_CABLE_MAX_CM);
	assert_string_equal(text, "100000m");
	fab_cable_text(text, 0);
	assert_string_equal(text, "unknown");
}

/* ---- netlists ---- */

static struct fab *netlist(const char *text, const char *warning)
{
	struct fab_netlist n;
	struct fab *f;
	struct err e;

	if (fab_netlist_parse(&n, "t", text, strlen(text), &e))
		fail_msg("%s", e.text);
	assert_int_equal(n.warnings.n, warning ? 1 : 0);
	if (warning)
		assert_string_equal(n.warnings.at[0].text, warning);
	f = n.fab;
	n.fab = NULL;
	fab_netlist_free(&n);
	return f;
}

static uint32_t cable_at(const struct fab *f, node_id n, unsigned num)
{
	return f->ports[fab_port_id(f, n, num)].cable_cm;
}

TEST(a_length_follows_the_rate)
{
	struct fab *f =
		netlist("Switch 4 \"S-0000000000000001\" # \"a 9m\" base port 0 lid 1 lmc 0\n"
			"[1] \"S-0000000000000002\"[1] # \"b 4xQDR 7m\" lid 2 4xQDR 3m\n"
			"[2] \"S-0000000000000002\"[2] # \"b\" lid 2 ?x? 0.5m\n"
			"[3] \"S-0000000000000002\"[3] # b 8m lid 2 4xQDR\n"
			"[4] \"S-0000000000000002\"[4] # \"b\" 6m lid 2 4xQDR up for 5m2\n"
			"Switch 4 \"S-0000000000000002\" # \"b\" base port 0 lid 2 lmc 0\n"
			"[1] \"S-0000000000000001\"[1] # \"a\" lid 1 4xQDR\n"
			"[2] \"S-0000000000000001\"[2] # \"a\" lid 1\n"
			"[3] \"S-0000000000000001\"[3] # \"a\" lid 1 4xQDR\n"
			"[4] \"S-0000000000000001\"[4] # \"a\" lid 1 4xQDR 1.2km\n",
			NULL);
	static const uint32_t expected[] = {300, 50, 0, 120000};
	struct strbuf text = {0};
	struct fab *again;

	fab_netlist_write(f, &text);
	again = netlist(text.s, NULL);
	for (unsigned i = 0; i < 4; i++)
		for (node_id n = 0; n < 2; n++) {
			assert_int_equal(cable_at(f, n, i + 1), expected[i]);
			assert_int_equal(cable_at(again, n, i + 1), expected[i]);
		}
	strbuf_free(&text);
	fab_free(again);
	fab_free(f);
}

TEST(ends_with_different_lengths)
{
	struct fab *f = netlist("Switch 1 \"S-0000000000000001\" # \"a\" base port 0 lid 1 lmc 0\n"
				"[1] \"S-0000000000000002\"[1] # \"b\" lid 2 4xQDR 3m\n"
				"Switch 1 \"S-0000000000000002\" # \"b\" base port 0 lid 2 lmc 0\n"
				"[1] \"S-0000000000000001\"[1] # \"a\" lid 1 4xQDR 5m\n",
				"S-0000000000000001[1] \"a\" leads to S-0000000000000002[1] \"b\", "
				"which gives the cable another length; this line's is kept");

	assert_int_equal(cable_at(f, 0, 1), 300);
	assert_int_equal(cable_at(f, 1, 1), 300);
	fab_free(f);
}

TEST(generated_lengths_and_their_differences)
{
	struct fab_gen g = {
		.kind = "star", .dims = {2}, .ndims = 1, .cable_cm = 200, .trunk_cm = 3000};
	fab_diff_list l = {0};
	struct fab_stats s;
	struct fab *f, *o;
	struct err e;

	f = fab_generate(&g, &e);
	g.trunk_cm = 0;
	o = fab_generate(&g, &e);
	fab_stats(f, &s);
	assert_int_equal(s.cables, 4);
	assert_int_equal(s.cable_min_cm, 200);
	assert_int_equal(s.cable_max_cm, 3000);
	assert_int_equal(s.cable_sum_cm, 6400);
	fab_diff(f, o, &l);
	assert_int_equal(l.n, 4); /* both ends of two trunks */
	assert_string_equal(l.at[0].text, "cable 30m -> 2m");
	fab_diff_free(&l);
	fab_free(f);
	fab_free(o);
}

/* ---- time ---- */

/* h0 - sw - h1 at 4X QDR with the two lengths, 0 for a cable of unknown length. */
static struct fab *draw_two_cables(uint32_t left, uint32_t right)
{
	struct fab_builder *b = fab_builder_new();
	node_id h0 = draw_host(b, 1), sw = draw_switch(b, 2), h1 = draw_host(b, 1);

	draw_rated_link(b, h0, 1, sw, 1, 4, FAB_QDR);
	draw_rated_link(b, sw, 2, h1, 1, 4, FAB_QDR);
	fab_builder_port(b, h0, 1)->cable_cm = fab_builder_port(b, sw, 1)->cable_cm = left;
	fab_builder_port(b, sw, 2)->cable_cm = fab_builder_port(b, h1, 1)->cable_cm = right;
	return fab_build(b);
}

/* 3 m of copper are 15 ns, 123.45 m of fibre 617,250 ps. By hand, in ns: the host's arbiter 40, the
 * header 5, the cable, routing to set-up 102, the header across 5, the arbiter 40, then the header
 * (5) or all of the packet (70.5) and the other cable. */
TEST(propagation_time_of_a_packet)
{
	struct sim_config c;
	struct pworld w;

	pw_config(&c);
	pw_open(&w, draw_two_cables(300, 12345), &c);
	pw_packet(&w, PS_PER_US, 0, 1, 256, 0);
	pw_start(&w);
	pw_drain(&w, 100 * PS_PER_US);
	assert_int_equal(sim_plane_stats(w.sim)->header_latency.sum,
			 (40 + 5 + 15 + 102 + 5 + 40 + 5) * PS_PER_NS + 617250);
	assert_int_equal(sim_plane_stats(w.sim)->latency.sum,
			 (40 + 5 + 15 + 102 + 5 + 40) * PS_PER_NS + 70500 + 617250);
	pw_close(&w);

	c.cable_m_ps = 4000; /* faster fibre, and a cable of unknown length as before */
	pw_open(&w, draw_two_cables(0, 12345), &c);
	pw_packet(&w, PS_PER_US, 0, 1, 256, 0);
	pw_start(&w);
	pw_drain(&w, 100 * PS_PER_US);
	assert_int_equal(sim_plane_stats(w.sim)->latency.sum,
			 (40 + 5 + 100 + 102 + 5 + 40) * PS_PER_NS + 70500 + 493800);
	pw_close(&w);
}

/* Credits come back over the same cable: with a buffer of one packet the next one has to wait for
 * it, so a long cable is slow however fast its ends are. */
TEST(a_long_cable_needs_larger_buffers)
{
	time_ps span[2];

	for (unsigned i = 0; i < 2; i++) {
		struct fab *f = draw_pair(4, FAB_QDR);
		struct sim_config c;
		struct pworld w;

		pw_config(&c);
		c.mtu_cap = 1;
		c.plane.buffer_bytes = 320;
		f->ports[1].cable_cm = f->ports[3].cable_cm = i ? 10000 : 300;
		pw_open(&w, f, &c);
		pw_stream(&w, 0, 0, 101, 0, 1, 256, 0);
		pw_start(&w);
		while (pw_delivered(&w) < 101)
			pw_step(&w);
		span[i] = sim_now(w.sim);
		pw_drain(&w, PS_PER_MS);
		pw_close(&w);
	}
	/* 97 m more, there and back: 970 ns for each of a hundred packets, and 485 for the first.
	 */
	assert_int_equal(span[1] - span[0], 100 * 970 * PS_PER_NS + 485 * PS_PER_NS);
}

/* Without a data plane, by hand: two SMIs, an SMA and two SMIs, and each way 290 bytes at 0.25 ns
 * and a cable of 2,000 m, which is 10 us. */
TEST(smps_take_the_same_time_without_the_data_plane)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), 1);
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	world_open(&w, draw_two_cables(200000, 0), &c);
	assert_non_null(world_ask(&w, &s));
	assert_int_equal(sim_now(w.sim),
			 4 * c.smi_ps + c.sma_ps + 2 * (290 * 250 + 10 * PS_PER_US));
	world_close(&w);
}

/* ---- cables that move ---- */

TEST(a_new_cable_has_its_own_length)
{
	struct fab *before = draw_two_cables(300, 500), *after = draw_two_cables(300, 700);
	struct sim_config c;
	struct lab_change *change;
	struct sim *s;
	struct err e;
	port_id p;

	sim_config_default(&c);
	change = lab_change_new(before, after, &e);
	s = sim_new(lab_change_fab(change), &c);
	p = fab_port_id(before, 1, 2);
	assert_int_equal(s->ports[p].wire_ps, 25 * PS_PER_NS);
	sim_uncable(s, p);
	sim_cable(s, p, before->ports[p].peer);
	assert_int_equal(s->ports[p].wire_ps, 25 * PS_PER_NS); /* the same one, put back */
	sim_uncable(s, p);
	lab_change_apply(change, s);
	assert_int_equal(s->ports[p].wire_ps, 35 * PS_PER_NS);
	assert_int_equal(s->ports[before->ports[p].peer].wire_ps, 35 * PS_PER_NS);
	sim_uncable(s, p);
	sim_uncable(s, fab_port_id(before, 1, 1));
	sim_cable(s, p, fab_port_id(before, 0, 1)); /* where it never was */
	assert_int_equal(s->ports[p].wire_ps, c.wire_ps);
	sim_free(s);
	lab_change_free(change);
	fab_free(before);
	fab_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_with_units_are_read),
		cmocka_unit_test(written_lengths_are_read_back),
		cmocka_unit_test(a_length_follows_the_rate),
		cmocka_unit_test(ends_with_different_lengths),
		cmocka_unit_test(generated_lengths_and_their_differences),
		cmocka_unit_test(propagation_time_of_a_packet),
		cmocka_unit_test(a_long_cable_needs_larger_buffers),
		cmocka_unit_test(smps_take_the_same_time_without_the_data_plane),
		cmocka_unit_test(a_new_cable_has_its_own_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
