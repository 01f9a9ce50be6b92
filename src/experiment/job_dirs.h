/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories in which jobs run. All of one run are in $TMPDIR/weft-lab-XXXXXX, beside a locked file; the lock is
 * released when the run ends, by kill -9 as well, and the next run of the same user removes what it finds unlocked.
 */
#ifndef WEFT_JOB_DIRS_H
#define WEFT_JOB_DIRS_H

#include "base/base.h"

struct job_dirs;

/* Removes what runs left that were killed. keep: this run's directory stays. 0, or -errno with e. */
int job_dirs_open(bool keep, struct job_dirs **out, struct err *e);
void job_dirs_close(struct job_dirs *d); /* removes it; NULL: nothing */

/* A new empty directory; its path into buf. 0, or -errno with e. */
int job_dir_make(struct job_dirs *d, char *buf, size_t size, struct err *e);
void job_dir_remove(const char *path);

#endif
