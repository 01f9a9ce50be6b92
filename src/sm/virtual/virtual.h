/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines: HCAs with SR-IOV (hypervisors) and their slots, VMs and where they are, requests to start, stop and
 * migrate them, and the batch of requests that is carried out.
 *
 * An HCA in vSwitch mode shows itself as a switch; this manager takes it for a CA with one port (sm_fold()), sets LID and
 * vGUID of each VF by VFInfo, and never looks behind it. Slot s of a hypervisor is its VF s, from 1 on.
 *
 * Keeps: hypervisors by GUID and VMs by name for the manager's whole life; what each VF holds, as far as it acknowledged.
 * Promises: a VM is at one slot, and a LID at one; a VF is attached only after the VF that had its LID before
 * acknowledged that it lost it.
 */
#ifndef WEFT_SM_VIRTUAL_H
#define WEFT_SM_VIRTUAL_H

#include "route/defragment.h"
#include "route/moves.h"
#include "sm/topology/topology.h"

/* A virtual function. */
struct sm_slot {
	uint32_t vm;	   /* the VM that is there; NONE */
	uint32_t vm_later; /* when all requests are carried out */
	uint32_t arrives;  /* the VM that the running batch brings; NONE */
	bool leaves;	   /* the running batch takes its VM away */
	uint16_t lid;	   /* that it should have; 0: none. Prepopulated: also without a VM */
	uint16_t has_lid;  /* in the device, or when it was last heard of */
	uint64_t has_guid; /* in the device; 0: its own */
	bool known;	   /* these two are */
	bool again;	   /* it was set twice soon after each other: a copy may undo the second */
	time_ps set_at;	   /* when it was last set */
	uint32_t mark;	   /* see vm_batch.c */
	uint32_t changed;  /* another VM came or went: the number of that change */
	time_ps quiet_at;  /* no copy of a Set to it arrives later */
};

struct sm_vf { /* what a VF holds, or is to hold */
	uint16_t lid;
	uint64_t guid;
};

struct sm_place {
	uint32_t host;
	unsigned slot;
};

struct sm_vhost {
	uint64_t guid; /* of the node */
	enum fab_sriov sriov;
	unsigned vfs;
	struct sm_slot *slots; /* slot 1 is slots[0] */
};

struct sm_vm_record {
	struct sm_vm v;	     /* v.host and v.slot: where it is, or was last */
	uint32_t host;	     /* into hosts; NONE: it is stopped */
	uint32_t host_later; /* when all requests are carried out */
	unsigned slot_later;
	unsigned requests; /* that wait or are carried out */
	bool used;	   /* this record is */
	bool doomed;	   /* it is destroyed when all requests are carried out */
	bool seen;	   /* a device has its vGUID; while a discovery is settled */
	uint32_t mark;	   /* see vm_batch.c */
	uint32_t changed;  /* the number of its last change */
};

/* A request that waits, or is part of the running batch. */
struct sm_job {
	struct sm_vm_request req;
	bool checked; /* the rest is valid */
	uint32_t vm;
	uint32_t from, to; /* hosts; NONE: stopped */
	unsigned from_slot, to_slot;
	uint16_t lid;	   /* that the VM has afterwards; 0: none */
	uint16_t lid_left; /* prepopulated: that the slot which it leaves gets */
	bool detached;	   /* the slot that it leaves has acknowledged, or there is none */
	bool attach_sent;
	struct sm_vm_result result;
};

struct sm_held_answer {
	struct sm_job job;
	uint32_t change; /* that standbys must have */
};

/* What waits until standbys have it: vm_copies.c */
struct sm_vm_copies {
	VEC(struct sm_held_answer) held;
	uint32_t needs;	 /* the next batch needs this change in all copies; 0: none */
	uint32_t best;	 /* in all copies at the last step */
	uint32_t waived; /* changes so far are not waited for */
	time_ps until;	 /* how long, if copies make no progress; 0: nothing waits */
};

enum sm_move_step {
	SM_MOVE_KEYS,	/* P_Keys where VMs go: partitions/vm_pkeys.c */
	SM_MOVE_DETACH, /* slots that VMs leave */
	SM_MOVE_TABLES, /* stage by stage */
	SM_MOVE_FILL,	/* blocks that a higher LinearFDBTop would bring into force */
	SM_MOVE_TOP,	/* LinearFDBTop */
	SM_MOVE_ATTACH, /* slots that VMs get */
	SM_MOVE_UNKEY,	/* P_Keys that are not needed where VMs were */
	SM_MOVE_LEFT,	/* the batch is done; prepopulated: slots that VMs left get LIDs */
	SM_MOVE_END,
};

