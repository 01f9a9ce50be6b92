/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of metrics. State: struct run_metrics_file. Ways in: run_metrics_file_write() and its timer.
 * Does not make the text.
 */
#include "run/metrics_file.h"

#include "run/run.h"

static void on_work(uv_work_t *w)
{
	struct run_metrics_file *m = w->data;

	m->plain.len = 0;
	run_metrics_plain(m->out.s, m->out.len, &m->plain);
	m->rc = file_write(m->path, m->plain.s, m->plain.len, &m->e);
}

static void after_work(uv_work_t *w, int status UNUSED)
{
	struct run_metrics_file *m = w->data;

	m->busy = false;
	if (m->rc && !m->failed) /* once, until it works again */
		log_rec(m->log, LOG_METRICS_FAILED, LOG_T("why", m->e.text));
	m->failed = m->rc != 0;
}

void run_metrics_file_write(struct run_metrics_file *m)
{
	if (!*m->path || m->busy)
		return;
	m->busy = true;
	m->out.len = 0;
	m->text(m->ctx, &m->out);
	uv_queue_work(m->timer.loop, &m->work, on_work, after_work);
}

static void on_timer(uv_timer_t *t)
{
	run_metrics_file_write(t->data);
}

void run_metrics_file_init(struct run_metrics_file *m, uv_loop_t *loop, struct run_log *log,
			   void (*text)(void *ctx, struct strbuf *out), void *ctx)
{
	*m = (struct run_metrics_file){.log = log, .text = text, .ctx = ctx};
	m->timer.data = m->work.data = m;
	uv_timer_init(loop, &m->timer);
}

void run_metrics_file_set(struct run_metrics_file *m, const char *path, unsigned period_s)
{
	if (!m->busy)
		snprintf(m->path, sizeof(m->path), "%s", path);
	if (*m->path && period_s)
		uv_timer_start(&m->timer, on_timer, 0, period_s * (uint64_t)1000);
	else
		uv_timer_stop(&m->timer);
}

void run_metrics_file_close(struct run_metrics_file *m)
{
	while (m->busy)
		uv_run(m->timer.loop, UV_RUN_ONCE);
	strbuf_free(&m->out);
	strbuf_free(&m->plain);
}
