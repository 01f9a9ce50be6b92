/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line: one table for each command. Parsing, --help, the man page and the shell completion
 * are made of it, so that the four cannot disagree.
 *
 * A command is one file, cmd_*.c, and exports `const struct cli_cmd cmd_topo_gen` and the like;
 * weft.c lists them. Exit status: 0 success, 1 a check failed, 2 bad input. Results go to
 * standard output, messages to standard error.
 */
#ifndef WEFT_CLI_H
#define WEFT_CLI_H

#include "base/base.h"
#include "base/json.h"
#include "fabric/fabric.h"
#include "settings/settings.h"

enum { CLI_OK = 0, CLI_NO = 1, CLI_BAD = 2 };

enum cli_type {
	CLI_FLAG,    /* bool */
	CLI_STR,     /* const char * */
	CLI_UINT,    /* unsigned, within min..max */
	CLI_U64,     /* uint64_t */
	CLI_SHARE,   /* double 0..1: "5%" or "0.05" */
	CLI_CHOICE,  /* const char *, one of choices */
	CLI_LIST,    /* cli_strings: may be given several times */
	CLI_TIME,    /* time_ps: "10ms", "1.5s", "200ns" */
	CLI_SETTING, /* a struct setting_slot; made by setting_opts.c */
};

typedef VEC(const char *) cli_strings;

struct cli_opt {
	const char *name; /* without dashes */
	char letter;	  /* 0: none */
	enum cli_type type;
	void *dst;
	const char *arg;	    /* "N", "GUID", "FILE"; NULL for flags */
	const char *help;	    /* what it does and its default */
	const char *const *choices; /* ends with NULL */
	uint64_t min, max;	    /* CLI_UINT, CLI_U64; both 0: any */
};

struct cli_cmd {
	const char *name;    /* "topo gen" */
	const char *args;    /* "FILE [options]" */
	const char *summary; /* one line */
	const char *about;   /* paragraphs, or NULL */
	/* Paragraphs that follow, i = 0, 1, ... until NULL: text made from a table of another room. */
	const char *(*about_more)(unsigned i);
	const char *examples; /* lines "weft ...", or NULL */
	const struct cli_opt
		*opts; /* ends with name == NULL; --help and --json are not listed here */
	const struct cli_opt *const
		*shared; /* further tables, common to several commands; ends with NULL */
	enum setting_users settings; /* the settings that are options, too; 0: none */
	unsigned min_args, max_args;
	const char *const
		*words; /* what the first argument may be, for completion; NULL: anything */
	int (*run)(char **args, unsigned nargs);
};

/* --json was given to the running command. */
extern bool cli_json;

/* "weft topo gen: text" on standard error; returns CLI_BAD. */
int cli_bad(const char *fmt, ...) PRINTF(1, 2);
void cli_warn(const char *fmt, ...) PRINTF(1, 2); /* "weft topo gen: warning: text" */

/* Settings given as options, over what s holds. 0, or -EINVAL with e. */
int cli_settings_apply(struct settings *s, struct err *e);
bool cli_setting_given(const char *option); /* NULL: any */

/* Load a netlist; warnings go to standard error. NULL after a message (then return CLI_BAD). */
struct fab *cli_load(const char *path);
/* The same as devices show it, for a simulation: HCAs in vSwitch mode with their functions. */
struct fab *cli_load_wire(const char *path);
/* The same, with the warnings left in keep: free both the fabric and keep. */
struct fab *cli_load_quiet(const char *path, struct fab_netlist *keep);

/* The node an option names, by GUID, S-/H- id or name; CLI_BAD after a message. */
int cli_find_node(const struct fab *f, const char *option, const char *text, node_id *n);

/* Print a finished JSON document; write text to path or "-". Both free what they are given and
 * return CLI_OK, or CLI_BAD after a message. */
int cli_print_json(struct json *j);
int cli_write(const char *path, struct strbuf *text);

/* Tables as text: columns as wide as their widest cell; numbers right-aligned. */
struct cli_table {
	VEC(char *) cells;
	unsigned ncols;
	const char *align; /* one 'l' or 'r' a column */
};
void cli_table_init(struct cli_table *t, const char *align, ...); /* then one heading a column */
void cli_table_add(struct cli_table *t, const char *fmt, ...) PRINTF(2, 3); /* the next cell */
void cli_table_print(struct cli_table *t, FILE *f);			    /* and free */

/* Numbers as text. Each returns one of a few static buffers. */
const char *cli_count(uint64_t n);   /* 861,518 */
const char *cli_duration(time_ps t); /* 12.5 us, 3.210 ms, 1.204 s */

double cli_wall_s(void);  /* monotonic seconds */
double cli_rss_mib(void); /* this process's peak resident memory */

/* A line on standard error: redrawn in place after two seconds on a terminal, elsewhere one more each minute. */
void cli_progress(const char *fmt, ...) PRINTF(1, 2);
void cli_progress_end(void);
/* The same for a step that cannot report progress: its name appears if it takes long. */
void cli_stage(const char *text);

#endif
