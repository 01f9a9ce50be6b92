/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon: creates its parts, connects them and runs the loop. State: struct run_daemon. Way in:
 * run_sm(). Decides nothing about the subnet: the manager does.
 */
#include "run/inputs.h"
#include "run/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "run/daemon_sandbox.h"
#include "run/systemd_notify.h"

enum {
	ONCE_MS = 10000,   /* with `once`: how long a connection is tried for */
	PATIENCE_MS = 500, /* how long the end waits for routes under computation */
	DESCRIPTORS_NEEDED = 24,
	STARTING_MS = 1000, /* no warning while a server may be starting together with the daemon */
};

#define NS_PER_MS UINT64_C(1000000)

/* ---- what the session reports ---- */

static bool is_isolation(const struct run_daemon *d, const struct sm_note *n)
{
	struct perf_view v;

	return n->kind == SM_NOTE_LINK_DOWN && d->session.perf &&
	       perf_port_get(d->session.perf, n->about.a.guid, n->about.a.port, &v, 0) &&
	       v.flags & PERF_IS_ISOLATED;
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct run_daemon *d = ctx;
	const struct sm *sm = d->session.sm;
	bool ready = n->kind == SM_NOTE_PHASE && n->phase.to == SM_READY;
	bool is_vm = n->kind == SM_NOTE_VM || n->kind == SM_NOTE_VM_GONE;

	run_history_note(&d->history, n);
	if (n->kind == SM_NOTE_LID)
		run_state_writer_add_lid(&d->state, n->address.port_guid, n->address.lid,
					 n->address.lmc);
	else if (n->kind == SM_NOTE_NAME)
		run_state_writer_add_name(&d->state, n->about.a.guid,
					  sm_node_desc(sm, n->about.a.guid));
	else if (n->kind == SM_NOTE_VM)
		run_state_writer_add_vm(&d->state, &n->vm);
	else if (n->kind == SM_NOTE_VM_GONE)
		run_state_writer_drop_vm(&d->state, n->vm.guid);
	if (n->kind == SM_NOTE_RESTART || is_vm) /* the saved state is another one */
		run_subnet_file_invalidate(&d->subnet_file);
	if (n->kind == SM_NOTE_NAME || is_vm || ready)
		run_subnet_file_save_soon(&d->subnet_file, !ready);
	if (!is_isolation(d, n)) /* link_isolated has said it: the link did not go down */
		run_note_log(&d->log, sm, n);
	if (ready || n->kind == SM_NOTE_STATE)
		run_ready_update(d);
}

static void on_set(void *ctx)
{
	struct run_daemon *d = ctx;

	run_subnet_file_invalidate(&d->subnet_file);
}

static void on_vm(void *ctx, const struct sm_vm_result *r)
{
	struct run_daemon *d = ctx;

	run_vm_orders_result(&d->vms, r);
}

static void on_perf(void *ctx, const uint8_t *mad)
{
	struct run_daemon *d = ctx;

	run_counter_orders_mad(&d->counters, mad);
}

static void on_registered(void *ctx, const struct sa_item *it)
{
	struct run_daemon *d = ctx;

	run_registrations_add(&d->registrations, it);
}

static void on_counted(void *ctx, const struct perf_event *ev)
{
	struct run_daemon *d = ctx;

	run_perf_log(&d->log, d->session.sm, ev);
}

static void on_lost(void *ctx)
{
	struct run_daemon *d = ctx;

	log_rec(&d->log, LOG_LOST, LOG_T("port", d->session.port.name));
	systemd_notify("STATUS=the connection to the fabric is lost");
	run_subnet_file_detach(&d->subnet_file);
	run_session_close(&d->session);
	run_vm_orders_lost(&d->vms);
	run_counter_orders_lost(&d->counters);
	run_connector_retry(&d->connector);
}

static void on_routes(void *ctx, struct sm_routes *r, uint64_t number, uint64_t took_us)
{
	struct run_daemon *d = ctx;

	run_session_routes(&d->session, r, number, took_us);
}

/* ---- what the connector reports ---- */

