/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Discovery: full and partial discovery, sweeps, devices that no longer answer, and the first discovery of
 * a manager that takes over a running subnet.
 *
 * Keeps: the queue of questions, what kind of discovery runs, what it found and whether it can be trusted.
 */
#ifndef WEFT_SM_DISCOVERY_H
#define WEFT_SM_DISCOVERY_H

#include "sm/topology/topology.h"

struct sm_work {
	enum sm_question question;
	struct sm_target target;
};

enum sm_discovery_kind { SM_DISCOVERY_FULL, SM_DISCOVERY_PARTIAL };

/* Whether a discovery shows the subnet as it is. */
enum sm_view { SM_VIEW_TRUE, SM_VIEW_DOUBTFUL };

/* How a discovery ended, beyond what it found. */
enum sm_discovery_end {
	SM_END_COMPLETE,
	SM_END_EARLY,	/* enough was known for a repair: see early_repair.c */
	SM_END_IN_VAIN, /* there was no change: the next sweep keeps its time */
};

/* What a discovery found; any of these. */
enum sm_finding {
	SM_FOUND_CHANGE = 1,	    /* the topology is another one */
	SM_FOUND_SOMETHING_UP = 2,  /* a link or device that came up is explored */
	SM_FOUND_PORTS_TO_READ = 4, /* partial: a switch reported a change when asked */
};

/* From the start, or from the end of a standby, to the end of the first round. */
enum sm_arrival {
	SM_SETTLED,	/* a round has ended since */
	SM_ARRIVING,	/* none has */
	SM_TAKING_OVER, /* with cfg.read_back: the subnet may have been managed before */
	SM_ADOPTING,	/* and tables were found: they stay if they serve */
};

/* A device that stopped to respond: it is not asked any more. */
struct sm_silent {
	uint32_t node;
	bool forwards; /* devices behind it answer all the same */
	bool blocks;   /* devices behind it do not answer either: they are not asked any more */
};

/* A device whose GUID another one seems to have. */
enum sm_twin_state {
	SM_TWIN_FORMER,	 /* a discovery before this one left it out */
	SM_TWIN_WAITING, /* met: it is judged when all others were met */
	SM_TWIN_PROBED,	 /* the other one is asked whether it is still there */
	SM_TWIN_LEFT_OUT,
};

struct sm_twin {
	enum sm_twin_state state;
	bool noted;
	struct iba_node_info ni;   /* its answer */
	struct sm_duplicate known; /* left_at: the port that it is behind, and its name here */
	uint32_t probe;		   /* the port behind which the other one is asked */
	uint32_t judged;	   /* epoch in which it was */
};

struct sm_discovering {
	VEC(struct sm_twin) twins;
	struct map64
		owners; /* port GUID -> port of the snapshot in force when a full discovery began */
	VEC(struct sm_work) work; /* questions to ask, from work_head on */
	size_t work_head;
	/* see postponed.c */
	VEC(uint32_t) slow;	   /* nodes whose questions wait until all others were asked */
	VEC(struct sm_work) late;  /* these questions */
	VEC(struct sm_work) again; /* and those that had no response */
	VEC(struct sm_work)
	resumed;	     /* what of these is asked now, where there is no other question, */
	size_t resumed_head; /* from here on */
	unsigned passes;     /* how often that began */
	uint32_t reconnects; /* how often sm_reconnect() was called */
	enum sm_discovery_kind kind;	/* of the running discovery, or the last */
	enum sm_discovery_kind allowed; /* SM_DISCOVERY_FULL: what is known cannot be built upon */
	bool look_again; /* another manager may have hidden a change: until a full discovery begins */
	bool looks_again; /* this one is that */
	bool unfinished; /* a full discovery runs or was broken off: most of the topology is forgotten */
	enum sm_view view;    /* of this discovery */
	enum sm_view earlier; /* doubtful: only a full discovery can tell what is there */
	enum sm_discovery_end end;
	bool presumes; /* a switch counts as dead that was not asked: only its repair may be sent */
	bool disturbed; /* a request was repeated, or the discovery waited: the SM's cable may have moved */
	bool verified;	   /* it was asked again what is behind the SM's own port */
	unsigned findings; /* of enum sm_finding */
	enum sm_arrival arrival;
	bool distrust; /* until this round ends, as cfg.distrust */
	bool waited;   /* until no SMP of an earlier manager can arrive any more */
	bool all_met;  /* every device was met: no LID in use can turn up any more */
	VEC(uint32_t)
	suspects; /* nodes that reported a change, or failed, since the last discovery */
	VEC(struct sm_silent) silent; /* in this discovery */
	uint32_t restarts;
	VEC(uint64_t) excluded;	 /* GUIDs of devices that refused again and again */
	VEC(uint32_t) far_ports; /* at 63 hops: what is behind them was not asked yet */
	uint32_t far_nodes;	 /* nodes known when there last were such ports */
	bool far_told;		 /* it was noted that they stay out of reach */
};

