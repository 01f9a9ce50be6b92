/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What hosts have registered: multicast groups and their members, services, subscriptions. Each is an item with a key and a
 * value, so that a program can save it (sa_changed()) and give it back (sa_seed()) without knowing what it is about.
 *
 * registry.c   items out and in; ports that have left the subnet
 * groups.c     groups, members, multicast LIDs
 * members.c    MCMemberRecord: the rules of creating, joining and leaving
 * services.c   ServiceRecord with leases, ServiceAssociationRecord
 * subscriptions.c  InformInfo, InformInfoRecord
 * reports.c    notices to subscribers, repeated until they are answered
 * aliases.c    GUIDInfoRecord: further GUIDs of ports
 */
#ifndef WEFT_SA_REGISTRY_H
#define WEFT_SA_REGISTRY_H

#include "sa/sa_priv.h"

/* ---- groups.c ---- */

enum sa_join { /* JoinState (IBA 15.2.5.17) */
	       SA_FULL = 1,
	       SA_NON_MEMBER = 2,
	       SA_SEND_ONLY = 4,
	       SA_SEND_ONLY_FULL = 8,
	       SA_KEEPS = SA_FULL | SA_SEND_ONLY_FULL, /* such members create a group and keep it */
};

struct sa_member {
	uint8_t gid[16]; /* of the port */
	uint8_t join;	 /* of enum sa_join */
	bool proxy;	 /* another port joined for it */
};

struct sa_group {
	struct iba_sa_member r;	       /* all that its members share: r.mgid, r.mlid and so on */
	bool permanent;		       /* of the configuration: it stays without members */
	VEC(struct sa_member) members; /* by GID */
};

/* Groups are by MGID. NULL: there is none. */
struct sa_group *sa_group_find(struct sa *sa, const uint8_t mgid[16]);
/* A copy of r with an MLID; 0 or a status: no room. *out is valid until the next group is added or removed. */
uint16_t sa_group_add(struct sa *sa, const struct iba_sa_member *r, bool permanent,
		      struct sa_group **out);
void sa_group_remove(struct sa *sa, struct sa_group *g);
struct sa_member *sa_member_find(struct sa_group *g, const uint8_t gid[16]);
/* Adds to its join state, or makes it a member. 0 or a status. */
uint16_t sa_member_join(struct sa *sa, struct sa_group *g, const uint8_t gid[16], unsigned join,
			bool proxy);
/* Takes from its join state; without any it is no member, and a group without full members ends. True: it ended. */
bool sa_member_leave(struct sa *sa, struct sa_group *g, struct sa_member *m, unsigned join);
void sa_group_level(struct sa *sa, struct sa_group *g, uint8_t sl);
/* Where routes use several lanes, trees fit on some SLs only: permanent groups without members get one of these. */
void sa_permanent_levels(struct sa *sa, unsigned sls);
void sa_groups_port_gone(struct sa *sa, uint64_t guid);
void sa_groups_keys_changed(struct sa *sa);
void sa_groups_free(struct sa *sa);
void sa_groups_forget(struct sa *sa); /* all of them */
void sa_groups_tell_all(struct sa *sa);

/* ---- services.c, subscriptions.c, reports.c ---- */

struct sa_service {
	uint8_t record[176]; /* on the wire */
	time_ps ends;	     /* of its lease; TIME_NEVER */
};

struct sa_subscription {
	uint8_t gid[16]; /* of the subscriber's port */
	uint16_t lid;	 /* when it subscribed; 0: not known */
	uint16_t number;
	uint8_t sl;
	struct iba_sa_inform f;
};

struct sa_report {
	uint64_t guid;	 /* of the subscriber, and */
	uint16_t number; /* which of its subscriptions */
	uint16_t lid;
	uint8_t sl, tries;
	uint64_t tid;
	time_ps due;
	struct iba_notice n;
	uint8_t issuer[16];
};

