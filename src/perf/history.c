/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings of samples: a slot is 8 bytes, four numbers of 16 bits each with an exponent. State: struct perf_ring, of one
 * port. Ways in: perf_ring_add(), perf_ring_read(). Does not know where counters come from.
 */
#include "perf/perf_priv.h"

enum { MANTISSA = 11, MOST = 0xfffe };

/* Below 2048 exact; above, 11 bits of the value and a shift of 1 to 31. */
uint16_t perf_code(uint64_t v)
{
	unsigned shift = 0;

	while (v >> shift >= 1u << MANTISSA)
		shift++;
	if (shift > 31)
		return MOST;
	return (uint16_t)MIN(shift << MANTISSA | (unsigned)(v >> shift), (unsigned)MOST);
}

uint64_t perf_decode(uint16_t code)
{
	return (uint64_t)(code & ((1u << MANTISSA) - 1)) << (code >> MANTISSA);
}

/* 0: nothing is known, so that memory from the system is an empty ring. */
static uint64_t pack(uint64_t xmit, uint64_t rcv, uint64_t wait, uint64_t errors)
{
	return (uint64_t)(perf_code(xmit) + 1) << 48 | (uint64_t)perf_code(rcv) << 32 |
	       (uint64_t)perf_code(wait) << 16 | perf_code(errors);
}

static void unpack(uint64_t v, struct perf_sample *s)
{
	*s = (struct perf_sample){.known = v != 0};
	if (!v)
		return;
	s->xmit_bytes = perf_decode((uint16_t)((v >> 48) - 1));
	s->rcv_bytes = perf_decode((uint16_t)(v >> 32));
	s->wait = perf_decode((uint16_t)(v >> 16));
	s->errors = perf_decode((uint16_t)v);
}

static uint64_t rate(uint64_t n, uint64_t us)
{
	if (!us)
		return 0;
	return n > UINT64_MAX / US_PER_S ? n / us * US_PER_S : n * US_PER_S / us;
}

static uint64_t packed(const struct perf_ring *r)
{
	return pack(rate(r->xmit, r->us) * 4, rate(r->rcv, r->us) * 4, rate(r->wait, r->us),
		    r->errors);
}

/* The slot under way ends. Slots that a long period between reads has covered get the rates of that period. */
static void advance(struct perf_ring *r, unsigned slots, uint64_t slot, const struct perf_delta *d)
{
	uint64_t between = d->us ? pack(rate(d->xmit, d->us) * 4, rate(d->rcv, d->us) * 4,
					rate(d->wait, d->us), 0)
				 : 0;
	uint64_t first = r->slot ? r->slot + 1 : slot;

	if (r->slot)
		r->at[r->slot % slots] = r->us || r->errors ? packed(r) : 0;
	if (slot - first > slots)
		first = slot - slots;
	for (; first < slot; first++)
		r->at[first % slots] = between;
	*r = (struct perf_ring){.slot = slot, .at = r->at};
}

void perf_ring_add(struct perf_ring *r, unsigned slots, uint64_t slot_us, uint64_t now,
		   const struct perf_delta *d)
{
	uint64_t slot = now / slot_us + 1; /* 0: none */

	if (slot != r->slot)
		advance(r, slots, slot, d);
	r->xmit += d->xmit;
	r->rcv += d->rcv;
	r->wait += d->wait;
	r->errors += d->errors;
	r->us += d->us;
}

void perf_ring_read(const struct perf_ring *r, unsigned slots, uint64_t slot_us, uint64_t now,
		    struct perf_sample *out, uint32_t n)
{
	uint64_t slot = now / slot_us + 1;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t want = slot > n - i ? slot - (n - i) : 0;

		out[i] = (struct perf_sample){0};
		if (!want || !r->slot || want > r->slot || want + slots <= r->slot)
			continue;
		unpack(want == r->slot ? packed(r) : r->at[want % slots], &out[i]);
	}
}
