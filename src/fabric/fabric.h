/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subnet as an immutable snapshot in dense arrays.
 *
 * Nodes and ports are numbered from 0; between modules these numbers travel, never pointers. A node
 * with n ports owns n + 1 consecutive port ids: slot 0 is a switch's management port (on a CA or
 * router it exists but is never linked), slots 1..n are the physical ports. So the id of port p is
 * `node.first_port + p`, without a search.
 *
 * An HCA with virtual functions (SR-IOV) has two views. Compact, for routes and managers: one CA with one
 * port, sriov and vfs; the LIDs of its VFs are vlids. Wire, what devices show: fab_wire() makes a switch of
 * an HCA in vSwitch mode, with a CA for each function behind it. virtual.c has both.
 *
 * A snapshot is made by a builder and not changed afterwards; fab_free() gives it back. Node order is
 * the order in which nodes were added, and everything that walks a snapshot walks it in that order.
 */
#ifndef WEFT_FABRIC_H
#define WEFT_FABRIC_H

#include "base/base.h"
#include "base/map.h"
#include "base/vec.h"
#include "iba/iba.h"

typedef uint32_t node_id;
typedef uint32_t port_id;
#define FAB_NONE UINT32_MAX

enum fab_speed { /* of one lane; order is by rate */
		 FAB_SPEED_UNKNOWN,
		 FAB_SDR,   /* 2.5 Gb/s, 8b/10b */
		 FAB_DDR,   /* 5 */
		 FAB_QDR,   /* 10 */
		 FAB_FDR10, /* 10.3125, 64b/66b */
		 FAB_FDR,   /* 14.0625 */
		 FAB_EDR,   /* 25.78125 */
		 FAB_HDR,   /* 53.125, PAM4 */
		 FAB_NDR,   /* 106.25, PAM4 */
		 FAB_XDR,   /* 212.5, PAM4 */
		 FAB_NSPEEDS
};

enum fab_node_flags {
	FAB_ENHANCED_PORT0 = 1, /* switch whose port 0 is a full port (may have an LMC) */
	FAB_SHARP_AN = 2,	/* a SHARP aggregation node: a CA inside a switch */
	FAB_VSWITCH = 4,	/* wire view: the switch inside an HCA */
	FAB_FUNCTION = 8,	/* wire view: a physical or virtual function behind it, a CA */
	FAB_LATER = 16,		/* a run adds it: it has no power at the start */
};

enum fab_sriov {
	FAB_SRIOV_NONE,
	FAB_SRIOV_VSWITCH, /* each VF has a LID and a GUID */
	FAB_SRIOV_SHARED,  /* VFs share the LID of the HCA; each has a GUID */
};

enum {
	FAB_MAX_VFS =
		IBA_MAX_VFS, /* a vSwitch has a port for each, one for the PF and the uplink: 254 */
	FAB_UPLINK = 1,	     /* port of a vSwitch; the function of slot s is behind port 2 + s */
	FAB_SLOT0_PORT = 2,
};

struct fab_node {
	uint64_t guid, sys_guid;
	port_id first_port;
	uint32_t name; /* offset into strings: fab_node_name() */
	uint32_t vendor_id;
	uint16_t device_id;
	uint8_t type;	/* enum iba_node_type */
	uint8_t nports; /* physical ports, 1..254 */
	uint8_t flags;	/* enum fab_node_flags */
	uint8_t sriov;	/* enum fab_sriov; only CAs with one port */
	uint8_t vfs;	/* virtual functions, 1..FAB_MAX_VFS with SR-IOV */
	/* Entries of a switch's forwarding tables, for the simulator; 0: as it has them. One with a random table has no
	 * linear one. */
	uint16_t linear_cap, random_cap, mcast_cap;
};

enum { FAB_MCAST_MAX = 0x4000 }; /* multicast LIDs */

