/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent in each node: each attribute read and written, each value that it must refuse, port states,
 * the M_Key, traps. Keeps no state; each test has its own fabric. Does not test how SMPs get there:
 * test_smi.c does.
 * Covers: sma.c, sma_port.c, sma_tables.c, trap.c
 */
#include "sim_fixture.h"

/* ---- asking ---- */

static unsigned get_mod(struct world *w, unsigned hops, uint16_t attr, uint32_t mod, uint8_t *out)
{
	struct sim_smp s = smp_dr(IBA_GET, attr, mod, chain_path(), hops);
	const struct sim_smp *r;

	memset(iba_smp_data(s.mad), 0xee, IBA_SMP_DATA_SIZE); /* a Get's data means nothing */
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(iba_smp_method(r->mad), IBA_GET_RESP);
	assert_int_equal(iba_smp_attr_id(r->mad), attr);
	assert_int_equal(iba_smp_attr_mod(r->mad), mod);
	assert_int_equal(iba_smp_tid(r->mad), 0x1234);
	if (out)
		memcpy(out, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return smp_status(r);
}

static unsigned set_mod(struct world *w, unsigned hops, uint16_t attr, uint32_t mod,
			const uint8_t *in, uint8_t *out)
{
	struct sim_smp s = smp_dr(IBA_SET, attr, mod, chain_path(), hops);
	const struct sim_smp *r;

	memcpy(iba_smp_data(s.mad), in, IBA_SMP_DATA_SIZE);
	r = world_ask(w, &s);
	assert_non_null(r);
	if (out)
		memcpy(out, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return smp_status(r);
}

/* Set, and find it in the response and in a Get afterwards. */
static void round_trip(struct world *w, unsigned hops, uint16_t attr, uint32_t mod,
		       const uint8_t *in)
{
	uint8_t out[IBA_SMP_DATA_SIZE];

	assert_int_equal(set_mod(w, hops, attr, mod, in, out), 0);
	assert_memory_equal(out, in, IBA_SMP_DATA_SIZE);
	assert_int_equal(get_mod(w, hops, attr, mod, out), 0);
	assert_memory_equal(out, in, IBA_SMP_DATA_SIZE);
}

static void open_one(struct world *w, const struct sim_config *c)
{
	world_open(w, draw_chain(1), c);
}

enum { H0 = 0, SW = 1, H1 = 2 }; /* hops, and node ids */

/* ---- what cannot be set ---- */

TEST(node_info_and_description)
{
	struct world w;
	struct iba_node_info ni;
	uint8_t d[IBA_SMP_DATA_SIZE], zero[IBA_SMP_DATA_SIZE] = {0};

	open_one(&w, NULL);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_NODE_INFO, 0, d), 0);
	iba_node_info_get(&ni, d, sizeof(d));
	assert_int_equal(ni.node_type, IBA_NODE_SWITCH);
	assert_int_equal(ni.num_ports, 4);
	assert_int_equal(ni.node_guid, 0x100);
	assert_int_equal(ni.port_guid, 0x100);
	assert_int_equal(ni.local_port, 1);
	assert_int_equal(ni.partition_cap, 32);
	assert_int_equal(get_mod(&w, H1, IBA_ATTR_NODE_INFO, 0, d), 0);
	iba_node_info_get(&ni, d, sizeof(d));
	assert_int_equal(ni.node_type, IBA_NODE_CA);
	assert_int_equal(ni.node_guid, 0x2010);
	assert_int_equal(ni.port_guid, 0x2011);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_NODE_INFO, 0, d, NULL),
			 IBA_STATUS_BAD_METHOD_ATTR);

	assert_int_equal(get_mod(&w, SW, IBA_ATTR_NODE_DESC, 0, d), 0);
	assert_string_equal((char *)d, "sw0");
	assert_memory_equal(d + 4, zero, IBA_SMP_DATA_SIZE - 4);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_NODE_DESC, 0, d, NULL),
			 IBA_STATUS_BAD_METHOD_ATTR);
	world_close(&w);
}

TEST(unknown_attributes)
{
	static const uint16_t no[] = {0x0000, 0x0001, 0x0013, 0x001c, 0x0031, 0xff17};
	static const uint16_t switches_only[] = {IBA_ATTR_SWITCH_INFO, IBA_ATTR_LFT, IBA_ATTR_RFT,
						 IBA_ATTR_MFT};
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct world w;

	open_one(&w, NULL);
	for (size_t i = 0; i < ARRAY_LEN(no); i++) {
		assert_int_equal(get_mod(&w, SW, no[i], 0, NULL), IBA_STATUS_BAD_METHOD_ATTR);
		assert_int_equal(set_mod(&w, H1, no[i], 0, d, NULL), IBA_STATUS_BAD_METHOD_ATTR);
	}
	for (size_t i = 0; i < ARRAY_LEN(switches_only); i++) {
		assert_int_equal(get_mod(&w, H1, switches_only[i], 0, NULL),
				 IBA_STATUS_BAD_METHOD_ATTR);
		assert_int_equal(set_mod(&w, H1, switches_only[i], 0, d, NULL),
				 IBA_STATUS_BAD_METHOD_ATTR);
	}
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_NOTICE, 0, d), 0); /* none waits */
	for (unsigned i = 0; i < sizeof(d); i++)
		assert_int_equal(d[i], 0);
	world_close(&w);
}

/* ---- tables ---- */

static void fill(uint8_t *d, unsigned first)
{
	for (unsigned i = 0; i < IBA_SMP_DATA_SIZE; i++)
		d[i] = (uint8_t)(first + i);
}

