/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Default directories of sockets and state files: those that systemd gives a service, else the user's.
 *
 *	sockets: $RUNTIME_DIRECTORY, else /run/weft (root), $XDG_RUNTIME_DIR/weft or /tmp/weft-<uid>
 *	state:   $STATE_DIRECTORY, else /var/lib/weft (root), $XDG_STATE_HOME/weft or ~/.local/state/weft
 */
#ifndef WEFT_DEFAULT_PATHS_H
#define WEFT_DEFAULT_PATHS_H

#include "base/base.h"

/* The path of `file` in that directory; creates the directory (mode 0700). 0 or -errno with e filled:
 * -EPERM for a directory in /tmp that another user owns. */
int paths_runtime(char *path, size_t size, const char *file, struct err *e);
int paths_state(char *path, size_t size, const char *file, struct err *e);

/* The i-th directory in which a client looks for a socket, nearest first; false: there are no more.
 * $RUNTIME_DIRECTORY excludes all others. Creates nothing. */
bool paths_runtime_at(unsigned i, char *dir, size_t size);

#endif
