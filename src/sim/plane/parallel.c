/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One simulation in parts, on one or several threads. State: struct crew, while sim_run_parallel()
 * runs. Way in: sim_run_parallel(). Does not run anything but data packets: SMPs, callbacks and
 * changes of the world happen in the whole.
 *
 * Whatever leaves a node takes the propagation of a link at least. So when the earliest event of
 * all is at t, no part can be surprised before t + propagation: up to there each runs its own
 * events. Then all meet, and the next window begins with what was sent in the last. What a node
 * sees, and in which order, does not depend on the parts: arrivals are ranked by port
 * (sim_push_arrival()), and what a node does itself comes in the order in which it asked for it.
 */
#include "sim/plane/parallel_priv.h"

#include <sched.h>

enum { SPINS = 2000, WORTH_WINDOWS = 16, WORTH_TIMES = 4, RETRY_TIMES = 32 };

/* ---- windows ---- */

bool crew_mail(struct sim *s, const struct ev *e)
{
	struct crew *c = s->crew;
	unsigned to = c->part_of[e->a];
	struct crew_hand *h = &c->hands[c->parts[s->part].hand];

	if (to == s->part)
		return false;
	assert(e->when >= c->horizon);
	vec_push(&h->box[c->window & 1][to], *e);
	h->next = MIN(h->next, e->when);
	return true;
}

static void take_mail(struct crew *c, unsigned part, unsigned box)
{
	for (unsigned k = 0; k < c->nhands; k++) {
		struct crew_hand *from = &c->hands[k];

		for (size_t i = 0; i < from->box[box][part].n; i++)
			evq_put(&c->parts[part].sim.q, &from->box[box][part].at[i]);
		from->box[box][part].n = 0;
	}
}

/* A part that runs out of free places stops where it is: all go on from there. */
static void run_window(struct crew_hand *h, unsigned part)
{
	struct crew *c = h->crew;
	struct crew_part *p = &c->parts[part];

	take_mail(c, part, (c->window - 1) & 1);
	while (!c->over && evq_next(&p->sim.q) < c->horizon && !crew_is_dry(p))
		sim_step(&p->sim);
	h->next = MIN(h->next, evq_next(&p->sim.q));
}

/* Between two windows, when all have arrived. */
static void next_window(struct crew *c)
{
	time_ps first = TIME_NEVER;

	for (unsigned k = 0; k < c->nhands; k++)
		first = MIN(first, c->hands[k].next);
	crew_refill(c);
	c->over = first > c->limit;
	c->horizon = c->limit - MIN(first, c->limit) < c->lookahead ? c->limit + 1
								    : first + c->lookahead;
	c->window++;
	if (!c->over)
		c->whole->now = MAX(c->whole->now, first); /* for whoever shows progress */
}

