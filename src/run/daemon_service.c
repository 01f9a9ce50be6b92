/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon towards operators and other programs: signals, systemd's watchdog, the control socket, HTTP.
 * State: struct run_service. Ways in: run_service_start() and callbacks of the loop. Carries no order out:
 * daemon_orders.c does.
 */
#include <signal.h>

#include "run/daemon.h"
#include "run/systemd_notify.h"

enum { WATCHDOG_MS = 15000, LOG_MS = 1000 };

/* ---- the control socket and metrics ---- */

static void on_line(void *ctx, const char *line, struct strbuf *out)
{
	struct run_orders o;
	struct run_view v;

	run_daemon_orders(ctx, &o);
	run_daemon_view(ctx, &v);
	run_control_answer(&v, &o, line, out);
}

static void on_record(void *ctx, const char *json)
{
	struct run_daemon *d = ctx;

	if (d->service.lines)
		lines_send_event(d->service.lines, json);
}

static void metrics_text(void *ctx, struct strbuf *out)
{
	struct run_view v;

	run_daemon_view(ctx, &v);
	run_metrics(&v, out);
}

/* ---- signals and timers ---- */

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
		run_daemon_reload(d);
		break;
	case SIGUSR1:
		log_reopen(&d->log);
		if (*d->cfg.dumps)
			run_daemon_dump_due(d);
		break;
	default:
		break;
	}
}

/* Until the subnet is up, systemd is also asked to extend the start timeout. */
static void on_watchdog(uv_timer_t *t)
{
	const struct run_daemon *d = t->data;

	systemd_notify(d->ready.announced ? "WATCHDOG=1"
					  : "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=60000000");
}

static void on_log_timer(uv_timer_t *t)
{
	struct run_daemon *d = t->data;

	log_catch_up(&d->log);
}

static void timers_start(struct run_daemon *d)
{
	struct run_service *s = &d->service;
	uint64_t watchdog_ms = systemd_watchdog_us() / 2000;

	uv_timer_init(&d->loop, &s->watchdog);
	uv_timer_init(&d->loop, &s->log_timer);
	s->watchdog.data = s->log_timer.data = d;
	uv_timer_start(&s->log_timer, on_log_timer, LOG_MS, LOG_MS);
	uv_timer_start(&s->watchdog, on_watchdog, 0, watchdog_ms ? watchdog_ms : WATCHDOG_MS);
}

static int signals_start(struct run_daemon *d, struct err *e)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
	uv_signal_t *s = d->service.signals;

	_Static_assert(ARRAY_LEN(numbers) == ARRAY_LEN(d->service.signals), "one handle a signal");
	for (unsigned i = 0; i < ARRAY_LEN(numbers); i++) {
		int rc = uv_signal_init(&d->loop, &s[i]);

		s[i].data = d;
		rc = rc ? rc : uv_signal_start(&s[i], on_signal, numbers[i]);
		if (rc)
			return err_set(e, rc, "cannot receive signals: %s", uv_strerror(rc));
	}
	return 0;
}

void run_service_limit(struct run_daemon *d)
{
	const struct settings *c = &d->cfg;

	if (d->service.lines)
		lines_limit(d->service.lines, &(struct lines_limits){.clients = c->control_clients,
								     .idle_s = c->control_idle_s,
								     .rate = c->control_rate});
	if (d->service.http)
		run_http_limit(d->service.http,
			       &(struct run_http_limits){.connections = c->metrics_clients,
							 .timeout_s = c->metrics_timeout_s,
							 .rate = c->metrics_rate});
}

int run_service_start(struct run_daemon *d, struct err *e)
{
	struct run_service *s = &d->service;
	const char *at = *d->cfg.metrics_address ? d->cfg.metrics_address : "127.0.0.1";
	int rc = signals_start(d, e);

	timers_start(d);
	run_metrics_file_init(&d->metrics, &d->loop, &d->log, metrics_text, d);
	run_metrics_file_set(&d->metrics, d->cfg.metrics_file, d->cfg.metrics_s);
	if (!rc && *d->cfg.control)
		rc = lines_listen(&s->lines, &d->loop, d->cfg.control, d->cfg.control_mode, on_line,
				  d, e);
	if (!rc && d->cfg.metrics_port)
		rc = run_http_listen(&s->http, &d->loop, at, d->cfg.metrics_port, metrics_text, d,
				     e);
	run_service_limit(d);
	d->log.tell = on_record;
	d->log.tell_ctx = d;
	return rc;
}

void run_service_stop(struct run_daemon *d)
{
	d->log.tell = NULL;
	lines_close(d->service.lines);
	d->service.lines = NULL;
	run_http_close(d->service.http);
	d->service.http = NULL;
	run_metrics_file_close(&d->metrics);
}
