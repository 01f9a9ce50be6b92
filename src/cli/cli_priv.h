/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the command line: the program as a table, parsing, and the renderings of the
 * table. Renderings only add text to a strbuf; cli.c prints it.
 */
#ifndef WEFT_CLI_PRIV_H
#define WEFT_CLI_PRIV_H

#include "base/spelling.h"
#include "base/units.h"
#include "cli/cli.h"

struct cli_group {
	const char *name, *title; /* "topo", "fabrics as files" */
};

struct cli_app {
	const char *version, *summary;
	const struct cli_group *groups;	   /* ends with name == NULL */
	const struct cli_cmd *const *cmds; /* ends with NULL */
	const struct cli_cmd *const
		*first; /* their first examples open the overview; ends with NULL */
};

/* The whole program: finds the command, parses, runs it, and checks that the output was written. */
int cli_main(const struct cli_app *app, int argc, char **argv);
const struct cli_app *cli_app_now(void); /* the one that cli_main runs */

/* ---- finding (cli.c) ---- */

/* The command that the words begin with, and how many words name it; also accepts "topo-gen"
 * and one word with a space in it. NULL when there is none. */
const struct cli_cmd *cli_cmd_find(const struct cli_app *app, char **words, unsigned n,
				   unsigned *used);
const struct cli_group *cli_group_find(const struct cli_app *app, const char *name);
bool cli_cmd_in_group(const struct cli_cmd *c, const struct cli_group *g);
/* cli_bad() about words that name no command, with the nearest one. */
int cli_cmd_unknown(const struct cli_app *app, char **words, unsigned n);

/* ---- parsing (option_parse.c) ---- */

/* Own options, shared ones, settings, then --json and --help; NULL after the last. Those without help
 * are hidden: they are parsed but in no rendering. */
const struct cli_opt *cli_opt_at(const struct cli_cmd *c, unsigned i);
bool cli_opt_needs_value(const struct cli_opt *o);		 /* as the next word */
const char *cli_opt_choice(const struct cli_opt *o, unsigned i); /* NULL: no more, or anything */

/* Set the options among words. The plain arguments move to the front and *n becomes their number.
 * Returns 0, 1 when --help was met, or -EINVAL with e filled. */
int cli_parse(const struct cli_cmd *c, char **words, unsigned *n, struct err *e);

/* ---- options made of settings (setting_opts.c) ---- */

struct setting_slot {
	const struct setting *setting;
	const char *text; /* as given; NULL: not given */
};
const struct cli_opt *setting_opts(enum setting_users users);	/* ends with name == NULL */
const struct setting *cli_opt_setting(const struct cli_opt *o); /* NULL: not a setting */
int setting_opt_set(const struct cli_opt *o, const char *text, struct err *e);
void setting_opts_warn(void); /* about old names that were used */

/* ---- renderings ---- */

/* A text as paragraphs: lines that start with a blank stay as they are, others are filled. */
struct cli_para {
	const char *s;
	size_t n;
	bool verbatim;
};
bool cli_para_next(const char **text, struct cli_para *p);
void cli_usage(struct strbuf *b, const struct cli_cmd *c);     /* FILE [options] */
void cli_sentence(struct strbuf *b, const char *summary);      /* Weave a fabric. */
void cli_opt_label(struct strbuf *b, const struct cli_opt *o); /* -p, --ports N */
void cli_opt_notes(struct strbuf *b, const struct cli_opt *o); /* help, choices, range */

void cli_help_overview(struct strbuf *b, const struct cli_app *app);
void cli_help_group(struct strbuf *b, const struct cli_app *app, const struct cli_group *g);
void cli_help_cmd(struct strbuf *b, const struct cli_cmd *c);
void cli_help_json(struct json *j, const struct cli_app *app, const struct cli_group *g,
		   const struct cli_cmd *only); /* g, only: NULL for all */
void cli_man_app(struct strbuf *b, const struct cli_app *app);
void cli_man_cmd(struct strbuf *b, const struct cli_app *app, const struct cli_cmd *c);
void cli_man_config(struct strbuf *b, const struct cli_app *app); /* weft.yaml(5) */
void cli_roff(struct strbuf *b, const char *text);		  /* lines of running text */
void cli_complete_bash(struct strbuf *b, const struct cli_app *app);
void cli_complete_zsh(struct strbuf *b, const struct cli_app *app);
void cli_complete_fish(struct strbuf *b, const struct cli_app *app);
/* Parts that bash and zsh share: they set choices, opts and files. line: the word behind weft, as "COMP_WORDS[first]". */
void cli_complete_first(struct strbuf *b, const struct cli_app *app);
void cli_complete_second(struct strbuf *b, const struct cli_app *app, const char *line);
void cli_complete_case(struct strbuf *b, const struct cli_cmd *c);
void cli_complete_words(struct strbuf *b, const struct cli_cmd *c); /* fixed arguments */
bool cli_names_file(const char *arg);

#endif
