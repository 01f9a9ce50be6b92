/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon enters the sandbox: which files are its own, and what the log says.
 */
#ifndef WEFT_DAEMON_SANDBOX_H
#define WEFT_DAEMON_SANDBOX_H

#include "run/daemon.h"

/* Before the loop is made. */
void run_daemon_sandbox_prepare(const struct run_daemon *d);
/* As the settings say; the log has what is not available. -EPERM with e filled: it is required. */
int run_daemon_sandbox(struct run_daemon *d, struct err *e);

#endif
