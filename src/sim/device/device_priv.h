/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The devices' inside: what a node and a port keep, and the functions of this room, from the bottom
 * up. A function calls those of files above it in this list, never below. Each .c file says what it
 * does.
 */
#ifndef WEFT_DEVICE_PRIV_H
#define WEFT_DEVICE_PRIV_H

#include "sim/kernel/kernel_priv.h"

enum { TRAP_SLOT_LINK, TRAP_SLOT_MKEY, TRAP_SLOT_CHANGE, TRAP_SLOTS };

struct trap_slot {
	bool pending;
	uint32_t sent;
	time_ps due;	 /* of the repetition that counts */
	uint32_t serial; /* part of the transaction id: a new event is a new notice */
	struct iba_notice notice;
	uint8_t port; /* where an endport's trap leaves */
};

/* What every packet needs comes first, in one cache line: up to the middle of PortInfo. */
struct sim_port {
	port_id peer;
	uint32_t link_epoch;	       /* incremented whenever the link goes up or down */
	struct iba_vlarb_table *vlarb; /* 4 blocks once one was set */
	struct iba_port_info pi;
	uint16_t *pkeys; /* pkey_cap entries once one was set; NULL: 0xffff alone */
	uint64_t *guids; /* 8 entries once one was set */
	uint64_t vguid;	 /* of a VF: as VFInfo set it; 0: the fabric's */
	uint32_t lease_epoch;
	uint32_t reregisters; /* orders that clients register again */
	bool lease_runs;
	bool by_vswitch; /* of a function: LID and state are its vSwitch's, which a manager sets */
	uint8_t fdr10_supported, fdr10_enabled, fdr10_active; /* 0 or 1; link_rate.c */
	time_ps tx_free; /* when the transmitter is idle again */
	time_ps wire_ps; /* propagation to the peer */
	time_ps byte_ps;
	uint64_t byte_q16; /* the same in 2^-16 ps: exact for every rate */
} __attribute__((aligned(64)));

/* The switch inside an HCA: LIDs of the functions behind its ports, as their PortInfo has them. */
struct vswitch {
	bool shared; /* the PF has the LID of port 0 */
	struct {
		uint16_t lid, mask;
	} at[IBA_MAX_VFS + 3]; /* by port */
};

struct sim_node {
	bool on;
	uint32_t incarnation;	 /* incremented whenever it goes on or off */
	uint32_t q_head, q_tail; /* SMI queue; the head is in service */
	uint32_t q_len;
	struct iba_switch_info si;
	uint8_t *lft;
	uint32_t lft_size;   /* entries held; those beyond are 255 */
	struct iba_rft *rft; /* random_cap / 16 blocks once one was set */
	uint32_t rft_used;   /* blocks up to the last that was set */
	uint16_t *mft;	     /* mft_cap * 16 masks once one was set */
	uint32_t mft_used;   /* MLIDs up to the last block that was set */
	uint32_t mft_changes;
	uint8_t *slvl;		 /* [(nports+1)][(nports+1)][16] once one was set */
	char *desc;		 /* NodeDescription, 64 bytes, once it was set */
	struct vswitch *vswitch; /* NULL: an ordinary node */
	struct trap_slot trap[TRAP_SLOTS];
};

struct port_counters { /* whole cache lines; what every packet counts is in the first */
	uint64_t c[(SIM_NCOUNTERS + 7) / 8 * 8];
};

/* What devices call in the data plane, which sets it when it is made. */
struct device_net {
	void (*port_changed)(struct shard *sh, port_id p); /* its state differs from before */
	void (*lid_set)(const struct sim *s, port_id p);   /* at a port that is Active */
	void (*link_up)(struct sim *s, port_id p);	   /* this end of the link */
	void (*link_down)(struct sim *s, port_id p);
	void (*node_clear)(struct sim *s, node_id n); /* it goes off: its packets are lost */
	void (*node_power)(struct sim *s, node_id n); /* it went on or off */
	/* A VF got a LID: the virtual machine with this GUID is at its port. */
	void (*function_set)(struct sim *s, port_id p, uint64_t guid);
	/* An entry of GUIDInfo of a shared port is another one now. */
	void (*guid_set)(struct sim *s, port_id p, uint64_t was, uint64_t now);
	/* An SMP leaves the node's SMI: by this port, or if it is not directed, by the tables. */
	void (*smp_out)(struct sim *s, node_id n, unsigned port, uint32_t smp, bool directed);
};

static inline struct sim_port *node_port(const struct sim *s, node_id n, unsigned num)
{
	return &s->ports[s->fab->nodes[n].first_port + num];
}

static inline bool lid_is_ours(const struct iba_port_info *pi, uint16_t lid)
{
	return pi->lid && (lid & ~((1u << pi->lmc) - 1)) == pi->lid;
}

/* smp_pool.c */
uint32_t pkt_new(struct sim *s);
void pkt_drop(struct sim *s, uint32_t p, enum sim_drop why);
void pkt_free(struct sim *s, uint32_t p);
void pkt_at(struct sim *s, uint32_t p, node_id n, unsigned port); /* where it is */
void smp_hop(struct sim *s);					  /* counts a link crossed */

/* table_lookup.c: what the tables say */
/* The output port of a switch: 0 is the switch itself, above its number of ports means no route. qp0: an SMP,
 * which a vSwitch keeps when it has its own LID. */
