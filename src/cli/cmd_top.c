/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft top: a live view of a running manager in a terminal. State: the options and the view of one run. Way in: cmd_top. Plain
 * escape sequences that every terminal of today has; top_screen.c makes the text. Computes nothing.
 */
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cli/ctl.h"
#include "cli/top_ask.h"

enum { LATE_S = 2, INTERVAL_LEAST_MS = 100 };

static const char *const sorts[] = {"load", "errors", "wait", "name", NULL};

static struct {
	const char *socket, *name, *sort, *filter, *port;
	time_ps interval, wait;
	bool once;
} opt = {.interval = PS_PER_S, .wait = 5 * PS_PER_S, .sort = "load"};

static volatile sig_atomic_t ending, stopping;
static struct termios before;

static void sa_rate(const struct top_data *d, struct top_view *v)
{
	static uint64_t last;
	static double then;
	uint64_t requests = ctl_number(d->sa, "requests");
	double now = cli_wall_s();

	if (then > 0 && now > then && requests >= last)
		v->sa_per_second = (double)(requests - last) / (now - then);
	last = requests;
	then = now;
}

/* ---- the terminal ---- */

static void on_signal(int sig)
{
	if (sig == SIGTSTP)
		stopping = 1;
	else
		ending = 1;
}

static void size_of_screen(unsigned *rows, unsigned *columns)
{
	const char *r = getenv("LINES"), *c = getenv("COLUMNS");
	struct winsize w = {0};
	uint64_t n;

	*rows = 24;
	*columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row && w.ws_col) {
		*rows = w.ws_row;
		*columns = w.ws_col;
	} else {
		*rows = r && !parse_u64(r, &n) && n > 5 && n < 1000 ? (unsigned)n : *rows;
		*columns = c && !parse_u64(c, &n) && n > 20 && n < 1000 ? (unsigned)n : *columns;
	}
	*rows = MAX(*rows, 1u);
	*columns = MAX(*columns, 1u);
}

static void screen_begin(void)
{
	struct sigaction a = {.sa_handler = on_signal};
	struct termios raw;

	tcgetattr(STDIN_FILENO, &before);
	raw = before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
	sigaction(SIGTSTP, &a, NULL);
	fputs("\033[?1049h\033[?25l", stdout);
}

static void screen_end(void)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* Ctrl-Z: the shell gets its screen back. */
static void pause_for_shell(void)
{
	stopping = 0;
	screen_end();
	raise(SIGSTOP);
	screen_begin();
}

static void draw(const struct top_data *d, struct top_view *v)
{
	struct strbuf text = {0};
	unsigned rows, columns;
	const char *s, *end;

	size_of_screen(&rows, &columns);
	top_screen(d, v, rows, columns, &text);
	fputs("\033[H", stdout);
	for (s = text.s; *s; s = end + 1) {
		end = strchr(s, '\n');
		printf("%.*s\033[K%s", (int)(end - s), s, end[1] ? "\r\n" : "");
	}
	fputs("\033[J", stdout);
	fflush(stdout);
	strbuf_free(&text);
}

/* ---- keys ---- */

static void next_sort(struct top_view *v)
{
	for (unsigned i = 0; sorts[i]; i++)
		if (!strcmp(sorts[i], v->sort)) {
			v->sort = sorts[i + 1] ? sorts[i + 1] : sorts[0];
			return;
		}
}

static void type(struct top_view *v, char key)
{
	size_t n = strlen(v->filter);

	if (key == '\r' || key == '\n' || key == 27)
		v->typing = false;
	else if ((key == 127 || key == 8) && n)
		v->filter[n - 1] = 0;
	else if (key >= ' ' && key < 127 && n < sizeof(v->filter) - 1)
		v->filter[n] = key, v->filter[n + 1] = 0;
	v->selected = 0;
}

static void page_set(struct top_view *v, enum top_page page)
{
	v->page = page;
	v->selected = 0;
}

