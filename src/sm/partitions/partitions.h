/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partitions: the policy in force, P_Key tables that ports hold, and Sets of blocks that differ. Beside them, alias GUIDs.
 *
 * A VF behind a vSwitch has a table of its own, as the port of the vSwitch that leads to it: by the VM that is there, or by
 * its own GUID. Machines behind a shared port use the port's table, which has the keys of all of them; so has the port of a
 * switch behind which a hypervisor is, where it enforces partitions.
 *
 * Keeps: a copy of the policy; P_Key tables by node GUID and port or VF, as far as reads and acknowledged Sets tell; blocks
 * of GUIDInfo with alias GUIDs.
 * Promises: without a configuration of partitions nothing is read or set. Keys are added everywhere before keys are
 * removed anywhere, so that ports which may talk before and after a change may talk during it. A VF has its keys before it
 * is attached.
 */
#ifndef WEFT_SM_PARTITIONS_H
#define WEFT_SM_PARTITIONS_H

#include "policy/policy.h"
#include "sm/tables/tables.h"

enum { SM_PKEY_BLOCK = 32, SM_GUIDS = 8 }; /* in a block: of P_KeyTable, of GUIDInfo */

/* Asked: a Get is under way; sent: a Set is. */
enum sm_pkey_block_state { SM_PKEYS_UNKNOWN, SM_PKEYS_ASKED, SM_PKEYS_SENT, SM_PKEYS_KNOWN };

struct sm_pkey_table {
	uint16_t nblocks; /* 0: it was not looked at yet */
	uint16_t *held;	  /* SM_PKEY_BLOCK for each block; of one that is sent: what is being set */
	uint8_t *block;	  /* enum sm_pkey_block_state, by block */
	uint8_t sets;	  /* since the work began */
	time_ps set_at;	  /* the last one; 0: never */
	bool asking;	  /* for what must be known of its device first */
	bool given_up; /* the device refused, or does not keep what is set: the next round tries again */
	bool short_of; /* more keys are wanted than it has room for */
	bool doubtful; /* a copy of a Set may arrive late: it is read again */
};

struct sm_pkey_node {
	uint64_t guid;
	uint16_t width; /* ports and port 0, then VFs */
	struct sm_pkey_table *ports;
};

/* Whose table: of a port, or of a VF of the HCA behind it. */
struct sm_pkey_place {
	uint32_t port;
	unsigned slot; /* 0: the port itself */
};

/* One after the other, each over all ports, when all of the one before is acknowledged. */
enum sm_pkeys_stage { SM_PKEYS_READ, SM_PKEYS_ADD, SM_PKEYS_REMOVE, SM_PKEYS_VALUES, SM_PKEYS_END };

/* Eight entries of GUIDInfo of a port that has aliases, or had. */
struct sm_alias_block {
	uint64_t port_guid;
	uint64_t guid[SM_GUIDS]; /* that it should hold; 0: none */
	uint64_t sent[SM_GUIDS]; /* in the last Set */
	uint8_t block;
	uint8_t sets; /* in this round */
	bool asked;   /* a Set is under way */
	bool held;    /* the last one is acknowledged */
	bool verify;  /* a copy of a Set may have come late: it is read */
	bool given_up, doubtful;
	time_ps set_at; /* 0: never */
};

struct sm_aliases {
	VEC(struct sm_alias_block) blocks; /* by port GUID and block */
	struct map64 by_guid;		   /* aliases, to their number */
	bool work;			   /* blocks from this one on may differ: */
	size_t at;
	uint32_t asked;
};

struct sm_partitions {
	struct pol *policy; /* NULL: the default one */
	uint32_t number;    /* counts policies */
	bool serving;	    /* there is a configuration of partitions, or was */
	bool values;	    /* settings say what PortInfo holds beyond what the manager needs */
	VEC(struct sm_pkey_node) nodes;
	struct map64 by_guid;
	enum sm_pkeys_stage stage;
	struct sm_cursor at;
	struct {
		enum sm_pkeys_stage stage;
		uint32_t at;
		bool removing;	  /* VMs have moved; else they are about to */
	} moving;		  /* P_Keys of the running batch of VMs: vm_pkeys.c */
	VEC(struct pol_port) who; /* for whom a table is: room for one computation */
	bool restart;		  /* the work is to begin again */
	uint32_t asked;		  /* blocks and other questions without an answer */
	uint32_t written;	  /* blocks and ports set since the work began */
	time_ps reread_at;	  /* doubtful tables are read again; TIME_NEVER */
	struct sm_aliases aliases;
};

void sm_partitions_init(struct sm *sm);
void sm_partitions_free(struct sm *sm);
void sm_partitions_configured(struct sm *sm,
			      const struct sm_config *old); /* cfg is another one than old */

