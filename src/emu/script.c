/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of timed commands: "at 2.5s unlink S-0002[3]", "every 1s ...". State: the parsed commands,
 * by time. Ways in: script_open(), which checks the whole file, then script_start(). Does not know
 * what commands do.
 */
#include "emu/console.h"
#include "emu/script.h"

struct entry {
	struct emu_op op;
	time_ps when, every; /* every 0: once */
	unsigned line;
	char *text; /* as written */
};

struct script {
	struct emu *m;
	const char *path;
	uv_timer_t timer;
	time_ps start;
	VEC(struct entry) at;
};

/* ---- reading ---- */

static int entry_parse(const struct emu *m, const char *text, struct entry *en, struct err *e)
{
	struct line l;
	bool every;

	if (line_split(&l, text, e))
		return -EINVAL;
	if (!l.n)
		return 1; /* an empty line */
	every = !strcmp(l.at[0].text, "every");
	if (!every && strcmp(l.at[0].text, "at"))
		return err_set(e, -EINVAL,
			       "expected at TIME COMMAND or every TIME COMMAND, found '%.40s'",
			       l.at[0].from);
	if (l.n < 3)
		return err_set(e, -EINVAL, "expected a time and a command after '%s'",
			       l.at[0].text);
	if (l.at[1].port >= 0 || line_time(l.at[1].text, &en->when) ||
	    (every && en->when < PS_PER_MS))
		return err_set(e, -EINVAL, "expected a time such as 2.5s or 200ms, found '%.40s'",
			       l.at[1].text);
	en->every = every ? en->when : 0;
	if (console_parse(m, l.at[2].from, &en->op, e))
		return -EINVAL;
	if (!en->op.cmd || en->op.cmd == &con_wait)
		return err_set(e, -EINVAL, "expected a command that does something, found '%.40s'",
			       l.at[2].from);
	en->text = mem_strdup(l.at[2].from);
	return 0;
}

static void script_free(struct script *s)
{
	for (size_t i = 0; i < s->at.n; i++)
		free(s->at.at[i].text);
	vec_free(&s->at);
	free(s);
}

int script_read(struct script **out, const struct emu *m, const char *name, char *text,
		struct err *e)
{
	struct script *s = mem_zalloc(sizeof(*s));
	unsigned number = 0;
	char *line, *rest;

	for (rest = text; (line = strsep(&rest, "\n"));) {
		struct entry en = {.line = ++number};
		struct err why;
		int rc = entry_parse(m, line, &en, &why);

		if (rc < 0) {
			script_free(s);
			return err_set(e, -EINVAL, "%s:%u: %.400s", name, number, why.text);
		}
		if (!rc)
			vec_push(&s->at, en);
	}
	*out = s;
	return 0;
}

int script_open(struct emu *m, struct err *e)
{
	char *text;
	size_t len;
	int rc;

	if (!m->cfg.script)
		return 0;
	rc = file_read(m->cfg.script, &text, &len, e);
	if (rc)
		return rc;
	rc = memchr(text, 0, len)
		     ? err_set(e, -EINVAL, "%s: expected text, found a NUL", m->cfg.script)
		     : script_read(&m->script, m, m->cfg.script, text, e);
	free(text);
	if (m->script)
		m->script->path = m->cfg.script;
	return rc;
}

/* ---- running ---- */

static struct entry *next_entry(struct script *s)
{
	struct entry *next = NULL;

	for (size_t i = 0; i < s->at.n; i++)
		if (s->at.at[i].when != TIME_NEVER && (!next || s->at.at[i].when < next->when))
			next = &s->at.at[i];
	return next;
}

static void entry_run(struct script *s, struct entry *en)
{
	struct strbuf out = {0};
	int rc;

	events_say(s->m, "script: %s", en->text);
	rc = console_run(s->m, &en->op, &out);
	if (rc)
		events_say(s->m, "%s:%u: %.*s", s->path, en->line, (int)strcspn(out.s, "\n"),
			   out.s);
	else if (out.len && !s->m->cfg.quiet)
		output_answer(s->m, out.s);
	strbuf_free(&out);
	en->when = en->every ? en->when + en->every : TIME_NEVER;
}

static void arm(struct script *s);

static void due(uv_timer_t *t)
{
	struct script *s = t->data;
	struct entry *en;

	while (!s->m->stop && (en = next_entry(s)) && s->start + en->when <= emu_now(s->m))
		entry_run(s, en);
	arm(s);
}

static void arm(struct script *s)
{
	const struct entry *en = next_entry(s);
	time_ps now = emu_now(s->m), when = en ? s->start + en->when : 0;

	if (en && !s->m->stop) /* rounded up to milliseconds: never early */
		uv_timer_start(&s->timer, due,
			       when > now ? (when - now + PS_PER_MS - 1) / PS_PER_MS : 0, 0);
}

void script_start(struct emu *m)
{
	struct script *s = m->script;

	if (!s)
		return;
	s->m = m;
	s->start = emu_now(m);
	uv_timer_init(&m->loop, &s->timer);
	s->timer.data = s;
	arm(s);
}

static void freed(uv_handle_t *h)
{
	script_free(h->data);
}

void script_close(struct emu *m)
{
	struct script *s = m->script;

	m->script = NULL;
	if (s && s->m)
		uv_close((uv_handle_t *)&s->timer, freed);
	else if (s)
		script_free(s);
}