static void on_up(void *ctx, struct tp *tp, int is_sm_rc)
{
	struct run_daemon *d = ctx;
	struct run_session *s = &d->session;
	bool may_restore = run_session_open(s, tp, &d->cfg.sm, run_daemon_policy(d));

	d->failing_ns = 0;
	d->complaint.text[0] = 0;
	log_rec(&d->log, LOG_CONNECTED, LOG_T("port", s->port.name),
		LOG_G("port_guid", s->port.port_guid));
	if (is_sm_rc)
		log_rec(&d->log, LOG_IS_SM, LOG_T("port", s->port.name),
			LOG_T("why", strerror(-is_sm_rc)));
	systemd_notify("STATUS=bringing the subnet up");
	run_ready_new_manager(d);
	run_state_writer_seed(&d->state, s->sm);
	run_subnet_file_attach(&d->subnet_file, s->sm, may_restore);
	run_state_writer_seed_vms(&d->state,
				  s->sm); /* after the saved state, which may know more */
	sm_reregister(s->sm, s->number == 1 && !d->registrations.loaded);
	run_session_start(s);
}

static void complain(struct run_daemon *d, int rc, const struct err *e)
{
	uint64_t now = uv_hrtime();

	if (!d->failing_ns)
		d->failing_ns = now;
	if (rc == -ECONNREFUSED && now < d->failing_ns + STARTING_MS * NS_PER_MS)
		return;
	if (strcmp(d->complaint.text, e->text))
		log_rec(&d->log, LOG_NO_CONNECTION, LOG_T("why", e->text));
	d->complaint = *e;
	systemd_notify("STATUS=%s", e->text);
}

/* At first, a missing port is a mistake of the operator; a missing server may still start. */
static bool on_failed(void *ctx, int rc, const struct err *e)
{
	struct run_daemon *d = ctx;
	bool may_start = rc == -ECONNREFUSED || rc == -ETIMEDOUT || d->session.number > 0;
	bool late = d->cfg.once && uv_hrtime() > d->began_ns + ONCE_MS * NS_PER_MS;

	if (may_start && !late) {
		complain(d, rc, e);
		return true;
	}
	run_daemon_fail(d, rc, e, "no connection");
	return false;
}

/* ---- start ---- */

static void on_saved(void *ctx)
{
	struct run_daemon *d = ctx;

	run_vm_orders_saved(&d->vms);
}

static void pid_file(struct run_daemon *d, bool create)
{
	char text[32];
	struct err e;

	if (!*d->cfg.pid_file)
		return;
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (!create)
		unlink(d->cfg.pid_file);
	else if (file_write(d->cfg.pid_file, text, strlen(text), &e))
		log_rec(&d->log, LOG_PID_FILE, LOG_T("why", e.text));
}

static int start(struct run_daemon *d, struct err *e)
{
	const struct run_connector_calls calls = {on_up, on_failed, d};
	int rc = run_state_writer_open(&d->state, &d->loop, &d->log, d->cfg.state, &d->cfg.sm, e);

	d->state.on_saved = on_saved; /* opening clears it */
	d->state.on_saved_ctx = d;
	if (!rc)
		run_subnet_file_open(&d->subnet_file, &d->loop, &d->log, d->cfg.state);
	if (!rc)
		run_registrations_open(&d->registrations, &d->loop, &d->log, d->cfg.state,
				       d->session.sa);
	if (!rc)
		rc = run_service_start(d, e);
	if (rc)
		return rc;
	pid_file(d, true);
	rc = run_daemon_sandbox(d, e); /* before there is a second thread */
	if (!rc)
		rc = run_worker_start(&d->worker, &d->loop, d->cfg.threads, on_routes, d, e);
	if (rc)
		return rc;
	run_session_set_worker(&d->session, d->worker);
	run_connector_init(&d->connector, &d->loop, d->cfg.transport, &d->cfg.where, &calls);
	d->connector.observes = d->cfg.sm.observe;
	run_connector_open(&d->connector);
	d->connecting = true;
	return 0;
}

/* ---- end ---- */

