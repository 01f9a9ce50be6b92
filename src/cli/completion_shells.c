/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command table as completion scripts for zsh and fish. State: none. Ways in: cli_complete_zsh(), cli_complete_fish(). The
 * scripts never run weft. completion.c has the script for bash, and the rules that zsh shares with it.
 */
#include "cli/cli_priv.h"

#include <ctype.h>

/* ---- zsh ---- */

void cli_complete_zsh(struct strbuf *b, const struct cli_app *app)
{
	strbuf_add(b, "#compdef weft\n"
		      "# SPDX-License-Identifier: BSD-2-Clause\n"
		      "# Completion of weft for zsh, printed by 'weft completion zsh'.\n"
		      "_weft()\n{\n"
		      "\tlocal cur=${words[CURRENT]} prev=${words[CURRENT-1]}\n"
		      "\tlocal first=2 choices='' opts='' files=''\n\n"
		      "\t((CURRENT > 2)) && [[ ${words[2]} == (help|man) ]] && first=3\n"
		      "\tif ((CURRENT == first)); then\n");
	cli_complete_first(b, app);
	strbuf_add(b, "\t\t((first == 2)) && opts='--help --version'\n"
		      "\telif ((CURRENT == first + 1)); then\n");
	cli_complete_second(b, app, "words[first]");
	strbuf_add(b, "\tfi\n\t[[ -n $choices && $cur != -* ]] || "
		      "case \"${words[2]} ${words[3]}\" in\n");
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		cli_complete_case(b, *c);
	strbuf_add(b, "\tesac\n"
		      "\tif [[ $cur == -* ]]; then\n\t\tcompadd -- ${=opts}\n"
		      "\telif [[ -n $choices ]]; then\n\t\tcompadd -- ${=choices}\n"
		      "\telif [[ -n $files ]]; then\n\t\t_files\n"
		      "\tfi\n}\n"
		      "compdef _weft weft\n");
}

/* ---- fish ---- */

/* Within single quotes of fish. */
static void fish_quote(struct strbuf *b, const char *s)
{
	strbuf_add(b, "'");
	for (; *s; s++)
		if (*s == '\'' || *s == '\\')
			strbuf_addf(b, "\\%c", *s);
		else if (*s == '\n')
			strbuf_add(b, " ");
		else
			strbuf_addn(b, s, 1);
	strbuf_add(b, "'");
}

static void fish_option(struct strbuf *b, const struct cli_cmd *c, const struct cli_opt *o)
{
	strbuf_addf(b, "complete -c weft -n '__weft_in \"%s\"' -l %s", c->name, o->name);
	if (o->letter)
		strbuf_addf(b, " -s %c", o->letter);
	if (cli_opt_choice(o, 0)) {
		strbuf_add(b, " -x -a '");
		for (unsigned i = 0; cli_opt_choice(o, i); i++)
			strbuf_addf(b, "%s%s", i ? " " : "", cli_opt_choice(o, i));
		strbuf_add(b, "'");
	} else if (cli_opt_needs_value(o)) {
		strbuf_add(b, cli_names_file(o->arg) ? " -r -F" : " -x");
	}
	strbuf_add(b, " -d ");
	fish_quote(b, o->help);
	strbuf_add(b, "\n");
}

static void fish_command(struct strbuf *b, const struct cli_cmd *c)
{
	const struct cli_opt *o;
	struct strbuf words = {0};

	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++)
		if (o->help)
			fish_option(b, c, o);
	cli_complete_words(&words, c);
	if (words.len)
		strbuf_addf(b, "complete -c weft -n '__weft_in \"%s\"' -a '%s'\n", c->name,
			    words.s);
	if (cli_names_file(c->args))
		strbuf_addf(b, "complete -c weft -n '__weft_in \"%s\"' -F\n", c->name);
	strbuf_free(&words);
}

static void fish_word(struct strbuf *b, const char *when, const char *word, const char *help)
{
	strbuf_addf(b, "complete -c weft -n '%s' -a %s -d ", when, word);
	fish_quote(b, help);
	strbuf_add(b, "\n");
}

void cli_complete_fish(struct strbuf *b, const struct cli_app *app)
{
	char when[80];

	strbuf_add(
		b,
		"# SPDX-License-Identifier: BSD-2-Clause\n"
		"# Completion of weft for fish, printed by 'weft completion fish'.\n"
		"# The words before the cursor, without options.\n"
		"function __weft_words\n"
		"\tset -l words (commandline -opc)\n"
		"\tstring join ' ' (string match -v -- '-*' $words[2..-1])\n"
		"end\n"
		"function __weft_is\n\ttest (__weft_words | string collect -a) = \"$argv[1]\"\nend\n"
		"function __weft_in\n"
		"\tstring match -q -- \"$argv[1] *\" (__weft_words | string collect -a)' '\n"
		"end\n"
		"complete -c weft -f\n");
	for (const struct cli_group *g = app->groups; g->name; g++)
		fish_word(b, "__weft_is \"\"", g->name, g->title);
	for (const struct cli_cmd *const *c = app->cmds; *c; c++) {
		const char *blank = strchr((*c)->name, ' ');

		snprintf(when, sizeof(when), "__weft_is \"%.*s\"",
			 blank ? (int)(blank - (*c)->name) : 0, (*c)->name);
		fish_word(b, when, blank ? blank + 1 : (*c)->name, (*c)->summary);
	}
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		fish_command(b, *c);
}
