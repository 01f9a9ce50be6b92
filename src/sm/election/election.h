/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Election: which of several subnet managers is the master (IBA 14.4).
 *
 * Keeps: the SMInfo state, the other managers known, the one that is polled, and requests of its own, which
 * go beside those of the running phase. Promises: the state changes by election_table.h alone; an order with
 * a wrong SM_Key is refused; a HANDOVER is believed only after its sender was asked.
 */
#ifndef WEFT_SM_ELECTION_H
#define WEFT_SM_ELECTION_H

#include "sm/topology/topology.h"

/* How another manager is reached: by its port, if that is known; else by hops; else by its LID. */
struct sm_contact {
	uint64_t guid; /* of its port; 0: not known */
	uint32_t port; /* of the topology database, or NONE */
	uint16_t lid;
	struct sm_way way;
	struct sm_way last; /* that led there by tables when it answered: if nothing else does */
};

/* How a manager is reached, in the order in which this is tried. */
enum sm_contact_by { SM_BY_PORT, SM_BY_LID, SM_BY_WAY, SM_BY_LAST, SM_NCONTACT_BY };

struct sm_other { /* another manager */
	struct sm_contact at;
	enum sm_contact_by
		by; /* what led there last; after a request without answer the next one */
	/* The GUID that it says, by which both rank: its own agent may have told it another one than discoveries get. */
	uint64_t said;
	uint8_t priority;
	uint8_t state; /* UINT8_MAX: it never answered */
	/*
	 * A master of lower rank did not hand over: it is not waited for again. A manager did not accept the
	 * subnet: it is offered again after so many sweeps, else no sweep would end. 0: neither.
	 */
	uint8_t defiant;
	bool silent;	    /* it did not answer when it was last asked */
	bool fresh;	    /* before its last answer it was not known to be in this state */
	time_ps asked_back; /* when, because it polled this master; TIME_NEVER: not yet */
};

/* What another manager is asked or told. */
enum sm_ask_kind {
	SM_ASK_INFO,	 /* Get(SMInfo) */
	SM_ASK_MASTER,	 /* the same, at the LID that the own port names as the master's */
	SM_ASK_POLL,	 /* the same, of the manager that is polled: one SMP, not repeated */
	SM_ASK_VERIFY,	 /* the same, of a manager that sent HANDOVER */
	SM_ASK_PORT,	 /* Get(PortInfo) of that manager's port: which master does it name? */
	SM_ASK_OWN_PORT, /* Get(PortInfo) of the own port: which master does it name? */
	SM_ASK_HANDOVER, /* Set(SMInfo) */
	SM_ASK_ACKNOWLEDGE,
};

struct sm_ask {
	enum sm_ask_kind kind;
	struct sm_contact to;
};

enum { SM_FLIGHTS = 8, SM_ASKS = 64, SM_OTHERS = 64, SM_STRANGERS = 4 };

struct sm_flight { /* a request without a response yet */
	bool used;
	uint16_t gen;
	uint8_t tries;
	struct sm_ask ask;
	time_ps deadline;
};

struct sm_election {
	enum iba_sm_state state;
	uint64_t own_guid; /* of the own port, as last discovered; 0: not known yet */
	VEC(struct sm_other) others;
	VEC(struct sm_ask) asks; /* to be sent, first come first served */
	struct sm_flight flights[SM_FLIGHTS];
	/* the manager that a standby polls, or whose HANDOVER a master waits for */
	struct sm_contact polled;
	time_ps poll_at; /* TIME_NEVER: none is polled */
	unsigned misses;
	bool poll_answered; /* since polls began; before that it may have accepted a HANDOVER */
	/* managers that are asked in turn: see sm_election_ask_in_turn() */
	unsigned looks;
	size_t turn;
	time_ps looked_at; /* the last look of a master that is not at rest */
	/* in phase settle */
	struct sm_contact heir; /* HANDOVER goes there; guid 0: none */
	time_ps settle_until;	/* TIME_NEVER: not in that phase */
	struct sm_contact
		later; /* a hand-over that waits until the manager is at rest, and for a copy */
	time_ps later_from; /* since when; TIME_NEVER: none waits */
	bool meek; /* the user ordered the last hand-over: no higher priority than the heir's */
	uint8_t meek_priority;
	/* discoveries */
	bool rival;	  /* another manager discovered at the same time */
	bool guarded;	  /* this discovery sets nothing before every device and manager was met */
	bool keep_lids;	  /* LIDs that this master assigned stay, whatever devices hold */
	bool reread;	  /* another manager changed devices: discover everything when at rest */
	bool believed;	  /* a HANDOVER whose sender could not be asked, since the last sweep */
	uint64_t foreign; /* GUID of the last device that led to a guarded discovery */
	uint16_t named;	  /* LID of the master that the own port named, and that was asked first */
	/* after a pause, or without a link */
	time_ps check_until; /* no Set before; TIME_NEVER: no check runs */
	bool check_port;     /* the own port is still to be asked */
	bool absent;  /* the check's pause was so long that others may have elected a master */
	bool returns; /* the own port was down: ask known managers when it is read again */
	/* what was met */
	uint64_t taken[SM_NSM_STATES][SM_NELECTION_EVENTS];
	uint64_t refused;   /* orders */
	uint64_t responses; /* to other managers */
	time_ps noted_at;   /* when an order was last noted as refused */
	/* those that polled this master and were asked back, in one period of polls */
	struct sm_contact strangers[SM_STRANGERS];
	unsigned nstrangers;
	time_ps stranger_at; /* when that period began */
};

