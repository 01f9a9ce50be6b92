/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire room by itself: every layout round trips, the two codecs agree, what other libraries do
 * not know is laid out here by hand, and MADs print as expected. Keeps no state. Whether the bit
 * positions are right is for test_codec_libibmad.c.
 */
#include "unit_test.h"

#include "base/rng.h"
#include "iba/iba.h"

enum { ROUNDS = 100, WIRE_MAX = 192 };

union host {
#define MEMBER(stem, FIELDS, size) struct iba_##stem stem;
	IBA_STRUCTS(MEMBER)
};

/* The straight-line codecs behind one signature. */
#define WRAP(stem, FIELDS, size)                                                                   \
	static int get_##stem(union host *h, const uint8_t *data, size_t len)                      \
	{                                                                                          \
		return iba_##stem##_get(&h->stem, data, len);                                      \
	}                                                                                          \
	static void put_##stem(const union host *h, uint8_t *data)                                 \
	{                                                                                          \
		iba_##stem##_put(&h->stem, data);                                                  \
	}
IBA_STRUCTS(WRAP)

static const struct codec {
	const char *stem;
	unsigned size;
	int (*get)(union host *h, const uint8_t *data, size_t len);
	void (*put)(const union host *h, uint8_t *data);
} codecs[] = {
#define CODEC(stem, FIELDS, size) {#stem, size, get_##stem, put_##stem},
	IBA_STRUCTS(CODEC)};

static void random_bytes(struct rng *r, void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)p)[i] = (uint8_t)rng_u64(r);
}

static void random_host(struct rng *r, const struct iba_layout *l, union host *h)
{
	memset(h, 0, sizeof(*h));
	for (unsigned i = 0; i < l->nfields; i++) {
		const struct iba_field *f = &l->fields[i];

		for (unsigned k = 0; k < f->count; k++) {
			uint64_t v = rng_u64(r) >> (64 - f->width);

			memcpy((uint8_t *)h + f->offset + (size_t)k * f->size, &v, f->size);
		}
	}
}

TEST(encoded_values_decode_to_the_same)
{
	struct rng r;

	rng_seed(&r, 1, 0);
	for (size_t c = 0; c < ARRAY_LEN(codecs); c++) {
		const struct iba_layout *l = iba_layout_by_name(codecs[c].stem);

		assert_non_null(l);
		assert_int_equal(l->wire_size, codecs[c].size);
		for (int i = 0; i < ROUNDS; i++) {
			uint8_t straight[WIRE_MAX], table[WIRE_MAX];
			union host in, out, out2;

			random_host(&r, l, &in);
			codecs[c].put(&in, straight);
			iba_layout_put(l, &in, table);
			assert_memory_equal(straight, table, l->wire_size);
			random_bytes(&r, &out, sizeof(out)); /* nothing may be left as it was */
			random_bytes(&r, &out2, sizeof(out2));
			assert_int_equal(codecs[c].get(&out, straight, l->wire_size), 0);
			assert_int_equal(iba_layout_get(l, &out2, straight, l->wire_size), 0);
			assert_null(iba_layout_diff(l, &in, &out));
			assert_null(iba_layout_diff(l, &in, &out2));
		}
	}
}

/* Random bytes lose only reserved bits, and lose them once. */
TEST(decode_and_encode_is_idempotent)
{
	struct rng r;

	rng_seed(&r, 2, 0);
	for (size_t c = 0; c < ARRAY_LEN(codecs); c++) {
		const struct iba_layout *l = iba_layout_by_name(codecs[c].stem);

		for (int i = 0; i < ROUNDS; i++) {
			uint8_t wire[WIRE_MAX], once[WIRE_MAX], twice[WIRE_MAX];
			union host h, again;

			random_bytes(&r, wire, sizeof(wire));
			codecs[c].get(&h, wire, l->wire_size);
			codecs[c].put(&h, once);
			for (unsigned k = 0; k < l->wire_size; k++)
				assert_int_equal(once[k] & ~wire[k], 0);
			codecs[c].get(&again, once, l->wire_size);
			assert_null(iba_layout_diff(l, &h, &again));
			codecs[c].put(&again, twice);
			assert_memory_equal(once, twice, l->wire_size);
		}
	}
}

