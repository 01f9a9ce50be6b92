/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command table as man pages. State: none. Way in: cli_man_app(), cli_man_cmd(). The pages
 * carry no date, so that the same source gives the same bytes.
 */
#include "cli/cmds.h"
#include "cli/cli_priv.h"

#include <ctype.h>

/* ---- roff ---- */

/* A UTF-8 sequence as groff's \[uXXXX]; returns its length, 1 for an invalid byte. */
static size_t roff_unicode(struct strbuf *b, const unsigned char *s, size_t n)
{
	size_t len = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 1;
	unsigned code = *s & (0xffu >> (len + 1));

	if (len == 1 || len > n) {
		strbuf_add(b, "?");
		return 1;
	}
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3f);
	strbuf_addf(b, "\\[u%04X]", code);
	return len;
}

/* Escapes text so that every character is printed as it is: roff changes a bare ' and -. */
static void roff(struct strbuf *b, const char *s, size_t n)
{
	static const char *const as[128] = {
		['\\'] = "\\(rs", ['-'] = "\\-",   ['\''] = "\\(aq", ['`'] = "\\(ga",
		['^'] = "\\(ha",  ['~'] = "\\(ti", ['"'] = "\\(dq",
	};

	while (n) {
		unsigned char c = (unsigned char)*s;
		size_t len = 1;

		if (c >= 0x80)
			len = roff_unicode(b, (const unsigned char *)s, n);
		else if (as[c])
			strbuf_add(b, as[c]);
		else
			strbuf_addn(b, s, 1);
		s += len;
		n -= len;
	}
}

/* Lines of running text; a control character at the start of a line is escaped. */
static void roff_lines(struct strbuf *b, const char *s, size_t n)
{
	while (n) {
		const char *end = memchr(s, '\n', n);
		size_t len = end ? (size_t)(end - s) : n;

		if (len && (*s == '.' || *s == '\''))
			strbuf_add(b, "\\&");
		roff(b, s, len);
		strbuf_add(b, "\n");
		s += len + (end != NULL);
		n -= len + (end != NULL);
	}
}

void cli_roff(struct strbuf *b, const char *text)
{
	roff_lines(b, text, strlen(text));
}

static void roff_text(struct strbuf *b, const char *s)
{
	roff_lines(b, s, strlen(s));
}

static void verbatim(struct strbuf *b, const char *s, size_t n)
{
	strbuf_add(b, ".nf\n");
	roff_lines(b, s, n);
	strbuf_add(b, ".fi\n");
}

/* ---- parts of a page ---- */

static void paragraphs(struct strbuf *b, const char *text)
{
	struct cli_para p;

	while (cli_para_next(&text, &p)) {
		strbuf_add(b, ".PP\n");
		if (p.verbatim)
			verbatim(b, p.s, p.n);
		else
			roff_lines(b, p.s, p.n);
	}
}

static void head(struct strbuf *b, const struct cli_app *app, const char *name, const char *summary)
{
	strbuf_add(b, ".\\\" SPDX-License-Identifier: BSD-2-Clause\n.TH ");
	for (const char *p = name; *p; p++)
		strbuf_addf(b, "%s",
			    *p == '-' ? "\\-" : (char[2]){(char)toupper((unsigned char)*p), 0});
	strbuf_addf(b, " 1 \"\" \"weft %s\" \"User Commands\"\n.SH NAME\n", app->version);
	roff(b, name, strlen(name));
	strbuf_add(b, " \\- ");
	roff_text(b, summary);
}

/* The summary as a sentence, then the paragraphs. */
static void description(struct strbuf *b, const struct cli_cmd *c)
{
	struct strbuf first = {0};

	cli_sentence(&first, c->summary);
	roff_text(b, first.s);
	strbuf_free(&first);
	if (c->about)
		paragraphs(b, c->about);
	for (unsigned i = 0; c->about_more && c->about_more(i); i++)
		paragraphs(b, c->about_more(i));
}

static void synopsis(struct strbuf *b, const struct cli_cmd *c)
{
	struct strbuf usage = {0};

	strbuf_add(b, ".B weft ");
	roff_text(b, c->name);
	cli_usage(&usage, c);
	roff_text(b, usage.s);
	strbuf_free(&usage);
}

/* Bold for literal text, italic for placeholders. */
static void option(struct strbuf *b, const struct cli_opt *o)
{
	struct strbuf notes = {0};

	strbuf_add(b, ".TP\n");
	if (o->letter)
		strbuf_addf(b, "\\fB\\-%c\\fR, ", o->letter);
	strbuf_add(b, "\\fB\\-\\-");
	roff(b, o->name, strlen(o->name));
	strbuf_add(b, "\\fR");
	if (cli_opt_needs_value(o)) {
		strbuf_add(b, " \\fI");
		roff(b, o->arg ? o->arg : "VALUE", strlen(o->arg ? o->arg : "VALUE"));
		strbuf_add(b, "\\fR");
	} else if (cli_opt_setting(o)) {
		strbuf_addf(b, "[=\\fI%s\\fR]", o->arg);
	}
	strbuf_add(b, "\n");
	cli_opt_notes(&notes, o);
	roff_text(b, notes.s);
	strbuf_free(&notes);
}

/* The settings among the options, or all others. */
static void options(struct strbuf *b, const struct cli_cmd *c, bool settings)
{
	const struct cli_opt *o;

	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++)
		if (o->help && (o->type == CLI_SETTING) == settings)
			option(b, o);
}

