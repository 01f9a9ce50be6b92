/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon: a loop with the connection, the SM's clock, signals and the control socket. State: struct
 * run_daemon. Way in: run_sm(). Decides nothing about the subnet: the SM does.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "run/daemon_priv.h"

/* ---- the pump, and when to look again ---- */

enum {
	TURN_NS = 100 * 1000, /* at most so long without a look at the rest of the loop */
	CLOSE_NS =
		1000 *
		1000 /* a wake-up nearer than this is waited for awake: timers count milliseconds */
};

static void lost(struct run_daemon *d)
{
	log_rec(&d->log, LOG_LOST, LOG_T("port", d->port.name));
	d->reconnects++;
	notify_send("STATUS=the connection is lost");
	run_daemon_drop(d);
	run_link_again(&d->link);
}

static void on_timer(uv_timer_t *t);

/* Nothing came for a while: sleep until something does or is due. */
static void sleep_now(struct run_daemon *d, time_ps now)
{
	time_ps wait =
		d->pump.wake == TIME_NEVER ? TIME_NEVER : d->pump.wake - MIN(d->pump.wake, now);
	uint64_t ms = MIN(wait / PS_PER_MS, (time_ps)RUN_LOOK_MS);

	if (d->pump.n)
		ms = 1; /* the transport had no room */
	uv_idle_stop(&d->idle);
	uv_timer_start(&d->timer, on_timer, MAX(ms, d->cfg.spin_us ? 0u : 1u), 0);
}

static bool is_close(const struct run_daemon *d, time_ps now)
{
	return d->cfg.spin_us && d->pump.wake != TIME_NEVER &&
	       d->pump.wake < now + CLOSE_NS * PS_PER_NS;
}

/* Turn while there is something to do, for a moment. */
static void turn(struct run_daemon *d)
{
	uint64_t began = uv_hrtime(), now = began;
	int rc = 0;

	while (d->tp && now < began + TURN_NS) {
		rc = run_pump_turn(&d->pump);
		if (rc < 0)
			break;
		now = uv_hrtime();
		if (rc > 0)
			d->busy_ns = now;
		else if (now > d->busy_ns + d->cfg.spin_us * (uint64_t)1000)
			break;
	}
	if (rc < 0)
		lost(d);
	if (!d->tp)
		return;
	if (rc > 0 || now <= d->busy_ns + d->cfg.spin_us * (uint64_t)1000 ||
	    is_close(d, run_pump_now(&d->pump)))
		run_daemon_awake(d);
	else
		sleep_now(d, run_pump_now(&d->pump));
}

static void on_idle(uv_idle_t *i)
{
	turn(i->data);
}

static void on_timer(uv_timer_t *t)
{
	turn(t->data);
}

static void on_readable(uv_poll_t *p, int status, int events)
{
	(void)status;
	(void)events;
	turn(p->data);
}

void run_daemon_awake(struct run_daemon *d)
{
	if (!uv_is_active((uv_handle_t *)&d->idle))
		uv_idle_start(&d->idle, on_idle);
}

/* ---- what the SM says ---- */

static void on_note(void *ctx, const struct sm_note *n)
{
	struct run_daemon *d = ctx;

	if (n->kind == SM_NOTE_LID)
		run_keeper_lid(&d->keeper, n->a, (uint16_t)(n->b >> 8), (uint8_t)n->b);
	else if (n->kind == SM_NOTE_NAME)
		run_keeper_name(&d->keeper, n->a, sm_node_desc(d->sm, n->a));
	if (n->kind == SM_NOTE_NAME || (n->kind == SM_NOTE_PHASE && n->b == SM_READY))
		run_image_rest(&d->image, n->kind == SM_NOTE_NAME);
	if (n->kind == SM_NOTE_RESTART) /* what is found is not what is in the file */
		run_image_touch(&d->image);
	run_note_log(&d->log, d->sm, n);
	if ((n->kind == SM_NOTE_PHASE && n->b == SM_READY) || n->kind == SM_NOTE_STATE)
		run_daemon_rest(d);
}

static void on_set(void *ctx)
{
	struct run_daemon *d = ctx;

	run_image_touch(&d->image);
}

static void on_compute(void *ctx, const struct sm_compute *c)
{
	struct run_daemon *d = ctx;

	run_worker_ask(d->worker, c, d->generation);
}