TEST(values_are_truncated_to_their_field)
{
	struct iba_port_info all, cut;
	uint8_t wire[64];

	memset(&all, 0xff, sizeof(all));
	iba_port_info_put(&all, wire);
	iba_port_info_get(&cut, wire, sizeof(wire));
	assert_int_equal(cut.lmc, 7);
	assert_int_equal(cut.state, 15);
	assert_int_equal(cut.round_trip_latency, 0xffffff);
	assert_int_equal(cut.speed_ext_enabled, 31);
	assert_int_equal(wire[34], 0xc7); /* the three reserved bits stay zero */
}

TEST(fields_fit_and_do_not_overlap)
{
	for (size_t c = 0; c < ARRAY_LEN(codecs); c++) {
		const struct iba_layout *l = iba_layout_by_name(codecs[c].stem);
		const char *owner[WIRE_MAX * 8] = {0};

		for (unsigned i = 0; i < l->nfields; i++) {
			const struct iba_field *f = &l->fields[i];

			assert_in_range(f->width, 1, f->size * 8);
			assert_true(f->offset + f->count * f->size <= l->host_size);
			for (unsigned k = 0; k < f->count * f->width; k++) {
				unsigned bit = f->bit + k / f->width * f->stride + k % f->width;

				assert_true(bit < l->wire_size * 8u);
				if (owner[bit])
					fail_msg("%s: %s and %s share bit %u", l->name, owner[bit],
						 f->name, bit);
				owner[bit] = f->name;
			}
		}
	}
}

TEST(short_buffers_are_refused)
{
	for (size_t c = 0; c < ARRAY_LEN(codecs); c++) {
		const struct iba_layout *l = iba_layout_by_name(codecs[c].stem);
		union host h, before;

		memset(&h, 0xa5, sizeof(h));
		before = h;
		for (unsigned len = 0; len < l->wire_size; len++) {
			uint8_t *exact =
				mem_zalloc(len); /* a read beyond shows under a sanitizer */

			assert_int_equal(codecs[c].get(&h, exact, len), -EBADMSG);
			assert_int_equal(iba_layout_get(l, &h, exact, len), -EBADMSG);
			free(exact);
		}
		assert_memory_equal(&h, &before, sizeof(h));
	}
}

TEST(differences_are_reported_by_field_name)
{
	const struct iba_layout *l = iba_layout_by_name("pkey_table");
	struct iba_pkey_table a = {0}, b = {0};

	assert_null(iba_layout_diff(l, &a, &b));
	b.pkey[31] = 1;
	assert_string_equal(iba_layout_diff(l, &a, &b)->name, "pkey");
	assert_null(iba_layout_by_name("no_such"));
	assert_null(iba_layout_by_attr(0x0013));
	assert_ptr_equal(iba_layout_by_attr(IBA_ATTR_PORT_INFO), iba_layout_by_name("port_info"));
	assert_ptr_equal(iba_layout_of_trap(IBA_TRAP_BAD_QKEY), iba_layout_by_name("trap_pkey"));
	assert_null(iba_layout_of_trap(1));
}

/* ---- layouts that libibmad does not know, byte by byte ---- */

TEST(pkey_and_random_table_layouts)
{
	uint8_t wire[64] = {0xff, 0xff, 0x7f, 0xfe};
	struct iba_pkey_table keys;
	struct iba_rft rft;
	static const uint8_t row[4] = {0x12, 0x34, 0xb0, 0x05}; /* LID, valid + LMC 3, port */

	iba_pkey_table_get(&keys, wire, sizeof(wire));
	assert_int_equal(keys.pkey[0], 0xffff);
	assert_int_equal(keys.pkey[1], 0x7ffe);
	assert_int_equal(keys.pkey[2], 0);
	memset(wire, 0, sizeof(wire));
	memcpy(wire + 60, row, 4);
	iba_rft_get(&rft, wire, sizeof(wire));
	assert_int_equal(rft.lid[15], 0x1234);
	assert_int_equal(rft.valid[15], 1);
	assert_int_equal(rft.lmc[15], 3);
	assert_int_equal(rft.port[15], 5);
	assert_int_equal(rft.valid[14], 0);
}

