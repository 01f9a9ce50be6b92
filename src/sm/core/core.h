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

#include "sm/core/provoke.h"
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

/*
 * What a request is about. The tag says which fields count: a response is never matched by guessing
 * what a number means.
 */
enum sm_target_kind {
	SM_TARGET_NONE, /* the manager's own node, before it is known; a manager known by its LID */
	SM_TARGET_NODE, /* node */
	SM_TARGET_PORT, /* port, and its node */
	SM_TARGET_BEHIND, /* the device behind port, and the port's node */
	SM_TARGET_BLOCK,  /* node, item: block of its forwarding table, linear or random */
	SM_TARGET_TURN,	  /* node, item: input port << 8 | output port */
};

struct sm_target {
	enum sm_target_kind kind;
	uint32_t node, port; /* of the topology database; NONE: does not apply */
	uint32_t item;
};

/* Why a request was sent; the part that asked gets it back with the response. */
enum sm_question {
	Q_NONE, /* the phase sends requests of one kind only, or the attribute tells */
	/* discovery */
	Q_NODE_INFO,
	Q_SWITCH_INFO,
	Q_CLEAR_CHANGE,
	Q_PORT_INFO,
	Q_SET_LID,
	Q_TABLE,      /* a block of the linear table that a switch holds already */
	Q_STAMP,      /* a block beyond its end: does it prove the mirror? */
	Q_MFT,	      /* a block of its multicast table; item: attribute modifier */
	Q_TURN,	      /* an SL-to-VL table: is that turn disabled? */
	Q_SM_INFO,    /* which SM is at this port? */
	Q_TWIN,	      /* NodeInfo: is the device still there whose GUID another one has, too? */
	Q_PKEYS,      /* a P_Key table, or what is needed for it: see partitions */
	Q_VF_INFO,    /* what VFs hold; item: attribute modifier */
	Q_PORT_CHECK, /* did it change before PortStateChange could be cleared? */
	/* partial discovery, of switches that are known */
	Q_POLL, /* SwitchInfo: did a port change? */
	Q_CLEAR_KNOWN,
	Q_PORT_STATE, /* PortInfo: did this one? */
	Q_PORT_AGAIN, /* the same, of one port alone */
	Q_PORT_PEEK,  /* is it Down? see early_repair.c */
	/* sweep */
	Q_SWEEP,
	Q_SWEEP_CLEAR,
	Q_SWEEP_OWN_PORT,
	/* tables */
	Q_WAVE,	  /* a block of an outward update; item: its number there */
	Q_RANDOM, /* one step of a random table */
	/* audit */
	Q_AUDIT_PORT,
	Q_AUDIT_BLOCK,
	Q_AUDIT_MFT,
	Q_AUDIT_RANDOM,
	Q_AUDIT_TURN,
	Q_AUDIT_SWITCH,
};

struct sm_way;

/* A part describes what it wants to send; the dispatcher makes it an SMP. Owner: the part that sends. */
struct sm_req {
	enum iba_method method;
	uint16_t attr_id;
	uint32_t attr_mod;
	enum sm_purpose purpose;
	struct sm_path path;
	uint8_t extra_hop; /* one more port behind the path; 0: none */
	bool keyed;	   /* m_key instead of cfg.m_key */
	uint64_t m_key;
	uint16_t lid;		 /* not 0: LID-routed instead */
	const struct sm_way *by; /* not NULL: these hops instead, from the SM's port */
	bool aside;		 /* a Set that changes nothing of the saved state */
	enum sm_question question;
	struct sm_target target;
	uint8_t data[IBA_SMP_DATA_SIZE];
};

/* What a Set writes: an attribute of a device, by GUID, since discoveries number nodes again. */
struct sm_written {
	uint64_t guid; /* 0: of no device that is known */
	uint32_t item; /* port, block, turn; SwitchInfo: whether PortStateChange is cleared */
	uint16_t attr_id;
};

