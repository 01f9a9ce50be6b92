/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop: polls for MADs while they come, sleeps otherwise, and wakes the simulation when an
 * event is due. State: struct emu. Ways in: emu_open(), emu_run(). Does not look into MADs or
 * commands.
 */
#include <sched.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "emu/emu_priv.h"
#include "sim/kernel/sim_kernel.h"

enum { ROUNDS = 64, TICK_MS = 25, PROBE_MS = 1000, BUSY_US = 300, SLEEP_MS = 20 };

void emu_config_default(struct emu_config *c)
{
	const char *name = getenv("IBSIM_SOCKNAME");

	*c = (struct emu_config){
		.clients = 128,
		.spin_us = 50,
		.timeout_ms = 200, /* as OpenSM; with retries below libibmad's one second */
		.retries = 3,
		.console = true,
		.out = STDOUT_FILENO};
	sim_config_default(&c->sim);
	c->sim.express = true;
	c->sim.traps = true;
	c->sim.vl_cap = 4; /* eight data VLs: what layered routing needs */
	c->sim.mtu_cap = 5;
	snprintf(c->name, sizeof(c->name), "%s", name && *name ? name : "sim");
}

/* ---- time ---- */

/* The loop wakes when the simulation has something to do: libuv's own timers are too coarse. */
static void clock_arm(struct emu *m)
{
	time_ps next = sim_next(m->sim), now = emu_now(m);
	struct itimerspec t = {0};
	uint64_t ns;

	if (next != TIME_NEVER) {
		ns = next > now ? (next - now) / PS_PER_NS + 1 : 1;
		t.it_value.tv_sec = (time_t)(ns / 1000000000);
		t.it_value.tv_nsec = (long)(ns % 1000000000);
	}
	timerfd_settime(m->clock_fd, 0, &t, NULL);
}

static void clock_due(uv_poll_t *h, int status UNUSED, int events UNUSED)
{
	struct emu *m = h->data;
	uint64_t times;

	if (read(m->clock_fd, &times, sizeof(times)) < 0)
		return;
	emu_settle(m, emu_now(m));
}

/* A response that is due counts, also where the process itself came late. */
void emu_tick(struct emu *m, time_ps now)
{
	emu_settle(m, now);
	deliver_late(m, now);
}

static void tick(uv_timer_t *t)
{
	struct emu *m = t->data;

	emu_tick(m, emu_now(m));
	if (!m->pend.n)
		uv_timer_stop(t);
}

static void probe(uv_timer_t *t)
{
	struct emu *m = t->data;

	clients_probe(m);
	events_flush(m);
	output_flush(m);
}

static void on_signal(uv_signal_t *s, int number UNUSED)
{
	emu_stop(s->data);
}

/* ---- the control socket ---- */

static void control_answer(void *ctx, const char *line, struct strbuf *out)
{
	struct strbuf text = {0};
	struct json j = {.line = true};
	int rc = emu_command(ctx, line, &text);

	while (rc && text.len && text.s[text.len - 1] == '\n')
		text.s[--text.len] = 0;
	json_open(&j, NULL, '{');
	json_bool(&j, "ok", !rc);
	json_str(&j, rc ? "error" : "text", text.len ? text.s : "");
	json_close(&j);
	strbuf_add(out, j.out.s);
	json_free(&j);
	strbuf_free(&text);
}

/* ---- life ---- */

static port_id default_port(const struct fab *f)
{
	for (node_id n = 0; n < f->nnodes; n++)
		for (unsigned p = 1; f->nodes[n].type == IBA_NODE_CA && p <= f->nodes[n].nports;
		     p++)
			if (f->ports[fab_port_id(f, n, p)].peer != FAB_NONE)
				return fab_port_id(f, n, p);
	return fab_port_id(f, 0, fab_is_switch(f, 0) ? 0 : 1);
}

static void handles_open(struct emu *m)
{
	uv_signal_init(&m->loop, &m->sigint);
	uv_signal_init(&m->loop, &m->sigterm);
	uv_timer_init(&m->loop, &m->tick);
	uv_timer_init(&m->loop, &m->probe);
	m->clock_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	uv_poll_init(&m->loop, &m->clock, m->clock_fd);
	m->sigint.data = m->sigterm.data = m->tick.data = m->probe.data = m->clock.data = m;
}

static void fabric_open(struct emu *m)
{
	m->sim = sim_new(m->fab, &m->cfg.sim);
	machines_watch(m);
	for (node_id n = 0; n < m->fab->nnodes; n++)
		sim_node_power(m->sim, n, true);
	m->before = mem_array(m->fab->nports, sizeof(*m->before));
	memset(m->before, 0xff, m->fab->nports * sizeof(*m->before));
	m->default_port = default_port(m->fab);
	m->clients = mem_zarray(m->cfg.clients, sizeof(*m->clients));
	m->ready = mem_array(m->cfg.clients, sizeof(*m->ready));
	m->unsent = mem_array(m->cfg.clients, sizeof(*m->unsent));
	pend_init(&m->pend, m->cfg.clients, EMU_PENDING_MAX);
	m->verbose = 1;
	m->receive = deliver_to_port;
	output_open(m);
	events_open(m);
}

