/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words to option values. State: where the options' dst point, cli_json, and the list of the options of one
 * command. Way in: cli_parse(). Prints nothing: a fault is returned as a sentence.
 */
#include "cli/cli_priv.h"

#include <limits.h>

bool cli_json;

static bool wants_help;

static const struct cli_opt common[] = {
	{.name = "json", .type = CLI_FLAG, .dst = &cli_json, .help = "print the result as JSON"},
	{.name = "help",
	 .letter = 'h',
	 .type = CLI_FLAG,
	 .dst = &wants_help,
	 .help = "print this help"},
	{0},
};

/* The options of the command that was asked for last: its own, settings, common ones. */
static VEC(const struct cli_opt *) listed;
static struct cli_cmd listed_for;

static void list_table(const struct cli_opt *table)
{
	for (; table && table->name; table++)
		vec_push(&listed, table);
}

static bool is_listed(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(listed.at[i]->name, name))
			return true;
	return false;
}

static void list_make(const struct cli_cmd *c)
{
	size_t own;

	listed_for = *c;
	listed.n = 0;
	list_table(c->opts);
	for (const struct cli_opt *const *t = c->shared; t && *t; t++)
		list_table(*t);
	own = listed.n;
	/* Settings but those whose name the command has for something else: see setting_meant(). */
	for (const struct cli_opt *o = c->settings ? setting_opts(c->settings) : NULL; o && o->name;
	     o++)
		if (!is_listed(o->name, own))
			vec_push(&listed, o);
	list_table(common);
}

const struct cli_opt *cli_opt_at(const struct cli_cmd *c, unsigned i)
{
	if (!listed.n || listed_for.opts != c->opts || listed_for.shared != c->shared ||
	    listed_for.settings != c->settings)
		list_make(c);
	return i < listed.n ? listed.at[i] : NULL;
}

bool cli_opt_needs_value(const struct cli_opt *o)
{
	const struct setting *k = cli_opt_setting(o);

	return o->type != CLI_FLAG && !(k && k->kind == SETTING_BOOL);
}

const char *cli_opt_choice(const struct cli_opt *o, unsigned i)
{
	const struct setting *k = cli_opt_setting(o);

	return k ? setting_choice(k, i) : o->choices ? o->choices[i] : NULL;
}

/* ---- values ---- */

static int number_set(const struct cli_opt *o, const char *s, struct err *e)
{
	uint64_t top = o->type == CLI_UINT ? UINT_MAX : UINT64_MAX, v;
	uint64_t max = o->max ? MIN(o->max, top) : top;

	if (parse_u64(s, &v) || v < o->min || v > max) {
		if (!o->min && max == top)
			return err_set(e, -EINVAL, "--%s: expected a number; found '%.60s'",
				       o->name, s);
		return err_set(e, -EINVAL,
			       "--%s: expected a number from %llu to %llu; found '%.60s'", o->name,
			       (unsigned long long)o->min, (unsigned long long)max, s);
	}
	if (o->type == CLI_UINT)
		*(unsigned *)o->dst = (unsigned)v;
	else
		*(uint64_t *)o->dst = v;
	return 0;
}

static int choice_refuse(const struct cli_opt *o, const char *s, struct err *e)
{
	struct spelling near = {.word = s};
	struct strbuf all = {0};

	for (const char *const *c = o->choices; *c; c++) {
		strbuf_addf(&all, "%s%s", all.len ? ", " : "", *c);
		spelling_offer(&near, *c, *c);
	}
	err_set(e, 0, "--%s: expected one of %.280s; found '%.60s'%s%s%s", o->name,
		all.len ? all.s : "", s, near.best ? ", did you mean '" : "",
		near.best ? near.best : "", near.best ? "'?" : "");
	strbuf_free(&all);
	return -EINVAL;
}

static int choice_set(const struct cli_opt *o, const char *s, struct err *e)
{
	for (const char *const *c = o->choices; *c; c++) {
		if (strcmp(*c, s))
			continue;
		*(const char **)o->dst = *c;
		return 0;
	}
	return choice_refuse(o, s, e);
}

static int value_set(const struct cli_opt *o, const char *s, struct err *e)
{
	switch (o->type) {
	case CLI_FLAG:
		*(bool *)o->dst = true;
		return 0;
	case CLI_STR:
		*(const char **)o->dst = s;
		return 0;
	case CLI_LIST:
		vec_push((cli_strings *)o->dst, s);
		return 0;
	case CLI_UINT:
	case CLI_U64:
		return number_set(o, s, e);
	case CLI_CHOICE:
		return choice_set(o, s, e);
	case CLI_SHARE:
		if (!parse_share(s, o->dst))
			return 0;
		return err_set(
			e, -EINVAL,
			"--%s: expected a share such as 5%% or 0.05, at most 1; found '%.60s'",
			o->name, s);
	case CLI_TIME:
		if (!parse_time(s, o->dst))
			return 0;
		return err_set(e, -EINVAL,
			       "--%s: expected a time with its unit (ps, ns, us, ms, s) such as "
			       "1.5ms; found '%.60s'",
			       o->name, s);
	case CLI_SETTING:
		return setting_opt_set(o, s ? s : "true", e);
	}
	return -EINVAL;
}

