/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet manager as a pure state machine: events in, actions out. It owns no socket, clock,
 * thread or random source; time comes in with each event.
 *
 *	sm_step(sm, &(struct sm_event){.kind = SM_EV_START, .now = t}, &out);
 *	send out.sends, arrange a SM_EV_WAKE at out.wake, compute routes if out.compute.epoch is set
 *
 * The caller owns struct sm_actions and may use it again for the next step: sm_step() empties it
 * first. sm_step() returns 0, or -EINVAL for an event that makes no sense. Whatever bytes an SMP
 * holds, the worst that happens is that it is counted and ignored.
 */
#ifndef WEFT_SM_H
#define WEFT_SM_H

#include "route/route.h"

/* ---- how it is to behave ---- */

enum sm_exploration { SM_EXPLORE_PROPAGATION, SM_EXPLORE_BFS };

struct sm_config {
	unsigned port;              /* the local port the SM sits on; 0 on a switch */
	enum sm_exploration explore;
	unsigned window;            /* requests outstanding at once, 1..SM_MAX_WINDOW */
	unsigned retries;           /* sends after the first before a target counts as unreachable */
	unsigned restarts;          /* discoveries begun again before what was found must do */
	unsigned lmc;
	unsigned sweep_factor;      /* period = factor * duration of a sweep; 0: use sweep_period_ps */
	time_ps sweep_period_ps;    /* 0 and factor 0: no sweeps */
	bool activate_by_lid;       /* LID-routed SMPs for Armed and Active */
	bool qos;                   /* also write SL2VL and VL arbitration tables */
	unsigned subnet_timeout;    /* exponent for PortInfo; 0: from distance and response times */
	unsigned vl_high_limit;
	uint64_t m_key;
	unsigned m_key_protect, m_key_lease_s;
	uint64_t root_guid;         /* of the up/down graph; 0: the SM's own switch */
	time_ps link_smp_ps;        /* an SMP over one link, for the time-out */
	unsigned priority;
};

enum { SM_MAX_WINDOW = 4096 };

void sm_config_default(struct sm_config *c);

/* ---- in ---- */

enum sm_event_kind {
	SM_EV_START,  /* the port is there: begin */
	SM_EV_SMP,    /* an SMP arrived */
	SM_EV_WAKE,   /* the time asked for has come (early or late does no harm) */
	SM_EV_ROUTES, /* what out.compute asked for is ready */
	SM_EV_SWEEP,  /* look for changes now */
};

struct sm_routes {
	uint32_t epoch;            /* as in the request */
	struct rt_tables *tables;  /* the SM takes it over; NULL: no routes could be computed */
	bool verified;             /* by the verifier; the SM programs nothing that is not */
};

struct sm_event {
	enum sm_event_kind kind;
	time_ps now;
	const uint8_t *mad; /* SM_EV_SMP: IBA_MAD_SIZE bytes */
	uint16_t slid;
	struct sm_routes routes;
};

/* ---- out ---- */

struct sm_send {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid, dlid; /* dlid permissive: directed */
	uint8_t sl;
};

struct sm_compute {
	uint32_t epoch;        /* 0: nothing asked */
	const struct fab *fab; /* valid until the answer, or until the next request */
	node_id root;
};

/* What happened, for logs, timelines and metrics: a stable name and numbers. */
enum sm_note_kind {
	SM_NOTE_PHASE,       /* a: enum sm_phase left, b: entered */
	SM_NOTE_CHANGE,      /* a: enum sm_cause, b: LID or GUID that told */
	SM_NOTE_UNREACHABLE, /* a: GUID (0: behind a port not yet known), b: attribute id */
	SM_NOTE_BAD_STATUS,  /* a: GUID, b: attribute id << 16 | status */
	SM_NOTE_RESTART,     /* a: how often in a row */
	SM_NOTE_REFUSED,     /* tables failed verification */
	SM_NOTE_TOO_FAR,     /* a: GUID of a switch 63 hops away, b: port; comes later, by LID */
	SM_NOTE_NO_LID,      /* a: GUID that got none: all 49151 are taken */
	SM_NOTE_MISMATCH,    /* a: GUID, b: attribute; the audit found other values than were set */
	SM_NOTE_TRAP,        /* a: trap number, b: issuer LID */
	SM_NOTE_LEFT_OUT,    /* a: GUID, b: attribute it refused, again and again */
};
const char *sm_note_name(enum sm_note_kind k);

enum sm_cause { SM_CAUSE_START, SM_CAUSE_SWEEP, SM_CAUSE_TRAP, SM_CAUSE_SILENCE, SM_CAUSE_RETRY, SM_CAUSE_FAR };
const char *sm_cause_name(enum sm_cause c);

struct sm_note {
	enum sm_note_kind kind;
	time_ps when;
	uint64_t a, b;
	uint64_t smps; /* requests sent up to this moment */
};

struct sm_actions {
	VEC(struct sm_send) sends;
	VEC(struct sm_note) notes;
	struct sm_compute compute;
	time_ps wake; /* TIME_NEVER: none needed */
};

/* ---- life ---- */

struct sm;

struct sm *sm_new(const struct sm_config *c);
void sm_free(struct sm *sm);
int sm_step(struct sm *sm, const struct sm_event *ev, struct sm_actions *out);
void sm_actions_free(struct sm_actions *a);

/* ---- looking in ---- */

enum sm_phase {
	SM_OFF,
	SM_DISCOVER,
	SM_CONFIGURE,
	SM_COMPUTE,
	SM_DEACTIVATE, /* ports to Initialize: traffic stops */
	SM_TABLES,
	SM_ARM,
	SM_ACTIVATE,
	SM_AUDIT,      /* only when SMPs were lost or doubled: read back what was set */
	SM_READY,
	SM_SWEEP,
	SM_NPHASES
};
const char *sm_phase_name(enum sm_phase p);

enum sm_purpose {
	SM_FOR_SWEEP,
	SM_FOR_DISCOVERY,
	SM_FOR_CONFIGURATION,
	SM_FOR_DISTRIBUTION, /* deactivation and tables */
	SM_FOR_ACTIVATION,
	SM_FOR_AUDIT,
	SM_FOR_TRAP,         /* TrapRepress */
	SM_NPURPOSES
};
const char *sm_purpose_name(enum sm_purpose p);

/* One assimilation: from the moment a change was noticed to READY. */
struct sm_round {
	enum sm_cause cause;
	time_ps start, end;
	time_ps time[SM_NPHASES];
	uint64_t smps[SM_NPURPOSES]; /* the sweep that noticed included */
	uint32_t restarts;
	bool clean; /* everything found answered */
};

struct sm_status {
	enum sm_phase phase;
	enum iba_sm_state state;
	uint16_t lid;
	uint32_t epoch, rounds, nodes, switches, lids;
	uint64_t smps[SM_NPURPOSES]; /* requests sent since the start, repetitions included */
	uint64_t retries, timeouts, late, bad, traps;
	uint64_t sweeps, clean_sweeps; /* finished; finished without a change */
	time_ps last_sweep_start;      /* of the last clean one */
	bool change_pending;
	struct sm_round last;          /* the last round that came to an end */
};

void sm_status(const struct sm *sm, struct sm_status *st);
const struct fab *sm_fabric(const struct sm *sm);       /* the snapshot in force, or NULL */
const struct rt_tables *sm_tables(const struct sm *sm); /* the tables in force, or NULL */
uint16_t sm_lid_of(const struct sm *sm, uint64_t port_guid, unsigned *lmc); /* 0: none given */

#endif
