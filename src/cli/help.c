/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command table as text for a terminal and as JSON. State: the options of `weft help`. Way in:
 * cli_help_*(). Prints nothing and knows no command by name.
 */
#include "cli/cmds.h"
#include "cli/cli_priv.h"

#include <ctype.h>

enum { WIDTH = 80, LABEL_MAX = 24 };

/* ---- running text ---- */

static const char *line_end(const char *s)
{
	return s + strcspn(s, "\n");
}

bool cli_para_next(const char **text, struct cli_para *p)
{
	const char *s = *text;

	while (*s == '\n')
		s++;
	*p = (struct cli_para){.s = s, .verbatim = *s == ' ' || *s == '\t'};
	while (*s && *s != '\n' && (*s == ' ' || *s == '\t') == p->verbatim) {
		s = line_end(s);
		p->n = (size_t)(s - p->s);
		if (*s)
			s++;
	}
	*text = s;
	return p->n > 0;
}

/* Fill the words into lines that start at column indent; col is where the first one starts. */
static void fill(struct strbuf *b, const char *s, size_t n, unsigned indent, unsigned col)
{
	bool start = true;

	while (n) {
		size_t w = 0;

		while (n && (*s == ' ' || *s == '\n' || *s == '\t')) {
			s++;
			n--;
		}
		while (w < n && s[w] != ' ' && s[w] != '\n' && s[w] != '\t')
			w++;
		if (!w)
			break;
		if (!start && col + 1 + w > WIDTH) {
			strbuf_addf(b, "\n%*s", (int)indent, "");
			col = indent;
			start = true;
		}
		strbuf_addf(b, "%s%.*s", start ? "" : " ", (int)w, s);
		col += (unsigned)w + !start;
		start = false;
		s += w;
		n -= w;
	}
	strbuf_add(b, "\n");
}

static void paragraphs(struct strbuf *b, const char *text)
{
	struct cli_para p;

	while (cli_para_next(&text, &p)) {
		strbuf_add(b, "\n");
		if (!p.verbatim)
			fill(b, p.s, p.n, 0, 0);
		else
			strbuf_addf(b, "%.*s\n", (int)p.n, p.s);
	}
}

/* ---- one command ---- */

void cli_usage(struct strbuf *b, const struct cli_cmd *c)
{
	const char *args = c->args ? c->args : "";

	if (strstr(args, "[options]"))
		strbuf_add(b, args);
	else
		strbuf_addf(b, "%s%s[options]", args, *args ? " " : "");
}

void cli_sentence(struct strbuf *b, const char *summary)
{
	size_t n = strlen(summary);

	strbuf_addf(b, "%c%s%s", toupper((unsigned char)*summary), n ? summary + 1 : "",
		    n && summary[n - 1] == '.' ? "" : ".");
}

void cli_opt_label(struct strbuf *b, const struct cli_opt *o)
{
	if (o->letter)
		strbuf_addf(b, "-%c, ", o->letter);
	strbuf_addf(b, "--%s", o->name);
	if (cli_opt_needs_value(o))
		strbuf_addf(b, " %s", o->arg ? o->arg : "VALUE");
	else if (cli_opt_setting(o))
		strbuf_addf(b, "[=%s]", o->arg);
}

/* Choices and ranges go into square brackets; help texts use round ones. */
void cli_opt_notes(struct strbuf *b, const struct cli_opt *o)
{
	struct strbuf range = {0};

	strbuf_add(b, o->help);
	if (cli_opt_setting(o))
		setting_range(cli_opt_setting(o), &range);
	if (range.len)
		strbuf_addf(b, " [%s]", range.s);
	strbuf_free(&range);
	if (o->choices) {
		strbuf_add(b, " [");
		for (const char *const *c = o->choices; *c; c++)
			strbuf_addf(b, "%s%s", c == o->choices ? "" : ", ", *c);
		strbuf_add(b, "]");
	}
	if (o->type == CLI_UINT || o->type == CLI_U64) {
		if (o->max)
			strbuf_addf(b, " [%llu to %llu]", (unsigned long long)o->min,
				    (unsigned long long)o->max);
		else if (o->min)
			strbuf_addf(b, " [at least %llu]", (unsigned long long)o->min);
	}
	if (o->type == CLI_LIST)
		strbuf_add(b, " [may be given again]");
}

static void label_and_text(struct strbuf *b, const char *label, const char *text, unsigned width)
{
	unsigned indent = 2 + width + 2;

	if (strlen(label) <= width)
		strbuf_addf(b, "  %-*s  ", (int)width, label);
	else
		strbuf_addf(b, "  %s\n%*s", label, (int)indent, "");
	fill(b, text, strlen(text), indent, indent);
}