/* ---- words ---- */

struct scan {
	const struct cli_cmd *cmd;
	char **words;
	unsigned n, at; /* at: the next word to read */
	struct err *e;
};

static const struct cli_opt *opt_named(const struct cli_cmd *c, const char *name, size_t len)
{
	const struct cli_opt *o;

	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct cli_opt *opt_lettered(const struct cli_cmd *c, char letter)
{
	const struct cli_opt *o;

	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

static int opt_unknown(const struct scan *s, const char *name, size_t len)
{
	char typed[SPELLING_LONGEST + 1] = "";
	struct spelling near = {.word = typed};
	const struct cli_opt *o;

	if (len <= SPELLING_LONGEST)
		memcpy(typed, name, len);
	for (unsigned i = 0; (o = cli_opt_at(s->cmd, i)); i++)
		if (o->help)
			spelling_offer(&near, o->name, o->name);
	if (near.best)
		return err_set(s->e, -EINVAL, "unknown option '--%.*s', did you mean '--%s'?",
			       (int)MIN(len, (size_t)60), name, near.best);
	return err_set(s->e, -EINVAL, "unknown option '--%.*s'", (int)MIN(len, (size_t)60), name);
}

/* A word of a setting means the setting also where the command has its name for something else: --tables partial, --tables FILE. */
static const struct cli_opt *setting_meant(const struct cli_cmd *c, const struct cli_opt *o,
					   const char *value)
{
	const struct cli_opt *k =
		c->settings && o->type == CLI_STR ? setting_opts(c->settings) : NULL;
	const char *word;

	for (; k && k->name; k++)
		for (unsigned i = 0; !strcmp(k->name, o->name) && (word = cli_opt_choice(k, i));
		     i++)
			if (!strcmp(word, value))
				return k;
	return o;
}

/* The word after an option. If it looks like an option, the value was probably forgotten. */
static int value_from_next(struct scan *s, const struct cli_opt *o)
{
	const char *v = s->at < s->n ? s->words[s->at] : NULL;

	if (!v)
		return err_set(s->e, -EINVAL, "--%s needs a value: %s", o->name,
			       o->arg ? o->arg : "?");
	if (v[0] == '-' && v[1])
		return err_set(
			s->e, -EINVAL,
			"--%s needs a value: %s, found '%.60s' (write --%s=%.60s if you mean it)",
			o->name, o->arg ? o->arg : "?", v, o->name, v);
	s->at++;
	return value_set(setting_meant(s->cmd, o, v), v, s->e);
}

static int long_option(struct scan *s, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct cli_opt *o = opt_named(s->cmd, name, len);

	if (!o)
		return opt_unknown(s, name, len);
	if (o->type == CLI_SETTING && !cli_opt_needs_value(o))
		return value_set(o, value, s->e);
	if (o->type == CLI_FLAG)
		return value ? err_set(s->e, -EINVAL, "--%s takes no value, found '%.60s'", o->name,
				       value)
			     : value_set(o, NULL, s->e);
	return value ? value_set(setting_meant(s->cmd, o, value), value, s->e)
		     : value_from_next(s, o);
}

/* -v, -o FILE, -oFILE, and several flags in one word: -vq */
static int short_options(struct scan *s, const char *letters)
{
	for (const char *p = letters; *p; p++) {
		const struct cli_opt *o = opt_lettered(s->cmd, *p);
		int rc;

		if (!o)
			return err_set(s->e, -EINVAL, "unknown option '-%.60s'", p);
		if (cli_opt_needs_value(o))
			return p[1] ? value_set(o, p + 1, s->e) : value_from_next(s, o);
		rc = value_set(o, NULL, s->e);
		if (rc)
			return rc;
	}
	return 0;
}

static int arguments_counted(const struct cli_cmd *c, char **words, unsigned n, struct err *e)
{
	struct strbuf usage = {0};

	if (n >= c->min_args && n <= c->max_args)
		return 0;
	cli_usage(&usage, c);
	if (n > c->max_args)
		err_set(e, 0, "unexpected argument '%.60s'; usage: weft %s %s", words[c->max_args],
			c->name, usage.s);
	else
		err_set(e, 0, "needs %s%u argument%s, found %u; usage: weft %s %s",
			c->max_args > c->min_args ? "at least " : "", c->min_args,
			c->min_args == 1 ? "" : "s", n, c->name, usage.s);
	strbuf_free(&usage);
	return -EINVAL;
}

int cli_parse(const struct cli_cmd *c, char **words, unsigned *n, struct err *e)
{
	struct scan s = {.cmd = c, .words = words, .n = *n, .e = e};
	unsigned kept = 0;
	bool plain = false;

	wants_help = false;
	while (s.at < s.n) {
		char *w = words[s.at++];
		int rc = 0;

		if (plain || w[0] != '-' || !w[1])
			words[kept++] = w;
		else if (!strcmp(w, "--"))
			plain = true;
		else
			rc = w[1] == '-' ? long_option(&s, w + 2) : short_options(&s, w + 1);
		if (rc)
			return rc;
		if (wants_help)
			return 1;
	}
	*n = kept;
	return arguments_counted(c, words, kept, e);
}
