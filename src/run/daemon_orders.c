/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What signals and the control socket may order. State: none of its own; it changes the configuration at
 * a reload. Ways in: run_daemon_orders() and the functions it lists. Reads no socket and no signal:
 * daemon_service.c does.
 */
#include "run/daemon.h"
#include "run/inputs.h"
#include "run/systemd_notify.h"

void run_daemon_view(const struct run_daemon *d, struct run_view *v)
{
	const struct run_session *s = &d->session;
	struct run_session_totals total;

	run_session_total(s, &total);
	*v = (struct run_view){
		.cfg = &d->cfg,
		.sm = s->sm,
		.sa = s->sa,
		.perf = s->perf,
		.port = s->port,
		.connected = s->tp != NULL,
		.started_unix_ms = d->began_unix_ms,
		.uptime_ms = (uv_hrtime() - d->began_ns) / 1000000,
		.now = s->tp ? run_pump_now(&s->pump) : 0,
		.mads_in = total.mads_in,
		.mads_out = total.mads_out,
		.mads_waiting = s->pump.n,
		.reconnects = total.reconnects,
		.routes_computed = total.routes_computed,
		.compute_ms = total.compute_us / 1000,
		.changes = d->history.changes.at,
		.nchanges = (uint32_t)d->history.changes.n,
		.notes = d->history.notes,
		.log_level = d->log.level,
		.vms = &d->vms.totals,
	};
}

/* ---- the end ---- */

enum {
	HANDOVER_MS = 500, /* the longest wait for a standby manager to accept the subnet, */
	ANSWER_MS = 50,	   /* and the time that is left for its question */
};

static void on_handover_over(uv_timer_t *t)
{
	uv_stop(t->loop);
}

/* The heir asks whether it is true before it takes over: stay for the answer. */
void run_daemon_handed_over(struct run_daemon *d)
{
	if (d->ending.handing_over)
		uv_timer_start(&d->ending.timer, on_handover_over, ANSWER_MS, 0);
}

/* A standby manager that gets the subnet continues at once; otherwise it would have to miss this one. */
static bool hand_over(struct run_daemon *d)
{
	struct err e;

	if (!d->session.sm || sm_handover_check(d->session.sm, 0, &e))
		return false;
	d->ending.handing_over = true;
	uv_timer_init(&d->loop, &d->ending.timer);
	uv_timer_start(&d->ending.timer, on_handover_over, HANDOVER_MS, 0);
	run_session_handover(&d->session, 0);
	return true;
}

static bool stop_begin(struct run_daemon *d, const char *why)
{
	if (d->ending.stopping)
		return false;
	d->ending.stopping = true;
	log_rec(&d->log, LOG_STOP, LOG_T("why", why));
	systemd_notify("STOPPING=1");
	return true;
}

void run_daemon_stop(struct run_daemon *d, const char *why)
{
	if (stop_begin(d, why) && !hand_over(d))
		uv_stop(&d->loop);
}

void run_daemon_fail(struct run_daemon *d, int rc, const struct err *e, const char *why)
{
	d->ending.rc = rc;
	d->ending.e = *e;
	if (stop_begin(d, why))
		uv_stop(&d->loop);
}

static void order_stop(void *ctx)
{
	run_daemon_stop(ctx, "asked to");
}

/* ---- sweeps ---- */

static void order_sweep(void *ctx)
{
	struct run_daemon *d = ctx;

	run_session_event(&d->session, SM_EV_SWEEP);
}

/*
 * A master stays master: it keeps the LIDs and reads everything else. One that is not gets a new connection: it
 * gets the LIDs, and finds the master again.
 */
static void order_resync(void *ctx)
{
	struct run_daemon *d = ctx;

	if (!d->session.sm)
		return;
	log_rec(&d->log, LOG_RESYNC, LOG_T("port", d->session.port.name));
	if (sm_master_guid(d->session.sm) == d->session.port.port_guid) {
		run_subnet_file_invalidate(&d->subnet_file);
		run_session_event(&d->session, SM_EV_RESYNC);
		return;
	}
	run_session_distrust(&d->session);
	run_subnet_file_detach(&d->subnet_file);
	run_session_close(&d->session);
	run_vm_orders_lost(&d->vms);
	run_counter_orders_lost(&d->counters);
	run_connector_open(&d->connector);
}

