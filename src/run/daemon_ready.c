/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What follows when the manager comes to rest: history, log, saved state, dumps, metrics, systemd, and
 * with `once` the end. State: struct run_ready. Way in: run_ready_update(). Sends nothing to the fabric.
 */
#include "run/daemon.h"
#include "run/systemd_notify.h"

enum { GRACE_MS = 2000 }; /* with `once`: the longest wait for a pending change */

static void change_add(struct run_daemon *d, const struct sm_status *st)
{
	struct run_view v;
	struct run_change c = {
		.round = st->last,
		.switches = st->switches,
		.nodes = st->nodes,
		.routers = st->routers,
		.lids = st->lids,
	};

	run_daemon_view(d, &v);
	c.unix_ms = d->began_unix_ms + (int64_t)v.uptime_ms -
		    (int64_t)((v.now - st->last.start) / PS_PER_MS);
	run_round_log(&d->log, d->session.sm, run_history_add(&d->history, &c, d->cfg.history),
		      d->ready.rounds == 0);
}

/* ---- once ---- */

static void finish(struct run_daemon *d, const struct sm_status *st)
{
	struct run_view v;
	struct err e;

	uv_timer_stop(&d->ready.grace);
	if (d->ready.finished) /* the end takes a few turns of the loop */
		return;
	d->ready.finished = true;
	if (st->alone) {
		err_set(&e, -EHOSTUNREACH,
			"the subnet is not up: the link of the manager's port is up, but no device "
			"behind it could be configured; the log names what failed");
		run_daemon_fail(d, -EHOSTUNREACH, &e, e.text);
		return;
	}
	run_daemon_view(d, &v);
	if (d->hooks.up)
		d->hooks.up(d->hooks.ctx, &v);
	run_daemon_stop(d, "the subnet is up");
}

/* While a round is under way there is no end; its own end starts the wait again. */
static void on_grace_over(uv_timer_t *t)
{
	struct run_daemon *d = t->data;
	struct sm_status st;

	if (!d->session.sm)
		return;
	sm_status(d->session.sm, &st);
	if (st.phase == SM_READY)
		finish(d, &st);
}

static void once(struct run_daemon *d, const struct sm_status *st)
{
	uv_timer_t *grace = &d->ready.grace;

	if (!st->change_pending)
		finish(d, st);
	else if (!uv_is_active((uv_handle_t *)grace))
		uv_timer_start(grace, on_grace_over, GRACE_MS, 0);
}

/* ---- after each change ---- */

static void announce(struct run_daemon *d, const struct sm_status *st)
{
	systemd_notify("%sSTATUS=%s: %u switches, %u hosts, %u LIDs",
		       d->ready.announced ? "" : "READY=1\n",
		       iba_format_word(IBA_FMT_SM_STATE, st->state), st->switches,
		       st->nodes - st->switches - st->routers, st->lids);
	d->ready.announced = true;
}

static void change_done(struct run_daemon *d, const struct sm_status *st)
{
	change_add(d, st);
	d->ready.rounds = st->rounds;
	run_state_writer_flush(&d->state);
	if (*d->cfg.dumps && st->phase == SM_READY)
		run_daemon_dump_due(d);
	run_metrics_file_write(&d->metrics);
	announce(d, st);
}

void run_ready_update(struct run_daemon *d)
{
	struct sm_status st;

	sm_status(d->session.sm, &st);
	if (st.state == IBA_SM_STANDBY || (st.state == IBA_SM_NOT_ACTIVE && !d->cfg.sm.observe)) {
		announce(d, &st);
		run_daemon_handed_over(d);
		return;
	}
	if (!st.rounds)
		return;
	/* The next round may begin in the step that ends this one. */
	if (st.rounds != d->ready.rounds)
		change_done(d, &st);
	if (d->cfg.once && st.phase == SM_READY)
		once(d, &st);
}

void run_ready_new_manager(struct run_daemon *d)
{
	d->ready.rounds = 0;
}

void run_ready_init(struct run_daemon *d)
{
	uv_timer_init(&d->loop, &d->ready.grace);
	d->ready.grace.data = d;
}
