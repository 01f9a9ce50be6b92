/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SM's inside: the topology database, the transaction table, and the parts as the thesis names
 * them (4.3.4). Each phase belongs to one part; a part is an entry in a table of functions.
 */
#ifndef WEFT_SM_PRIV_H
#define WEFT_SM_PRIV_H

#include "sm/sm.h"

#define NONE UINT32_MAX

/* ---- topology database: what discovery learnt ---- */

/* A directed route from the SM's port, or from a switch the SM reaches by LID (DrSLID). */
struct sm_path {
	uint32_t at; /* into sm->hops */
	uint8_t n;
	uint16_t via; /* LID of the switch where the directed part begins; 0: at the SM's port */
	uint16_t distance; /* in links, the LID-routed part included */
};			   /* via without hops: LID-routed throughout */

struct sm_node {
	uint64_t guid, sys_guid;
	uint32_t first_port;
	uint32_t vendor_id;
	uint16_t device_id;
	uint8_t type, nports;
	struct sm_path path; /* to a switch; endports are reached by their own */
	uint16_t ports_left; /* PortInfos still to come */
	bool has_si;
	bool waits; /* contest: its port 0 is read first */
	bool ports_asked;
	bool uncleared;	 /* contest: ports were read while PortStateChange was set */
	bool gone;	 /* was there once */
	uint32_t polled; /* epoch in which partial discovery last asked it for changes */
	uint32_t told;	 /* epoch in which its trap came */
	uint8_t tries;	 /* new routes tried in this epoch */
	bool unread;	 /* told of a change, and its ports were not all read since */
	bool explained;	 /* a port that went down or came up is why */
	bool found;	 /* and what it told of was seen */
	bool doubt;	 /* it may have been off: SwitchInfo was set while it told of a change */
	uint8_t reads_left;
	bool silent;	/* did not answer by the route it was last asked by */
	bool unchanged; /* since what is remembered of it: see recall.c */
	bool markless;	/* does not keep the mark of turns that are off: see found.c */
	uint32_t row;	/* of a switch: into sm->rows */
	node_id fab;	/* in the snapshot, or FAB_NONE */
	struct iba_switch_info si;
};

struct sm_port {
	struct iba_port_info pi;
	uint64_t guid;
	uint32_t node, peer;
	uint32_t met;	     /* epoch in which the link to peer was last seen */
	struct sm_path path; /* endports only */
	uint8_t num;
	bool asked;	/* PortInfo was asked for */
	bool known;	/* and came */
	bool has_lid;	/* its LID was set and confirmed */
	bool by_lid;	/* endports: the tables in the switches lead there and back */
	bool ordered;	/* its state was, and the answer is not there yet */
	bool in_doubt;	/* the other end was stopped: it is to be looked at before it is armed */
	uint8_t mark;	/* endports: enum sm_mark, during partial discovery */
	uint8_t set_in; /* sm->generation when its state was last ordered */
};

/* Thesis 5.4.3: every switch is waited for, then reachable or missing. */
enum sm_mark { SM_REACHABLE, SM_WAITING, SM_MISSING };

/*
 * What a switch is known to hold: the linear table as acknowledged, block by block, and its rank in
 * the up/down graph of that table. Kept by GUID, so that it outlives discoveries.
 */
struct sm_row {
	uint64_t guid, rank; /* UINT64_MAX: none */
	uint32_t nblocks;
	uint8_t *lft;
	uint8_t *known;	    /* by block: 0, or sm->generation when it was set */
	bool fresh;	    /* it was off, and empty: what is not known is not there */
	struct sm_rft *rft; /* instead of a linear table; see rft.h. NULL: has one */
	uint32_t noff;	    /* turns of it in sm->off */
};

/* A switch's end of a link, for damping. */
struct sm_end {
	uint64_t guid, peer; /* of its switch; of who was behind it last, 0: never anybody */
	uint32_t far;	     /* the link's other end; NONE: not known, or not of a switch */
	uint8_t num, nports;
	uint8_t state; /* when full discovery forgot it; IBA_PORT_NO_CHANGE: not known */
	bool held, noted;
	uint8_t next;  /* into when: the oldest */
	time_ps *when; /* of the last cfg.flaps changes, NULL: there was none */
	time_ps last;
};