TEST(linear_table)
{
	uint8_t d[IBA_SMP_DATA_SIZE], none[IBA_SMP_DATA_SIZE];
	struct world w;

	memset(none, IBA_PORT_NONE, sizeof(none));
	open_one(&w, NULL);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_LFT, 767, d), 0);
	assert_memory_equal(d, none, sizeof(d));
	fill(d, 1);
	round_trip(&w, SW, IBA_ATTR_LFT, 5, d);
	fill(d, 77);
	round_trip(&w, SW, IBA_ATTR_LFT, 767, d); /* the last block */
	round_trip(&w, SW, IBA_ATTR_LFT, 0, d);
	assert_int_equal(sim_lft(w.sim, SW, 5 * 64 + 3), 4);
	assert_int_equal(sim_lft(w.sim, SW, 4 * 64 + 3), IBA_PORT_NONE);
	assert_int_equal(sim_lft(w.sim, SW, 0xbfff), (77 + 63) & 0xff);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_LFT, 768, d), IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_LFT, 768, d, NULL), IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_LFT, UINT32_MAX, d, NULL), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(random_table)
{
	struct iba_rft t = {
		.lid = {3, 8, 0xbffe}, .valid = {1, 1, 1}, .lmc = {0, 3, 1}, .port = {1, 4, 0}};
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.rft_cap = 40;
	open_one(&w, &c);
	iba_rft_put(&t, d);
	round_trip(&w, SW, IBA_ATTR_RFT, 0, d);
	round_trip(&w, SW, IBA_ATTR_RFT, 2, d);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_RFT, 3, d, NULL), IBA_STATUS_BAD_FIELD);
	t.lid[1] = 9; /* not a multiple of 8 */
	iba_rft_put(&t, d);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_RFT, 0, d, NULL), IBA_STATUS_BAD_FIELD);
	t.lid[1] = 8;
	t.port[0] = 5; /* there are four */
	iba_rft_put(&t, d);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_RFT, 0, d, NULL), IBA_STATUS_BAD_FIELD);
	t.valid[0] = 0; /* ignored then */
	iba_rft_put(&t, d);
	round_trip(&w, SW, IBA_ATTR_RFT, 1, d);
	world_close(&w);
}

TEST(random_table_of_a_switch_without_one)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct world w;

	open_one(&w, NULL);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_RFT, 0, d), IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_RFT, 0, d, NULL), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(multicast_table)
{
	uint8_t d[IBA_SMP_DATA_SIZE], e[IBA_SMP_DATA_SIZE], got[IBA_SMP_DATA_SIZE];
	struct fab_builder *b = fab_builder_new();
	struct world w;
	node_id h = draw_host(b, 1), sw = draw_switch(b, 36);

	draw_link(b, h, 1, sw, 1);
	world_open(&w, fab_build(b), NULL);
	fill(d, 9);
	fill(e, 100);
	round_trip(&w, SW, IBA_ATTR_MFT, 31, d);
	round_trip(&w, SW, IBA_ATTR_MFT, 31 | 2u << 28, e); /* ports 32 to 36 */
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_MFT, 31, got), 0);
	assert_memory_equal(got, d, sizeof(d));
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_MFT, 31 | 3u << 28, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_MFT, 32, d, NULL), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(partition_keys)
{
	struct iba_pkey_table t;
	uint8_t d[IBA_SMP_DATA_SIZE], got[IBA_SMP_DATA_SIZE];
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.pkey_cap = 40; /* two blocks, the second not full */
	open_one(&w, &c);
	assert_int_equal(get_mod(&w, H1, IBA_ATTR_PKEY_TABLE, 0, got), 0);
	iba_pkey_table_get(&t, got, sizeof(got));
	assert_int_equal(t.pkey[0], 0xffff);
	assert_int_equal(t.pkey[1], 0);
	fill(d, 3);
	round_trip(&w, H1, IBA_ATTR_PKEY_TABLE, 1, d);
	round_trip(&w, SW, IBA_ATTR_PKEY_TABLE, 4u << 16 | 1, d); /* port 4 */
	fill(d, 50);
	round_trip(&w, SW, IBA_ATTR_PKEY_TABLE, 3u << 16, d);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_PKEY_TABLE, 4u << 16 | 1, got), 0);
	assert_int_equal(got[0], 3);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_PKEY_TABLE, 5u << 16, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_PKEY_TABLE, 2, d, NULL), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(guids)
{
	struct iba_guid_info gi = {.guid = {1, 22, 33, 44, 55, 66, 77, 88}};
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct world w;

	open_one(&w, NULL);
	iba_guid_info_put(&gi, d);
	assert_int_equal(set_mod(&w, H1, IBA_ATTR_GUID_INFO, 0, d, d), 0);
	iba_guid_info_get(&gi, d, sizeof(d));
	assert_int_equal(gi.guid[0], 0x2011); /* the port's own stays */
	assert_int_equal(gi.guid[7], 88);
	assert_int_equal(get_mod(&w, H1, IBA_ATTR_GUID_INFO, 0, d), 0);
	iba_guid_info_get(&gi, d, sizeof(d));
	assert_int_equal(gi.guid[0], 0x2011);
	assert_int_equal(gi.guid[1], 22);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_GUID_INFO, 0, d), 0);
	iba_guid_info_get(&gi, d, sizeof(d));
	assert_int_equal(gi.guid[0], 0x100);
	assert_int_equal(gi.guid[1], 0);
	assert_int_equal(get_mod(&w, H1, IBA_ATTR_GUID_INFO, 1, d), IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, H1, IBA_ATTR_GUID_INFO, 1, d, NULL), IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

/* A fabric that names no port GUIDs: both attributes must tell the same one. */
TEST(guid_of_an_unnamed_port)
{
	struct fab_builder *b = fab_builder_new();
	node_id h = fab_add_node(b, IBA_NODE_CA, 0x5000, 2, "h");
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct iba_node_info ni;
	struct iba_guid_info gi;
	struct world w;

	(void)h;
	world_open(&w, fab_build(b), NULL);
	assert_int_equal(get_mod(&w, H0, IBA_ATTR_NODE_INFO, 0, d), 0);
	iba_node_info_get(&ni, d, sizeof(d));
	assert_int_equal(get_mod(&w, H0, IBA_ATTR_GUID_INFO, 0, d), 0);
	iba_guid_info_get(&gi, d, sizeof(d));
	assert_int_not_equal(ni.port_guid, 0);
	assert_int_equal(gi.guid[0], ni.port_guid);
	world_close(&w);
}

TEST(sl_to_vl_by_both_ports)
{
	struct iba_slvl_table t = {.vl = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 15, 0}};
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct world w;

	open_one(&w, NULL);
	iba_slvl_table_put(&t, d);
	round_trip(&w, SW, IBA_ATTR_SLVL_TABLE, 1 << 8 | 2, d);
	for (unsigned sl = 0; sl < 16; sl++) {
		assert_int_equal(sim_slvl(w.sim, SW, 1, 2, sl), t.vl[sl]);
		assert_int_equal(sim_slvl(w.sim, SW, 2, 1, sl), 0); /* one VL is in use */
	}
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_SLVL_TABLE, 5 << 8 | 2, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_SLVL_TABLE, 2 << 8 | 5, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	round_trip(&w, H1, IBA_ATTR_SLVL_TABLE, 0, d);
	assert_int_equal(sim_slvl(w.sim, H1, 0, 1, 2), 4);
	world_close(&w);
}

