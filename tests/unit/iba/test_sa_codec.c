/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of subnet administration: components have the numbers of IBA's tables, records the sizes that others send, what is
 * put is got again, and a component mask compares what it names.
 */
#include "unit_test.h"

#include "base/rng.h"
#include "iba/sa_wire.h"

static const uint16_t all[] = {
#define EACH(stem, FIELDS, ID, ...) IBA_SA_##ID,
	IBA_SA_RECORDS(EACH)};

/* Numbers as other programs have them (IBA 15.2.5): a reserved component that is left out would shift all that follow. */
TEST(components_have_the_numbers_of_iba)
{
	assert_int_equal(IBA_SA_BIT(path, dgid), 1ull << 2);
	assert_int_equal(IBA_SA_BIT(path, slid), 1ull << 5);
	assert_int_equal(IBA_SA_BIT(path, num_paths), 1ull << 12);
	assert_int_equal(IBA_SA_BIT(path, sl), 1ull << 15);
	assert_int_equal(IBA_SA_BIT(path, life), 1ull << 21);
	assert_int_equal(IBA_SA_BIT(node, port_guid), 1ull << 8);
	assert_int_equal(IBA_SA_BIT(node, desc), 1ull << 14);
	assert_int_equal(IBA_SA_BIT(port, lmc), 1ull << 20);
	assert_int_equal(IBA_SA_BIT(port, client_reregister), 1ull << 43);
	assert_int_equal(IBA_SA_BIT(port, subnet_timeout), 1ull << 45);
	assert_int_equal(IBA_SA_BIT(port, resp_time), 1ull << 47);
	assert_int_equal(IBA_SA_BIT(port, speed_ext_enabled), 1ull << 57);
	assert_int_equal(IBA_SA_BIT(member, pkey), 1ull << 7);
	assert_int_equal(IBA_SA_BIT(member, sl), 1ull << 12);
	assert_int_equal(IBA_SA_BIT(member, join_state), 1ull << 16);
	assert_int_equal(IBA_SA_BIT(member, proxy_join), 1ull << 17);
	assert_int_equal(IBA_SA_BIT(service, lease), 1ull << 4);
	assert_int_equal(IBA_SA_BIT(service, name), 1ull << 6);
	assert_int_equal(IBA_SA_BIT(service, data16_0), 1ull << 23);
	assert_int_equal(IBA_SA_BIT(service, data64_1), 1ull << 36);
	assert_int_equal(IBA_SA_BIT(multipath, service_id_high), 1ull << 16);
	assert_int_equal(IBA_SA_BIT(multipath, dgid_count), 1ull << 20);
	assert_int_equal(IBA_SA_BIT(multipath, service_id_low), 1ull << 21);
	assert_int_equal(IBA_SA_BIT(inform_record, trap_number), 1ull << 10);
	assert_int_equal(IBA_SA_BIT(inform_record, producer_type), 1ull << 15);
	assert_int_equal(IBA_SA_BIT(guid, guid7), 1ull << 11);
	assert_int_equal(IBA_SA_BIT(sm, state), 1ull << 6);
	assert_int_equal(IBA_SA_BIT(mft, block), 1ull << 3);
	assert_int_equal(IBA_SA_BIT(pkey, port), 1ull << 2);
	assert_int_equal(IBA_SA_BIT(vlarb, block), 1ull << 2);
	assert_int_equal(IBA_SA_BIT(link, to_lid), 1ull << 3);
}

TEST(records_have_the_sizes_of_iba)
{
	static const struct {
		uint16_t id, wire;
	} rows[] = {{IBA_SA_INFORM, 36},      {IBA_SA_NODE, 108},	 {IBA_SA_PORT, 68},
		    {IBA_SA_SLVL, 16},	      {IBA_SA_SWITCH, 24},	 {IBA_SA_LFT, 72},
		    {IBA_SA_RFT, 72},	      {IBA_SA_MFT, 72},		 {IBA_SA_SM, 25},
		    {IBA_SA_LINK, 6},	      {IBA_SA_GUID, 72},	 {IBA_SA_SERVICE, 176},
		    {IBA_SA_PKEY, 72},	      {IBA_SA_PATH, 64},	 {IBA_SA_VLARB, 72},
		    {IBA_SA_MEMBER, 52},      {IBA_SA_TRACE, 48},	 {IBA_SA_MULTIPATH, 24},
		    {IBA_SA_ASSOCIATION, 80}, {IBA_SA_INFORM_RECORD, 60}};

	assert_int_equal(ARRAY_LEN(rows), ARRAY_LEN(all));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct iba_sa_layout *l = iba_sa_layout(rows[i].id);

		assert_int_equal(l->wire_size, rows[i].wire);
		assert_int_equal(l->table_size % 8, 0);
		assert_in_range(l->table_size, l->wire_size, l->wire_size + 7);
	}
	assert_null(iba_sa_layout(0x0099));
}

/* A record that carries an attribute has its fields where the attribute has them. */
TEST(records_carry_attributes_as_they_are)
{
	uint8_t data[256] = {0};
	struct iba_port_info pi;
	struct iba_node_info ni;
	struct iba_switch_info si;
	struct iba_sa_port p;
	struct iba_sa_node n;
	struct iba_sa_switch s;
	struct rng rng;

	rng_seed(&rng, 7, 0);
	for (unsigned round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)rng_u64(&rng);
		assert_int_equal(iba_sa_port_get(&p, data, 72), 0);
		assert_int_equal(iba_port_info_get(&pi, data + 4, 64), 0);
		assert_int_equal(p.lmc, pi.lmc);
		assert_int_equal(p.base_lid, pi.lid);
		assert_int_equal(p.subnet_timeout, pi.subnet_timeout);
		assert_int_equal(p.cap_mask2, pi.cap_mask2);
		assert_int_equal(p.speed_ext_enabled, pi.speed_ext_enabled);
		assert_int_equal(iba_sa_node_get(&n, data, 108), 0);
		iba_node_info_get(&ni, data + 4, 64);
		assert_int_equal(n.port_guid, ni.port_guid);
		assert_int_equal(n.vendor_id, ni.vendor_id);
		assert_memory_equal(n.desc, data + 44, 64);
		assert_int_equal(iba_sa_switch_get(&s, data, 24), 0);
		iba_switch_info_get(&si, data + 4, 64);
		assert_int_equal(s.life_time, si.life_time);
		assert_int_equal(s.enhanced_port0, si.enhanced_port0);
		assert_int_equal(s.mcast_top, si.mcast_top);
	}
}

