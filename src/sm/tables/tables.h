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
struct sm_block_sets {
	uint8_t last;  /* audit.generation of its last Set; 0: there was none */
	uint8_t again; /* audit.generation when it was last set again soon after an earlier Set */
};

/*
 * SL-to-VL tables of one switch, or of the ports of a host (input port 0). A table is 16 numbers of 4 bits, that of
 * SL 0 in the lowest.
 */
struct sm_maps {
	uint64_t guid;		    /* of the node */
	uint16_t width;		    /* ports and port 0 */
	uint64_t *map;		    /* [input port][output port] */
	bool *known;		    /* the same */
	struct sm_block_sets *sets; /* the same, whether it is known or not */
	uint8_t shared[32];	    /* by output port: its VL arbitration table was set */
};

struct sm_row {
	uint64_t guid, rank; /* UINT64_MAX: none */
	uint32_t nblocks;
	uint8_t *lft;
	uint8_t *known;		    /* by block: 0, or audit.generation when it was set */
	struct sm_block_sets *sets; /* by block, whether it is known or not */
	bool fresh;		    /* it restarted empty: a block that is not known is empty */
	bool lid_repeated; /* a Set with its LID was, since a port of it was seen Armed or Active */
	struct sm_rft *rft; /* instead of a linear table; see random_tables.h. NULL: has one */
	uint32_t noff;	    /* turns of it in dev.off */
	bool marked;	    /* as last acknowledged or read: shows that turns of it are disabled */
	uint8_t mapped
		[32]; /* by port: its pairs with others have SL-to-VL tables; with cfg.link_sets */
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
	rt_turns turns;	     /* those that the running technique disables */
	VEC(struct sm_maps) maps; /* known SL-to-VL tables; none without lanes */
	struct map64 maps_by;	  /* from node GUID */
	VEC(uint32_t) rft_todo;	  /* switches whose random tables are being sent */
	uint32_t rft_turn;
	struct sm_waves *waves; /* while tables are sent from the destinations outwards */
	time_ps drain_ps;	/* how long packets may live in this fabric */
	time_ps drained_at;	/* packets of routes before the present ones are gone */
	time_ps found_at;	/* tables of another manager may have changed until then */
	bool qos_unused; /* SL-to-VL tables are configured, and routes with lanes have their own */
	bool qos_unset;	 /* SL-to-VL tables of QoS waited for tables that tell whether they serve */
	uint64_t drain_effort; /* LIDs compared for the turns of the running distribution */
};

/* Where a phase stands, over the snapshot: ports with links, or blocks of switches. */
struct sm_cursor {
	uint32_t node, step;
};

/* What the running phase of distribution needs, and only it. Each part fills its own when it begins. */
union sm_running {
	struct {
		uint32_t node, step, item;
		bool cleared;  /* what a higher LinearFDBTop would bring back */
		bool detached; /* VFs that lose a LID have acknowledged */
		bool keyed;    /* P_Key tables are as they should be: VFs can be attached */
	} configure;
	struct {
		struct sm_cursor at;
	} deactivate;
	struct {
		uint32_t turn,
			mark; /* of dev.turns, and with restore of dev.off; switches to mark */
	} turns;
	struct {
		struct sm_cursor at;
		enum { JOIN_MAPS, JOIN_TABLES, JOIN_ARM, JOIN_CHECK, JOIN_ACTIVATE, JOIN_END } step;
		bool whole; /* tables may change in any order */
	} join;
	struct {
		struct sm_cursor at;
		enum {
			BLOCKS_DEAD,
			BLOCKS_OTHERS,
			BLOCKS_END
		} pass;	       /* what ends a loss goes first */
		uint32_t dflt; /* switches whose DefaultPort was set */
	} blocks;
	struct {
		struct sm_cursor at;
	} maps;
	struct {
		struct sm_cursor at;
		struct sm_cursor pair, map;
		enum { ARM_LOOK, ARM_SET } pass;
	} arm;
	struct {
		struct sm_cursor at;
		enum { ACTIVATE_SWITCHES, ACTIVATE_HOSTS } pass;
	} activate;
	struct {
		struct sm_cursor at;
		enum {
			AUDIT_DOUBTS,
			AUDIT_PORTS,
			AUDIT_BLOCKS,
			AUDIT_RANDOM,
			AUDIT_TURNS,
			AUDIT_MAPS,
			AUDIT_MFTS,
			AUDIT_END
		} what;
		bool all_settled; /* no copy can be under way any more */
	} audit;
};

/* Copies of a Set may be under way: whatever was set since, one may undo it. */
struct sm_doubt {
	struct sm_written what;
	time_ps until; /* no copy arrives any more */
	bool settled;  /* the running audit reads it after that */
};

