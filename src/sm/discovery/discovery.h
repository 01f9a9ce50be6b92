/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Discovery: full and partial discovery, sweeps, devices that no longer answer, and the first discovery of
 * a manager that takes over a running subnet.
 *
 * Keeps: the queue of questions, what kind of discovery runs, what it found and whether it can be trusted.
 */
#ifndef WEFT_SM_DISCOVERY_H
#define WEFT_SM_DISCOVERY_H

#include "sm/topology/topology.h"

enum sm_work_kind {
	W_NODE_INFO,
	W_SWITCH_INFO,
	W_CLEAR_CHANGE,
	W_PORT_INFO,
	W_SET_LID,
	W_TABLE,      /* a block of the linear table a switch was found with */
	W_TURN,	      /* an SL-to-VL table: is that turn off? */
	W_SM_INFO,    /* who is the SM at this port? */
	W_PORT_CHECK, /* did it change before PortStateChange could be cleared? */
	/* partial discovery, of switches that are known: */
	W_POLL, /* SwitchInfo: did a port change? */
	W_CLEAR_KNOWN,
	W_PORT_STATE, /* PortInfo: did this one? */
	W_PORT_AGAIN, /* the same, of one port alone */
	W_PORT_PEEK,  /* only a look whether it is dead: see early_repair.c */
};

struct sm_work {
	enum sm_work_kind kind;
	uint32_t
		ref; /* node or port, by kind; W_NODE_INFO: the port that leads there, NONE: local */
	uint32_t which; /* block, or turn as the attribute modifier has it */
};

struct sm_memory; /* restore/saved_state.h */

struct sm_discovering {
	VEC(struct sm_work) work;
	size_t work_head;
	bool dirty;  /* this discovery does not show the subnet as it is */
	bool unseen; /* an earlier one did not, and only a full discovery can tell what is there */
	bool full_needed; /* what is known cannot be built upon */
	bool partial;	  /* the running discovery is one */
	bool changed;	  /* it found something new */
	bool grown;	  /* it explores something that came up */
	bool guessed;	  /* it ended before all was known */
	bool taking_over; /* the first round, on a fabric that was managed before */
	bool all_met;	  /* then: no more LIDs can turn up */
	bool found_old;	  /* and tables were found: they stay if they serve */
	bool in_vain;	  /* the last one found nothing: sweeps keep their time */
	bool read_ports;  /* partial: a switch told of a change when asked */
	bool arriving;	  /* no round has come to its end since the start, or since it stood by */
	VEC(uint32_t)
	suspects; /* nodes that told of a change, or failed, since the last discovery */
	uint32_t restarts;
	VEC(uint64_t) shunned; /* GUIDs of devices that refused again and again: left out for now */
	bool far;	       /* discovery stopped at 63 hops somewhere */
	uint32_t far_nodes;    /* nodes known when it last did */
	struct sm_memory *memory; /* of an earlier SM, for the first discovery; NULL: none */
};

struct sm_sweeping {
	time_ps start, duration, next;
	time_ps retry_at, backoff_ps;
};

/* requests.c */
void sm_ask(struct sm *sm, enum sm_work_kind kind, uint32_t ref);
void sm_ask_for(struct sm *sm, enum sm_work_kind kind, uint32_t ref, uint32_t which);
bool sm_work_make(struct sm *sm, struct sm_work w, struct sm_req *r);
bool sm_work_spared(const struct sm *sm, struct sm_work w); /* known since it was to be asked */

/* takeover.c */
void sm_found_begin(struct sm *sm);
void sm_found_switch(struct sm *sm, uint32_t node); /* its port 0 is known */
void sm_found_ports(struct sm *sm, uint32_t node);  /* all of them are */
void sm_found_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data);
void sm_found_turn(struct sm *sm, uint32_t node, uint32_t turn, const uint8_t *data);
bool sm_lid_must_wait(struct sm *sm, const struct sm_port *p, unsigned lmc);
uint8_t sm_subnet_timeout_of(const struct sm *sm, uint32_t node); /* with a mark if turns are off */
uint8_t sm_subnet_timeout_found(const struct sm *sm, uint8_t wanted);
bool sm_mark_make(struct sm *sm, uint32_t node,
		  struct sm_req *r); /* false: it is as it should be */

/* full_discovery.c */
void sm_discover_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_discover_fail(struct sm *sm, const struct sm_txn *t);
void sm_discover_again(struct sm *sm);

/* partial_discovery.c: a switch met by NodeInfo through a port that came up; and one that told of a
 * change */
void sm_partial_met(struct sm *sm, uint32_t node, struct sm_path path);
void sm_partial_suspect(struct sm *sm, uint32_t node);
void sm_poll(struct sm *sm, uint32_t node);

/* missing_devices.c */
bool sm_in_use(const struct sm *sm, uint32_t port);	/* an endport that was asked */
bool sm_is_missing(const struct sm *sm, uint32_t node); /* a switch */
uint32_t sm_work_node(const struct sm *sm, enum sm_work_kind kind, uint32_t ref);
bool sm_work_of_known(enum sm_work_kind kind); /* asked of switches that were known before */
uint32_t sm_node_by_lid(const struct sm *sm, uint16_t lid); /* a switch, or NONE */
void sm_miss(struct sm *sm, uint32_t endport);
void sm_miss_cut_off(struct sm *sm);
bool sm_unlink_port(struct sm *sm, uint32_t port); /* false: there was no link */
void sm_partial_moved(struct sm *sm, uint32_t endport);
void sm_partial_lost(struct sm *sm, uint32_t port); /* the link at this port is gone */
bool sm_reconnect(struct sm *sm);		    /* true: something is asked, or reached */
void sm_drop_lost(struct sm *sm);

/* early_repair.c */
bool sm_guess_possible(const struct sm *sm);
void sm_guess(struct sm *sm, uint32_t port);
bool sm_guess_switch(struct sm *sm,
		     uint32_t port); /* true: it is taken for dead, and discovery over */
void sm_guess_check(struct sm *sm);

/* sweep.c */
void sm_sweep_plan(struct sm *sm); /* when the next is due, counted from now */

#endif
