/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window as a whole. State: the loop, the server, the sessions. Way in: web_run(). Makes no thread: engines are
 * forked from here.
 */
#include "web/web.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/json.h"
#include "web/browser.h"
#include "web/engine_process.h"
#include "web/live_process.h"
#include "web/web_sessions.h"

enum { NSIGNALS = 3, LIVE_NICE = 10 };

struct web {
	uv_loop_t loop;
	uv_signal_t signals[NSIGNALS];
	struct web_server *server;
	struct web_sessions *sessions;
	struct live_config live;
	struct strbuf open;
	struct browser_page page;
};

static void on_signal(uv_signal_t *s, int number UNUSED)
{
	uv_stop(s->loop);
}

static void signals_start(struct web *w)
{
	static const int numbers[NSIGNALS] = {SIGINT, SIGTERM, SIGHUP};

	for (unsigned i = 0; i < NSIGNALS; i++) {
		uv_signal_init(&w->loop, &w->signals[i]);
		uv_signal_start(&w->signals[i], on_signal, numbers[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	/* Checkpoints whose engine ended come to this process; the kernel buries them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGCHLD, SIG_IGN);
}

static void open_command(const struct web_config *c, struct strbuf *out)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", "open");
	json_str(&j, "name", c->file);
	json_str(&j, "netlist", c->netlist);
	json_close(&j);
	*out = j.out;
}

static void sessions_start(struct web *w, const struct web_config *c)
{
	struct web_sessions_config config = {.engine = engine_process,
					     .live_name = c->live,
					     .file = c->file,
					     .changes = c->changes};

	if (c->live) {
		w->live = (struct live_config){.path = c->live_path, .changes = c->changes};
		config.live = live_process;
		config.live_ctx = &w->live;
	}
	if (c->file) {
		open_command(c, &w->open);
		config.open = &w->open;
	}
	w->sessions = web_sessions_new(&w->loop, &config);
}

static void end(struct web *w)
{
	web_server_close(w->server);
	web_sessions_free(w->sessions);
	for (unsigned i = 0; i < NSIGNALS; i++)
		uv_close((uv_handle_t *)&w->signals[i], NULL);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	uv_loop_close(&w->loop);
	strbuf_free(&w->open);
	browser_close(&w->page);
}

int web_run(const struct web_config *config, void (*ready)(const char *url), struct err *e)
{
	struct web w = {0};
	struct web_handler h;
	char url[128];
	int rc;

	uv_loop_init(&w.loop);
	signals_start(&w);
	sessions_start(&w, config);
	web_sessions_handler(w.sessions, &h);
	rc = web_server_listen(&w.server, &w.loop, config->port, &h, e);
	if (!rc) {
		const struct web_access *a = web_server_access(w.server);

		snprintf(url, sizeof(url), "http://127.0.0.1:%u/?token=%s", a->port, a->token);
		ready(url);
		if (config->browser)
			browser_open(&w.page, url);
		/* Sessions begin later: on busy cores the manager comes first. The browser was started before. */
		if (config->live)
			setpriority(PRIO_PROCESS, 0, LIVE_NICE);
		uv_run(&w.loop, UV_RUN_DEFAULT);
	}
	end(&w);
	return rc;
}
