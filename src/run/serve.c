/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon towards people and other programs: signals, the control socket, metrics, dumps, systemd,
 * the history of changes. State: its part of struct run_daemon. Ways in: run_daemon_listen(),
 * run_daemon_rest(). Does not touch MADs.
 */
#include <signal.h>

#include "run/daemon_priv.h"

void run_daemon_view(const struct run_daemon *d, struct run_view *v)
{
	*v = (struct run_view){
		.cfg = &d->cfg,
		.sm = d->sm,
		.port = d->port,
		.connected = d->tp != NULL,
		.started_unix_ms = d->began_unix_ms,
		.uptime_ms = (uv_hrtime() - d->began_ns) / 1000000,
		.now = d->tp ? run_pump_now(&d->pump) : 0,
		.mads_in = d->mads_in + d->pump.in,
		.mads_out = d->mads_out + d->pump.sent,
		.mads_waiting = d->pump.n,
		.reconnects = d->reconnects,
		.routes_computed = d->routes_computed,
		.compute_ms = d->compute_us / 1000,
		.changes = d->changes.at,
		.nchanges = (uint32_t)d->changes.n,
		.log_level = d->log.level,
	};
}

/* ---- dumps and metrics ---- */

static int dump(struct run_daemon *d, struct err *e)
{
	struct run_view v;

	if (!*d->cfg.dumps)
		return err_set(e, -EINVAL, "no directory for dumps is configured");
	run_daemon_view(d, &v);
	return run_dumper_dump(&d->dumper, &v, d->cfg.dumps, e);
}

static void dump_due(void *ctx)
{
	struct err e;

	dump(ctx, &e);
}

static void metrics_write(uv_work_t *w)
{
	struct run_daemon *d = w->data;

	d->metrics_rc = file_write(d->cfg.metrics_file, d->metrics_text.s, d->metrics_text.len,
				   &d->metrics_e);
}

static void metrics_written(uv_work_t *w, int status)
{
	struct run_daemon *d = w->data;

	(void)status;
	d->metrics_busy = false;
	if (d->metrics_rc)
		log_rec(&d->log, LOG_METRICS_FAILED, LOG_T("why", d->metrics_e.text));
}

static void metrics_now(void *ctx, struct strbuf *out)
{
	struct run_view v;

	run_daemon_view(ctx, &v);
	run_metrics(&v, out);
}

static void metrics(struct run_daemon *d)
{
	if (!*d->cfg.metrics_file || d->metrics_busy)
		return;
	d->metrics_busy = true;
	d->metrics_text.len = 0;
	metrics_now(d, &d->metrics_text);
	uv_queue_work(&d->loop, &d->metrics_work, metrics_write, metrics_written);
}

static void on_metrics(uv_timer_t *t)
{
	metrics(t->data);
}

/* ---- the SM at rest ---- */

static void remember(struct run_daemon *d, const struct sm_status *st, const struct run_view *v)
{
	struct run_change c = {.number = ++d->nchanges,
			       .round = st->last,
			       .switches = st->switches,
			       .nodes = st->nodes,
			       .lids = st->lids};

	c.unix_ms = d->began_unix_ms + (int64_t)v->uptime_ms -
		    (int64_t)((v->now - st->last.start) / PS_PER_MS);
	if (d->changes.n && d->changes.n >= d->cfg.history) {
		d->changes.n--;
		memmove(d->changes.at, d->changes.at + 1, d->changes.n * sizeof(*d->changes.at));
	}
	vec_push(&d->changes, c);
	run_round_log(&d->log, &c, d->rounds == 0);
}

static void finish(struct run_daemon *d)
{
	struct run_view v;

	run_daemon_view(d, &v);
	if (d->hooks.up)
		d->hooks.up(d->hooks.ctx, &v);
	run_daemon_stop(d, "the subnet is up");
}

static void on_last(uv_timer_t *t)
{
	finish(t->data);
}

enum { LAST_MS = 2000 };

