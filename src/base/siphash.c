/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SipHash-2-4. Keeps no state. Way in: siphash(). Does not choose keys.
 */
#include "base/siphash.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotl(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v0 = rotl(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v2 = rotl(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t w)
{
	s->v3 ^= w;
	sip_round(s);
	sip_round(s);
	s->v0 ^= w;
}

static uint64_t little_endian(const uint8_t *p, size_t n)
{
	uint64_t w = 0;

	for (size_t i = 0; i < n; i++)
		w |= (uint64_t)p[i] << 8 * i;
	return w;
}

uint64_t siphash(uint64_t k0, uint64_t k1, const uint8_t *p, size_t n)
{
	struct sip s = {k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
			k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull};
	size_t len = n;

	for (; n >= 8; p += 8, n -= 8)
		sip_word(&s, little_endian(p, 8));
	sip_word(&s, (uint64_t)(len & 0xff) << 56 | little_endian(p, n));
	s.v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