/* Details 00 01 02 ...: a field's value tells where it was read. */
TEST(trap_detail_layouts)
{
	struct iba_trap_gid gid;
	struct iba_trap_port port;
	struct iba_trap_cap cap;
	struct iba_trap_sysguid sys;
	struct iba_trap_mkey mkey;
	struct iba_trap_pkey pkey;
	struct iba_trap_swpkey sw;
	uint8_t d[54];

	for (unsigned i = 0; i < sizeof(d); i++)
		d[i] = (uint8_t)i;
	iba_trap_gid_get(&gid, d, sizeof(d));
	assert_true(gid.gid_prefix == 0x060708090a0b0c0d && gid.gid_guid == 0x0e0f101112131415);
	iba_trap_port_get(&port, d, sizeof(d));
	assert_true(port.lid == 0x0203 && port.port == 0x04);
	iba_trap_cap_get(&cap, d, sizeof(d));
	assert_true(cap.lid == 0x0203 && cap.cap_mask == 0x06070809 && cap.local_changes == 0x0a0b);
	iba_trap_sysguid_get(&sys, d, sizeof(d));
	assert_true(sys.lid == 0x0203 && sys.sys_guid == 0x060708090a0b0c0d);
	iba_trap_mkey_get(&mkey, d, sizeof(d));
	assert_true(mkey.lid == 0x0203 && mkey.dr_slid == 0x0405 && mkey.method == 6);
	assert_true(mkey.attr_id == 0x0809 && mkey.attr_mod == 0x0a0b0c0d);
	assert_true(mkey.m_key == 0x0e0f101112131415);
	assert_true(mkey.dr_notice == 0 && mkey.dr_path_truncated == 0 && mkey.dr_hop_count == 23);
	assert_true(mkey.dr_return_path[0] == 24 && mkey.dr_return_path[29] == 53);
	iba_trap_pkey_get(&pkey, d, sizeof(d));
	assert_true(pkey.lid1 == 0x0203 && pkey.lid2 == 0x0405 && pkey.key == 0x06070809);
	assert_true(pkey.sl == 0 && pkey.qp1 == 0x0b0c0d && pkey.qp2 == 0x0f1011);
	assert_true(pkey.gid1_prefix == 0x1213141516171819 && pkey.gid2_guid == 0x2a2b2c2d2e2f3031);
	iba_trap_swpkey_get(&sw, d, sizeof(d));
	assert_true(sw.data_valid == 0x0001 && sw.lid1 == 0x0203 && sw.lid2 == 0x0405);
	assert_true(sw.pkey == 0x0607 && sw.sl == 0 && sw.qp1 == 0x090a0b && sw.qp2 == 0x0d0e0f);
	assert_true(sw.gid1_prefix == 0x1011121314151617 && sw.gid2_guid == 0x28292a2b2c2d2e2f);
	assert_true(sw.switch_lid == 0x3031 && sw.switch_port == 0x32);
}

/* ---- numbers and words ---- */

TEST(codes_of_times_and_sizes)
{
	assert_true(iba_time_from_exp(0) == 4096 * PS_PER_NS);
	assert_true(iba_time_from_exp(1) == 8192 * PS_PER_NS);
	assert_true(iba_time_from_exp(18) == 4096ull * PS_PER_NS * 262144);
	assert_true(iba_time_from_exp(31) == iba_time_from_exp(99)); /* the field has 5 bits */
	for (unsigned e = 0; e <= 31; e++) {
		time_ps t = iba_time_from_exp(e);

		assert_int_equal(iba_time_to_exp(t), e);
		assert_int_equal(iba_time_to_exp(t - 1), e);
		assert_int_equal(iba_time_to_exp(t + 1), MIN(e + 1, 31u));
	}
	assert_int_equal(iba_time_to_exp(0), 0);
	assert_int_equal(iba_time_to_exp(TIME_NEVER), 31);
	assert_int_equal(iba_mtu_bytes(1), 256);
	assert_int_equal(iba_mtu_bytes(5), 4096);
	assert_int_equal(iba_mtu_bytes(0), 0);
	assert_int_equal(iba_mtu_bytes(6), 0);
	assert_int_equal(iba_vl_count(1), 1);
	assert_int_equal(iba_vl_count(4), 8);
	assert_int_equal(iba_vl_count(5), 15);
	assert_int_equal(iba_vl_count(0), 0);
	assert_int_equal(iba_vl_count(6), 0);
}