static void on_routes(void *ctx, struct sm_routes *r, uint64_t owner, uint64_t took_us)
{
	struct run_daemon *d = ctx;
	size_t kept = 0;

	d->routes_computed++;
	d->compute_us += took_us;
	if (r->tables)
		log_rec(&d->log, LOG_ROUTES, LOG_U("switches", r->tables->nswitches),
			LOG_TIME("took_us", took_us));
	for (size_t i = 0; i < d->old.n; i++)
		if (d->old.at[i].generation <= owner)
			sm_free(d->old.at[i].sm);
		else
			d->old.at[kept++] = d->old.at[i];
	d->old.n = kept;
	if (!d->sm || owner != d->generation) {
		sm_routes_free(r);
		return;
	}
	run_pump_event(&d->pump, &(struct sm_event){.kind = SM_EV_ROUTES, .routes = *r});
	d->busy_ns = uv_hrtime();
	run_daemon_awake(d);
}

/* ---- the connection ---- */

static void on_up(void *ctx, struct tp *tp, int is_sm_rc)
{
	struct run_daemon *d = ctx;
	struct sm_config c = d->cfg.sm;

	d->tp = tp;
	tp_info(tp, &d->port);
	log_rec(&d->log, LOG_CONNECTED, LOG_T("port", d->port.name),
		LOG_G("port_guid", d->port.port_guid));
	if (is_sm_rc)
		log_rec(&d->log, LOG_IS_SM, LOG_T("port", d->port.name),
			LOG_T("why", strerror(-is_sm_rc)));
	notify_send("STATUS=bringing the subnet up");
	c.port = d->port.port;
	c.read_back |= d->generation > 0; /* what the last one set is there */
	c.distrust = d->resync;
	d->resync = false;
	d->sm = sm_new(&c);
	d->generation++;
	d->rounds = 0;
	run_keeper_seed(&d->keeper, d->sm);
	if (c.read_back && !c.distrust)
		run_image_give(&d->image, d->sm);
	d->image.sm = d->sm;
	run_pump_init(&d->pump, tp, d->sm, c.window, uv_hrtime);
	d->pump.note = on_note;
	d->pump.compute = on_compute;
	d->pump.set = on_set;
	d->pump.ctx = d;
	d->poll = mem_zalloc(sizeof(*d->poll));
	d->poll->data = d;
	uv_poll_init(&d->loop, d->poll, tp_fd(tp));
	uv_poll_start(d->poll, UV_READABLE, on_readable);
	run_pump_event(&d->pump, &(struct sm_event){.kind = SM_EV_START});
	d->busy_ns = uv_hrtime();
	run_daemon_awake(d);
}

static void on_poll_closed(uv_handle_t *h)
{
	free(h);
}

/* The SM goes with its connection; the next one gets its LIDs. One that is computed for goes later. */
void run_daemon_drop(struct run_daemon *d)
{
	if (!d->tp)
		return;
	run_image_forget(&d->image);
	uv_idle_stop(&d->idle);
	uv_timer_stop(&d->timer);
	uv_close((uv_handle_t *)d->poll, on_poll_closed);
	d->mads_in += d->pump.in;
	d->mads_out += d->pump.sent;
	run_pump_free(&d->pump);
	tp_close(d->tp);
	d->tp = NULL;
	run_worker_forget(d->worker);
	if (run_worker_busy(d->worker))
		vec_push(&d->old, (struct run_old){d->sm, d->generation});
	else
		sm_free(d->sm);
	d->sm = NULL;
}

enum { ONCE_MS = 10000, PATIENCE_MS = 500 };

/* At first a port that is not there is a mistake; a server that is not there may still come. */
static bool on_failed(void *ctx, int rc, const struct err *e)
{
	struct run_daemon *d = ctx;
	bool may_come = rc == -ECONNREFUSED || rc == -ETIMEDOUT || d->generation > 0;

	if (may_come && !(d->cfg.once && uv_hrtime() > d->began_ns + ONCE_MS * (uint64_t)1000000)) {
		if (!d->complained || strcmp(d->complaint.text, e->text))
			log_rec(&d->log, LOG_NO_CONNECTION, LOG_T("why", e->text));
		d->complained = true;
		d->complaint = *e;
		notify_send("STATUS=%s", e->text);
		return true;
	}
	d->rc = rc;
	d->e = *e;
	run_daemon_stop(d, "no connection");
	return false;
}

/* ---- life ---- */

static void pid_file(struct run_daemon *d, bool there)
{
	char text[32];
	struct err e;

	if (!*d->cfg.pid_file)
		return;
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (!there)
		unlink(d->cfg.pid_file);
	else if (file_write(d->cfg.pid_file, text, strlen(text), &e))
		log_rec(&d->log, LOG_STATE_FAILED, LOG_T("why", e.text));
}