static inline bool sm_is_partial(const struct sm_discovering *d)
{
	return d->kind == SM_DISCOVERY_PARTIAL;
}

static inline bool sm_is_doubtful(const struct sm_discovering *d)
{
	return d->view == SM_VIEW_DOUBTFUL;
}

static inline bool sm_is_taking_over(const struct sm_discovering *d)
{
	return d->arrival >= SM_TAKING_OVER;
}

struct sm_sweeping {
	time_ps start, duration, next;
	time_ps own_next; /* when the SM's own port is looked at again */
	bool own_due;	  /* the request is to be sent */
	time_ps retry_at, backoff_ps;
	time_ps retry_was; /* planned before the round that runs; TIME_NEVER: none */
	/* while it lasts */
	uint32_t at;	/* switch of the snapshot to ask next */
	uint32_t clear; /* the switch whose PortStateChange is being cleared, NONE */
	struct iba_switch_info si;
};

/* discovery_state.c: what other rooms report to discovery */
void sm_discovery_init(struct sm *sm);
void sm_discovery_free(struct sm *sm);
bool sm_discovery_round(
	struct sm *sm); /* a round begins; true: a device was excluded in the last */
void sm_discovery_doubt(struct sm *sm); /* what was discovered is not what is there */
void sm_discovery_disturbed(
	struct sm *sm); /* a request was repeated, or nothing was under way for a while */
void sm_discovery_found(struct sm *sm, enum sm_finding f);
void sm_full_discovery_needed(struct sm *sm);
void sm_suspect(struct sm *sm, uint32_t node);	     /* the next discovery asks it */
void sm_switch_doubt(struct sm *sm, uint32_t node);  /* it may have restarted */
void sm_switch_unread(struct sm *sm, uint32_t node); /* the next discovery reads all its ports */
/* Another manager, which discovered, may have cleared PortStateChange; true: ports have to be read. */
bool sm_changes_hidden(struct sm *sm);
/* Whether a switch was read while no manager had configured it: others that discover clear PortStateChange there. */
bool sm_any_unclaimed(const struct sm *sm);
void sm_claims_doubt(struct sm *sm); /* another master may have cleared it anywhere */
/* A port of a switch was read; the switch reported no change when it was asked. */
void sm_port_rises(struct sm *sm, uint32_t port);
void sm_ports_risen(struct sm *sm, uint32_t node);
void sm_exclude(struct sm *sm, uint64_t guid); /* from snapshots, until the next round */
bool sm_is_excluded(const struct sm *sm, uint64_t guid);
void sm_arrive(struct sm *sm);		  /* what devices hold may be another manager's work */
void sm_adopt(struct sm *sm, bool found); /* tables were found in the switches, or not */
void sm_all_devices_met(struct sm *sm);
void sm_distrust(struct sm *sm); /* the next round trusts no device */
bool sm_is_distrustful(const struct sm *sm);
enum sm_outcome sm_look_first(struct sm *sm); /* what is presumed has to be verified now */

/* questions.c: the queue */
void sm_ask_node(struct sm *sm, enum sm_question q, uint32_t node);
void sm_ask_port(struct sm *sm, enum sm_question q, uint32_t port);
void sm_ask_behind(struct sm *sm,
		   uint32_t port);		/* NodeInfo through a port; NONE: the local node */
void sm_ask_twin(struct sm *sm, uint32_t port); /* NodeInfo again, behind a port that is known */
void sm_ask_vf(struct sm *sm, uint32_t port, uint32_t modifier); /* what VFs behind it hold */
void sm_ask_block(struct sm *sm, uint32_t node, uint32_t block);
void sm_ask_stamp(struct sm *sm, uint32_t node, uint32_t block); /* does it prove the mirror? */
void sm_ask_mft(struct sm *sm, uint32_t node, uint32_t modifier);
void sm_ask_turn(struct sm *sm, uint32_t node, unsigned in, unsigned out);
void sm_poll(struct sm *sm, uint32_t node); /* did a switch see a change? */
bool sm_work_left(const struct sm *sm);
struct sm_work sm_work_take(struct sm *sm);
void sm_work_clear(struct sm *sm);
void sm_work_make(struct sm *sm, struct sm_work w, struct sm_req *r);
bool sm_work_spared(const struct sm *sm, struct sm_work w); /* known since it was to be asked */
bool sm_question_of_known(enum sm_question q); /* asked of switches that were known before */

/* silent_devices.c */
void sm_silent_begin(struct sm *sm); /* a discovery begins */
void sm_answered(struct sm *sm, const struct sm_target *t);
void sm_unanswered(struct sm *sm, const struct sm_txn *t);		/* a request was given up */
uint32_t sm_answers_of(const struct sm *sm, const struct sm_target *t); /* of that device, so far */
bool sm_is_silent_work(const struct sm *sm, struct sm_work w); /* it would not be answered */

