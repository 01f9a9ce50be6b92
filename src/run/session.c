/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection and the manager on it. State: struct run_session. Ways in: run_session_*() and callbacks
 * of the loop. Opens no connection (connector.c does) and decides nothing about the subnet.
 */
#include "run/session.h"

enum {
	TURN_NS = 100 * 1000,  /* the longest time before the loop serves its other handles */
	NEAR_NS = 1000 * 1000, /* spin for a wake-up that is nearer: timers have milliseconds */
	PROBE_MS = 500,	       /* how often an idle connection is checked */
	FULL_MS = 1,	       /* retry after the transport accepted no more MADs */
};

/* ---- turns ---- */

static void awake(struct run_session *s);
static void on_timer(uv_timer_t *t);

/* No MAD moved for a while: sleep until one arrives or something is due. */
static void sleep_until_due(struct run_session *s, time_ps now)
{
	time_ps wake = MIN(MIN(s->pump.wake, sa_due(s->sa)), perf_due(s->perf));
	time_ps wait = wake == TIME_NEVER ? TIME_NEVER : wake - MIN(wake, now);
	uint64_t ms = s->pump.n ? FULL_MS : MIN(wait / PS_PER_MS, (time_ps)PROBE_MS);

	ms = MAX(ms, s->spin_us ? 0u : 1u);
	uv_idle_stop(&s->idle);
	/* One that ends earlier stays: to set it for every request of a host takes longer than to wake up once too often. */
	if (!uv_is_active((uv_handle_t *)&s->timer) || uv_timer_get_due_in(&s->timer) > ms)
		uv_timer_start(&s->timer, on_timer, ms, 0);
}

static bool is_near(const struct run_session *s, time_ps now)
{
	return s->spin_us && s->pump.wake != TIME_NEVER && s->pump.wake < now + NEAR_NS * PS_PER_NS;
}

static bool is_spinning(const struct run_session *s, uint64_t now_ns)
{
	return now_ns <= s->busy_ns + s->spin_us * (uint64_t)1000;
}

/* All that hosts asked for so far is answered: what they ask next wakes the loop. Responses to the manager's own SMPs are
 * worth waiting for, requests of hosts come when they come. */
static bool is_served(const struct run_session *s)
{
	return !s->pump.full && !s->pump.n && !s->pump.owes;
}

static void turn(struct run_session *s)
{
	uint64_t began = uv_hrtime(), now = began, own;
	time_ps at;
	int rc = 0;

	while (s->tp && now < began + TURN_NS) {
		own = s->pump.own;
		rc = run_pump_turn(&s->pump);
		if (rc < 0)
			break;
		now = uv_hrtime();
		if (rc > 0 && s->pump.own != own) {
			s->busy_ns = now;
		} else if ((!rc || is_served(s)) && !is_spinning(s, now)) {
			rc = 0;
			break;
		}
	}
	if (rc < 0) {
		s->before.reconnects++;
		s->call.lost(s->call.ctx);
	}
	if (!s->tp)
		return;
	at = run_pump_at(&s->pump, now);
	if (rc > 0 || is_spinning(s, now) || is_near(s, at))
		awake(s);
	else
		sleep_until_due(s, at);
}

static void on_idle(uv_idle_t *i)
{
	turn(i->data);
}

static void on_timer(uv_timer_t *t)
{
	turn(t->data);
}

static void on_readable(uv_poll_t *p, int status UNUSED, int events UNUSED)
{
	turn(p->data);
}

static void awake(struct run_session *s)
{
	if (!uv_is_active((uv_handle_t *)&s->idle))
		uv_idle_start(&s->idle, on_idle);
}

static void event(struct run_session *s, struct sm_event ev)
{
	if (!s->sm)
		return;
	run_pump_event(&s->pump, &ev);
	if (s->sm)
		awake(s);
}

void run_session_event(struct run_session *s, enum sm_event_kind kind)
{
	event(s, (struct sm_event){.kind = kind});
}