struct sm_damp {
	VEC(struct sm_end) ends;
	struct map64 by_guid; /* the first end of a switch, those of its ports follow */
	VEC(uint32_t) held;   /* in the order in which they were */
};

struct sm_turn_off {
	uint64_t guid;
	uint32_t serial; /* grows along sm->off */
	uint8_t in, out;
	bool sure; /* acknowledged; until then it may be off or not */
};

enum { SM_NAME_SIZE = IBA_SMP_DATA_SIZE + 1 };

struct sm_name {
	uint64_t guid;
	char text[SM_NAME_SIZE];
	bool known; /* it came, if only once */
	bool asked; /* and nothing happened since that would make it another one */
	bool answered;
	uint32_t given_up; /* rounds by then; it is asked again after the next */
};

struct sm_other {      /* another SM */
	uint64_t guid; /* of its port */
	uint32_t port;
	uint8_t priority, state;
};

struct sm_polled { /* the one a standby SM asks */
	uint64_t guid;
	uint32_t port; /* NONE: by its LID */
	uint16_t lid;
};

struct sm_lid {
	uint64_t guid;
	uint32_t epoch; /* when it was last seen */
	uint16_t lid;
	uint8_t lmc;
};

enum sm_work_kind {
	W_NODE_INFO,
	W_SWITCH_INFO,
	W_CLEAR_CHANGE,
	W_PORT_INFO,
	W_SET_LID,
	W_TABLE,      /* a block of the linear table a switch was found with */
	W_TURN,	      /* an SL-to-VL table: is that turn off? */
	W_SM_INFO,    /* who is the SM at this port? */
	W_PORT_CHECK, /* did it change before PortStateChange could be cleared? */
	/* partial discovery, of switches that are known: */
	W_POLL, /* SwitchInfo: did a port change? */
	W_CLEAR_KNOWN,
	W_PORT_STATE, /* PortInfo: did this one? */
	W_PORT_AGAIN, /* the same, of one port alone */
	W_PORT_PEEK,  /* only a look whether it is dead: see guess.c */
};

struct sm_work {
	enum sm_work_kind kind;
	uint32_t
		ref; /* node or port, by kind; W_NODE_INFO: the port that leads there, NONE: local */
	uint32_t which; /* block, or turn as the attribute modifier has it */
};

/* ---- requests ---- */

/* A part describes what it wants to send; the dispatcher makes it an SMP. */
struct sm_req {
	enum iba_method method;
	uint16_t attr_id;
	uint32_t attr_mod;
	enum sm_purpose purpose;
	struct sm_path path;
	uint8_t extra_hop; /* one more port behind the path; 0: none */
	bool keyed;	   /* m_key instead of cfg.m_key */
	uint64_t m_key;
	uint16_t lid;	    /* not 0: LID-routed instead */
	uint32_t kind, ref; /* the part's own marks, given back with the response */
	uint8_t data[IBA_SMP_DATA_SIZE];
};

struct sm_memory; /* memory.h */

struct sm_txn {
	bool used;
	uint16_t gen;
	uint8_t tries;
	enum sm_purpose purpose;
	uint16_t attr_id;
	enum iba_method method;
	uint32_t kind, ref;
	time_ps deadline;
	struct sm_send send;
};

/* What a request for routes points to beside the snapshot: it must outlive the request. */
struct sm_task {
	struct fab *fab;       /* one made for it; NULL: the SM's own */
	struct rt_tables *old; /* what is in the switches */
	uint64_t *old_rank;
	rt_turns off;
	struct rt_before before;
};

/* Whoever computes may still look at it: freed when that request is answered. */
struct sm_retired {
	uint32_t until; /* its id */
	void (*free)(void *p);
	void *p;
};

/* What a phase does. A function that is not there means nothing to do. */
struct sm_part {
	void (*begin)(struct sm *sm);
	bool (*next)(struct sm *sm,
		     struct sm_req *r); /* the next request, or false: none for now */
	void (*recv)(struct sm *sm, const struct sm_txn *t, const uint8_t *data); /* status was 0 */
	void (*fail)(struct sm *sm, const struct sm_txn *t); /* silence, or a bad status */
	void (*done)(struct sm *sm); /* nothing to send, nothing outstanding */
};

