/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to the fabric: opened on a thread of libuv's pool, since a server may be slow to
 * answer, and again after a while when that fails. State: struct run_link. Ways in: run_link_open(),
 * run_link_again(). Does not notice when a connection is lost: whoever uses it does.
 */
#include "run/daemon.h"

enum { FIRST_MS = 100, LONGEST_MS = 2000 };

/* ---- on the pool's thread ---- */

static void on_work(uv_work_t *w)
{
	struct run_link *l = w->data;

	l->rc = tp_open(&l->tp, l->transport, &l->where, &l->e);
	l->is_sm_rc = l->rc ? 0 : tp_set_is_sm(l->tp, true);
}

/* ---- on the loop ---- */

static void after_work(uv_work_t *w, int status)
{
	struct run_link *l = w->data;
	struct tp *tp = l->tp;

	(void)status;
	l->busy = false;
	l->tp = NULL;
	if (l->closing) {
		tp_close(tp);
		return;
	}
	if (!l->rc) {
		l->delay_ms = 0;
		l->up(l->ctx, tp, l->is_sm_rc);
	} else if (l->failed(l->ctx, l->rc, &l->e)) {
		run_link_again(l);
	}
}

void run_link_init(struct run_link *l, uv_loop_t *loop, const struct settings *c)
{
	*l = (struct run_link){.where = c->where};
	snprintf(l->transport, sizeof(l->transport), "%s", c->transport);
	l->work.data = l->timer.data = l;
	uv_timer_init(loop, &l->timer);
}

void run_link_open(struct run_link *l)
{
	if (l->busy || l->closing)
		return;
	l->busy = true;
	uv_queue_work(l->timer.loop, &l->work, on_work, after_work);
}

static void on_timer(uv_timer_t *t)
{
	run_link_open(t->data);
}

void run_link_again(struct run_link *l)
{
	if (l->closing)
		return;
	l->delay_ms = MIN(MAX(l->delay_ms * 2, (unsigned)FIRST_MS), (unsigned)LONGEST_MS);
	uv_timer_start(&l->timer, on_timer, l->delay_ms, 0);
}

void run_link_close(struct run_link *l)
{
	l->closing = true;
	uv_close((uv_handle_t *)&l->timer, NULL);
}
