/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which links are sick: errors of the physical layer within the time that is watched, compared with the bits that the
 * link carries in it (a link sends symbols whether or not there are packets). State: the health of a struct perf_port.
 * Way in: perf_health(), after each read of a port. Isolates nothing itself: the manager does, by events.
 *
 * Hysteresis: sick at the threshold, well after a time with less than a tenth of it; that time doubles with each relapse
 * within a day.
 */
#include "perf/perf_priv.h"

enum {
	WEIGHT = 5,   /* of a link error recovery and of a link that went down, in symbol errors */
	DOUBLE = 6,   /* the time until a link counts as well doubles so often at most */
	ORDER_S = 10, /* the manager has had time to isolate a link */
	DAY_S = 86400,
};

uint64_t perf_health_bits(const struct perf *p, const struct perf_port *q)
{
	return q->bps / 1000 * (p->cfg.watch / PS_PER_US) / 1000;
}

static uint64_t threshold(const struct perf *p, const struct perf_port *q)
{
	uint64_t n = perf_health_bits(p, q);

	for (unsigned i = 0; i < p->cfg.ber; i++)
		n /= 10;
	return MAX(n, (uint64_t)p->cfg.least);
}

static uint64_t part_us(const struct perf *p)
{
	return MAX(p->cfg.watch / PS_PER_US / PERF_PARTS, (uint64_t)1);
}

uint64_t perf_health_errors(const struct perf *p, const struct perf_port *q)
{
	uint64_t now = p->now / part_us(p), sum = 0;

	for (unsigned i = 0; i < PERF_PARTS; i++)
		if (q->part_now >= i && q->part_now - i + PERF_PARTS > now)
			sum += q->part[(q->part_now - i) % PERF_PARTS];
	return sum;
}

static void add(struct perf *p, struct perf_port *q, uint64_t errors)
{
	uint64_t now = p->now / part_us(p);
	uint32_t *at;

	for (unsigned i = 0; q->part_now < now && i < PERF_PARTS; i++)
		q->part[++q->part_now % PERF_PARTS] = 0;
	q->part_now = now;
	at = &q->part[now % PERF_PARTS];
	*at = (uint32_t)MIN(*at + errors, (uint64_t)UINT32_MAX);
}

static void tell(struct perf *p, const struct perf_device *d, const struct perf_port *q,
		 enum perf_event_kind kind)
{
	perf_tell(p, &(struct perf_event){
			     .kind = kind,
			     .guid = d->guid,
			     .port = q->num,
			     .peer = q->peer,
			     .peer_port = q->peer_port,
			     .errors = perf_health_errors(p, q),
			     .bits = perf_health_bits(p, q),
			     .over_us = p->cfg.watch / PS_PER_US,
			     .round = p->st.rounds,
		     });
}

/* ---- isolation ---- */

static struct perf_port *far_end(struct perf *p, const struct perf_port *q)
{
	return q->peer ? perf_port_find(p, q->peer, q->peer_port, NULL) : NULL;
}

static bool may_isolate(const struct perf *p, const struct perf_device *d,
			const struct perf_port *q)
{
	bool between = d->is_switch && q->peer_is_switch;

	if (p->cfg.isolate == PERF_ISOLATE_OFF || p->observes || !q->linked || q->isolated ||
	    q->kept || (!d->is_switch && !q->peer_is_switch))
		return false;
	return (between || p->cfg.isolate == PERF_ISOLATE_ALL) &&
	       p->st.isolated < p->cfg.isolate_most;
}

static void isolate(struct perf *p, struct perf_device *d, struct perf_port *q)
{
	struct perf_port *far = far_end(p, q);

	q->isolated = true;
	q->order_guid = d->is_switch ? d->guid : q->peer;
	q->order_port = d->is_switch ? q->num : q->peer_port;
	q->ordered_at = p->now;
	p->st.isolated++;
	if (far) {
		far->isolated = true;
		far->order_guid = 0;
		far->order_port = 0;
		far->ordered_at = p->now;
	}
	perf_tell(p, &(struct perf_event){.kind = PERF_ISOLATE,
					  .guid = q->order_guid,
					  .port = q->order_port,
					  .peer = d->is_switch ? q->peer : d->guid,
					  .peer_port = d->is_switch ? q->peer_port : q->num});
}

static void release(struct perf *p, struct perf_port *q, enum perf_event_kind kind)
{
	struct perf_port *far = far_end(p, q), *by = q->order_port ? q : far;

	q->isolated = false;
	if (far)
		far->isolated = false;
	if (by && by->order_port)
		perf_tell(p, &(struct perf_event){
				     .kind = kind,
				     .guid = by->order_guid,
				     .port = by->order_port,
				     .peer = by->peer,
				     .peer_port = by->peer_port,
			     });
	if (by && by->order_port) {
		by->order_port = 0;
		p->st.isolated--;
	}
	if (kind != PERF_KEPT)
		return;
	q->kept = true;
	if (far)
		far->kept = true;
}

