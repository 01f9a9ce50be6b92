/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saves LIDs, names and the M_Key in the state database, on a thread of libuv's pool: a slow or full disk
 * never delays the manager. Failed writes are logged once and repeated every 5 seconds.
 */
#ifndef WEFT_STATE_WRITER_H
#define WEFT_STATE_WRITER_H

#include <uv.h>

#include "base/map.h"
#include "base/vec.h"
#include "run/log.h"
#include "run/state_db.h"

struct run_state_item { /* a LID, a name, or a VM */
	uint64_t guid;
	char *name; /* NULL: a LID or a VM */
	struct state_vm *vm;
	bool vm_gone; /* the VM with this vGUID */
	uint16_t lid;
	uint8_t lmc;
};

/* Written by state_writer.c alone. */
struct run_state_writer {
	struct run_log *log;
	char path[256];			 /* "": nothing is saved */
	struct state_db *db;		 /* NULL: not opened yet, because the disk was full */
	VEC(struct run_state_item) lids; /* all that are known, for the next manager */
	struct map64 by_guid;		 /* GUID -> index in lids */
	VEC(struct state_vm) vms;	 /* the same; guid 0: it is destroyed */
	struct map64 vm_by_guid;	 /* vGUID -> index in vms */
	VEC(struct run_state_item) pending, writing;
	uint64_t m_key; /* to be saved with the next write; 0: none */
	uv_timer_t timer;
	uv_work_t work; /* while busy, the pool's thread alone uses writing, m_key and db */
	uint64_t added, taken,
		saved; /* items so far: to be saved, in the last write, saved or given up */
	void (*on_saved)(void *ctx); /* after a write; may be NULL */
	void *on_saved_ctx;
	bool busy, soon, failed, closing;
	bool again;		  /* the file was found damaged: save all LIDs in the new one */
	struct state_found found; /* by the last opening of the file */
	struct err e;		  /* of the last write */
	int rc;
};

/* Loads LIDs, and adds M_Keys from the file to those of cfg. 0 or -errno with e filled; a full disk or a
 * damaged file is not an error. */
int run_state_writer_open(struct run_state_writer *k, uv_loop_t *loop, struct run_log *log,
			  const char *path, struct sm_config *cfg, struct err *e);
/* Saved within 50 ms. */
void run_state_writer_add_lid(struct run_state_writer *k, uint64_t guid, uint16_t lid, uint8_t lmc);
void run_state_writer_add_name(struct run_state_writer *k, uint64_t guid, const char *name);
void run_state_writer_add_vm(struct run_state_writer *k, const struct sm_vm *v);
void run_state_writer_drop_vm(struct run_state_writer *k, uint64_t guid);
/* Items so far, and those of them that are saved: all, where nothing is saved or the disk is full. */
uint64_t run_state_writer_added(const struct run_state_writer *k);
uint64_t run_state_writer_saved(const struct run_state_writer *k);
void run_state_writer_flush(struct run_state_writer *k); /* now, or when the present write ends */
/* Gives all known LIDs to a new manager. */
void run_state_writer_seed(const struct run_state_writer *k, struct sm *sm);
/* And all VMs that it does not know from its saved state. */
void run_state_writer_seed_vms(const struct run_state_writer *k, struct sm *sm);
/* Saves the rest, blocking. The loop must run once more before k is freed. */
void run_state_writer_close(struct run_state_writer *k);

#endif
