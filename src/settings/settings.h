/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings of the manager and of the daemon around it: one table, settings_table[]. The YAML
 * configuration, its JSON Schema, what a reload may change, the options of every command that runs a
 * manager, their help, man pages and completion, and docs/config.md are made of it.
 *
 *	struct settings s;
 *	settings_default(&s);
 *	setting_set(setting_find("manager", "window"), &s, "64", &e);
 *
 * A new setting is a field of struct settings, or of struct sm_config, and a row of settings_table.c.
 * This room is pure: it reads no file, opens no transport and knows no command. src/run reads YAML,
 * src/cli options.
 */
#ifndef WEFT_SETTINGS_H
#define WEFT_SETTINGS_H

#include "base/json.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "transport/transport.h"

/* All that can be set. Texts are "" where there is nothing. */
struct settings {
	char transport[16]; /* a name of tp_transports[]; "": auto */
	struct tp_where where;
	struct sm_config sm;
	struct perf_config perf;
	/* What sm.inputs is read from: lists with an element in each line, and files. run/inputs.h reads them. */
	char roots[8192], compute_nodes[4096], io_nodes[4096], service_nodes[4096];
	char routes_file[256], routes_sls[256], routes_sl2vl[256];
	unsigned threads;    /* for computing routes; 0: as many as there are cores */
	unsigned spin_us;    /* how long to poll for the next MAD before sleeping */
	char keys_file[256]; /* YAML with secret settings */
	char state[256];     /* SQLite file; "auto": see run_config_paths() */
	char control[108];   /* unix socket; "auto": as above */
	unsigned sandbox;    /* enum sandbox_wanted */
	unsigned control_mode;
	unsigned control_clients, control_idle_s, control_rate; /* limits; 0: none */
	char partitions_file[256];				/* OpenSM's partitions.conf */
	char qos_policy_file[256];				/* OpenSM's qos-policy.conf */
	bool both_keys;						/* allow_both_pkeys */
	char dumps[256];	  /* directory for OpenSM's files after each change */
	bool dump_paths;	  /* with opensm-path-records.dump */
	char metrics_file[256];	  /* written after each change and every metrics_s */
	char metrics_address[46]; /* of IPv4 or IPv6; "": 127.0.0.1 */
	unsigned metrics_port;	  /* there; 0: none */
	unsigned metrics_s;
	unsigned metrics_clients, metrics_timeout_s, metrics_rate;
	unsigned metrics_ports; /* that have series of their own, at most */
	unsigned log_level;	/* enum run_log_level */
	unsigned log_format;	/* enum run_log_format */
	char log_file[256];	/* "": standard error */
	char pid_file[256];
	unsigned history; /* changes remembered for `weft ctl changes` */
	bool unsafe;	  /* accept techniques that may deadlock */
	bool counters; /* not a setting: only counters are read, beside another manager (weft perf) */
	bool once;     /* not a setting: the command asks to end when the subnet is up */
};

enum setting_kind {
	SETTING_BOOL,
	SETTING_UINT,	/* unsigned */
	SETTING_BYTES,	/* size_t: "64MiB" */
	SETTING_TIME,	/* time_ps, or unsigned in `unit` */
	SETTING_MODE,	/* unsigned: "0660" */
	SETTING_TEXT,	/* char[size]; `nothing` stands for "" */
	SETTING_CHOICE, /* bool or enum: position in choices; of a bool, later ones are true, too */
	SETTING_ROW,	/* pointer to one of rows, or a copy of it; rows begin with their name */
	SETTING_HEX,	/* uint64_t */
	SETTING_HEXES,	/* uint64_t[], 0: no more */
	SETTING_LIST, /* char[size]: texts, each with a line feed behind it; GUIDs as 0x and 16 digits */
};

/* Which commands have the option. */
enum setting_users {
	SETTING_FOR_SM = 1,    /* weft sm */
	SETTING_FOR_SIM = 2,   /* weft sim up, change, demo, run, saturate */
	SETTING_FOR_TRIAL = 4, /* weft sim trial, which draws all other settings */
	SETTING_FOR_ALL = 7,
};