static int order_handover(void *ctx, uint64_t guid, struct err *e)
{
	struct run_daemon *d = ctx;
	int rc = sm_handover_check(d->session.sm, guid, e);

	if (!rc)
		run_session_handover(&d->session, guid);
	return rc;
}

/* ---- virtual machines ---- */

static int order_vms(void *ctx, const struct run_vm_ask *asks, size_t n, bool many, struct err *e)
{
	struct run_daemon *d = ctx;
	int rc = run_vm_orders_check(&d->vms, n, e);

	if (rc)
		return rc;
	run_vm_orders_add(&d->vms, lines_defer(d->service.lines), asks, n, many);
	return -EINPROGRESS;
}

static bool vms_submit(void *ctx, const struct sm_vm_request *r, size_t n)
{
	struct run_daemon *d = ctx;

	return run_session_vms(&d->session, r, n);
}

static const struct sm *vms_sm(void *ctx)
{
	const struct run_daemon *d = ctx;

	return d->session.sm;
}

static uint64_t vms_changed(void *ctx)
{
	struct run_daemon *d = ctx;

	run_state_writer_flush(&d->state);
	return run_state_writer_added(&d->state);
}

static uint64_t vms_saved(void *ctx)
{
	const struct run_daemon *d = ctx;

	return run_state_writer_saved(&d->state);
}

static void vms_all_saved(void *ctx)
{
	struct run_daemon *d = ctx;

	run_session_event(&d->session, SM_EV_VMS_SAVED);
}

static void line_reply(void *ctx, uint64_t ticket, struct strbuf *text)
{
	struct run_daemon *d = ctx;

	if (d->service.lines)
		lines_reply(d->service.lines, ticket, text);
	else
		strbuf_free(text);
}

void run_daemon_vms_init(struct run_daemon *d)
{
	run_vm_orders_init(&d->vms, &d->loop, &d->log,
			   &(struct run_vm_calls){vms_submit, vms_sm, vms_changed, vms_saved,
						  vms_all_saved, line_reply, d});
}

/* ---- counters ---- */

static int order_counters(void *ctx, const struct run_counter_ask *ask, struct err *e)
{
	struct run_daemon *d = ctx;
	int rc = run_counter_orders_check(&d->counters, e);

	if (rc)
		return rc;
	run_counter_orders_add(&d->counters, lines_defer(d->service.lines), ask);
	return -EINPROGRESS;
}

static bool counters_send(void *ctx, const struct tp_mad *m)
{
	struct run_daemon *d = ctx;

	return run_session_send(&d->session, m);
}

static bool counters_busy(void *ctx)
{
	const struct run_daemon *d = ctx;
	struct sm_status st;

	if (!d->session.sm)
		return false;
	sm_status(d->session.sm, &st);
	return st.phase != SM_READY && st.phase != SM_STANDBY && st.phase != SM_SWEEP;
}

static uint64_t counters_now(void *ctx)
{
	struct run_daemon *d = ctx;

	return uv_now(&d->loop);
}

void run_daemon_counters_init(struct run_daemon *d)
{
	run_counter_orders_init(&d->counters, &d->loop,
				&(struct run_counter_calls){counters_send, counters_busy,
							    line_reply, counters_now, d});
}

/* ---- dumps and the log's level ---- */

int run_daemon_dump(struct run_daemon *d, struct err *e)
{
	struct run_view v;

	if (!*d->cfg.dumps)
		return err_set(e, -EINVAL, "no directory for dumps is configured (files.dumps)");
	run_daemon_view(d, &v);
	return run_dump_writer_write(&d->dumps, &v, d->cfg.dumps, e);
}

void run_daemon_dump_due(void *daemon)
{
	struct err e;

	run_daemon_dump(daemon, &e);
}

static int order_dump(void *ctx, struct err *e)
{
	return run_daemon_dump(ctx, e);
}

static void order_log_level(void *ctx, enum run_log_level l)
{
	struct run_daemon *d = ctx;

	d->log.level = l;
	log_rec(&d->log, LOG_LOG_LEVEL, LOG_T("now", log_level_names[l]));
}