void run_session_handover(struct run_session *s, uint64_t guid)
{
	event(s, (struct sm_event){.kind = SM_EV_HANDOVER, .guid = guid});
}

bool run_session_vms(struct run_session *s, const struct sm_vm_request *r, size_t n)
{
	bool there = s->sm != NULL;

	event(s, (struct sm_event){.kind = SM_EV_VMS, .vms = r, .nvms = n});
	return there;
}

/* ---- routes ---- */

static void on_compute(void *ctx, const struct sm_compute *c)
{
	struct run_session *s = ctx;

	s->ahead_request = c->ahead ? c->epoch : 0;
	run_worker_request(s->worker, c, s->number);
}

/* Repairs ahead are many and small: one record for all that were computed in a row. */
static void log_ahead(struct run_session *s)
{
	if (!s->ahead || s->ahead_request)
		return;
	log_rec(s->log, LOG_REPAIRS, LOG_U("count", s->ahead), LOG_TIME("took_us", s->ahead_us));
	s->ahead = s->ahead_us = 0;
}

/* Requests are computed in order: those of this session and earlier ones have ended. */
static void former_free(struct run_session *s, uint64_t number)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->former.n; i++)
		if (s->former.at[i].number <= number)
			sm_free(s->former.at[i].sm);
		else
			s->former.at[kept++] = s->former.at[i];
	s->former.n = kept;
}

void run_session_routes(struct run_session *s, struct sm_routes *r, uint64_t number,
			uint64_t took_us)
{
	bool ahead = s->ahead_request && r->epoch == s->ahead_request;

	s->before.routes_computed++;
	s->before.compute_us += took_us;
	s->ahead += ahead;
	s->ahead_us += ahead ? took_us : 0;
	if (ahead)
		s->ahead_request = 0; /* the manager requests the next one, if there is one */
	else if (r->tables)
		log_rec(s->log, LOG_ROUTES, LOG_U("switches", r->tables->nswitches),
			LOG_TIME("took_us", took_us));
	former_free(s, number);
	if (!s->sm || number != s->number) {
		sm_routes_free(r);
		return;
	}
	run_pump_event(&s->pump, &(struct sm_event){.kind = SM_EV_ROUTES, .routes = *r});
	log_ahead(s);
	s->busy_ns = uv_hrtime();
	awake(s);
}

/* ---- notes and Sets ---- */

static void on_note(void *ctx, const struct sm_note *n)
{
	const struct run_session *s = ctx;

	s->call.note(s->call.ctx, n);
}

static void on_set(void *ctx)
{
	const struct run_session *s = ctx;

	s->call.set(s->call.ctx);
}

static void on_vm(void *ctx, const struct sm_vm_result *r)
{
	const struct run_session *s = ctx;

	s->call.vm(s->call.ctx, r);
}

static void on_perf(void *ctx, const uint8_t *mad)
{
	const struct run_session *s = ctx;

	if (s->call.perf)
		s->call.perf(s->call.ctx, mad);
}

static void on_registered(void *ctx, const struct sa_item *it)
{
	const struct run_session *s = ctx;

	if (s->call.registered)
		s->call.registered(s->call.ctx, it);
}

static void on_counted(void *ctx, const struct perf_event *ev)
{
	const struct run_session *s = ctx;

	if (s->call.counted)
		s->call.counted(s->call.ctx, ev);
}

bool run_session_send(struct run_session *s, const struct tp_mad *m)
{
	if (!s->tp || !run_pump_send(&s->pump, m))
		return false;
	awake(s);
	return true;
}

/* ---- begin and end ---- */

void run_session_init(struct run_session *s, uv_loop_t *loop, struct run_log *log,
		      const struct run_session_calls *call)
{
	struct perf_config counters;
	struct sa_config cfg;

	*s = (struct run_session){.loop = loop, .log = log, .call = *call};
	perf_config_default(&counters);
	s->perf = perf_new(&counters);
	sa_config_default(&cfg);
	s->sa = sa_new(&cfg);
	uv_idle_init(loop, &s->idle);
	uv_timer_init(loop, &s->timer);
	s->idle.data = s->timer.data = s;
}

