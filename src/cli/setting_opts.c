/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of settings as options of a command. State: the texts given; the options of each
 * kind of command, once made. Ways in: setting_opts(), cli_settings_apply(). Does not know single
 * settings.
 */
#include "cli/cli_priv.h"

static struct setting_slot slots[SETTINGS_MAX];	  /* by row */
static struct cli_opt *made[SETTING_FOR_ALL + 1]; /* by users */
static VEC(const struct cli_opt *) old_names;	  /* that were used */

const struct setting *cli_opt_setting(const struct cli_opt *o)
{
	return o->type == CLI_SETTING ? ((const struct setting_slot *)o->dst)->setting : NULL;
}

static struct setting_slot *slot(const struct setting *k)
{
	struct setting_slot *s = &slots[k - settings_table];

	s->setting = k;
	return s;
}

/* ---- from rows to options ---- */

static const char *arg_name(const struct setting *k)
{
	static const char *const names[] = {
		[SETTING_BOOL] = "BOOL",   [SETTING_UINT] = "N",    [SETTING_BYTES] = "BYTES",
		[SETTING_TIME] = "TIME",   [SETTING_MODE] = "MODE", [SETTING_TEXT] = "TEXT",
		[SETTING_CHOICE] = "WORD", [SETTING_ROW] = "NAME",  [SETTING_HEX] = "HEX",
		[SETTING_HEXES] = "LIST",  [SETTING_LIST] = "LIST",
	};

	return k->arg ? k->arg : names[k->kind];
}

static char *help_text(const struct setting *k, const struct settings *usual)
{
	struct strbuf help = {0}, value = {0};

	setting_text(k, usual, &value);
	strbuf_add(&help, k->help);
	if (k->part)
		strbuf_add(&help, " (default: as the mechanism)");
	else if (strcmp(value.s, "[]"))
		strbuf_addf(&help, " (default %s)", value.s);
	strbuf_free(&value);
	return help.s;
}

/* Returns the number of options; fills opts unless it is NULL. */
static size_t make_options(enum setting_users users, struct cli_opt *opts)
{
	struct settings usual;
	size_t n = 0;

	if (users == SETTING_FOR_SM)
		settings_default(&usual);
	else
		settings_default_sim(&usual);
	for (const struct setting *k = settings_table; k->key; k++) {
		struct cli_opt o = {.name = k->option,
				    .letter = users == SETTING_FOR_SM ? k->letter : 0,
				    .type = CLI_SETTING,
				    .dst = slot(k),
				    .arg = arg_name(k)};

		if (!(k->users & users))
			continue;
		if (opts && k->old_option)
			opts[n] = (struct cli_opt){.name = k->old_option,
						   .type = CLI_SETTING,
						   .dst = o.dst,
						   .arg = o.arg};
		n += k->old_option != NULL;
		if (opts) {
			o.help = help_text(k, &usual);
			opts[n] = o;
		}
		n++;
	}
	return n;
}

const struct cli_opt *setting_opts(enum setting_users users)
{
	assert(users <= SETTING_FOR_ALL);
	if (!made[users]) {
		made[users] = mem_zarray(make_options(users, NULL) + 1, sizeof(*made[users]));
		make_options(users, made[users]);
	}
	return made[users];
}

/* ---- from words to settings ---- */

/* An empty text stands for the word by which the setting names nothing. */
static const char *meant(const struct setting *k, const char *text)
{
	return k->kind == SETTING_TEXT && !*text ? k->nothing : text;
}

int setting_opt_set(const struct cli_opt *o, const char *text, struct err *e)
{
	struct setting_slot *to = o->dst;
	struct settings scratch;
	struct err why;

	settings_default_sim(&scratch);
	if (setting_set(to->setting, &scratch, meant(to->setting, text), &why))
		return err_set(e, -EINVAL, "--%s: %.480s", o->name, why.text);
	to->text = text;
	if (!o->help && !to->setting->both)
		vec_push(&old_names, o);
	return 0;
}

void setting_opts_warn(void)
{
	for (size_t i = 0; i < old_names.n; i++)
		cli_warn("--%s is now called --%s", old_names.at[i]->name,
			 cli_opt_setting(old_names.at[i])->option);
	vec_free(&old_names);
}

int cli_settings_apply(struct settings *s, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < SETTINGS_MAX; i++)
		if (slots[i].text)
			rc = setting_set(slots[i].setting, s,
					 meant(slots[i].setting, slots[i].text), e);
	return rc;
}

bool cli_setting_given(const char *option)
{
	for (unsigned i = 0; i < SETTINGS_MAX; i++)
		if (slots[i].text && (!option || !strcmp(slots[i].setting->option, option)))
			return true;
	return false;
}
