/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of an answer into those of the port: how much each has grown since the last read, whatever its width. State:
 * struct perf_port. Ways in: perf_counters_narrow(), perf_counters_wide(). Does not judge a link: health.c does.
 *
 * IBA 16.1.3.5: a counter that reaches its maximum stays there. So one that has fallen was set back by a program, and
 * counts from there; only a 32-bit counter that fell alone, and could have come round at the rate of its link, did.
 */
#include "perf/perf_priv.h"

/* A counter in both attributes: offsets and sizes in the host structs, width and bit of CounterSelect of the narrow one. */
struct place {
	const char *name;
	uint16_t narrow, wide;
	uint8_t size, bits, select;
};

#define PLACE(c, field, bits_, select_)                                                            \
	[c] = {#field,                                                                             \
	       offsetof(struct iba_port_counters, field),                                          \
	       offsetof(struct iba_port_counters_ext, field),                                      \
	       sizeof(((struct iba_port_counters *)0)->field),                                     \
	       bits_,                                                                              \
	       select_}

static const struct place places[PERF_NCOUNTERS] = {
	PLACE(PERF_XMIT_DATA, xmit_data, 32, 12),
	PLACE(PERF_RCV_DATA, rcv_data, 32, 13),
	PLACE(PERF_XMIT_PKTS, xmit_pkts, 32, 14),
	PLACE(PERF_RCV_PKTS, rcv_pkts, 32, 15),
	PLACE(PERF_XMIT_WAIT, xmit_wait, 32, 16), /* CounterSelect2 */
	PLACE(PERF_SYMBOL_ERROR, symbol_error, 16, 0),
	PLACE(PERF_LINK_RECOVERY, link_recovery, 8, 1),
	PLACE(PERF_LINK_DOWNED, link_downed, 8, 2),
	PLACE(PERF_RCV_ERRORS, rcv_errors, 16, 3),
	PLACE(PERF_RCV_REMOTE_PHYS, rcv_remote_phys, 16, 4),
	PLACE(PERF_RCV_SWITCH_RELAY, rcv_switch_relay, 16, 5),
	PLACE(PERF_XMIT_DISCARDS, xmit_discards, 16, 6),
	PLACE(PERF_XMIT_CONSTRAINT, xmit_constraint, 8, 7),
	PLACE(PERF_RCV_CONSTRAINT, rcv_constraint, 8, 8),
	PLACE(PERF_LOCAL_INTEGRITY, local_integrity, 4, 9),
	PLACE(PERF_BUFFER_OVERRUN, buffer_overrun, 4, 10),
	PLACE(PERF_VL15_DROPPED, vl15_dropped, 16, 11),
	[PERF_FEC_CORRECTED] = {.name = "fec_corrected"},
	[PERF_FEC_UNCORRECTED] = {.name = "fec_uncorrected"},
};

const char *perf_counter_name(enum perf_counter c)
{
	return c < PERF_NCOUNTERS ? places[c].name : "?";
}

/* ---- one answer ---- */

/* What an answer says: counters that it has, with their widths. */
struct answer {
	uint64_t value[PERF_NCOUNTERS];
	uint8_t bits[PERF_NCOUNTERS]; /* 0: it does not have it */
	uint64_t elapsed;	      /* since the last one of this attribute; 0: it is the first */
};

static uint64_t most(unsigned bits)
{
	return UINT64_MAX >> (64 - bits);
}

uint64_t perf_fill_us(uint64_t bps)
{
	/* 2^32 words of 32 bits */
	return bps ? (UINT64_C(1) << 37) / MAX(bps / US_PER_S, (uint64_t)1) : PERF_NEVER;
}

static bool is_data(unsigned c)
{
	return c <= PERF_RCV_PKTS;
}

/* Whether a 32-bit counter can have come round: data by the rate of the link, packets by that of the shortest ones. */
static bool can_have_come_round(const struct perf_port *q, unsigned c, uint64_t grown,
				uint64_t elapsed)
{
	uint64_t bits = c == PERF_XMIT_DATA || c == PERF_RCV_DATA ? grown * 32 : grown * 192;

	return q->bps && is_data(c) &&
	       bits / 5 * 4 / MAX(q->bps / US_PER_S, (uint64_t)1) <= elapsed;
}