/* The requests that are carried out together. */
struct sm_batch {
	VEC(struct sm_job) jobs;
	enum sm_move_step step;
	uint32_t at; /* the next job, block or switch of this step */
	rt_move_entries entries;
	uint16_t *job_of; /* by LID, of those that move */
	struct rt_moves_plan plan;
	unsigned stage;
	VEC(uint32_t) blocks; /* of this stage: the first entry of each */
	uint16_t top;	      /* highest LID that gets a route */
	bool broken;	      /* interrupted: the next discovery decides where its VMs are */
};

/* What a worker found for a defragmentation. */
struct sm_defragmented {
	int rc; /* 0, or -errno with err */
	struct err err;
	struct rt_defragment found;
};

/* The first of the defragmentations that wait. */
struct sm_defragmenting {
	uint32_t id;		    /* of the request to the worker; 0: none is open */
	struct sm_defragmented *to; /* the answer */
	uint8_t *other; /* by LID: its routes are not those that the worker reads; NULL: all are */
};

struct sm_virtual {
	VEC(struct sm_vhost) hosts;
	struct map64 host_by_guid; /* node GUID -> host */
	uint16_t held[IBA_LID_MAX_UNICAST +
		      1];	     /* VFs that hold this LID, or held it when last heard of */
	struct map64 function_guids; /* of all functions */
	VEC(uint32_t) hosts_sorted;  /* by GUID */
	VEC(struct sm_vm_record) vms;
	struct {
		uint32_t vfs, hosts, first; /* the first host */
	} without; /* functions that want a LID and have none, in the round that ends */
	VEC(uint32_t) sorted, vms_free; /* by name; records that are not used */
	struct map64 vm_by_guid;	/* vGUID -> VM */
	VEC(struct sm_job) queue;
	VEC(struct sm_job) aside; /* defragmentations that wait */
	struct sm_defragmenting defragmenting;
	bool aside_next; /* the next batch is one of these */
	bool replan;	 /* requests that wait are checked again before the next batch */
	uint32_t mark;	 /* grows with each batch */
	time_ps next_at; /* requests wait until then; 0: they do not */
	struct sm_batch batch;
	VEC(struct sm_place) left; /* slots to which a swap gave a LID that they do not hold yet */
	time_ps left_at;	   /* these wait until then; 0: they do not */
	struct rt_move_deps *deps; /* of the tables in force; NULL: not made yet */
	bool moved;		   /* the manager comes from the phase move */
	uint32_t changes;	   /* of places, VMs created and destroyed: their number so far */
	struct sm_vm_copies copies;
	uint32_t released; /* the number of the change by which a VM last gave up a LID */
	bool unsaved;	   /* with cfg.hold_vms: results are being saved */
	enum {
		SM_SEAT_UNKNOWN,
		SM_SEAT_OWN,
		SM_SEAT_PF
	} seat;		    /* PF: the vSwitch is one hop away */
	bool stray;	    /* a copy of a Set may have undone a later one: slots are read */
	bool arriving;	    /* VFs may hold what another manager set */
	bool seeded;	    /* VMs were handed over before the start */
	time_ps wait_until; /* copies of Sets of a broken batch may arrive until then */
	time_ps copies_ps;  /* how long copies of a Set may be under way */
};

/* virtual_state.c: what other rooms report, and the end */
void sm_virtual_free(struct sm *sm);
void sm_virtual_time_back(struct sm *sm, time_ps by);
void sm_virtual_phase(struct sm *sm, enum sm_phase from, enum sm_phase to);
bool sm_moved(struct sm *sm); /* whether the manager comes from the phase move; asked once */

void sm_batch_clear(struct sm *sm);
void sm_batch_mark(struct sm *sm, bool on); /* slots that its VMs leave and get */
void sm_move_deps_drop(struct sm *sm);