struct sm {
	struct sm_config cfg;
	struct sm_config wanted; /* from the end of the round on */
	bool has_wanted;
	time_ps now;
	struct sm_actions *out; /* during sm_step only */

	/* dispatcher */
	enum sm_phase phase;
	time_ps phase_since;
	struct sm_txn *txns; /* cfg.window of them */
	uint32_t *txn_free;
	uint32_t nfree, noutstanding;
	time_ps next_deadline; /* not later than the earliest */
	time_ps next_sweep, retry_at, audit_at, backoff_ps;
	bool begin_again; /* the phase was just entered */
	bool change_pending;
	enum sm_cause pending_cause;
	bool trouble;	    /* a Set was carried out twice, or may be */
	uint8_t generation; /* of the round, 1..255 and again */
	bool copies;	    /* of Sets were sent or seen: more may come unseen */
	bool rewrote; /* blocks were set twice not long ago: a late copy may undo the second */
	bool mending; /* the audit found other tables than were set: those alone are sent again */
	bool incomplete;    /* what was discovered is not all configured, routed and active yet */
	time_ps hold_until; /* the running phase waits; 0: it does not */

	/* topology */
	uint32_t epoch;
	VEC(struct sm_node) nodes;
	VEC(struct sm_port) ports;
	VEC(uint8_t) hops;
	struct map64 by_guid;
	VEC(struct sm_work) work;
	size_t work_head;
	bool dirty;  /* this discovery does not show the subnet as it is */
	bool unseen; /* an earlier one did not, and only a full discovery can tell what is there */
	bool full_needed; /* what is known cannot be built upon */
	bool partial;	  /* the running discovery is one */
	bool changed;	  /* it found something new */
	bool grown;	  /* it explores something that came up */
	bool guessed;	  /* it ended before all was known */
	bool taking_over; /* the first round, on a fabric that somebody may have managed before */
	bool all_met;	  /* then: no more LIDs can turn up */
	bool found_old;	  /* and tables were found: they stay if they serve */
	bool in_vain;	  /* the last one found nothing: sweeps keep their time */
	bool read_ports;  /* partial: somebody told of a change when asked */
	bool worked;	  /* the round went beyond discovery */
	VEC(uint32_t)
	suspects;	   /* nodes that told of a change, or failed, since the last discovery */
	unsigned max_hops; /* longest distance */
	unsigned max_resp; /* largest RespTimeValue seen */
	uint32_t restarts;
	VEC(uint64_t) shunned; /* GUIDs of devices that refused again and again: left out for now */
	struct sm_damp damp;

	/* several SMs */
	enum iba_sm_state state;
	VEC(struct sm_other) others;
	VEC(uint32_t) sm_ports; /* ports that say there is an SM, to be asked in spare time */
	struct sm_polled polled;
	time_ps poll_at;
	unsigned misses;
	uint64_t yield_to;	  /* GUID of the SM that is to be master; 0: none */
	bool rival;		  /* another one discovered while this one did */
	struct sm_memory *memory; /* of an earlier SM, for the first discovery; NULL: none */
	bool arriving; /* no round has come to its end since the start, or since it stood by */

	/* M_Keys: of devices that do not have cfg.m_key */
	VEC(uint64_t) keys;
	struct map64 key_by_guid; /* of the port that is guarded */
	uint64_t key_hint;	  /* what opened the last device */

	/* names: kept by GUID */
	VEC(struct sm_name) names;
	struct map64 name_by_guid;
	uint32_t names_at; /* node of the snapshot to look at next */

	/* LIDs: kept for good */
	VEC(struct sm_lid) lids;
	struct map64 lid_by_guid;
	uint8_t lid_used[IBA_LID_MAX_UNICAST + 1];
	uint8_t lid_routed[IBA_LID_MAX_UNICAST + 1]; /* the tables in the switches lead there */
	bool far;				     /* discovery stopped at 63 hops somewhere */
	uint32_t far_nodes;			     /* nodes known when it last did */
	uint32_t lid_next[8];			     /* by LMC, where to look on */
	uint16_t own_lid;
	uint8_t subnet_timeout;
	VEC(uint32_t) held; /* ports to get a LID once the SM's own is known */