static unsigned fallen(const struct perf_port *q, const struct answer *a)
{
	unsigned n = 0;

	for (unsigned c = 0; c < PERF_NCOUNTERS; c++)
		n += a->bits[c] && a->value[c] < q->last[c];
	return n;
}

static uint64_t grown(const struct perf_port *q, const struct answer *a, unsigned c, unsigned fell)
{
	uint64_t round = (a->value[c] - q->last[c]) & most(a->bits[c]);

	if (a->value[c] >= q->last[c])
		return a->value[c] - q->last[c];
	if (fell == 1 && a->bits[c] == 32 && q->last[c] != most(32) &&
	    can_have_come_round(q, c, round, a->elapsed))
		return round;
	return a->value[c];
}

/* Narrow counters alone reach their maximum. */
static void saturation(struct perf *p, const struct perf_device *d, struct perf_port *q, unsigned c,
		       bool full)
{
	uint32_t bit = 1u << c, before = q->saturated;

	q->saturated = full ? before | bit : before & ~bit;
	if (!before && q->saturated)
		p->st.saturated++;
	if (before && !q->saturated)
		p->st.saturated--;
	if (full && !(before & bit))
		perf_tell(p, &(struct perf_event){.kind = PERF_SATURATED,
						  .guid = d->guid,
						  .port = q->num,
						  .peer = q->peer,
						  .peer_port = q->peer_port,
						  .counter = (enum perf_counter)c});
}

static void rates(struct perf_port *q, const struct answer *a, const uint64_t *by)
{
	uint64_t us = a->elapsed;

	if (!us)
		return;
	if (a->bits[PERF_XMIT_DATA]) {
		q->xmit_rate = by[PERF_XMIT_DATA] / us * 4 * US_PER_S +
			       by[PERF_XMIT_DATA] % us * 4 * US_PER_S / us;
		q->rcv_rate = by[PERF_RCV_DATA] / us * 4 * US_PER_S +
			      by[PERF_RCV_DATA] % us * 4 * US_PER_S / us;
	}
	if (a->bits[PERF_XMIT_WAIT])
		q->wait_rate = by[PERF_XMIT_WAIT] / us * US_PER_S +
			       by[PERF_XMIT_WAIT] % us * US_PER_S / us;
}

static void record(struct perf *p, const struct perf_device *d, struct perf_port *q,
		   const struct answer *a, const uint64_t *by)
{
	struct perf_delta delta = {by[PERF_XMIT_DATA], by[PERF_RCV_DATA], by[PERF_XMIT_WAIT], 0,
				   a->bits[PERF_XMIT_DATA] ? a->elapsed : 0};

	for (unsigned c = PERF_SYMBOL_ERROR; c <= PERF_LAST_ERROR; c++)
		delta.errors += by[c];
	perf_ring_add(&q->hour, PERF_SLOTS, PERF_SLOT_S * US_PER_S, p->now, &delta);
	if (d->with_day)
		perf_ring_add(&q->day, PERF_MINUTES, 60 * US_PER_S, p->now, &delta);
	perf_minute_add(p, &delta);
}

static void take(struct perf *p, struct perf_device *d, struct perf_port *q, const struct answer *a)
{
	uint64_t by[PERF_NCOUNTERS] = {0};
	unsigned fell = fallen(q, a);

	for (unsigned c = 0; c < PERF_NCOUNTERS; c++) {
		if (!a->bits[c])
			continue;
		by[c] = a->elapsed ? grown(q, a, c, fell) : 0;
		q->last[c] = a->value[c];
		q->count[c] += by[c];
		p->total[c] += by[c];
		saturation(p, d, q, c, a->bits[c] < 64 && a->value[c] == most(a->bits[c]));
	}
	rates(q, a, by);
	if (a->elapsed && (a->bits[PERF_XMIT_DATA] || a->bits[PERF_SYMBOL_ERROR]))
		record(p, d, q, a, by);
	if (a->bits[PERF_SYMBOL_ERROR])
		perf_health(p, d, q,
			    &(struct perf_read){by[PERF_SYMBOL_ERROR], by[PERF_LINK_RECOVERY],
						by[PERF_LINK_DOWNED], a->elapsed});
}

