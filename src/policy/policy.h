/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an operator wants of partitions and of quality of service (QoS), as data: partitions with their
 * members and multicast groups, levels of service and the rules that select one for a path. The manager
 * and the SA ask it questions; it knows no device and sends nothing.
 *
 *	struct pol *p = pol_new();
 *	pol_read_partitions(p, "partitions.conf", text, len, &e);
 *	n = pol_pkeys(p, &port, keys, ARRAY_LEN(keys));
 *
 * The order of definitions is part of the result: of two definitions that name a port, the later one
 * counts, as in OpenSM. The caller owns a policy; answers hold no pointers into it unless said.
 */
#ifndef WEFT_POLICY_H
#define WEFT_POLICY_H

#include "base/vec.h"
#include "iba/iba.h"

enum {
	POL_NAME = 80,		  /* bytes of a name, its end included */
	POL_DEFAULT_KEY = 0x7fff, /* base of the default partition's key */
	POL_FULL_BIT = 0x8000,
	POL_MOST_KEYS = 2048, /* that one port is asked to hold */
};

/* A port as a policy sees it. */
struct pol_port {
	uint64_t guid, node_guid;
	enum iba_node_type type;
	unsigned num;		 /* of the port in its node */
	const char *description; /* NodeDescription; "" or NULL: not known */
	bool is_sm;		 /* the manager sits here */
};

/* ---- partitions ---- */

enum pol_membership { POL_LIMITED = 1, POL_FULL = 2, POL_BOTH = 3 };
const char *pol_membership_name(enum pol_membership m);

/* Whom a member stands for. A name is a NodeDescription in which * and ? match any text and any character,
 * with "/P2" at its end port 2 of that node alone. */
enum pol_who {
	POL_ALL,
	POL_ALL_CAS,
	POL_ALL_SWITCHES,
	POL_ALL_ROUTERS,
	POL_SELF, /* the manager's port */
	POL_GUID, /* of the port */
	POL_NAMED,
	POL_NWHO
};
const char *pol_who_name(enum pol_who w); /* "ALL_CAS"; NULL: it has no word */

struct pol_member {
	enum pol_who who;
	enum pol_membership as;
	uint64_t guid;
	char name[POL_NAME];
};

/* A multicast group that exists without a join. */
struct pol_group {
	uint8_t mgid[16];
	uint16_t pkey; /* with POL_FULL_BIT */
	uint16_t mlid; /* wish; 0: any */
	uint32_t qkey;
	uint8_t sl, rate, mtu; /* codes of IBA */
	uint8_t scope, tclass, hop_limit;
	uint32_t flow_label;
	bool broadcast; /* an IPoIB group of the partition itself: IPv4 broadcast or IPv6 all nodes */
};

/* Values of groups, as flags of a definition or of a group give them. */
struct pol_group_flags {
	uint8_t sl, rate, mtu, tclass;
	uint16_t scopes; /* bit for each; 0: link local */
	uint32_t qkey, flow_label;
	bool has_sl;
};

struct pol_partition {
	char name[POL_NAME];
	uint16_t pkey;			/* base: without POL_FULL_BIT */
	bool indx0;			/* its key comes first in the tables of its members */
	bool ipoib;			/* one of its definitions */
	struct pol_group_flags flags;	/* of the last definition */
	VEC(struct pol_member) members; /* the last one that names a port counts */
	VEC(struct pol_group) groups;
};

/* ---- quality of service ---- */

struct pol_range {
	uint64_t from, to;
};
typedef VEC(struct pol_range) pol_ranges;

/* Ports that rules name. A port belongs to it by any of these. */
struct pol_port_group {
	char name[POL_NAME];
	pol_ranges guids;
	pol_ranges pkeys;				 /* bases: members of these partitions */
	VEC(struct pol_member) members;			 /* all but POL_GUID; `as` does not count */
	VEC(struct { char name[POL_NAME]; }) partitions; /* members of these, by name */
};

enum { POL_HAS_SL = 1, POL_HAS_MTU = 2, POL_HAS_RATE = 4, POL_HAS_LIFE = 8, POL_HAS_PKEY = 16 };

