/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the connection to the fabric, and again after a failure. State: struct run_connector. Ways in:
 * run_connector_open(), run_connector_retry(). Does not notice a lost connection: session.c does.
 */
#include "run/connector.h"

enum { FIRST_MS = 100, LONGEST_MS = 2000 };

/* ---- on the pool's thread ---- */

static void on_work(uv_work_t *w)
{
	struct run_connector *l = w->data;

	l->rc = tp_open(&l->tp, l->transport, &l->where, &l->e);
	l->is_sm_rc = l->rc || l->observes ? 0 : tp_set_is_sm(l->tp, true);
}

/* ---- on the loop ---- */

static void after_work(uv_work_t *w, int status UNUSED)
{
	struct run_connector *l = w->data;
	struct tp *tp = l->tp;

	l->busy = false;
	l->tp = NULL;
	if (l->closing) {
		tp_close(tp);
		return;
	}
	if (!l->rc) {
		l->delay_ms = 0;
		l->call.up(l->call.ctx, tp, l->is_sm_rc);
	} else if (l->call.failed(l->call.ctx, l->rc, &l->e)) {
		run_connector_retry(l);
	}
}

void run_connector_init(struct run_connector *l, uv_loop_t *loop, const char *transport,
			const struct tp_where *where, const struct run_connector_calls *call)
{
	*l = (struct run_connector){.call = *call, .where = *where};
	snprintf(l->transport, sizeof(l->transport), "%s", transport);
	l->work.data = l->timer.data = l;
	uv_timer_init(loop, &l->timer);
}

void run_connector_open(struct run_connector *l)
{
	if (l->busy || l->closing)
		return;
	l->busy = true;
	uv_queue_work(l->timer.loop, &l->work, on_work, after_work);
}

static void on_timer(uv_timer_t *t)
{
	run_connector_open(t->data);
}

void run_connector_retry(struct run_connector *l)
{
	if (l->closing)
		return;
	l->delay_ms = MIN(MAX(l->delay_ms * 2, (unsigned)FIRST_MS), (unsigned)LONGEST_MS);
	uv_timer_start(&l->timer, on_timer, l->delay_ms, 0);
}

void run_connector_close(struct run_connector *l)
{
	l->closing = true;
	uv_close((uv_handle_t *)&l->timer, NULL);
}
