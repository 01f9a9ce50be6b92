/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One simulation in several shards, on one or several threads. State: struct parallel, while
 * sim_run_parallel() runs. Way in: sim_run_parallel(). Runs data packets only: SMPs, callbacks,
 * power and cables need the simulation as a whole.
 *
 * A packet takes at least the propagation of a link from node to node. So if the earliest event of
 * all is at t, no shard can receive anything before t + propagation: until then each runs its own
 * events. Then all threads meet, and the next window begins with what was sent in the last one.
 * What a node receives, and in which order, does not depend on the shards: arrivals are ranked by
 * port (sim_push_arrival()), and a node's own events run in the order in which it scheduled them.
 */
#include "sim/plane/parallel_priv.h"

#include <sched.h>

enum { SPINS = 2000, WORTH_WINDOWS = 16, WORTH_TIMES = 4, RETRY_TIMES = 32, TICK_WINDOWS = 64 };

/* ---- windows ---- */

static void take_mail(struct parallel *c, unsigned shard, unsigned box)
{
	for (unsigned k = 0; k < c->nworkers; k++) {
		ev_list *l = &c->workers[k].box[box][shard];

		for (size_t i = 0; i < l->n; i++)
			evq_put(&c->shards[shard].q, &l->at[i]);
		l->n = 0;
	}
}

/* A shard that runs out of free places stops: all continue from there after the refill. */
static void run_window(struct worker *w, unsigned shard)
{
	struct parallel *c = w->run;
	struct shard *sh = &c->shards[shard];
	struct ev none; /* split_events() leaves other kinds of events to the whole */

	take_mail(c, shard, (c->window - 1) & 1);
	while (!c->over && evq_next(&sh->q) < c->horizon && !shard_is_dry(sh))
		plane_run(sh, c->horizon - 1, 1, &none);
	outbox_note(&w->outbox, evq_next(&sh->q));
}

/* Between two windows, while all threads wait. */
static void next_window(struct parallel *c)
{
	time_ps first = TIME_NEVER;

	for (unsigned k = 0; k < c->nworkers; k++)
		first = MIN(first, c->workers[k].outbox.earliest);
	shards_refill(c);
	c->over = first > c->limit;
	c->horizon = c->limit - MIN(first, c->limit) < c->lookahead ? c->limit + 1
								    : first + c->lookahead;
	c->window++;
	if (c->over)
		return;
	shard_advance(&c->sim->main, first);
	if (c->tick && c->window % TICK_WINDOWS == 0)
		shards_progress(c);
}

static void wait_for(struct parallel *c, unsigned round)
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

static void meet(struct parallel *c)
{
	unsigned round = atomic_load_explicit(&c->round, memory_order_acquire);

	if (atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel) + 1 < c->nworkers) {
		wait_for(c, round);
		return;
	}
	atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
	next_window(c);
	if (c->nworkers == 1)
		return;
	pthread_mutex_lock(&c->lock);
	atomic_store_explicit(&c->round, round + 1, memory_order_release);
	pthread_cond_broadcast(&c->go);
	pthread_mutex_unlock(&c->lock);
}

static void run_worker(struct worker *w)
{
	struct parallel *c = w->run;

	do {
		meet(c);
		outbox_open(&w->outbox, w->box[c->window & 1], c->horizon);
		for (unsigned k = w->first; k < w->end; k++)
			run_window(w, k);
		if (c->tick && !w->first && c->window % TICK_WINDOWS == 0)
			c->tick(c->tick_ctx);
	} while (!c->over);
}

static void *start_worker(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->run->lock);
	pthread_mutex_unlock(&w->run->lock);
	run_worker(w);
	return NULL;
}

/* ---- threads ---- */

static void worker_begin(struct parallel *c, unsigned i)
{
	struct worker *w = &c->workers[i];

	w->first = i * c->nshards / c->nworkers;
	w->end = (i + 1) * c->nshards / c->nworkers;
	outbox_open(&w->outbox, NULL, 0);
	for (unsigned k = 0; k < 2; k++)
		w->box[k] = mem_zarray(c->nshards, sizeof(*w->box[k]));
	for (unsigned k = w->first; k < w->end; k++)
		outbox_attach(&w->outbox, &c->shards[k], c->shard_of);
}