/* A Set that was answered or given up. */
struct sm_past_set {
	struct sm_written what;
	uint16_t gen;
	uint8_t left; /* copies that the manager sent and that may still be answered */
	bool used;
	time_ps until; /* no copy can arrive any more */
};

enum { SM_PAST_SETS = 8, SM_PAST_SETS_MAX = 65536 }; /* of each slot at first; of all slots */

struct sm_txn {
	bool used;
	uint16_t gen;
	uint8_t tries;	  /* 0: answered from saved state, nothing was sent */
	bool extended;	  /* this try got more time, because the manager itself was late */
	bool held;	  /* a Set that waits for sm_sets_release() */
	uint32_t answers; /* of the device, when the request was first repeated */
	uint64_t number;  /* in the order in which requests were first sent */
	enum sm_purpose purpose;
	uint16_t attr_id;
	uint16_t status; /* of the response, for `fail`; 0: there was none */
	enum iba_method method;
	enum sm_question question;
	struct sm_target target;
	time_ps deadline;
	struct sm_send send;
};

struct sm_transactions {
	struct sm_txn *slots; /* cfg.window of them */
	uint32_t *free;
	uint32_t nfree, outstanding;
	time_ps next_deadline;	  /* not later than the earliest */
	time_ps set_at;		  /* when the last Set was sent, SMInfo aside */
	struct sm_past_set *past; /* `depth` of each slot, by generation */
	uint32_t depth; /* grows, so that a Set is known as long as its copies may arrive */
	uint64_t sent;	/* requests so far */
};

/* ---- phases ---- */

/*
 * What a phase does. A function that is missing means nothing to do. Parts report an outcome and do not
 * choose the next phase: phase_table.h does.
 */
struct sm_part {
	enum sm_outcome (*begin)(struct sm *sm);
	enum sm_outcome (*due)(struct sm *sm); /* before each request: is something else due? */
	bool (*next)(struct sm *sm,
		     struct sm_req *r); /* the next request, or false: none for now */
	enum sm_outcome (*recv)(struct sm *sm, const struct sm_txn *t,
				const uint8_t *data); /* status was 0 */
	enum sm_outcome (*fail)(struct sm *sm,
				const struct sm_txn *t); /* timeout, or a bad status */
	/* The window is full, and no response came in time: true, it is asked again when others were asked. */
	bool (*postpone)(struct sm *sm, const struct sm_txn *t);
	enum sm_outcome (*done)(struct sm *sm); /* nothing to send, nothing outstanding */
};

#define SM_PART_DECLARE(phase, name, part, text) extern const struct sm_part sm_part_##part;
SM_PHASES(SM_PART_DECLARE)
#undef SM_PART_DECLARE
/* Parts that a mechanism chooses. */
extern const struct sm_part sm_part_partial, sm_part_deactivate, sm_part_join, sm_part_maps,
	sm_part_links_first, sm_part_break_ports, sm_part_turns_off, sm_part_waves, sm_part_planned;

/* What a change was detected by, for the round that follows. */
struct sm_trigger {
	enum sm_cause cause;
	struct sm_subject about; /* the device or link that showed it */
};

struct sm_core {
	time_ps now;
	uint64_t provoked; /* switches asked, in builds that have them: see provoke.h */
	time_ps wake;	   /* the wake-up that the last step asked for; TIME_NEVER: none */
	/*
	 * How long after that wake-up the running step comes; 0: in time. Not only wake-ups are late: after a
	 * pause the SMPs that arrived meanwhile are handed over first, and each of these steps is as late
	 * until one has done what was due.
	 */
	time_ps late;
	time_ps pause; /* the same, after the step before: only the first step after a pause has it */
	struct sm_actions *out; /* during sm_step() only */
	enum sm_phase phase;
	time_ps phase_since;
	uint64_t phase_mark;	   /* SMPs sent before this phase */
	bool entered;		   /* the phase was just entered: its part begins */
	time_ps hold_until;	   /* the running phase waits; 0: it does not */
	struct sm_trigger trigger; /* of the outcome SM_CHANGED that is being reported */
	bool change_pending;	   /* a discovery follows as soon as the manager is ready */
	struct sm_trigger pending; /* its cause */
	bool incomplete; /* what was discovered is not all configured, routed and active yet */
	bool worked;	 /* the round got beyond discovery */
	struct sm_round round;
	uint64_t mark[SM_NPURPOSES]; /* smps when this round began */
	struct sm_status st;
	struct sm_config wanted; /* the configuration from the end of the round on */
	bool has_wanted;
};

