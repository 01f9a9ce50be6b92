/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rounds and queries: which device is asked what, in a window of outstanding queries; answers to the ports they are about.
 * State: queries, queue and round of struct perf. Ways in: perf_next(), perf_take(), perf_wake(). Does not know what
 * counters mean: counter_growth.c does.
 *
 * Devices take turns, at most PERF_OF_ONE queries to one at a time. A query is not repeated: the next round asks again. A
 * device that misses PATIENCE queries in a row is silent: it is asked one query, in every second, fourth, ... round. No round waits for
 * the answer of a device that has not answered the last query.
 */
#include "perf/perf_priv.h"

enum {
	PATIENCE = 3,
	MOST_SKIPS = 64, /* rounds */
	MARK = 31,	 /* bit of the transaction ID */
	SLOT_BITS = 12,	 /* PERF_MAX_WINDOW */
	DONE = UINT32_MAX,
};

/* ---- the queue of devices with questions ---- */

static void queue_push(struct perf *p, uint32_t i)
{
	struct perf_device *d = &p->devices.at[i];

	if (d->queued || p->queued == p->queue_size)
		return;
	d->queued = true;
	p->queue[(p->queue_at + p->queued++) % p->queue_size] = i;
}

static uint32_t queue_pop(struct perf *p)
{
	uint32_t i = p->queue[p->queue_at];

	p->queue_at = (p->queue_at + 1) % p->queue_size;
	p->queued--;
	p->devices.at[i].queued = false;
	return i;
}

/* Of another snapshot: the round goes on with the devices that are left. */
void perf_queue_resize(struct perf *p)
{
	for (size_t i = 0; i < p->devices.n; i++)
		p->devices.at[i].queued = false;
	free(p->queue);
	p->queue_size = (uint32_t)p->order.n;
	p->queue = mem_array(MAX(p->queue_size, 1u), sizeof(*p->queue));
	p->queue_at = p->queued = 0;
	for (size_t i = 0; p->in_round && i < p->order.n; i++)
		queue_push(p, p->order.at[i]);
}

/* ---- what a device is asked ---- */

/* Whether it is this port's turn, where each has one in so many rounds. */
static bool has_turn(const struct perf *p, const struct perf_device *d, const struct perf_port *q,
		     unsigned rounds)
{
	return (p->st.rounds + (size_t)(d - p->devices.at) + q->num) % rounds == 0;
}

/*
 * Errors of devices with two attributes for a port. While rounds in full would be late, every other port is asked for them, and
 * in the next round the others; a port with errors is asked in every round. No counter comes round meanwhile: those of
 * data are wide, and these stop at their maximum.
 */
static bool errors_due(const struct perf *p, const struct perf_device *d, const struct perf_port *q)
{
	return !p->turns || has_turn(p, d, q, 2) || q->sick || q->isolated ||
	       perf_health_errors(p, q);
}

/* In the first round, then a tenth of the ports in each: no round is much longer than others. */
static bool quality_due(const struct perf *p, const struct perf_device *d,
			const struct perf_port *q)
{
	return q->corrects && d->has & PERF_HAS_QUALITY && p->whole &&
	       (q->read_quality == PERF_NEVER || has_turn(p, d, q, PERF_QUALITY_ROUNDS));
}

static bool asks(struct perf *p, const struct perf_device *d, const struct perf_port *q,
		 enum perf_ask ask)
{
	if (!perf_port_wanted(q))
		return false;
	if (ask == PERF_ASK_QUALITY)
		return quality_due(p, d, q);
	if (ask == PERF_ASK_WIDE)
		return (d->has & PERF_HAS_WIDE) != 0;
	if (d->has & PERF_HAS_WIDE_ERRORS)
		return false;
	if (!(d->has & PERF_HAS_WIDE) || errors_due(p, d, q))
		return true;
	p->round_put_off++;
	return false;
}

/* The next question; false: there is none in this round. */
static bool question(struct perf *p, struct perf_device *d, enum perf_ask *ask, unsigned *port)
{
	if (!d->known) {
		*ask = PERF_ASK_CLASS;
		*port = 0;
		return !d->outstanding && d->next != DONE;
	}
	for (; d->next < (unsigned)PERF_QUESTIONS * d->nports; d->next++) {
		*port = d->next / PERF_QUESTIONS;
		*ask = (enum perf_ask)(PERF_ASK_NARROW + d->next % PERF_QUESTIONS);
		if (asks(p, d, &d->ports[*port], *ask))
			return true;
	}
	d->next = DONE;
	return false;
}

