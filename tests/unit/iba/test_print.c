/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs as text. Keeps no state. Does not decode dumps: test_cmd_mad.c does.
 *
 * Covers: print.c, words.c
 */
#include "unit_test.h"

#include "iba/iba.h"

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

TEST(prints_functions_by_slot)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct iba_vf_info v = {
		.vfs = 16, .count = 2, .lid = {300, 0, 7}, .guid = {0x1122, 0x3344, 0x55}};

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET_RESP, IBA_ATTR_VF_INFO, 15);
	iba_vf_info_put(&v, iba_smp_data(mad));
	expect_attribute(mad, "VFInfo\n"
			      "  16 VFs, 2 from slot 15 on\n"
			      "  slot 15     lid 300   guid 0x0000000000001122\n"
			      "  slot 16     lid 0     guid 0x0000000000003344 (detached)\n");
	v.count = 255; /* nothing beyond the six is read */
	iba_vf_info_put(&v, iba_smp_data(mad));
	iba_smp_set_attr_mod(mad, UINT32_MAX);
	expect_attribute(mad, "VFInfo\n"
			      "  16 VFs, 255 from slot 4294967295 on\n"
			      "  slot 4294967295 lid 300   guid 0x0000000000001122\n"
			      "  slot 4294967296 lid 0     guid 0x0000000000003344 (detached)\n"
			      "  slot 4294967297 lid 7     guid 0x0000000000000055\n"
			      "  slot 4294967298 lid 0     guid 0x0000000000000000 (detached)\n"
			      "  slot 4294967299 lid 0     guid 0x0000000000000000 (detached)\n"
			      "  slot 4294967300 lid 0     guid 0x0000000000000000 (detached)\n");
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
	iba_smp_set_mgmt_class(mad, 0x05);
	iba_mad_summary(&b, mad);
	assert_string_equal(b.s, "class 0x05 method 0x01 attribute 0x0015 mod 0 tid 0x0");
	strbuf_free(&b);
	iba_mad_print(&b, mad);
	assert_null(strstr(b.s, "PortInfo"));
	assert_null(strstr(b.s, "SubnGet"));
	assert_non_null(strstr(b.s, "  mgmt_class              0x05 (BoardMgt)\n"));
	assert_non_null(strstr(b.s, "Data\n  0018: 00 00 "));
	strbuf_free(&b);
	free(mad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_a_directed_request),
		cmocka_unit_test(prints_a_trap_with_its_details),
		cmocka_unit_test(prints_descriptions_escaped),
		cmocka_unit_test(prints_forwarding_tables_by_lid),
		cmocka_unit_test(prints_small_tables_compactly),
		cmocka_unit_test(prints_functions_by_slot),
		cmocka_unit_test(prints_unknown_attributes_as_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