/* pkey_updates.c */
void sm_pkeys_round(struct sm *sm);    /* a round configures devices: ports may be new or others */
void sm_pkeys_at_rest(struct sm *sm);  /* work that a change interrupted begins again */
void sm_pkeys_outdated(struct sm *sm); /* names are others: members may be */
bool sm_pkeys_busy(const struct sm *sm);
bool sm_pkeys_updating(const struct sm *sm); /* without alias GUIDs */
bool sm_pkeys_open(const struct sm *sm);     /* or tables are still to be read again */
bool sm_pkeys_next(struct sm *sm, struct sm_req *r);
/* Whether the response, or the failure, is of a request of this room. */
bool sm_pkeys_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
bool sm_pkeys_fail(struct sm *sm, const struct sm_txn *t);
void sm_pkeys_doubt(struct sm *sm, struct sm_pkey_table *t,
		    time_ps until); /* it is read again then */
void sm_pkeys_doubling(struct sm *sm,
		       time_ps until); /* the subnet doubled an SMP: copies arrive until then */
time_ps sm_pkeys_wake(const struct sm *sm);
void sm_pkeys_wake_up(struct sm *sm); /* if it is time: tables in doubt are read */
void sm_partitions_time_back(struct sm *sm, time_ps by);
/* The next request for this table; false: there is none, or not before others are answered. */
bool sm_pkeys_place_next(struct sm *sm, struct sm_pkey_place at, enum sm_pkeys_stage stage,
			 struct sm_req *r);
/* All of its blocks, read or not, over the keys that another table holds; NULL: none does. */
bool sm_pkeys_write(struct sm *sm, struct sm_pkey_place at, const uint16_t *held, struct sm_req *r);
void sm_pkeys_table_begin(struct sm *sm, struct sm_pkey_table *t);

/* port_values.c: the Set that brings PortInfo of a port to what it should hold; false: it does, or the Set that arms it will */
bool sm_port_values_next(struct sm *sm, uint32_t port, struct sm_req *r);

/* vm_pkeys.c: P_Keys that go with the VMs of a batch */
void sm_vm_keys_begin(struct sm *sm, bool removing);
bool sm_vm_keys_next(struct sm *sm, size_t *job, struct sm_req *r); /* *job: for which of them */

/* pkey_holders.c */
/* For whom a table is, in partitions.who. adding: VMs of the running batch count both where they are and where they go. */
void sm_pkey_holders(struct sm *sm, struct sm_pkey_place at, bool adding);
unsigned sm_pkey_slots(const struct sm *sm, const struct sm_node *n); /* VFs with tables */
/* A VF with a LID, or one that this manager has set. */
bool sm_pkey_slot_serves(struct sm *sm, struct sm_pkey_place at);
struct pol_port sm_pol_port(const struct sm *sm, uint32_t port);

/* pkey_tables.c */
struct sm_pkey_table *sm_pkey_table(struct sm *sm,
				    struct sm_pkey_place at); /* made when there is none */
bool sm_pkeys_known(const struct sm_pkey_table *t);	      /* all its blocks */
/* How many keys a port can hold; 0: not known. */
unsigned sm_pkey_room(const struct sm *sm, uint32_t port);
void sm_pkeys_unknown(struct sm *sm, uint32_t node);
void sm_pkeys_restarted(struct sm *sm, uint32_t host); /* it may have, and no port shows it */
void sm_pkeys_port_read(struct sm *sm,
			uint32_t port); /* its PortInfo is new: it may have restarted */
void sm_pkeys_forget(struct sm *sm);	/* another manager writes them from now on */
/* The port of a host, or port 0 of a switch, whose keys this port holds: itself, or the one behind it; NONE: neither. */
uint32_t sm_pkeys_of(const struct sm *sm, uint32_t port);

/* alias_guids.c */
bool sm_aliases_next(struct sm *sm, struct sm_req *r);
void sm_aliases_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_aliases_fail(struct sm *sm, const struct sm_txn *t);

/* alias_state.c */
int sm_aliases_in(struct sm *sm, const struct sm_event *ev); /* -EINVAL: they make no sense */
bool sm_alias_is_taken(const struct sm *sm, uint64_t guid);
bool sm_aliases_busy(const struct sm *sm);
/* NULL: there is none. */
struct sm_alias_block *sm_alias_block(const struct sm *sm, uint64_t port_guid, unsigned block);
bool sm_alias_is_right(const struct sm_alias_block *b); /* the device holds what is wanted */
void sm_aliases_work(struct sm *sm);			/* blocks may differ */
void sm_alias_doubt(struct sm *sm, struct sm_alias_block *b, time_ps until); /* it is read then */
void sm_aliases_round(struct sm *sm);
void sm_aliases_unknown(struct sm *sm, uint32_t node); /* it may have restarted */
void sm_aliases_forget(struct sm *sm);		       /* another manager writes them from now on */
void sm_aliases_doubling(struct sm *sm, time_ps until);
void sm_aliases_doubts_end(struct sm *sm);
void sm_aliases_time_back(struct sm *sm, time_ps by);
void sm_aliases_free(struct sm *sm);

/* port_classes.c */
void sm_port_class_vls(const struct sm *sm, const struct sm_node *n, unsigned num,
		       struct pol_vls *v); /* without QoS: none */
uint8_t sm_vl_high_limit(const struct sm *sm, const struct sm_port *p);
/* VLs of SLs at an output port that has so many VLs, as the policy says; false: it does not. */
bool sm_qos_map(const struct sm *sm, uint32_t node, unsigned out, unsigned vls, uint8_t vl[RT_SLS]);

#endif
