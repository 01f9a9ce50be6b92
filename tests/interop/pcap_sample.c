/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a small capture for Wireshark's eyes: pcap_sample FILE. Packets of every kind the
 * simulation sends, with a different number in every field. Checks nothing; tshark.sh beside it
 * does.
 */
#include "iba/iba.h"
#include "sim/plane/pcap.h"

enum { HOST_PORT, SWITCH_PORT }; /* interfaces */

static const struct pcap_headers rc = {
	.vl = 2,
	.sl = 5,
	.slid = 0x11,
	.dlid = 0x22,
	.pkey = 0xffff,
	.opcode = 0x04,
	.dest_qp = 0x123456,
	.psn = 0xabcdef,
};
static const struct pcap_headers ud = {
	.vl = 1,
	.sl = 3,
	.slid = 0x33,
	.dlid = 0xc001,
	.pkey = 0x8001,
	.opcode = 0x64,
	.dest_qp = 0xffffff,
	.src_qp = 0x654321,
	.psn = 7,
	.qkey = 0x0badcafe,
};
static const struct pcap_headers qp0 = {
	.vl = 15,
	.slid = IBA_LID_PERMISSIVE,
	.dlid = IBA_LID_PERMISSIVE,
	.pkey = 0xffff,
	.opcode = 0x64,
};

/* The request as its target finds it: two hops out by ports 1 and 3. */
static void node_info_request(uint8_t mad[IBA_MAD_SIZE])
{
	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_NODE_INFO, 0);
	iba_smp_set_tid(mad, 0x1122334455667788);
	iba_smp_set_hop_cnt(mad, 2);
	iba_smp_set_hop_ptr(mad, 2);
	iba_smp_set_dr_slid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(mad, IBA_LID_PERMISSIVE);
	iba_smp_initial_path(mad)[1] = 1;
	iba_smp_initial_path(mad)[2] = 3;
	iba_smp_return_path(mad)[1] = 4;
}

static void node_info_response(uint8_t mad[IBA_MAD_SIZE])
{
	const struct iba_node_info ni = {
		.base_version = 1,
		.class_version = 1,
		.node_type = IBA_NODE_SWITCH,
		.num_ports = 24,
		.sys_guid = 0x2000000000000001,
		.node_guid = 0x2000000000000002,
		.port_guid = 0x2000000000000003,
		.partition_cap = 8,
		.device_id = 0xb924,
		.revision = 0xa1,
		.local_port = 6,
		.vendor_id = 0x0002c9,
	};

	iba_smp_set_method(mad, IBA_GET_RESP);
	iba_smp_set_status(mad, IBA_STATUS_DR_RETURN);
	iba_smp_return_path(mad)[2] = 6;
	iba_node_info_put(&ni, iba_smp_data(mad));
}

int main(int argc, char **argv)
{
	uint8_t packet[4096 + 64], mad[IBA_MAD_SIZE];
	struct strbuf out = {0};
	struct err e;
	size_t len;

	if (argc != 2)
		return 2;
	pcap_begin(&out);
	pcap_interface(&out, "host1/1");
	pcap_interface(&out, "switch1/3");
	len = pcap_build(packet, &rc, (const uint8_t *)"warp and weft", 13);
	pcap_packet(&out, HOST_PORT, 0, packet, len, len);
	len = pcap_build(packet, &ud, NULL, 64);
	pcap_packet(&out, SWITCH_PORT, 500 * PS_PER_MS + 1999, packet, len, len);
	node_info_request(mad);
	len = pcap_build(packet, &qp0, mad, sizeof(mad));
	pcap_packet(&out, HOST_PORT, PS_PER_S, packet, len, len);
	node_info_response(mad);
	len = pcap_build(packet, &qp0, mad, sizeof(mad));
	pcap_packet(&out, SWITCH_PORT, PS_PER_S + 12345678, packet, len, len);
	len = pcap_build(packet, &rc, NULL, 4096);
	pcap_packet(&out, HOST_PORT, 1000000 * PS_PER_S, packet, len, len);
	if (file_write(argv[1], out.s, out.len, &e)) {
		fprintf(stderr, "pcap_sample: %s\n", e.text);
		return 1;
	}
	strbuf_free(&out);
	return 0;
}