TEST(vl_arbitration)
{
	struct iba_vlarb_table t = {.vl = {0, 1, 2}, .weight = {4, 255, 1}};
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct world w;

	open_one(&w, NULL);
	iba_vlarb_table_put(&t, d);
	for (uint32_t block = 1; block <= 4; block++) {
		t.weight[0] = (uint8_t)block;
		iba_vlarb_table_put(&t, d);
		round_trip(&w, SW, IBA_ATTR_VLARB_TABLE, block << 16 | 2, d);
	}
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 1u << 16 | 2, d), 0);
	iba_vlarb_table_get(&t, d, sizeof(d));
	assert_int_equal(t.weight[0], 1); /* each block has its own */
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 2, NULL), IBA_STATUS_BAD_FIELD);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 5u << 16 | 2, NULL),
			 IBA_STATUS_BAD_FIELD);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 1u << 16 | 5, NULL),
			 IBA_STATUS_BAD_FIELD);
	t.vl[3] = 15;
	t.weight[3] = 1; /* VL15 takes no part */
	iba_vlarb_table_put(&t, d);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 1u << 16 | 2, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

TEST(short_vl_arbitration)
{
	uint8_t d[IBA_SMP_DATA_SIZE] = {0};
	struct sim_config c;
	struct world w;

	sim_config_default(&c);
	c.vlarb_cap = 32; /* no second halves */
	open_one(&w, &c);
	round_trip(&w, SW, IBA_ATTR_VLARB_TABLE, 1u << 16 | 1, d);
	round_trip(&w, SW, IBA_ATTR_VLARB_TABLE, 3u << 16 | 1, d);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 2u << 16 | 1, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	assert_int_equal(set_mod(&w, SW, IBA_ATTR_VLARB_TABLE, 4u << 16 | 1, d, NULL),
			 IBA_STATUS_BAD_FIELD);
	world_close(&w);
}

/* ---- SwitchInfo ---- */

static struct iba_switch_info switch_info(struct world *w)
{
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct iba_switch_info si;

	assert_int_equal(get_mod(w, SW, IBA_ATTR_SWITCH_INFO, 0, d), 0);
	iba_switch_info_get(&si, d, sizeof(d));
	return si;
}

static unsigned set_switch_info(struct world *w, const struct iba_switch_info *si)
{
	uint8_t d[IBA_SMP_DATA_SIZE];

	iba_switch_info_put(si, d);
	return set_mod(w, SW, IBA_ATTR_SWITCH_INFO, 0, d, NULL);
}

TEST(test_switch_info)
{
	struct iba_switch_info si, was;
	struct world w;

	open_one(&w, NULL);
	was = si = switch_info(&w);
	assert_int_equal(si.linear_cap, 49152);
	assert_int_equal(si.default_port, IBA_PORT_NONE);
	assert_int_equal(si.port_state_change, 1); /* links came up at power-on */
	si.linear_top = 49151;
	si.default_port = 4;
	si.life_time = 9;
	si.linear_cap = si.random_cap = si.mcast_cap = 1; /* not for the SM to say */
	si.enhanced_port0 = 1;
	assert_int_equal(set_switch_info(&w, &si), 0);
	si = switch_info(&w);
	assert_int_equal(si.linear_top, 49151);
	assert_int_equal(si.default_port, 4);
	assert_int_equal(si.life_time, 9);
	assert_int_equal(si.linear_cap, was.linear_cap);
	assert_int_equal(si.mcast_cap, was.mcast_cap);
	assert_int_equal(si.enhanced_port0, 0);
	si.linear_top = 49152; /* as many as there are: the last is one less */
	assert_int_equal(set_switch_info(&w, &si), IBA_STATUS_BAD_FIELD);
	si.linear_top = 7;
	si.default_port = 5;
	assert_int_equal(set_switch_info(&w, &si), IBA_STATUS_BAD_FIELD);
	assert_int_equal(switch_info(&w).linear_top,
			 49151); /* nothing of what was refused was taken */
	world_close(&w);
}

TEST(port_state_change_is_cleared_by_writing_one)
{
	struct iba_switch_info si;
	struct world w;

	open_one(&w, NULL);
	si = switch_info(&w);
	si.port_state_change = 0;
	assert_int_equal(set_switch_info(&w, &si), 0);
	assert_int_equal(switch_info(&w).port_state_change, 1);
	si.port_state_change = 1;
	assert_int_equal(set_switch_info(&w, &si), 0);
	assert_int_equal(switch_info(&w).port_state_change, 0);
	assert_int_equal(set_switch_info(&w, &si), 0); /* a second one does not set it */
	assert_int_equal(switch_info(&w).port_state_change, 0);
	world_close(&w);
}

/* ---- PortInfo: values ---- */

struct port_fault {
	const char *what;
	unsigned hops, port;
	uint16_t lid, sm_lid;
	uint8_t lmc, mtu, vls, phys;
	unsigned want;
};