struct fab_port {
	uint64_t guid; /* 0 on a switch's external ports */
	node_id node;
	port_id peer;	   /* FAB_NONE when nothing is connected */
	uint32_t cable_cm; /* length of the cable, the same at both ends; 0 when not known */
	uint16_t lid;	   /* base LID, 0 when not known; switches carry it on port 0 */
	uint8_t lmc;
	uint8_t num;   /* 0..nports */
	uint8_t width; /* lanes: 1, 2, 4, 8, 12; 0 when not known */
	uint8_t speed; /* enum fab_speed */
};

/* A LID of a virtual function. Slot 0 is the PF, only where it has a LID besides that of its HCA. */
struct fab_vlid {
	uint64_t guid; /* of the port */
	port_id port;  /* of the HCA */
	uint16_t lid;  /* never 0 */
	uint8_t slot;
};

struct fab {
	uint32_t nnodes, nports; /* nports counts slots, with port 0 of every node */
	uint32_t nswitches, nhosts, nrouters, nlinks;
	struct fab_node *nodes;
	struct fab_port *ports;
	node_id *switches;	/* the switches' node ids, in node order */
	uint32_t *switch_index; /* node id -> position in switches[], FAB_NONE for others */
	uint32_t nvlids;
	struct fab_vlid *vlids; /* by port, slot, LID */
	char *strings;
	struct map64 by_guid; /* node GUID -> node id */
};

/* ---- asking ---- */

static inline port_id fab_port_id(const struct fab *f, node_id n, unsigned num)
{
	return f->nodes[n].first_port + num;
}

static inline bool fab_is_switch(const struct fab *f, node_id n)
{
	return f->nodes[n].type == IBA_NODE_SWITCH;
}

static inline const char *fab_node_name(const struct fab *f, node_id n)
{
	return f->strings + f->nodes[n].name;
}

node_id fab_node_by_guid(const struct fab *f, uint64_t guid); /* FAB_NONE */
node_id fab_node_by_text(const struct fab *f,
			 const char *s); /* GUID in hex, S-/H-/R-/T- id, or exact name */
/* S-0002000000000001; T and the node's number where an earlier node has the same GUID. */
void fab_node_ident(const struct fab *f, node_id n, char buf[32]);
const char *fab_speed_name(unsigned speed); /* "SDR" ... */
uint64_t fab_lane_bps(unsigned speed);	    /* data bits a second of one lane after encoding */

/* A length such as 3m, 0.5m, 50cm or 1.2km at *at, up to 100 km; false, with *at where it was, when
 * there is none. fab_cable_text() writes what it reads; 0 is "unknown". */
#define FAB_CABLE_MAX_CM 10000000u
bool fab_cable_take(const char **at, const char *end, uint32_t *cm);
void fab_cable_text(char buf[16], uint32_t cm);

/* The LIDs of the VFs behind p; returns how many. */
uint32_t fab_vlids_of(const struct fab *f, port_id p, const struct fab_vlid **first);

/* Largest LID in use (last of a port's 2^lmc, or of a VF), 0 when none is assigned. */
uint32_t fab_top_lid(const struct fab *f);
uint32_t fab_lid_count(const struct fab *f);
/* Whether one is the PF behind the other, a vSwitch, in the wire view. */
bool fab_may_share_lid(const struct fab *f, port_id a, port_id b);

/* lid -> port id, FAB_NONE where unused; top_lid + 1 entries, caller frees. LIDs of VFs lead to the port of
 * their HCA. -EEXIST on a double; a PF in the wire view may share that of its vSwitch, which has it here. */
int fab_lid_table(const struct fab *f, port_id **table, uint32_t *top_lid, struct err *e);

/* ---- building ---- */

struct fab_builder;

struct fab_builder *fab_builder_new(void);
void fab_builder_free(struct fab_builder *b); /* only when it is not built */
node_id fab_add_node(struct fab_builder *b, enum iba_node_type type, uint64_t guid, unsigned nports,
		     const char *name);
