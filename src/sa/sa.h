/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnet administration (IBA 15): requests of hosts in, responses out, over what the manager knows. Pure, as the manager
 * is: time comes in with each call, and the caller sends what sa_next() gives.
 *
 *	sa_take(sa, sm, &mad, now)     a MAD of the class SubnAdm arrived
 *	sa_manager(sa, sm, now)        after each step of the manager: its snapshot or state may be another one
 *	sa_wake(sa, now)               the time of sa_due() has come (early or late does no harm)
 *	while (room) sa_next(sa, &out) what is to be sent, one MAD at a time, so that no queue of the caller overflows
 *
 * Only a master answers. While it has no snapshot yet, it answers "busy"; a manager that is not master is silent, since
 * hosts send requests to the master (IBA 15.4). Whatever bytes a MAD holds, the worst that happens is that it is counted
 * and ignored. Memory is bounded: see the limits below.
 */
#ifndef WEFT_SA_H
#define WEFT_SA_H

#include "iba/sa_wire.h"
#include "sm/sm.h"

struct sa;

#define SA_DEFAULT_PREFIX 0xfe80000000000000ull

struct sa_config {
	uint64_t
		sm_key; /* requests with it are trusted; those with another one but 0 are dropped */
	uint64_t prefix;    /* of GIDs of this subnet */
	unsigned resp_time; /* RespTimeValue of ClassPortInfo: 4.096 us * 2^n */
};
void sa_config_default(struct sa_config *c);

enum {
	SA_TRANSFERS = 4096,	       /* long messages under way, of all hosts */
	SA_TRANSFERS_OF_ONE = 64,      /* and of one LID */
	SA_TRANSFER_BYTES = 256 << 20, /* of all of them together */
	SA_LONG_REQUEST = 64 << 10,    /* bytes of a request in segments */
	SA_WAITING = 8192,	       /* short responses that are not sent yet */
};

struct sa_mad {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t lid; /* received: of its sender; to be sent: of its receiver */
	uint8_t sl;
};

/* How requests ended, for counters by attribute. */
enum sa_result {
	SA_ANSWERED,  /* with status 0 */
	SA_REFUSED,   /* with another status */
	SA_UNTRUSTED, /* dropped: a wrong SM_Key */
	SA_DROPPED,   /* dropped: no room for the response */
	SA_NRESULTS
};

struct sa_count { /* of one attribute */
	uint16_t attr_id;
	const char *name; /* "PathRecord" */
	uint64_t requests, results[SA_NRESULTS];
};

struct sa_status {
	bool serving; /* it is master and has a snapshot */
	uint64_t requests, responses, bad, silent, busy;
	uint64_t by_status
		[9]; /* refusals: 0 MADHeader.Status of all classes, 1 to 8 as enum iba_sa_status >> 8 */
	uint64_t segments_sent, transfers_failed;
	uint64_t reports, reports_unanswered, reports_dropped;
	uint64_t copies; /* a standby: of what the master has registered */
	uint32_t groups, members, services, subscriptions, aliases, reports_waiting;
	uint32_t transfers, waiting;
	size_t transfer_bytes;
};

/* ---- what hosts have registered ---- */

enum sa_kind {
	SA_ITEM_GROUP,
	SA_ITEM_MEMBER,
	SA_ITEM_SERVICE,
	SA_ITEM_SUBSCRIPTION,
	SA_ITEM_ALIAS,
	SA_NKINDS
};
enum { SA_KEY = 64, SA_VALUE = 192 };
enum {
	SA_GROUPS = 16383,	 /* multicast groups; they may share LIDs */
	SA_GROUPS_OF_ONE = 1024, /* groups that one port may have created, */
	SA_MEMBERS = 1 << 20,	 /* members of all groups */
	SA_SERVICES = 1 << 16,	 /* and of one port: */
	SA_SERVICES_OF_ONE = 256,
	SA_SUBSCRIPTIONS = 1 << 17,
	SA_SUBSCRIPTIONS_OF_ONE = 64,
	SA_ALIASES = 1 << 16,	     /* GUIDs; of one port as many as its GUIDInfo has room for */
	SA_REPORTS = 1 << 16,	     /* notices that are not acknowledged yet, */
	SA_REPORTS_OF_ONE = 1 << 14, /* and of one LID */
};