static unsigned limit(const struct perf_device *d)
{
	return d->missed || !d->known ? 1 : PERF_OF_ONE;
}

/* ---- queries by time ---- */

static void list_drop(struct perf *p, uint32_t slot)
{
	struct perf_query *x = &p->queries[slot];

	if (x->earlier == PERF_NOBODY)
		p->oldest = x->later;
	else
		p->queries[x->earlier].later = x->later;
	if (x->later == PERF_NOBODY)
		p->newest = x->earlier;
	else
		p->queries[x->later].earlier = x->earlier;
}

static void query_end(struct perf *p, uint32_t slot)
{
	list_drop(p, slot);
	p->queries[slot].used = false;
	vec_push(&p->unused, slot);
	p->outstanding--;
	p->probes -= p->queries[slot].probe;
	if (p->devices.at[p->queries[slot].device].outstanding)
		p->devices.at[p->queries[slot].device].outstanding--;
}

static uint32_t query_begin(struct perf *p, uint32_t device, enum perf_ask ask, unsigned port,
			    uint16_t lid)
{
	uint32_t slot = p->unused.at[--p->unused.n];

	p->serial++;
	p->queries[slot] = (struct perf_query){.deadline = p->now + p->cfg.timeout / PS_PER_US,
					       .device = device,
					       .serial = p->serial,
					       .earlier = p->newest,
					       .later = PERF_NOBODY,
					       .lid = lid,
					       .port = (uint8_t)port,
					       .ask = (uint8_t)ask,
					       .probe = p->devices.at[device].missed != 0 ||
							p->devices.at[device].silent,
					       .used = true};
	if (p->newest == PERF_NOBODY)
		p->oldest = slot;
	else
		p->queries[p->newest].later = slot;
	p->newest = slot;
	p->outstanding++;
	p->probes += p->queries[slot].probe;
	p->devices.at[device].outstanding++;
	p->st.queries++;
	p->round_queries++;
	return slot;
}

void perf_queries_drop(struct perf *p, uint32_t device)
{
	for (uint32_t i = 0, next; p->outstanding && i < p->cfg.window; i = next) {
		next = i + 1;
		if (p->queries[i].used && p->queries[i].device == device)
			query_end(p, i);
	}
	for (size_t i = 0; i < p->clears.n; i++)
		if (p->clears.at[i].device == device)
			p->clears.at[i].select = 0;
}

/* ---- out ---- */

static uint32_t tid_of(const struct perf *p, uint32_t slot)
{
	return 1u << MARK | (p->queries[slot].serial << SLOT_BITS & ((1u << MARK) - 1)) | slot;
}

bool perf_owns(const uint8_t *mad)
{
	return iba_smp_mgmt_class(mad) == IBA_CLASS_PERF && (uint32_t)iba_smp_tid(mad) >> MARK != 0;
}

static uint16_t attribute_of(const struct perf_query *x)
{
	static const uint16_t attributes[] = {[PERF_ASK_CLASS] = IBA_PERF_CLASS_PORT_INFO,
					      [PERF_ASK_NARROW] = IBA_PERF_PORT_COUNTERS,
					      [PERF_ASK_WIDE] = IBA_PERF_PORT_COUNTERS_EXT,
					      [PERF_ASK_QUALITY] = IBA_PERF_EXT_SPEEDS_COUNTERS,
					      [PERF_ASK_CLEAR] = IBA_PERF_PORT_COUNTERS};

	return attributes[x->ask];
}

static void mad_make(const struct perf *p, uint32_t slot, uint32_t select, struct perf_mad *out)
{
	const struct perf_query *x = &p->queries[slot];
	struct iba_port_counters narrow = {.port_select = (uint8_t)(x->port + 1),
					   .counter_select = (uint16_t)select,
					   .counter_select2 = (uint8_t)(select >> 16)};
	struct iba_port_counters_ext wide = {.port_select = (uint8_t)(x->port + 1)};
	struct iba_ext_speeds_counters quality = {.port_select = (uint8_t)(x->port + 1)};

	*out = (struct perf_mad){.lid = x->lid,
				 .sl = p->sls && x->lid <= p->top_lid ? p->sls[x->lid] : 0};
	iba_smp_init(out->mad, IBA_CLASS_PERF, x->ask == PERF_ASK_CLEAR ? IBA_SET : IBA_GET,
		     attribute_of(x), 0);
	iba_smp_set_tid(out->mad, tid_of(p, slot));
	if (x->ask == PERF_ASK_WIDE)
		iba_port_counters_ext_put(&wide, iba_smp_data(out->mad));
	else if (x->ask == PERF_ASK_QUALITY)
		iba_ext_speeds_counters_put(&quality, iba_smp_data(out->mad));
	else if (x->ask != PERF_ASK_CLASS)
		iba_port_counters_put(&narrow, iba_smp_data(out->mad));
}