TEST(port_info_values)
{
	enum { NO = IBA_STATUS_BAD_FIELD };
	static const struct port_fault t[] = {
		{"all well", H1, 0, 9, 1, 0, 4, 2, 0, 0},
		{"LID 0", H1, 0, 0, 1, 0, 4, 2, 0, NO},
		{"the last unicast LID", H1, 0, 0xbfff, 1, 0, 4, 2, 0, 0},
		{"a multicast LID", H1, 0, 0xc000, 1, 0, 4, 2, 0, NO},
		{"the permissive LID", H1, 0, 0xffff, 1, 0, 4, 2, 0, NO},
		{"a LID that fits its LMC", H1, 0, 16, 1, 4, 4, 2, 0, 0},
		{"one that does not", H1, 0, 24, 1, 4, 4, 2, 0, NO},
		{"LMC 7", H1, 0, 128, 1, 7, 4, 2, 0, 0},
		{"a switch's port 0", SW, 0, 8, 1, 0, 4, 2, 0, 0},
		{"with LMC, but it is a base port 0", SW, 0, 8, 1, 1, 4, 2, 0, NO},
		{"LID 0 there", SW, 0, 0, 1, 0, 4, 2, 0, NO},
		{"external ports have no LID", SW, 2, 0, 0, 0, 4, 2, 0, 0},
		{"a multicast SM LID", H1, 0, 9, 0xc000, 0, 4, 2, 0, NO},
		{"no SM", H1, 0, 9, 0, 0, 4, 2, 0, 0},
		{"MTU code 0", H1, 0, 9, 1, 0, 0, 2, 0, NO},
		{"MTU above the capability", H1, 0, 9, 1, 0, 5, 2, 0, NO},
		{"MTU code 6", H1, 0, 9, 1, 0, 6, 2, 0, NO},
		{"smallest MTU", SW, 2, 0, 0, 0, 1, 2, 0, 0},
		{"VLs: no change", H1, 0, 9, 1, 0, 4, 0, 0, 0},
		{"VLs above the capability", H1, 0, 9, 1, 0, 4, 3, 0, NO},
		{"VL code 6", SW, 2, 0, 0, 0, 4, 6, 0, NO},
		{"physical state Training", SW, 2, 0, 0, 0, 4, 2, 4, NO},
		{"physical state LinkUp", SW, 2, 0, 0, 0, 4, 2, 5, NO},
		{"a port that is not there", SW, 5, 0, 0, 0, 4, 2, 0, NO},
		{"a host's second port", H1, 2, 9, 1, 0, 4, 2, 0, NO},
	};
	struct world w;

	open_one(&w, NULL);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct iba_port_info pi = world_port_draft(&w, t[i].hops, 0);
		unsigned got;

		pi.lid = t[i].lid;
		pi.sm_lid = t[i].sm_lid;
		pi.lmc = t[i].lmc;
		pi.neighbor_mtu = t[i].mtu;
		pi.oper_vls = t[i].vls;
		pi.phys_state = t[i].phys;
		got = world_set_port_info(&w, t[i].hops, t[i].port, &pi);
		if (got != t[i].want)
			fail_msg("%s: status 0x%x, expected 0x%x", t[i].what, got, t[i].want);
	}
	world_close(&w);
}

TEST(enhanced_port_zero_has_lmc)
{
	struct fab *plain = draw_chain(1);
	struct fab_builder *b = fab_builder_from(plain);
	struct world w;
	struct iba_port_info pi;

	fab_free(plain);
	fab_builder_node(b, SW)->flags |= FAB_ENHANCED_PORT0;
	world_open(&w, fab_build(b), NULL);
	pi = world_port_draft(&w, SW, 0);
	pi.lid = 8;
	pi.lmc = 3;
	assert_int_equal(world_set_port_info(&w, SW, 0, &pi), 0);
	assert_int_equal(world_port_info(&w, SW, 0).lmc, 3);
	assert_int_equal(switch_info(&w).enhanced_port0, 1);
	world_close(&w);
}

TEST(port_info_accepts_settable_values)
{
	struct iba_port_info pi, got;
	struct world w;

	open_one(&w, NULL);
	pi = world_port_draft(&w, H1, 0);
	pi.lid = 40;
	pi.sm_lid = 7;
	pi.sm_sl = 3;
	pi.gid_prefix = 0xfe80000000000001ull;
	pi.subnet_timeout = 18;
	pi.vl_high_limit = 9;
	pi.hoq_life = 5;
	pi.vl_stall_count = 6;
	pi.mtu_cap = 5; /* capabilities stay */
	pi.vl_cap = 5;
	pi.cap_mask = 0;
	pi.resp_time = 31;
	pi.width_enabled = 0; /* no change */
	pi.speed_enabled = 0;
	assert_int_equal(world_set_port_info(&w, H1, 0, &pi), 0);
	got = world_port_info(&w, H1, 0);
	assert_int_equal(got.lid, 40);
	assert_int_equal(got.sm_lid, 7);
	assert_int_equal(got.sm_sl, 3);
	assert_int_equal(got.gid_prefix, 0xfe80000000000001ull);
	assert_int_equal(got.subnet_timeout, 18);
	assert_int_equal(got.vl_high_limit, 9);
	assert_int_equal(got.hoq_life, 5);
	assert_int_equal(got.vl_stall_count, 6);
	assert_int_equal(got.mtu_cap, 4);
	assert_int_equal(got.vl_cap, 2);
	assert_true(got.cap_mask & IBA_CAP_SL_MAP);
	assert_int_equal(got.resp_time, 8);
	assert_int_equal(got.width_enabled, IBA_WIDTH_1X);
	assert_int_equal(got.speed_enabled, 1);
	assert_int_equal(got.local_port, 1);
	world_close(&w);
}

/* As in ibsim and in HCAs: another port of the same host can be read, but only itself be set; and what is
 * sent at one port does not leave by another. */
TEST(a_host_port_is_set_through_itself_alone)
{
	struct fab_builder *b = fab_builder_new();
	node_id h = draw_host(b, 2), sw = draw_switch(b, 4);
	uint8_t d[IBA_SMP_DATA_SIZE], wrong[] = {0, 2};
	struct iba_port_info pi;
	struct sim_smp s;
	struct world w;

	draw_link(b, h, 1, sw, 1);
	draw_link(b, h, 2, sw, 2);
	world_open(&w, fab_build(b), NULL);
	assert_int_equal(get_mod(&w, 0, IBA_ATTR_PORT_INFO, 2, d), 0);
	iba_port_info_get(&pi, d, sizeof(d));
	pi.lid = 9;
	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	iba_port_info_put(&pi, d);
	assert_int_equal(set_mod(&w, 0, IBA_ATTR_PORT_INFO, 2, d, NULL), IBA_STATUS_BAD_FIELD);
	assert_int_equal(sim_port_info(w.sim, fab_port_id(w.fab, h, 2))->lid, 0);
	assert_int_equal(set_mod(&w, 0, IBA_ATTR_PORT_INFO, 1, d, NULL), 0);
	assert_int_equal(sim_port_info(w.sim, fab_port_id(w.fab, h, 1))->lid, 9);
	s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, wrong + 1, 1);
	assert_null(world_ask(&w, &s));
	assert_int_equal(sim_stats(w.sim)->dropped[SIM_DROP_BAD_PATH], 1);
	world_close(&w);
}

/* ---- PortInfo: states ---- */

static unsigned port_state(const struct world *w, node_id n, unsigned port)
{
	return sim_port_info(w->sim, fab_port_id(w->fab, n, port))->state;
}

static unsigned order(struct world *w, unsigned hops, unsigned port, unsigned st, unsigned phys)
{
	struct iba_port_info pi = world_port_draft(w, hops, port);

	pi.state = (uint8_t)st;
	pi.phys_state = (uint8_t)phys;
	return world_set_port_info(w, hops, port, &pi);
}