static void wait_for(struct crew *c, unsigned round)
{
	for (unsigned i = 0; i < SPINS; i++) {
		if (atomic_load_explicit(&c->round, memory_order_acquire) != round)
			return;
		if (i % 64 == 63)
			sched_yield();
	}
	pthread_mutex_lock(&c->lock);
	while (atomic_load_explicit(&c->round, memory_order_acquire) == round)
		pthread_cond_wait(&c->go, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static void meet(struct crew *c)
{
	unsigned round = atomic_load_explicit(&c->round, memory_order_acquire);

	if (atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel) + 1 < c->nhands) {
		wait_for(c, round);
		return;
	}
	atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
	next_window(c);
	if (c->nhands == 1)
		return;
	pthread_mutex_lock(&c->lock);
	atomic_store_explicit(&c->round, round + 1, memory_order_release);
	pthread_cond_broadcast(&c->go);
	pthread_mutex_unlock(&c->lock);
}

static void run_hand(struct crew_hand *h)
{
	struct crew *c = h->crew;

	do {
		meet(c);
		h->next = TIME_NEVER;
		for (unsigned k = h->first; k < h->end; k++)
			run_window(h, k);
		if (c->tick && !h->first && c->window % 64 == 0)
			c->tick(c->tick_ctx);
	} while (!c->over);
}

static void *start_hand(void *arg)
{
	struct crew_hand *h = arg;

	pthread_mutex_lock(&h->crew->lock);
	pthread_mutex_unlock(&h->crew->lock);
	run_hand(h);
	return NULL;
}

/* ---- hands ---- */

static void hand_begin(struct crew *c, unsigned i)
{
	struct crew_hand *h = &c->hands[i];

	h->first = i * c->nparts / c->nhands;
	h->end = (i + 1) * c->nparts / c->nhands;
	h->next = TIME_NEVER;
	for (unsigned k = 0; k < 2; k++)
		h->box[k] = mem_zarray(c->nparts, sizeof(*h->box[k]));
	for (unsigned k = h->first; k < h->end; k++) {
		c->parts[k].hand = i;
		h->next = MIN(h->next, evq_next(&c->parts[k].sim.q));
	}
}

static void hand_end(struct crew *c, unsigned i)
{
	for (unsigned k = 0; k < 2 * c->nparts; k++)
		vec_free(&c->hands[i].box[k / c->nparts][k % c->nparts]);
	free(c->hands[i].box[0]);
	free(c->hands[i].box[1]);
}

/* Nobody begins before it is known who is there: there may be fewer threads than were asked for. */
static void run_all(struct crew *c)
{
	unsigned n = 1;

	c->hands = mem_zarray(c->nhands, sizeof(*c->hands));
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->go, NULL);
	pthread_mutex_lock(&c->lock);
	for (unsigned k = 0; k < c->nhands; k++)
		c->hands[k].crew = c;
	while (n < c->nhands &&
	       !pthread_create(&c->hands[n].thread, NULL, start_hand, &c->hands[n]))
		n++;
	c->nhands = n;
	for (unsigned k = 0; k < n; k++)
		hand_begin(c, k);
	pthread_mutex_unlock(&c->lock);
	run_hand(&c->hands[0]);
	for (unsigned k = 1; k < n; k++)
		pthread_join(c->hands[k].thread, NULL);
	for (unsigned k = 0; k < c->nhands; k++)
		hand_end(c, k);
	pthread_cond_destroy(&c->go);
	pthread_mutex_destroy(&c->lock);
	free(c->hands);
}

/* ---- the way in ---- */

static unsigned cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* Nothing from a link comes sooner than this after it was sent: a flow control packet on the
 * shortest and fastest one. */
static time_ps lookahead_of(const struct sim *s)
{
	unsigned bytes = MIN(s->cfg.plane.header_bytes, (unsigned)PLANE_FC_BYTES);
	time_ps least = TIME_NEVER;

	for (port_id p = 0; p < s->fab->nports; p++)
		if (s->ports[p].peer != FAB_NONE)
			least = MIN(least, s->ports[p].wire_ps + wire_time(s, p, bytes));
	return least;
}

/* Somebody listens, SMPs are under way, or nodes have more in common than links: one stream of
 * random numbers for damaged bytes, packets that wait for static rate control, statistics that count
 * a loss where the packet was made. */
static bool must_stay_whole(const struct sim *s)
{
	const struct sim_plane_config *c = &s->cfg.plane;

	return !s->plane || s->stats.in_flight || s->watch.seen || s->changes.changed ||
	       s->plane->tap.sent || s->plane->discards.discarded || s->plane->detail ||
	       c->byte_error_q40 || c->rate_control;
}

static bool pays(const struct crew *c)
{
	const struct sim *s = c->whole;

	return c->lookahead && c->limit > s->now &&
	       (c->limit - s->now) / WORTH_WINDOWS >= c->lookahead;
}

static bool try_apart(struct sim *s, struct crew *c, unsigned threads)
{
	uint64_t events = s->stats.events, pending = s->q.n;

	s->crew_after = events + RETRY_TIMES * pending + 1; /* looking costs time, too */
	c->nparts = crew_part_count(s, threads);
	c->nhands = MIN(threads ? threads : cores(), c->nparts);
	if (c->nparts < 2)
		return false;
	c->lookahead = lookahead_of(s);
	if (!pays(c))
		return false;
	crew_deal(c); /* which may find a nearer limit */
	if (pays(c))
		run_all(c);
	crew_join(c);
	if (s->stats.events >= events + WORTH_TIMES * pending)
		s->crew_after = 0;
	return s->stats.events > events;
}

/* Asked again and again, so it says no quickly. */
bool sim_run_parallel(struct sim *s, time_ps limit, unsigned threads, void (*tick)(void *ctx),
		      void *ctx)
{
	if (s->stats.events < s->crew_after || limit <= s->now || must_stay_whole(s))
		return false;
	return try_apart(s,
			 &(struct crew){.whole = s, .limit = limit, .tick = tick, .tick_ctx = ctx},
			 threads);
}
