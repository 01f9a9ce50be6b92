/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutated MADs for subnet administration, as many as asked for: sa_storm COUNT [SEED]. Builds inputs of the fuzz target
 * fuzz_sa.c, mostly sound requests and segments with a few wrong bytes, and runs them. State: a seeded stream. Prints how many
 * MADs that were; whatever goes wrong aborts there.
 */
#include "base/rng.h"
#include "iba/sa_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 64, PIECE = 4, HEAD = 56, LIDS = 24 };

static const uint8_t methods[] = {1, 2, 0x12, 0x13, 0x14, 0x15, 0x81, 0x86, 0x92};
static const uint16_t attributes[] = {1,    2,	  3,	0x11, 0x12, 0x13, 0x14, 0x15,
				      0x16, 0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35,
				      0x36, 0x38, 0x39, 0x3a, 0x3b, 0xf3};

/* A whole MAD but for its last byte: a piece has at most 255. */
static void mad_draw(struct rng *r, uint8_t m[IBA_MAD_SIZE])
{
	memset(m, 0, IBA_MAD_SIZE);
	m[0] = 1;
	m[1] = IBA_CLASS_SUBN_ADM;
	m[2] = IBA_SA_CLASS_VERSION;
	m[3] = methods[rng_below(r, sizeof(methods))];
	m[15] = (uint8_t)rng_below(r, 8); /* few transactions: segments meet their messages */
	iba_be16_put(m + 16, attributes[rng_below(r, ARRAY_LEN(attributes))]);
	if (rng_below(r, 4) == 0) { /* RMPP: version, type, flags, segment, length */
		m[24] = 1;
		m[25] = (uint8_t)rng_below(r, 5);
		m[26] = (uint8_t)(1 | rng_below(r, 8));
		m[31] = (uint8_t)rng_below(r, 6);
		m[35] = (uint8_t)rng_below(r, 256);
	}
	m[43] = (uint8_t)rng_below(r, 2); /* SM_Key */
	for (unsigned i = 48; i < HEAD; i++)
		m[i] = rng_below(r, 3) ? 0 : (uint8_t)rng_below(r, 256);
	for (unsigned i = HEAD; i < IBA_MAD_SIZE; i++)
		m[i] = rng_below(r, 4) ? 0 : (uint8_t)rng_below(r, rng_below(r, 2) ? 32 : 256);
	if (rng_below(r, 2)) { /* a multicast GID, or one of a port */
		iba_be64_put(m + HEAD, rng_below(r, 2) ? 0xff12401bffff0000 : 0xfe80000000000000);
		iba_be64_put(m + HEAD + 8, 0x1000000000011 + 4 * rng_below(r, 10));
	}
	for (unsigned n = rng_below(r, 3); n; n--)
		m[rng_below(r, IBA_MAD_SIZE)] ^= (uint8_t)(1u << rng_below(r, 8));
}

int main(int argc, char **argv)
{
	static uint8_t data[PIECES * (PIECE + 255)];
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, n = 0;
	uint8_t mad[IBA_MAD_SIZE];
	struct rng r;

	rng_seed(&r, argc > 2 ? strtoull(argv[2], NULL, 10) : 1, 0);
	for (; n < count; n += PIECES) {
		for (unsigned i = 0; i < PIECES; i++) {
			uint8_t *p = data + (size_t)i * (PIECE + 255);

			mad_draw(&r, mad);
			p[0] = (uint8_t)rng_below(&r, 16);
			p[1] = (uint8_t)(1 + rng_below(&r, LIDS));
			p[2] = 0;
			p[3] = 255;
			memcpy(p + PIECE, mad, 255);
		}
		LLVMFuzzerTestOneInput(data, sizeof(data));
	}
	printf("sa_storm: %llu MADs\n", (unsigned long long)n);
	return 0;
}