/* Port 2 of the switch into this state; port 3 has no cable and is Down. */
static unsigned port_in_state(struct world *w, unsigned st)
{
	if (st == IBA_PORT_DOWN)
		return 3;
	if (port_state(w, SW, 2) > IBA_PORT_INIT)
		assert_int_equal(order(w, SW, 2, IBA_PORT_DOWN, 0), 0);
	if (st >= IBA_PORT_ARMED)
		assert_int_equal(order(w, SW, 2, IBA_PORT_ARMED, 0), 0);
	if (st >= IBA_PORT_ACTIVE)
		assert_int_equal(order(w, SW, 2, IBA_PORT_ACTIVE, 0), 0);
	assert_int_equal(port_state(w, SW, 2), st);
	return 2;
}

TEST(every_order_in_every_state)
{
	enum {
		D = IBA_PORT_DOWN,
		I = IBA_PORT_INIT,
		A = IBA_PORT_ARMED,
		C = IBA_PORT_ACTIVE,
		NO = 0
	};
	/* From Down, Initialize, Armed, Active; ordered: no change, Down, Init, Armed, Active, and
	 * two that no SM may order. What the port is afterwards, NO: refused, and as it was. */
	static const uint8_t want[4][7] = {
		{D, NO, NO, NO, NO, NO, NO},
		{I, I, NO, A, NO, NO, NO},
		{A, I, NO, A, C, NO, NO},
		{C, I, NO, NO, C, NO, NO},
	};
	static const uint8_t ordered[7] = {0, 1, 2, 3, 4, 5, 15};
	struct iba_switch_info si;
	struct world w;

	open_one(&w, NULL);
	si = switch_info(&w);
	assert_int_equal(set_switch_info(&w, &si), 0); /* clears PortStateChange */
	for (unsigned from = D; from <= C; from++) {
		for (unsigned i = 0; i < ARRAY_LEN(ordered); i++) {
			unsigned port = port_in_state(&w, from), expect = want[from - 1][i];
			unsigned status = order(&w, SW, port, ordered[i], 0);

			if (status != (expect == NO ? IBA_STATUS_BAD_FIELD : 0u) ||
			    port_state(&w, SW, port) != (expect == NO ? from : expect))
				fail_msg("%s, ordered %u: status 0x%x, now %s",
					 iba_port_state_name(from), ordered[i], status,
					 iba_port_state_name(port_state(&w, SW, port)));
			/* Orders never count as changes. */
			assert_int_equal(switch_info(&w).port_state_change, 0);
		}
	}
	world_close(&w);
}

TEST(port_zero_is_always_active)
{
	struct world w;

	open_one(&w, NULL);
	assert_int_equal(world_port_info(&w, SW, 0).state, IBA_PORT_ACTIVE);
	for (unsigned st = 0; st < 6; st++)
		assert_int_equal(order(&w, SW, 0, st, 0),
				 st == 0 || st == IBA_PORT_ACTIVE ? 0 : IBA_STATUS_BAD_FIELD);
	order(&w, SW, 0, 0, IBA_PHYS_DISABLED); /* there is nothing physical to disable */
	assert_int_equal(world_port_info(&w, SW, 0).phys_state, IBA_PHYS_LINK_UP);
	assert_int_equal(world_port_info(&w, SW, 0).state, IBA_PORT_ACTIVE);
	world_close(&w);
}

static void clear_change(struct world *w)
{
	struct iba_switch_info si = switch_info(w);

	si.port_state_change = 1;
	assert_int_equal(set_switch_info(w, &si), 0);
	assert_int_equal(switch_info(w).port_state_change, 0);
}

TEST(links_set_port_state_change)
{
	struct world w;
	port_id a, b;

	open_one(&w, NULL);
	a = fab_port_id(w.fab, SW, 2);
	b = fab_port_id(w.fab, H1, 1);
	for (unsigned st = IBA_PORT_INIT; st <= IBA_PORT_ACTIVE; st++) {
		port_in_state(&w, st);
		clear_change(&w);
		sim_uncable(w.sim, b); /* Initialize, Armed and Active to Down */
		assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
		assert_int_equal(port_state(&w, H1, 1), IBA_PORT_DOWN);
		assert_int_equal(world_port_info(&w, SW, 2).phys_state, IBA_PHYS_POLLING);
		assert_int_equal(switch_info(&w).port_state_change, 1);
		clear_change(&w);
		sim_cable(w.sim, a, b); /* Down to Initialize */
		assert_int_equal(port_state(&w, SW, 2), IBA_PORT_INIT);
		assert_int_equal(port_state(&w, H1, 1), IBA_PORT_INIT);
		assert_int_equal(world_port_info(&w, SW, 2).phys_state, IBA_PHYS_LINK_UP);
		assert_int_equal(switch_info(&w).port_state_change, 1);
	}
	/* The neighbour's power does the same as the cable. */
	clear_change(&w);
	sim_node_power(w.sim, H1, false);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
	assert_int_equal(switch_info(&w).port_state_change, 1);
	clear_change(&w);
	sim_node_power(w.sim, H1, true);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_INIT);
	assert_int_equal(switch_info(&w).port_state_change, 1);
	world_close(&w);
}

TEST(training_takes_its_time)
{
	struct sim_config c;
	struct world w;
	port_id a;

	sim_config_default(&c);
	c.training_ps = 10 * PS_PER_US;
	open_one(&w, &c);
	a = fab_port_id(w.fab, SW, 2);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
	world_run(&w, 9 * PS_PER_US);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
	/* Unplugged and plugged in again: training restarts. */
	sim_uncable(w.sim, a);
	sim_cable(w.sim, a, fab_port_id(w.fab, H1, 1));
	world_run(&w, 15 * PS_PER_US);
	assert_int_equal(port_state(&w, SW, 1), IBA_PORT_INIT);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
	world_run(&w, 20 * PS_PER_US);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_INIT);
	assert_int_equal(port_state(&w, H1, 1), IBA_PORT_INIT);
	world_close(&w);
}

static unsigned phys_state(const struct world *w, node_id n, unsigned port)
{
	return sim_port_info(w->sim, fab_port_id(w->fab, n, port))->phys_state;
}