static int start(struct run_daemon *d, struct err *e)
{
	int rc = run_worker_start(&d->worker, &d->loop, d->cfg.threads, on_routes, d, e);

	if (!rc)
		rc = run_keeper_open(&d->keeper, &d->loop, &d->log, d->cfg.state, &d->cfg.sm, e);
	if (!rc)
		run_image_open(&d->image, &d->loop, &d->log, d->cfg.state);
	if (!rc)
		rc = run_daemon_listen(d, e);
	if (rc)
		return rc;
	pid_file(d, true);
	run_link_init(&d->link, &d->loop, &d->cfg);
	d->link.up = on_up;
	d->link.failed = on_failed;
	d->link.ctx = d;
	run_link_open(&d->link);
	d->linked = true;
	return 0;
}

void run_daemon_stop(struct run_daemon *d, const char *why)
{
	if (d->stopping)
		return;
	d->stopping = true;
	log_rec(&d->log, LOG_STOP, LOG_T("why", why));
	notify_send("STOPPING=1");
	uv_stop(&d->loop);
}

static void close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

static void on_patience(uv_timer_t *t)
{
	*(bool *)t->data = true;
}

/* Most computations are over in a moment. One that is not is left to itself, with all it looks at. */
static void stop_worker(struct run_daemon *d)
{
	static struct run_daemon *left; /* in nobody's way, but not lost */
	uv_timer_t patience;
	bool over = false;

	uv_timer_init(&d->loop, &patience);
	patience.data = &over;
	uv_timer_start(&patience, on_patience, PATIENCE_MS, 0);
	while (run_worker_busy(d->worker) && !over)
		uv_run(&d->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&patience, NULL);
	d->left_alone = !run_worker_stop(d->worker);
	if (d->left_alone)
		left = d;
	uv_run(&d->loop, UV_RUN_NOWAIT);
	(void)left;
}

/* In the reverse order; the IsSM bit goes first, so that nobody counts on us any more. */
static void end(struct run_daemon *d)
{
	if (d->tp)
		tp_set_is_sm(d->tp, false);
	if (d->linked)
		run_link_close(&d->link);
	run_image_close(&d->image);
	if (d->worker)
		run_daemon_drop(d);
	run_daemon_unlisten(d);
	run_keeper_close(&d->keeper);
	run_dumper_wait(&d->dumper);
	if (d->worker)
		stop_worker(d);
	pid_file(d, false);
	while (d->link.busy)
		uv_run(&d->loop, UV_RUN_ONCE);
	if (!d->left_alone) {
		uv_walk(&d->loop, close_handle, NULL);
		uv_run(&d->loop, UV_RUN_DEFAULT);
		uv_loop_close(&d->loop);
	}
	for (size_t i = 0; i < d->old.n && !d->left_alone; i++)
		sm_free(d->old.at[i].sm);
	vec_free(&d->old);
	vec_free(&d->changes);
	log_close(&d->log);
}

static int64_t unix_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int run_sm(const struct settings *c, const struct run_hooks *h, struct err *e)
{
	struct run_daemon *d = mem_zalloc(sizeof(*d));
	int rc;

	d->cfg = *c;
	d->hooks = h ? *h : (struct run_hooks){0};
	d->began_ns = uv_hrtime();
	d->began_unix_ms = unix_ms();
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		d->cfg.spin_us = 0; /* whoever is to answer needs the processor */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that must not grow is like a full disk */
	rc = log_open(&d->log, c->log_file, c->log_level, c->log_format, e);
	if (rc) {
		free(d);
		return rc;
	}
	uv_loop_init(&d->loop);
	uv_idle_init(&d->loop, &d->idle);
	uv_timer_init(&d->loop, &d->timer);
	d->idle.data = d->timer.data = d->loop.data = d;
	run_dumper_init(&d->dumper, &d->loop, &d->log);
	log_rec(&d->log, LOG_START, LOG_T("version", WEFT_VERSION),
		LOG_T("mechanism", c->sm.mechanism.name), LOG_U("window", c->sm.window));
	rc = start(d, e);
	if (!rc) {
		uv_run(&d->loop, UV_RUN_DEFAULT);
		rc = d->rc;
		*e = d->e;
	}
	end(d);
	if (!d->left_alone)
		free(d);
	return rc;
}
