/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's state of a subnet at rest, saved in a file beside the state database. A manager that
 * starts with a valid file needs almost no discovery. The file is marked invalid before the first Set is
 * sent, so that it never describes a subnet that has changed, not even after kill -9.
 */
#ifndef WEFT_SUBNET_STATE_FILE_H
#define WEFT_SUBNET_STATE_FILE_H

#include <uv.h>

#include "run/child_process.h"
#include "run/log.h"

/* Written by subnet_state_file.c alone. */
struct run_subnet_file {
	struct run_log *log;
	char path[264], fresh[272]; /* path "": nothing is saved; fresh: a file being written */
	struct sm *sm;		    /* NULL: there is none */
	int fd;			    /* of the file; -1: there is none */
	bool valid;		    /* the file describes the subnet as it is */
	bool stale;		    /* valid, but the manager knows more */
	bool set_sent;		    /* a Set was sent since the child started */
	bool closing;
	uv_timer_t timer;
	struct run_child child; /* writes `fresh` */
	uint64_t wrote_ns;
};

/* state: path of the state database; "": nothing is saved. */
void run_subnet_file_open(struct run_subnet_file *i, uv_loop_t *loop, struct run_log *log,
			  const char *state);
/* A new manager, before it starts. may_restore: give it the saved state if that is valid. */
void run_subnet_file_attach(struct run_subnet_file *i, struct sm *sm, bool may_restore);
void run_subnet_file_detach(struct run_subnet_file *i); /* the manager ends */
/* A Set is about to be sent, or discovery found something else than the file says. */
void run_subnet_file_invalidate(struct run_subnet_file *i);
/* The manager is at rest: save its state when it stays so. more: it knows more than the file. */
void run_subnet_file_save_soon(struct run_subnet_file *i, bool more);
/* Saves the state of a manager at rest, blocking. The loop must run once more before i is freed. */
void run_subnet_file_close(struct run_subnet_file *i);

#endif
