/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets in pcapng format. Keeps no state: every function appends to a buffer. Ways in:
 * pcap_begin(), then interfaces, then packets; pcap_build() makes the bytes of one. Does not write
 * files or sort by time.
 */
#include "sim/plane/pcap.h"

#include "iba/iba.h"

/* ---- pcapng: blocks of little-endian words, their length in front and behind ---- */

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	LINKTYPE_ERF = 197,
	OPT_END = 0,
	OPT_SECTION_APPLICATION = 4,
	OPT_IF_NAME = 2,
	OPT_IF_TSRESOL = 9,
	NANOSECONDS = 9, /* with picoseconds Wireshark 4.0 overflows: wrong times */
};

static void add_le16(struct strbuf *out, unsigned v)
{
	strbuf_addn(out, (char[]){(char)v, (char)(v >> 8)}, 2);
}

static void add_le32(struct strbuf *out, uint32_t v)
{
	add_le16(out, v & 0xffff);
	add_le16(out, v >> 16);
}

static void add_padded(struct strbuf *out, const void *data, size_t len)
{
	strbuf_addn(out, data, len);
	strbuf_addn(out, "\0\0\0", -len & 3);
}

static void add_option(struct strbuf *out, unsigned code, const void *value, size_t len)
{
	add_le16(out, code);
	add_le16(out, (unsigned)len);
	add_padded(out, value, len);
}

static size_t block_begin(struct strbuf *out, uint32_t type)
{
	size_t start = out->len;

	add_le32(out, type);
	add_le32(out, 0); /* known at the end */
	return start;
}

static void block_end(struct strbuf *out, size_t start)
{
	size_t len = out->len - start + 4;

	add_le32(out, (uint32_t)len);
	memcpy(out->s + start + 4, out->s + out->len - 4, 4);
}

void pcap_begin(struct strbuf *out)
{
	size_t start = block_begin(out, BLOCK_SECTION);

	add_le32(out, BYTE_ORDER_MAGIC);
	add_le16(out, 1); /* version 1.0 */
	add_le16(out, 0);
	add_le32(out, UINT32_MAX); /* section length: not known */
	add_le32(out, UINT32_MAX);
	add_option(out, OPT_SECTION_APPLICATION, "weft", 4);
	add_option(out, OPT_END, "", 0);
	block_end(out, start);
}

void pcap_interface(struct strbuf *out, const char *name)
{
	size_t start = block_begin(out, BLOCK_INTERFACE);

	add_le16(out, LINKTYPE_ERF);
	add_le16(out, 0);
	add_le32(out, 0); /* packets may have any length */
	add_option(out, OPT_IF_NAME, name, MIN(strlen(name), UINT16_MAX));
	add_option(out, OPT_IF_TSRESOL, (uint8_t[]){NANOSECONDS}, 1);
	add_option(out, OPT_END, "", 0);
	block_end(out, start);
}

/* Wireshark gives link type 247 (InfiniBand) to no dissector, so each packet goes in a record of
 * the Extensible Record Format, the one that InfiniBand capture cards write and every version
 * reads. */
enum { ERF_SIZE = 16, ERF_INFINIBAND = 21, ERF_VARYING_LENGTH = 0x04, ERF_TRUNCATED = 0x08 };

static void put_erf(uint8_t *p, time_ps when, size_t len, size_t original_len)
{
	uint64_t second = when / PS_PER_S;
	/* in units of 2^-32 s: 2^32 / 10^12 is 2^20 / 5^12, which does not overflow */
	uint64_t stamp = second << 32 | (when % PS_PER_S << 20) / 244140625;

	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(stamp >> 8 * i);
	p[8] = ERF_INFINIBAND;
	p[9] = ERF_VARYING_LENGTH | (len < original_len ? ERF_TRUNCATED : 0);
	iba_be16_put(p + 10, (uint16_t)(ERF_SIZE + len));
	iba_be16_put(p + 12, 0); /* packets lost */
	iba_be16_put(p + 14, (uint16_t)original_len);
}

void pcap_packet(struct strbuf *out, uint32_t interface, time_ps when, const uint8_t *data,
		 size_t len, size_t original_len)
{
	size_t start = block_begin(out, BLOCK_PACKET);
	uint64_t ns = when / PS_PER_NS;
	uint8_t erf[ERF_SIZE];

	assert(len <= UINT16_MAX - ERF_SIZE && original_len <= UINT16_MAX);
	put_erf(erf, when, len, original_len);
	add_le32(out, interface);
	add_le32(out, (uint32_t)(ns >> 32));
	add_le32(out, (uint32_t)ns);
	add_le32(out, (uint32_t)(ERF_SIZE + len));
	add_le32(out, (uint32_t)(ERF_SIZE + original_len));
	strbuf_addn(out, (const char *)erf, ERF_SIZE);
	add_padded(out, data, len);
	block_end(out, start);
}

