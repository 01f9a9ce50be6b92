/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that computes routes. State: struct run_worker, under its lock. Way in:
 * run_worker_request(); the answer is given on the loop. Does not decide whether routes are still useful:
 * the manager does.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "run/compute_thread.h"

struct job {
	struct sm_compute c; /* epoch 0: none */
	uint64_t owner;
};

struct run_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uv_async_t async;
	unsigned threads;
	run_worker_done *done;
	void *ctx;
	atomic_bool hurry; /* the computation that runs may end without a result */
	/* under the lock */
	struct job next;
	bool busy, ready, stop; /* ready: the loop has not taken the routes yet */
	struct sm_routes routes;
	uint64_t owner, took_us;
};

/* ---- on the thread ---- */

static struct job take(struct run_worker *w)
{
	struct job j = {0};

	pthread_mutex_lock(&w->lock);
	while (!w->stop && (!w->next.c.epoch || w->ready))
		pthread_cond_wait(&w->wake, &w->lock);
	if (!w->stop) {
		j = w->next;
		w->next.c.epoch = 0;
		w->busy = true;
		w->hurry = false;
	}
	pthread_mutex_unlock(&w->lock);
	return j;
}

static bool must_hurry(void *ctx)
{
	return ((struct run_worker *)ctx)->hurry;
}

static void *work(void *arg)
{
	struct run_worker *w = arg;
	struct job j;

	while ((j = take(w)).c.epoch) {
		struct sm_work_done did;
		struct sm_routes r;
		uint64_t began = uv_hrtime();

		j.c.stop = must_hurry;
		j.c.stop_ctx = w;
		sm_compute_run(&j.c, w->threads, &r, &did);
		pthread_mutex_lock(&w->lock);
		w->routes = r;
		w->owner = j.owner;
		w->took_us = (uv_hrtime() - began) / 1000;
		w->ready = true;
		pthread_mutex_unlock(&w->lock);
		uv_async_send(&w->async);
	}
	return NULL;
}

/* ---- on the loop ---- */

static void on_async(uv_async_t *a)
{
	struct run_worker *w = a->data;
	struct sm_routes r;
	uint64_t owner, took_us;
	bool ready;

	pthread_mutex_lock(&w->lock);
	ready = w->ready;
	r = w->routes;
	owner = w->owner;
	took_us = w->took_us;
	w->ready = false;
	w->busy = w->busy && !ready;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (ready)
		w->done(w->ctx, &r, owner, took_us);
}

static void on_closed(uv_handle_t *h);

int run_worker_start(struct run_worker **out, uv_loop_t *loop, unsigned threads,
		     run_worker_done *done, void *ctx, struct err *e)
{
	struct run_worker *w = mem_zalloc(sizeof(*w));
	int rc;

	w->threads = threads;
	w->done = done;
	w->ctx = ctx;
	w->async.data = w;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	rc = -uv_async_init(loop, &w->async, on_async);
	if (rc) {
		free(w);
		return err_set(e, -rc, "cannot wait for routes: %s", strerror(rc));
	}
	rc = pthread_create(&w->thread, NULL, work, w);
	if (rc) {
		uv_close((uv_handle_t *)&w->async, on_closed);
		return err_set(e, -rc, "cannot start the thread that computes routes: %s",
			       strerror(rc));
	}
	*out = w;
	return 0;
}

static void replace(struct run_worker *w, const struct job *j)
{
	pthread_mutex_lock(&w->lock);
	w->next = *j;
	w->hurry = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

void run_worker_request(struct run_worker *w, const struct sm_compute *c, uint64_t owner)
{
	replace(w, &(struct job){*c, owner});
}

void run_worker_cancel(struct run_worker *w)
{
	replace(w, &(struct job){.owner = 0});
}

bool run_worker_busy(struct run_worker *w)
{
	bool busy;

	pthread_mutex_lock(&w->lock);
	busy = w->busy;
	pthread_mutex_unlock(&w->lock);
	return busy;
}

static void on_closed(uv_handle_t *h)
{
	struct run_worker *w = h->data;

	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	free(w);
}

bool run_worker_stop(struct run_worker *w)
{
	bool computing;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	w->hurry = true;
	computing = w->busy && !w->ready;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (computing)
		return false;
	pthread_join(w->thread, NULL);
	if (w->ready)
		sm_routes_free(&w->routes);
	uv_close((uv_handle_t *)&w->async, on_closed);
	return true;
}