struct fab_node *fab_builder_node(struct fab_builder *b, node_id n); /* until the next add */
struct fab_port *fab_builder_port(struct fab_builder *b, node_id n, unsigned num);
node_id fab_builder_find(const struct fab_builder *b, uint64_t guid);
void fab_builder_rename(struct fab_builder *b, node_id n, const char *name);
/* Connect two ports. -EINVAL: no such port, or a port to itself. -EEXIST: one is taken. */
int fab_add_link(struct fab_builder *b, node_id a, unsigned pa, node_id c, unsigned pc);
/* A LID of the function in this slot of HCA n; none when lid is 0. guid 0: the function's own. */
void fab_add_vlid(struct fab_builder *b, node_id n, unsigned slot, uint16_t lid, uint64_t guid);
void fab_builder_drop_vlids(struct fab_builder *b);
struct fab *fab_build(struct fab_builder *b); /* consumes the builder */
void fab_free(struct fab *f);

/* A copy of f in which every port that needs a LID has one: LIDs in f stay where they are valid and
 * unique, the others are given in node order, aligned to 2^lmc (switches with a base port 0 always
 * have LMC 0). -ENOSPC when 0xbfff is passed. VFs keep valid LIDs; fab_assign_vf_lids() gives one to each
 * VF of a connected HCA in vSwitch mode ("prepopulated"), after all ports have theirs. */
struct fab *fab_assign_lids(const struct fab *f, unsigned lmc, struct err *e);
struct fab *fab_assign_vf_lids(const struct fab *f, unsigned lmc, struct err *e);

/* A copy of f to start changing from. */
struct fab_builder *fab_builder_from(const struct fab *f);

/* ---- virtual functions ---- */

bool fab_is_virtual(const struct fab *f);   /* has an HCA with SR-IOV */
const char *fab_sriov_name(unsigned sriov); /* "none", "vswitch", "shared" */
/* A copy of f in which each CA with one port has so many VFs (0: none). */
struct fab *fab_with_vfs(const struct fab *f, enum fab_sriov sriov, unsigned vfs);
uint64_t fab_function_guid(uint64_t hca, unsigned slot);

/*
 * The wire view of a compact fabric. An HCA in vSwitch mode becomes a switch with the same node id, GUID and
 * name, the port GUID on port 0, and 2 + vfs ports; nodes of the functions follow all nodes of f, by HCA,
 * then slot: "host0 PF", "host0 VF1". The LID of the HCA is on port 0 and on the PF. NULL with e filled when
 * a GUID of a function is in use, or the result would have more than 16,777,216 ports.
 */
struct fab *fab_wire(const struct fab *f, struct err *e);

/* The wire view of a fabric in any view. A capture of devices lacks functions that were Down: they are there again. */
struct fab *fab_devices(const struct fab *f, struct err *e);

/* The compact view again. Functions that are not behind a vSwitch stay as they are. */
struct fab *fab_fold(const struct fab *wire);

/* ---- the netlist text of ibnetdiscover and ibsim ---- */

struct fab_warning {
	uint32_t line; /* 0: about the whole file */
	char *text;    /* names both ends where a link is concerned; without file and line */
};

struct fab_netlist {
	struct fab *fab;
	VEC(struct fab_warning) warnings;
};

/* Parse text (name is for messages: "file:line: ..."). On failure -EINVAL with e filled and out
 * untouched. On success the caller frees out with fab_netlist_free(), which also frees out->fab
 * unless it was taken (set to NULL). */
int fab_netlist_parse(struct fab_netlist *out, const char *name, const char *text, size_t len,
		      struct err *e);
int fab_netlist_load(struct fab_netlist *out, const char *path, struct err *e); /* "-" is stdin */
void fab_netlist_free(struct fab_netlist *n);
void fab_netlist_write(const struct fab *f, struct strbuf *out);
/* What a writer knows better than the snapshot: names, and members of copies of a node or of a port with a link. */
struct fab_netlist_look {
	void *ctx;
	const char *(*name)(void *ctx, node_id n);
	void (*node)(void *ctx, struct fab_node *n);
	void (*port)(void *ctx, struct fab_port *p);
};
/* The text of some nodes: the parts in their order are the whole. look may be NULL. */
void fab_netlist_write_part(const struct fab *f, const struct fab_netlist_look *look, node_id first,
			    uint32_t count, struct strbuf *out);