static void close_handle(uv_handle_t *h, void *arg UNUSED)
{
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

static void on_patience_over(uv_timer_t *t)
{
	*(bool *)t->data = true;
}

/* Most computations end in a moment. The thread of a longer one, and all it uses, stays until the
 * process ends. */
static void worker_stop(struct run_daemon *d)
{
	static struct run_daemon *left; /* still referenced: not a leak */
	uv_timer_t patience;
	bool over = false;

	uv_timer_init(&d->loop, &patience);
	patience.data = &over;
	uv_timer_start(&patience, on_patience_over, PATIENCE_MS, 0);
	while (run_worker_busy(d->worker) && !over)
		uv_run(&d->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&patience, NULL);
	d->worker_left = !run_worker_stop(d->worker);
	if (d->worker_left)
		left = d;
	uv_run(&d->loop, UV_RUN_NOWAIT);
	(void)left;
}

/* The IsSM bit first, so that other managers stop relying on this one. */
static void end(struct run_daemon *d)
{
	if (d->session.tp)
		tp_set_is_sm(d->session.tp, false);
	if (d->connecting)
		run_connector_close(&d->connector);
	run_subnet_file_close(&d->subnet_file);
	run_session_close(&d->session);
	run_state_writer_close(&d->state);
	run_registrations_close(&d->registrations);
	run_dump_writer_wait(&d->dumps);
	run_service_stop(
		d); /* when the control socket is gone, another manager can use the files */
	if (d->worker)
		worker_stop(d);
	pid_file(d, false);
	while (d->connector.busy)
		uv_run(&d->loop, UV_RUN_ONCE);
	if (!d->worker_left) {
		uv_walk(&d->loop, close_handle, NULL);
		uv_run(&d->loop, UV_RUN_DEFAULT);
		uv_loop_close(&d->loop);
		run_session_free(&d->session);
	}
	run_vm_orders_free(&d->vms);
	run_counter_orders_free(&d->counters);
	run_history_free(&d->history);
	log_close(&d->log);
}

/* ---- run_sm() ---- */

static int64_t unix_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int parts_init(struct run_daemon *d, struct err *e)
{
	const struct run_session_calls calls = {on_note, on_set,  on_lost,	 d,
						on_vm,	 on_perf, on_registered, on_counted};
	int rc;

	run_daemon_sandbox_prepare(d);
	rc = uv_loop_init(&d->loop);
	if (rc)
		return err_set(e, rc, "cannot start the event loop: %s", uv_strerror(rc));
	d->loop.data = d;
	run_session_init(&d->session, &d->loop, &d->log, &calls);
	run_session_set_spin(&d->session, d->cfg.spin_us);
	run_session_set_perf(&d->session, &d->cfg.perf);
	run_dump_writer_init(&d->dumps, &d->loop, &d->log, run_daemon_dump_due, d);
	run_ready_init(d);
	run_daemon_vms_init(d);
	run_daemon_counters_init(d);
	return 0;
}

/*
 * The event loop ends the process without a word where it cannot have its first descriptors. So have room:
 * raise the soft limit to the hard one, and see whether there are enough.
 */
static int descriptors_check(struct err *e)
{
	int fd[DESCRIPTORS_NEEDED];
	struct rlimit most;
	unsigned n = 0;

	if (!getrlimit(RLIMIT_NOFILE, &most) && most.rlim_cur < most.rlim_max) {
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_NOFILE, &most);
	}
	while (n < ARRAY_LEN(fd) && (fd[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		n++;
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	if (n == ARRAY_LEN(fd))
		return 0;
	return err_set(e, -EMFILE, "%u descriptors are free: expected %zu at least (ulimit -n)", n,
		       ARRAY_LEN(fd));
}

static void *memory_resize(void *p, size_t size)
{
	return mem_resize(p, size, 1);
}

/* Without memory libuv would abort in places: end with a message instead. */
static int loop_memory(struct err *e)
{
	int rc = uv_replace_allocator(mem_alloc, memory_resize, mem_zarray, free);

	return rc ? err_set(e, rc, "cannot start the event loop: %s", uv_strerror(rc)) : 0;
}

static void inputs_free(struct run_daemon *d)
{
	run_inputs_free(d->cfg.sm.inputs);
	for (size_t i = 0; i < d->old_inputs.n; i++)
		run_inputs_free(d->old_inputs.at[i]);
	vec_free(&d->old_inputs);
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
		d->cfg.spin_us = 0; /* the server needs the only processor */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file's size limit is handled like a full disk */
	rc = loop_memory(e);
	rc = rc ? rc : descriptors_check(e);
	rc = rc ? rc : log_open(&d->log, c->log_file, c->log_level, c->log_format, e);
	if (!rc && (rc = parts_init(d, e)))
		log_close(&d->log);
	if (rc) {
		inputs_free(d);
		free(d);
		return rc;
	}
	log_rec(&d->log, LOG_START, LOG_T("version", WEFT_VERSION),
		LOG_T("mechanism", c->sm.mechanism.name), LOG_U("window", c->sm.window));
	rc = start(d, e);
	if (!rc) {
		uv_run(&d->loop, UV_RUN_DEFAULT);
		rc = d->ending.rc;
		*e = d->ending.e;
	}
	end(d);
	if (!d->worker_left) {
		inputs_free(d);
		free(d);
	}
	return rc;
}