/* hypervisors.c: HCAs with SR-IOV and their slots */
uint32_t sm_vhost_of(const struct sm *sm, const struct sm_node *n); /* NONE: it is none */
void sm_virtual_snapshot(struct sm *sm, struct fab_builder *b, uint32_t node);
bool sm_virtual_stands(const struct sm *sm);		    /* VFs hold what they should */
uint32_t sm_vhost_find(const struct sm *sm, uint64_t guid); /* NONE */
uint32_t sm_vhost_add(struct sm *sm, uint64_t guid, enum fab_sriov sriov, unsigned vfs);
struct sm_slot *sm_slot_of(const struct sm *sm, uint32_t host, unsigned slot);
uint64_t sm_slot_own_guid(const struct sm *sm, uint32_t host, unsigned slot);
uint32_t sm_vhost_node(const struct sm *sm, uint32_t host); /* of the topology database; NONE */
bool sm_vhost_is_there(const struct sm *sm, uint32_t host); /* in the snapshot in force */
uint16_t sm_vhost_lid(const struct sm *sm, uint32_t host);  /* of its PF; 0: none */
void sm_slots_unknown(struct sm *sm, uint32_t host);
void sm_slots_blank(struct sm *sm, uint32_t host); /* it restarted: nothing is attached */
void sm_slot_has(struct sm *sm, struct sm_slot *s, struct sm_vf v); /* in the device */
bool sm_slots_known(const struct sm *sm, uint32_t host);
/* What a slot should hold: its LID, and the vGUID (0: its own). */
uint16_t sm_slot_wants(const struct sm *sm, uint32_t host, unsigned slot, uint64_t *guid);
bool sm_slot_is_right(const struct sm *sm, uint32_t host, unsigned slot);
uint32_t sm_slot_vm_after(const struct sm *sm, uint32_t host,
			  unsigned slot); /* the running batch; NONE */

/* vf_requests.c: VFInfo and GUIDInfo, made and read */
void sm_vf_set(struct sm *sm, uint32_t host, unsigned slot, struct sm_vf v, struct sm_req *r);
/* Several slots from this one on, to what they should hold; returns how many. */
unsigned sm_vf_set_run(struct sm *sm, uint32_t host, unsigned slot, struct sm_req *r);
void sm_vf_get(struct sm *sm, uint32_t port, uint32_t modifier, struct sm_req *r);
/* vf_state.c: what VFs hold */
void sm_vf_learn(struct sm *sm, const struct sm_txn *t, const uint8_t *data); /* the answer */
void sm_vf_unacknowledged(struct sm *sm, const struct sm_txn *t);
/* A copy of an earlier Set to a hypervisor was carried out late. */
void sm_vf_stray(struct sm *sm, const struct sm_written *w);
bool sm_is_vf_attr(unsigned attr_id);

/* vms.c: records of VMs */
uint32_t sm_vm_find(const struct sm *sm, const char *name); /* NONE */
uint32_t sm_vm_add(struct sm *sm, const char *name, uint64_t guid);
void sm_vm_remove(struct sm *sm, uint32_t vm);
/* It is at this slot now; host NONE: it is stopped. */
void sm_vm_place(struct sm *sm, uint32_t vm, uint32_t host, unsigned slot);
void sm_vm_lid(struct sm *sm, uint32_t vm, uint16_t lid);
void sm_vm_note(struct sm *sm, uint32_t vm);
void sm_vms_forget(struct sm *sm); /* another manager is in charge of them */
void sm_vm_restore(struct sm *sm, const struct sm_vm *v);
bool sm_guid_taken(const struct sm *sm, uint64_t guid); /* as sm_guid_known(), or an alias */
uint64_t sm_guid_choose(const struct sm *sm, const char *name);

/* vm_requests.c: requests, refusals, results */
void sm_vms_in(struct sm *sm, const struct sm_event *ev);
void sm_vms_saved(struct sm *sm); /* the places of VMs so far */
void sm_vms_check(struct sm *sm); /* those that wait once more, if something else has changed */
void sm_vms_refuse_all(struct sm *sm, int rc, const char *why);
void sm_job_done(struct sm *sm, struct sm_job *j);
void sm_job_answer(struct sm *sm, struct sm_job *j); /* its result */
PRINTF(4, 5)
void sm_job_refuse(struct sm *sm, struct sm_job *j, int rc, const char *fmt, ...);
const char *sm_vhost_name(const struct sm *sm, uint64_t guid, char buf[24]);