void run_session_set_worker(struct run_session *s, struct run_worker *worker)
{
	s->worker = worker;
}

void run_session_set_spin(struct run_session *s, unsigned spin_us)
{
	s->spin_us = spin_us;
}

void run_session_set_perf(struct run_session *s, const struct perf_config *c)
{
	perf_reconfigure(s->perf, c);
}

void run_session_distrust(struct run_session *s)
{
	s->distrust = true;
}

/* Who knows the SM_Key is trusted. */
static void administer(struct run_session *s, const struct sm_config *cfg)
{
	struct sa_config c;

	sa_config_default(&c);
	c.sm_key = cfg->sm_key;
	c.prefix = cfg->gid_prefix;
	sa_reconfigure(s->sa, &c);
}

bool run_session_open(struct run_session *s, struct tp *tp, const struct sm_config *cfg,
		      const struct pol *policy)
{
	struct sm_config c = *cfg;

	s->tp = tp;
	tp_info(tp, &s->port);
	c.port = s->port.port;
	c.read_back |= s->number > 0; /* switches hold what the last manager set */
	c.distrust = s->distrust;
	c.hold_vms = c.multicast = true;
	if (c.observe)
		c.read_back = c.distrust = c.multicast = false;
	s->distrust = false;
	s->sm = sm_new(&c);
	if (policy && !c.observe)
		sm_policy_set(s->sm, policy);
	administer(s, &c);
	perf_new_manager(s->perf, c.observe);
	s->window = c.window;
	s->pause = c.contest ? c.stall_ps : 0;
	s->number++;
	return c.read_back && !c.distrust;
}

/* The kernel limits what a user may poll. */
static bool poll_start(struct run_session *s)
{
	s->poll = mem_zalloc(sizeof(*s->poll));
	s->poll->data = s;
	if (uv_poll_init(s->loop, s->poll, tp_fd(s->tp))) {
		free(s->poll);
		s->poll = NULL;
		return false;
	}
	return !uv_poll_start(s->poll, UV_READABLE, on_readable);
}

void run_session_start(struct run_session *s)
{
	const struct run_pump_calls call = {on_note, on_compute, on_set,	s,
					    on_vm,   on_perf,	 on_registered, on_counted};

	run_pump_init(&s->pump, s->tp, s->sm, s->window, uv_hrtime, &call);
	run_pump_set_pause(&s->pump, s->pause);
	run_pump_set_sa(&s->pump, s->sa);
	run_pump_set_perf(&s->pump, s->perf);
	if (!poll_start(s)) {
		s->call.lost(s->call.ctx);
		return;
	}
	run_pump_event(&s->pump, &(struct sm_event){.kind = SM_EV_START});
	s->busy_ns = uv_hrtime();
	awake(s);
}

static void on_poll_closed(uv_handle_t *h)
{
	free(h);
}

void run_session_close(struct run_session *s)
{
	if (!s->tp)
		return;
	uv_idle_stop(&s->idle);
	uv_timer_stop(&s->timer);
	if (s->poll)
		uv_close((uv_handle_t *)s->poll, on_poll_closed);
	s->poll = NULL;
	s->before.mads_in += s->pump.in;
	s->before.mads_out += s->pump.sent;
	run_pump_free(&s->pump);
	tp_close(s->tp);
	s->tp = NULL;
	run_worker_cancel(s->worker);
	if (run_worker_busy(s->worker))
		vec_push(&s->former, (struct run_former){s->sm, s->number});
	else
		sm_free(s->sm);
	s->sm = NULL;
}

void run_session_free(struct run_session *s)
{
	former_free(s, UINT64_MAX);
	vec_free(&s->former);
	sa_free(s->sa);
	perf_free(s->perf);
}

void run_session_total(const struct run_session *s, struct run_session_totals *t)
{
	*t = s->before;
	t->mads_in += s->pump.in;
	t->mads_out += s->pump.sent;
}