unsigned lid_route(const struct sim *s, node_id n, uint16_t lid, bool qp0);
bool lid_for_smi(const struct sim *s, node_id n, const uint8_t *mad); /* counts as an SMP there */
unsigned slvl_default(const struct sim *s, node_id n, unsigned out, unsigned sl);
port_id pkey_holder(const struct sim *s, port_id p); /* the port whose P_Key table this one has */
/* Of a host's port, and of a switch's that enforces partitions; both count a violation. */
bool pkey_ok(const struct sim *s, port_id port, uint16_t pkey);
bool pkey_enforced_ok(const struct sim *s, port_id port, uint16_t pkey);

/* smi_queue.c: the way of an SMP into an SMI */
void smi_inject(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);
void smi_enqueue(struct sim *s, node_id n, uint32_t p);
void smi_arrive(struct sim *s, node_id n, unsigned port, uint32_t p); /* from the data plane */
uint32_t smi_dequeue(struct sim *s, node_id n); /* the head; the next one is served */
void smi_clear(struct sim *s, node_id n);

/* trap.c */
void trap_changed(struct sim *s, node_id n, unsigned port, bool node_desc);
void trap_link_state(struct sim *s, node_id n);
void trap_bad_mkey(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);
void trap_repeat(struct sim *s, node_id n, unsigned slot);
void trap_repress(struct sim *s, node_id n, const struct sim_smp *smp);
bool trap_is_ours(const struct sim_smp *smp); /* the response to a trap of the node itself */
bool trap_pending(const struct sim *s, node_id n, const struct sim_smp *smp); /* it is one of n */

/* link_rate.c: with link_pairs */
void rate_power_on(struct sim *s, node_id n, unsigned num);
bool rate_agree(struct sim_port *a,
		struct sim_port *b); /* sets what is active; false: nothing in common */
bool rate_fits(const struct sim_port *p);
bool rate_ok(const struct iba_port_info *pi, const struct iba_port_info *v);
void rate_take(struct iba_port_info *pi, const struct iba_port_info *v);

/* link_state.c: port states and links; it and vswitch.c call each other */
void port_state_set(struct shard *sh, node_id n, unsigned num, enum iba_port_state st);
void link_trained(struct sim *s, port_id at, uint32_t epoch);
void link_try_up(struct sim *s, port_id a);
void link_cut(struct sim *s, port_id a);
void link_order(struct sim *s, port_id at, enum iba_phys_state to); /* with link_pairs */
/* Error recovery of a link, at one end of it: its epoch before, and its end. */
uint32_t link_recovery_begin(struct shard *sh, port_id p);
void link_recovery_end(struct shard *sh, port_id p);
bool link_open(const struct sim *s, const struct sim_port *a, bool data);
void link_data_came(struct sim *s, port_id at);

/* vswitch.c: what is inside an HCA */
void vswitch_new(struct sim *s);
void vswitch_free(struct sim *s);
void vswitch_reset(struct sim *s, node_id n);			 /* of a function too */
void vswitch_power(struct sim *s, node_id n, bool on);		 /* its functions go with it */
bool vswitch_may_power(const struct sim *s, node_id n, bool on); /* no function without its HCA */
node_id vswitch_of(const struct sim *s, node_id n);		 /* of a function; FAB_NONE */
port_id vswitch_function(const struct sim *s, node_id n, unsigned slot); /* its port */
bool vswitch_keeps_down(const struct sim *s, port_id a); /* a link to a VF without a LID */
void vswitch_lids(struct sim *s, node_id n);	  /* of functions or of port 0 have changed */
void vswitch_sync(struct sim *s, node_id n);	  /* functions follow HCA and uplink */
void vswitch_uplink(struct shard *sh, node_id n); /* the uplink's state has changed */
void vswitch_link_up(struct sim *s, port_id a);	  /* at one end of an internal link */
bool vswitch_passes_on(const struct sim *s,
		       const struct pkt *p);			/* an SMP for a program at the PF */
bool vswitch_asks_pf(const struct sim *s, const struct pkt *p); /* SMInfo of a manager at the PF */

/* smp_forward.c: SMPs on links and through switches */
void link_send(struct sim *s, node_id n, unsigned out, uint32_t p);
void link_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch);
void lid_forward(struct sim *s, node_id n, uint32_t p);

/* port_client.c: programs at ports */
const struct port_client *port_client_for(const struct sim *s, const struct pkt *p);

/* sma.c: requests in, responses out */
void sma_reset(struct sim *s, node_id n);
void sma_free(struct sim *s, node_id n);
bool sma_admits(struct sim *s, node_id n, const struct pkt *p); /* the M_Key check */
void sma_handle(struct sim *s, node_id n, struct pkt *p);
void sma_lease_over(struct sim *s, port_id at, uint32_t epoch);

/* smi.c: where an SMP goes */
enum verdict_kind { TO_PORT, TO_LID, TO_NODE, DISCARD };

struct verdict {
	enum verdict_kind kind;
	unsigned port;	   /* TO_PORT */
	enum sim_drop why; /* DISCARD */
};

/* What to do with an SMP at a node. Moves the hop pointer where that is part of the answer. */
struct verdict smi_judge(struct sim *s, struct pkt *p);
bool smi_has_lid(struct sim *s, const struct pkt *p); /* the port at which it arrived */
void smi_deliver(struct sim *s, uint32_t p);	      /* to SMA or SM */
void smi_done(struct sim *s, node_id n);

/* pma.c: answers a request of performance management in place; returns the MAD status */
unsigned pma_answer(struct sim *s, node_id n, uint8_t *mad);

/* gsi.c: GMPs at their port */
void gsi_deliver(struct sim *s, uint32_t p);

/* express_walk.c */
void express_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch);
void express_walk(struct sim *s); /* moves all packets to where they end */

/* device.c */
void devices_new(struct sim *s, const struct sim_config *c);
void devices_free(struct sim *s);

#endif