struct pol_level {
	char name[POL_NAME];
	unsigned has; /* POL_HAS_* */
	uint8_t sl, mtu, rate, life;
	uint16_t pkey;
	pol_ranges path_bits;
};

struct pol_rule {
	VEC(uint32_t) sources, destinations; /* port groups; none: any port */
	pol_ranges qos_classes, service_ids, pkeys;
	uint32_t level;
	bool ulp; /* of the simplified section */
};

/* Kinds of ports with tables of their own; what one does not say, the default says. */
enum pol_class {
	POL_ANY_PORT,
	POL_CA_PORT,
	POL_SWITCH_PORT0,
	POL_SWITCH_PORT,
	POL_ROUTER_PORT,
	POL_NCLASSES
};
const char *
pol_class_name(enum pol_class c); /* "default", "ca", "sw0", "swe", "rtr", as OpenSM calls them */

enum {
	POL_HAS_HIGH_LIMIT = 1,
	POL_HAS_HIGH = 2,
	POL_HAS_LOW = 4,
	POL_HAS_SL2VL = 8,
	POL_VLARB_MOST = 64
};

struct pol_vlarb {
	uint8_t vl, weight;
};

struct pol_vls {
	unsigned has; /* POL_HAS_HIGH_LIMIT and others */
	uint8_t high_limit;
	uint8_t nhigh, nlow;
	struct pol_vlarb high[POL_VLARB_MOST], low[POL_VLARB_MOST];
	uint8_t sl2vl[16]; /* 15: packets of this SL are dropped */
};

struct pol {
	bool both; /* a port may hold both keys of a partition; else a member as both is a full one */
	bool qos;	 /* service levels count; else all is SL 0 */
	bool configured; /* an operator defined partitions: not just the default one */
	VEC(struct pol_partition) partitions;
	VEC(struct pol_port_group) port_groups;
	VEC(struct pol_level) levels;
	VEC(struct pol_rule) rules; /* in the order in which they are tried */
	uint32_t default_level;	    /* UINT32_MAX: none */
	struct pol_vls vls[POL_NCLASSES];
	bool qos_setup; /* the file has a section qos-setup, which has no effect, as in OpenSM */
};

/* ---- life (policy.c) ---- */

/* The policy without a configuration: one partition with all ports as full members, for IPoIB. */
struct pol *pol_new(void);
struct pol *pol_copy(const struct pol *p);
void pol_free(struct pol *p);
bool pol_same(const struct pol *a, const struct pol *b);
/* Starts the partitions of a configuration: from here on the default partition has all ports as limited members
 * and the manager's as a full one, until definitions say otherwise. */
void pol_partitions_begin(struct pol *p);
/* The partition with this key (0: of this name, else with the first free key) as it is, or a new one; NULL: no key is free. It moves when the next one is made. */
struct pol_partition *pol_partition(struct pol *p, const char *name, uint16_t pkey);
const struct pol_partition *pol_partition_find(const struct pol *p, uint16_t pkey); /* NULL: none */
/* A definition of the partition begins: flags of earlier ones do not count for its groups; but the SL stays until another one
 * is given. */
void pol_definition_begin(struct pol_partition *t);
/* Adds the groups of IPoIB to a partition, by its flags. */
void pol_ipoib_groups(struct pol_partition *t);
/* Adds one group with these flags, or one for each scope. -EINVAL with a reason: no such group can be. */
int pol_group_add(struct pol_partition *t, const uint8_t mgid[16], const struct pol_group_flags *f,
		  struct err *e);
void pol_group_flags_default(struct pol_group_flags *f);

/* ---- reading OpenSM's files (partitions_conf.c, qos_policy_conf.c) ---- */

/* Definitions are added to p; without any p stays as it is, as OpenSM takes such a file. Faults are "FILE:LINE: expected ..., found ...", -EINVAL, and p is of no use any
 * more. */
int pol_read_partitions(struct pol *p, const char *file, const char *text, size_t len,
			struct err *e);
int pol_read_qos(struct pol *p, const char *file, const char *text, size_t len, struct err *e);
/* One value of a flag by its name: "rate", "mtu", "sl", "scope", "Q_Key", "TClass", "FlowLabel". -ENOENT: not
 * such a flag; -EINVAL with "expected ..., found ..." */