/* Counters that are set to 0 wait for nothing: they are near their end. */
static bool next_clear(struct perf *p, struct perf_mad *out)
{
	while (p->clears.n) {
		struct perf_clear c = p->clears.at[--p->clears.n];
		const struct perf_port *q = &p->devices.at[c.device].ports[c.port];
		uint32_t slot;

		if (!c.select || !perf_port_wanted(q))
			continue;
		slot = query_begin(p, c.device, PERF_ASK_CLEAR, c.port, q->lid);
		mad_make(p, slot, c.select, out);
		return true;
	}
	return false;
}

static bool next_question(struct perf *p, struct perf_mad *out)
{
	while (p->queued) {
		uint32_t i = queue_pop(p), slot;
		struct perf_device *d = &p->devices.at[i];
		enum perf_ask ask;
		unsigned port;

		if (d->outstanding >= limit(d) || !question(p, d, &ask, &port))
			continue;
		if (ask != PERF_ASK_CLASS)
			d->next++;
		slot = query_begin(p, i, ask, port,
				   ask == PERF_ASK_CLASS ? d->lid : d->ports[port].lid);
		mad_make(p, slot, 0, out);
		if (d->outstanding < limit(d))
			queue_push(p, i);
		return true;
	}
	return false;
}

static bool may_send(const struct perf *p)
{
	return p->serving && !p->paused && p->unused.n;
}

bool perf_next(struct perf *p, struct perf_mad *out, time_ps now)
{
	p->now = perf_us(p, now);
	return may_send(p) && (next_clear(p, out) || next_question(p, out));
}

/* ---- answers, and none ---- */

static void tell_device(struct perf *p, const struct perf_device *d, enum perf_event_kind kind)
{
	perf_tell(p, &(struct perf_event){.kind = kind, .guid = d->guid});
}

/* Any answer shows that the device is there. */
static void heard(struct perf *p, struct perf_device *d)
{
	d->missed = 0;
	d->skips = d->skip = 0;
	if (!d->silent)
		return;
	d->silent = false;
	p->st.silent--;
	tell_device(p, d, PERF_ANSWERS);
}

static void leave_alone(struct perf *p, struct perf_device *d)
{
	d->next = DONE;
	d->skips = MIN(MAX(d->skips * 2, 1u), (uint32_t)MOST_SKIPS);
	d->skip = d->skips;
	if (d->silent)
		return;
	d->silent = true;
	p->st.silent++;
	tell_device(p, d, PERF_SILENT);
}

static void unanswered(struct perf *p, uint32_t slot)
{
	struct perf_device *d = &p->devices.at[p->queries[slot].device];
	bool excused = p->queries[slot].excused || p->paused || !p->serving;

	p->st.timeouts++;
	query_end(p, slot);
	if (!excused) {
		d->missed = (uint8_t)MIN(d->missed + 1, 255);
		if (d->missed >= PATIENCE || d->silent)
			leave_alone(p, d);
		if (!d->known)
			d->next = d->missed >= PATIENCE ? DONE : d->next;
	}
	if (d->next != DONE)
		queue_push(p, (uint32_t)(d - p->devices.at));
}

/* IBA 16.1.3.1; bit 10: all wide counters but those of unicast and multicast packets, which are not read here. */
static void on_class(struct perf *p, struct perf_device *d, const uint8_t *mad)
{
	struct iba_class_port_info v;

	d->known = true;
	d->has = 0;
	d->next = 0;
	if (iba_smp_status(mad) ||
	    iba_class_port_info_get(&v, iba_smp_data_const(mad), IBA_PERF_DATA_SIZE))
		return; /* PortCounters is mandatory */
	if (v.cap_mask & (IBA_PERF_EXT_WIDTH | IBA_PERF_EXT_WIDTH_NOIETF))
		d->has |= PERF_HAS_WIDE;
	if (d->has & PERF_HAS_WIDE && v.cap_mask2 & IBA_PERF2_EXT_ERRORS)
		d->has |= PERF_HAS_WIDE_ERRORS;
	if (v.cap_mask & IBA_PERF_XMIT_WAIT)
		d->has |= PERF_HAS_WAIT;
	d->has |= PERF_HAS_QUALITY;
	(void)p;
}

