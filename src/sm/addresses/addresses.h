/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs: which port has which, and when discovery assigns it.
 *
 * Keeps: LIDs by port GUID for the manager's whole life, and which LIDs the tables in the switches lead to.
 * Promises: a port keeps its LID.
 */
#ifndef WEFT_SM_ADDRESSES_H
#define WEFT_SM_ADDRESSES_H

#include "sm/topology/topology.h"

struct sm_lid {
	uint64_t guid;
	uint32_t epoch; /* when it was last seen */
	uint16_t lid;
	uint8_t lmc;
	bool set; /* by this manager, since it took the subnet over: the device's is not believed */
	bool given; /* by this manager, and no other master is known to have changed it */
};

struct sm_lids {
	VEC(struct sm_lid) list;
	struct map64 by_guid;
	uint8_t used[IBA_LID_MAX_UNICAST + 1];
	uint32_t holder[IBA_LID_MAX_UNICAST + 1]; /* of those: into list */
	uint8_t routed[IBA_LID_MAX_UNICAST + 1];  /* the tables in the switches lead there */
	uint32_t next[8];			  /* by LMC, where the search continues */
	uint16_t own;
	VEC(uint32_t) waiting; /* ports to get a LID once the SM's own is known */
	bool looked_again;     /* this discovery read ports without a LID once more */
	bool reregister; /* hosts are asked to register again, also where nothing else is set */
};

/* reregister.c */
/* Whether the port tells its clients to register again when it is asked to (ClientReregister). */
bool sm_port_reregisters(const struct sm_port *p);
void sm_hosts_registered(struct sm *sm); /* all of them were asked */

/* lids.c */
bool sm_lid_free(const struct sm *sm, uint32_t lid, unsigned lmc); /* not assigned to any port */
bool sm_lid_claim(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported);
/* Another master was last: the LID that the port has counts for more than the one that this manager gave. */
bool sm_lid_disown(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported);
uint16_t sm_lid_give(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported);
/* This manager assigned it; it may know others from a discovery alone. */
bool sm_lid_is_given(const struct sm *sm, uint64_t port_guid);
/* A copy of the master says that this port has it: newer than what this manager remembers. */
void sm_lid_recall(struct sm *sm, uint64_t guid, uint16_t lid, unsigned lmc);
void sm_lid_keep(struct sm *sm, uint64_t port_guid); /* its port was seen in this discovery */
/* This VF has this LID now; false: a port has it. */
bool sm_lid_exchange(struct sm *sm, uint64_t guid, uint16_t lid);
/* A discovery found it at this VF, which gets it unless the discovery has met another port or VF that has it. */
void sm_lid_found(struct sm *sm, uint64_t guid, uint16_t lid);
void sm_lid_release(struct sm *sm, uint64_t guid); /* its LID is free */
void sm_lids_init(struct sm *sm);
void sm_lids_free(struct sm *sm);
void sm_lids_reassign(struct sm *sm); /* all ports get LIDs again, in the order of discovery */
void sm_lids_unrouted(struct sm *sm); /* tables may lead to no LID any more */
void sm_lid_routed(struct sm *sm, uint16_t lid); /* tables lead there */
void sm_lids_waiting_clear(struct sm *sm);
void sm_lid_was_set(struct sm *sm, uint64_t port_guid);	  /* the device acknowledged it */
void sm_lid_was_given(struct sm *sm, uint64_t port_guid); /* the device has it */
void sm_lids_arrive(struct sm *sm); /* another manager may have set them since */
void sm_lid_own_unknown(struct sm *sm);

/* lid_assignment.c */
void sm_lid_assign(struct sm *sm, uint32_t port);
void sm_lid_assign_own(struct sm *sm, const struct sm_port *own);
void sm_lid_confirm(struct sm *sm, uint32_t port, const uint8_t *data); /* the answer */
void sm_lid_assign_deferred(struct sm *sm); /* a discovery has asked every device */
/* A port that had no LID was read once more. */
void sm_lid_appeared(struct sm *sm, uint32_t port, const struct iba_port_info *pi);

#endif
