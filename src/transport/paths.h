/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where sockets and files go when nobody said: what systemd gives a service, else what a user has.
 *
 *	sockets: $RUNTIME_DIRECTORY, else /run/weft (root), $XDG_RUNTIME_DIR/weft or /tmp/weft-<uid>
 *	state:   $STATE_DIRECTORY, else /var/lib/weft (root), $XDG_STATE_HOME/weft or ~/.local/state/weft
 */
#ifndef WEFT_PATHS_H
#define WEFT_PATHS_H

#include "base/base.h"

/* The path of `file` in that directory, which is made (mode 0700) when it is not there. One in /tmp
 * that belongs to somebody else is refused. 0 or -errno with e filled. */
int paths_runtime(char *path, size_t size, const char *file, struct err *e);
int paths_state(char *path, size_t size, const char *file, struct err *e);

/* For whoever looks for a socket: the i-th directory where one may be, nearest first; false: no more.
 * $RUNTIME_DIRECTORY leaves no other. Nothing is made. */
bool paths_runtime_at(unsigned i, char *dir, size_t size);

#endif