/* A link whose 32-bit counters fill faster than a round comes is read between rounds. */
static void quicken(struct perf *p, struct perf_device *d, const struct perf_port *q)
{
	uint64_t half = perf_fill_us(q->bps) / 2;

	if (d->has & PERF_HAS_WIDE || half >= p->cfg.period / PS_PER_US)
		return;
	d->quick = true;
	p->quick_us = MIN(p->quick_us, half);
}

static void on_narrow(struct perf *p, uint32_t device, unsigned port, const uint8_t *mad)
{
	struct perf_device *d = &p->devices.at[device];
	struct perf_port *q = &d->ports[port];
	struct iba_port_counters v;
	uint32_t select;

	if (iba_port_counters_get(&v, iba_smp_data_const(mad), IBA_PERF_DATA_SIZE) ||
	    v.port_select != port + 1) {
		p->st.bad++;
		return;
	}
	perf_counters_narrow(p, d, q, &v);
	quicken(p, d, q);
	select = p->cfg.clear ? perf_counters_to_clear(d, q) : 0;
	if (select && p->clears.n < p->cfg.window)
		vec_push(&p->clears, (struct perf_clear){device, select, (uint8_t)port});
}

static void on_wide(struct perf *p, uint32_t device, unsigned port, const uint8_t *mad)
{
	struct perf_device *d = &p->devices.at[device];
	struct iba_port_counters_ext v;

	if (iba_port_counters_ext_get(&v, iba_smp_data_const(mad), IBA_PERF_DATA_SIZE) ||
	    v.port_select != port + 1) {
		p->st.bad++;
		return;
	}
	perf_counters_wide(p, d, &d->ports[port], &v);
}

static void on_quality(struct perf *p, uint32_t device, unsigned port, const uint8_t *mad)
{
	struct perf_device *d = &p->devices.at[device];
	struct iba_ext_speeds_counters v;

	if (iba_ext_speeds_counters_get(&v, iba_smp_data_const(mad), IBA_PERF_DATA_SIZE) ||
	    v.port_select != port + 1) {
		p->st.bad++;
		return;
	}
	perf_counters_quality(p, d, &d->ports[port], &v);
}

static void on_cleared(struct perf *p, uint32_t device, unsigned port, const uint8_t *mad)
{
	struct perf_device *d = &p->devices.at[device];
	struct iba_port_counters v;

	if (!iba_port_counters_get(&v, iba_smp_data_const(mad), IBA_PERF_DATA_SIZE) &&
	    v.port_select == port + 1)
		perf_counters_cleared(p, d, &d->ports[port], &v,
				      perf_counters_to_clear(d, &d->ports[port]));
}

/* It said what it has, and does not: read what every device has. Without that it is asked less often. */
static void refused(struct perf *p, struct perf_device *d, enum perf_ask ask, unsigned status)
{
	p->st.refused++;
	if ((status & 0xff) == IBA_STATUS_BUSY)
		return;
	if (ask == PERF_ASK_WIDE)
		d->has &= (uint8_t) ~(PERF_HAS_WIDE | PERF_HAS_WIDE_ERRORS);
	else if (ask == PERF_ASK_QUALITY)
		d->has &= (uint8_t)~PERF_HAS_QUALITY;
	else if (ask == PERF_ASK_NARROW)
		leave_alone(p, d);
}

static void answered(struct perf *p, const struct perf_query *x, const uint8_t *mad)
{
	struct perf_device *d = &p->devices.at[x->device];
	unsigned status = iba_smp_status(mad);

	p->st.answers++;
	if (status && x->ask != PERF_ASK_CLASS) {
		refused(p, d, x->ask, status);
		return;
	}
	heard(p, d);
	switch ((enum perf_ask)x->ask) {
	case PERF_ASK_CLASS:
		on_class(p, d, mad);
		break;
	case PERF_ASK_NARROW:
		on_narrow(p, x->device, x->port, mad);
		break;
	case PERF_ASK_WIDE:
		on_wide(p, x->device, x->port, mad);
		break;
	case PERF_ASK_QUALITY:
		on_quality(p, x->device, x->port, mad);
		break;
	case PERF_ASK_CLEAR:
		on_cleared(p, x->device, x->port, mad);
		break;
	}
}

/* PERF_NOBODY: no query has this transaction. */
static uint32_t slot_of(const struct perf *p, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)iba_smp_tid(mad), slot = tid & ((1u << SLOT_BITS) - 1);

	return slot < p->cfg.window && p->queries[slot].used && tid_of(p, slot) == tid
		       ? slot
		       : PERF_NOBODY;
}