	/* snapshot and tables in force or on their way */
	struct fab *fab;
	uint16_t top_lid;  /* of the snapshot */
	uint32_t *node_of; /* fab node -> sm node */
	struct rt_tables *tables;
	uint64_t *rank; /* of tables, by switch; NULL: not told */
	bool ranked;	/* the rank came with the tables, and they obey it */
	struct rt_plan plan;
	enum sm_stage stage;
	bool staged;	      /* provisional tables came first in this round */
	bool settled;	      /* and are as good as final ones */
	uint32_t compute_id;  /* of the last request for routes */
	uint16_t ready;	      /* LIDs up to this are computed */
	struct fab *prev_fab; /* the last snapshot whose tables were all in force, and those */
	struct rt_tables *prev_tables;
	uint64_t *prev_rank;
	struct sm_task *task; /* of the last request of a round; NULL: none */
	uint32_t answered;    /* the last request that was */
	VEC(struct sm_retired) retired;
	VEC(struct sm_row) rows;
	struct map64 row_by_guid;
	VEC(struct sm_turn_off) off; /* turns that are mapped to VL15; changed by turns.c only */
	struct map64 off_by;	     /* from row, in and out to the serial in off */
	uint32_t off_serial;	     /* the next */
	rt_turns turns;		     /* those the running technique switches off */
	struct sm_ahead *ahead;	     /* repairs thought out; NULL: none */
	VEC(uint32_t) rft_todo;	     /* switches whose random tables are being sent */
	uint32_t rft_turn;
	struct sm_waves *waves; /* while tables are sent from the destinations outwards */

	/* where the running phase stands */
	uint32_t cur_node, cur_step, cur_in;
	uint32_t sweep_clear; /* the switch whose PortStateChange is being cleared, NONE */
	struct iba_switch_info sweep_si;
	time_ps sweep_start, sweep_duration;

	/* counts */
	struct sm_status st;
	uint64_t mark[SM_NPURPOSES]; /* smps when this round began */
	struct sm_round round;
};

extern const struct sm_part sm_part_discover, sm_part_partial, sm_part_configure, sm_part_compute,
	sm_part_deactivate, sm_part_join, sm_part_break_ports, sm_part_turns_off, sm_part_blocks,
	sm_part_waves, sm_part_planned, sm_part_restore, sm_part_arm, sm_part_activate,
	sm_part_audit, sm_part_ready, sm_part_sweep, sm_part_standby;

/* phases.c */
void sm_phase_set(struct sm *sm, enum sm_phase to);
void sm_phase_slide(struct sm *sm, enum sm_phase to); /* the same part goes on in another phase */
const struct sm_part *sm_part_now(const struct sm *sm);
const struct sm_technique *sm_technique_now(const struct sm *sm);
void sm_round_begin(struct sm *sm, enum sm_cause cause, uint64_t who);
void sm_change(struct sm *sm, enum sm_cause cause, uint64_t who); /* go and look again */

/* notes.c */
void sm_note(struct sm *sm, enum sm_note_kind k, uint64_t a, uint64_t b);

/* found.c */
void sm_found_begin(struct sm *sm);
void sm_found_switch(struct sm *sm, uint32_t node); /* its port 0 is known */
void sm_found_ports(struct sm *sm, uint32_t node);  /* all of them are */
void sm_found_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data);
void sm_found_turn(struct sm *sm, uint32_t node, uint32_t turn, const uint8_t *data);
bool sm_lid_must_wait(struct sm *sm, const struct sm_port *p, unsigned lmc);
uint8_t sm_subnet_timeout_of(const struct sm *sm, uint32_t node); /* with a mark if turns are off */
uint8_t sm_subnet_timeout_found(const struct sm *sm, uint8_t wanted);
bool sm_mark_make(struct sm *sm, uint32_t node,
		  struct sm_req *r); /* false: it is as it should be */