/* With `once`: the end, or nearly so where something is still to be looked at again. */
static void once(struct run_daemon *d, const struct sm_status *st)
{
	if (!st->change_pending)
		finish(d);
	else if (!uv_is_active((uv_handle_t *)&d->last))
		uv_timer_start(&d->last, on_last, LAST_MS, 0);
}

static void say_ready(struct run_daemon *d, const struct sm_status *st)
{
	const char *state = iba_format_word(IBA_FMT_SM_STATE, st->state);

	notify_send("%sSTATUS=%s: %u switches, %u hosts, %u LIDs", d->up ? "" : "READY=1\n", state,
		    st->switches, st->nodes - st->switches, st->lids);
	d->up = true;
}

void run_daemon_rest(struct run_daemon *d)
{
	struct sm_status st;
	struct run_view v;

	sm_status(d->sm, &st);
	if (st.state == IBA_SM_STANDBY || st.state == IBA_SM_NOT_ACTIVE) {
		say_ready(d, &st);
		return;
	}
	if (!st.rounds)
		return;
	/* A round may end and the next one begin in one step. */
	if (st.rounds != d->rounds) {
		run_daemon_view(d, &v);
		remember(d, &st, &v);
		d->rounds = st.rounds;
		run_keeper_flush(&d->keeper);
		if (*d->cfg.dumps && st.phase == SM_READY)
			dump_due(d);
		metrics(d);
		say_ready(d, &st);
	}
	if (d->cfg.once && st.phase == SM_READY)
		once(d, &st);
}

/* ---- orders ---- */

static void order_sweep(void *ctx)
{
	struct run_daemon *d = ctx;

	if (d->sm)
		run_pump_event(&d->pump, &(struct sm_event){.kind = SM_EV_SWEEP});
	if (d->sm)
		run_daemon_awake(d);
}

/* A new SM on a new connection, which is told the LIDs and reads all else. */
static void order_resync(void *ctx)
{
	struct run_daemon *d = ctx;

	if (!d->sm)
		return;
	log_rec(&d->log, LOG_RESYNC, LOG_T("port", d->port.name));
	d->resync = true;
	run_daemon_drop(d);
	run_link_open(&d->link);
}

static void order_log_level(void *ctx, enum run_log_level l)
{
	struct run_daemon *d = ctx;

	d->log.level = l;
	log_rec(&d->log, LOG_LOG_LEVEL, LOG_T("level", log_level_names[l]));
}

static int order_dump(void *ctx, struct err *e)
{
	return dump(ctx, e);
}

/* What cannot change while it runs stays as it is. */
static void take_over(struct run_daemon *d, const struct settings *n)
{
	struct settings *c = &d->cfg, before = d->cfg;

	settings_reload(c, n);
	c->sm.port = d->port.port;
	memcpy(c->sm.m_keys, before.sm.m_keys, sizeof(c->sm.m_keys));
	if (!before.spin_us)
		c->spin_us = 0;
	if (d->metrics_busy)
		memcpy(c->metrics_file, before.metrics_file, sizeof(c->metrics_file));
	d->log.level = c->log_level;
	d->log.format = c->log_format;
	if (d->metrics.loop && c->metrics_s)
		uv_timer_set_repeat(&d->metrics, c->metrics_s * (uint64_t)1000);
}

static void order_reload(void *ctx)
{
	struct run_daemon *d = ctx;
	struct settings n = d->cfg;
	struct strbuf fixed = {0};
	struct err e;

	if (!d->hooks.reread)
		err_set(&e, -EINVAL, "it came from nowhere");
	if (!d->hooks.reread || d->hooks.reread(d->hooks.ctx, &n, &e)) {
		log_rec(&d->log, LOG_RELOAD_FAILED, LOG_T("why", e.text));
		return;
	}
	settings_fixed(&d->cfg, &n, &fixed);
	take_over(d, &n);
	log_rec(&d->log, LOG_RELOADED, LOG_T("fixed", fixed.s));
	strbuf_free(&fixed);
	if (!d->sm)
		return;
	sm_reconfigure(d->sm, &d->cfg.sm);
	run_pump_event(&d->pump, &(struct sm_event){.kind = SM_EV_WAKE});
	run_daemon_awake(d);
}