/* election.c: from events to actions */
struct sm_met {			     /* what an event is about; members that do not apply are 0 */
	const struct sm_contact *at; /* the other manager */
	enum sm_cause cause;
	time_ps late;
};
enum sm_outcome sm_election_event(struct sm *sm, enum sm_election_event ev, struct sm_met m);
enum sm_outcome sm_election_start(struct sm *sm);
enum sm_outcome sm_election_resync(struct sm *sm); /* the user ordered it */
void sm_election_init(struct sm *sm);
void sm_election_free(struct sm *sm);
void sm_election_time_back(struct sm *sm, time_ps by);
/* Whether the master is not known yet: then nothing may be set in devices that another SM manages. */
bool sm_contest_open(const struct sm *sm);
bool sm_is_managed(const struct iba_port_info *pi); /* perhaps by another SM */
bool sm_election_had_rival(struct sm *sm);	    /* since it was last asked */
bool sm_election_reread_due(struct sm *sm);	    /* the same; devices are forgotten */
bool sm_election_keeps_lids(const struct sm *sm);
void sm_election_round_ended(struct sm *sm);
unsigned sm_election_priority(const struct sm *sm); /* as others see it */
/* A PortInfo that discovery read: does another master manage the device? Then discovery starts again. */
enum sm_outcome sm_election_port_seen(struct sm *sm, uint32_t port, const uint8_t *data);
/* The own port, which is read first of all: the master that it names is asked before anything is discovered. */
void sm_election_own_port_read(struct sm *sm, const struct iba_port_info *pi);
enum sm_outcome sm_election_own_port_looked(struct sm *sm, const struct iba_port_info *pi);
/* The own link was down, and is not any more: an answer of the own port, or an SMP of another manager, shows it. */
enum sm_outcome sm_election_relinked(struct sm *sm);
bool sm_election_cut_off(const struct sm *sm); /* the own port was down when it was last read */
void sm_look_for_hidden(struct sm *sm);	       /* another manager may have hidden a change */
bool sm_election_reads_port0_first(const struct sm *sm);

/* other_managers.c */
uint64_t sm_own_guid(const struct sm *sm);
void sm_own_guid_keep(struct sm *sm);
struct sm_contact sm_contact_port(const struct sm *sm, uint32_t port);
struct sm_contact sm_contact_sender(const struct sm *sm, const struct sm_event *ev, uint64_t guid);
bool sm_contact_same(const struct sm_contact *a, const struct sm_contact *b);
bool sm_contact_usable(const struct sm *sm, const struct sm_contact *c);
void sm_contact_address(struct sm *sm, const struct sm_contact *c, unsigned tries,
			struct sm_req *r);
/* A request that went there was not answered, or by another one: the next one takes another way. */
void sm_contact_in_vain(struct sm *sm, const struct sm_contact *c);
struct sm_subject sm_about_contact(const struct sm *sm, const struct sm_contact *c);
struct sm_other *sm_other_find(struct sm *sm, uint64_t guid); /* NULL: not known */
struct sm_other *sm_other_learn(struct sm *sm, const struct sm_contact *at,
				const struct iba_sm_info *si);
