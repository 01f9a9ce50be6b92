/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mirrors: a standby copies what the master knows, so that it can take over without reading the subnet.
 *
 * The master's knowledge at rest is a sequence of pages: the number of nodes and LIDs of absent hosts, then the record of each
 * node (restore/saved_state.c) in GUID order, each from a new page on. Digests of pages form pages of
 * the next level, up to one page; the root is its digest. A standby asks for the root, and then for pages whose
 * digests differ from those it has, in GMPs of class 0x4a that carry a tag made with the SM_Key.
 *
 * The stamp proves that a copy is true: a number in an unused block of the forwarding table of the master's
 * own switch. It is there only while devices hold what the copy says: the master writes it before it tells
 * the number, and clears it before the next Set, which waits until the switch has confirmed that. A standby
 * that takes over reads the stamp: if it is another number, the copy is dropped.
 *
 * Keeps: of a standby the copy and requests under way, of a master the digests, and where the stamp stands.
 */
#ifndef WEFT_SM_MIRROR_H
#define WEFT_SM_MIRROR_H

#include "sm/core/core.h"

struct sm_saved; /* restore/saved_state.h */

enum {
	SM_PAGE = IBA_MIRROR_DATA_SIZE,
	SM_FAN = SM_PAGE / 8, /* digests in a page */
	SM_LEVELS = 6,
	SM_MAX_PAGES = 1 << 21, /* 400 MB: twice what all LIDs of a subnet need */
	SM_MIRROR_WINDOW = 32,	/* requests of a standby under way */
	SM_MIRRORS = 8,		/* standbys that a master counts */
};

/* mirror_pages.c: pages of level 0 and digests of them: page i of level k + 1 has the digests of 24 pages of
 * level k, from 24 * i on. */
struct sm_pages {
	uint32_t n[SM_LEVELS]; /* pages of each level; the last has one */
	unsigned levels;       /* 0: there are no pages */
	uint8_t *at[SM_LEVELS];
};

/* A page that a standby has requested, or the root. */
struct sm_mirror_ask {
	bool used;
	uint8_t level, tries;
	uint32_t index, tid;
	uint64_t nonce;
	time_ps deadline;
};

/* What the master says of its pages. */
struct sm_mirror_root {
	uint64_t root, stamp, stamp_guid;
	uint32_t stamp_block;
};

enum sm_mirror_step {
	SM_MIRROR_OFF,	   /* not standby, or nothing asked yet */
	SM_MIRROR_WAITING, /* until next_at */
	SM_MIRROR_PORT,	   /* reads its own port: LIDs */
	SM_MIRROR_ROOT,	   /* asks for the root */
	SM_MIRROR_PULLING, /* asks for pages */
};

struct sm_mirror_manager { /* a port with a manager, by the copy */
	uint64_t guid, node_guid;
	uint16_t lid;
};

struct sm_mirror_standby {
	enum sm_mirror_step step;
	time_ps next_at, confirmed_at;
	uint16_t own_lid, master_lid;
	uint8_t sl;
	bool heard; /* this master has answered */
	uint16_t gen;
	struct sm_mirror_ask ask[SM_MIRROR_WINDOW];
	unsigned outstanding;
	struct sm_saved *whole; /* the copy, complete; its bytes are have.at[0] */
	struct sm_pages have;
	struct sm_mirror_root of; /* that copy */
	struct sm_pages want;	  /* what is being copied, from the last level down */
	struct sm_mirror_root target;
	unsigned level;
	uint32_t cursor;
	struct sm_pages part; /* an interrupted copy: its pages are used again */
	struct map64 known;   /* digest -> page of `have`, or of `part` behind those */
	uint64_t fetched;
	VEC(struct sm_mirror_manager) managers;
	time_ps managers_at; /* when they are asked next */
};

struct sm_mirror_seen { /* a standby, as the master knows it */
	uint16_t lid;
	uint64_t root;
	uint64_t vms_root; /* the last root of this master that it had, */
	uint32_t vms;	   /* and the changes of VMs in that */
	time_ps at;
};

struct sm_mirror_master {
	bool none;	       /* there can be no mirror of this subnet */
	bool valid;	       /* all pages have digests, and nothing changed since */
	struct sm_pages pages; /* without level 0: pages are made when they are asked for */
	VEC(uint32_t) first;   /* first page of the record of each node, and behind the last */
	VEC(uint8_t) digests;  /* of level 0 so far */
	uint32_t built;	       /* records with digests */
	uint32_t recent;       /* the record in `record`; NONE: none */
	VEC(uint8_t) record;
	struct sm_mirror_root of;
	uint32_t vms; /* changes of VMs in these pages */
	time_ps asked_at, work_at;
	struct sm_mirror_seen seen[SM_MIRRORS];
};

enum sm_stamp_state {
	SM_STAMP_UNKNOWN, /* a manager before this one may have left one */
	SM_STAMP_READING, /* Sets wait */
	SM_STAMP_CLEAR,
	SM_STAMP_SETTING,
	SM_STAMP_SET,
	SM_STAMP_CLEARING, /* Sets wait as well */
	SM_STAMP_REFUSED,  /* the switch does not keep it */
};

