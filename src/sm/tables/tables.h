/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables: what each switch holds, as far as acknowledged Sets tell, and the parts that change it:
 * configuration, deactivation, forwarding tables, turns, activation and read-back.
 *
 * Keeps: forwarding tables by switch GUID, turns that are disabled, Sets that may have been carried out
 * twice. Promises: what is known of a switch is what it acknowledged.
 */
#ifndef WEFT_SM_TABLES_H
#define WEFT_SM_TABLES_H

#include "sm/topology/topology.h"

/*
 * What a switch is known to hold: the linear table as acknowledged, block by block, and its rank in
 * the up/down graph of that table. Kept by GUID, so that it outlives discoveries.
 */
struct sm_row {
	uint64_t guid, rank; /* UINT64_MAX: none */
	uint32_t nblocks;
	uint8_t *lft;
	uint8_t *known;	    /* by block: 0, or audit.generation when it was set */
	bool fresh;	    /* it was off, and empty: what is not known is not there */
	struct sm_rft *rft; /* instead of a linear table; see random_tables.h. NULL: has one */
	uint32_t noff;	    /* turns of it in dev.off */
};

struct sm_turn_off {
	uint64_t guid;
	uint32_t serial; /* grows along dev.off */
	uint8_t in, out;
	bool sure; /* acknowledged; until then it may be off or not */
};

struct sm_device_tables {
	VEC(struct sm_row) rows;
	struct map64 row_by_guid;
	VEC(struct sm_turn_off)
	off;		     /* turns that are mapped to VL15; changed by disabled_turns.c only */
	struct map64 off_by; /* from row, in and out to the serial in off */
	uint32_t off_serial; /* the next */
	rt_turns turns;	     /* those the running technique switches off */
	VEC(uint32_t) rft_todo; /* switches whose random tables are being sent */
	uint32_t rft_turn;
	struct sm_waves *waves; /* while tables are sent from the destinations outwards */
};

struct sm_auditing {
	bool trouble; /* a Set was carried out twice, or may be */
	bool copies;  /* of Sets were sent or seen: more may come unseen */
	bool rewrote; /* blocks were set twice not long ago: a late copy may undo the second */
	bool mending; /* the audit found other tables than were set: those alone are sent again */
	uint8_t generation; /* of the round, 1..255 and again */
	time_ps due;
};

/* switch_tables.c */
uint32_t sm_row_find(struct sm *sm, uint64_t guid); /* made when there is none */
void sm_row_forget(struct sm *sm, uint32_t row);
void sm_row_restarted(struct sm *sm, uint32_t row); /* the switch was off: nothing set is left */
const uint8_t *sm_row_block(const struct sm *sm, uint32_t row,
			    uint32_t block); /* NULL: not known */
void sm_row_set(struct sm *sm, uint32_t row, uint32_t block, const uint8_t *data);
void sm_row_found(struct sm *sm, uint32_t row, uint32_t block,
		  const uint8_t *data); /* not set: read */
void sm_row_unknown(struct sm *sm, uint32_t row, uint32_t block);
bool sm_rows_in_doubt(const struct sm *sm);	/* a switch may hold entries that are not known */
void sm_row_blank(struct sm *sm, uint32_t row); /* no block is known, but its rank */
uint8_t *sm_row_whole(struct sm *sm, uint32_t row, uint32_t nblocks); /* all known: to be filled */
void sm_row_entry(struct sm *sm, uint32_t row, uint16_t lid,
		  uint8_t port); /* if its block is known */
struct rt_tables *sm_rows_tables(const struct sm *sm);
void sm_rows_doubt(struct sm *sm); /* no block of any switch is known */
void sm_rows_free(struct sm *sm);

/* distribution.c */
void sm_cursor_begin(struct sm *sm);
bool sm_block_next(struct sm *sm, uint32_t *sw, uint32_t *block); /* by the cursor, all of them */
bool sm_unknown_block_next(struct sm *sm, struct sm_req *r);
uint32_t
sm_link_port_next(struct sm *sm); /* by the cursor: the next port with a link; NONE: no more */
void sm_blocks_begin(struct sm *sm);
bool sm_blocks_next(struct sm *sm, struct sm_req *r);
void sm_blocks_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_tables_done(struct sm *sm);
bool sm_differences_only(const struct sm *sm); /* blocks that are there are not sent */
void sm_port_order(struct sm *sm, uint32_t port, enum iba_port_state st, enum sm_purpose purpose,
		   struct sm_req *r);
void sm_port_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data);

/* device_config.c */
bool sm_top_serves(const struct sm *sm,
		   const struct iba_switch_info *si); /* LinearFDBTop may stay */
unsigned sm_port_vls(const struct sm *sm, uint32_t port);
void sm_slvl_make(struct sm *sm, uint32_t node, unsigned in, unsigned out, enum sm_purpose purpose,
		  struct sm_req *r);

/* disabled_turns.c; SIZE_MAX: it is not off */
size_t sm_off_find(const struct sm *sm, uint64_t guid, unsigned in, unsigned out);
bool sm_off_any(const struct sm *sm, uint64_t guid); /* of that switch */
/* One that is there stays as it is. */
size_t sm_off_add(struct sm *sm, uint64_t guid, unsigned in, unsigned out, bool sure);
void sm_off_remove(struct sm *sm, size_t at);
void sm_off_clear(struct sm *sm);
void sm_off_doubt(struct sm *sm, uint32_t row);

/* turn_updates.c */
bool sm_turn_as_set(struct sm *sm, size_t turn, const uint8_t *data);

/* outward_updates.c */
void sm_waves_free(struct sm *sm);

#endif