/* Options without a letter are indented as if they had one. */
static void option_label(struct strbuf *b, const struct cli_opt *o)
{
	if (!o->letter)
		strbuf_add(b, "    ");
	cli_opt_label(b, o);
}

/* Of the widest label, not counting those beyond LABEL_MAX. */
static unsigned label_width(const struct cli_cmd *c)
{
	const struct cli_opt *o;
	unsigned width = 0;

	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++) {
		struct strbuf label = {0};

		option_label(&label, o);
		if (o->help && label.len <= LABEL_MAX)
			width = MAX(width, (unsigned)label.len);
		strbuf_free(&label);
	}
	return width;
}

/* The settings among the options, or all others. */
static void options(struct strbuf *b, const struct cli_cmd *c, bool settings)
{
	const struct cli_opt *o;
	unsigned width = label_width(c);

	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++) {
		struct strbuf label = {0}, notes = {0};

		if (!o->help || (o->type == CLI_SETTING) != settings)
			continue;
		option_label(&label, o);
		cli_opt_notes(&notes, o);
		label_and_text(b, label.s, notes.s, width);
		strbuf_free(&label);
		strbuf_free(&notes);
	}
}

static void example_lines(struct strbuf *b, const char *text, unsigned most)
{
	for (unsigned i = 0; *text && i < most; i++) {
		const char *end = line_end(text);

		strbuf_addf(b, "  %.*s\n", (int)(end - text), text);
		text = *end ? end + 1 : end;
	}
}

void cli_help_cmd(struct strbuf *b, const struct cli_cmd *c)
{
	strbuf_addf(b, "usage: weft %s ", c->name);
	cli_usage(b, c);
	strbuf_add(b, "\n\n");
	cli_sentence(b, c->summary);
	strbuf_add(b, "\n");
	if (c->about)
		paragraphs(b, c->about);
	for (unsigned i = 0; c->about_more && c->about_more(i); i++)
		paragraphs(b, c->about_more(i));
	strbuf_add(b, "\noptions:\n");
	options(b, c, false);
	if (c->settings) {
		strbuf_add(b, "\nsettings, with the names and values of docs/config.md:\n");
		options(b, c, true);
	}
	if (c->examples) {
		strbuf_add(b, "\nexamples:\n");
		example_lines(b, c->examples, UINT32_MAX);
	}
}

/* ---- several commands ---- */

static unsigned name_width(const struct cli_app *app)
{
	size_t w = 0;

	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		w = MAX(w, strlen((*c)->name));
	return (unsigned)w;
}

static void group_commands(struct strbuf *b, const struct cli_app *app, const struct cli_group *g)
{
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		if (g ? cli_cmd_in_group(*c, g) : !strchr((*c)->name, ' '))
			label_and_text(b, (*c)->name, (*c)->summary, name_width(app));
}

void cli_help_group(struct strbuf *b, const struct cli_app *app, const struct cli_group *g)
{
	strbuf_addf(b, "usage: weft %s COMMAND [arguments] [options]\n\n%s: %s\n", g->name, g->name,
		    g->title);
	group_commands(b, app, g);
	strbuf_addf(b, "\n'weft %s COMMAND --help' explains a command.\n", g->name);
}

void cli_help_overview(struct strbuf *b, const struct cli_app *app)
{
	strbuf_addf(b, "weft %s - %s\n\nusage: weft COMMAND [arguments] [options]\n", app->version,
		    app->summary);
	for (const struct cli_group *g = app->groups; g->name; g++) {
		strbuf_addf(b, "\n%s: %s\n", g->name, g->title);
		group_commands(b, app, g);
	}
	strbuf_add(b, "\nother commands:\n");
	group_commands(b, app, NULL);
	strbuf_add(b, "\nexamples:\n");
	for (const struct cli_cmd *const *c = app->first; *c; c++)
		if ((*c)->examples)
			example_lines(b, (*c)->examples, 1);
	strbuf_add(b, "\n'weft COMMAND --help' explains a command; every command takes --json.\n"
		      "Exit status: 0 success, 1 a check failed, 2 bad input.\n");
}

/* ---- JSON ---- */

static const char *type_name(enum cli_type t)
{
	static const char *const names[] = {"flag",   "string", "uint", "u64",	  "share",
					    "choice", "list",	"time", "setting"};

	return names[t];
}