int pol_group_flag(struct pol_group_flags *f, const char *flag, const char *value, struct err *e);
/* A member by word, GUID (0x...), or else name. -EINVAL with a reason. */
int pol_member_parse(struct pol_member *m, const char *who, const char *membership, struct err *e);

/* Decimal, or hexadecimal with 0x, from min to max: 0 or -EINVAL. */
int pol_number(const char *s, uint64_t min, uint64_t max, uint64_t *v);
int pol_gid_parse(const char *s, uint8_t gid[16]);	  /* 0 or -EINVAL */
void pol_name_set(char name[POL_NAME], const char *text); /* cut where it is longer */

/* ---- VL arbitration and SL-to-VL tables (policy_vls.c) ---- */

/* One value by its name in OpenSM: "high_limit" (0 to 255), "vlarb_high" and "vlarb_low" ("0:4,1:64": VL and weight),
 * "sl2vl" ("0,1,2": VLs of SLs in order; 0 for those that are not listed). -ENOENT: no such name; -EINVAL
 * with a reason. */
int pol_vls_set(struct pol_vls *v, const char *key, const char *text, struct err *e);
/* For ports of this kind, with what the default says; .has tells which values there are. */
void pol_vls_of(const struct pol *p, enum pol_class c, struct pol_vls *v);
bool pol_has_sl2vl(const struct pol *p); /* for ports of any kind */

/* ---- as YAML (policy_yaml.c) ---- */

/* The lists of a weft.yaml: `partitions.list`, `qos.groups`, `qos.levels`, `qos.rules`; nothing for an empty one. */
void pol_print_partitions(const struct pol *p, struct strbuf *out);
void pol_print_qos(const struct pol *p, struct strbuf *out);

/* ---- questions ---- */

/* How this port belongs to the partition; 0: not at all. */
unsigned pol_membership(const struct pol *p, const struct pol_partition *t,
			const struct pol_port *port);
/* The P_Key table that the port shall have: the first is that of a partition with indx0, else the default one;
 * the others follow in the order in which OpenSM puts them. Returns their number, which may be more than max. */
size_t pol_pkeys(const struct pol *p, const struct pol_port *port, uint16_t *keys, size_t max);
/* The same, where keys of `held` that are wanted stay at their places: applications use indexes. Entries
 * without a key are 0. Returns the number of entries used; -ENOSPC: they do not fit into max. */
int pol_pkeys_over(const struct pol *p, const struct pol_port *port, const uint16_t *held,
		   size_t nheld, uint16_t *keys, size_t max);
/* The same for a table that several share: machines behind the port of their host. Keys of the first port are as if it were
 * alone; what others need besides follows. */
size_t pol_pkeys_all(const struct pol *p, const struct pol_port *ports, size_t nports,
		     uint16_t *keys, size_t max);
int pol_pkeys_over_all(const struct pol *p, const struct pol_port *ports, size_t nports,
		       const uint16_t *held, size_t nheld, uint16_t *keys, size_t max);
/* Whether two ports may talk: they share a partition, and one of them is a full member. pkey: this one, or 0
 * for any; *found (may be NULL) is the key that the first port uses. */
bool pol_share(const struct pol *p, const struct pol_port *a, const struct pol_port *b,
	       uint16_t pkey, uint16_t *found);
bool pol_names_used(const struct pol *p); /* NodeDescriptions decide about members */

/* The groups of all partitions; returns their number, which may be more than max. */
size_t pol_groups(const struct pol *p, struct pol_group *groups, size_t max);

struct pol_query {
	const struct pol_port *src, *dst;
	bool has_service_id, has_qos_class, has_pkey;
	uint64_t service_id;
	uint16_t qos_class, pkey;
};

/* What a path must obey. MTU and rate are the highest allowed, life is at most this. */
struct pol_path {
	unsigned has; /* POL_HAS_*: which of these are set */
	uint8_t sl, mtu, rate, life;
	uint16_t pkey;
	const pol_ranges *path_bits; /* of the policy; NULL: any */
	const char *level;	     /* its name, of the policy; NULL: no level applies */
};
/* The level of the first rule that matches, else the default one; the SL of the partition where no level has one. */
void pol_path(const struct pol *p, const struct pol_query *q, struct pol_path *path);

#endif
