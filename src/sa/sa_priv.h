/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of subnet administration share. A request goes from server.c over a row of attributes.c to its handler. */
#ifndef WEFT_SA_PRIV_H
#define WEFT_SA_PRIV_H

#include "base/map.h"
#include "base/vec.h"
#include "iba/rmpp.h"
#include "sa/sa.h"

/* ---- the subnet as requests ask for it: view.c ---- */

/* An end of paths: an endport, or a VF with a LID of its own. */
struct sa_end {
	uint64_t guid;
	port_id port;	     /* of a VF: of its HCA */
	uint16_t lid, nlids; /* the first LID and how many follow each other */
	uint8_t slot;	     /* of a VF behind a vSwitch; 0: of the port itself */
};

/* Alias GUIDs: aliases.h */
struct sa_alias_port {
	uint64_t port_guid;
	uint64_t *guid; /* by place in GUIDInfo; 0: none */
	uint16_t room, n;
};
struct sa_aliases {
	VEC(struct sa_alias_port) ports;
	struct map64 by_port, by_guid; /* port GUID and alias, to the entry of the port */
	uint32_t n, number;	       /* of all; counts changes */
};
uint64_t sa_alias_port(const struct sa_aliases *s, uint64_t guid); /* 0: it is no alias */

/* What a route finds behind a port, in one place of the memory: a walk goes over many ports, each of them somewhere else. */
struct sa_link {
	port_id far;   /* FAB_NONE: no link */
	uint32_t sw;   /* number of the switch there; FAB_NONE: it is none */
	uint16_t rate; /* the lower one of both ends, in units of 100 Mb/s */
	uint8_t mtu;   /* the same */
	uint8_t in;    /* number of the port there */
};

struct sa_view {
	const struct sa_aliases *aliases;
	const struct sm *sm;   /* for the call that is under way; NULL between calls */
	const struct fab *fab; /* its snapshot; NULL: none yet */
	uint32_t number;       /* of that snapshot */
	port_id *by_lid;       /* FAB_NONE where unused */
	uint32_t top_lid;
	VEC(struct sa_end) ends;  /* in the order of ports, VFs behind theirs */
	uint32_t *end_of;	  /* by LID: into ends, or FAB_NONE */
	struct map64 by_guid;	  /* port GUID to its end */
	struct map64 unaddressed; /* port GUID to port, of ports without a LID */
	/* Of each port, once paths were asked for: MTU, and rate in units of 100 Mb/s. NULL: they were not */
	uint8_t *mtu;
	uint16_t *rate;
	struct sa_link *links; /* the same of each link, by port */
	uint8_t least_mtu; /* of all links between switches: no route has less between its ends */
	uint16_t least_rate;
	bool *joined; /* by port: cables join it to the first switch */
	/* P_Keys of each end, from key_first[end] to key_first[end + 1]: where partitions are configured. NULL: not made */
	uint32_t *key_first;
	VEC(uint16_t) keys;
	uint32_t policy; /* number of the policy that they are of */
};

void sa_view_update(struct sa_view *v, const struct sm *sm);
void sa_view_free(struct sa_view *v);
port_id sa_port_by_lid(const struct sa_view *v, uint32_t lid);	 /* FAB_NONE */
port_id sa_port_by_guid(const struct sa_view *v, uint64_t guid); /* the same */
/* NULL: no such end. Aliases and vGUIDs of VMs that share a port are those of *shared, which the caller provides. */
const struct sa_end *sa_end_by_lid(const struct sa_view *v, uint32_t lid);
const struct sa_end *sa_end_by_guid(const struct sa_view *v, uint64_t guid, struct sa_end *shared);
void sa_view_links(struct sa_view *v); /* mtu, rate and links, if they are not there */
uint16_t sa_lid_of(const struct sa_view *v, port_id p); /* base LID of its node's port; 0 */
port_id sa_linked_port(const struct sa_view *v, node_id n, unsigned k); /* see view.c */

/* ---- partitions: path_keys.c. Without configured ones all of these are so ---- */

struct sa_request;
/* Whether an end is a member, full or limited; a P_Key of 0 is that of none. */
bool sa_end_has_key(struct sa *sa, const struct sa_end *e, uint16_t pkey);
/* The end is there and is not a member; false also where that cannot be told yet. */
bool sa_guid_lost_key(struct sa *sa, uint64_t guid, uint16_t pkey);
/* The same of the requester, or it is trusted. */
bool sa_asker_has_key(struct sa *sa, const struct sa_request *q, uint16_t pkey);