/* keys.c */
unsigned sm_key_count(const struct sm *sm);
uint64_t sm_key_next(const struct sm *sm, uint64_t now, unsigned tries);
uint64_t sm_key_of(const struct sm *sm, uint32_t port);
void sm_key_learnt(struct sm *sm, uint64_t port_guid, uint64_t key);
void sm_key_seen(struct sm *sm, uint32_t port);
void sm_key_answered(struct sm *sm, const struct sm_txn *t);
void sm_keys_changed(struct sm *sm, uint64_t old);

/* names.c */
void sm_names_begin(struct sm *sm);
bool sm_names_next(struct sm *sm, struct sm_req *r);
void sm_names_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_names_fail(struct sm *sm, const struct sm_txn *t);
void sm_name_ask_again(struct sm *sm, uint64_t guid);
void sm_name_recall(struct sm *sm, uint64_t guid, const uint8_t *text,
		    size_t len);				    /* as if it had come */
const char *sm_name_known(const struct sm *sm, uint64_t node_guid); /* NULL: it never came */
void sm_names_forget(struct sm *sm); /* all are to be asked for again */

/* recall.c */
bool sm_recall(struct sm *sm, struct sm_work w); /* true: answered, nothing is to be asked */
bool sm_recall_misleads(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
bool sm_recalls_turns(const struct sm *sm, uint32_t node);
void sm_recall_lost(struct sm *sm); /* and what it said of tables and names */
void sm_recall_end(struct sm *sm);

/* traps.c */
void sm_trap(struct sm *sm, const struct sm_event *ev);

/* dispatch.c */
void sm_pump(struct sm *sm); /* send what there is room for; go on where all is answered */
void sm_txn_response(struct sm *sm, const struct sm_event *ev);
void sm_txns_overdue(struct sm *sm);
void sm_txn_lost(struct sm *sm, const struct sm_event *ev);
/* Give up waiting for requests for which drop() says so. */
void sm_forget_some(struct sm *sm, bool (*drop)(const struct sm *sm, const struct sm_txn *t));
void sm_forget_outstanding(struct sm *sm);
void sm_transmit(struct sm *sm, const struct sm_req *r, uint64_t tid, struct sm_send *s);
time_ps sm_timeout(const struct sm *sm);
void sm_failed(struct sm *sm,
	       const struct sm_txn *t); /* a Set went wrong: note it and look again */

/* life.c */
void sm_config_settle(struct sm *sm); /* between rounds: take over what was wanted meanwhile */

/* retire.c: free these as soon as nobody can be looking at them; NULL is fine */
void sm_retire_fab(struct sm *sm, struct fab *f);
void sm_retire_tables(struct sm *sm, struct rt_tables *t);
void sm_retire_memory(struct sm *sm, void *p);
void sm_retire_task(struct sm *sm, struct sm_task *j);
void sm_retired_free(struct sm *sm, uint32_t answered); /* all up to this request */

/* sweep.c */
void sm_sweep_plan(struct sm *sm); /* when the next is due, counted from now */

/* requests.c */
void sm_req_port(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t port);
void sm_req_node(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t node, uint16_t attr_id, uint32_t attr_mod);
bool sm_is_endport(const struct sm *sm, const struct sm_port *p);
void sm_ask(struct sm *sm, enum sm_work_kind kind, uint32_t ref);
void sm_ask_for(struct sm *sm, enum sm_work_kind kind, uint32_t ref, uint32_t which);
bool sm_work_make(struct sm *sm, struct sm_work w, struct sm_req *r);
void sm_port_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi);
void sm_link_fill(struct sm *sm, const struct sm_port *p,
		  struct iba_port_info *pi);		    /* with its link's values */
bool sm_work_spared(const struct sm *sm, struct sm_work w); /* known since it was to be asked */
struct sm_path sm_path_longer(struct sm *sm, struct sm_path p, uint8_t port);
struct sm_path sm_path_through(const struct sm *sm,
			       const struct sm_port *p); /* what is behind a port */

/* address.c */
bool sm_is_own(const struct sm *sm, const struct sm_port *p); /* the port the SM sits on */
void sm_address_give(struct sm *sm, uint32_t port);
void sm_address_own(struct sm *sm, const struct sm_port *own);
void sm_address_set(struct sm *sm, uint32_t port, const uint8_t *data); /* the answer */
void sm_all_met(struct sm *sm); /* a discovery has nobody left to ask */