static void key_one(struct top_view *v, char key)
{
	if (v->typing)
		type(v, key);
	else if (key == 'q')
		ending = 1;
	else if (key >= '1' && key <= '4')
		page_set(v, (enum top_page)(key - '1'));
	else if (key == 's')
		next_sort(v);
	else if (key == '/')
		v->typing = true;
	else if (key == 'j')
		v->selected++;
	else if (key == 'k')
		v->selected -= v->selected > 0;
	else if ((key == '\r' || key == '\n') && *v->chosen) {
		snprintf(v->port, sizeof(v->port), "%s", v->chosen);
		v->page = TOP_PORT;
	} else if ((key == 27 || key == 'b') && v->page == TOP_PORT)
		v->page = TOP_LINKS;
}

/* Arrows are three bytes; they are j and k. */
static void keys(struct top_view *v, const char *k, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++) {
		if (k[i] == 27 && i + 2 < n && (k[i + 1] == '[' || k[i + 1] == 'O') && !v->typing) {
			key_one(v, k[i + 2] == 'A' ? 'k' : k[i + 2] == 'B' ? 'j' : ' ');
			i += 2;
		} else {
			key_one(v, k[i]);
		}
	}
}

/* ---- one run ---- */

struct run {
	struct top_data data;
	struct top_asking *asking; /* NULL: no question is on its way */
	double asked, due;	   /* when it went out; when the next one shall */
	double heard;		   /* when the manager answered last */
	struct pollfd in[2];	   /* keys; the end of the question */
};

static void run_ask(struct run *r, const char *path, const struct top_view *v, double now)
{
	if (r->asking || now < r->due)
		return;
	r->asking = top_asking_begin(path, v, &r->in[1].fd);
	r->asked = now;
	r->due = now + (double)MAX(opt.interval, INTERVAL_LEAST_MS * PS_PER_MS) / 1e12;
}

static void run_answer(struct run *r, struct top_view *v)
{
	if (!r->asking || !r->in[1].revents)
		return;
	if (top_asking_end(r->asking, &r->data)) {
		sa_rate(&r->data, v);
		r->heard = cli_wall_s();
	}
	r->asking = NULL;
	r->in[1].fd = -1;
}

/* False: the terminal is gone. */
static bool run_keys(struct run *r, struct top_view *v)
{
	char k[64];
	ssize_t n = r->in[0].revents ? read(STDIN_FILENO, k, sizeof(k)) : 0;

	if (!r->in[0].revents)
		return true;
	if (n <= 0)
		return false;
	keys(v, k, n);
	draw(&r->data, v); /* sets what is chosen */
	r->due = v->typing ? r->due : 0;
	return true;
}

static unsigned late(const struct run *r, double now)
{
	return r->asking && now - r->asked >= LATE_S ? (unsigned)(now - r->heard) : 0;
}

/* How long until there is something to do: a question, or a second of waiting more to show. */
static int run_pause_ms(const struct run *r, double now)
{
	return r->asking ? 1000 : (int)MAX((r->due - now) * 1000, 1);
}

static int live(const char *path, struct top_view *v)
{
	struct run r = {
		.in = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = -1, .events = POLLIN}}};

	r.heard = cli_wall_s();
	screen_begin();
	while (!ending) {
		run_ask(&r, path, v, cli_wall_s());
		v->late_s = late(&r, cli_wall_s());
		if (r.data.status || *r.data.why || v->late_s)
			draw(&r.data, v);
		r.in[0].revents = r.in[1].revents = 0;
		poll(r.in, 2, run_pause_ms(&r, cli_wall_s()));
		if (stopping)
			pause_for_shell();
		run_answer(&r, v);
		if (!run_keys(&r, v))
			break;
	}
	screen_end();
	top_data_free(&r.data);
	return CLI_OK;
}