TEST(codes_have_names)
{
	assert_string_equal(iba_class_name(IBA_CLASS_SUBN_DR), "SubnDirectedRoute");
	assert_string_equal(iba_method_name(IBA_TRAP_REPRESS), "SubnTrapRepress");
	assert_string_equal(iba_attr_name(IBA_ATTR_LFT), "LinearForwardingTable");
	assert_string_equal(iba_node_type_name(IBA_NODE_SWITCH), "Switch");
	assert_string_equal(iba_port_state_name(IBA_PORT_ACTIVE), "Active");
	assert_string_equal(iba_trap_name(IBA_TRAP_LINK_STATE), "LinkStateChange");
	assert_string_equal(iba_trap_name(9999), "?");
	assert_null(iba_format_word(IBA_FMT_DEC, 4));
	assert_null(iba_format_word(IBA_FMT_TEXT, 4));
	assert_string_equal(iba_format_word(IBA_FMT_MTU, 4), "2048 bytes");
	assert_string_equal(iba_format_word(IBA_FMT_PHYS_STATE, IBA_PHYS_LINK_UP), "LinkUp");
	assert_string_equal(iba_format_word(IBA_FMT_SM_STATE, IBA_SM_MASTER), "Master");
	assert_string_equal(iba_format_word(IBA_FMT_SPEED_EXT, 2), "EDR 25.78125 Gb/s");
	/* A value wider than the table's must not alias into it. */
	assert_string_equal(iba_format_word(IBA_FMT_MTU, 0x100000004), "?");
	for (unsigned id = 0; id <= 0xffff; id++)
		if (iba_layout_by_attr((uint16_t)id))
			assert_string_not_equal(iba_attr_name(id), "?");
	for (unsigned trap = 0; trap <= 0xffff; trap++)
		if (iba_layout_of_trap((uint16_t)trap))
			assert_string_not_equal(iba_trap_name(trap), "?");
}

/* ---- printing ---- */

static void expect_print(const uint8_t *mad, const char *summary, const char *text)
{
	struct strbuf b = {0};

	iba_mad_summary(&b, mad);
	assert_string_equal(b.s, summary);
	strbuf_free(&b);
	iba_mad_print(&b, mad);
	assert_string_equal(b.s, text);
	strbuf_free(&b);
}

/* Only what comes after the two headers. */
static void expect_attribute(const uint8_t *mad, const char *text)
{
	struct strbuf b = {0};
	const char *p;

	iba_mad_print(&b, mad);
	p = strstr(b.s, iba_smp_is_dr(mad) ? "  return_path" : "  m_key");
	assert_non_null(p);
	assert_string_equal(strchr(p, '\n') + 1, text);
	strbuf_free(&b);
}