TEST(a_disabled_port_stays_disabled)
{
	struct world w;
	port_id a, b;

	open_one(&w, NULL);
	a = fab_port_id(w.fab, SW, 2);
	b = fab_port_id(w.fab, H1, 1);
	assert_int_equal(order(&w, SW, 2, 0, IBA_PHYS_DISABLED), 0);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
	assert_int_equal(port_state(&w, H1, 1), IBA_PORT_DOWN);
	assert_int_equal(phys_state(&w, SW, 2), IBA_PHYS_DISABLED);
	assert_int_equal(phys_state(&w, H1, 1), IBA_PHYS_POLLING);
	/* Neither the cable nor the other end's power makes it forget. */
	sim_uncable(w.sim, b);
	assert_int_equal(phys_state(&w, SW, 2), IBA_PHYS_DISABLED);
	sim_cable(w.sim, a, b);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_DOWN);
	sim_node_power(w.sim, H1, false);
	sim_node_power(w.sim, H1, true);
	assert_int_equal(port_state(&w, H1, 1), IBA_PORT_DOWN);
	assert_int_equal(phys_state(&w, SW, 2), IBA_PHYS_DISABLED);
	clear_change(&w);
	assert_int_equal(order(&w, SW, 2, 0, IBA_PHYS_POLLING), 0);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_INIT);
	assert_int_equal(port_state(&w, H1, 1), IBA_PORT_INIT);
	assert_int_equal(switch_info(&w).port_state_change, 1); /* the link came up by itself */
	world_close(&w);
}

TEST(power_off_resets_everything)
{
	uint8_t d[IBA_SMP_DATA_SIZE];
	struct world w;

	open_one(&w, NULL);
	world_give_lid(&w, SW, 5, 0);
	world_give_lft(&w, SW, (uint8_t[]){1, 1, 0});
	fill(d, 0);
	round_trip(&w, SW, IBA_ATTR_PKEY_TABLE, 2u << 16, d);
	port_in_state(&w, IBA_PORT_ACTIVE);
	sim_node_power(w.sim, SW, false);
	assert_false(sim_node_on(w.sim, SW));
	sim_node_power(w.sim, SW, true);
	assert_int_equal(world_port_info(&w, SW, 0).lid, 0);
	assert_int_equal(port_state(&w, SW, 2), IBA_PORT_INIT);
	assert_int_equal(sim_lft(w.sim, SW, 1), IBA_PORT_NONE);
	assert_int_equal(get_mod(&w, SW, IBA_ATTR_PKEY_TABLE, 2u << 16, d), 0);
	assert_int_equal(d[0], 0xff);
	/* An SM's port still says that one is there. */
	sim_node_power(w.sim, H0, false);
	sim_node_power(w.sim, H0, true);
	assert_true(world_port_info(&w, H0, 0).cap_mask & IBA_CAP_IS_SM);
	world_close(&w);
}

/* ---- the M_Key ---- */

static void set_key(struct world *w, unsigned hops, uint64_t key, unsigned protect, unsigned lease)
{
	struct iba_port_info pi = world_port_draft(w, hops, 0);

	pi.m_key = key;
	pi.m_key_protect = (uint8_t)protect;
	pi.m_key_lease = (uint16_t)lease;
	pi.sm_lid = 1;
	assert_int_equal(world_set_port_info(w, hops, 0, &pi), 0);
}

/* One request with this key: NULL when it fell on deaf ears. */
static const struct sim_smp *with_key(struct world *w, unsigned hops, unsigned method, uint64_t key)
{
	struct sim_smp s = smp_dr(method, IBA_ATTR_PORT_INFO, 0, chain_path(), hops);
	struct iba_port_info pi = *sim_port_info(
		w->sim, fab_port_id(w->fab, hops, fab_is_switch(w->fab, hops) ? 0 : 1));

	pi.state = pi.phys_state = 0;
	iba_port_info_put(&pi, iba_smp_data(s.mad));
	iba_smp_set_m_key(s.mad, key);
	return world_ask(w, &s);
}

static uint64_t key_seen(const struct sim_smp *r)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return pi.m_key;
}

TEST(m_key_levels)
{
	static const uint64_t key = 0xfeedc0de;

	for (unsigned hops = SW; hops <= H1; hops++) {
		for (unsigned protect = 0; protect < 4; protect++) {
			const struct iba_port_info *pi;
			const struct sim_smp *r;
			unsigned refused = 0;
			struct world w;

			open_one(&w, NULL);
			set_key(&w, hops, key, protect, 0);
			pi = sim_port_info(w.sim, fab_port_id(w.fab, hops, hops == SW ? 0 : 1));

			r = with_key(&w, hops, IBA_GET, key);
			assert_non_null(r);
			assert_int_equal(key_seen(r), key);
			assert_non_null(with_key(&w, hops, IBA_SET, key));
			assert_int_equal(pi->m_key_violations, 0);

			r = with_key(&w, hops, IBA_GET, 5);
			refused += protect >= 2;
			assert_int_equal(r == NULL, protect >= 2);
			if (r)
				assert_int_equal(key_seen(r), protect == 0 ? key : 0);
			assert_null(with_key(&w, hops, IBA_SET, 5));
			refused++;
			assert_int_equal(pi->m_key_violations, refused);
			assert_int_equal(sim_stats(w.sim)->dropped[SIM_DROP_MKEY], refused);
			assert_int_equal(pi->m_key, key);
			world_close(&w);
		}
	}
}

TEST(an_m_key_of_0_disables_the_check)
{
	struct world w;

	open_one(&w, NULL);
	set_key(&w, H1, 0, 3, 0);
	assert_non_null(with_key(&w, H1, IBA_SET, 77));
	assert_int_equal(world_port_info(&w, H1, 0).m_key_violations, 0);
	world_close(&w);
}

TEST(test_m_key_lease)
{
	struct world w;
	time_ps start;

	open_one(&w, NULL);
	set_key(&w, SW, 42, 2, 10);
	start = sim_now(w.sim);
	assert_null(with_key(&w, SW, IBA_GET, 5)); /* the lease begins to run */
	world_run(&w, start + 9 * PS_PER_S);
	assert_null(with_key(&w, SW, IBA_GET, 5)); /* another request does not restart it */
	world_run(&w, start + 10 * PS_PER_S + PS_PER_MS);
	assert_int_equal(key_seen(with_key(&w, SW, IBA_GET, 5)), 42); /* now it may be read */
	assert_null(with_key(&w, SW, IBA_SET, 5));		      /* but not be written */
	world_close(&w);
}

TEST(a_correct_key_stops_the_lease)
{
	struct world w;

	open_one(&w, NULL);
	set_key(&w, SW, 42, 2, 10);
	assert_null(with_key(&w, SW, IBA_GET, 5));
	world_run(&w, 5 * PS_PER_S);
	assert_non_null(with_key(&w, SW, IBA_GET, 42)); /* its SM is alive */
	world_run(&w, 30 * PS_PER_S);
	assert_null(with_key(&w, SW, IBA_GET, 5)); /* and from here it runs again */
	world_run(&w, 39 * PS_PER_S);
	assert_null(with_key(&w, SW, IBA_GET, 5));
	world_run(&w, 41 * PS_PER_S);
	assert_non_null(with_key(&w, SW, IBA_GET, 5));
	world_close(&w);
}