static void worker_end(struct parallel *c, unsigned i)
{
	for (unsigned k = 0; k < 2 * c->nshards; k++)
		vec_free(&c->workers[i].box[k / c->nshards][k % c->nshards]);
	free(c->workers[i].box[0]);
	free(c->workers[i].box[1]);
}

/* No thread begins before their number is known: there may be fewer than requested. */
static void run_all(struct parallel *c)
{
	unsigned n = 1;

	c->workers = mem_zarray(c->nworkers, sizeof(*c->workers));
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->go, NULL);
	pthread_mutex_lock(&c->lock);
	for (unsigned k = 0; k < c->nworkers; k++)
		c->workers[k].run = c;
	while (n < c->nworkers &&
	       !pthread_create(&c->workers[n].thread, NULL, start_worker, &c->workers[n]))
		n++;
	c->nworkers = n;
	for (unsigned k = 0; k < n; k++)
		worker_begin(c, k);
	pthread_mutex_unlock(&c->lock);
	run_worker(&c->workers[0]);
	for (unsigned k = 1; k < n; k++)
		pthread_join(c->workers[k].thread, NULL);
	for (unsigned k = 0; k < c->nworkers; k++)
		worker_end(c, k);
	pthread_cond_destroy(&c->go);
	pthread_mutex_destroy(&c->lock);
	free(c->workers);
}

/* ---- interface ---- */

static unsigned cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* The shortest time from node to node: of a flow control packet on the shortest and fastest
 * link. */
static time_ps lookahead_of(const struct sim *s)
{
	unsigned bytes = MIN(s->cfg.plane.header_bytes, (unsigned)PLANE_FC_BYTES);
	time_ps least = TIME_NEVER;

	for (port_id p = 0; p < s->fab->nports; p++)
		if (s->ports[p].peer != FAB_NONE)
			least = MIN(least, s->ports[p].wire_ps + wire_time(s->plane, p, bytes));
	return least;
}

/* A watcher is set, SMPs are in flight, or nodes share more than links: one stream of random
 * numbers for damaged bytes, packets that wait for static rate control, statistics that count a
 * loss at the host that generated the packet. */
static bool needs_whole(const struct sim *s)
{
	const struct sim_plane_config *c = &s->cfg.plane;

	return s->dev.stats.in_flight || s->watch.seen || s->changes.changed || s->hops.hop ||
	       s->plane->tap.sent || s->plane->discards.discarded ||
	       s->plane->deliveries.delivered || s->plane->detail || c->byte_error_q40 ||
	       c->rate_control;
}

static bool pays(const struct parallel *c)
{
	time_ps now = c->sim->main.now;

	return c->lookahead && c->limit > now && (c->limit - now) / WORTH_WINDOWS >= c->lookahead;
}

static bool try_parallel(struct sim *s, struct parallel *c, unsigned threads)
{
	uint64_t events = s->main.events, pending = s->main.q.n;

	s->plane->parallel_after = events + RETRY_TIMES * pending + 1; /* trying takes time, too */
	c->nshards = shard_count(s, threads);
	c->nworkers = MIN(threads ? threads : cores(), c->nshards);
	if (c->nshards < 2)
		return false;
	c->lookahead = lookahead_of(s);
	if (!pays(c))
		return false;
	shards_split(c); /* which may find an earlier limit */
	if (pays(c))
		run_all(c);
	shards_join(c);
	if (s->main.events >= events + WORTH_TIMES * pending)
		s->plane->parallel_after = 0;
	return s->main.events > events;
}

/* Called again and again, so it declines quickly. */
bool sim_run_parallel(struct sim *s, time_ps limit, unsigned threads, void (*tick)(void *ctx),
		      void *ctx)
{
	if (!s->plane || s->main.events < s->plane->parallel_after || limit <= s->main.now ||
	    needs_whole(s))
		return false;
	return try_parallel(
		s, &(struct parallel){.sim = s, .limit = limit, .tick = tick, .tick_ctx = ctx},
		threads);
}
