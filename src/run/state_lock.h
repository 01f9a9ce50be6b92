/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One manager for each state file: a lock on FILE.lock, which the kernel releases when the process ends,
 * however it ends. The file holds the process id of the holder; it stays when the lock is released.
 */
#ifndef WEFT_STATE_LOCK_H
#define WEFT_STATE_LOCK_H

#include "base/base.h"

/* *fd: close it to release the lock; -1 with 0: the disk is full, and there is no lock file. -EBUSY with
 * e filled: another process holds it. */
int state_lock_take(int *fd, const char *path, struct err *e);

#endif