/* phases.c */
/* Enters the next phase by the table, which must have the outcome for this phase. */
void sm_phase_apply(struct sm *sm, enum sm_outcome o);
/* SM_CHANGED, and the cause that the next round reports. */
enum sm_outcome sm_changed(struct sm *sm, enum sm_cause cause, struct sm_subject about);
/* SM_STAGED, from rest: better routes than the repaired ones are computed. */
enum sm_outcome sm_uneven(struct sm *sm);
/*
 * A sweep detected a change and goes on as a discovery: the only outcome reported while a part
 * runs.
 */
void sm_sweep_noticed(struct sm *sm, enum sm_cause cause, struct sm_subject about);
void sm_phase_hold(struct sm *sm, time_ps until); /* the running phase waits */
/* A discovery follows as soon as the manager is ready. */
void sm_change_later(struct sm *sm, enum sm_cause cause, struct sm_subject about);
enum sm_outcome
sm_sweep_first(struct sm *sm);	    /* a sweep shows whether what is pending is a change */
void sm_unfinished(struct sm *sm);  /* what was discovered is not all in place any more */
void sm_finished(struct sm *sm);    /* it is: configured, routed and active */
void sm_round_again(struct sm *sm); /* one more restart within the round */
void sm_round_restarts_reset(struct sm *sm);
void sm_round_in_place(struct sm *sm, enum sm_stage stage); /* its tables are all in force */
void sm_round_complete(struct sm *sm, enum sm_stage stage); /* and its ports are Active */
void sm_round_in_place_too(struct sm *sm); /* provisional tables are the final ones, too */
void sm_round_mark(struct sm *sm);	   /* SMPs count for the round from now on */
void sm_round_end(struct sm *sm, bool clean);
void sm_round_drop(struct sm *sm);    /* it ends, and does not count */
void sm_round_abandon(struct sm *sm); /* another manager takes over */
void sm_phase_entered(struct sm *sm); /* the part has begun */

/* technique.c */
const struct sm_technique *sm_technique_now(const struct sm *sm);
bool sm_differences_only(const struct sm *sm); /* blocks that a switch holds already are not sent */

/* sm_note.c */
/* sm_note(sm, .kind = SM_NOTE_RESTART, .times = 2): time and SMPs are filled in. */
#define sm_note(sm, ...) sm_note_put(sm, (struct sm_note){__VA_ARGS__})
void sm_note_put(struct sm *sm, struct sm_note n);
/* Of a request that failed: no response. A bad status was noted when the response came. */
void sm_note_failed(struct sm *sm, const struct sm_txn *t);
/* Subjects of notes; NONE, or an unknown port or device: nothing. */
#define SM_ABOUT_NOTHING ((struct sm_subject){0})
struct sm_subject sm_about_node(const struct sm *sm, uint32_t node);
struct sm_subject sm_about_port(const struct sm *sm, uint32_t port);
struct sm_subject sm_about_link(const struct sm *sm, uint32_t port);  /* the one at this port */
struct sm_subject sm_about_switch(const struct sm *sm, uint16_t lid); /* with this LID */
struct sm_subject sm_about_lid(const struct sm *sm, uint16_t lid);    /* that switch, or the LID */
struct sm_subject sm_about_target(const struct sm *sm, const struct sm_target *t);