TEST(prints_a_directed_request)
{
	static const struct iba_node_info ni = {
		.base_version = 1,
		.class_version = 1,
		.node_type = IBA_NODE_SWITCH,
		.num_ports = 36,
		.sys_guid = 0x2c9030000000100,
		.node_guid = 0x2c9030000000100,
		.port_guid = 0x2c9030000000101,
		.partition_cap = 8,
		.device_id = 0xbd36,
		.revision = 1,
		.local_port = 7,
		.vendor_id = 0x2c9,
	};
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0);
	iba_smp_set_tid(mad, 0x1234);
	iba_smp_set_status(mad, IBA_STATUS_DR_RETURN | IBA_STATUS_BAD_METHOD_ATTR);
	iba_smp_set_hop_ptr(mad, 2);
	iba_smp_set_hop_cnt(mad, 3);
	iba_smp_set_dr_slid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(mad, IBA_LID_PERMISSIVE);
	memcpy(iba_smp_initial_path(mad) + 1, (uint8_t[]){1, 20, 3, 99}, 4);
	memcpy(iba_smp_return_path(mad) + 1, (uint8_t[]){4, 5, 6, 99}, 4);
	iba_node_info_put(&ni, iba_smp_data(mad));
	expect_print(mad,
		     "SubnGetResp(NodeInfo) mod 0 tid 0x1234 status 0x000c DR (1,20,3) hop 2/3 "
		     "returning",
		     "MAD header\n"
		     "  base_version            1\n"
		     "  mgmt_class              0x81 (SubnDirectedRoute)\n"
		     "  class_version           1\n"
		     "  method                  0x81 (SubnGetResp)\n"
		     "  status                  0x000c (method and attribute combination not "
		     "supported)\n"
		     "  direction               1 (returning)\n"
		     "  hop_ptr                 2\n"
		     "  hop_cnt                 3\n"
		     "  tid                     0x0000000000001234\n"
		     "  attr_id                 0x0011 (NodeInfo)\n"
		     "  attr_mod                0x00000000\n"
		     "SMP header\n"
		     "  m_key                   0x0000000000000000\n"
		     "  dr_slid                 0xffff\n"
		     "  dr_dlid                 0xffff\n"
		     "  initial_path            1,20,3\n"
		     "  return_path             4,5,6\n"
		     "NodeInfo\n"
		     "  base_version            1\n"
		     "  class_version           1\n"
		     "  node_type               2 (Switch)\n"
		     "  num_ports               36\n"
		     "  sys_guid                0x02c9030000000100\n"
		     "  node_guid               0x02c9030000000100\n"
		     "  port_guid               0x02c9030000000101\n"
		     "  partition_cap           8\n"
		     "  device_id               0xbd36\n"
		     "  revision                0x00000001\n"
		     "  local_port              7\n"
		     "  vendor_id               0x0002c9\n");
}

TEST(prints_a_trap_with_its_details)
{
	struct iba_notice n = {.is_generic = 1,
			       .type = IBA_NOTICE_URGENT,
			       .producer_type = IBA_NODE_SWITCH,
			       .trap_number = IBA_TRAP_LINK_STATE,
			       .issuer_lid = 6,
			       .toggle = 1,
			       .count = 3,
			       .details = {0, 6}};
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
	iba_smp_set_tid(mad, 0xa1);
	iba_smp_set_m_key(mad, 0x55);
	iba_notice_put(&n, iba_smp_data(mad));
	expect_print(mad, "SubnTrap(Notice) mod 0 tid 0xa1 trap 128 LinkStateChange",
		     "MAD header\n"
		     "  base_version            1\n"
		     "  mgmt_class              0x01 (SubnLidRouted)\n"
		     "  class_version           1\n"
		     "  method                  0x05 (SubnTrap)\n"
		     "  status                  0x0000 (ok)\n"
		     "  class_specific          0x0000\n"
		     "  tid                     0x00000000000000a1\n"
		     "  attr_id                 0x0002 (Notice)\n"
		     "  attr_mod                0x00000000\n"
		     "SMP header\n"
		     "  m_key                   0x0000000000000055\n"
		     "Notice\n"
		     "  is_generic              1\n"
		     "  type                    1 (Urgent)\n"
		     "  producer_type           2\n"
		     "  trap_number             128\n"
		     "  issuer_lid              6\n"
		     "  toggle                  1\n"
		     "  count                   3\n"
		     "Trap 128 (LinkStateChange)\n"
		     "  lid                     6\n");
	n.is_generic = 0; /* a vendor's trap 128 is something else */
	iba_notice_put(&n, iba_smp_data(mad));
	expect_attribute(mad, "Notice\n"
			      "  is_generic              0\n"
			      "  type                    1 (Urgent)\n"
			      "  producer_type           2\n"
			      "  trap_number             128\n"
			      "  issuer_lid              6\n"
			      "  toggle                  1\n"
			      "  count                   3\n"
			      "Details of vendor trap 128\n"
			      "  004a: 00 06 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
			      "  005a: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
			      "  006a: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
			      "  007a: 00 00 00 00 00 00\n");
}