static void exit_status(struct strbuf *b)
{
	strbuf_add(b, ".SH EXIT STATUS\n"
		      ".TP\n.B 0\nSuccess.\n"
		      ".TP\n.B 1\nA check failed, two inputs differ, or a run did not succeed.\n"
		      ".TP\n.B 2\nBad input, or the output could not be written.\n");
}

/* weft-topo-gen(1) */
static void page_reference(struct strbuf *b, const struct cli_cmd *c)
{
	strbuf_add(b, ".BR weft\\-");
	for (const char *p = c->name; *p; p++)
		strbuf_addf(b, "%s", *p == ' ' || *p == '-' ? "\\-" : (char[2]){*p, 0});
	strbuf_add(b, " (1)");
}

static void see_also(struct strbuf *b, const struct cli_app *app, const struct cli_cmd *but)
{
	const char *sep = "";

	strbuf_add(b, ".SH SEE ALSO\n");
	if (but) {
		strbuf_add(b, ".BR weft (1)");
		sep = ",\n";
	}
	for (const struct cli_cmd *const *c = app->cmds; *c; c++) {
		if (*c == but)
			continue;
		strbuf_add(b, sep);
		page_reference(b, *c);
		sep = ",\n";
	}
	strbuf_add(b, "\n");
}

/* ---- pages ---- */

static void page_name(struct strbuf *b, const struct cli_cmd *c)
{
	strbuf_add(b, "weft");
	if (!c)
		return;
	strbuf_addf(b, "-%s", c->name);
	for (char *p = b->s; *p; p++)
		*p = *p == ' ' ? '-' : *p;
}

void cli_man_cmd(struct strbuf *b, const struct cli_app *app, const struct cli_cmd *c)
{
	struct strbuf name = {0};

	page_name(&name, c);
	head(b, app, name.s, c->summary);
	strbuf_free(&name);
	strbuf_add(b, ".SH SYNOPSIS\n");
	synopsis(b, c);
	strbuf_add(b, ".SH DESCRIPTION\n");
	description(b, c);
	strbuf_add(b, ".SH OPTIONS\n");
	options(b, c, false);
	if (c->settings) {
		strbuf_add(b, ".SH SETTINGS\n"
			      "They have the names and values of the configuration file.\n");
		options(b, c, true);
	}
	exit_status(b);
	if (c->examples) {
		strbuf_add(b, ".SH EXAMPLES\n");
		verbatim(b, c->examples, strlen(c->examples));
	}
	see_also(b, app, c);
}

static void command_section(struct strbuf *b, const struct cli_cmd *c)
{
	strbuf_add(b, ".SS weft ");
	roff_text(b, c->name);
	synopsis(b, c);
	strbuf_add(b, ".PP\n");
	description(b, c);
	options(b, c, false);
	if (!c->settings)
		return;
	strbuf_add(b, ".PP\nThe settings that\n");
	page_reference(b, c);
	strbuf_add(b, "\nlists are options, too.\n");
}

void cli_man_app(struct strbuf *b, const struct cli_app *app)
{
	head(b, app, "weft", app->summary);
	strbuf_add(
		b,
		".SH SYNOPSIS\n.B weft\n.I COMMAND\n[arguments] [options]\n.SH DESCRIPTION\n"
		"Options may appear anywhere among the arguments, as\n"
		".BR \\-\\-option \" value\" ,\n.B \\-\\-option=value\nor\n.BR \\-o \" value\" ;\n"
		".B \\-\\-\nends them.\nA file named\n.B \\-\n"
		"is standard input or standard output.\n"
		"Results go to standard output, messages to standard error.\n"
		".SH COMMANDS\n");
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		command_section(b, *c);
	exit_status(b);
	strbuf_add(b, ".SH EXAMPLES\n.nf\n");
	for (const struct cli_cmd *const *c = app->first; *c; c++)
		if ((*c)->examples)
			roff_lines(b, (*c)->examples, strcspn((*c)->examples, "\n"));
	strbuf_add(b, ".fi\n");
	see_also(b, app, NULL);
}

/* ---- the command ---- */

static int man_run(char **args, unsigned n)
{
	const struct cli_app *app = cli_app_now();
	struct strbuf b = {0}, name = {0};
	struct json j = {0};
	unsigned used = 0;
	const struct cli_cmd *c = cli_cmd_find(app, args, n, &used);
	bool config = n == 1 && !strcmp(args[0], "weft.yaml");

	if (n && !config && (!c || used < n))
		return cli_cmd_unknown(app, args, n);
	if (config)
		cli_man_config(&b, app);
	else if (c)
		cli_man_cmd(&b, app, c);
	else
		cli_man_app(&b, app);
	if (!cli_json)
		return cli_write("-", &b);
	if (config)
		strbuf_add(&name, "weft.yaml");
	else
		page_name(&name, c);
	json_open(&j, NULL, '{');
	json_str(&j, "page", name.s);
	json_str(&j, "section", config ? "5" : "1");
	json_str(&j, "text", b.s);
	json_close(&j);
	strbuf_free(&name);
	strbuf_free(&b);
	return cli_print_json(&j);
}

const struct cli_cmd cmd_man = {
	.name = "man",
	.args = "[COMMAND|weft.yaml]",
	.summary = "print a man page, for man -l",
	.about =
		"Without a command, weft(1): the whole program on one page. weft.yaml(5) is the configuration.",
	.examples =
		"weft man topo gen | man -l -\nweft man > weft.1\nweft man weft.yaml > weft.yaml.5",
	.max_args = 2,
	.run = man_run,
};