/* ---- the packet (IBA 5.2, 7.7, 7.8, 9.2) ---- */

enum {
	LRH_SIZE = 8,
	BTH_SIZE = 12,
	DETH_SIZE = 8,
	ICRC_SIZE = 4,
	VCRC_SIZE = 2,
	LNH_LOCAL = 2, /* the next header is BTH */
	RESV8A = LRH_SIZE + 4,
	SERVICE_UD = 3, /* the upper three bits of an opcode */
	PKT_LEN_MAX = 0x7ff,
};

/* Both CRCs take the least significant bit of each byte first, so the polynomials are mirrored:
 * ICRC 0x04c11db7, VCRC 0x100b. One table entry for four bits. */
static const uint32_t icrc_table[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};
static const uint16_t vcrc_table[16] = {
	0x0000, 0x1a01, 0x3402, 0x2e03, 0x6804, 0x7205, 0x5c06, 0x4607,
	0xd008, 0xca09, 0xe40a, 0xfe0b, 0xb80c, 0xa20d, 0x8c0e, 0x960f,
};

static uint32_t icrc_add(uint32_t crc, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		crc = crc >> 4 ^ icrc_table[crc & 15];
		crc = crc >> 4 ^ icrc_table[crc & 15];
	}
	return crc;
}

static uint16_t vcrc_add(uint16_t crc, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		crc = (uint16_t)(crc >> 4 ^ vcrc_table[crc & 15]);
		crc = (uint16_t)(crc >> 4 ^ vcrc_table[crc & 15]);
	}
	return crc;
}

/* Fields that switches may change count as ones: LRH.VL and BTH.Resv8a in a packet without GRH
 * (7.8.1). */
static void put_icrc(uint8_t *buf, size_t len)
{
	uint8_t masked[LRH_SIZE + BTH_SIZE];
	uint32_t crc;

	memcpy(masked, buf, sizeof(masked));
	masked[0] |= 0xf0;
	masked[RESV8A] = 0xff;
	crc = icrc_add(UINT32_MAX, masked, sizeof(masked));
	crc = ~icrc_add(crc, buf + sizeof(masked), len - sizeof(masked));
	for (unsigned i = 0; i < ICRC_SIZE; i++)
		buf[len + i] = (uint8_t)(crc >> 8 * i);
}

static void put_vcrc(uint8_t *buf, size_t len)
{
	uint16_t crc = (uint16_t)~vcrc_add(UINT16_MAX, buf, len);

	buf[len] = (uint8_t)crc;
	buf[len + 1] = (uint8_t)(crc >> 8);
}

static void put_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	iba_be16_put(p + 1, (uint16_t)v);
}

static void put_lrh(uint8_t *p, const struct pcap_headers *h, size_t words)
{
	p[0] = (uint8_t)(h->vl << 4); /* LVer 0 */
	p[1] = (uint8_t)(h->sl << 4 | LNH_LOCAL);
	iba_be16_put(p + 2, h->dlid);
	iba_be16_put(p + 4, (uint16_t)words);
	iba_be16_put(p + 6, h->slid);
}

static void put_bth(uint8_t *p, const struct pcap_headers *h, unsigned pad)
{
	p[0] = h->opcode;
	p[1] = (uint8_t)(pad << 4); /* SE, MigReq and TVer 0 */
	iba_be16_put(p + 2, h->pkey);
	p[4] = 0;
	put_be24(p + 5, h->dest_qp);
	p[8] = 0; /* no acknowledgement is requested */
	put_be24(p + 9, h->psn);
}

static void put_deth(uint8_t *p, const struct pcap_headers *h)
{
	iba_be16_put(p, (uint16_t)(h->qkey >> 16));
	iba_be16_put(p + 2, (uint16_t)h->qkey);
	p[4] = 0;
	put_be24(p + 5, h->src_qp);
}

size_t pcap_build(uint8_t *buf, const struct pcap_headers *h, const uint8_t *payload,
		  size_t payload_len)
{
	size_t headers = LRH_SIZE + BTH_SIZE + (h->opcode >> 5 == SERVICE_UD ? DETH_SIZE : 0);
	unsigned pad = -payload_len & 3;
	size_t len = headers + payload_len + pad;

	assert((len + ICRC_SIZE) / 4 <= PKT_LEN_MAX);
	put_lrh(buf, h, (len + ICRC_SIZE) / 4);
	put_bth(buf + LRH_SIZE, h, pad);
	if (h->opcode >> 5 == SERVICE_UD)
		put_deth(buf + LRH_SIZE + BTH_SIZE, h);
	memset(buf + headers, 0, payload_len + pad);
	if (payload)
		memcpy(buf + headers, payload, payload_len);
	put_icrc(buf, len);
	put_vcrc(buf, len + ICRC_SIZE);
	return len + ICRC_SIZE + VCRC_SIZE;
}
