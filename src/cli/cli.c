/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program around a command. State: the running command, when it began, whether a failure of the
 * output was reported. Way in: cli_main(). Does not parse values (option_parse.c) and renders no help (help.c).
 */
#include "cli/cli_priv.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct cli_app *app_now;
static const struct cli_cmd *cmd_now;
static double began_s;
static bool output_reported; /* a failure of standard output was reported */

/* ---- messages ---- */

/* Text of files and devices is in messages: it must not command a terminal. */
static void say(const char *kind, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f)
			*c = '?';
	cli_progress_end();
	fprintf(stderr, "weft%s%s: %s%s\n", cmd_now ? " " : "", cmd_now ? cmd_now->name : "", kind,
		text);
	free(text);
}

int cli_bad(const char *fmt, ...)
{
	va_list ap;

	cli_progress_end();
	fflush(stdout); /* keeps the order on a terminal */
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
	return CLI_BAD;
}

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

double cli_wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double cli_rss_mib(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) ? 0 : (double)u.ru_maxrss / 1024;
}

static double progress_s; /* when the line was last drawn; 0: it is not on the screen */

enum { LOG_EVERY_S = 60 }; /* a line of progress in a file */

void cli_progress(const char *fmt, ...)
{
	static double logged_s;
	bool drawn = isatty(STDERR_FILENO);
	char line[256];
	struct winsize size;
	double now = cli_wall_s();
	va_list ap;

	if (drawn ? now - began_s < 2 || (progress_s > 0 && now - progress_s < 0.1)
		  : now - MAX(logged_s, began_s) < LOG_EVERY_S)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!drawn) {
		fprintf(stderr, "%s\n", line);
		logged_s = now;
		return;
	}
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_col < sizeof(line))
		line[size.ws_col - 1] = 0; /* a line that wraps cannot be redrawn */
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	progress_s = now;
}

static char stage_line[128]; /* name of the running step, as it is drawn */

/* Signal handler: shows a step that takes long. Only write(2) is safe here. */
static void stage_show(int sig UNUSED)
{
	ssize_t n UNUSED = write(STDERR_FILENO, stage_line, strlen(stage_line));

	progress_s = 1;
}

static void stage_timer(double after_s)
{
	struct itimerval t = {
		.it_value = {.tv_sec = (time_t)after_s,
			     .tv_usec = (suseconds_t)((after_s - (double)(time_t)after_s) * 1e6)}};

	setitimer(ITIMER_REAL, &t, NULL);
}

void cli_stage(const char *text)
{
	struct sigaction a = {.sa_handler = stage_show, .sa_flags = SA_RESTART};
	double left = began_s + 2 - cli_wall_s();

	if (!isatty(STDERR_FILENO))
		return;
	stage_timer(0);
	snprintf(stage_line, sizeof(stage_line), "\r\033[K%s ...", text);
	sigaction(SIGALRM, &a, NULL);
	stage_timer(left > 0.05 ? left : 0.05);
}

void cli_progress_end(void)
{
	stage_timer(0);
	if (progress_s <= 0)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress_s = 0;
}

/* ---- in and out ---- */

enum { WARNINGS_SHOWN = 20 };

int cli_find_node(const struct fab *f, const char *option, const char *text, node_id *n)
{
	*n = fab_node_by_text(f, text);
	if (*n == FAB_NONE)
		return cli_bad(
			"%s '%.60s' is not in the fabric: expected a node GUID, an S-/H- id or a name",
			option, text);
	return CLI_OK;
}

struct fab *cli_load_quiet(const char *path, struct fab_netlist *keep)
{
	struct err e = {""};
	struct fab *f;

	*keep = (struct fab_netlist){0};
	if (fab_netlist_load(keep, path, &e)) {
		cli_bad("%s", e.text);
		return NULL;
	}
	f = keep->fab;
	keep->fab = NULL;
	return f;
}

struct fab *cli_load(const char *path)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct fab_netlist net;
	struct fab *f;

	cli_stage("reading the netlist");
	f = cli_load_quiet(path, &net);
	cli_progress_end();
	if (!f)
		return NULL;
	for (size_t i = 0; i < net.warnings.n && i < WARNINGS_SHOWN; i++) {
		const struct fab_warning *w = &net.warnings.at[i];

		if (w->line)
			fprintf(stderr, "%s:%u: warning: %s\n", name, w->line, w->text);
		else
			fprintf(stderr, "%s: warning: %s\n", name, w->text);
	}
	if (net.warnings.n > WARNINGS_SHOWN)
		fprintf(stderr, "%s: warning: and %zu more; 'weft topo check' lists them all\n",
			name, net.warnings.n - WARNINGS_SHOWN);
	fab_netlist_free(&net);
	return f;
}

struct fab *cli_load_wire(const char *path)
{
	struct fab *f = cli_load(path), *wire;
	struct err e;

	if (!f)
		return NULL;
	wire = fab_devices(f, &e);
	fab_free(f);
	if (!wire)
		cli_bad("%s: %s", path, e.text);
	return wire;
}

int cli_write(const char *path, struct strbuf *text)
{
	struct err e = {""};
	int rc = file_write(path, text->s ? text->s : "", text->len, &e);

	strbuf_free(text);
	if (!rc)
		return CLI_OK;
	if (!strcmp(path, "-"))
		output_reported = true;
	return cli_bad("%s", e.text);
}

