/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives up what the daemon does not need before it reads the first byte from the fabric or from a client:
 * all capabilities, the right to gain others (no_new_privs), files that are not its own (Landlock), and
 * system calls that it does not make (seccomp). docs/security.md says why these. Child processes and threads
 * inherit it all; there is no way back.
 */
#ifndef WEFT_SANDBOX_H
#define WEFT_SANDBOX_H

#include "base/base.h"

enum sandbox_wanted { SANDBOX_OFF, SANDBOX_AUTO, SANDBOX_REQUIRED }; /* as in settings_table.c */

enum sandbox_part { SANDBOX_PRIVILEGES, SANDBOX_FILES, SANDBOX_CALLS, SANDBOX_PARTS };

struct sandbox_result {
	char missing[SANDBOX_PARTS][96]; /* why a part is not in force; "": it is */
};

extern const char *const sandbox_part_names[SANDBOX_PARTS]; /* for messages */

/* Directories and files below which the daemon may work from now on. Paths need not exist. */
struct sandbox_paths {
	const char *write[8], *read[40]; /* these end with NULL; "" is skipped */
};

/* Before libuv makes its loop: rings of io_uring, by which calls pass the filter of calls, cannot be made. From 1.49 on libuv uses one for
 * epoll whatever $UV_USE_IO_URING says, and would abort when the filter refuses it later. -errno: it makes no difference before that version. */
int sandbox_rings_refuse(void);

/* Call it while there is one thread. A part that is not available is named in r; all others are in force. */
void sandbox_enter(const struct sandbox_paths *p, struct sandbox_result *r);

/* The parts, each for itself: 0 or -errno with e filled. */
int sandbox_privileges_drop(struct err *e);
int sandbox_files_limit(const struct sandbox_paths *p, struct err *e);
int sandbox_calls_limit(struct err *e);

#endif