struct setting {
	const char *section, *key; /* in YAML */
	const char *option;	   /* on the command line, without dashes */
	const char *help;	   /* one sentence, without capital and full stop */
	const char *old_option;	   /* an earlier name of the option, or NULL */
	bool both;		   /* old_option is a second name, and nothing is said about it */
	const char *old_section, *old_key; /* an earlier place in YAML, or NULL */
	char letter;			   /* of the option in weft sm, or 0 */
	const char *arg;		   /* what its value is called in help; NULL: by its kind */
	unsigned users;			   /* enum setting_users */
	enum setting_kind kind;
	size_t at, size;   /* the field in struct settings */
	uint64_t min, max; /* SETTING_TIME: in picoseconds */
	time_ps unit;
	const char *nothing;
	const char *const *choices; /* SETTING_TEXT: NULL: anything */
	const void *rows;	    /* ends with a row whose name is NULL */
	size_t stride;
	const char *daemon; /* weft sm's default; NULL: sm_config_default()'s, or 0 */
	size_t clears;	    /* an unsigned of struct settings that becomes 0 with it; 0: none */
	bool start;	    /* takes effect only at the start */
	bool secret;	    /* accepted only from a file that no other user may read; not shown */
	bool part;	    /* of the mechanism: printed when it is not the mechanism's own */
};

struct settings_section {
	const char *name, *help;
};

/* Keys of the configuration whose values are lists and mappings: src/run/config_policy.c reads them. */
struct settings_list {
	const char *section, *key, *help;
};

extern const struct settings_list settings_lists[];	  /* ends with key == NULL */
extern const struct settings_section settings_sections[]; /* these end with name == NULL */
extern const struct setting settings_table[];		  /* sections together, in their order */
enum { SETTINGS_MAX = 128 };

bool settings_is_list(const char *section, const char *key);
const struct setting *setting_find(const char *section, const char *key); /* NULL: no such key */
const struct setting *setting_find_option(const char *option);		  /* NULL: no such option */

/* ---- all of them (settings.c) ---- */

void settings_default(struct settings *s);     /* of the daemon */
void settings_default_sim(struct settings *s); /* of a simulated manager: sm_config_default() */
/* A mechanism with the routes that it has by default in commands: where it repairs routes of any engine, auto. */
void settings_mechanism(const struct sm_mechanism *m, struct sm_mechanism *to);
/* Whether the settings go together: 0, or -EINVAL with e. culprit, if not NULL, becomes the setting to
 * point at. */
int settings_check(const struct settings *s, const struct setting **culprit, struct err *e);
/* The same for those of routes alone. */
int settings_check_routes(const struct settings *s, const char **key, struct err *e);
/* The settings that differ and take effect only after a restart, as "section.key, ...". */
void settings_fixed(const struct settings *running, const struct settings *wanted,
		    struct strbuf *out);
/* Whether a secret setting has another value than the default, which is no secret. */
bool setting_is_key(const struct setting *k, const struct settings *s);
void settings_hide_keys(struct settings *s); /* before they are shown: these become the defaults */
/* Copy all others. Fields without a row stay as they are. */
void settings_reload(struct settings *running, const struct settings *wanted);

/* ---- one of them (setting_value.c) ---- */

/* 0, or -EINVAL with "expected ...; found ..." in e, and s as it was. Elements of a list are separated
 * by commas. */
bool setting_is_list(const struct setting *k); /* YAML has several values for it */
int setting_set(const struct setting *k, struct settings *s, const char *text, struct err *e);
int setting_set_list(const struct setting *k, struct settings *s, char *const *texts, unsigned n,
		     struct err *e);
void setting_text(const struct setting *k, const struct settings *s, struct strbuf *out); /* YAML */
bool setting_same(const struct setting *k, const struct settings *a, const struct settings *b);
const char *setting_choice(const struct setting *k, unsigned i);   /* NULL: no more */
void setting_range(const struct setting *k, struct strbuf *out);   /* "1 to 4096", or nothing */
void setting_expects(const struct setting *k, struct strbuf *out); /* "a number from 1 to 4096" */

/* ---- as documents (settings_print.c, settings_schema.c) ---- */

void settings_print_yaml(const struct settings *s, bool comments, struct strbuf *out);
/* The same; more() adds lists to the end of a section. */
void settings_print_yaml_with(const struct settings *s, bool comments,
			      void (*more)(void *ctx, const char *section, struct strbuf *out),
			      void *ctx, struct strbuf *out);
void settings_print_json(const struct settings *s, struct json *j); /* {section: {key: value}} */
void settings_schema(struct strbuf *out);			    /* JSON Schema */
void setting_json(const struct setting *k, const struct settings *s, const char *name,
		  struct json *j);				    /* its value */
void setting_sentence(const struct setting *k, struct strbuf *out); /* help with capital and stop */

#endif
