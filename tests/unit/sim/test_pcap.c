/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures: the bytes of a packet from LRH to VCRC, both CRCs against long division and the
 * specification's example, and the blocks of the file. Keeps no state. Does not run Wireshark:
 * interop/tshark.sh does.
 */
#include "unit_test.h"

#include "sim/plane/pcap.h"

static uint32_t le32(const void *at)
{
	const uint8_t *p = at;

	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static unsigned le16(const void *at)
{
	return le32(at) & 0xffff;
}

/* Long division as 7.8 words it, one bit at a time, the polynomial not mirrored: what remains of
 * the bytes behind a register of ones. Bit i of the sum that is sent is coefficient width - 1 - i.
 */
static uint32_t divide(const uint8_t *p, size_t len, unsigned width, uint32_t poly)
{
	uint32_t top = 1u << (width - 1), mask = top | (top - 1), reg = mask, sent = 0;

	for (size_t bit = 0; bit < 8 * len; bit++) {
		bool out = reg & top;

		reg = reg << 1 & mask;
		if (out != (p[bit / 8] >> bit % 8 & 1))
			reg ^= poly;
	}
	for (unsigned i = 0; i < width; i++)
		if (!(reg & top >> i))
			sent |= 1u << i;
	return sent;
}

static void expect_remainders(const uint8_t *packet, size_t len)
{
	uint8_t masked[8192];

	memcpy(masked, packet, len);
	masked[0] |= 0xf0; /* VL */
	masked[12] = 0xff; /* Resv8a */
	assert_int_equal(le32(packet + len - 6), divide(masked, len - 6, 32, 0x04c11db7));
	assert_int_equal(le16(packet + len - 2), divide(packet, len - 2, 16, 0x100b));
}

/* IBA 7.8, sample packets: a local RDMA write of 14 bytes. For pcap_build(), RETH is payload. */
TEST(test_specification_sample)
{
	static const uint8_t sample[] = {
		0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00, 0x87,
		0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02,
		0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c,
		0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a,
	};
	const struct pcap_headers h = {
		.vl = 7,
		.sl = 1,
		.slid = 0x17d2,
		.dlid = 0x375c,
		.pkey = 0x2487,
		.opcode = 0x0a,
		.dest_qp = 0x87b1b3,
		.psn = 0x0dec2a,
	};
	uint8_t buf[128];

	assert_int_equal(pcap_build(buf, &h, sample + 20, 30), sizeof(sample) + 2);
	assert_memory_equal(buf, sample, sizeof(sample));
	expect_remainders(buf, sizeof(sample) + 2);
}

TEST(test_datagram)
{
	static const uint8_t want[] = {
		0xf0, 0xa2, 0xc0, 0x01, 0x00, 0x09, 0x00, 0x33,				/* LRH */
		0x64, 0x30, 0x80, 0x01, 0x00, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x07, /* BTH */
		0x0b, 0xad, 0xca, 0xfe, 0x00, 0x65, 0x43, 0x21,				/* DETH */
		0x77, 0x00, 0x00, 0x00,
	};
	const struct pcap_headers h = {
		.vl = 15,
		.sl = 10,
		.slid = 0x33,
		.dlid = 0xc001,
		.pkey = 0x8001,
		.opcode = 0x64,
		.dest_qp = 0xffffff,
		.src_qp = 0x654321,
		.psn = 7,
		.qkey = 0x0badcafe,
	};
	uint8_t buf[64];

	memset(buf, 0xee, sizeof(buf));
	assert_int_equal(pcap_build(buf, &h, (const uint8_t *)"w", 1), sizeof(want) + 6);
	assert_memory_equal(buf, want, sizeof(want));
	expect_remainders(buf, sizeof(want) + 6);
	assert_int_equal(buf[sizeof(want) + 6], 0xee);
}

/* Every length of payload: whole words, the right pad, never a byte beyond what the header allows.
 */
TEST(test_lengths)
{
	struct pcap_headers h = {.opcode = 0x04, .dlid = 1, .slid = 2};
	static uint8_t buf[4096 + 64], data[4096];

	memset(data, 0xa5, sizeof(data));
	for (size_t n = 0; n <= sizeof(data); n = n < 40 ? n + 1 : 2 * n - 17) {
		for (unsigned ud = 0; ud < 2; ud++) {
			size_t len, padded = (n + 3) / 4 * 4;

			h.opcode = ud ? 0x64 : 0x04;
			memset(buf, 0xee, sizeof(buf));
			len = pcap_build(buf, &h, n % 2 ? data : NULL, n);
			assert_int_equal(len, 8 + 12 + 8 * ud + padded + 4 + 2);
			assert_int_equal((buf[4] << 8 | buf[5]) * 4, len - 2);
			assert_int_equal(buf[9] >> 4, padded - n);
			assert_int_equal(buf[len], 0xee);
			for (size_t i = 0; i < padded; i++)
				assert_int_equal(buf[len - 6 - padded + i],
						 i < n && n % 2 ? 0xa5 : 0);
			expect_remainders(buf, len);
		}
	}
}

/* A switch may change the VL: the invariant remainder stays, the variant one does not. */
TEST(test_vl_is_not_invariant)
{
	struct pcap_headers h = {.vl = 0, .opcode = 0x04};
	uint8_t a[64], b[64];
	size_t len = pcap_build(a, &h, NULL, 16);

	h.vl = 9;
	assert_int_equal(pcap_build(b, &h, NULL, 16), len);
	assert_memory_equal(a + 1, b + 1, len - 3);
	assert_memory_not_equal(a + len - 2, b + len - 2, 2);
	h.dlid = 1;
	pcap_build(b, &h, NULL, 16);
	assert_memory_not_equal(a + len - 6, b + len - 6, 4);
}

/* Walks the blocks; each must tell its length twice, in whole words, and end where the next begins.
 */
static unsigned blocks_check(const struct strbuf *file, const char *at[], unsigned max)
{
	unsigned n = 0;

	for (size_t off = 0; off < file->len; n++) {
		uint32_t len = le32(file->s + off + 4);

		assert_true(n < max);
		assert_true(len >= 12 && len % 4 == 0 && len <= file->len - off);
		assert_int_equal(le32(file->s + off + len - 4), len);
		at[n] = file->s + off;
		off += len;
	}
	return n;
}

TEST(test_file)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5};
	/* 2 s and three quarters, a record of 16 + 5 bytes on the wire as 7 */
	static const uint8_t erf[] = {0, 0, 0, 0xc0, 2, 0, 0, 0, 21, 0x0c, 0, 21, 0, 0, 0, 7};
	struct strbuf file = {0};
	const char *at[4];

	pcap_begin(&file);
	pcap_interface(&file, "s1/3");
	pcap_interface(&file, "");
	pcap_packet(&file, 1, 2 * PS_PER_S + 750 * PS_PER_MS, data, sizeof(data), 7);
	assert_int_equal(blocks_check(&file, at, ARRAY_LEN(at)), ARRAY_LEN(at));

	assert_int_equal(le32(at[0]), 0x0a0d0d0a);
	assert_int_equal(le32(at[0] + 8), 0x1a2b3c4d);
	assert_int_equal(le32(at[0] + 12), 1); /* version 1.0 */
	assert_int_equal(le32(at[1]), 1);
	assert_int_equal(le16(at[1] + 8), 197);
	assert_memory_equal(at[1] + 16, "\2\0\4\0s1/3\11\0\1\0\11\0\0\0\0\0\0\0", 20);
	assert_memory_equal(at[2] + 16, "\2\0\0\0\11\0\1\0\11\0\0\0\0\0\0\0", 16);

	assert_int_equal(le32(at[3]), 6);
	assert_int_equal(le32(at[3] + 8), 1);
	assert_int_equal((uint64_t)le32(at[3] + 12) << 32 | le32(at[3] + 16), 2750000000);
	assert_int_equal(le32(at[3] + 20), 16 + 5);
	assert_int_equal(le32(at[3] + 24), 16 + 7);
	assert_memory_equal(at[3] + 28, erf, sizeof(erf));
	assert_memory_equal(at[3] + 44, "\1\2\3\4\5\0\0\0", 8);
	strbuf_free(&file);
}

/* The latest time there is, and the last picosecond of a second: no stamp overflows. */
TEST(test_times)
{
	static const struct {
		time_ps when;
		uint32_t second, fraction;
		uint64_t ns;
	} times[] = {
		{0, 0, 0, 0},
		{PS_PER_S - 1, 0, UINT32_MAX, 999999999},
		{PS_PER_S, 1, 0, 1000000000},
		{233, 0, 1, 0}, /* 2^-32 s are 232.8 ps */
		{UINT64_MAX, 18446744, 0x12dea111, 18446744073709551},
	};

	for (unsigned i = 0; i < ARRAY_LEN(times); i++) {
		struct strbuf file = {0};

		pcap_packet(&file, 0, times[i].when, (const uint8_t *)"", 1, 1);
		assert_int_equal((uint64_t)le32(file.s + 12) << 32 | le32(file.s + 16),
				 times[i].ns);
		assert_int_equal(le32(file.s + 28), times[i].fraction);
		assert_int_equal(le32(file.s + 32), times[i].second);
		strbuf_free(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_specification_sample),
		cmocka_unit_test(test_datagram),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_vl_is_not_invariant),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
