/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager without a fabric to reach: brings a simulated one up, then answers on a control socket as
 * `weft sm` would, or writes OpenSM's files and ends. State: one laboratory. Does not change after it is
 * up, but for what is ordered. usage: lab_manager NETLIST SOCKET | lab_manager NETLIST --dump DIR [LMC]
 */
#include <signal.h>

#include "lab/lab.h"
#include "run/run.h"
#include "control/lines.h"

static struct {
	uv_loop_t loop;
	struct lines *lines;
	struct lab *lab;
	struct settings cfg;
	struct run_change change;
	struct run_view v;
	uv_idle_t last; /* set when it is to end: the answer goes out first */
} m;

static void on_last(uv_idle_t *i)
{
	lines_close(m.lines);
	uv_close((uv_handle_t *)i, NULL);
}

static void order_stop(void *ctx UNUSED)
{
	uv_idle_start(&m.last, on_last);
}

static void order_nothing(void *ctx UNUSED)
{
}

/* As if the file had two faults. */
static int order_reload(void *ctx UNUSED, struct strbuf *fixed UNUSED, struct strbuf *faults,
			struct err *e)
{
	strbuf_add(faults, "weft.yaml:2:3: unknown key 'widnow'\nweft.yaml:4:9: not YAML\n");
	return err_set(e, -EINVAL, "weft.yaml:2:3: unknown key 'widnow' (and 1 more)");
}

/* The manager's next periodic sweep is within this time. */
static void order_sweep(void *ctx UNUSED)
{
	m.v.now += 100 * PS_PER_S;
	lab_run_until(m.lab, m.v.now);
}

static void order_level(void *ctx UNUSED, enum run_log_level l)
{
	m.v.log_level = l;
}

static int order_handover(void *ctx UNUSED, uint64_t guid, struct err *e)
{
	return sm_handover_check(lab_sm(m.lab), guid, e);
}

static int order_dump(void *ctx UNUSED, struct err *e)
{
	return err_set(e, -EINVAL, "no directory for dumps is configured");
}

static void answer(void *ctx UNUSED, const char *line, struct strbuf *out)
{
	const struct run_orders o = {
		.sweep = order_sweep,
		.resync = order_nothing,
		.handover = order_handover,
		.log_level = order_level,
		.dump = order_dump,
		.reload = order_reload,
		.stop = order_stop,
	};

	run_control_answer(&m.v, &o, line, out);
}

static int bring_up(const struct fab *f, unsigned lmc, struct err *e)
{
	struct lab_config c;
	struct sm_status st;

	lab_config_default(&c);
	settings_default(&m.cfg);
	c.sm.names = true;
	c.sm.lmc = lmc;
	m.lab = lab_new(f, &c, e);
	if (!m.lab)
		return -EINVAL;
	lab_power_on(m.lab, NULL);
	if (!lab_run_ready(m.lab, 100 * PS_PER_S))
		return err_set(e, -ETIMEDOUT, "the fabric does not come up");
	sm_status(lab_sm(m.lab), &st);
	lab_run_until(m.lab,
		      st.last.end + PS_PER_S); /* names come when there is nothing else to do */
	sm_status(lab_sm(m.lab), &st);
	m.change = (struct run_change){.number = 1,
				       .unix_ms = 1700000000000,
				       .round = st.last,
				       .switches = st.switches,
				       .nodes = st.nodes,
				       .lids = st.lids};
	m.v = (struct run_view){.cfg = &m.cfg,
				.sm = lab_sm(m.lab),
				.connected = true,
				.now = st.last.end,
				.changes = &m.change,
				.nchanges = 1,
				.log_level = RUN_LOG_NOTICE,
				.port = {.name = "a simulated port"}};
	return 0;
}

static int serve(const char *path, struct err *e)
{
	int rc;

	uv_loop_init(&m.loop);
	uv_idle_init(&m.loop, &m.last);
	rc = lines_listen(&m.lines, &m.loop, path, 0600, answer, NULL, e);
	if (rc)
		return rc;
	uv_run(&m.loop, UV_RUN_DEFAULT);
	return uv_loop_close(&m.loop);
}

int main(int argc, char **argv)
{
	struct fab_netlist net = {0};
	struct err e = {"usage: lab_manager NETLIST SOCKET | NETLIST --dump DIR [LMC]"};
	int rc = argc < 3 ? -EINVAL : fab_netlist_load(&net, argv[1], &e);

	signal(SIGPIPE, SIG_IGN);
	if (!rc)
		rc = bring_up(net.fab, argc > 4 ? (unsigned)atoi(argv[4]) : 0, &e);
	if (!rc && !strcmp(argv[2], "--dump") && argc > 3)
		rc = run_dump(&m.v, argv[3], &e);
	else if (!rc)
		rc = serve(argv[2], &e);
	if (rc)
		fprintf(stderr, "lab_manager: %s\n", e.text);
	if (m.lab)
		lab_free(m.lab);
	fab_netlist_free(&net);
	return rc ? 2 : 0;
}