/* vm_copies.c: what standbys know of VMs */
uint32_t sm_vms_changed(struct sm *sm); /* the number of the change */
/* Whether all copies have this change; if not, the next batch waits for it. */
bool sm_vms_are_copied(struct sm *sm, uint32_t change);
bool sm_answer_hold(struct sm *sm, const struct sm_job *j); /* true: it is answered later */
bool sm_answers_due(const struct sm *sm);		    /* some of these can be given */
void sm_vms_copies_step(struct sm *sm);
time_ps sm_vms_copies_wake(const struct sm *sm);
void sm_vms_copies_refuse(struct sm *sm, int rc, const char *why);

/* vm_batch.c: which requests are carried out together, and what that changes */
bool sm_vms_due(const struct sm *sm);
time_ps sm_vms_wake(const struct sm *sm);
bool sm_batch_begin(struct sm *sm);		    /* false: none can begin */
void sm_job_place(struct sm *sm, struct sm_job *j); /* its VM is where the request wants it */
void sm_job_back(struct sm *sm, struct sm_job *j);  /* its VM stays where it was */
void sm_batch_end(struct sm *sm);		    /* all of it is done */
/* batch_tables.c: forwarding tables of a batch */
int sm_batch_plan(struct sm *sm, struct err *e);
/* 0, or -ENOTSUP where entries cannot change one by one. */
int sm_batch_check(const struct sm *sm, struct err *e);
uint16_t *sm_batch_job_of(struct sm_batch *b); /* room for all LIDs */
void sm_batch_count(struct sm *sm);	       /* switches and stages of each request */
void sm_batch_blocks(struct sm *sm);	       /* of the stage that begins */
void sm_batch_block_make(struct sm *sm, uint32_t at, struct sm_req *r);
/* Entries of former tables that a higher LinearFDBTop would bring into force; false: the block has none. */
bool sm_batch_fill_make(struct sm *sm, uint32_t sw, uint32_t block, struct sm_req *r);
void sm_batch_apply(struct sm *sm); /* tables and snapshot in force are those after it */

/* defragmentation.c: other routes for VMs where links share them unevenly */
bool sm_defragment_request(
	struct sm *sm); /* at rest: true: the worker is needed for one, or has it */
bool sm_defragment_due(const struct sm *sm); /* one can be carried out or refused */
bool sm_defragment_begin(struct sm *sm);     /* it is the next batch */
bool sm_is_defragment(const struct sm_job *j);
/* defragment_result.c: these routes, from the worker */
bool sm_defragment_answer(struct sm *sm,
			  struct sm_routes *r); /* true: it was one, and is taken over */
void sm_defragment_moved(struct sm *sm, const rt_move_entries *e); /* these are others now */
void sm_defragment_drop(struct sm *sm); /* what was computed so far: it is computed again */
/* On the worker; NULL: it was stopped. */
struct sm_defragmented *sm_defragment_run(const struct sm_compute *c, struct sm_work_done *done);
void sm_defragmented_free(struct sm_defragmented *x);

/* vf_discovery.c: what discovery learns of hypervisors */
/* NodeInfo as this manager takes it: a vSwitch is a CA with one port. */
void sm_node_info_take(struct sm *sm, const uint8_t *data, struct iba_node_info *ni);
/* The local node answered, at first by no hop. True: it is asked again, another hop away or not. */
bool sm_seat_moves(struct sm *sm, const struct iba_node_info *ni);
void sm_virtual_port(struct sm *sm, uint32_t port); /* PortInfo of a CA came */
void sm_virtual_read(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_virtual_discover(struct sm *sm);		 /* a partial discovery begins */
void sm_virtual_restarted(struct sm *sm, uint32_t node); /* a host may have, and no port shows it */
void sm_virtual_arrive(struct sm *sm);			 /* another manager may have set VFs */
/* vf_settle.c: at the end of a discovery */
void sm_virtual_settle(struct sm *sm); /* where VMs are, which LIDs slots have */
void sm_virtual_ended(struct sm *sm); /* the round ended: requests of a broken batch are answered */

/* vf_config.c: VFs set in the phase configure */
bool sm_vf_detach_next(struct sm *sm, uint32_t *host, uint32_t *slot, struct sm_req *r);
bool sm_vf_config_next(struct sm *sm, uint32_t node, uint32_t *slot, struct sm_req *r);

#endif