TEST(a_lease_of_zero_never_ends)
{
	struct world w;

	open_one(&w, NULL);
	set_key(&w, SW, 42, 3, 0);
	assert_null(with_key(&w, SW, IBA_GET, 5));
	world_run(&w, 1000000 * PS_PER_S);
	assert_null(with_key(&w, SW, IBA_GET, 5));
	world_close(&w);
}

/* ---- traps ---- */

static void open_with_traps(struct world *w, unsigned limit)
{
	struct sim_config c;

	sim_config_default(&c);
	c.traps = true;
	c.trap_limit = limit;
	open_one(w, &c);
	world_give_lid(w, H0, 1, 0);
	world_give_lid(w, SW, 2, 0);
	world_give_lid(w, H1, 3, 0);
	world_give_lft(w, SW, (uint8_t[]){1, 1, 3, 2, 0});
	w->inbox.n = 0;
	w->seen.n = 0;
}

static unsigned traps_heard(const struct world *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->inbox.n; i++)
		n += iba_smp_method(w->inbox.at[i].mad) == IBA_TRAP;
	return n;
}

static const struct sim_smp *last_trap(const struct world *w)
{
	for (size_t i = w->inbox.n; i-- > 0;)
		if (iba_smp_method(w->inbox.at[i].mad) == IBA_TRAP)
			return &w->inbox.at[i];
	return NULL;
}

static void repress(struct world *w, const struct sim_smp *trap)
{
	struct sim_smp s = *trap;

	iba_smp_set_method(s.mad, IBA_TRAP_REPRESS);
	s.dlid = trap->slid;
	s.slid = 1;
	world_send(w, &s);
}

#define TRAP_INTERVAL iba_time_from_exp(8) /* RespTimeValue, as no SubnetTimeOut is set */

TEST(trap_128_until_repressed)
{
	struct iba_notice n;
	struct iba_trap_switch d;
	const struct sim_smp *t;
	struct world w;
	time_ps start;
	uint64_t tid;

	open_with_traps(&w, 0);
	assert_true(world_port_info(&w, SW, 0).cap_mask & IBA_CAP_TRAP);
	start = sim_now(w.sim);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, start + TRAP_INTERVAL / 2);
	assert_int_equal(traps_heard(&w), 1);
	t = last_trap(&w);
	tid = iba_smp_tid(t->mad);
	assert_int_equal(t->slid, 2);
	assert_int_equal(t->dlid, 1);
	iba_notice_get(&n, iba_smp_data_const(t->mad), IBA_SMP_DATA_SIZE);
	iba_trap_switch_get(&d, n.details, sizeof(n.details));
	assert_int_equal(n.trap_number, IBA_TRAP_LINK_STATE);
	assert_int_equal(n.is_generic, 1);
	assert_int_equal(n.producer_type, IBA_NODE_SWITCH);
	assert_int_equal(n.issuer_lid, 2);
	assert_int_equal(d.lid, 2);
	for (unsigned i = 1; i <= 4; i++) { /* one each interval, the same each time */
		world_run(&w, start + i * TRAP_INTERVAL - 1);
		assert_int_equal(traps_heard(&w), i);
		world_run(&w, start + i * TRAP_INTERVAL + TRAP_INTERVAL / 2);
		assert_int_equal(traps_heard(&w), i + 1);
		assert_int_equal(iba_smp_tid(last_trap(&w)->mad), tid);
	}
	repress(&w, last_trap(&w));
	world_run(&w, start + 50 * TRAP_INTERVAL);
	assert_int_equal(traps_heard(&w), 5);
	assert_int_equal(sim_stats(w.sim)->traps, 5);
	world_close(&w);
}

TEST(trap_interval_is_the_subnet_timeout)
{
	struct iba_port_info pi;
	struct world w;
	time_ps start;

	open_with_traps(&w, 0);
	pi = world_port_draft(&w, SW, 0);
	pi.subnet_timeout = 12;
	assert_int_equal(world_set_port_info(&w, SW, 0, &pi), 0);
	start = sim_now(w.sim);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, start + iba_time_from_exp(12) - 1);
	assert_int_equal(traps_heard(&w), 1);
	world_run(&w, start + iba_time_from_exp(12) + PS_PER_MS);
	assert_int_equal(traps_heard(&w), 2);
	world_close(&w);
}

TEST(an_old_repress_does_not_silence_a_new_event)
{
	struct sim_smp first;
	struct world w;
	time_ps start;

	open_with_traps(&w, 0);
	start = sim_now(w.sim);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, start + TRAP_INTERVAL / 4);
	first = *last_trap(&w);
	sim_cable(w.sim, fab_port_id(w.fab, H1, 1), fab_port_id(w.fab, SW, 2));
	repress(&w, &first);
	world_run(&w, start + TRAP_INTERVAL + TRAP_INTERVAL / 4);
	assert_int_equal(traps_heard(&w), 2); /* no sooner than one an interval */
	assert_int_not_equal(iba_smp_tid(last_trap(&w)->mad), iba_smp_tid(first.mad));
	repress(&w, last_trap(&w));
	world_run(&w, start + 20 * TRAP_INTERVAL);
	assert_int_equal(traps_heard(&w), 2);
	/* After the repress, the next event sends a trap at once. */
	start = sim_now(w.sim);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, start + TRAP_INTERVAL / 4);
	assert_int_equal(traps_heard(&w), 3);
	world_close(&w);
}

TEST(test_trap_limit)
{
	struct world w;

	open_with_traps(&w, 3);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, sim_now(w.sim) + 100 * TRAP_INTERVAL);
	assert_int_equal(traps_heard(&w), 3);
	world_close(&w);
}

/* A timeout of hours without a response: simulated time ends, and nothing follows.
 */
TEST(trap_times_do_not_overflow)
{
	struct iba_port_info pi;
	struct world w;
	unsigned n = 0;

	open_with_traps(&w, 0);
	pi = world_port_draft(&w, SW, 0);
	pi.subnet_timeout = 31;
	assert_int_equal(world_set_port_info(&w, SW, 0, &pi), 0);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	while (n < 100000 && world_step(&w))
		n++;
	assert_true(n < 100000);
	assert_true(sim_next(w.sim) == TIME_NEVER);
	assert_int_equal(traps_heard(&w), 1 + TIME_NEVER / iba_time_from_exp(31));
	world_close(&w);
}