TEST(prints_descriptions_escaped)
{
	uint8_t mad[IBA_MAD_SIZE];

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET_RESP, IBA_ATTR_NODE_DESC, 0);
	expect_attribute(mad, "NodeDescription\n  text                    \"\"\n");
	memcpy(iba_smp_data(mad), "leaf \"1\"\\\n\x1b[2J\xff\0z", 18);
	expect_attribute(mad, "NodeDescription\n  text                    "
			      "\"leaf \\\"1\\\"\\\\\\x0a\\x1b[2J\\xff\\x00z\"\n");
	memset(iba_smp_data(mad), 'x', 64); /* no NUL at all */
	expect_attribute(mad, "NodeDescription\n  text                    \"xxxxxxxxxxxxxxxx"
			      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"\n");
}

TEST(prints_forwarding_tables_by_lid)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct iba_mft mft = {.mask = {[1] = 0x8003, [31] = 0x0001}};
	struct iba_rft rft = {
		.lid = {[2] = 77}, .valid = {[2] = 1}, .lmc = {[2] = 2}, .port = {[2] = 9}};

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_LFT, 2);
	for (unsigned i = 0; i < 64; i++)
		iba_smp_data(mad)[i] = i < 60 ? (uint8_t)(i % 9) : IBA_PORT_NONE;
	expect_attribute(mad, "LinearForwardingTable\n"
			      "  block 2, LIDs 128 to 191; port of each, 255: none\n"
			      "  lid 128   ->   0   1   2   3   4   5   6   7\n"
			      "  lid 136   ->   8   0   1   2   3   4   5   6\n"
			      "  lid 144   ->   7   8   0   1   2   3   4   5\n"
			      "  lid 152   ->   6   7   8   0   1   2   3   4\n"
			      "  lid 160   ->   5   6   7   8   0   1   2   3\n"
			      "  lid 168   ->   4   5   6   7   8   0   1   2\n"
			      "  lid 176   ->   3   4   5   6   7   8   0   1\n"
			      "  lid 184   ->   2   3   4   5 255 255 255 255\n");

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_MFT, 0x20000001);
	expect_attribute(mad, "MulticastForwardingTable\n"
			      "  block 1, ports 32 to 47; LIDs with ports only\n"
			      "  no LID has a port\n");
	iba_mft_put(&mft, iba_smp_data(mad));
	expect_attribute(mad, "MulticastForwardingTable\n"
			      "  block 1, ports 32 to 47; LIDs with ports only\n"
			      "  mlid 0xc021 -> 32,33,47\n"
			      "  mlid 0xc03f -> 32\n");

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_RFT, 1);
	iba_rft_put(&rft, iba_smp_data(mad));
	expect_attribute(mad, "RandomForwardingTable\n"
			      "  block 1, valid entries only\n"
			      "  entry 18   lid 77 lmc 2 -> port 9\n");
}

TEST(prints_small_tables_compactly)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct iba_pkey_table keys = {.pkey = {0xffff, 0x7001}};
	struct iba_slvl_table slvl = {.vl = {0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 15}};
	struct iba_vlarb_table arb = {.vl = {0, 1, [31] = 14}, .weight = {255, 4, [31] = 64}};
	struct iba_guid_info gi = {.guid = {[0] = 0x10, [7] = 0x17}};

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET_RESP, IBA_ATTR_PKEY_TABLE, 0x50001);
	iba_pkey_table_put(&keys, iba_smp_data(mad));
	expect_attribute(mad,
			 "P_KeyTable\n"
			 "  block 1, port 5\n"
			 "  pkey 32     0xffff 0x7001 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
			 "  pkey 40     0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
			 "  pkey 48     0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
			 "  pkey 56     0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n");

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET_RESP, IBA_ATTR_SLVL_TABLE, 0x0203);
	iba_slvl_table_put(&slvl, iba_smp_data(mad));
	expect_attribute(mad, "SLtoVLMappingTable\n"
			      "  in port 2, out port 3\n"
			      "  sl  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15\n"
			      "  vl  0  1  2  3  4  5  6  7  0  0  0  0  0  0  0 15\n");

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET_RESP, IBA_ATTR_VLARB_TABLE, 0x30004);
	iba_vlarb_table_put(&arb, iba_smp_data(mad));
	expect_attribute(mad, "VLArbitrationTable\n"
			      "  block 3 (high priority, entries 0-31), port 4; each VL:weight\n"
			      "   0:255  1:4    0:0    0:0    0:0    0:0    0:0    0:0\n"
			      "   0:0    0:0    0:0    0:0    0:0    0:0    0:0    0:0\n"
			      "   0:0    0:0    0:0    0:0    0:0    0:0    0:0    0:0\n"
			      "   0:0    0:0    0:0    0:0    0:0    0:0    0:0   14:64\n");

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET_RESP, IBA_ATTR_GUID_INFO, 1);
	iba_guid_info_put(&gi, iba_smp_data(mad));
	expect_attribute(mad, "GUIDInfo\n"
			      "  block 1\n"
			      "  guid 8    0x0000000000000010\n"
			      "  guid 9    0x0000000000000000\n"
			      "  guid 10   0x0000000000000000\n"
			      "  guid 11   0x0000000000000000\n"
			      "  guid 12   0x0000000000000000\n"
			      "  guid 13   0x0000000000000000\n"
			      "  guid 14   0x0000000000000000\n"
			      "  guid 15   0x0000000000000017\n");
}

