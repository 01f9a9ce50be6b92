/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A calendar queue (R. Brown, CACM 31(10), 1988): days as sorted lists, as many as there are events
 * within a factor of two, a day's length taken from the gaps between the next 25 events. Days and
 * their number are powers of two, so that no division is needed. Way in: evq_calendar.
 */
#include "pool.h"

enum { SAMPLE = 25 };

struct evq_calendar {
	struct pool pool;
	uint32_t *day; /* lists, earliest first */
	uint32_t n, ndays;
	unsigned shift; /* a day is 2^shift ps */
	uint64_t today; /* number of the day, from time 0, before which nothing is pending */
	bool found;	/* the first of today's list is the next event */
	uint64_t seq;
};

static inline uint32_t *cal_day(struct evq_calendar *q, uint64_t number)
{
	return &q->day[number & (q->ndays - 1)];
}

static void cal_insert(struct evq_calendar *q, uint32_t i)
{
	struct pool_node *at = q->pool.at;
	uint64_t number = at[i].e.when >> q->shift;
	uint32_t *last = cal_day(q, number), x = *last;

	if (!q->n++ || number < q->today) {
		q->today = number;
		q->found = false;
	}
	if (!x || ev_before(&at[x].e, &at[i].e)) {
		*last = pool_append(&q->pool, x, i);
		return;
	}
	while (ev_before(&at[at[x].next].e, &at[i].e))
		x = at[x].next;
	at[i].next = at[x].next;
	at[x].next = i;
}

static inline void cal_find(struct evq_calendar *q)
{
	time_ps least = TIME_NEVER;

	if (q->found || !q->n)
		return;
	q->found = true;
	for (uint32_t k = 0; k < q->ndays; k++, q->today++) {
		uint32_t last = *cal_day(q, q->today);

		if (last && q->pool.at[q->pool.at[last].next].e.when >> q->shift == q->today)
			return;
	}
	for (uint32_t k = 0; k < q->ndays;
	     k++) /* a year without events: look at every day's first */
		if (q->day[k])
			least = MIN(least, q->pool.at[q->pool.at[q->day[k]].next].e.when);
	q->today = least >> q->shift;
}

static inline uint32_t cal_take(struct evq_calendar *q)
{
	uint32_t *last, first;

	cal_find(q);
	last = cal_day(q, q->today);
	first = q->pool.at[*last].next;
	q->pool.at[*last].next = q->pool.at[first].next;
	if (first == *last)
		*last = 0;
	q->n--;
	q->found = false;
	return first;
}

/* Three times the mean gap of the next events, those more than twice the mean apart left out. */
static unsigned cal_new_shift(struct evq_calendar *q)
{
	uint32_t taken[SAMPLE], n = MIN(q->n, (uint32_t)SAMPLE), kept = 0;
	time_ps mean, sum = 0;

	if (n < 2)
		return q->shift;
	for (uint32_t k = 0; k < n; k++)
		taken[k] = cal_take(q);
#define GAP(k) (q->pool.at[taken[k]].e.when - q->pool.at[taken[(k)-1]].e.when)
	mean = (q->pool.at[taken[n - 1]].e.when - q->pool.at[taken[0]].e.when) / (n - 1);
	for (uint32_t k = 1; k < n; k++) {
		if (GAP(k) <= 2 * mean) {
			sum += GAP(k);
			kept++;
		}
	}
#undef GAP
	for (uint32_t k = 0; k < n; k++)
		cal_insert(q, taken[k]);
	sum = kept ? sum / kept * 3 : 0;
	return sum < 2 ? q->shift : 64 - (unsigned)__builtin_clzll(sum - 1);
}

static void cal_resize(struct evq_calendar *q, uint32_t ndays)
{
	unsigned shift = q->ndays ? cal_new_shift(q) : 10;
	uint32_t *old = q->day, nold = q->ndays;

	q->day = mem_zarray(ndays, sizeof(*q->day));
	q->ndays = ndays;
	q->shift = MIN(shift, 63u);
	q->n = 0;
	q->found = false;
	for (uint32_t k = 0; k < nold; k++) {
		uint32_t last = old[k], i = last ? q->pool.at[last].next : 0, next;

		for (; i; i = next) {
			next = i == last ? 0 : q->pool.at[i].next;
			cal_insert(q, i);
		}
	}
	free(old);
}

static inline void evq_calendar_push(struct evq_calendar *q, time_ps when, uint8_t priority,
				     struct ev_what e)
{
	const struct ev new = ev_make(when, ev_order(priority, q->seq++), &e);
	uint32_t i = pool_new(&q->pool);

	q->pool.at[i].e = new;
	if (q->n >= 2 * q->ndays)
		cal_resize(q, q->ndays ? q->ndays * 2 : 16);
	cal_insert(q, i);
}

static inline bool evq_calendar_pop(struct evq_calendar *q, struct ev *e)
{
	uint32_t i;

	if (!q->n)
		return false;
	i = cal_take(q);
	*e = q->pool.at[i].e;
	pool_give(&q->pool, i);
	if (q->ndays > 16 && q->n < q->ndays / 2)
		cal_resize(q, q->ndays / 2);
	return true;
}

static inline time_ps evq_calendar_next(struct evq_calendar *q)
{
	if (!q->n)
		return TIME_NEVER;
	cal_find(q);
	return q->pool.at[q->pool.at[*cal_day(q, q->today)].next].e.when;
}

static inline void evq_calendar_free(struct evq_calendar *q)
{
	free(q->pool.at);
	free(q->day);
}

QUEUE(evq_calendar, "calendar queue");
