/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command table as a completion script for bash. State: none. Way in: cli_complete_bash(). The
 * script calls nothing but bash itself; in particular it never runs weft.
 */
#include "cli/cmds.h"
#include "cli/cli_priv.h"

#include <ctype.h>

/* Literal words of the usage line ("bash"), unlike FILE and [options]. */
static void literal_words(struct strbuf *b, const char *args)
{
	while (args && *args) {
		size_t n = strcspn(args, " "), lower = 0;

		while (lower < n && (islower((unsigned char)args[lower]) || args[lower] == '-'))
			lower++;
		if (n && lower == n)
			strbuf_addf(b, "%s%.*s", b->len ? " " : "", (int)n, args);
		args += n + (args[n] == ' ');
	}
}

bool cli_names_file(const char *arg)
{
	static const char *const words[] = {"FILE", "DIR",    "PATH", "LFTS",
					    "OUT",  "BEFORE", "AFTER"};

	for (size_t i = 0; arg && i < ARRAY_LEN(words); i++)
		if (strstr(arg, words[i]))
			return true;
	return false;
}

static void case_label(struct strbuf *b, const struct cli_opt *o)
{
	strbuf_addf(b, "\t\t--%s", o->name);
	if (o->letter)
		strbuf_addf(b, " | -%c", o->letter);
}

/* Completions of the value of an option. */
static void option_value(struct strbuf *b, const struct cli_opt *o)
{
	case_label(b, o);
	if (cli_opt_choice(o, 0)) {
		strbuf_add(b, ") choices='");
		for (unsigned i = 0; cli_opt_choice(o, i); i++)
			strbuf_addf(b, "%s%s", i ? " " : "", cli_opt_choice(o, i));
		strbuf_add(b, "' ;;\n");
	} else {
		strbuf_addf(b, ") %s ;;\n", cli_names_file(o->arg) ? "files=1" : "return");
	}
}

void cli_complete_words(struct strbuf *b, const struct cli_cmd *c)
{
	literal_words(b, c->args);
	for (const char *const *w = c->words; w && *w; w++)
		strbuf_addf(b, "%s%s", b->len ? " " : "", *w);
}

void cli_complete_case(struct strbuf *b, const struct cli_cmd *c)
{
	const struct cli_opt *o;
	struct strbuf literal = {0};

	strbuf_addf(b, "\t'%s'%s)\n\t\tcase $prev in\n", c->name,
		    strchr(c->name, ' ') ? "" : "' '*");
	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++)
		if (o->help && cli_opt_needs_value(o))
			option_value(b, o);
	strbuf_add(b, "\t\t*) opts='");
	for (unsigned i = 0; (o = cli_opt_at(c, i)); i++) {
		if (!o->help)
			continue;
		strbuf_addf(b, "%s--%s", i ? " " : "", o->name);
		if (o->letter)
			strbuf_addf(b, " -%c", o->letter);
	}
	strbuf_add(b, "'");
	cli_complete_words(&literal, c);
	if (literal.len)
		strbuf_addf(b, " choices='%s'", literal.s);
	if (cli_names_file(c->args))
		strbuf_add(b, " files=1");
	strbuf_free(&literal);
	strbuf_add(b, " ;;\n\t\tesac\n\t\t;;\n");
}

/* Groups and single-word commands, as the first word after weft. */
void cli_complete_first(struct strbuf *b, const struct cli_app *app)
{
	strbuf_add(b, "\t\tchoices='");
	for (const struct cli_group *g = app->groups; g->name; g++)
		strbuf_addf(b, "%s%s", g == app->groups ? "" : " ", g->name);
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		if (!strchr((*c)->name, ' '))
			strbuf_addf(b, " %s", (*c)->name);
	strbuf_add(b, "'\n");
}