static uint64_t since(const struct perf *p, uint64_t read)
{
	return read == PERF_NEVER ? 0 : MAX(p->now - read, (uint64_t)1);
}

/* ---- the attributes ---- */

static uint64_t narrow_value(const struct iba_port_counters *v, unsigned c)
{
	uint64_t x = 0;

	memcpy(&x, (const uint8_t *)v + places[c].narrow, places[c].size);
	return x;
}

void perf_counters_narrow(struct perf *p, struct perf_device *d, struct perf_port *q,
			  const struct iba_port_counters *v)
{
	struct answer a = {.elapsed = since(p, q->read_narrow)};

	for (unsigned c = 0; c <= PERF_LAST_ERROR; c++) {
		if ((d->has & PERF_HAS_WIDE && is_data(c)) ||
		    (!(d->has & PERF_HAS_WAIT) && c == PERF_XMIT_WAIT))
			continue;
		a.value[c] = narrow_value(v, c);
		a.bits[c] = places[c].bits;
	}
	take(p, d, q, &a);
	q->read_narrow = p->now;
}

void perf_counters_wide(struct perf *p, struct perf_device *d, struct perf_port *q,
			const struct iba_port_counters_ext *v)
{
	struct answer a = {.elapsed = since(p, q->read_wide)};

	for (unsigned c = 0; c <= PERF_LAST_ERROR; c++) {
		if (!(d->has & PERF_HAS_WIDE_ERRORS) && !is_data(c))
			continue;
		memcpy(&a.value[c], (const uint8_t *)v + places[c].wide, sizeof(a.value[c]));
		a.bits[c] = 64;
	}
	take(p, d, q, &a);
	q->read_wide = p->now;
}

/* Each lane stops at its maximum; their sum then grows more slowly, which nothing is decided by. */
void perf_counters_quality(struct perf *p, struct perf_device *d, struct perf_port *q,
			   const struct iba_ext_speeds_counters *v)
{
	struct answer a = {.elapsed = since(p, q->read_quality)};

	a.bits[PERF_FEC_CORRECTED] = a.bits[PERF_FEC_UNCORRECTED] = 64;
	a.value[PERF_FEC_UNCORRECTED] = v->rs_uncorrected_blocks;
	for (unsigned i = 0; i < ARRAY_LEN(v->lane_corrected); i++) {
		a.value[PERF_FEC_CORRECTED] += v->lane_corrected[i];
		a.value[PERF_FEC_UNCORRECTED] += v->lane_uncorrected[i];
	}
	take(p, d, q, &a);
	q->read_quality = p->now;
}

/* ---- counters that are set to 0, where the configuration says so ---- */

/* From half of its range on: the next read comes before the rest is full. */
uint32_t perf_counters_to_clear(const struct perf_device *d, const struct perf_port *q)
{
	uint32_t select = 0;

	for (unsigned c = 0; c <= PERF_LAST_ERROR; c++) {
		if ((d->has & PERF_HAS_WIDE && is_data(c)) || d->has & PERF_HAS_WIDE_ERRORS ||
		    (!(d->has & PERF_HAS_WAIT) && c == PERF_XMIT_WAIT))
			continue;
		if (q->last[c] > most(places[c].bits) / 2)
			select |= 1u << places[c].select;
	}
	return select;
}

void perf_counters_cleared(struct perf *p, struct perf_device *d, struct perf_port *q,
			   const struct iba_port_counters *v, uint32_t select)
{
	for (unsigned c = 0; c <= PERF_LAST_ERROR; c++) {
		if (!(select >> places[c].select & 1))
			continue;
		q->last[c] = narrow_value(v, c);
		if (q->saturated & 1u << c)
			perf_tell(p, &(struct perf_event){.kind = PERF_CLEARED,
							  .guid = d->guid,
							  .port = q->num,
							  .peer = q->peer,
							  .peer_port = q->peer_port,
							  .counter = (enum perf_counter)c});
		saturation(p, d, q, c, q->last[c] == most(places[c].bits));
	}
}