/* A path there crosses this node, which is a switch. */
bool sm_crosses(const struct sm *sm, const struct sm_target *t, uint32_t node);

/* postponed.c */
void sm_postponed_clear(struct sm *sm);
bool sm_work_postpone(struct sm *sm, const struct sm_txn *t); /* true: it is asked again later */
bool sm_work_waits(struct sm *sm, struct sm_work w); /* true: its device is slow, and it is kept */
void sm_work_answered(struct sm *sm, uint32_t node); /* by that device, or by one behind it */
void sm_work_resume(struct sm *sm); /* what was postponed, if all else was answered */
bool sm_resumed_left(const struct sm *sm);
struct sm_work sm_resumed_take(struct sm *sm);

/* takeover.c */
void sm_takeover_begin(struct sm *sm);		       /* a full discovery begins */
void sm_takeover_switch(struct sm *sm, uint32_t node); /* its port 0 is known */
void sm_takeover_ports(struct sm *sm, uint32_t node);  /* all of them are */
void sm_takeover_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data);
void sm_takeover_turn(struct sm *sm, uint32_t node, uint32_t turn, const uint8_t *data);
bool sm_lid_must_wait(struct sm *sm, const struct sm_port *p, unsigned lmc);
uint8_t sm_subnet_timeout_of(const struct sm *sm, uint32_t node); /* with a mark if turns are off */
uint8_t sm_subnet_timeout_found(const struct sm *sm, uint8_t wanted);
bool sm_mark_make(struct sm *sm, uint32_t node,
		  struct sm_req *r);				 /* false: it is as it should be */
bool sm_is_marked(const struct sm *sm, const struct sm_port *p); /* port 0 of a switch */

/* full_discovery.c */
enum sm_outcome sm_discover_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
enum sm_outcome sm_discover_fail(struct sm *sm, const struct sm_txn *t);
enum sm_outcome sm_discover_again(struct sm *sm);
void sm_follow(struct sm *sm, uint32_t port); /* ask what is behind a port, if it can be asked */
void sm_node_met(struct sm *sm, uint32_t near,
		 const struct iba_node_info *ni); /* its NodeInfo counts */
void sm_follow_far(struct sm *sm);		  /* what was too far away before */
/* Every device was met: asks the switches whose changes were left to another manager; true: there are some. */
bool sm_clear_deferred(struct sm *sm);

/* partial_discovery.c: a switch met by NodeInfo through a port that came up; and one that told of a
 * change */
void sm_switch_found_again(struct sm *sm, uint32_t node, struct sm_path path);
void sm_switch_reported(struct sm *sm, uint32_t node);

/* duplicates.c: devices with one GUID. A full discovery begins; NodeInfo came through a port: true, it
 * waits for judgement; a port turns out to be Down though a switch seemed to be behind it; all others
 * were met: true, something is asked or was accepted; the answer to Q_TWIN. */
void sm_twins_begin(struct sm *sm);
bool sm_twin_met(struct sm *sm, uint32_t near, const struct iba_node_info *ni);
void sm_twin_of_down_port(struct sm *sm, uint32_t port);
bool sm_twins_judge(struct sm *sm);
void sm_twin_answered(struct sm *sm, uint32_t probe, const uint8_t *data);

/* missing_devices.c */
bool sm_is_missing(const struct sm *sm, uint32_t node); /* a switch */
void sm_mark_missing(struct sm *sm, uint32_t endport);
void sm_mark_cut_off(struct sm *sm);
bool sm_unlink_port(struct sm *sm, uint32_t port); /* false: there was no link */
void sm_port_forget(struct sm *sm, uint32_t port); /* ask for it again */
void sm_endport_moved(struct sm *sm, uint32_t endport);
void sm_link_lost(struct sm *sm, uint32_t port); /* the link at this port is gone */
bool sm_reconnect(struct sm *sm);		 /* true: something is asked, or reached */
void sm_drop_missing(struct sm *sm);

/* early_repair.c */
bool sm_early_repair_possible(const struct sm *sm);
void sm_early_repair_link(struct sm *sm, uint32_t port);
bool sm_early_repair_switch(struct sm *sm,
			    uint32_t port); /* true: it is taken for dead, and discovery over */
void sm_early_repair_verify(struct sm *sm);

/* sweep_state.c and sweep.c */
void sm_sweep_plan(struct sm *sm);	  /* when the next is due, counted from now */
time_ps sm_sweep_at(const struct sm *sm); /* when the next begins; TIME_NEVER: not yet, or never */
void sm_sweep_init(struct sm *sm);
void sm_sweep_start(struct sm *sm);  /* of either kind */
void sm_sweep_clean(struct sm *sm);  /* it ended without a change */
void sm_own_port_due(struct sm *sm); /* it is time to look at the own port */
void sm_retry_never(struct sm *sm);
void sm_sweep_time_back(struct sm *sm, time_ps by);

#endif
