/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The topology database: what discovery learnt of nodes, ports and links, how SMPs reach each device, and
 * the immutable snapshot made of it.
 *
 * Keeps: nodes and ports in the order in which they were met (node 0 is the SM's own), directed routes,
 * the snapshot in force. Promises: a snapshot is in GUID order and never changes.
 */
#ifndef WEFT_SM_TOPOLOGY_H
#define WEFT_SM_TOPOLOGY_H

#include "sm/core/core.h"

/* What discovery still wants to know of a node. Owner: discovery. */
struct sm_node_inquiry {
	uint16_t ports_left; /* PortInfos still to come */
	uint8_t reads_left;  /* partial: ports still to be read */
	uint8_t tries;	     /* new routes tried in this epoch */
	uint32_t answers;    /* how many came; */
	uint8_t strikes;     /* and questions given up since the last: see silent_devices.c */
	uint32_t polled;     /* epoch in which partial discovery last asked it for changes */
	uint32_t sought;     /* sm_reconnect() that asked it for its links */
	uint32_t told;	     /* epoch in which its trap came */
	uint32_t compared; /* epoch in which its links were found trained at the other end alone */
	bool has_si;	   /* SwitchInfo came */
	bool waits;	   /* contest: its port 0 is read first */
	bool ports_asked;
	bool uncleared; /* contest: ports were read while PortStateChange was set */
	bool unclaimed; /* contest: ports were read while no manager had configured it */
	bool reread;	/* and another manager may have cleared PortStateChange since */
	bool unread;	/* reported a change, and its ports were not all read since */
	bool explained; /* a port that went down or came up is why */
	bool armed;  /* a port was read that is Armed or Active: it did not restart before that */
	bool found;  /* and what it reported was seen */
	bool doubt;  /* it may have restarted: SwitchInfo was set while it reported a change */
	bool rises;  /* a port does: see below */
	bool silent; /* did not answer by the route it was last asked by */
	bool mute;   /* did not answer when it was last polled by its LID */
};

/* Thesis 5.4.3: every switch is waited for, then reachable or missing. */
enum sm_mark { SM_REACHABLE, SM_WAITING, SM_MISSING };

/* What discovery knows of a port. Owner: discovery. */
struct sm_port_inquiry {
	uint32_t met; /* epoch in which the link to peer was last seen */
	uint8_t mark; /* endports: enum sm_mark, during partial discovery */
	bool asked;   /* PortInfo was requested */
	bool known;   /* and came */
	/* Of a switch: it was not Active when it was read, and its switch was not asked for changes since it is. */
	bool rises;
	uint64_t read; /* partial: number of the request whose answer counts */
};

/* What was set in a port. Owner: tables. */
struct sm_port_order {
	bool stopped;	/* set to Down by this manager, and not Active since */
	bool pending;	/* a state was set, and the response has not come */
	bool in_doubt;	/* the other end was stopped: read it before it is armed */
	uint8_t set_in; /* audit.generation when its state was last set */
};

struct sm_node {
	uint64_t guid, sys_guid;
	uint32_t first_port;
	uint32_t vendor_id, revision;
	uint16_t device_id;
	uint16_t partition_cap; /* P_Keys that its ports can hold; 0: not known */
	uint8_t type, nports;
	uint8_t base_version, class_version;
	bool gone;	     /* was there once */
	bool unchanged;	     /* since its state was saved: see saved_answers.c */
	bool markless;	     /* does not keep the mark of disabled turns: see takeover.c */
	struct sm_path path; /* to a switch; endports are reached by their own */
	uint32_t row;	     /* of a switch: into dev.rows */
	node_id fab;	     /* in the snapshot, or FAB_NONE */
	struct iba_switch_info si;
	struct sm_node_inquiry ask;
};

struct sm_port {
	struct iba_port_info pi;
	uint64_t guid;
	uint32_t node, peer;
	struct sm_path path; /* endports only */
	uint8_t num;
	bool has_lid; /* its LID was set and confirmed */
	bool by_lid;  /* endports: the tables in the switches lead there and back */
	struct sm_port_inquiry ask;
	struct sm_port_order order;
};

/* A link that may carry data, though no SMP crosses it: see silent_links.c. */
struct sm_silent_link {
	struct sm_port_ref a, b;
};

/* What was known when a full discovery began: for those who ask until the next snapshot. */
struct sm_topology_before {
	VEC(struct sm_node) nodes;
	VEC(struct sm_port) ports;
	struct map64 by_guid;
};

struct sm_topology {
	uint32_t epoch; /* of the discovery */
	VEC(struct sm_node) nodes;
	VEC(struct sm_port) ports;
	struct sm_topology_before before;
	VEC(uint8_t) hops;
	struct map64 by_guid;	   /* node GUID -> node */
	struct map64 by_port_guid; /* -> endport; of two with one GUID, the last */
	unsigned max_hops;	   /* longest distance */
	unsigned max_resp;	   /* largest RespTimeValue seen */
	uint8_t subnet_timeout;
	struct fab *fab;   /* the snapshot */
	uint32_t snapshot; /* its number: it counts whenever another one is in force */
	VEC(struct sm_silent_link) silent;
	struct fab *
		data_fab; /* the snapshot with silent links; NULL: there is none between its nodes */
	uint16_t top_lid;  /* of the snapshot */
	uint32_t *node_of; /* fab node -> node */
};

/* nodes.c */
void sm_topology_free(struct sm *sm);
void sm_topology_clear(struct sm *sm); /* a full discovery begins: nothing is known */
/* A node of the snapshot, also while a discovery has forgotten all devices. */
const struct sm_node *sm_node_of(const struct sm *sm, node_id n);
void sm_topology_whole(struct sm *sm); /* it has ended: what was known before is not needed */
void sm_epoch_begin(struct sm *sm);
void sm_subnet_timeout_set(struct sm *sm, uint8_t value);
bool sm_is_endport(const struct sm *sm, const struct sm_port *p);
bool sm_in_use(const struct sm *sm, uint32_t port);	      /* an endport that was asked */
bool sm_is_own(const struct sm *sm, const struct sm_port *p); /* the port the SM sits on */
/* SMPs of the SM go on through it: hosts do not forward, and other ports of its own host are apart. */
bool sm_is_way_out(const struct sm *sm, const struct sm_port *p);
uint32_t sm_own_port(const struct sm *sm);
uint16_t sm_own_lid(const struct sm *sm); /* 0: not known */
/* The endport with this GUID: a switch that was met, or a host's port that was asked; NONE. */
uint32_t sm_port_by_guid(const struct sm *sm, uint64_t guid);
uint32_t sm_node_by_lid(const struct sm *sm, uint16_t lid); /* a switch, or NONE */
struct sm_target sm_target_node(uint32_t node);
struct sm_target sm_target_port(const struct sm *sm, uint32_t port);
struct sm_target sm_target_behind(const struct sm *sm, uint32_t port); /* NONE: the local node */
struct sm_target sm_target_block(uint32_t node, uint32_t block);
struct sm_target sm_target_turn(uint32_t node, unsigned in, unsigned out);
struct sm_path sm_path_to(const struct sm *sm, const struct sm_port *p);
struct sm_path sm_path_longer(struct sm *sm, struct sm_path p, uint8_t port);
/* The path that requests through a port start from. */
struct sm_path sm_path_through(const struct sm *sm, const struct sm_port *p);

/* topology_changes.c: the only writers of nodes, ports and links */
uint32_t sm_node_add(struct sm *sm, const struct iba_node_info *ni, struct sm_path path);
void sm_node_gone(struct sm *sm, uint32_t node);
void sm_node_unchanged(struct sm *sm, uint32_t node, bool unchanged);
void sm_node_markless(struct sm *sm, uint32_t node);
void sm_node_partition_cap(struct sm *sm, uint32_t node, uint16_t cap);
void sm_node_path(struct sm *sm, uint32_t node, struct sm_path path);
void sm_switch_learn(struct sm *sm, uint32_t node, const struct iba_switch_info *si);
void sm_switch_restart(struct sm *sm, uint32_t node); /* LinearFDBTop 0: all it held is lost */
void sm_switch_default_port(struct sm *sm, uint32_t node, uint8_t port);
void sm_port_learn(struct sm *sm, uint32_t port, const uint8_t *data); /* PortInfo */
/* A manager answered there; true: that was not known. */
bool sm_port_has_manager(struct sm *sm, uint32_t port);
void sm_port_took(struct sm *sm, uint32_t port,
		  const struct iba_port_info *pi);	  /* the same, decoded */
void sm_resp_time_seen(struct sm *sm, unsigned exponent); /* RespTimeValue of an endport */
void sm_port_guid(struct sm *sm, uint32_t port, uint64_t guid);
void sm_port_path(struct sm *sm, uint32_t port, struct sm_path path);
void sm_port_state(struct sm *sm, uint32_t port, unsigned state);
void sm_port_lid(struct sm *sm, uint32_t port, uint16_t lid, unsigned lmc);
void sm_port_timeout(struct sm *sm, uint32_t port, uint8_t value);	     /* SubnetTimeOut */
void sm_port_enforce(struct sm *sm, uint32_t port, uint8_t in, uint8_t out); /* partitions */
void sm_port_has_lid(struct sm *sm, uint32_t port, bool has);
void sm_port_by_lid(struct sm *sm, uint32_t port, bool by_lid);
void sm_link(struct sm *sm, uint32_t a,
	     uint32_t b);		      /* whatever was linked to either before is not */
void sm_unlink(struct sm *sm, uint32_t port); /* it has a link */

/* requests.c */
void sm_req_port(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t port);
void sm_req_node(struct sm *sm, struct sm_req *r, enum iba_method method, enum sm_purpose purpose,
		 uint32_t node, uint16_t attr_id, uint32_t attr_mod);
void sm_port_fill(struct sm *sm, const struct sm_port *p, struct iba_port_info *pi);
void sm_link_fill(struct sm *sm, const struct sm_port *p,
		  struct iba_port_info *pi); /* with its link's values */

/* smp_paths.c */
bool sm_route_holds(const struct sm *sm,
		    uint32_t endport); /* SMPs get there and back over the known links */
bool sm_route_home(const struct sm *sm, uint32_t node); /* from a switch to the SM */
struct sm_way {
	uint8_t hops[IBA_MAX_HOPS + 1], n;
	bool active; /* all of its links are */
};
void sm_way_add(struct sm_way *w, uint8_t port); /* one more hop, up to IBA_MAX_HOPS */
/*
 * For cfg.plain: a directed path instead of the LID-routed one, with `more` hops to follow;
 * false, and w empty: the LID-routed one works, or no other is known.
 */
bool sm_way_instead(const struct sm *sm, uint16_t lid, unsigned more, struct sm_way *w);
/* The way that SMPs to a LID take by known tables and links; false, and w empty: they do not get there. */
bool sm_way_by_tables(const struct sm *sm, uint16_t lid, struct sm_way *w);
uint32_t sm_own_port(const struct sm *sm);
uint8_t *
sm_nodes_linked(const struct sm *sm); /* by node: do known links lead there? Caller frees */
void sm_paths_rebuild(struct sm *sm);

/* snapshot.c */
void sm_snapshot_build(struct sm *sm);
void sm_snapshot_vlids(struct sm *sm); /* LIDs of VFs are others now */
void sm_top_raise(struct sm *sm, uint16_t lid);
bool sm_snapshot_stands(struct sm *sm); /* the snapshot in force is still valid */
void sm_snapshot_reach(struct sm *sm);	/* and if it does: by LID, as before */
void sm_snapshot_free(struct sm *sm);
/* LinearFDBTop of a switch may stay. */
uint16_t sm_linear_top(const struct sm *sm, const struct iba_switch_info *si);
bool sm_top_serves(const struct sm *sm, const struct iba_switch_info *si);

/* silent_links.c */
void sm_silent_links_find(struct sm *sm, const struct fab *was); /* the snapshot replaces another */
const struct fab *
sm_data_fab(const struct sm *sm); /* the snapshot, with the links that plans must count */
void sm_data_fab_free(struct sm *sm);
/* By a silent link to a device that is not met: what that forwards is not known. */
bool sm_leads_astray(const struct sm *sm, port_id p);
void sm_silent_turns(const struct sm *sm, rt_turns *out); /* from such ports to switches */

/* snapshot_diff.c: notes for the links and nodes that differ between two snapshots */
void sm_snapshot_diff_note(struct sm *sm, const struct fab *was, const struct fab *is,
			   const uint32_t *node_of); /* of the new one */

#endif
