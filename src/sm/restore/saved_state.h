/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet state that an earlier SM saved: saved_state.c reads and writes it, saved_answers.c
 * answers from it.
 */
#ifndef WEFT_SM_MEMORY_H
#define WEFT_SM_MEMORY_H

#include "sm/manager.h"

struct sm_saved_node {
	uint64_t guid, sys_guid;
	uint32_t vendor_id, first_port;
	uint32_t revision;
	uint16_t partition_cap;
	uint16_t device_id, nblocks;
	uint8_t type, nports, name_len;
	const uint8_t *name;		    /* no NUL behind it; NULL: not known */
	const uint8_t *si, *lft;	    /* of a switch */
	uint8_t vfs, sriov;		    /* of a hypervisor */
	uint32_t first_slot;		    /* slot 1 */
	const uint8_t *maps, *shared, *sls; /* see saved_lanes.c; NULL: none */
	const uint8_t *mft;		    /* see saved_trees.c */
	uint16_t nmft;
};

struct sm_saved_slot {
	uint16_t lid, has_lid; /* that it should have; that it had */
	uint64_t has_guid;
	bool known;
};

struct sm_saved_port {
	uint64_t guid, peer; /* of the node behind the cable; 0: none */
	uint8_t peer_num;
	const uint8_t *pi; /* PortInfo; NULL: was not known */
};

struct sm_saved_lid { /* of a port or a VM that is not in the snapshot */
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc;
};

struct sm_saved {
	uint8_t *bytes; /* what the others point into */
	VEC(struct sm_saved_node) nodes;
	VEC(struct sm_saved_port) ports;
	VEC(struct sm_saved_slot) slots;
	VEC(struct sm_vm) vms;
	VEC(struct sm_saved_lid) absent; /* of a mirror */
	bool turns;			 /* turns of marked switches were disabled */
	bool virtual;			 /* with slots and VMs */
	bool trees;			 /* with multicast tables */
	bool lanes;			 /* with SL-to-VL tables and service levels */
	uint32_t nrows;			 /* of service levels */
	uint16_t top_lid;		 /* in each */
	uint8_t nvls;
	VEC(const uint8_t *) rows;
	struct map64 by_guid;
	bool changed; /* a switch reports a change, or is not known */
	/* Of a mirror: PortInfo without keys, and the stamp that proves it; see mirror/mirror.h */
	bool mirrored;
	bool proven;	      /* the stamp was read */
	uint64_t stamp, guid; /* guid: of the switch that has it */
	uint32_t stamp_block;
};

struct sm_bytes {
	VEC(uint8_t) b;
};

struct sm_source {
	const uint8_t *p;
	size_t left;
	bool bad; /* it ended early, or holds invalid values */
};

/* Numbers are big-endian. */
void sm_bytes_put(struct sm_bytes *s, const void *p, size_t n);
void sm_bytes_put_n(struct sm_bytes *s, uint64_t v, unsigned bytes);
const uint8_t *sm_source_take(struct sm_source *s, size_t n); /* NULL: not enough bytes are left */
uint64_t sm_source_take_n(struct sm_source *s, unsigned bytes);

void sm_saved_free(struct sm_saved *m);
/* saved_vms.c: what there is of hypervisors and VMs. A state without any has the format that it had before these. */
bool sm_saved_is_virtual(const struct sm *sm);
void sm_save_host(const struct sm *sm, uint64_t guid, struct sm_bytes *s);
void sm_save_vms(const struct sm *sm, struct sm_bytes *s); /* that are at no host of the snapshot */
void sm_load_host(struct sm_source *s, struct sm_saved *m, struct sm_saved_node *n);
void sm_load_vms(struct sm_source *s, struct sm_saved *m);
void sm_saved_restore_vms(struct sm *sm, const struct sm_saved *m);
bool sm_saved_recall_vfs(const struct sm *sm, const struct sm_saved_node *n, uint32_t modifier,
			 uint8_t *data);
/* saved_lids.c: LIDs of hosts, VFs and VMs that are not there, for a mirror. */
bool sm_save_absent(const struct sm *sm, struct sm_bytes *s); /* false: there are none */
void sm_load_absent(struct sm_source *s, struct sm_saved *m);
void sm_saved_restore_lids(struct sm *sm, const struct sm_saved *m); /* these, and of all ports */
/*
 * saved_lanes.c: SL-to-VL tables and service levels, of managers whose engine uses lanes. What belongs to all nodes,
 * and to each.
 */
bool sm_saved_has_lanes(const struct sm *sm);
void sm_save_lanes(const struct sm *sm, struct sm_bytes *s);
void sm_save_lanes_of(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s);
void sm_load_lanes(struct sm_source *s, struct sm_saved *m);
void sm_load_lanes_of(struct sm_source *s, struct sm_saved *m, struct sm_saved_node *n);
bool sm_saved_lanes_whole(const struct sm_saved *m); /* every row of service levels was there */
/* saved_trees.c: multicast tables. */
bool sm_saved_has_trees(const struct sm *sm);
void sm_save_trees_of(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s);
void sm_load_trees_of(struct sm_source *s, struct sm_saved_node *n);
bool sm_saved_recall_mft(const struct sm_saved_node *n, uint32_t modifier, uint8_t *data);
/* Records for a mirror: what comes first, and each node; padded to whole pages. False: it cannot be saved. */
void sm_record_head(const struct sm *sm, struct sm_bytes *s);
bool sm_record_node(const struct sm *sm, uint32_t node, struct sm_bytes *s);
/* All records; takes bytes over. NULL: they are not such records, and bytes stay the caller's. */
struct sm_saved *sm_records_load(uint8_t *bytes, size_t len);
/* These records answer the next discovery, if the switch has the stamp. */
void sm_mirror_use(struct sm *sm, struct sm_saved *m, uint64_t stamp, uint64_t guid,
		   uint32_t stamp_block);
void sm_saved_seal(uint8_t *bytes, size_t len); /* the hash goes behind them: 8 bytes more */

#endif