struct sm_stamp {
	enum sm_stamp_state state;
	uint64_t value, guid; /* of the switch */
	uint64_t m_key;
	uint32_t block;
	uint16_t gen;
	uint8_t hop; /* the manager's port, which leads there; 0: it is the manager's node */
	uint8_t tries;
	bool fresh;	  /* the switch held no table when it was found */
	time_ps deadline; /* with READING, SETTING and CLEARING */
};

struct sm_mirroring {
	struct sm_mirror_standby standby;
	struct sm_mirror_master master;
	struct sm_stamp stamp;
	uint64_t gmps, gmps_bad;
};

/* ---- for other rooms ---- */

void sm_mirror_init(struct sm *sm);
void sm_mirror_free(struct sm *sm);
void sm_mirror_time_back(struct sm *sm, time_ps by);
void sm_mirror_gmp(struct sm *sm, const struct sm_event *ev); /* a GMP arrived */
/* Whether this response to an SMP was the mirror's own. */
bool sm_mirror_response(struct sm *sm, const struct sm_event *ev);
void sm_mirror_work(struct sm *sm); /* at the end of each step: what is due */
time_ps sm_mirror_wake(const struct sm *sm);
void sm_mirror_phase(struct sm *sm, enum sm_phase from, enum sm_phase to);
void sm_mirror_outdated(struct sm *sm); /* the manager knows something else than before */
void sm_mirror_return(struct sm *sm);	/* the standby took over in vain, and has its copy again */
void sm_mirror_copies_unknown(struct sm *sm); /* another manager was master, or may have been */
/* The node of a manager that the copy has; 0: it has none there. */
uint64_t sm_mirror_manager_node(const struct sm *sm, uint64_t port_guid);
/* Whether a Set to a device must wait until the stamp is cleared; sm_sets_release() follows. */
bool sm_mirror_holds_set(struct sm *sm);
/* What a standby with this LID has of what this master knows now. */
enum sm_copy {
	SM_COPY_NONE, /* it did not ask of late, or there can be no mirror */
	SM_COPY_PART,
	SM_COPY_WHOLE,
};
enum sm_copy sm_mirror_copy(const struct sm *sm, uint16_t lid);
/* Changes of VMs that all standbys have which ask for copies; UINT32_MAX: none asks. */
uint32_t sm_mirror_holds_vms(const struct sm *sm);
time_ps
sm_mirror_silent_at(const struct sm *sm); /* when the next of these does not count any more */
/* Whether the block of the table has this stamp. */
bool sm_stamp_is(const uint8_t *block, uint64_t value);

/* ---- within the room ---- */

/* mirror_state.c */
time_ps sm_mirror_poll(const struct sm *sm); /* between two questions of a standby for the root */
bool sm_mirror_is_on(const struct sm *sm);   /* as configured */
bool sm_mirror_is_standby(const struct sm *sm); /* and not inactive */

/* mirror_pages.c */
void sm_pages_shape(struct sm_pages *p, uint32_t n); /* n pages, no memory */
void sm_pages_raise(struct sm_pages *p);	     /* levels 2 and on, from level 1 */
uint64_t sm_page_digest(const uint8_t *page);
/* Of a page that is not of the last level, whose next level is known. */
uint64_t sm_pages_digest(const struct sm_pages *p, unsigned level, uint32_t i);
uint64_t sm_pages_root(const struct sm_pages *p,
		       const uint8_t *last); /* last: the only page of the last level */
void sm_pages_free(struct sm_pages *p);

/* mirror_mads.c */
struct sm_mirror_mad {
	enum iba_method method;
	enum iba_mirror_attr attr;
	uint32_t modifier;
	uint64_t tid, nonce, root;
	uint16_t slid, dlid;
	uint8_t sl;
};
/* data: SM_PAGE bytes, or NULL: zeroes. */
void sm_mirror_send(struct sm *sm, const struct sm_mirror_mad *m, const uint8_t *data);
/* False: not of this class, or made without the SM_Key. */
bool sm_mirror_read(const struct sm *sm, const uint8_t *mad, struct sm_mirror_mad *m);

/* mirror_stamp.c */
bool sm_stamp_place(struct sm *sm);		  /* false: there is no switch for it */
void sm_stamp_set(struct sm *sm, uint64_t value); /* in the place that was found */
void sm_stamp_clear(struct sm *sm);
bool sm_stamp_response(struct sm *sm, const struct sm_event *ev);
void sm_stamp_overdue(struct sm *sm);
void sm_stamp_unknown(struct sm *sm);

/* mirror_master.c */
void sm_mirror_master_gmp(struct sm *sm, const struct sm_mirror_mad *m, uint16_t slid);
void sm_mirror_master_work(struct sm *sm);
void sm_mirror_master_drop(struct sm *sm);
void sm_mirror_master_free(struct sm *sm);

/* mirror_managers.c */
void sm_mirror_managers_find(struct sm *sm);
void sm_mirror_managers_ask(struct sm *sm); /* if it is time */

/* mirror_standby.c */
void sm_mirror_standby_gmp(struct sm *sm, const struct sm_mirror_mad *m, const uint8_t *data);
bool sm_mirror_standby_port(struct sm *sm, const struct sm_event *ev);
void sm_mirror_standby_work(struct sm *sm);
void sm_mirror_standby_begin(struct sm *sm);
void sm_mirror_take_over(struct sm *sm); /* the copy becomes saved state */
void sm_mirror_standby_free(struct sm *sm);

#endif