static int once_json(const struct top_data *d)
{
	json_t *o = json_object();
	char *text;

	json_object_set(o, "status", d->status);
	json_object_set_new(o, "perf", d->perf ? json_incref(d->perf) : json_null());
	json_object_set_new(o, "sick", d->sick ? json_incref(d->sick) : json_null());
	json_object_set_new(o, "changes", d->changes ? json_incref(d->changes) : json_null());
	json_object_set_new(o, "sa", d->sa ? json_incref(d->sa) : json_null());
	json_object_set_new(o, "port", d->port ? json_incref(d->port) : json_null());
	text = json_dumps(o, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	json_decref(o);
	puts(text);
	free(text);
	return CLI_OK;
}

static int once(const char *path, struct top_view *v)
{
	struct strbuf text = {0};
	struct top_data d = {0};
	unsigned rows, columns;
	int rc = CLI_OK;

	if (!top_ask(path, v, &d)) {
		rc = cli_bad("%s", d.why);
	} else if (cli_json) {
		rc = once_json(&d);
	} else {
		size_of_screen(&rows, &columns);
		top_screen(&d, v, rows, columns, &text);
		rc = cli_write("-", &text);
	}
	top_data_free(&d);
	return rc;
}

static int top(char **args UNUSED, unsigned nargs UNUSED)
{
	struct ctl_target target = {
		.kind = "sm", .socket = opt.socket, .name = opt.name, .wait = opt.wait};
	struct top_view v = {.page = opt.port ? TOP_PORT : TOP_LINKS, .sort = opt.sort};
	char path[108];
	int rc;

	snprintf(v.filter, sizeof(v.filter), "%s", opt.filter ? opt.filter : "");
	snprintf(v.port, sizeof(v.port), "%s", opt.port ? opt.port : "");
	if (cli_json && !opt.once)
		return cli_bad("--json goes with --once");
	if (!opt.once && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return cli_bad("expected a terminal; for scripts there is --once");
	rc = ctl_socket_find(&target, path, sizeof(path));
	if (rc)
		return rc;
	return opt.once ? once(path, &v) : live(path, &v);
}

static const struct cli_opt opts[] = {
	{"socket", 's', CLI_STR, &opt.socket, "PATH",
	 "the control socket; default: that of the only manager on this machine", NULL, 0, 0},
	{"name", 'n', CLI_STR, &opt.name, "NAME",
	 "the manager of this fabric: ibsim's socket name, or the device; default $IBSIM_SOCKNAME",
	 NULL, 0, 0},
	{"interval", 'i', CLI_TIME, &opt.interval, "TIME", "time between two looks; default 1s",
	 NULL, 0, 0},
	{"wait", 0, CLI_TIME, &opt.wait, "TIME",
	 "the longest time to wait for a manager that is starting; default 5s; 0: none", NULL, 0,
	 0},
	{"sort", 0, CLI_CHOICE, &opt.sort, "WORD", "order of links; default load", sorts, 0, 0},
	{"filter", 0, CLI_STR, &opt.filter, "TEXT", "only links with this text in a name", NULL, 0,
	 0},
	{"port", 0, CLI_STR, &opt.port, "NODE:PORT", "begin with this port", NULL, 0, 0},
	{"once", 0, CLI_FLAG, &opt.once, NULL,
	 "print one screen and end; with --json everything that the manager answered", NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_top = {
	.name = "top",
	.summary = "show the busiest and the sickest links of a running manager",
	.about =
		"A live view of 'weft sm' with perf.period: the busiest links, sick links, changes, managers and requests\n"
		"to subnet administration. Keys: 1 to 4 choose the page, s the order, / filters by name, up and down\n"
		"choose a link, enter shows its port with the last hour, esc goes back, q ends. S: sick, I: isolated,\n"
		"F: a counter is full, ?: the device does not answer.",
	.examples = "weft top --name lab0\n"
		    "weft top --once --sort errors\n"
		    "weft top --once --json | jq '.perf.links[0]'\n",
	.opts = opts,
	.run = top,
};
