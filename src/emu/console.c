/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of commands, and the commands about the server itself. Keeps no state. Ways in:
 * emu_command(), or console_parse() and then console_run(). Does not read any input.
 */
#include "emu/console.h"

#include <ctype.h>
#include <strings.h>

#include "base/spelling.h"

enum { FILE_DEPTH = 4 };

/* ---- what commands share ---- */

/* ---- about the server ---- */

static int start_run(struct emu *m UNUSED, const struct emu_op *op UNUSED, struct strbuf *out)
{
	strbuf_add(out, "The network is always running.\n");
	return 0;
}

static const struct emu_cmd con_start = {"Start",  "", "no effect: the network is always running",
					 0,	   1,  con_parse_nothing,
					 start_run};

static int verbose_parse(const struct emu *m UNUSED, const struct line *l, struct emu_op *op,
			 struct err *e)
{
	op->has_n = l->n > 1;
	return l->n > 1 ? con_number(&l->at[1], UINT32_MAX, "a level", &op->n, e) : 0;
}

static int verbose_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	if (op->has_n)
		m->verbose = (unsigned)MIN(op->n, (uint64_t)2);
	strbuf_addf(out, "verbose level is %u\n", m->verbose);
	return 0;
}

static const struct emu_cmd con_verbose = {
	"Verbose",  "[LEVEL]", "level of output: 0 none, 1 events, 2 all port states without limit",
	0,	    1,	       verbose_parse,
	verbose_run};

static int wait_parse(const struct emu *m UNUSED, const struct line *l, struct emu_op *op,
		      struct err *e)
{
	if (l->at[1].port >= 0 || line_time(l->at[1].text, &op->t))
		return err_set(e, -EINVAL, "expected a time such as 2 or 500ms, found '%.40s'",
			       l->at[1].from);
	return 0;
}

static int wait_run(struct emu *m UNUSED, const struct emu_op *op UNUSED, struct strbuf *out)
{
	return con_refuse(out, "wait works only on the console");
}

const struct emu_cmd con_wait = {
	"Wait",	    "TIME",  "delay the next command; the fabric keeps running", 1, 1,
	wait_parse, wait_run};

static int disconnect_parse(const struct emu *m, const struct line *l, struct emu_op *op,
			    struct err *e)
{
	return con_number(&l->at[1], m->cfg.clients - 1, "a client's number", &op->n, e);
}

static int disconnect_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	if (!m->clients[op->n].used)
		return con_refuse(out, "no client %llu", (unsigned long long)op->n);
	clients_detach(m, (uint32_t)op->n, "by command");
	return 0;
}

static const struct emu_cmd con_x = {"X", "CLIENT",	    "detach a client", 1,
				     1,	  disconnect_parse, disconnect_run};

static int quit_run(struct emu *m, const struct emu_op *op UNUSED, struct strbuf *out UNUSED)
{
	emu_stop(m);
	return 0;
}

static const struct emu_cmd con_quit = {"Quit",	 "", "stop the emulator", 0, 0, con_parse_nothing,
					quit_run};

/* ---- commands from a file, at once ---- */

static int file_run_line(struct emu *m, const char *path, unsigned number, const char *text,
			 struct strbuf *out)
{
	struct emu_op op;
	struct err e;

	if (console_parse(m, text, &op, &e))
		return con_refuse(out, "%s:%u: %s", path, number, e.text);
	return console_run(m, &op, out);
}

static int file_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	static unsigned depth;
	unsigned number = 0;
	char *data, *line, *rest;
	struct err e;
	size_t len;
	int rc = 0;

	if (depth == FILE_DEPTH)
		return con_refuse(out, "%s: too many nested command files", op->text);
	if (file_read(op->text, &data, &len, &e))
		return con_refuse(out, "%s", e.text);
	depth++;
	for (rest = data; !rc && (line = strsep(&rest, "\n"));)
		rc = file_run_line(m, op->text, ++number, line, out);
	depth--;
	free(data);
	return rc;
}

const struct emu_cmd con_file = {
	"!",	 "FILE", "run the commands of a file, up to the first that fails",
	1,	 1,	 con_parse_nothing,
	file_run};

