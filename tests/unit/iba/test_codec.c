/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoding and encoding: each layout round trips, both codecs agree, and layouts that libibmad does not know are
 * checked byte by byte. Keeps no state. Does not check the bit positions of the others: test_codec_libibmad.c
 * does.
 * Covers: codec.c, words.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "iba/iba.h"

enum { ROUNDS = 100, WIRE_MAX = 192 };

union host {
#define MEMBER(stem, FIELDS, size, ...) struct iba_##stem stem;
	IBA_STRUCTS(MEMBER)
};

/* The straight-line codecs behind one signature. */
#define WRAP(stem, FIELDS, size, ...)                                                              \
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
#define CODEC(stem, FIELDS, size, ...) {#stem, size, get_##stem, put_##stem},
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

/* Bytes 00 01 02 ... */
TEST(vf_info_layout)
{
	struct iba_vf_info v;
	uint8_t d[64];

	for (unsigned i = 0; i < sizeof(d); i++)
		d[i] = (uint8_t)i;
	iba_vf_info_get(&v, d, sizeof(d));
	assert_true(v.vfs == 0 && v.count == 1 && v.lid[0] == 0x0405 && v.lid[5] == 0x0e0f);
	assert_true(v.guid[0] == 0x1011121314151617 && v.guid[5] == 0x38393a3b3c3d3e3f);
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
		cmocka_unit_test(vf_info_layout),
		cmocka_unit_test(trap_detail_layouts),
		cmocka_unit_test(codes_of_times_and_sizes),
		cmocka_unit_test(codes_have_names),
	};

	return cmocka_run_group_tests_name("iba", tests, NULL, NULL);
}
