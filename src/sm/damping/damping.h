/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damping: a link whose port changes too often is held, that is, treated as Down, until it has been quiet
 * for a while. A link is also held by order (SM_EV_ISOLATE), until another order releases it.
 *
 * Keeps: by switch GUID and port, when it changed and whether it is held; through every discovery. Orders
 * that wait until the manager is ready.
 */
#ifndef WEFT_SM_DAMPING_H
#define WEFT_SM_DAMPING_H

#include "sm/core/core.h"

/* A switch's end of a link. */
struct sm_end {
	uint64_t guid, peer; /* of its switch; of the node behind it last, 0: none yet */
	uint32_t far;	     /* the link's other end; NONE: not known, or not of a switch */
	uint8_t num, nports;
	uint8_t state; /* when full discovery forgot it; IBA_PORT_NO_CHANGE: not known */
	bool held, noted;
	bool ordered;  /* it is held until an order releases it */
	uint8_t next;  /* into when: the oldest */
	time_ps *when; /* of the last cfg.flaps changes, NULL: there was none */
	time_ps last;
};

/* An order that is not carried out yet. */
struct sm_damp_order {
	uint64_t guid;
	uint8_t port;
	bool isolate;
};

struct sm_damp {
	VEC(struct sm_end) ends;
	struct map64 by_guid; /* the first end of a switch, those of its ports follow */
	VEC(uint32_t) held;   /* in the order in which they were held */
	VEC(struct sm_damp_order) orders;
	bool ordering; /* there was an order: ends are kept even if changes are not counted */
};

/*
 * A port was read, by partial discovery (was: its state before) or by full; returns whether it is
 * held.
 */
bool sm_damp_port_read(struct sm *sm, uint32_t port, unsigned was);
bool sm_damp_port_discovered(struct sm *sm, uint32_t port);
void sm_damp_far_end_down(struct sm *sm, uint32_t far); /* the other end of one that went down */
void sm_damp_unseen_change(struct sm *sm, uint32_t node);
void sm_damp_linked(struct sm *sm, uint32_t a, uint32_t b);
void sm_damp_keep_states(struct sm *sm);
bool sm_damp_holds(struct sm *sm, uint32_t port);
bool sm_damp_holds_end(const struct sm *sm, uint64_t guid, unsigned num);
uint32_t sm_damp_count(const struct sm *sm); /* ends that change too often; none by order */
bool sm_damp_isolates_end(const struct sm *sm, uint64_t guid, unsigned num); /* by order */
uint32_t sm_damp_release_only_way(
	struct
	sm *sm); /* releases a held link that is the only way to a switch: its port, to be explored; NONE */
void sm_damp_note_held(struct sm *sm);	  /* notes for links held since */
time_ps sm_damp_due(const struct sm *sm); /* when the next is to be released */
enum sm_outcome sm_damp_release(struct sm *sm);
/* SM_EV_ISOLATE: 0, or -EINVAL for a port that is none of a switch. It is carried out when the manager is ready. */
int sm_damp_order(struct sm *sm, uint64_t guid, unsigned port, bool isolate);
bool sm_damp_ordered(const struct sm *sm); /* orders wait */
enum sm_outcome sm_damp_carry_out(struct sm *sm);
void sm_damp_reset(struct sm *sm); /* cfg.flaps changed: count from zero */
void sm_damp_time_back(struct sm *sm, time_ps by);
void sm_damp_free(struct sm *sm);

#endif