/* Each component has its place: what one holds, the others do not. */
TEST(components_do_not_overlap)
{
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct iba_sa_layout *l = iba_sa_layout(all[i]);
		unsigned at = 0;

		for (unsigned c = 0; c < l->ncomponents; c++) {
			assert_int_equal(l->components[c].bit, at);
			at += l->components[c].width;
			assert_int_equal(iba_sa_component(l, l->components[c].name), (int)c);
		}
		assert_int_equal((at + 7) / 8, l->wire_size);
	}
}

TEST(what_is_put_is_got_again)
{
	struct iba_sa_path p = {.dgid = {0xfe, 0x80, 1},
				.dlid = 12,
				.slid = 0xbfff,
				.flow_label = 0xabcde,
				.num_paths = 127,
				.pkey = 0xffff,
				.qos_class = 0xabc,
				.sl = 9,
				.mtu_selector = 2,
				.mtu = 5,
				.rate = 16,
				.life = 18},
			   q;
	struct iba_sa_member m = {.mgid = {0xff, 0x12},
				  .mlid = 0xc000,
				  .sl = 3,
				  .flow_label = 0xfffff,
				  .scope = 2,
				  .join_state = 1,
				  .proxy_join = 1},
			     k;
	uint8_t data[64], again[64];

	iba_sa_path_put(&p, data);
	assert_int_equal(iba_sa_path_get(&q, data, 64), 0);
	iba_sa_path_put(&q, again);
	assert_memory_equal(data, again, 64);
	assert_int_equal(q.flow_label, 0xabcde);
	assert_int_equal(q.qos_class, 0xabc);
	assert_int_equal(q.life, 18);
	assert_int_equal(iba_sa_path_get(&q, data, 63), -EBADMSG);
	iba_sa_member_put(&m, data);
	assert_int_equal(iba_sa_member_get(&k, data, 52), 0);
	assert_int_equal(k.flow_label, 0xfffff);
	assert_int_equal(k.proxy_join, 1);
	assert_int_equal(k.mlid, 0xc000);
}

static void flip(uint8_t *data, unsigned bit)
{
	data[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

/* For each bit of each record: it counts exactly when its component is in the mask. */
TEST(a_mask_compares_what_it_names)
{
	struct rng rng;

	rng_seed(&rng, 11, 0);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct iba_sa_layout *l = iba_sa_layout(all[i]);
		uint8_t a[256], b[256];

		for (size_t k = 0; k < sizeof(a); k++)
			a[k] = b[k] = (uint8_t)rng_u64(&rng);
		assert_true(iba_sa_match(l, UINT64_MAX, 0, a, b));
		for (unsigned c = 0; c < l->ncomponents; c++) {
			const struct iba_sa_component *x = &l->components[c];
			unsigned bit = x->bit + rng_below(&rng, x->width);

			flip(b, bit);
			assert_int_equal(iba_sa_match(l, 1ull << c, 0, a, b), x->reserved);
			assert_true(iba_sa_match(l, ~(1ull << c), 0, a, b));
			assert_true(iba_sa_match(l, UINT64_MAX, 1ull << c, a, b));
			flip(b, bit);
		}
	}
}

TEST(selectors)
{
	assert_true(iba_sa_selected(IBA_SA_GREATER, 3, 4));
	assert_false(iba_sa_selected(IBA_SA_GREATER, 3, 3));
	assert_true(iba_sa_selected(IBA_SA_LESS, 3, 2));
	assert_false(iba_sa_selected(IBA_SA_LESS, 3, 3));
	assert_true(iba_sa_selected(IBA_SA_EXACTLY, 3, 3));
	assert_false(iba_sa_selected(IBA_SA_EXACTLY, 3, 4));
	assert_true(iba_sa_selected(IBA_SA_LARGEST, 3, 1));
}

TEST(the_header_of_a_mad)
{
	struct iba_sa_hdr h = {.sm_key = 0x1122334455667788, .offset = 14, .mask = 1ull << 57 | 3},
			  g;
	uint8_t mad[IBA_MAD_SIZE] = {0};

	iba_sa_hdr_put(&h, mad);
	assert_int_equal(mad[36], 0x11);
	assert_int_equal(mad[45], 14);
	assert_int_equal(mad[55], 3);
	iba_sa_hdr_get(&g, mad);
	assert_int_equal(g.sm_key, h.sm_key);
	assert_int_equal(g.offset, 14);
	assert_int_equal(g.mask, h.mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(components_have_the_numbers_of_iba),
		cmocka_unit_test(records_have_the_sizes_of_iba),
		cmocka_unit_test(records_carry_attributes_as_they_are),
		cmocka_unit_test(components_do_not_overlap),
		cmocka_unit_test(what_is_put_is_got_again),
		cmocka_unit_test(a_mask_compares_what_it_names),
		cmocka_unit_test(selectors),
		cmocka_unit_test(the_header_of_a_mad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
