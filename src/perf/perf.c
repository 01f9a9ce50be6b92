/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The performance manager as a whole: its life, its clock, its events, minutes of the fabric, and what others see of it.
 * State: struct perf. Ways in: the functions of perf.h. Asks no device itself: queries.c does.
 */
#include "perf/perf_priv.h"

void perf_config_default(struct perf_config *c)
{
	*c = (struct perf_config){
		.window = 128,
		.timeout = 500 * PS_PER_MS,
		.ber = 12,
		.least = 10,
		.watch = 60 * PS_PER_S,
		.well = 600 * PS_PER_S,
		.isolate_most = 4,
	};
}

uint64_t perf_us(const struct perf *p, time_ps now)
{
	return MAX(now / PS_PER_US + p->shift, p->now);
}

/* ---- life ---- */

static void window_new(struct perf *p)
{
	p->queries = mem_zarray(p->cfg.window, sizeof(*p->queries));
	p->oldest = p->newest = PERF_NOBODY;
	p->outstanding = p->probes = 0;
	p->unused.n = 0;
	for (uint32_t i = p->cfg.window; i-- > 0;)
		vec_push(&p->unused, i);
}

struct perf *perf_new(const struct perf_config *c)
{
	struct perf *p = mem_zalloc(sizeof(*p));

	p->cfg = *c;
	p->cfg.window = MIN(MAX(c->window, 1u), (unsigned)PERF_MAX_WINDOW);
	p->quick_us = p->quick_due = PERF_NEVER;
	p->queue = mem_array(1, sizeof(*p->queue));
	p->minutes = mem_zarray(PERF_MINUTES, sizeof(*p->minutes));
	window_new(p);
	return p;
}

void perf_free(struct perf *p)
{
	if (!p)
		return;
	perf_devices_free(p);
	free(p->queries);
	free(p->queue);
	free(p->minutes);
	vec_free(&p->unused);
	vec_free(&p->clears);
	vec_free(&p->events);
	free(p);
}

static void window_change(struct perf *p, unsigned window)
{
	for (size_t i = 0; i < p->devices.n; i++)
		p->devices.at[i].outstanding = 0;
	free(p->queries);
	p->cfg.window = MIN(MAX(window, 1u), (unsigned)PERF_MAX_WINDOW);
	window_new(p);
}

void perf_reconfigure(struct perf *p, const struct perf_config *c)
{
	unsigned window = p->cfg.window;

	if (c->watch != p->cfg.watch) /* parts have another length */
		for (size_t i = 0; i < p->devices.n; i++)
			for (unsigned k = 0; k < p->devices.at[i].nports; k++) {
				memset(p->devices.at[i].ports[k].part, 0,
				       sizeof(p->devices.at[i].ports[k].part));
				p->devices.at[i].ports[k].part_now = 0;
			}
	p->has_snapshot &= p->cfg.day == c->day; /* devices are made again */
	p->cfg = *c;
	p->cfg.window = window;
	if (c->window != window)
		window_change(p, c->window);
	p->round_due = MIN(p->round_due, p->now + c->period / PS_PER_US);
	perf_health_reinstate(p);
}

void perf_time_back(struct perf *p, time_ps by)
{
	p->shift += by / PS_PER_US;
}

void perf_new_manager(struct perf *p, bool observes)
{
	p->observes = observes;
	p->has_snapshot = p->serving = false;
	perf_health_forget_orders(p);
}

/* ---- the manager ---- */

/* SMPs come first: while the manager works on a change, nothing is sent. */
static bool is_busy(const struct sm_standing *st)
{
	return st->phase != SM_READY && st->phase != SM_SWEEP;
}

void perf_manager(struct perf *p, const struct sm *sm, const struct sm_standing *st, time_ps now)
{
	bool paused = is_busy(st);

	p->now = perf_us(p, now);
	p->serving = p->cfg.period && (st->state == IBA_SM_MASTER || p->observes) && st->lid;
	if (p->paused != paused)
		perf_queries_excuse(p);
	p->paused = paused;
	if (p->serving && !paused)
		perf_devices_update(p, sm, st);
	p->serving = p->serving && p->has_snapshot;
}

time_ps perf_due(const struct perf *p)
{
	uint64_t us = perf_queries_due(p);

	if (us == PERF_NEVER)
		return TIME_NEVER;
	return us > p->shift ? (us - p->shift) * PS_PER_US : 0;
}

/* ---- events ---- */

void perf_tell(struct perf *p, const struct perf_event *ev)
{
	/* Orders are never dropped: both ends would be of two minds. */
	if (p->events.n >= PERF_EVENTS && ev->kind != PERF_ISOLATE && ev->kind != PERF_REINSTATE) {
		p->st.events_dropped++;
		return;
	}
	vec_push(&p->events, *ev);
}