void sa_services_due(struct sa *sa, time_ps now);
time_ps sa_services_next(const struct sa *sa);
void sa_services_free(struct sa *sa);
void sa_services_keys_changed(struct sa *sa);
void sa_services_tell_all(struct sa *sa);
void sa_subscriptions_port_gone(struct sa *sa, uint64_t guid);
void sa_subscriptions_free(struct sa *sa);
void sa_subscriptions_tell_all(struct sa *sa);
/* Tells those who want to know. issuer: GID; NULL: the manager's own notice. */
void sa_notice(struct sa *sa, struct iba_notice *n, const uint8_t issuer[16]);
void sa_notice_gid(struct sa *sa, unsigned trap, const uint8_t gid[16]); /* 64 to 67 */
void sa_report_answered(struct sa *sa, const struct sa_mad *in);
/* Its port has another LID now: reports that it has not answered go there. */
void sa_reports_moved(struct sa *sa, uint64_t guid, uint16_t lid);
void sa_reports_drop(struct sa *sa, uint64_t guid, uint16_t number);
void sa_reports_due(struct sa *sa, time_ps now);
void sa_reports_free(struct sa *sa);
time_ps sa_reports_next(const struct sa *sa);

/* ---- registry.c ---- */

/* An item that is there now, or is gone. */
void sa_item_put(struct sa *sa, enum sa_kind kind, const void *key, size_t key_len,
		 const void *value, size_t len);
void sa_item_drop(struct sa *sa, enum sa_kind kind, const void *key, size_t key_len);
bool sa_gid_is_local(const struct sa *sa, const uint8_t gid[16]); /* of this subnet */
uint64_t sa_gid_guid(const uint8_t gid[16]);
void sa_gid_make(const struct sa *sa, uint64_t guid, uint8_t gid[16]);
uint16_t sa_gid_lid(const struct sa *sa, const uint8_t gid[16]);	/* 0: it has none now */
bool sa_gid_of_lid(const struct sa *sa, uint16_t lid, uint8_t gid[16]); /* false: no port has it */
/* Whether it is one of the GIDs of the port, or VF, with this LID: a port may have several. */
bool sa_gid_is_at(const struct sa *sa, const uint8_t gid[16], uint16_t lid);
/* The port of a GID: a port, or that of the HCA of a virtual function; FAB_NONE. */
port_id sa_gid_port(const struct sa *sa, const uint8_t gid[16]);
/* After another snapshot, or machines that share ports elsewhere: notices 64 and 65 for what came, left or has another
 * LID. What a port registered ends when it leaves, and stays when its LID changes. */
void sa_registry_ports_changed(struct sa *sa);
/* Ports that are not in the partition of a group or service any more are no members of it, and have it no more. */
void sa_registry_keys_changed(struct sa *sa);
/* A GID of a port that is there: it came into service, or is out of it. */
void sa_registry_gid_came(struct sa *sa, uint64_t guid, uint16_t lid);
void sa_registry_gid_gone(struct sa *sa, uint64_t guid);
void sa_registry_free(struct sa *sa);
void sa_registry_forget(struct sa *sa); /* all of it, without a word to the caller */
/* This manager is master now, and its items are others than before: the caller gets all of them. */
void sa_registry_tell_all(struct sa *sa);

/* ---- permanent_groups.c ---- */

void sa_policy_groups(struct sa *sa,
		      const struct sm *sm); /* after another policy, and when it begins to serve */

/* ---- copy.c ---- */

void sa_copy_work(struct sa *sa, const struct sm *sm, time_ps now);
void sa_copy_take(struct sa *sa, const struct sa_mad *in, time_ps now);
time_ps sa_copy_due(const struct sa *sa);
void sa_copy_free(struct sa *sa);

/* Services: the restored form of a record. */
bool sa_service_seed(struct sa *sa, const struct sa_item *it, time_ps now);
bool sa_group_seed(struct sa *sa, const struct sa_item *it);
bool sa_member_seed(struct sa *sa, const struct sa_item *it);
bool sa_subscription_seed(struct sa *sa, const struct sa_item *it);

#endif