/* counters.c */
enum sm_counter {
	SM_COUNT_LATE,
	SM_COUNT_BAD,
	SM_COUNT_RETRIES,
	SM_COUNT_TIMEOUTS,
	SM_COUNT_TRAPS,
};
void sm_count(struct sm *sm, enum sm_counter c);
void sm_count_smp(struct sm *sm, enum sm_purpose p);
void sm_count_sweep(struct sm *sm, time_ps start); /* a clean one */
void sm_count_lids(struct sm *sm, int more);
void sm_count_block(struct sm *sm); /* written in this round */
void sm_count_entries(struct sm *sm, unsigned changed);

/* transactions.c */
void sm_txns_init(struct sm *sm);
void sm_txns_free(struct sm *sm);
void sm_txn_send(struct sm *sm, const struct sm_req *r);
/* The open transaction that a MAD answers; NULL: late, doubled, or not ours. */
struct sm_txn *sm_txn_find(struct sm *sm, const uint8_t *mad);
void sm_txn_close(struct sm *sm, struct sm_txn *t, bool answered);
/* A response that no transaction waits for. Of a Set it tells that a copy was carried out. */
void sm_txn_stray(struct sm *sm, const uint8_t *mad);
bool sm_txn_repeat(struct sm *sm, struct sm_txn *t); /* false: it was repeated often enough */
void sm_txn_expire(struct sm *sm, struct sm_txn *t); /* its time is up now */
/* The next transaction that is overdue, from slot *at on; *next: the earliest deadline of the others. */
struct sm_txn *sm_txn_overdue(struct sm *sm, uint32_t *at, time_ps *next);
void sm_txn_deadline(struct sm *sm, time_ps next);
void sm_txns_extend(struct sm *sm); /* the manager was late: give responses as much longer */
/* Ids of requests that are not in the table of transactions: the mirror's own. */
uint32_t sm_tid_aside(uint16_t gen);
bool sm_tid_is_aside(const uint8_t *mad);
void sm_sets_release(struct sm *sm); /* Sets that sm_mirror_holds_set() held go out */
void sm_txns_time_back(struct sm *sm, time_ps by);
void sm_time_shift(time_ps *t, time_ps by); /* an earlier beginning of time, see sm_time_back() */
/* Give up waiting for requests for which drop() says so. */
void sm_forget_some(struct sm *sm, bool (*drop)(const struct sm *sm, const struct sm_txn *t));
void sm_forget_outstanding(struct sm *sm);
void sm_send_now(struct sm *sm, const struct sm_req *r, uint64_t tid); /* expects no response */
void sm_respond(struct sm *sm, const struct sm_send *s); /* a response to a request of others */
void sm_send_gmp(struct sm *sm, const struct sm_send *s);
time_ps sm_timeout(const struct sm *sm);
time_ps sm_copies_until(const struct sm *sm); /* no copy of what was sent so far arrives later */

/* counters.c */
void sm_config_old_key(struct sm *sm, uint64_t key); /* devices may still hold it */

/* failure.c */
enum sm_outcome sm_failed(struct sm *sm, const struct sm_txn *t); /* a Set failed */
enum sm_outcome sm_give_up(struct sm *sm); /* the round ends here; a later one tries again */

/* parts.c */
const struct sm_part *sm_part_now(const struct sm *sm);

/* traps.c */
void sm_trap(struct sm *sm, const struct sm_event *ev);

/* dispatch.c */
void sm_pump(struct sm *sm); /* send what there is room for; go on where all is answered */
void sm_response(struct sm *sm, const struct sm_event *ev);
void sm_overdue(struct sm *sm);
void sm_lost(struct sm *sm, const struct sm_event *ev);

/* manager.c */
void sm_config_settle(struct sm *sm); /* between rounds: take over what was wanted meanwhile */

#endif