/* ---- generators: one function a family, all through fab_generate ---- */

struct fab_gen {
	const char *kind; /* "irregular", "mtree", ... */
	unsigned dims[8]; /* sizes in the order the family documents */
	unsigned ndims;
	unsigned ports; /* ports a switch; 0: the family's default */
	unsigned hosts; /* hosts a switch or in all, as the family documents; see has_hosts */
	bool has_hosts;
	unsigned links; /* irregular: links between switches; 0: as many as fit */
	unsigned leaves,
		leaf_hosts; /* irregular: the last switches have one link, and so many hosts */
	uint64_t seed;
	bool duplicates;       /* odd: with nodes and ports that share a GUID or a LID */
	unsigned width, speed; /* of every link; 0: 4X QDR */
	uint32_t cable_cm;     /* length of every cable; 0: not known */
	uint32_t trunk_cm;     /* of those between switches, when not the same */
	enum fab_sriov sriov;  /* of every CA with one port */
	unsigned vfs;	       /* and how many VFs it has */
};

struct fab_family {
	const char *kind, *dims_help, *summary, *example;
	struct fab *(*make)(const struct fab_gen *g, struct err *e);
};

extern const struct fab_family fab_families[];			  /* ends with kind == NULL */
struct fab *fab_generate(const struct fab_gen *g, struct err *e); /* NULL with e filled */

/* ---- looking at a snapshot ---- */

struct fab_stats {
	uint32_t switches, hosts, routers, links, switch_links, isolated;
	uint32_t components; /* subnets, nodes without links included; a host joins none */
	uint32_t diameter;   /* longest shortest path between switches, in hops between switches */
	uint32_t host_diameter; /* the same between hosts, in links */
	uint32_t levels; /* distinct distances of switches from the nearest host-bearing switch */
	uint32_t degree_min, degree_max; /* connected ports of a switch */
	uint64_t degree_sum;
	uint32_t ports_free;		/* switch ports with nothing connected */
	uint32_t rate[FAB_NSPEEDS][13]; /* links by speed and width */
	uint32_t cables; /* links whose length is known; the shortest, longest, all together */
	uint32_t cable_min_cm, cable_max_cm;
	uint64_t cable_sum_cm;
	uint32_t hypervisors[3], vfs[3]; /* HCAs and their VFs, by enum fab_sriov */
};

void fab_stats(const struct fab *f, struct fab_stats *s);

/* Distance in links from `from` to every node over all links (hosts and routers do not forward);
 * UINT32_MAX where unreachable. dist has nnodes entries. */
void fab_distances(const struct fab *f, node_id from, uint32_t *dist);

/*
 * The ports of the subnet that `from` is in: all those of its switches, and those of hosts and routers that
 * are linked to one of these or to `from`. A host with ports in two subnets does not join them. in has
 * nports entries.
 */
void fab_subnet(const struct fab *f, port_id from, bool *in);

enum fab_diff_kind {
	FAB_NODE_ADDED,
	FAB_NODE_GONE,
	FAB_LINK_ADDED,
	FAB_LINK_GONE,
	FAB_NODE_CHANGED
};
struct fab_diff_item {
	enum fab_diff_kind kind;
	uint64_t guid_a, guid_b; /* b: the other end of a link, else 0 */
	uint8_t port_a, port_b;
	char *text; /* for FAB_NODE_CHANGED: what changed; of others NULL, or what a caller adds */
};
typedef VEC(struct fab_diff_item) fab_diff_list;

/* Items sorted by kind, then GUID, then port; guid_a < guid_b (or port_a < port_b). */
void fab_diff(const struct fab *before, const struct fab *after, fab_diff_list *out);
/* The same without what is not asked for. */
enum { FAB_DIFF_LIDS = 1, FAB_DIFF_RATES = 2, FAB_DIFF_ALL = 3 };
void fab_diff_some(const struct fab *before, const struct fab *after, unsigned what,
		   fab_diff_list *out);
void fab_diff_free(fab_diff_list *l);

#endif