int cli_print_json(struct json *j)
{
	int rc = cli_write("-", &j->out);

	json_free(j);
	return rc;
}

/* Output that could not be written is a failure, whatever the command returned. */
static int output_finish(int rc)
{
	bool failed = ferror(stdout);

	cli_progress_end();
	errno = 0;
	failed |= fclose(stdout) != 0;
	if (!failed)
		return rc;
	if (!output_reported)
		cli_bad("standard output: %s", errno ? strerror(errno) : "writing failed");
	return CLI_BAD;
}

/* If standard output is closed, the next file opened would take its descriptor and be overwritten. */
static void descriptors_hold(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			exit(CLI_BAD);
}

/* ---- finding ---- */

const struct cli_app *cli_app_now(void)
{
	return app_now;
}

const struct cli_group *cli_group_find(const struct cli_app *app, const char *name)
{
	for (const struct cli_group *g = app->groups; g->name; g++)
		if (!strcmp(g->name, name))
			return g;
	return NULL;
}

bool cli_cmd_in_group(const struct cli_cmd *c, const struct cli_group *g)
{
	size_t n = strlen(g->name);

	return !strncmp(c->name, g->name, n) && c->name[n] == ' ';
}

/* The command "topo gen" may be typed "topo gen" or "topo-gen". */
static bool name_is(const char *name, const char *typed)
{
	for (; *name && *typed; name++, typed++)
		if (*name != *typed && !(*name == ' ' && *typed == '-'))
			return false;
	return !*name && !*typed;
}

const struct cli_cmd *cli_cmd_find(const struct cli_app *app, char **words, unsigned n,
				   unsigned *used)
{
	for (const struct cli_cmd *const *c = app->cmds; n && *c; c++) {
		size_t first = strcspn((*c)->name, " ");

		*used = 1;
		if (name_is((*c)->name, words[0]))
			return *c;
		*used = 2;
		if (n > 1 && (*c)->name[first] && strlen(words[0]) == first &&
		    !memcmp((*c)->name, words[0], first) &&
		    !strcmp((*c)->name + first + 1, words[1]))
			return *c;
	}
	return NULL;
}

int cli_cmd_unknown(const struct cli_app *app, char **words, unsigned n)
{
	bool in_group = cli_group_find(app, words[0]) && n > 1;
	struct strbuf typed = {0};
	struct spelling near = {0};

	strbuf_addf(&typed, "%s%s%s", words[0], in_group ? " " : "", in_group ? words[1] : "");
	near.word = typed.s;
	for (const struct cli_group *g = app->groups; g->name; g++)
		spelling_offer(&near, g->name, g->name);
	for (const struct cli_cmd *const *c = app->cmds; *c; c++) {
		const char *last = strchr((*c)->name, ' ');

		spelling_offer(&near, (*c)->name, (*c)->name);
		if (last && !strcmp(last + 1, near.word))
			spelling_offer(&near, last + 1, (*c)->name);
	}
	if (near.best)
		cli_bad("unknown command '%s', did you mean '%s'? (see 'weft --help')", typed.s,
			near.best);
	else
		cli_bad("unknown command '%s' (see 'weft --help')", typed.s);
	strbuf_free(&typed);
	return CLI_BAD;
}

/* ---- running ---- */

static int text_print(struct strbuf *b)
{
	return cli_write("-", b);
}

static int command_run(const struct cli_cmd *c, char **words, unsigned n)
{
	struct strbuf b = {0};
	struct err e = {""};
	int rc;

	cmd_now = c;
	rc = cli_parse(c, words, &n, &e);
	if (rc < 0)
		return cli_bad("%s (see 'weft %s --help')", e.text, c->name);
	setting_opts_warn();
	if (!rc)
		return c->run(words, n);
	cli_help_cmd(&b, c);
	return text_print(&b);
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* The program's own options, before any command. */
static int program_option(const struct cli_app *app, const char *word)
{
	struct spelling near = {.word = word};
	struct strbuf b = {0};

	if (is_help(word)) {
		cli_help_overview(&b, app);
		return text_print(&b);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		strbuf_addf(&b, "weft %s\n", app->version);
		return text_print(&b);
	}
	spelling_offer(&near, "--help", "--help");
	spelling_offer(&near, "--version", "--version");
	if (near.best)
		return cli_bad("unknown option '%s', did you mean '%s'? (see 'weft --help')", word,
			       near.best);
	return cli_bad("unknown option '%s' before a command (see 'weft --help')", word);
}

static int app_run(const struct cli_app *app, char **words, unsigned n)
{
	const struct cli_cmd *c;
	const struct cli_group *g;
	struct strbuf b = {0};
	unsigned used;

	if (!n) {
		cli_help_overview(&b, app);
		return text_print(&b);
	}
	if (words[0][0] == '-')
		return program_option(app, words[0]);
	c = cli_cmd_find(app, words, n, &used);
	if (c)
		return command_run(c, words + used, n - used);
	g = cli_group_find(app, words[0]);
	if (g && (n == 1 || is_help(words[1]))) {
		cli_help_group(&b, app, g);
		return text_print(&b);
	}
	return cli_cmd_unknown(app, words, n);
}

int cli_main(const struct cli_app *app, int argc, char **argv)
{
	descriptors_hold();
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, and reported as one */
	app_now = app;
	began_s = cli_wall_s();
	return output_finish(app_run(app, argv + 1, argc > 0 ? (unsigned)argc - 1 : 0));
}