/* ---- rates: rates.c ---- */

unsigned sa_rate_number(uint32_t value); /* 0: none has this value */
unsigned sa_rate_of(const struct iba_port_info *pi);
int sa_rate_compare(unsigned a, unsigned b); /* < 0: a is slower */
unsigned sa_rate_below(unsigned rate);	     /* the next slower one; 0: there is none */
bool sa_rate_selected(enum iba_sa_selector s, unsigned wanted, unsigned rate);

/* ---- a request and its answer ---- */

enum sa_methods {
	SA_GET = 1,
	SA_TABLE = 2,
	SA_SET = 4,
	SA_DELETE = 8,
	SA_MULTI = 16,
	SA_TRACE = 32
};

struct sa_request {
	const uint8_t *mad;		    /* headers and data */
	size_t len;			    /* of it; at least IBA_MAD_SIZE */
	const uint8_t *query;		    /* the record in it */
	const struct iba_sa_layout *layout; /* NULL: ClassPortInfo */
	struct iba_sa_hdr hdr;
	enum sa_methods method;
	uint16_t lid; /* of the requester */
	bool trusted; /* it knows the SM_Key */
	time_ps now;
};

/* Records of an answer, one after another as in a table. */
struct sa_answer {
	uint8_t *bytes;
	size_t len, cap;
	size_t size; /* of a record: 8 bytes or a multiple */
	uint32_t n;
	uint16_t status;  /* 0, or why there are none */
	uint16_t attr_id; /* of the records; 0: that of the request */
	bool later;	  /* with IBA_STATUS_BUSY: forwarding tables are being computed */
};

/* Room for one more record, zeroed. */
uint8_t *sa_record(struct sa_answer *a);
/* The record that was added last is none: it does not match. */
void sa_record_drop(struct sa_answer *a);
/* Keeps the record that was added last if it has what the query asks for; but: components that the handler compared. */
void sa_record_match(struct sa_answer *a, const struct sa_request *q, uint64_t but);
/* Whether the mask names this component. */
#define sa_asks(q, stem, component) (((q)->hdr.mask & IBA_SA_BIT(stem, component)) != 0)

