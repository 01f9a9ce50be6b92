/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is recorded during a run under load, and the files it is written to. Files are opened before the
 * run, so that a file that cannot be written is reported at once; they get their names when it ends.
 */
#ifndef WEFT_LOAD_WATCH_H
#define WEFT_LOAD_WATCH_H

#include "cli/load_report.h"

struct load_wants {
	time_ps series; /* TIME_NEVER: none */
	bool levels, discards;
	const char *csv, *svg, *node_csv, *link_csv; /* NULL: none; need series */
};

struct load_watch {
	const struct load_wants *wants;
	struct load_report *r;
	struct sim *sim;
	struct file_out *csv, *svg, *nodes, *links;
	struct strbuf line;
};

int load_wants_check(const struct load_wants *w);
int load_wants_fit(const struct load_wants *w,
		   time_ps span); /* not too many samples in that time */
/* CLI_OK, or CLI_BAD after a message; call load_watch_end() in either case. */
int load_watch_start(struct load_watch *w, const struct load_wants *wants, struct load_report *r,
		     struct lab *l);
int load_watch_end(struct load_watch *w, bool good); /* not good: leaves no file */

#endif