void cli_complete_second(struct strbuf *b, const struct cli_app *app, const char *line)
{
	strbuf_addf(b, "\t\tcase ${%s} in\n", line);
	for (const struct cli_group *g = app->groups; g->name; g++) {
		const char *sep = "";

		strbuf_addf(b, "\t\t%s) choices='", g->name);
		for (const struct cli_cmd *const *c = app->cmds; *c; c++) {
			if (!cli_cmd_in_group(*c, g))
				continue;
			strbuf_addf(b, "%s%s", sep, (*c)->name + strlen(g->name) + 1);
			sep = " ";
		}
		strbuf_add(b, "' ;;\n");
	}
	strbuf_add(b, "\t\tesac\n");
}

void cli_complete_bash(struct strbuf *b, const struct cli_app *app)
{
	strbuf_add(b, "# SPDX-License-Identifier: BSD-2-Clause\n"
		      "# Completion of weft for bash, printed by 'weft completion bash'.\n"
		      "_weft()\n{\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		      "\tlocal first=1 choices='' opts='' files=''\n\n"
		      "\tCOMPREPLY=()\n"
		      "\t# bash cuts --opt=value into three words\n"
		      "\tif [[ $cur == = ]]; then\n\t\tcur=''\n"
		      "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
		      "\tif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == @(help|man) ]]; then\n"
		      "\t\tfirst=2\n\tfi\n"
		      "\tif ((COMP_CWORD == first)); then\n");
	cli_complete_first(b, app);
	strbuf_add(b, "\t\t((first == 1)) && opts='--help --version'\n"
		      "\telif ((COMP_CWORD == first + 1)); then\n");
	cli_complete_second(b, app, "COMP_WORDS[first]");
	strbuf_add(b, "\tfi\n\t[[ $choices && $cur != -* ]] || case \"${COMP_WORDS[1]} "
		      "${COMP_WORDS[2]}\" in\n");
	for (const struct cli_cmd *const *c = app->cmds; *c; c++)
		cli_complete_case(b, *c);
	strbuf_add(b, "\tesac\n"
		      "\tif [[ $cur == -* ]]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$opts\" -- \"$cur\")\n"
		      "\telif [[ $choices ]]; then\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
		      "\telif [[ $files ]]; then\n"
		      "\t\tcompopt -o filenames 2> /dev/null\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
		      "\tfi\n}\n"
		      "complete -F _weft weft\n");
}

/* ---- the command ---- */

static const struct {
	const char *name;
	void (*script)(struct strbuf *b, const struct cli_app *app);
} shells[] = {{"bash", cli_complete_bash}, {"zsh", cli_complete_zsh}, {"fish", cli_complete_fish}};

static int completion_run(char **args, unsigned n UNUSED)
{
	struct strbuf b = {0};
	struct json j = {0};

	unsigned i = 0;

	while (i < ARRAY_LEN(shells) && strcmp(shells[i].name, args[0]))
		i++;
	if (i == ARRAY_LEN(shells))
		return cli_bad("expected the shell 'bash', 'zsh' or 'fish', found '%s'", args[0]);
	shells[i].script(&b, cli_app_now());
	if (!cli_json)
		return cli_write("-", &b);
	json_open(&j, NULL, '{');
	json_str(&j, "shell", args[0]);
	json_str(&j, "text", b.s);
	json_close(&j);
	strbuf_free(&b);
	return cli_print_json(&j);
}

static const char *const shell_names[] = {"bash", "zsh", "fish", NULL};

const struct cli_cmd cmd_completion = {
	.name = "completion",
	.args = "SHELL",
	.words = shell_names,
	.summary = "print a completion script for the shell",
	.about =
		"SHELL is bash, zsh or fish. The script is made from the same table as the help: it completes commands, options, "
		"the values of options that have a fixed choice, and file names.",
	.examples = "eval \"$(weft completion bash)\"\n"
		    "weft completion bash > weft-completion.bash\n"
		    "weft completion zsh > _weft\n"
		    "weft completion fish > weft.fish",
	.min_args = 1,
	.max_args = 1,
	.run = completion_run,
};