/* Without counters no link can get well. */
static bool policy_isolates(const struct perf *p, const struct perf_device *d,
			    const struct perf_port *q)
{
	bool between = d->is_switch && q->peer_is_switch;

	return p->cfg.period && p->cfg.isolate != PERF_ISOLATE_OFF &&
	       (between || p->cfg.isolate == PERF_ISOLATE_ALL);
}

void perf_health_reinstate(struct perf *p)
{
	for (size_t i = 0; i < p->devices.n; i++)
		for (unsigned k = 0; p->devices.at[i].used && k < p->devices.at[i].nports; k++)
			if (p->devices.at[i].ports[k].isolated &&
			    !policy_isolates(p, &p->devices.at[i], &p->devices.at[i].ports[k]))
				release(p, &p->devices.at[i].ports[k], PERF_REINSTATE);
}

void perf_health_forget_orders(struct perf *p)
{
	p->st.isolated = 0;
	for (size_t i = 0; i < p->devices.n; i++)
		for (unsigned k = 0; p->devices.at[i].used && k < p->devices.at[i].nports; k++) {
			p->devices.at[i].ports[k].isolated = false;
			p->devices.at[i].ports[k].order_port = 0;
			p->devices.at[i].ports[k].kept = false;
		}
}

/* The link is still in use: the manager would lose a switch without it. */
static void look_after(struct perf *p, struct perf_port *q)
{
	if (q->isolated && q->linked && p->now > q->ordered_at + ORDER_S * US_PER_S)
		release(p, q, PERF_KEPT);
}

/* ---- sick and well ---- */

static void fall_sick(struct perf *p, struct perf_device *d, struct perf_port *q)
{
	if (p->now > q->last_sick + DAY_S * US_PER_S)
		q->times_sick = 0;
	q->times_sick = (uint8_t)MIN(q->times_sick + 1, 255);
	q->sick = true;
	q->sick_at = p->now;
	q->calm_at = PERF_NEVER;
	p->st.sick++;
	tell(p, d, q, PERF_SICK);
}

static void get_well(struct perf *p, struct perf_device *d, struct perf_port *q)
{
	const struct perf_port *far = far_end(p, q);

	q->sick = q->kept = false;
	q->sick_at = PERF_NEVER;
	p->st.sick--;
	tell(p, d, q, PERF_WELL);
	if (q->isolated && !(far && far->sick))
		release(p, q, PERF_REINSTATE);
}

/* A full counter counts no more: that its link is quiet says nothing. */
static bool is_calm(const struct perf *p, const struct perf_port *q, const struct perf_read *r,
		    uint64_t sum)
{
	bool blind = r->elapsed && q->saturated & 1u << PERF_SYMBOL_ERROR;

	return !blind && sum * 10 < threshold(p, q);
}

static void watch_recovery(struct perf *p, struct perf_device *d, struct perf_port *q, bool calm)
{
	uint64_t needed = p->cfg.well / PS_PER_US << MIN(q->times_sick - 1, DOUBLE);

	q->last_sick = p->now;
	if (!calm)
		q->calm_at = PERF_NEVER;
	else if (q->calm_at == PERF_NEVER)
		q->calm_at = p->now;
	else if (p->now - q->calm_at >= needed)
		get_well(p, d, q);
}

/* Errors of a longer time than is watched, when reads are rare or a device was silent: the share that falls into it. */
static uint64_t errors_watched(const struct perf *p, const struct perf_read *r)
{
	/* Symbol errors of a link that is trained again say nothing about the link. */
	uint64_t errors = r->downs ? r->downs * WEIGHT : r->symbols + r->recoveries * WEIGHT;
	uint64_t watch = p->cfg.watch / PS_PER_US;

	errors = MIN(errors, (uint64_t)UINT32_MAX);
	return r->elapsed > watch ? errors * watch / r->elapsed : errors;
}

void perf_health(struct perf *p, struct perf_device *d, struct perf_port *q,
		 const struct perf_read *r)
{
	uint64_t sum;

	add(p, q, errors_watched(p, r));
	sum = perf_health_errors(p, q);
	if (!q->sick && q->bps && sum >= threshold(p, q))
		fall_sick(p, d, q);
	else if (q->sick)
		watch_recovery(p, d, q, is_calm(p, q, r, sum));
	look_after(p, q);
	if (q->sick && may_isolate(p, d, q))
		isolate(p, d, q);
}