void perf_take(struct perf *p, const struct perf_mad *in, time_ps now)
{
	uint32_t slot = slot_of(p, in->mad);
	struct perf_query x;

	p->now = perf_us(p, now);
	if (slot == PERF_NOBODY || iba_smp_method(in->mad) != IBA_GET_RESP ||
	    iba_smp_base_version(in->mad) != 1 || iba_smp_class_version(in->mad) != 1 ||
	    iba_smp_attr_id(in->mad) != attribute_of(&p->queries[slot]) ||
	    in->lid != p->queries[slot].lid) {
		p->st.bad++;
		return;
	}
	x = p->queries[slot];
	query_end(p, slot);
	answered(p, &x, in->mad);
	if (p->devices.at[x.device].next != DONE)
		queue_push(p, x.device);
}

void perf_lost(struct perf *p, const uint8_t *mad, time_ps now)
{
	uint32_t slot = slot_of(p, mad);

	p->now = perf_us(p, now);
	if (slot != PERF_NOBODY)
		unanswered(p, slot);
}

void perf_queries_excuse(struct perf *p)
{
	for (uint32_t i = p->oldest; i != PERF_NOBODY; i = p->queries[i].later)
		p->queries[i].excused = true;
}

/* ---- rounds ---- */

static void pass_begin(struct perf *p, bool whole)
{
	p->in_round = true;
	p->whole = whole;
	p->round_began = p->now;
	p->round_queries = p->round_put_off = 0;
	for (size_t i = 0; i < p->order.n; i++) {
		struct perf_device *d = &p->devices.at[p->order.at[i]];

		d->next = whole || d->quick ? 0 : (uint32_t)DONE;
		if (d->skip && whole)
			d->skip--;
		if (d->skip || (d->silent && !whole))
			d->next = DONE;
		if (d->next != DONE)
			queue_push(p, p->order.at[i]);
	}
}

/* What is isolated and cannot be reached is calm: it shows when it is in use again. */
static void unreachable_recover(struct perf *p)
{
	for (size_t i = 0; p->st.isolated && i < p->devices.n; i++) {
		struct perf_device *d = &p->devices.at[i];

		for (unsigned k = 0; d->used && d->gone != PERF_NEVER && k < d->nports; k++)
			if (d->ports[k].isolated)
				perf_health(p, d, &d->ports[k], &(struct perf_read){0});
	}
}

/* Turns begin when a round was late, and end when one with all questions would take three quarters of the period. */
static void turns_decide(struct perf *p)
{
	uint64_t period = p->cfg.period / PS_PER_US, us = p->st.round_us;
	uint64_t in_full = us + us * p->round_put_off / MAX(p->round_queries, (uint64_t)1);

	p->turns = p->turns ? in_full > period / 4 * 3 : us > period;
}

static void pass_end(struct perf *p)
{
	p->in_round = false;
	p->quick_due = p->quick_us == PERF_NEVER ? PERF_NEVER : p->round_began + p->quick_us;
	if (!p->whole)
		return;
	p->st.rounds++;
	p->st.round_us = p->now - p->round_began;
	p->st.round_queries = p->round_queries;
	p->st.late_rounds += p->st.round_us > p->cfg.period / PS_PER_US;
	p->st.put_off = p->round_put_off;
	turns_decide(p);
	p->round_due = p->round_began + p->cfg.period / PS_PER_US;
	unreachable_recover(p);
}

void perf_wake(struct perf *p, time_ps now)
{
	p->now = perf_us(p, now);
	while (p->oldest != PERF_NOBODY && p->queries[p->oldest].deadline <= p->now)
		unanswered(p, p->oldest);
	if (p->in_round && !p->queued && p->outstanding <= p->probes && !p->clears.n)
		pass_end(p);
	if (p->in_round || !p->serving || p->paused)
		return;
	if (p->now >= p->round_due)
		pass_begin(p, true);
	else if (p->now >= p->quick_due)
		pass_begin(p, false);
}

uint64_t perf_queries_due(const struct perf *p)
{
	uint64_t due = p->oldest == PERF_NOBODY ? PERF_NEVER : p->queries[p->oldest].deadline;

	if (!p->serving || p->paused)
		return due;
	if (may_send(p) && (p->queued || p->clears.n))
		return 0;
	if (!p->in_round)
		return MIN(due, MIN(p->round_due, p->quick_due));
	return p->queued || p->clears.n || p->outstanding > p->probes ? due : 0;
}