bool perf_event(struct perf *p, struct perf_event *ev)
{
	if (p->events_taken == p->events.n) {
		p->events.n = p->events_taken = 0;
		return false;
	}
	*ev = p->events.at[p->events_taken++];
	return true;
}

/* ---- minutes of the fabric ---- */

static void minute_turn(struct perf *p, uint64_t minute)
{
	struct perf_minute *m = &p->minute;

	m->ports = p->nports;
	m->sick = p->st.sick;
	m->isolated = p->st.isolated;
	m->silent = p->st.silent;
	m->known = true;
	if (p->minute_now)
		p->minutes[p->minute_now % PERF_MINUTES] = *m;
	for (uint64_t i = p->minute_now + 1; p->minute_now && i < minute; i++) {
		if (i + PERF_MINUTES <= minute)
			i = minute - PERF_MINUTES + 1;
		p->minutes[i % PERF_MINUTES] = (struct perf_minute){0};
	}
	*m = (struct perf_minute){0};
	p->minute_now = minute;
}

void perf_minute_add(struct perf *p, const struct perf_delta *d)
{
	uint64_t minute = p->now / (60 * US_PER_S) + 1;

	if (minute != p->minute_now)
		minute_turn(p, minute);
	p->minute.xmit_bytes += d->xmit * 4;
	p->minute.rcv_bytes += d->rcv * 4;
	p->minute.errors += d->errors;
	p->minute.wait += d->wait;
}

void perf_fabric_day(const struct perf *p, struct perf_minute *out, uint32_t n, time_ps now)
{
	uint64_t minute = perf_us(p, now) / (60 * US_PER_S) + 1;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t want = minute > n - i ? minute - (n - i) : 0;

		out[i] = (struct perf_minute){0};
		if (want && want < p->minute_now && want + PERF_MINUTES > p->minute_now)
			out[i] = p->minutes[want % PERF_MINUTES];
	}
}

/* ---- looking in ---- */

void perf_status(const struct perf *p, struct perf_status *st)
{
	*st = p->st;
	st->on = p->cfg.period != 0;
	st->serving = p->serving;
	st->paused = p->paused;
	st->devices = (uint32_t)p->order.n;
	st->ports = p->nports;
	st->outstanding = p->outstanding;
	st->narrow = 0;
	for (size_t i = 0; i < p->order.n; i++) {
		const struct perf_device *d = &p->devices.at[p->order.at[i]];

		st->narrow += d->known && !(d->has & PERF_HAS_WIDE);
	}
}

void perf_totals(const struct perf *p, uint64_t total[PERF_NCOUNTERS])
{
	memcpy(total, p->total, sizeof(p->total));
}

static unsigned flags_of(const struct perf_device *d, const struct perf_port *q)
{
	const uint64_t read = d->has & PERF_HAS_WIDE ? q->read_wide : q->read_narrow;

	return (q->sick ? PERF_IS_SICK : 0u) | (q->isolated ? PERF_IS_ISOLATED : 0u) |
	       (q->saturated ? PERF_IS_SATURATED : 0u) | (d->silent ? PERF_IS_SILENT : 0u) |
	       (read != PERF_NEVER ? PERF_IS_READ : 0u) |
	       (d->known && !(d->has & PERF_HAS_WIDE) ? PERF_IS_NARROW : 0u) |
	       (q->linked ? PERF_IS_LINKED : 0u) |
	       (q->read_quality != PERF_NEVER ? PERF_IS_QUALITY : 0u);
}

static void view(const struct perf *p, const struct perf_device *d, const struct perf_port *q,
		 uint64_t now, struct perf_view *v)
{
	uint64_t read = q->read_wide != PERF_NEVER ? q->read_wide : q->read_narrow;

	*v = (struct perf_view){.guid = d->guid,
				.peer = q->peer,
				.port = q->num,
				.peer_port = q->peer_port,
				.flags = flags_of(d, q),
				.bps = q->bps,
				.xmit_bytes = q->xmit_rate,
				.rcv_bytes = q->rcv_rate,
				.wait = q->wait_rate,
				.errors = perf_health_errors(p, q),
				.bits = perf_health_bits(p, q),
				.sick_since_us = q->sick ? now - q->sick_at : UINT64_MAX,
				.read_us = read == PERF_NEVER ? UINT64_MAX : now - read};
	memcpy(v->count, q->count, sizeof(v->count));
	memcpy(v->device, q->last, sizeof(v->device));
}