TEST(no_traps_unless_supported)
{
	struct world w;

	open_one(&w, NULL);
	assert_int_equal(world_port_info(&w, SW, 0).cap_mask & IBA_CAP_TRAP, 0);
	world_give_lid(&w, SW, 2, 0);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, sim_now(w.sim) + 10 * TRAP_INTERVAL);
	assert_int_equal(traps_heard(&w), 0);
	assert_int_equal(sim_stats(w.sim)->sent, sim_stats(w.sim)->delivered);
	world_close(&w);
}

/* Before a manager has set its LID the notice has no destination and waits; then it is sent.
 */
TEST(a_trap_waits_for_an_sm)
{
	struct sim_config c;
	struct iba_port_info pi;
	struct world w;

	sim_config_default(&c);
	c.traps = true;
	c.trap_limit = 2;
	open_one(&w, &c);
	world_give_lid(&w, H0, 1, 0);
	world_give_lid(&w, SW, 2, 0);
	world_give_lft(&w, SW, (uint8_t[]){1, 1, 0});
	pi = world_port_draft(&w, SW, 0);
	pi.sm_lid = 0;
	assert_int_equal(world_set_port_info(&w, SW, 0, &pi), 0);
	sim_uncable(w.sim, fab_port_id(w.fab, H1, 1));
	world_run(&w, sim_now(w.sim) + 10 * TRAP_INTERVAL);
	assert_int_equal(sim_stats(w.sim)->traps, 0);
	pi.sm_lid = 1;
	assert_int_equal(world_set_port_info(&w, SW, 0, &pi), 0);
	world_run(&w, sim_now(w.sim) + 10 * TRAP_INTERVAL);
	assert_int_equal(traps_heard(&w), 2); /* the limit counts what was sent */
	world_close(&w);
}

TEST(trap_256_names_the_intruder)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_PORT_INFO, 3, chain_path(), SW);
	struct iba_trap_mkey d;
	struct iba_notice n;
	struct world w;

	open_with_traps(&w, 0);
	set_key(&w, SW, 42, 1, 0);
	iba_smp_set_m_key(s.mad, 0xbad);
	assert_null(world_ask(&w, &s));
	world_drain(&w);
	assert_int_equal(traps_heard(&w), 1);
	iba_notice_get(&n, iba_smp_data_const(last_trap(&w)->mad), IBA_SMP_DATA_SIZE);
	iba_trap_mkey_get(&d, n.details, sizeof(n.details));
	assert_int_equal(n.trap_number, IBA_TRAP_BAD_MKEY);
	assert_int_equal(n.type, IBA_NOTICE_SECURITY);
	assert_int_equal(d.lid, 2);
	assert_int_equal(d.m_key, 0xbad);
	assert_int_equal(d.method, IBA_SET);
	assert_int_equal(d.attr_id, IBA_ATTR_PORT_INFO);
	assert_int_equal(d.attr_mod, 3);
	assert_int_equal(d.dr_notice, 1);
	assert_int_equal(d.dr_hop_count, 1);
	assert_int_equal(d.dr_path_truncated, 0);
	assert_int_equal(d.dr_return_path[1], 1);
	/* A notice does not give the key away, and a repress must show it. */
	assert_int_equal(iba_smp_m_key(last_trap(&w)->mad), 0);
	repress(&w, last_trap(&w));
	world_run(&w, sim_now(w.sim) + 3 * TRAP_INTERVAL);
	assert_int_equal(sim_stats(w.sim)->traps, 4);
	s = *last_trap(&w);
	iba_smp_set_m_key(s.mad, 42);
	repress(&w, &s);
	world_run(&w, sim_now(w.sim) + 9 * TRAP_INTERVAL);
	assert_int_equal(sim_stats(w.sim)->traps, 4);
	world_close(&w);
}

TEST(hosts_report_bad_m_keys_too)
{
	struct world w;

	open_with_traps(&w, 0);
	set_key(&w, H1, 42, 1, 0);
	assert_null(with_key(&w, H1, IBA_SET, 7));
	world_drain(&w);
	assert_int_equal(traps_heard(&w), 1);
	assert_int_equal(last_trap(&w)->slid, 3);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_info_and_description),
		cmocka_unit_test(unknown_attributes),
		cmocka_unit_test(linear_table),
		cmocka_unit_test(random_table),
		cmocka_unit_test(random_table_of_a_switch_without_one),
		cmocka_unit_test(multicast_table),
		cmocka_unit_test(partition_keys),
		cmocka_unit_test(guids),
		cmocka_unit_test(guid_of_an_unnamed_port),
		cmocka_unit_test(sl_to_vl_by_both_ports),
		cmocka_unit_test(vl_arbitration),
		cmocka_unit_test(short_vl_arbitration),
		cmocka_unit_test(test_switch_info),
		cmocka_unit_test(port_state_change_is_cleared_by_writing_one),
		cmocka_unit_test(port_info_values),
		cmocka_unit_test(enhanced_port_zero_has_lmc),
		cmocka_unit_test(port_info_accepts_settable_values),
		cmocka_unit_test(a_host_port_is_set_through_itself_alone),
		cmocka_unit_test(every_order_in_every_state),
		cmocka_unit_test(port_zero_is_always_active),
		cmocka_unit_test(links_set_port_state_change),
		cmocka_unit_test(training_takes_its_time),
		cmocka_unit_test(a_disabled_port_stays_disabled),
		cmocka_unit_test(power_off_resets_everything),
		cmocka_unit_test(m_key_levels),
		cmocka_unit_test(an_m_key_of_0_disables_the_check),
		cmocka_unit_test(test_m_key_lease),
		cmocka_unit_test(a_correct_key_stops_the_lease),
		cmocka_unit_test(a_lease_of_zero_never_ends),
		cmocka_unit_test(trap_128_until_repressed),
		cmocka_unit_test(trap_interval_is_the_subnet_timeout),
		cmocka_unit_test(an_old_repress_does_not_silence_a_new_event),
		cmocka_unit_test(test_trap_limit),
		cmocka_unit_test(trap_times_do_not_overflow),
		cmocka_unit_test(no_traps_unless_supported),
		cmocka_unit_test(a_trap_waits_for_an_sm),
		cmocka_unit_test(trap_256_names_the_intruder),
		cmocka_unit_test(hosts_report_bad_m_keys_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
