/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Experiments as data: one YAML file says which commands to run with which parameters, which numbers of their
 * output are the results, and what a source (a paper, a thesis) states about these. docs/experiments.md lists the
 * keys. An experiment is read once and never changed.
 *
 * A *parameter* has choices, each with a label (for tables) and a text (for the command). A *point* is one choice
 * of each parameter. A *job* is one point with one seed: one run of the command. A *result* is a number, or a list
 * of numbers, of a job's output.
 */
#ifndef WEFT_EXPERIMENT_H
#define WEFT_EXPERIMENT_H

#include "base/vec.h"
#include "experiment/expression.h"

enum { EXPERIMENT_JOBS_MOST = 100000, EXPERIMENT_PARAMS_MOST = 16, EXPERIMENT_RESULTS_MOST = 64 };

struct experiment_choice {
	char *label, *text;
	bool quick; /* also in quick runs */
};

struct experiment_param {
	char *name;
	VEC(struct experiment_choice) choices;
};

/* Labels of some parameters: `{switches: 8, how: activation}`. choice[p] < 0: any. */
struct experiment_where {
	int choice[EXPERIMENT_PARAMS_MOST];
};

/* A text that depends on a parameter: {rate} is another one for each choice of `switches`. */
struct experiment_by {
	char *name;
	int param;
	size_t n;
	char **texts; /* by choice; NULL: none */
};

/* A column of a list of objects. */
struct experiment_heading {
	char *key, *title;
};

struct experiment_result {
	char *name, *title, *unit;
	char *text;	 /* the expression as written */
	struct expr *is; /* or NULL: */
	char *table;	 /* the path of a list of objects, shown as a table in reports */
	VEC(struct experiment_heading) columns; /* of the table; none: all keys */
	struct experiment_where where;		/* the points whose table reports show */
};

struct experiment_fabric {
	char *label, *text; /* "gen irregular 16 --hosts 14" or "file net.txt" */
	char *file; /* where it is written: the experiment's file, or one that several share */
	unsigned line, column; /* there */
};

/* A column of a source's table: the point it belongs to, beside what the row says, and the result. */
struct experiment_column {
	char *name, *title;
	struct experiment_where where;
	unsigned result;
};

struct experiment_reason {
	struct experiment_where where;
	char *why;
};

struct experiment_table {
	char *item, *title;
	char *csv;  /* the source's table as CSV text */
	char *file; /* where that text is from; the experiment's own file if it is written there */
	VEC(char *) key_columns; /* of the CSV, parallel to key_params */
	VEC(unsigned) key_params;
	VEC(struct experiment_column) columns;
	VEC(struct experiment_reason) reasons;
	struct experiment_where where; /* for parameters that neither rows nor columns state */
	double scale;		       /* theirs times this is in our unit */
	double tolerance;	       /* a share */
	bool counted;		       /* its cells are part of the scoreboard */
};

struct experiment_plot {
	char *item, *title, *note;
	int x_param;  /* numeric labels along x; -1: x_result, a list */
	int x_result; /* -1: none */
	int along; /* a parameter: x_result and y_result are numbers, one point for each choice; or -1 */
	unsigned y_result;
	char *x_title, *y_title;
	int series; /* a parameter, or -1 */
	int panels; /* a parameter: one chart for each of its choices, or -1 */
	struct experiment_where where;
	bool log_x, log_y;
};

struct experiment_trend {
	char *section, *says, *text;
	struct expr *holds;
	struct experiment_where where;
	char *why; /* why it does not hold here, if it does not; or NULL */
	unsigned line;
};

struct experiment {
	char *file, *dir; /* as opened; its directory */
	char *name, *source, *item, *claim, *notes;
	VEC(struct experiment_param) params;
	VEC(struct experiment_by) texts;
	VEC(struct experiment_where) except;
	struct experiment_where
		sampled; /* the points of ordinary runs; the others are those of full runs */
	bool has_full;	 /* there are others */
	VEC(uint64_t) seeds;
	unsigned quick_seeds; /* how many of them quick runs take */
	bool quick;	      /* part of quick runs */
	VEC(struct experiment_fabric) fabrics;
	char *fabric;	    /* template of a fabric's label; NULL: no fabric */
	VEC(char *) before; /* templates of weft commands that run first */
	char *run;	    /* template of the weft command; or NULL */
	char *shell;	    /* template of a shell command; or NULL */
	VEC(int) accept;    /* exit statuses that are no failure */
	unsigned run_line, run_column;
	unsigned fabric_line, fabric_column;
	VEC(struct experiment_result) results;
	VEC(struct experiment_table) tables;
	VEC(struct experiment_plot) plots;
	VEC(struct experiment_trend) trends;
	bool real_time; /* measures this machine: alone, and not the same everywhere */
};

/* All fabrics become this file: another network in the same experiment. */
void experiment_net(struct experiment *x, const char *file);

/* NULL with e set: "FILE:LINE:COLUMN: ...". */
struct experiment *experiment_read(const char *file, struct err *e);
struct experiment *experiment_parse(const char *file, const char *text, size_t len, struct err *e);
void experiment_free(struct experiment *x);

int experiment_param_find(const struct experiment *x, const char *name);
int experiment_choice_find(const struct experiment_param *p, const char *label);
int experiment_result_find(const struct experiment *x, const char *name);
const struct experiment_fabric *experiment_fabric_find(const struct experiment *x,
						       const char *label);

/* All experiments of a directory, in the order of their names. 0, or -errno with e. */
typedef VEC(struct experiment *) experiment_list;
int experiments_read(const char *dir, experiment_list *out, struct err *e);
void experiments_free(experiment_list *l);
struct experiment *experiment_named(const experiment_list *l, const char *name);

/* ---- points and jobs ---- */

struct experiment_point {
	uint8_t choice[EXPERIMENT_PARAMS_MOST];
};

/* What is run: all points or those of quick runs, less those that `only` leaves out. */
struct experiment_scope {
	bool quick;
	bool full; /* of experiments that sample: everything instead */
	bool any;  /* both: for reports */
	struct experiment_where only;
};
struct experiment_scope experiment_everything(void);

struct experiment_job {
	const struct experiment *experiment;
	struct experiment_point point;
	uint64_t seed;
	char *key;  /* experiment_key() */
	char *hash; /* 16 hex digits over all that defines the result */
};
typedef VEC(struct experiment_job) experiment_jobs;

/* Appends the jobs of x. 0, or -E2BIG with e. */
int experiment_jobs_add(const struct experiment *x, const struct experiment_scope *scope,
			experiment_jobs *jobs, struct err *e);
void experiment_jobs_free(experiment_jobs *jobs);
/* "switches=8 technique=none", with " seed=3" if there are several seeds; free it. */
char *experiment_key(const struct experiment *x, const struct experiment_point *p, uint64_t seed);
bool experiment_where_holds(const struct experiment *x, const struct experiment_where *w,
			    const struct experiment_point *p);

/* The text of this name at a point; NULL: there is none. */
const char *experiment_text_by(const struct experiment *x, const char *name,
			       const struct experiment_point *p);

/* A template with {name} replaced: parameters, texts, {seed}, {net}, {dir}. NULL with e: an unknown name. */
char *experiment_text(const struct experiment_job *j, const char *template, struct err *e);

#endif
