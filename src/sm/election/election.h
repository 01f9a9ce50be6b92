/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Election: which of several subnet managers is the master (IBA 14.4).
 *
 * Keeps: the SMInfo state, the other managers met, and the master that a standby polls.
 */
#ifndef WEFT_SM_ELECTION_H
#define WEFT_SM_ELECTION_H

#include "sm/core/core.h"

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

struct sm_election {
	enum iba_sm_state state;
	VEC(struct sm_other) others;
	VEC(uint32_t) sm_ports; /* ports that report an SM, to be asked while ready */
	struct sm_polled polled;
	time_ps poll_at;
	unsigned misses;
	uint64_t yield_to; /* GUID of the SM to hand over to; 0: none */
	bool rival;	   /* another SM discovered at the same time */
};

enum sm_outcome sm_info_answer(struct sm *sm,
			       const struct sm_event *ev); /* SMInfo from another SM */
void sm_info_make(const struct sm *sm, struct iba_sm_info *si);
void sm_state_set(struct sm *sm, enum iba_sm_state to);
/* Whether the master is not known yet: then nothing may be set in devices that another SM manages. */
bool sm_contest_open(const struct sm *sm);
bool sm_is_managed(const struct sm *sm, const struct iba_port_info *pi); /* by another SM */
enum sm_outcome sm_other_manager(struct sm *sm, uint32_t port, const uint8_t *data);
/* While ready: hand over to a better manager, ask ports that report one. */
bool sm_election_next(struct sm *sm, struct sm_req *r);
enum sm_outcome sm_handover_accepted(struct sm *sm,
				     const struct sm_txn *t); /* it accepted the handover */
void sm_election_ask(struct sm *sm, uint32_t port);
void sm_election_ask_none(struct sm *sm);
bool sm_election_had_rival(struct sm *sm); /* since it was last asked */
void sm_election_time_back(struct sm *sm, time_ps by);
void sm_election_free(struct sm *sm);

#endif