struct sa_attribute {
	uint16_t attr_id;
	const char *name;
	unsigned methods; /* of enum sa_methods */
	void (*answer)(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
};
extern const struct sa_attribute sa_attributes[]; /* ends with attr_id 0 */
extern const size_t sa_nattributes;

/* ---- long messages: transfers.c ---- */

struct sa_transfer {
	uint64_t tid;
	uint8_t *bytes; /* of a response; owned */
	struct iba_rmpp_out out;
	struct iba_rmpp_in in; /* of a request in segments */
	time_ps due;	       /* no answer by then: late */
	uint16_t lid;
	uint8_t sl;
	bool used, inbound;
	bool ready;  /* segments can be sent */
	bool queued; /* it is in the queue of those */
};

struct sa_transfers {
	VEC(struct sa_transfer) list; /* places are used again */
	VEC(uint32_t) unused;	      /* of them */
	struct map64 by;	      /* from LID, transaction and direction */
	uint16_t of_lid[IBA_LID_MAX_UNICAST + 1];
	uint32_t queue[SA_TRANSFERS]; /* a ring of those with segments to send */
	uint32_t head, nqueued;
	uint32_t n;
	size_t bytes;
	time_ps due;
	uint64_t segments, failed;
};

/* Takes bytes (a message as rmpp.h describes it) over. False: there is no room, and bytes are freed. */
bool sa_transfer_begin(struct sa *sa, uint16_t lid, uint8_t sl, uint8_t *bytes, size_t len,
		       time_ps now);
/* A MAD with RMPP active. *whole: a request that is complete with it, which the caller frees; NULL: it is not. */
void sa_transfer_take(struct sa *sa, const struct sa_mad *in, time_ps now, uint8_t **whole,
		      size_t *len);
bool sa_transfer_is_under_way(const struct sa *sa, uint16_t lid, uint64_t tid); /* a response */
bool sa_transfer_next(struct sa *sa, struct sa_mad *out, time_ps now);
void sa_transfers_late(struct sa *sa, time_ps now);
void sa_transfers_free(struct sa *sa);

/* ---- requests that wait for forwarding tables: held.c ---- */

struct sa_held {
	VEC(struct sa_mad) list; /* in the order in which they came */
	struct map64 by;	 /* hash of LID and transaction, to the last such one in the list */
	time_ps until;		 /* then they are answered with "busy"; TIME_NEVER: none waits */
	bool open;		 /* they are being answered: none is held again */
};

/* Whether the request is answered later. */
bool sa_hold(struct sa *sa, const struct sa_request *q, uint8_t sl);
/* The requests that waited, if they can be answered now or waited long enough; the caller frees them. */
bool sa_held_release(struct sa *sa, const struct sm *sm, time_ps now, struct sa_held *out);
void sa_held_free(struct sa *sa);

/* ---- what hosts have registered: registry.h ---- */

enum {
	SA_MLIDS = 0x3fff,   /* 0xc000 to 0xfffe */
	SA_PACKET_LIFE = 18, /* 4.096 us * 2^18: a second */
};
#define SA_LINK_LOCAL 0xfe80000000000000ull

struct sa_group;
struct sa_service;
struct sa_subscription;
struct sa_report;

struct sa_groups {
	VEC(struct sa_group) list; /* by MGID */
	uint32_t members;	   /* of all */
	uint32_t number;	   /* counts changes of members */
	uint32_t assigned;	   /* MGIDs by the SA */
	unsigned mlids;		   /* that every switch has room for; 0: not known */
	uint16_t uses[SA_MLIDS];   /* groups, by MLID */
	unsigned sls; /* that trees fit on whatever members are, as sm_multicast_sls(); 0: any */
	uint32_t sls_number;	   /* of the service levels for which this was found */
	uint8_t changed[SA_MLIDS]; /* by MLID: it is in the list of */
	VEC(uint16_t) others;	   /* MLIDs whose members are others since sa_trees() */
};

/* Ports, virtual functions and machines of the subnet: by GUID, with the LID that each has. */
struct sa_place {
	uint64_t guid;
	uint16_t lid;
};
struct sa_places {
	struct sa_place *at;
	size_t n, cap;
};

/* A standby's copy of the master's registrations: copy.c */
struct sa_copy {
	bool on, asking, whole; /* whole: there is one */
	unsigned step, tries;	/* which table is asked for */
	uint16_t own_lid, master_lid;
	uint8_t sl;
	uint64_t tid, copies;
	time_ps due;
	struct iba_rmpp_in in;
	struct sa_records table[4];
	uint16_t guid_lid;  /* of the last GUIDInfoRecord of block 0, */
	uint64_t guid_port; /* and its port */
};

/* ---- all of it ---- */

struct sa {
	struct sa_config cfg;
	struct sa_view view;
	bool serving;
	struct sa_transfers transfers;
	struct sa_held held;
	struct sa_mad *waiting; /* a ring of SA_WAITING short messages */
	uint32_t head, nwaiting;
	struct sa_groups groups;
	VEC(struct sa_service) services; /* by ServiceID, GID, P_Key */
	time_ps services_due;
	VEC(struct sa_subscription) subscriptions;
	struct sa_aliases aliases;
	VEC(struct sa_report) reports;
	struct map64 report_by; /* half a transaction to the place of its report */
	uint16_t reports_of[IBA_LID_MAX_UNICAST + 1];
	time_ps reports_due;
	uint64_t report_tid;
	VEC(struct sa_item) changes; /* for sa_changed() */
	size_t changes_taken;
	bool seeding;
	uint32_t vms;		/* sm_vms_number() at that time */
	struct sa_places ports; /* of the last snapshot, in order */
	time_ps now;
	uint16_t own_lid;
	uint8_t own_gid[16]; /* of the manager's port */
	struct sa_copy copy;
	uint32_t policy; /* number of the manager's, for which groups were made */
	bool policy_known;
	uint32_t checked; /* the same, for which registrations were compared with P_Keys */
	bool checked_known;
	struct sa_status counts;
	struct sa_count *by_attribute; /* as sa_attributes[] */
};

/* A short message; false: there is no room. */
bool sa_send(struct sa *sa, uint16_t lid, uint8_t sl, const uint8_t mad[IBA_MAD_SIZE]);

/* ---- handlers, by file ---- */

void sa_class_port_info(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_members(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_service_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_associations(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_inform(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_inform_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_nodes(struct sa *sa, const struct sa_request *q, struct sa_answer *a);

#endif