/* discover.c */
void sm_discover_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_discover_fail(struct sm *sm, const struct sm_txn *t);
void sm_discover_again(struct sm *sm);

/* damp.c. A port was read, and whether it is held: by partial discovery (was: its state before), by full. */
bool sm_damp_saw(struct sm *sm, uint32_t port, unsigned was);
bool sm_damp_found(struct sm *sm, uint32_t port);
void sm_damp_lost(struct sm *sm, uint32_t far); /* the other end of one that went down */
void sm_damp_unseen(struct sm *sm, uint32_t node);
void sm_damp_linked(struct sm *sm, uint32_t a, uint32_t b);
void sm_damp_remember(struct sm *sm);
bool sm_damp_holds(struct sm *sm, uint32_t port);
bool sm_damp_holds_end(const struct sm *sm, uint64_t guid, unsigned num);
uint32_t
sm_damp_relent(struct sm *sm); /* a port let go, to be explored: the only way to a switch; NONE */
void sm_damp_tell(struct sm *sm);	  /* notes for what was held since */
time_ps sm_damp_due(const struct sm *sm); /* when the next is to be released */
void sm_damp_release(struct sm *sm);
void sm_damp_reset(struct sm *sm); /* count anew: cfg.flaps is another number */
void sm_damp_time_back(struct sm *sm, time_ps by);
void sm_damp_free(struct sm *sm);

/* partial.c: a switch met by NodeInfo through a port that came up; and one that told of a change */
void sm_partial_met(struct sm *sm, uint32_t node, struct sm_path path);
void sm_partial_suspect(struct sm *sm, uint32_t node);
void sm_poll(struct sm *sm, uint32_t node);

/* missing.c */
bool sm_in_use(const struct sm *sm, uint32_t port);	/* an endport that was asked */
bool sm_is_missing(const struct sm *sm, uint32_t node); /* a switch */
uint32_t sm_work_node(const struct sm *sm, enum sm_work_kind kind, uint32_t ref);
bool sm_work_of_known(enum sm_work_kind kind); /* asked of switches that were known before */
uint32_t sm_node_by_lid(const struct sm *sm, uint16_t lid); /* a switch, or NONE */
void sm_miss(struct sm *sm, uint32_t endport);
void sm_miss_cut_off(struct sm *sm);
bool sm_unlink_port(struct sm *sm, uint32_t port); /* false: there was no link */
void sm_partial_moved(struct sm *sm, uint32_t endport);
void sm_partial_lost(struct sm *sm, uint32_t port); /* the link at this port is gone */
bool sm_reconnect(struct sm *sm);		    /* true: something is asked, or reached */
void sm_drop_lost(struct sm *sm);

/* paths.c */
bool sm_route_holds(const struct sm *sm,
		    uint32_t endport); /* SMPs come there and back, over the links known */
bool sm_route_home(const struct sm *sm, uint32_t node); /* from a switch to the SM */
struct sm_way {
	uint8_t hops[IBA_MAX_HOPS + 1], n;
	bool active; /* all of its links are */
};
/* For cfg.plain: a directed way to take instead of the LID-routed one, `more` hops of another to follow;
 * false, and w empty: the LID-routed one will do, or no other is known. */
bool sm_way_instead(const struct sm *sm, uint16_t lid, unsigned more, struct sm_way *w);
uint32_t sm_own_port(const struct sm *sm);
uint8_t *
sm_nodes_linked(const struct sm *sm); /* by node: do known links lead there? Caller frees */
void sm_paths_rebuild(struct sm *sm);

/* rows.c */
uint32_t sm_row_find(struct sm *sm, uint64_t guid); /* made when there is none */
void sm_row_forget(struct sm *sm, uint32_t row);
void sm_row_restarted(struct sm *sm, uint32_t row); /* the switch was off: nothing set is left */
const uint8_t *sm_row_block(const struct sm *sm, uint32_t row,
			    uint32_t block); /* NULL: not known */
void sm_row_set(struct sm *sm, uint32_t row, uint32_t block, const uint8_t *data);
void sm_row_found(struct sm *sm, uint32_t row, uint32_t block,
		  const uint8_t *data); /* not set: read */