static const char *kind_name(enum setting_kind k)
{
	static const char *const names[] = {
		[SETTING_BOOL] = "bool",      [SETTING_UINT] = "uint",	[SETTING_BYTES] = "bytes",
		[SETTING_TIME] = "time",      [SETTING_MODE] = "mode",	[SETTING_TEXT] = "string",
		[SETTING_CHOICE] = "choice",  [SETTING_ROW] = "choice", [SETTING_HEX] = "hex",
		[SETTING_HEXES] = "hex list", [SETTING_LIST] = "list",
	};

	return names[k];
}

static void opt_json(struct json *j, const struct cli_opt *o)
{
	const struct setting *k = cli_opt_setting(o);

	json_open(j, NULL, '{');
	json_str(j, "name", o->name);
	if (o->letter)
		json_str(j, "letter", (char[2]){o->letter, 0});
	json_str(j, "type", k ? kind_name(k->kind) : type_name(o->type));
	if (o->arg)
		json_str(j, "arg", o->arg);
	json_str(j, "help", o->help);
	if (k) {
		json_str(j, "section", k->section);
		json_str(j, "key", k->key);
	}
	if (cli_opt_choice(o, 0)) {
		json_open(j, "choices", '[');
		for (unsigned i = 0; cli_opt_choice(o, i); i++)
			json_str(j, NULL, cli_opt_choice(o, i));
		json_close(j);
	}
	if (o->min || o->max) {
		json_u64(j, "min", o->min);
		json_u64(j, "max", o->max);
	}
	json_close(j);
}

static void examples_json(struct json *j, const char *text)
{
	json_open(j, "examples", '[');
	while (text && *text) {
		const char *end = line_end(text);
		struct strbuf line = {0};

		strbuf_addn(&line, text, (size_t)(end - text));
		json_str(j, NULL, line.s);
		strbuf_free(&line);
		text = *end ? end + 1 : end;
	}
	json_close(j);
}

static void cmd_json(struct json *j, const struct cli_cmd *c)
{
	const struct cli_opt *o;

	json_open(j, NULL, '{');
	json_str(j, "name", c->name);
	json_str(j, "args", c->args ? c->args : "");
	json_str(j, "summary", c->summary);
	if (c->about)
		json_str(j, "about", c->about);
	json_u64(j, "min_args", c->min_args);
	json_u64(j, "max_args", c->max_args);
	json_open(j, "options", '[');
	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++)
		if (o->help)
			opt_json(j, o);
	json_close(j);
	examples_json(j, c->examples);
	json_close(j);
}

void cli_help_json(struct json *j, const struct cli_app *app, const struct cli_group *g,
		   const struct cli_cmd *only)
{
	json_open(j, NULL, '{');
	json_str(j, "program", "weft");
	json_str(j, "version", app->version);
	json_open(j, "commands", '[');
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		if ((!only || *c == only) && (!g || cli_cmd_in_group(*c, g)))
			cmd_json(j, *c);
	json_close(j);
	json_close(j);
}

/* ---- the command ---- */

static bool parse_only;

/* Parses the words as a command line without running it: tests check examples with it. */
static int try_parse(char **args, unsigned n)
{
	unsigned used;
	const struct cli_cmd *c = cli_cmd_find(cli_app_now(), args, n, &used);
	struct err e = {""};

	if (!c)
		return n ? cli_cmd_unknown(cli_app_now(), args, n) : CLI_OK;
	n -= used;
	return cli_parse(c, args + used, &n, &e) < 0 ? cli_bad("%s: %s", c->name, e.text) : CLI_OK;
}

static int help_run(char **args, unsigned n)
{
	const struct cli_app *app = cli_app_now();
	struct strbuf b = {0};
	struct json j = {0};
	unsigned used = 0;
	const struct cli_cmd *c = cli_cmd_find(app, args, n, &used);
	const struct cli_group *g = n == 1 ? cli_group_find(app, args[0]) : NULL;

	if (parse_only)
		return try_parse(args, n);
	if (n && !g && (!c || used < n))
		return cli_cmd_unknown(app, args, n);
	if (cli_json) {
		cli_help_json(&j, app, g, c);
		return cli_print_json(&j);
	}
	if (c)
		cli_help_cmd(&b, c);
	else if (g)
		cli_help_group(&b, app, g);
	else
		cli_help_overview(&b, app);
	return cli_write("-", &b);
}

const struct cli_cmd cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "explain the program, a group of commands or one command",
	.about = "With --json, print the table of commands with their arguments, options and "
		 "examples, from which the help, the man pages and the completion are made.",
	.examples = "weft help topo gen\nweft help topo\nweft help --json",
	.opts =
		(const struct cli_opt[]){
			{.name = "parse-only", .type = CLI_FLAG, .dst = &parse_only}, {0}},
	.max_args = 64,
	.run = help_run,
};
