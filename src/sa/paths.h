/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths over the tables that will be in force: PathRecord, MultiPathRecord and TraceRecord share these.
 *
 *	walk.step = sa_walk_begin(&walk, ...); while (walk.step == SA_ON) sa_walk_on(&walk);
 */
#ifndef WEFT_SA_PATHS_H
#define WEFT_SA_PATHS_H

#include "sa/records.h"

/* ---- a route, hop by hop: path_walk.c ---- */

enum sa_step { SA_ON, SA_THERE, SA_LOST };

struct sa_walk {
	const struct sa_view *v;
	const struct rt_tables *t;
	enum sa_step step;
	port_id to; /* where it is to arrive */
	uint16_t dlid;
	/* of the route so far */
	uint32_t hops; /* switches */
	uint16_t rate; /* in units of 100 Mb/s */
	uint8_t mtu, sl;
	/* with SA_ON: the switch where it is, and the port by which it came in */
	node_id node;
	uint32_t sw;	 /* its number among switches */
	uint8_t in, out; /* out: by which it left the last switch */
};

void sa_walk_begin(struct sa_walk *w, const struct sa_view *v, const struct rt_tables *t,
		   port_id from, port_id to, uint16_t dlid);
void sa_walk_on(struct sa_walk *w); /* over the switch where it is */

/* ---- what a request wants: path_wish.c ---- */

struct sa_bound {
	bool asked; /* selector and value */
	uint8_t selector, value;
};

struct sa_wish {
	struct sa_bound mtu, rate, life;
	bool has_pkey, has_sl, reversible, has_service_id, has_qos_class;
	uint64_t service_id;
	uint16_t pkey, qos_class;
	uint8_t sl;
	uint16_t slid, dlid; /* 0: any */
	uint32_t paths;	     /* of each pair of ends, at most */
};

struct sa_path {
	const struct sa_end *from, *to;
	uint16_t slid, dlid, pkey;
	uint8_t sl, mtu, rate, life, preference;
	bool reversible;
};

enum {
	SA_PATHS_ALL = UINT32_MAX,
	SA_PATH_LIFE = 18,	   /* 4.096 us * 2^18: a second */
	SA_TABLE_BYTES = 64 << 20, /* of one answer: a million paths */
};

/* Whether MTU and rate are such as IBA has; a request for others is refused. */
bool sa_wish_is_valid(const struct sa_wish *w);
/* Whether MTU, rate and life of a path satisfy the wish, which is valid. MTU and rate may be lowered for that: a sender may send less. */
bool sa_bounds_hold(const struct sa_wish *w, struct sa_path *p);

/* ---- quality of service: path_levels.c ---- */

struct sa_level {
	bool none;    /* it allows no path */
	unsigned has; /* POL_HAS_* of policy.h */
	uint8_t sl, mtu, rate, life;
	uint16_t pkey;
	const struct pol *policy;	   /* NULL: no level applies */
	const struct pol_range *path_bits; /* numbers of DLIDs in their range; nbits 0: any */
	size_t nbits;
};

/* What the policy says of paths between two ends. */
void sa_level_of(struct sa *sa, const struct sa_wish *w, const struct sa_path *p,
		 struct sa_level *l);
void sa_level_apply(const struct sa_level *l, bool lanes, struct sa_path *p);
bool sa_level_takes(const struct sa_level *l, unsigned path_bits);

/* ---- paths.c ---- */

typedef bool sa_path_sink(void *ctx, const struct sa_path *p); /* false: enough */

/* Paths between two ends, best first. False: the sink has enough. */
bool sa_paths_between(struct sa *sa, const struct sa_request *q, const struct sa_wish *w,
		      const struct sa_end *from, const struct sa_end *to, sa_path_sink *sink,
		      void *ctx);
void sa_path_put(const struct sa *sa, const struct sa_path *p, uint8_t *out);
/* The end with this GID. NULL: none; of another subnet, or no GUID of this one. */
const struct sa_end *sa_end_by_gid(const struct sa *sa, const uint8_t gid[16],
				   struct sa_end *shared);

/* The ends that a PathRecord names; NULL: it names none on that side. 0, or why there is no path. */
struct sa_path_ends {
	const struct sa_end *from, *to;
	struct sa_end shared_from, shared_to; /* for sa_end_by_guid() */
};
uint16_t sa_path_ends(const struct sa *sa, const struct sa_request *q,
		      const struct iba_sa_path *ask, struct sa_path_ends *e);
/* Paths can be answered: there are tables. Else the answer has its status. */
bool sa_paths_ready(struct sa *sa, struct sa_answer *a);

/* ---- paths to multicast groups: path_groups.c ---- */

void sa_path_to_group(struct sa *sa, const struct sa_request *q, const struct iba_sa_path *ask,
		      struct sa_answer *a);

/* ---- partitions: path_keys.c ---- */

/* Whether the ends share a partition in which one of them is a full member. pkey 0: any; *found is the key of the path. */
bool sa_ends_share(struct sa *sa, const struct sa_end *a, const struct sa_end *b, uint16_t pkey,
		   uint16_t *found);
unsigned sa_end_membership(struct sa *sa, const struct sa_end *e,
			   uint16_t pkey); /* enum pol_membership; 0: none */
/* The k-th end that a request from this LID may come from: a port, or one of the machines that share it. NULL: no more. */
const struct sa_end *sa_asker(const struct sa *sa, uint16_t lid, unsigned *k,
			      struct sa_end *machine);
struct pol_port;
void sa_policy_port(const struct sa *sa, const struct sa_end *e, struct pol_port *p);

#endif