struct sm_auditing {
	VEC(struct sm_doubt) doubts;
	struct map64 doubt_by; /* from a hash of what was written to its place in doubts */
	/*
	 * The subnet doubles SMPs of its own accord. Then a Set that was not repeated may have a copy too: what
	 * was set twice is read as well.
	 */
	bool doubling; /* it was seen to, at any time */
	bool all;      /* and what was set twice in this round is still to be read */
	time_ps all_until;
	bool rewrote; /* blocks were set twice not long ago: a late copy may undo the second */
	bool mending; /* the audit found a mismatch in tables: only those blocks are sent again */
	uint8_t generation; /* of the round, 1..255 and again */
	time_ps due;
};

/* switch_tables.c */
uint32_t sm_row_find(struct sm *sm, uint64_t guid); /* made when there is none */
void sm_row_forget(struct sm *sm, uint32_t row);
/* All ports of the switch were read in a full discovery; armed: one is Armed or Active. */
void sm_row_ports_read(struct sm *sm, uint32_t row, bool armed);
void sm_row_restarted(struct sm *sm, uint32_t row); /* the switch was off: nothing set is left */
const uint8_t *sm_row_block(const struct sm *sm, uint32_t row,
			    uint32_t block); /* NULL: not known */
/* Whether all blocks of these bytes are known and hold them. */
bool sm_row_holds(const struct sm *sm, uint32_t row, const uint8_t *lft, uint32_t len);
void sm_row_set(struct sm *sm, uint32_t row, uint32_t block, const uint8_t *data);
void sm_row_read(struct sm *sm, uint32_t row, uint32_t block,
		 const uint8_t *data); /* not set: read */
void sm_row_unknown(struct sm *sm, uint32_t row, uint32_t block);
bool sm_rows_in_doubt(const struct sm *sm); /* a switch may hold entries that are not known */
void sm_row_all_unknown(struct sm *sm, uint32_t row); /* no block is known, but its rank */
uint8_t *sm_row_whole(struct sm *sm, uint32_t row, uint32_t nblocks); /* all known: to be filled */
void sm_row_entry(struct sm *sm, uint32_t row, uint16_t lid,
		  uint8_t port); /* if its block is known */
struct rt_tables *sm_rows_tables(const struct sm *sm);
void sm_rows_unknown(struct sm *sm); /* no block of any switch is known */
void sm_rows_free(struct sm *sm);

/* distribution.c */
bool sm_block_next(struct sm *sm, struct sm_cursor *at, uint32_t *sw, uint32_t *block); /* all */
bool sm_unknown_block_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r);
uint32_t sm_link_port_next(struct sm *sm, struct sm_cursor *at); /* with a link; NONE: no more */
enum sm_outcome sm_blocks_begin(struct sm *sm);
bool sm_blocks_next(struct sm *sm, struct sm_req *r);
enum sm_outcome sm_blocks_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
enum sm_outcome sm_tables_done(struct sm *sm);
enum sm_outcome sm_activated(struct sm *sm); /* ports are Active, and multicast trees in place */
void sm_port_order(struct sm *sm, uint32_t port, enum iba_port_state st, enum sm_purpose purpose,
		   struct sm_req *r);
enum sm_outcome sm_port_take(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
bool sm_port_may_carry(const struct sm_port *p); /* packets may pass it, as far as is known */

/* device_config.c */
unsigned sm_port_vls(const struct sm *sm, uint32_t port);
void sm_vlarb_fill(const struct sm *sm, uint32_t port,
		   struct iba_vlarb_table *t); /* low priority, first half */
void sm_vlarb_make(struct sm *sm, uint32_t port, enum sm_purpose purpose, struct sm_req *r);
void sm_slvl_make(struct sm *sm, uint32_t node, unsigned in, unsigned out, enum sm_purpose purpose,
		  struct sm_req *r);

/* lane_maps.c */
bool sm_maps_serve(const struct sm *sm); /* tables have lanes, or had: SL-to-VL tables matter */
unsigned sm_lanes_most(const struct sm *sm, uint32_t *port); /* and the port that has the fewest */
bool sm_map_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r); /* that differs */
void sm_map_wanted(struct sm *sm, uint32_t node, unsigned in, unsigned out, uint8_t vl[RT_SLS]);

/* known_maps.c */
struct sm_maps *sm_maps_find(const struct sm *sm, uint64_t guid); /* NULL */
bool sm_map_known(const struct sm *sm, uint64_t guid, unsigned in, unsigned out, uint64_t *map);
void sm_map_acknowledged(struct sm *sm,
			 const struct sm_txn *t); /* a Set of tables or of VL arbitration */
void sm_map_read(struct sm *sm, uint32_t node, unsigned in, unsigned out, const uint8_t *data);
bool sm_map_as_set(struct sm *sm, uint32_t node, unsigned in, unsigned out, const uint8_t *data);
void sm_map_recall(struct sm *sm, uint32_t node, unsigned in, unsigned out,
		   uint64_t map); /* as it was before */