static int sockets_open(struct emu *m, struct err *e)
{
	int rc = script_open(m, e);

	if (!rc)
		rc = wire_open(m, e);
	if (!rc && m->cfg.control[0])
		rc = lines_listen(&m->control, &m->loop, m->cfg.control, 0600, control_answer, m,
				  e);
	return rc;
}

int emu_open(struct emu **out, const struct fab *f, const struct emu_config *c, struct err *e)
{
	struct fab *wire;
	struct emu *m;
	int rc;

	if (!f->nnodes)
		return err_set(e, -EINVAL, "the netlist has no nodes");
	if (!c->clients || c->clients > EMU_CLIENTS_MAX || strlen(c->name) > 48)
		return err_set(e, -EINVAL,
			       "expected 1 to %d clients and a name of at most 48 characters",
			       EMU_CLIENTS_MAX);
	wire = fab_devices(f, e);
	if (!wire)
		return -EINVAL;
	m = mem_zalloc(sizeof(*m));
	m->cfg = *c;
	m->start_ns = emu_clock_ns();
	m->fab = wire;
	rc = uv_loop_init(&m->loop);
	if (rc)
		abort(); /* no memory or no descriptors */
	handles_open(m);
	fabric_open(m);
	rc = sockets_open(m, e);
	if (rc) {
		emu_close(m);
		return rc;
	}
	*out = m;
	return 0;
}

void emu_close(struct emu *m)
{
	if (!m)
		return;
	script_close(m);
	input_close(m);
	if (m->clients)
		clients_free(m);
	events_close(m);
	output_close(m);
	if (m->control)
		lines_close(m->control);
	wire_close(m);
	uv_close((uv_handle_t *)&m->sigint, NULL);
	uv_close((uv_handle_t *)&m->sigterm, NULL);
	uv_close((uv_handle_t *)&m->tick, NULL);
	uv_close((uv_handle_t *)&m->probe, NULL);
	uv_close((uv_handle_t *)&m->clock, NULL);
	while (uv_run(&m->loop, UV_RUN_DEFAULT)) /* emu_stop() may have ended it early */
		;
	close(m->clock_fd);
	if (uv_loop_close(&m->loop))
		assert(!"a handle was left open");
	pend_free(&m->pend);
	sim_free(m->sim);
	fab_free(m->fab);
	free(m->before);
	free(m);
}

/* ---- running ---- */

/*
 * No MAD came: poll again, if that still pays. If other processes want this core, a process that
 * polls loses it for long, and one that sleeps is woken at once: then it is better to sleep for a
 * while.
 */
static bool poll_again(struct emu *m, time_ps now, time_ps last)
{
	if (now < m->busy_until || now - last >= m->cfg.spin_us * PS_PER_US)
		return false;
	sched_yield(); /* the sender of the next MAD may need this core */
	if (emu_now(m) - now > BUSY_US * PS_PER_US)
		m->busy_until = now + SLEEP_MS * PS_PER_MS;
	return true;
}

/* Turn after turn while MADs come, and spin_us longer; the loop runs now and then. */
static void serve(struct emu *m)
{
	time_ps last = emu_now(m);
	unsigned rounds = 0;

	while ((m->nready || m->nunsent) && !m->stop) {
		time_ps now = emu_now(m);

		if (wire_serve(m, now))
			last = now;
		else if (!poll_again(m, now, last))
			return;
		if (sim_next(m->sim) <= now)
			emu_settle(m, now);
		if (++rounds % ROUNDS == 0)
			uv_run(&m->loop, UV_RUN_NOWAIT);
	}
}

int emu_run(struct emu *m)
{
	struct err e;

	uv_signal_start(&m->sigint, on_signal, SIGINT);
	uv_signal_start(&m->sigterm, on_signal, SIGTERM);
	uv_poll_start(&m->clock, UV_READABLE, clock_due);
	uv_timer_start(&m->probe, probe, PROBE_MS, PROBE_MS);
	script_start(m);
	if (input_open(m, &e))
		events_say(m, "%s", e.text);
	while (!m->stop) {
		serve(m);
		wire_flush(m);
		wire_idle(m);
		if (m->pend.n && !uv_is_active((uv_handle_t *)&m->tick))
			uv_timer_start(&m->tick, tick, TICK_MS, TICK_MS);
		clock_arm(m);
		if (!m->stop)
			uv_run(&m->loop, UV_RUN_ONCE);
	}
	return 0;
}