bool perf_port_get(const struct perf *p, uint64_t guid, unsigned port, struct perf_view *v,
		   time_ps now)
{
	const struct perf_device *d;
	const struct perf_port *q = perf_port_find(p, guid, port, &d);

	if (q)
		view(p, d, q, perf_us(p, now), v);
	return q != NULL;
}

static const char *const sort_names[PERF_NSORTS] = {"load", "errors", "wait", "name"};

const char *perf_sort_name(enum perf_sort s)
{
	return s < PERF_NSORTS ? sort_names[s] : "?";
}

/* Load by share of the link: a slow link that is full comes first. In parts of a million. */
static uint64_t weight(const struct perf *p, const struct perf_port *q, enum perf_sort by)
{
	switch (by) {
	case PERF_BY_LOAD:
		return q->bps ? MAX(q->xmit_rate, q->rcv_rate) * 8 / MAX(q->bps / 1000000, 1u) : 0;
	case PERF_BY_ERRORS:
		return perf_health_errors(p, q) + ((uint64_t)q->sick << 40);
	case PERF_BY_WAIT:
		return q->wait_rate;
	case PERF_BY_NAME:
	case PERF_NSORTS:
		break;
	}
	return 0;
}

struct place {
	uint64_t weight;
	const struct perf_device *d;
	const struct perf_port *q;
	uint32_t at; /* in the order of GUIDs and ports */
};

static int heaviest_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_at(const struct map64 *nodes, const struct perf_device *d, const struct perf_port *q)
{
	return !nodes || map64_get(nodes, d->guid) != MAP_NONE ||
	       (q->peer && map64_get(nodes, q->peer) != MAP_NONE);
}

uint32_t perf_list(const struct perf *p, enum perf_sort by, unsigned flags, struct perf_view *out,
		   uint32_t most, time_ps now)
{
	return perf_list_at(p, by, flags, NULL, out, most, now);
}

/* Sorted as a whole: a list of the best that grows port by port can take a second on a large subnet. Devices in the
 * snapshot, and isolated ones behind them. */
uint32_t perf_list_at(const struct perf *p, enum perf_sort by, unsigned flags,
		      const struct map64 *nodes, struct perf_view *out, uint32_t most, time_ps now)
{
	VEC(struct place) all = {0};
	uint32_t n;

	for (size_t i = 0; i < p->order.n; i++) {
		const struct perf_device *d = &p->devices.at[p->order.at[i]];

		for (unsigned k = 0; k < d->nports; k++) {
			const struct perf_port *q = &d->ports[k];

			if ((q->linked || q->isolated) && (flags_of(d, q) & flags) == flags &&
			    is_at(nodes, d, q))
				vec_push(&all,
					 ((struct place){weight(p, q, by), d, q, (uint32_t)all.n}));
		}
	}
	if (by != PERF_BY_NAME && all.n)
		qsort(all.at, all.n, sizeof(*all.at), heaviest_first);
	n = (uint32_t)MIN(all.n, (size_t)most);
	for (uint32_t i = 0; i < n; i++)
		view(p, all.at[i].d, all.at[i].q, perf_us(p, now), &out[i]);
	vec_free(&all);
	return n;
}

bool perf_hour(const struct perf *p, uint64_t guid, unsigned port, struct perf_sample *out,
	       uint32_t n, time_ps now)
{
	const struct perf_port *q = perf_port_find(p, guid, port, NULL);

	if (!q || n > PERF_SLOTS)
		return false;
	perf_ring_read(&q->hour, PERF_SLOTS, PERF_SLOT_S * US_PER_S, perf_us(p, now), out, n);
	return true;
}

bool perf_day(const struct perf *p, uint64_t guid, unsigned port, struct perf_sample *out,
	      uint32_t n, time_ps now)
{
	const struct perf_port *q = perf_port_find(p, guid, port, NULL);

	if (!q || !q->day.at || n > PERF_MINUTES)
		return false;
	perf_ring_read(&q->day, PERF_MINUTES, 60 * US_PER_S, perf_us(p, now), out, n);
	return true;
}

void perf_ber_text(uint64_t errors, uint64_t bits, char out[16])
{
	unsigned exponent = 0;
	uint64_t tenths;

	if (!errors || !bits) {
		snprintf(out, 16, "0");
		return;
	}
	/* Below 10 errors in 10 units, with one digit behind the point. */
	while (errors < bits && exponent < 19 && errors < UINT64_MAX / 100) {
		errors *= 10;
		exponent++;
	}
	tenths = errors / MAX(bits / 10, (uint64_t)1);
	snprintf(out, 16, "%u.%ue-%u", (unsigned)MIN(tenths / 10, (uint64_t)99),
		 (unsigned)(tenths % 10), exponent);
}