void sm_row_unknown(struct sm *sm, uint32_t row, uint32_t block);
bool sm_rows_in_doubt(const struct sm *sm);	/* a switch may hold what nobody knows of */
void sm_row_blank(struct sm *sm, uint32_t row); /* no block is known, but its rank */
uint8_t *sm_row_whole(struct sm *sm, uint32_t row, uint32_t nblocks); /* all known: to be filled */
void sm_row_entry(struct sm *sm, uint32_t row, uint16_t lid,
		  uint8_t port); /* if its block is known */
struct rt_tables *sm_rows_tables(const struct sm *sm);
void sm_rows_doubt(struct sm *sm); /* no block of any switch is known */
void sm_rows_free(struct sm *sm);

/* distribute.c */
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

/* configure.c */
bool sm_top_serves(const struct sm *sm,
		   const struct iba_switch_info *si); /* LinearFDBTop may stay */
unsigned sm_port_vls(const struct sm *sm, uint32_t port);
void sm_slvl_make(struct sm *sm, uint32_t node, unsigned in, unsigned out, enum sm_purpose purpose,
		  struct sm_req *r);

/* turns.c; SIZE_MAX: it is not off */
size_t sm_off_find(const struct sm *sm, uint64_t guid, unsigned in, unsigned out);
bool sm_off_any(const struct sm *sm, uint64_t guid); /* of that switch */
/* One that is there stays as it is. */
size_t sm_off_add(struct sm *sm, uint64_t guid, unsigned in, unsigned out, bool sure);
void sm_off_remove(struct sm *sm, size_t at);
void sm_off_clear(struct sm *sm);
void sm_off_doubt(struct sm *sm, uint32_t row);

/* breaks.c */
bool sm_turn_as_set(struct sm *sm, size_t turn, const uint8_t *data);

/* guess.c */
bool sm_guess_possible(const struct sm *sm);
void sm_guess(struct sm *sm, uint32_t port);
bool sm_guess_switch(struct sm *sm,
		     uint32_t port); /* true: it is taken for dead, and discovery over */
void sm_guess_check(struct sm *sm);

/* ahead.c */
void sm_ahead_reset(struct sm *sm);
void sm_ahead_think(struct sm *sm);			  /* at rest: ask for the next */
bool sm_ahead_answer(struct sm *sm, struct sm_routes *r); /* true: it was one, and is taken over */
bool sm_ahead_recall(struct sm *sm, struct sm_routes *r);

/* build.c */
node_id sm_root_in(const struct sm *sm, const struct fab *f);
void sm_rank_ensure(struct sm *sm); /* the SM can do without being told the ranks */
void sm_routes_take(struct sm *sm, const struct sm_routes *r);
void sm_routes_in(struct sm *sm, const struct sm_event *ev);
void sm_routes_progress(struct sm *sm, const struct sm_event *ev);

/* waves.c */
void sm_waves_free(struct sm *sm);

/* lids.c */
bool sm_lid_free(const struct sm *sm, uint32_t lid,
		 unsigned lmc); /* nobody's, whether met or not */
bool sm_lid_claim(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported);
uint16_t sm_lid_give(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported);

/* snapshot.c */
void sm_snapshot_build(struct sm *sm);
bool sm_snapshot_stands(struct sm *sm); /* and serves on, for what was discovered anew */
void sm_snapshot_free(struct sm *sm);
void sm_snapshot_forget(struct sm *sm); /* the one before, too */

/* handover.c */
void sm_info_answer(struct sm *sm, const struct sm_event *ev);
void sm_info_make(const struct sm *sm, struct iba_sm_info *si);
void sm_state_set(struct sm *sm, enum iba_sm_state to);
bool sm_contest_open(const struct sm *sm); /* it is not decided who manages: nothing is to be set */
bool sm_is_managed(const struct sm *sm, const struct iba_port_info *pi); /* by another one */
void sm_other_heard(struct sm *sm, uint32_t port, const uint8_t *data);
void sm_stand_by(struct sm *sm, uint64_t guid, uint32_t port, uint16_t lid);
bool sm_yield_next(struct sm *sm, struct sm_req *r);
void sm_yielded(struct sm *sm, const struct sm_txn *t);

#endif