struct sa_item {
	enum sa_kind kind;
	bool gone;
	uint16_t key_len, len;
	uint8_t key[SA_KEY], value[SA_VALUE];
};

/* The next item that is new, other or gone since the last call; false: there are no more. Drain it after each call. An item
 * of kind SA_NKINDS that is gone: all of before are. */
bool sa_changed(struct sa *sa, struct sa_item *it);
/* An item of an earlier time; groups before their members. False: it makes no sense, or there is no room. */
bool sa_seed(struct sa *sa, const struct sa_item *it, time_ps now);

/* What the manager must know of groups: LIDs and their members. The number counts whenever that is another one. */
struct sa_tree_member {
	uint64_t guid; /* of the port */
	bool receives, sends;
};
struct sa_tree {
	uint16_t mlid;
	uint8_t sl;
	uint32_t first, n; /* members, in the array */
};
uint32_t sa_trees_number(const struct sa *sa);
/* All that have members; or those that are others since the last call, some of them perhaps without members now. The
 * caller frees both. */
void sa_trees(struct sa *sa, bool all, struct sa_tree **trees, uint32_t *ntrees,
	      struct sa_tree_member **members, uint32_t *nmembers);

/* Alias GUIDs of ports, for the manager. The number counts whenever they are others. The caller frees the list. */
uint32_t sa_aliases_number(const struct sa *sa);
size_t sa_aliases_list(const struct sa *sa, struct sm_alias **list);

struct sa *sa_new(const struct sa_config *c);
void sa_free(struct sa *sa);
void sa_reconfigure(struct sa *sa, const struct sa_config *c);

void sa_take(struct sa *sa, const struct sm *sm, const struct sa_mad *in, time_ps now);
void sa_trap(struct sa *sa, const struct sm *sm, const struct sa_mad *in,
	     time_ps now); /* to subscribers */
void sa_manager(struct sa *sa, const struct sm *sm, time_ps now);
void sa_wake(struct sa *sa, time_ps now);
time_ps sa_due(const struct sa *sa);			      /* TIME_NEVER: nothing is */
bool sa_next(struct sa *sa, struct sa_mad *out, time_ps now); /* false: there is nothing to send */
void sa_time_back(struct sa *sa, time_ps by);		      /* as sm_time_back() */

/*
 * The records that a trusted request for a table of this attribute would get, for the program itself; nothing is counted
 * or sent. query: the record of the query, NULL: nothing is named. 0 or a status; the caller frees out->bytes.
 */
struct sa_records {
	uint8_t *bytes;
	size_t size;
	uint32_t n;
};
uint16_t sa_look(struct sa *sa, const struct sm *sm, uint16_t attr_id, uint64_t mask,
		 const uint8_t *query, struct sa_records *out, time_ps now);

/* Ports, virtual functions and machines behind shared ports that shall hold a key of a partition, in the order of ports; where partitions are not
 * configured, all of them hold the full key of the default one. Returns their number; the caller frees the list. */
struct sa_partition_member {
	uint64_t guid;
	port_id port;	 /* of a virtual function, or a machine: of its HCA */
	unsigned slot;	 /* of a virtual function behind a vSwitch; 0 */
	unsigned member; /* enum pol_membership */
};
size_t sa_partition_members(struct sa *sa, const struct sm *sm, uint16_t pkey, time_ps now,
			    struct sa_partition_member **list);
uint16_t sa_group_mlid(const struct sa *sa, const uint8_t mgid[16]); /* 0: no such group */

uint32_t sa_rate_value(unsigned rate); /* PathRecord.Rate in units of 100 Mb/s; 0: no such rate */

void sa_status(const struct sa *sa, struct sa_status *st);
bool sa_count_at(const struct sa *sa, size_t n, struct sa_count *c); /* false: there are no more */

#endif