bool sm_other_is_silent(struct sm *sm, uint32_t port);
bool sm_other_is_better(const struct sm_other *a, const struct sm_other *b); /* by rank */
bool sm_other_trusted(struct sm *sm, const struct sm_contact *at, const struct iba_sm_info *si);
enum sm_election_event sm_other_event(const struct sm *sm, const struct sm_other *o);
/* The Standby manager that a user's hand-over goes to: that GUID, or the best; NULL: none. */
const struct sm_other *sm_other_heir(const struct sm *sm, uint64_t guid);

/* asks.c: requests of the election, in any phase */
void sm_election_ask(struct sm *sm, enum sm_ask_kind kind, const struct sm_contact *to);
void sm_election_ask_port(struct sm *sm, uint32_t port); /* a port that reports a manager */
void sm_election_ask_none(struct sm *sm);
void sm_election_sweep(struct sm *sm); /* a sweep begins: ask all known managers */
void sm_election_look(struct sm *sm);  /* between sweeps: those that answer, and others in turn */
void sm_election_ask_in_turn(struct sm *sm); /* at every eighth call one that is not asked often */
/* A phase that waits for silent devices takes longer than two masters may stay: its master looks as well. */
time_ps
sm_election_look_at(const struct sm *sm); /* TIME_NEVER: it is at rest, or knows no other manager */
void sm_election_look_due(struct sm *sm);
bool sm_election_busy(const struct sm *sm);
void sm_election_send(struct sm *sm); /* what is due */
void sm_info_make(const struct sm *sm, struct iba_sm_info *si);
struct sm_flight *sm_flight_of(struct sm *sm,
			       const uint8_t *mad); /* that this answers; NULL: none */
void sm_flight_land(struct sm_flight *f);
bool sm_flight_repeat(struct sm *sm, struct sm_flight *f);
time_ps sm_election_deadline(const struct sm *sm); /* of requests without a response */
void sm_flights_time_back(struct sm *sm, time_ps by);

/* polling.c: a standby polls the master, a master waits for another's HANDOVER; pauses */
void sm_poll_start(struct sm *sm, const struct sm_contact *c, time_ps first);
void sm_poll_stop(struct sm *sm);
enum sm_outcome sm_poll_missed(struct sm *sm);
time_ps sm_election_wake(const struct sm *sm);
enum sm_outcome sm_election_stalled(struct sm *sm); /* the step came late */
bool sm_election_checking(const struct sm *sm);	    /* no Set may be sent */
void sm_check_start(struct sm *sm);
void sm_check_answered(struct sm *sm); /* one more request was answered, or given up */
enum sm_outcome sm_poll_answered(struct sm *sm, const struct sm_other *o);
enum sm_outcome sm_own_port_answered(struct sm *sm, const uint8_t *data);

/* handover.c: both sides */
enum sm_outcome sm_handover_begin(struct sm *sm, const struct sm_contact *to);
enum sm_outcome sm_handover_failed(struct sm *sm, const struct sm_contact *to, bool refused);
enum sm_outcome sm_handover_verified(struct sm *sm, const struct sm_other *o, bool was_master);
void sm_handover_forged(struct sm *sm);
enum sm_outcome sm_handover_unconfirmed(struct sm *sm, const struct sm_contact *c, bool refused);
enum sm_outcome sm_handover_claimed(struct sm *sm, const struct sm_contact *c, const uint8_t *data);
void sm_handover_resume(struct sm *sm);		/* after a pause */
enum sm_outcome sm_handover_due(struct sm *sm); /* one that waited until the manager is at rest */
time_ps sm_handover_wake(const struct sm *sm);	/* until when it waits for a copy */
enum sm_outcome sm_settle_await(struct sm *sm, const struct sm_contact *rival);
enum sm_outcome sm_settle_overdue(struct sm *sm);
void sm_settle_end(struct sm *sm);
enum sm_outcome sm_user_handover(struct sm *sm, uint64_t guid);

/* answers.c */
bool sm_election_response(struct sm *sm, const struct sm_event *ev, enum sm_outcome *o);
bool sm_election_lost(struct sm *sm, const struct sm_event *ev);
enum sm_outcome sm_election_due(struct sm *sm); /* when the time has come */
/* SMInfo that discovery read at a port. */
enum sm_outcome sm_other_manager(struct sm *sm, uint32_t port, const uint8_t *data);

/* sm_info.c: SMInfo from another manager */
enum sm_outcome sm_info_answer(struct sm *sm, const struct sm_event *ev);

#endif