/* Strange MADs: no words are invented, no byte beyond the paths is read. */
TEST(prints_unknown_attributes_as_bytes)
{
	struct strbuf b = {0};
	uint8_t *mad = mem_zalloc(IBA_MAD_SIZE);

	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET, 0x1234, 0x70000);
	iba_smp_set_method(mad, 0x44);
	iba_smp_set_hop_cnt(mad, 200);
	memset(mad + 128, 1, 128);
	iba_mad_summary(&b, mad);
	assert_string_equal(b.s,
			    "SubnMethod 0x44(0x1234) mod 0x70000 tid 0x0 DR (1,1,1,1,1,1,1,1,1,"
			    "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
			    "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1) hop 0/200");
	strbuf_free(&b);
	iba_mad_print(&b, mad);
	assert_non_null(strstr(b.s, "  hop_cnt                 200 (more than the 63 allowed)\n"));
	assert_non_null(strstr(b.s, "  method                  0x44\n"));
	assert_non_null(strstr(b.s, "Attribute 0x1234\n  0040: 00 00 "));
	strbuf_free(&b);

	iba_smp_set_hop_cnt(mad, 0);
	iba_smp_set_attr_id(mad, IBA_ATTR_SM_INFO);
	iba_mad_print(&b, mad);
	assert_non_null(strstr(b.s, "  initial_path            (no hops)\n"));
	strbuf_free(&b);

	/* Another class's attribute 0x15 is no PortInfo, and its method 1 no SubnGet. */
	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET, IBA_ATTR_PORT_INFO, 0);
	iba_smp_set_mgmt_class(mad, 0x03);
	iba_mad_summary(&b, mad);
	assert_string_equal(b.s, "class 0x03 method 0x01 attribute 0x0015 mod 0 tid 0x0");
	strbuf_free(&b);
	iba_mad_print(&b, mad);
	assert_null(strstr(b.s, "PortInfo"));
	assert_null(strstr(b.s, "SubnGet"));
	assert_non_null(strstr(b.s, "  mgmt_class              0x03 (SubnAdm)\n"));
	assert_non_null(strstr(b.s, "Data\n  0018: 00 00 "));
	strbuf_free(&b);
	free(mad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoded_values_decode_to_the_same),
		cmocka_unit_test(decode_and_encode_is_idempotent),
		cmocka_unit_test(values_are_truncated_to_their_field),
		cmocka_unit_test(fields_fit_and_do_not_overlap),
		cmocka_unit_test(short_buffers_are_refused),
		cmocka_unit_test(differences_are_reported_by_field_name),
		cmocka_unit_test(pkey_and_random_table_layouts),
		cmocka_unit_test(trap_detail_layouts),
		cmocka_unit_test(codes_of_times_and_sizes),
		cmocka_unit_test(codes_have_names),
		cmocka_unit_test(prints_a_directed_request),
		cmocka_unit_test(prints_a_trap_with_its_details),
		cmocka_unit_test(prints_descriptions_escaped),
		cmocka_unit_test(prints_forwarding_tables_by_lid),
		cmocka_unit_test(prints_small_tables_compactly),
		cmocka_unit_test(prints_unknown_attributes_as_bytes),
	};

	return cmocka_run_group_tests_name("iba", tests, NULL, NULL);
}
