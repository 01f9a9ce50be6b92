/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The core: the step from event to actions, the phase, the round, transactions and notes.
 *
 * Keeps: the time of the running step, the phase and since when, the running round, the counters that
 * sm_status() shows. Promises: a part is called only in its phase; a response reaches only the part that
 * asked; a Set that was not acknowledged is reported to the tables it was for.
 */
#ifndef WEFT_SM_CORE_H
#define WEFT_SM_CORE_H

#include "sm/sm.h"

#define NONE UINT32_MAX

/* A directed route from the SM's port, or from a switch that the SM reaches by LID (DrSLID). Without
 * hops and with via: LID-routed throughout. */
struct sm_path {
	uint32_t at; /* into topo.hops */
	uint8_t n;
	uint16_t via; /* LID of the switch where the directed part begins; 0: at the SM's port */
	uint16_t distance; /* in links, the LID-routed part included */
};

/* ---- requests and transactions ---- */

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

struct sm_transactions {
	struct sm_txn *slots; /* cfg.window of them */
	uint32_t *free;
	uint32_t nfree, outstanding;
	time_ps next_deadline; /* not later than the earliest */
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

extern const struct sm_part sm_part_discover, sm_part_partial, sm_part_configure, sm_part_compute,
	sm_part_deactivate, sm_part_join, sm_part_break_ports, sm_part_turns_off, sm_part_blocks,
	sm_part_waves, sm_part_planned, sm_part_restore, sm_part_arm, sm_part_activate,
	sm_part_audit, sm_part_ready, sm_part_sweep, sm_part_standby;

struct sm_core {
	time_ps now;
	struct sm_actions *out; /* during sm_step() only */
	enum sm_phase phase;
	time_ps phase_since;
	bool entered;	     /* the phase was just entered: its part begins */
	time_ps hold_until;  /* the running phase waits; 0: it does not */
	bool change_pending; /* a discovery follows as soon as the manager is ready */
	enum sm_cause pending_cause;
	bool incomplete; /* what was discovered is not all configured, routed and active yet */
	bool worked;	 /* the round went beyond discovery */
	struct sm_round round;
	uint64_t mark[SM_NPURPOSES]; /* smps when this round began */
	struct sm_status st;
	struct sm_config wanted; /* the configuration from the end of the round on */
	bool has_wanted;
};

/* phases.c */
void sm_phase_set(struct sm *sm, enum sm_phase to);
void sm_phase_slide(struct sm *sm, enum sm_phase to); /* the same part goes on in another phase */
const struct sm_part *sm_part_now(const struct sm *sm);
const struct sm_technique *sm_technique_now(const struct sm *sm);
void sm_round_begin(struct sm *sm, enum sm_cause cause, uint64_t who);
void sm_change(struct sm *sm, enum sm_cause cause, uint64_t who); /* go and look again */

/* sm_note.c */
void sm_note(struct sm *sm, enum sm_note_kind k, uint64_t a, uint64_t b);

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

/* manager.c */
void sm_config_settle(struct sm *sm); /* between rounds: take over what was wanted meanwhile */

#endif
