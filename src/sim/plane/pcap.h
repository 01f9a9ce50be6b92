/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets as a pcapng file for Wireshark and tshark: one interface for each port, nanosecond time
 * stamps (233 ps in the record), each packet an InfiniBand record of link type ERF (197), since
 * Wireshark dissects nothing of link type 247. Bytes are appended to a strbuf; the caller writes
 * them.
 */
#ifndef WEFT_PCAP_H
#define WEFT_PCAP_H

#include "base/base.h"

void pcap_begin(struct strbuf *out);			   /* section header */
void pcap_interface(struct strbuf *out, const char *name); /* interfaces are numbered from 0 */
/* len < original_len: a truncated packet, which Wireshark calls malformed; both below 64 KiB. */
void pcap_packet(struct strbuf *out, uint32_t interface, time_ps when, const uint8_t *data,
		 size_t len, size_t original_len);

/* The bytes of a packet from LRH to VCRC, as far as the simulation knows them. */
struct pcap_headers {
	uint8_t vl, sl;
	uint16_t slid, dlid;
	uint16_t pkey;
	uint8_t opcode; /* BTH: 0x64 UD send only, 0x04 RC send only */
	uint32_t dest_qp, src_qp, psn;
	uint32_t qkey; /* UD only */
};

/* Builds LRH, BTH, DETH (for UD opcodes), payload (NULL: zeroes), ICRC and VCRC (both computed)
 * into buf (at least payload_len + 8 + 12 + 8 + 3 + 4 + 2 bytes); returns the length. */
size_t pcap_build(uint8_t *buf, const struct pcap_headers *h, const uint8_t *payload,
		  size_t payload_len);

#endif