/* ---- the table ---- */

static const struct emu_cmd con_help;

/* ibsim's commands come first, in ibsim's order: an abbreviation means the first command that
 * begins with it. */
static const struct emu_cmd *const table[] = {
	&con_dump,  &con_route,	  &con_link,	&con_unlink,  &con_clear,   &con_guid,
	&con_error, &con_baselid, &con_start,	&con_verbose, &con_wait,    &con_attached,
	&con_x,	    &con_help,	  &con_quit,	&con_relink,  &con_perfset, &con_off,
	&con_on,    &con_loss,	  &con_latency, &con_counter, &con_flow,    &con_stat,
	&con_meter, &con_vm,	  &con_file,	&con_agent,
};

static int help_run(struct emu *m UNUSED, const struct emu_op *op UNUSED, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char left[48];

		snprintf(left, sizeof(left), "%s%s%s", table[i]->name,
			 table[i] == &con_file ? "" : " ", table[i]->args);
		strbuf_addf(out, "  %-39s %s\n", left, table[i]->help);
	}
	strbuf_add(
		out,
		"NODE: id, name or GUID from the netlist, in quotes if it contains blanks. PORT: a node followed\n"
		"by [number]. LINK: one of its two ports, or a node for all its links.\n");
	return 0;
}

static const struct emu_cmd con_help = {"Help", "", "this list", 0, 1, con_parse_nothing, help_run};

static void lower(char out[WORD_SIZE], const char *s)
{
	size_t n = 0;

	for (; s[n] && n < WORD_SIZE - 1; n++)
		out[n] = (char)tolower((unsigned char)s[n]);
	out[n] = 0;
}

static const struct emu_cmd *find(const char *typed, struct err *e)
{
	char word[WORD_SIZE], name[WORD_SIZE];
	struct spelling near = {.word = word};

	if (!strcmp(typed, "?"))
		return &con_help;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (!strncasecmp(table[i]->name, typed, strlen(typed)))
			return table[i];
	lower(word, typed);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		lower(name, table[i]->name);
		spelling_offer(&near, name, table[i]->name);
	}
	err_set(e, -EINVAL, "unknown command '%.40s'%s%s%s", typed,
		near.best ? ", did you mean " : "; try help", near.best ? near.best : "",
		near.best ? "?" : "");
	return NULL;
}

/* "!file" is one word: the rest of the line names the file. */
static int parse_file(const char *text, struct emu_op *op, struct err *e)
{
	size_t n;

	while (*text == ' ' || *text == '\t')
		text++;
	n = strcspn(text, "\r\n");
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	if (!n || n >= sizeof(op->text))
		return err_set(e, -EINVAL, "expected the name of a file after '!'");
	memcpy(op->text, text, n);
	op->text[n] = 0;
	op->cmd = &con_file;
	return 0;
}

int console_parse(const struct emu *m, const char *text, struct emu_op *op, struct err *e)
{
	const struct emu_cmd *c;
	struct line l;

	*op = (struct emu_op){.a = {FAB_NONE, -1}, .b = {FAB_NONE, -1}};
	text += strspn(text, " \t");
	if (*text == '!')
		return parse_file(text + 1, op, e);
	if (line_split(&l, text, e))
		return -EINVAL;
	if (!l.n)
		return 0;
	c = find(l.at[0].text, e);
	if (!c)
		return -EINVAL;
	if (l.n - 1 < c->min || l.n - 1 > c->max || l.at[0].port >= 0)
		return err_set(e, -EINVAL, "expected %s%s%s", c->name, *c->args ? " " : "",
			       c->args);
	if (c->parse(m, &l, op, e))
		return -EINVAL;
	op->cmd = c;
	return 0;
}

int console_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	int rc;

	if (!op->cmd)
		return 0;
	emu_settle(m, emu_now(m));
	rc = op->cmd->run(m, op, out);
	emu_settle(m, emu_now(m));
	return rc;
}

int emu_command(struct emu *m, const char *line, struct strbuf *out)
{
	struct emu_op op;
	struct err e;

	if (console_parse(m, line, &op, &e))
		return con_refuse(out, "%s", e.text);
	return console_run(m, &op, out);
}