static void order_stop(void *ctx)
{
	run_daemon_stop(ctx, "asked to");
}

static void on_line(void *ctx, const char *line, struct strbuf *out)
{
	struct run_orders o = {ctx,	   order_sweep,	 order_resync, order_log_level,
			       order_dump, order_reload, order_stop};
	struct run_view v;

	run_daemon_view(ctx, &v);
	run_control_answer(&v, &o, line, out);
}

static void on_record(void *ctx, const char *json)
{
	struct run_daemon *d = ctx;

	if (d->lines)
		lines_send_event(d->lines, json);
}

/* ---- signals ---- */

static void on_signal(uv_signal_t *s, int number)
{
	struct run_daemon *d = s->data;

	switch (number) {
	case SIGTERM:
		run_daemon_stop(d, "SIGTERM");
		break;
	case SIGINT:
		run_daemon_stop(d, "SIGINT");
		break;
	case SIGHUP:
		order_reload(d);
		break;
	case SIGUSR1:
		log_reopen(&d->log);
		if (*d->cfg.dumps)
			dump_due(d);
		break;
	default:
		break;
	}
}

/* A sign of life; and as long as the subnet is not up, a request for patience. */
static void on_watchdog(uv_timer_t *t)
{
	const struct run_daemon *d = t->data;

	notify_send(d->up ? "WATCHDOG=1" : "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000");
}

static void on_hearing(uv_timer_t *t)
{
	struct run_daemon *d = t->data;

	log_catch_up(&d->log);
}

/* ---- life ---- */

enum { SIGN_OF_LIFE_MS = 15000, HEARING_MS = 1000 };

int run_daemon_listen(struct run_daemon *d, struct err *e)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
	uint64_t watchdog_ms = notify_watchdog_us() / 2000;
	int rc = 0;

	d->metrics_work.data = d->watchdog.data = d->metrics.data = d->last.data = d->hearing.data =
		d;
	d->dumper.due = dump_due;
	d->dumper.ctx = d;
	for (unsigned i = 0; i < ARRAY_LEN(numbers); i++) {
		uv_signal_init(&d->loop, &d->signals[i]);
		d->signals[i].data = d;
		uv_signal_start(&d->signals[i], on_signal, numbers[i]);
	}
	uv_timer_init(&d->loop, &d->watchdog);
	uv_timer_init(&d->loop, &d->metrics);
	uv_timer_init(&d->loop, &d->last);
	uv_timer_init(&d->loop, &d->hearing);
	uv_timer_start(&d->hearing, on_hearing, HEARING_MS, HEARING_MS);
	uv_timer_start(&d->watchdog, on_watchdog, 0, watchdog_ms ? watchdog_ms : SIGN_OF_LIFE_MS);
	if (*d->cfg.metrics_file && d->cfg.metrics_s)
		uv_timer_start(&d->metrics, on_metrics, 0, d->cfg.metrics_s * (uint64_t)1000);
	if (*d->cfg.control)
		rc = lines_listen(&d->lines, &d->loop, d->cfg.control, d->cfg.control_mode, on_line,
				  d, e);
	if (!rc && d->cfg.metrics_port)
		rc = run_http_listen(&d->http, &d->loop, d->cfg.metrics_port, metrics_now, d, e);
	d->log.tell = on_record;
	d->log.tell_ctx = d;
	return rc;
}

void run_daemon_unlisten(struct run_daemon *d)
{
	d->log.tell = NULL;
	if (d->lines)
		lines_close(d->lines);
	d->lines = NULL;
	run_http_close(d->http);
	d->http = NULL;
	while (d->metrics_busy)
		uv_run(&d->loop, UV_RUN_ONCE);
	strbuf_free(&d->metrics_text);
}