void sm_map_recall_shared(struct sm *sm, uint32_t node, const uint8_t *bits, unsigned bytes);
void sm_map_unknown(struct sm *sm, uint64_t guid, unsigned in, unsigned out);
void sm_maps_unknown(struct sm *sm, uint64_t guid);
/* A host whose port is read below Armed may have restarted, also if it is Armed before it is configured. */
void sm_maps_port_read(struct sm *sm, uint32_t port);
void sm_maps_of_hosts(struct sm *sm); /* those whose links came up may have restarted */
void sm_maps_all_unknown(struct sm *sm);
void sm_maps_free(struct sm *sm);
bool sm_maps_in_doubt(const struct sm *sm); /* one that carries packets may not be known */
void sm_maps_tell(const struct sm *sm, struct rt_tables *old); /* lanes of what switches hold */
uint64_t sm_map_pack(const uint8_t vl[RT_SLS]);
bool sm_map_is_off(const uint8_t vl[RT_SLS]); /* the turn is disabled */
bool sm_map_again_next(struct sm *sm, struct sm_cursor *at, uint32_t *node, uint32_t *turn);

/* qos_tables.c */
bool sm_qos_host_map(struct sm *sm, uint32_t port, struct sm_req *r);
bool sm_qos_vlarb(struct sm *sm, uint32_t port, unsigned block,
		  struct sm_req *r);	     /* block: 1 to 4 */
bool sm_qos_maps_serve(const struct sm *sm); /* no routes with lanes have their own */
void sm_qos_check(struct sm *sm); /* tables that are configured and not used are noted once */

/* link_settings.c */
bool sm_link_set_next(struct sm *sm, uint32_t node, uint32_t *num, struct sm_req *r);
bool sm_links_first(const struct sm *sm); /* whether the running distribution begins with them */
bool sm_pair_set_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r);

/* disabled_turns.c; SIZE_MAX: it is not off */
size_t sm_disabled_find(const struct sm *sm, uint64_t guid, unsigned in, unsigned out);
bool sm_disabled_any(const struct sm *sm, uint64_t guid); /* of that switch */
/* A turn that is disabled already stays as it is. */
size_t sm_disabled_add(struct sm *sm, uint64_t guid, unsigned in, unsigned out, bool sure);
void sm_disabled_remove(struct sm *sm, size_t at);
void sm_disabled_clear(struct sm *sm);
void sm_disabled_doubt(struct sm *sm, uint32_t row);
void sm_turns_mark(struct sm *sm, uint64_t guid); /* its mark was read, or acknowledged */

/* turn_updates.c */
bool sm_turn_as_set(struct sm *sm, struct sm_target turn, const uint8_t *data);

/* read_back.c: the audit */
void sm_audit_init(struct sm *sm);
void sm_audit_free(struct sm *sm);
void sm_audit_round(struct sm *sm); /* a round begins */
void sm_audit_never(struct sm *sm); /* none is due */
/* Copies of a Set may be carried out late, until then: see sm_copies_until(). */
void sm_audit_doubt(struct sm *sm, struct sm_written what, time_ps until);
void sm_audit_doubling(struct sm *sm, time_ps until); /* the subnet doubled an SMP */
bool sm_audit_open(const struct sm *sm);	      /* something is still to be read back */
void sm_audit_read(struct sm *sm); /* an audit ends: what it settled is not in doubt any more */
void sm_audit_forget(struct sm *sm);
void sm_audit_rewrote(struct sm *sm);
void sm_audit_mended(struct sm *sm); /* more than single blocks changes now */
void sm_audit_time_back(struct sm *sm, time_ps by);
bool sm_audit_wanted(struct sm *sm, time_ps until); /* at the end of a round */

/* tables_state.c */
void sm_tables_free(struct sm *sm);
void sm_tables_forget(struct sm *sm); /* another manager writes them from now on */
/* A Set was sent and not acknowledged: what the device holds is not known. */
void sm_port_set_in_round(struct sm *sm, uint32_t port); /* the audit reads it back */
void sm_set_unacknowledged(struct sm *sm, const struct sm_txn *t);

/* drain.c */
void sm_drain_measure(struct sm *sm);  /* a new snapshot, with links of other rates */
void sm_drain_found(struct sm *sm);    /* tables of another manager are about to be read */
void sm_drain_rerouted(struct sm *sm); /* entries changed under traffic */
void sm_drain_moved(struct sm *sm);    /* entries of VMs did, whatever the technique */
void sm_drain_begin(struct sm *sm);    /* turns are about to be disabled */
void sm_drain_turn_off(struct sm *sm, uint32_t node, unsigned in, unsigned out);
void sm_drain_wait(struct sm *sm); /* the running phase waits until former routes have drained */
void sm_drain_time_back(struct sm *sm, time_ps by);

/* outward_updates.c */
bool sm_any_order(const struct sm *sm); /* the plan in force holds for every order */
void sm_waves_free(struct sm *sm);

#endif