/* ---- reload ---- */

/* Settings that cannot change while the daemon runs keep their values. */
static void settings_take(struct run_daemon *d, const struct settings *n)
{
	struct settings *c = &d->cfg, before = d->cfg;

	settings_reload(c, n);
	c->sm.port = d->session.port.port;
	memcpy(c->sm.m_keys, before.sm.m_keys, sizeof(c->sm.m_keys));
	if (!before.spin_us)
		c->spin_us = 0;
	run_session_set_spin(&d->session, c->spin_us);
	run_session_set_perf(&d->session, &c->perf);
	run_metrics_file_set(&d->metrics, c->metrics_file, c->metrics_s);
	run_service_limit(d);
	d->log.level = c->log_level;
	d->log.format = c->log_format;
}

/* Those of earlier reloads are freed when nothing reads them any more. */
static void inputs_retire(struct run_daemon *d, const struct sm_inputs *old)
{
	size_t kept = 0;

	if (old)
		vec_push(&d->old_inputs, old);
	for (size_t i = 0; i < d->old_inputs.n; i++) {
		const struct sm_inputs *in = d->old_inputs.at[i];

		if (in != old && (!d->session.sm || sm_inputs_unused(d->session.sm, in)) &&
		    !run_worker_busy(d->worker))
			run_inputs_free(in);
		else
			d->old_inputs.at[kept++] = in;
	}
	d->old_inputs.n = kept;
}

const struct pol *run_daemon_policy(struct run_daemon *d)
{
	return d->hooks.policy ? d->hooks.policy(d->hooks.ctx) : NULL;
}

static void fault_add(void *ctx, const struct run_fault *f)
{
	strbuf_addf(ctx, "%s\n", f->text);
}

/* One reading ends at the first fault, another lists all of the file; some are not of the file. */
static int reload_read(struct run_daemon *d, struct settings *n, struct strbuf *faults,
		       struct err *e)
{
	struct settings scratch;
	int rc;

	if (!d->hooks.reread)
		return err_set(e, -EINVAL,
			       "started without a configuration file; nothing to reload");
	rc = d->hooks.reread(d->hooks.ctx, n, e);
	if (!rc)
		return 0;
	settings_default(&scratch);
	if (!d->hooks.config || !run_config_faults(d->hooks.config, &scratch, fault_add, faults))
		strbuf_addf(faults, "%s\n", e->text);
	return rc;
}

static void reload_take(struct run_daemon *d, const struct settings *n)
{
	const struct sm_inputs *old = d->cfg.sm.inputs;

	settings_take(d, n);
	d->cfg.sm.inputs = n->sm.inputs;
	inputs_retire(d, old);
	if (!d->session.sm)
		return;
	sm_reconfigure(d->session.sm, &d->cfg.sm);
	if (run_daemon_policy(d))
		sm_policy_set(d->session.sm, run_daemon_policy(d));
	run_session_event(&d->session, SM_EV_WAKE);
}

static int order_reload(void *ctx, struct strbuf *fixed, struct strbuf *faults, struct err *e)
{
	struct run_daemon *d = ctx;
	struct settings n = d->cfg;
	int rc = reload_read(d, &n, faults, e);

	if (rc) {
		log_rec(&d->log, LOG_RELOAD_FAILED, LOG_T("why", e->text));
		return rc;
	}
	settings_fixed(&d->cfg, &n, fixed);
	log_rec(&d->log, LOG_RELOADED, LOG_T("fixed", fixed->s));
	reload_take(d, &n);
	return 0;
}

void run_daemon_reload(struct run_daemon *d)
{
	struct strbuf fixed = {0}, faults = {0};
	struct err e;

	order_reload(d, &fixed, &faults, &e);
	strbuf_free(&fixed);
	strbuf_free(&faults);
}

void run_daemon_orders(struct run_daemon *d, struct run_orders *o)
{
	*o = (struct run_orders){
		.ctx = d,
		.sweep = order_sweep,
		.resync = order_resync,
		.handover = order_handover,
		.log_level = order_log_level,
		.dump = order_dump,
		.reload = order_reload,
		.stop = order_stop,
		.vms = order_vms,
		.counters = order_counters,
	};
}
