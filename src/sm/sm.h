/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet manager as a pure state machine: events in, actions out. It owns no socket, clock,
 * thread or random source; time comes in with each event.
 *
 *	sm_step(sm, &(struct sm_event){.kind = SM_EV_START, .now = t}, &out);
 *	send out.sends, arrange a SM_EV_WAKE at out.wake, compute routes if out.compute.epoch is set
 *
 * The caller owns struct sm_actions and may use it again for the next step: sm_step() empties it
 * first. sm_step() returns 0, or -EINVAL for an event that makes no sense. Whatever bytes an SMP
 * holds, the worst that happens is that it is counted and ignored.
 */
#ifndef WEFT_SM_H
#define WEFT_SM_H

#include "route/link_loads.h"
#include "sm/core/phase_table.h"
#include "sm/election/election_table.h"

/* ---- how it is to behave ---- */

enum sm_exploration { SM_EXPLORE_PROPAGATION, SM_EXPLORE_BFS };

/*
 * The mechanism: how a change is learnt, routed and distributed. Each technique is a row of a table,
 * found by name; a mechanism names one of each. sm_mechanisms[] holds the combinations that have
 * names of their own; any other is a copy with fields changed.
 */
struct sm;
struct sm_part; /* what the SM does in one phase: private */

struct sm_discovery {
	const char *name, *summary;
	const struct sm_part *part;
	bool partial; /* builds upon what is known, and serves sweeps as well */
};

/*
 * Where tables come from. The SM only names the source: the program that runs it computes them.
 */
struct sm_supply {
	const char *name, *summary;
	const struct rt_engine *engine; /* NULL: none, or rt_update() */
	bool absent;			/* there are no such routes */
	bool update; /* from the tables in the switches, changing as few entries as possible */
	bool keep;   /* over the ranks in use before, reversed only where necessary */
	bool choose; /* of the engine that rt_choose() finds best: it serves until the choice is made again */
};

/* Whether packets in flight can deadlock while tables change by a technique. */
enum sm_safety {
	SM_SAFE,
	SM_SAFE_ON_ONE_GRAPH, /* if old and new routes are of one up/down graph */
	SM_UNSAFE,
};

struct sm_technique {
	const char *name, *summary;
	const struct sm_part *before; /* what stops before tables change; NULL: nothing */
	const struct sm_part *tables; /* how tables are sent */
	enum sm_safety safety;
	bool plan;	 /* needs a struct rt_plan with the tables */
	bool stay_off;	 /* disabled turns stay disabled while they are forbidden */
	bool stops_all;	 /* no traffic flows while tables change */
	bool stops_some; /* ports that stopped become Active when former routes have drained */
	bool overlaps;	 /* tables are sent while the rest is computed */
};

struct sm_mechanism {
	const char *name, *summary;
	const struct sm_discovery *discovery;
	const struct sm_supply *provisional; /* routes sent first; absent: the final ones are */
	const struct sm_supply *routes;	     /* what stays */
	const struct sm_technique *first;    /* how the first tables of a change are distributed */
	const struct sm_technique *second;   /* the final ones, when provisional ones came first */
	/* Tables that another manager left in the switches: where new ones come from, how they are sent. */
	const struct sm_supply *adopt_routes;
	const struct sm_technique *adopt;
	bool partial_tables; /* only blocks that differ */
	bool by_lid;	     /* SMPs LID-routed where the tables in force lead; with plans only */
	bool traps;	     /* changes are detected by traps as well as by sweeps */
	bool ahead;	     /* repairs are computed before they are needed */
	bool thrifty;	     /* no device is asked or set what is known or right already */
};

extern const struct sm_discovery sm_discoveries[]; /* these end with name == NULL */
extern const struct sm_supply sm_supplies[];
extern const struct sm_technique sm_techniques[];
extern const struct sm_mechanism sm_mechanisms[];
const struct sm_discovery *sm_discovery_find(const char *name); /* NULL: no such name */
const struct sm_supply *sm_supply_find(const char *name);
const struct sm_technique *sm_technique_find(const char *name);
const struct sm_mechanism *sm_mechanism_find(const char *name);
/* Whether the techniques go together: 0, -EINVAL when they cannot work, -EDEADLK when packets in
 * flight may deadlock while tables change. e says which and why. */
int sm_mechanism_check(const struct sm_mechanism *m, struct err *e);

/* Its techniques rely on the link directions of an up/down graph: auto chooses among engines that have them. */
bool sm_mechanism_needs_directions(const struct sm_mechanism *m);

enum { SM_MAX_M_KEYS = 4, SM_NODE_GROUPS = 3 };

/*
 * What a configuration names and the program that runs the SM has read: constant, and there until the SM has another one and
 * no request before that is open (sm_inputs_unused()). Lists are texts, one in each line: a GUID, or the name of a node.
 */
struct sm_inputs {
	const char *roots; /* in the order of preference; "": they are found */
	const char
		*group[SM_NODE_GROUPS]; /* compute, I/O and service nodes; names may be patterns */
	struct rt_given tables;		/* of engine file */
	uint64_t number;		/* of the contents: others have another one */
};

/* Where the VFs of HCAs in vSwitch mode get their LIDs. */
enum sm_scheme {
	SM_SCHEME_DYNAMIC, /* a VM gets a LID when it starts; tables lead there as to its host */
	SM_SCHEME_PREPOPULATED, /* each VF has a LID from the start; a migration swaps two of them */
	SM_SCHEME_NONE,		/* no VMs: a vSwitch is a switch as any other */
};

/* In which direction switches drop packets of other partitions, at ports behind which hosts are. */
enum sm_enforce { SM_ENFORCE_BOTH, SM_ENFORCE_IN, SM_ENFORCE_OUT, SM_ENFORCE_OFF };

struct sm_config {
	struct sm_mechanism mechanism;
	unsigned port; /* the local port the SM sits on; 0 on a switch */
	enum sm_exploration explore;
	unsigned window;   /* requests outstanding at once, 1..SM_MAX_WINDOW */
	unsigned retries;  /* retries before a target counts as unreachable */
	unsigned restarts; /* restarts of a discovery before its result is used as it is */
	unsigned lmc;
	unsigned sweep_factor;	 /* period = factor * duration of a sweep; 0: use sweep_period_ps */
	time_ps sweep_period_ps; /* 0 and factor 0: no sweeps */
	time_ps own_port_ps;	 /* period of looks at the SM's own port; 0: none */
	bool activate_by_lid;	 /* LID-routed SMPs for Armed and Active */
	unsigned
		lft_entries; /* linear tables are sent up to so many entries, though LIDs end before; 0: no */
	/* As the thesis's manager, and in the laboratory only. */
	bool one_set;	   /* ports become Active by one Set: there is no Armed (thesis 4.2.3) */
	bool reassign;	   /* a full discovery assigns all LIDs again (7.4.2) */
	bool link_sets;	   /* settings of links by SMPs of their own: tables/link_settings.c */
	bool links_first;  /* new ports become Active before tables are sent; with one_set */
	bool by_switch;	   /* tables are sent switch by switch, not block by block over all */
	bool default_port; /* DefaultPort is set with tables that have one (6.3.2) */
	bool each_port; /* NodeInfo is asked of each port of a host as well (fat-tree model, 5) */
	bool qos;	/* also write SL2VL and VL arbitration tables */
	unsigned subnet_timeout; /* exponent for PortInfo; 0: from distance and response times */
	unsigned vl_high_limit;
	enum sm_enforce part_enforce;
	uint64_t gid_prefix;
	unsigned sm_sl;
	/* Values of ports; 0: as devices have them. leaf: of switches' ports behind which hosts are. */
	unsigned max_op_vls; /* a code of IBA */
	unsigned hoq_life, leaf_hoq_life, vl_stall, leaf_vl_stall, packet_life;
	unsigned phy_errors, overrun_errors;
	unsigned link_speed, link_speed_ext, link_width; /* Enabled, of switches' ports */
	uint64_t m_key;
	unsigned m_key_protect, m_key_lease_s;
	uint64_t m_keys[SM_MAX_M_KEYS]; /* devices may still hold one of these; 0: no more */
	const struct sm_inputs *inputs; /* NULL: there are none */
	bool root_centre; /* without roots that are present: the centre of the graph; else the SM's own switch */
	enum rt_directions directions;
	enum rt_ties ties;
	bool advise; /* at rest, tables of a named engine are compared with what auto would choose */
	unsigned
		auto_lanes; /* data VLs that a chosen engine may use; 0: as many as every link has */
	unsigned ahead_switches; /* repairs ahead only in fabrics up to so many switches, */
	size_t ahead_bytes;	 /* and until they take so much memory */
	time_ps drain_ps; /* time after which packets on former routes have drained: see tables/drain.c */
	/*
	 * Damping: a link whose port changed so often (1..SM_MAX_FLAPS, 0: never) within flap_ps
	 * is held: treated as Down until it has been quiet for hold_ps. A host may lose its link
	 * to it, a switch never does.
	 */
	unsigned flaps;
	time_ps flap_ps, hold_ps;
	time_ps link_smp_ps; /* an SMP over one link, for the timeout */
	unsigned priority;
	/* For a daemon; the laboratory does not set these. */
	time_ps timeout_ps; /* shortest timeout, doubled with each retry; 0: by distance, constant */
	bool plain; /* SMPs are directed all the way, as stock SMs send them. ibsim forwards no mixed routes, and by LID only over links that are Active */
	bool settle; /* a full discovery that finds no change ends the round: links that the SM itself reset report a change as any other does */
	bool read_back; /* at the start the SM reads the tables of the switches: correct ones stay, and no Active port leaves that state for it */
	bool distrust; /* with read_back: another SM may have written what devices hold. LIDs are those seeded, and every SL-to-VL table is read, which takes many SMPs */
	bool names;    /* NodeDescriptions are requested while the SM is idle */
	bool contest;  /* the SM asks other SMs; the one of highest rank is master */
	uint64_t sm_key;	 /* orders to this SM must have it; 0: any order is obeyed */
	time_ps standby_poll_ps; /* how often a standby SM polls the master, */
	unsigned standby_tries;	 /* and after how many polls without a response it takes over */
	time_ps settle_ps; /* how long a master waits for a master of lower rank to hand over */
	/* How long a master waits for the copy of a standby of higher priority before it hands over; 0: not at all. */
	time_ps copy_ps;
	/* After results of requests about VMs, the next ones wait for SM_EV_VMS_SAVED: a manager that is killed knows
	 * the place that each VM leaves. */
	bool hold_vms;
	uint64_t provoke; /* seed of rare branches, in builds with -Dprovoke=true; 0: none */
	time_ps stall_ps; /* after a longer pause a master asks who is master before it sets anything */
	enum sm_scheme scheme;
	bool multicast; /* the program gives groups by SM_EV_GROUPS: multicast tables of an earlier manager are read */
	/* Watches and sends no Set at all: it stays NotActive, and discovers everything with each sweep, LIDs as ports have
	 * them. It has no tables. */
	bool observe;
	bool mirror; /* with contest: a standby SM mirrors what the master knows: mirror/mirror.h */
};

enum { SM_PKEYS_A_BLOCK = 32 };
enum { SM_MAX_WINDOW = 4096, SM_MAX_FLAPS = 255 };

void sm_config_default(struct sm_config *c);
bool sm_can_provoke(void); /* this build has switches for rare branches */

/* ---- in ---- */

enum sm_event_kind {
	SM_EV_START,	 /* the port is usable: begin */
	SM_EV_SMP,	 /* an SMP or GMP arrived */
	SM_EV_LOST,	 /* this request was not forwarded: no response will come */
	SM_EV_WAKE,	 /* the time of sm_actions.wake has come (early or late does no harm) */
	SM_EV_ROUTES,	 /* the routes that out.compute requested */
	SM_EV_PROGRESS,	 /* more LIDs of the tables are computed: routes.epoch and .ready */
	SM_EV_SWEEP,	 /* sweep now */
	SM_EV_HANDOVER,	 /* hand the subnet over to the manager with this GUID; 0: to the best */
	SM_EV_RESYNC,	 /* trust nothing: discover and read back everything */
	SM_EV_VMS,	 /* requests about virtual machines: vms, nvms */
	SM_EV_VMS_SAVED, /* with cfg.hold_vms: all results so far are saved */
	SM_EV_GROUPS,	 /* multicast groups that are wanted: groups, ngroups, some */
	SM_EV_ALIASES,	 /* alias GUIDs that are wanted, all of them: aliases, naliases */
	SM_EV_ISOLATE, /* the link at this port of a switch counts as Down, or does not any more: guid, port, isolate */
};

/* ---- multicast ---- */

struct sm_group_member {
	uint64_t port_guid; /* of a host's port, a switch or a virtual function */
	bool receives;	    /* gets copies of what is sent to the group */
	bool sends;	    /* without receives: send-only, its packets reach the others */
};

/*
 * A group, by its MLID: groups that share one are one here. The event has all that are wanted, in any order, each MLID
 * once; or, once it had all, some of them: these have other members than before, or none any more, and the others stay. The
 * manager takes a copy. Members that are not in the subnet count when they come.
 */
struct sm_group {
	uint16_t mlid;
	uint8_t sl;
	const struct sm_group_member *members;
	size_t nmembers;
};

struct sm_multicast_status {
	bool busy; /* switches do not all hold what is wanted yet */
	uint32_t groups;
	uint32_t partial; /* of them, without some members: no safe tree leads there */
	unsigned mlids;	  /* as sm_mlids() */
	uint64_t blocks;  /* written */
	uint64_t changes; /* of trees that are in place */
	uint64_t refused; /* computations that the verifier refused */
	uint64_t some;	  /* computations of trees for some groups alone */
};

/* ---- alias GUIDs ---- */

/* An entry of GUIDInfo of a port. The manager takes a copy, and writes it when the port is there. */
struct sm_alias {
	uint64_t port_guid, guid;
	uint8_t place; /* from 1 on: entry 0 is the port's own GUID */
};

/* ---- virtual machines ---- */

enum sm_vm_op {
	SM_VM_CREATE,
	SM_VM_START,
	SM_VM_STOP,
	SM_VM_MIGRATE,
	SM_VM_DESTROY,
	SM_VM_DEFRAGMENT, /* of no VM: those that run get other routes where links share them unevenly */
	SM_VM_NOPS
};
enum { SM_VM_NAME = 64 };
const char *sm_vm_op_name(enum sm_vm_op op);

/*
 * Checked when it arrives: a refusal is answered at once. Others are carried out in the order in which they arrived,
 * many at a time, while the manager is ready; during a round they wait. Each has one struct sm_vm_result.
 */
struct sm_vm_request {
	uint32_t token; /* the caller's */
	enum sm_vm_op op;
	char name[SM_VM_NAME]; /* of the VM */
	uint64_t guid;	       /* CREATE: its vGUID; 0: the manager chooses one */
	uint64_t host;	       /* START, MIGRATE: node GUID of the hypervisor */
	unsigned slot;	       /* 0: any free one */
	bool even;	       /* DEFRAGMENT: more even than new routes, as far as it gets */
	bool dry_run;	       /* DEFRAGMENT: answered, and not carried out */
};

/* What a defragmentation found (route/defragment.h). */
struct sm_defragmentation {
	uint32_t lids, moved; /* of VMs that run; those that get other routes */
	uint32_t left;	      /* of lids: routes that are not shortest ones, and stay */
	uint32_t smps;	      /* of its plan */
	uint32_t smps_fresh,
		smps_all; /* that would write new routes where they differ, and all tables */
	bool reached;	  /* as even as new routes, or more */
	struct rt_balance before, after, fresh; /* of routes to these LIDs; fresh: new ones */
};

struct sm_vm_result {
	uint32_t token;
	int rc;				  /* 0 or -errno */
	char why[192];			  /* a sentence, where rc != 0 */
	uint64_t guid, host, host_before; /* host_before 0: it did not run */
	unsigned slot, slot_before;
	uint16_t lid_before, lid_after;
	/* SMPs are counted once, repetitions not; one that serves several requests counts for the first. */
	uint32_t smps_hypervisors, smps_tables, switches_touched;
	unsigned stages; /* of the plan */
	time_ps started, ended;
	struct sm_defragmentation defragmentation;
};

struct sm_vm {
	char name[SM_VM_NAME];
	uint64_t guid, host; /* host 0: it has not been started */
	unsigned slot;
	uint16_t lid;
	bool running;
	bool shared; /* its LID is that of its host, whose port VFs share */
};

struct sm_hypervisor {
	uint64_t guid; /* of the node */
	uint16_t lid;
	unsigned vfs, used;
	enum fab_sriov sriov;
};

enum { SM_WHY = 160 };

/* How tables compare with those that auto would choose: mean shares (RT_SHARE_ONE of quality.h is 1). */
struct sm_advice {
	const struct rt_engine *engine; /* NULL: there is none */
	uint64_t bisection, shifts, best_bisection, best_shifts;
	bool worse; /* by more than a tenth */
	bool roots; /* than with other roots: best_* are those of the same engine with roots that are found */
};

struct sm_routes {
	uint32_t epoch; /* as in the request */
	struct rt_tables *
		tables; /* owned by the SM from now on; NULL: no routes could be computed, or none are needed */
	uint64_t *rank; /* of these tables, by switch; owned by the SM from now on; may be NULL */
	struct rt_plan plan; /* where the request asked for it; owned by the SM from now on */
	rt_legs legs; /* tables that follow these, the last of them are those asked for; owned by the SM */
	/* A plan for the same tables that holds even if what is absent from the request's fabric is still
	 * there and forwards as before; for repairs computed ahead. */
	struct rt_plan alive;
	bool alive_holds; /* there is one */
	bool verified;	  /* by the verifier; the SM programs only verified tables */
	const struct rt_engine *
		instead; /* the engine cannot route this fabric: these are of this one; NULL: it can */
	bool few_lanes;			/* with instead: since the engine would need more lanes */
	const struct rt_engine *engine; /* that was chosen; NULL: the request named one */
	struct sm_advice advice;
	time_ps tried_ps; /* what the others that were tried cost, on a machine of today */
	char why[SM_WHY]; /* with instead: the engine's reason; with engine: why it was chosen */
	/* Verified, but old and new tables may deadlock together whatever the order: turns are disabled first. */
	bool unplanned;
	bool settled; /* these provisional routes are as good as final ones would be */
	/* The engine that computed them from scratch and can update them: they become the reference. NULL: none. */
	const struct rt_engine *by;
	uint16_t ready; /* LIDs up to this are computed; 0: all. More by SM_EV_PROGRESS */
	struct sm_trees
		*trees; /* where the request has a task for them; owned by the SM from now on */
	/* Of a defragmentation: other routes for VMs, no tables; owned by the SM from now on. NULL: it was stopped. */
	struct sm_defragmented *vms;
};

struct sm_event {
	enum sm_event_kind kind;
	time_ps now;
	const uint8_t *mad; /* SM_EV_SMP and SM_EV_LOST: IBA_MAD_SIZE bytes */
	uint16_t slid;
	uint64_t guid; /* SM_EV_HANDOVER, SM_EV_ISOLATE */
	uint8_t port;  /* SM_EV_ISOLATE */
	bool isolate;
	uint8_t qp; /* 0: an SMP; 1: a GMP of another manager, with cfg.mirror */
	const struct sm_vm_request *vms;
	size_t nvms;
	const struct sm_group *groups;
	size_t ngroups;
	bool some; /* SM_EV_GROUPS: others stay */
	const struct sm_alias *aliases;
	size_t naliases;
	struct sm_routes routes;
};

/* ---- out ---- */

struct sm_send {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid, dlid; /* dlid permissive: directed */
	uint8_t sl;
	uint8_t qp; /* 0: subnet management; 1: a GMP */
	bool aside; /* a Set that changes nothing of what sm_state_save() says */
};

enum sm_stage { SM_FINAL, SM_PROVISIONAL, SM_NSTAGES };

/*
 * A request for routes. What it points to stays unchanged until this request or a later one is
 * answered: a worker answers in order, and reads nothing of earlier requests after an answer. So
 * requests may be computed on another thread, one after another, and one that a later request has
 * overtaken may be skipped. The SM drops answers that it no longer waits for.
 */
struct sm_compute {
	uint32_t epoch; /* 0: nothing asked; else larger than all before */
	const struct fab *fab;
	const struct fab *
		data_fab; /* for plans: with links that only old tables use; NULL: there are none */
	node_id root;
	const node_id *roots; /* as in rt_opts, with group and given */
	uint32_t nroots;
	const uint8_t *group;
	const struct rt_given *given;
	enum rt_directions directions;
	enum sm_stage stage;
	const struct sm_supply *supply;
	const struct rt_engine *engine; /* of final routes; NULL: FERa */
	bool choose;   /* that engine was chosen: another one may be where it cannot serve, */
	bool directed; /* among those with link directions */
	enum rt_ties ties;
	unsigned lanes; /* data VLs that every link between switches has */
	unsigned
		auto_lanes; /* those that an engine may use which is chosen; 0: as many as lanes says */
	bool wished; /* other tables than old are wished for: none are needed if they are the same */
	bool maps_in_doubt; /* SL-to-VL tables of old are not all known: no plan holds */
	bool sls_known;	    /* the service levels of old are those that hosts use */
	bool plan;	    /* plan the update from old to new */
	bool detour;	    /* which may lead over tables between */
	bool ahead;	    /* for a failure that has not happened: low priority */
	bool compare; /* no tables are needed unless old is clearly worse than tables from scratch */
	bool overlap; /* tables may be handed over while they are computed: see sm_routes.ready */
	bool found;   /* old was read from the switches: it stays if it is good enough */
	bool own; /* and it is what a manager like this one made for this very subnet: it stays if it is right */
	const struct rt_tables *old; /* in the switches now; NULL: not known */
	const uint64_t *old_rank;    /* by switch of fab, UINT64_MAX: new; NULL: not known */
	const struct rt_before
		*before; /* the snapshot and tables that old comes from; NULL: others */
	bool ranked; /* and its tables obey its ranks: sm_rank_ensure() gives ranks that they may not obey */
	/* Tables that ref_engine computed from scratch for an earlier snapshot, and their ranks; NULL: there are none. */
	const struct rt_before *ref;
	const struct rt_engine *ref_engine;
	bool alive; /* also plan for the case that switches of before, absent from fab, still work */
	const rt_turns *off;		   /* turns that are disabled */
	const struct sm_trees_task *trees; /* multicast trees for the tables, too; NULL: none */
	bool advise;			   /* no tables, but how good old is */
	bool defragment; /* instead of tables: other routes for VMs, from old and old_rank */
	bool even;	 /* as in the request for it */
	/* For the program that computes: a defragmentation or a comparison with routes from scratch ends early, without a result, when this
	 * says so. NULL: it does not. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

/* What the computation took, for CPU models. */
struct sm_work_done {
	const struct rt_cost
		*cost;	   /* of the engine or of rt_update(); NULL: nothing was computed */
	uint32_t searched; /* destination switches */
	uint64_t entries;
};

/*
 * Answers a request: tables, verified, with ranks and a plan. Pure, and the only function that
 * takes long: it may run on another thread while the SM goes on. The caller passes `out` back as
 * SM_EV_ROUTES, or frees it with sm_routes_free().
 */
void sm_compute_run(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		    struct sm_work_done *done);
void sm_routes_free(struct sm_routes *r);

enum sm_phase {
#define SM_PHASE_ENUM(phase, name, part, text) SM_##phase,
	SM_PHASES(SM_PHASE_ENUM)
#undef SM_PHASE_ENUM
		SM_NPHASES
};
const char *sm_phase_name(enum sm_phase p);
const char *sm_phase_text(enum sm_phase p); /* what it does, in a few words */

/* What a phase reports when it ends. */
enum sm_outcome {
#define SM_OUTCOME_ENUM(outcome, name, text) SM_##outcome,
	SM_OUTCOMES(SM_OUTCOME_ENUM)
#undef SM_OUTCOME_ENUM
		SM_NOUTCOMES
};
const char *sm_outcome_name(enum sm_outcome o);
const char *sm_outcome_text(enum sm_outcome o);

/* The whole table from (phase, outcome) to phase. */
struct sm_transition {
	enum sm_phase from;
	enum sm_outcome outcome;
	enum sm_phase to;
};
extern const struct sm_transition sm_transitions[];
extern const size_t sm_ntransitions;

/* ---- the election among managers, see election_table.h ---- */

enum { SM_NSM_STATES = 4 }; /* enum iba_sm_state */

enum sm_election_event {
#define SM_EVENT_ENUM(event, name, text) SM_EVENT_##event,
	SM_ELECTION_EVENTS(SM_EVENT_ENUM)
#undef SM_EVENT_ENUM
		SM_NELECTION_EVENTS
};

enum sm_election_action {
#define SM_ACTION_ENUM(action, name, text) SM_ACTION_##action,
	SM_ELECTION_ACTIONS(SM_ACTION_ENUM)
#undef SM_ACTION_ENUM
		SM_NELECTION_ACTIONS
};

struct sm_election_row {
	enum iba_sm_state state;
	enum sm_election_event event;
	enum sm_election_action action;
	enum iba_sm_state next;
};

const struct sm_election_row *sm_election_row(enum iba_sm_state s, enum sm_election_event e);
const char *sm_election_event_name(enum sm_election_event e);
const char *sm_election_event_text(enum sm_election_event e);
const char *sm_election_action_name(enum sm_election_action a);
const char *sm_election_action_text(enum sm_election_action a);
/* How often a manager met this event in this state. */
uint64_t sm_election_taken(const struct sm *sm, enum iba_sm_state s, enum sm_election_event e);

enum sm_cause {
	SM_CAUSE_START,
	SM_CAUSE_SWEEP,
	SM_CAUSE_TRAP,
	SM_CAUSE_SILENCE,
	SM_CAUSE_RETRY,
	SM_CAUSE_FAR,
	SM_CAUSE_RELEASE,
	SM_CAUSE_OWN_PORT, /* its state is another one: the link was down, or is */
	SM_CAUSE_HANDOVER, /* another SM handed the subnet over, or sent an order */
	SM_CAUSE_HIDDEN,   /* another SM discovered, and may have cleared PortStateChange */
	SM_CAUSE_BROKEN,   /* a pause or an attempt to hand over broke a discovery off */
	SM_CAUSE_ORDER,	   /* of the user: resync, other keys */
	SM_CAUSE_BALANCE,  /* routes from scratch are shorter or more even than repaired ones */
	SM_CAUSE_ISOLATE,  /* a link is held by order */
};
const char *sm_cause_name(enum sm_cause c);
const char *sm_cause_text(enum sm_cause c); /* "change detected by ..." */

/*
 * What a note is about, by GUID, so that it can be named: names change, and come late. The tag says
 * which members count.
 */
enum sm_subject_kind {
	SM_ABOUT_NONE,
	SM_ABOUT_OWN,	 /* the node of the manager, which is not known yet */
	SM_ABOUT_DEVICE, /* a */
	SM_ABOUT_PORT,	 /* a */
	SM_ABOUT_BEHIND, /* the device behind port a, which is not known */
	SM_ABOUT_LINK,	 /* a <-> b; port 0: not known */
	SM_ABOUT_LID,	 /* lid: no device is known to have it */
};

struct sm_port_ref {
	uint64_t guid; /* of the node; 0: not known */
	uint8_t port;
};

/* A GUID that two devices have. Port 0: the device as a whole, a switch. */
struct sm_duplicate {
	uint64_t guid;
	struct sm_port_ref kept, kept_at; /* the first one, and the port that it is cabled to */
	struct sm_port_ref left, left_at; /* the one that is left out of the subnet */
};

struct sm_subject {
	enum sm_subject_kind kind;
	uint16_t lid;
	struct sm_port_ref a, b;
};

/* What happened, for the log, timelines, JSON and metrics: notes.h has their names and words. */
enum sm_note_kind {
	SM_NOTE_START,	      /* the first discovery begins */
	SM_NOTE_PHASE,	      /* phase */
	SM_NOTE_CHANGE,	      /* change, about the device or link that showed it */
	SM_NOTE_UNREACHABLE,  /* request, about the device that did not respond */
	SM_NOTE_BAD_STATUS,   /* request, about the device that responded */
	SM_NOTE_RESTART,      /* times */
	SM_NOTE_REFUSED,      /* tables failed verification */
	SM_NOTE_OTHER_ENGINE, /* engine, about the port with the fewest VLs: another engine serves */
	SM_NOTE_TOO_FAR,      /* about a port of a switch 63 hops away; discovery goes on by LID */
	SM_NOTE_OUT_OF_REACH,	 /* about such a port, when what is behind it stays unreachable */
	SM_NOTE_DUPLICATE,	 /* duplicate */
	SM_NOTE_NO_DUPLICATE,	 /* about the device that was left out */
	SM_NOTE_NO_LID,		 /* about a port without a LID: all 49151 are in use */
	SM_NOTE_VFS_WITHOUT_LID, /* without, about the first host: the same of virtual functions */
	SM_NOTE_MISMATCH,	 /* request, about a device that holds other values than were set */
	SM_NOTE_TRAP,		 /* trap, about the device that sent it */
	SM_NOTE_LEFT_OUT,	 /* request, about a device that refused it again and again */
	SM_NOTE_PLAN,		 /* plan */
	SM_NOTE_NODE_GONE,	 /* node; these four: the difference between two snapshots */
	SM_NOTE_NODE_CAME,	 /* node */
	SM_NOTE_LINK_DOWN,
	SM_NOTE_LINK_UP,
	SM_NOTE_MORE_CHANGES, /* changes: there are many of these four */
	SM_NOTE_NO_ROOM,      /* room, about a switch that is left out */
	SM_NOTE_GUESS,	      /* about a switch or link presumed dead before discovery ends */
	SM_NOTE_HELD,	      /* about a link that changes too often and counts as Down for now */
	SM_NOTE_RELEASED,     /* about a link that is no longer held */
	SM_NOTE_LID,	      /* address, assigned for good */
	SM_NOTE_NAME,	      /* about a device whose NodeDescription is new */
	SM_NOTE_STATE,	      /* state */
	SM_NOTE_OTHER_SM,     /* other, about its port */
	SM_NOTE_HANDING_OVER, /* election, about the manager that gets the subnet */
	SM_NOTE_TAKING_OVER,  /* election, about the manager that had it */
	SM_NOTE_ORDER,	      /* election: an order that was refused, about its sender */
	SM_NOTE_STALLED,      /* election */
	SM_NOTE_MIRROR,	      /* mirror: complete, for the first time or again */
	SM_NOTE_MIRROR_USED,  /* mirror: the manager takes over with it */
	SM_NOTE_MIRROR_LOST,  /* it does not describe the subnet: everything is discovered */
	SM_NOTE_OTHER_KEY,    /* election: a manager with another SM_Key, about its port */
	SM_NOTE_VM,	      /* vm: it was created, or is at another place; about its host */
	SM_NOTE_VM_GONE,      /* vm: it was destroyed */
	SM_NOTE_LANES,	      /* lanes, about the port with the fewest VLs */
	SM_NOTE_WORSE,	      /* engine: it was named, and another one is clearly better */
	SM_NOTE_WORSE_ROOTS, /* engine: roots were named, and those that are found are clearly better */
	SM_NOTE_ENGINE,	     /* engine: it was chosen */
	SM_NOTE_PARTITIONS, /* times: blocks of P_Key tables and ports that were set at rest */
	SM_NOTE_QOS_UNUSED, /* SL-to-VL tables are configured, and routes with lanes have their own */
	SM_NOTE_NO_ROOM_FOR_KEYS, /* room, about a port that is to have more P_Keys than it can hold */
	SM_NOTE_UNKNOWN_NAMES, /* unknown: entries of a list of the configuration that no device matches */
	SM_NOTE_NKINDS
};

enum {
	SM_NOTES_SHOWN = 20,   /* links and nodes of one snapshot with a line of their own */
	SM_NOTES_LISTED = 512, /* and with a note at all; the others are only counted */
};

struct sm_note {
	enum sm_note_kind kind;
	bool more; /* one of many: lists have it, a line of its own would drown the others */
	time_ps when;
	uint64_t smps; /* requests sent up to this moment */
	struct sm_subject about;
	union {
		struct {
			enum sm_phase from, to;
		} phase;
		struct {
			enum sm_cause cause;
		} change;
		struct {
			uint16_t attribute, status;
		} request;
		uint32_t times; /* in a row */
		struct {
			uint16_t number, lid;
		} trap;
		struct {
			enum rt_plan_kind kind;
			uint32_t turns; /* disabled */
		} plan;
		struct {
			enum iba_node_type type;
		} node;
		struct {
			uint32_t links_down, links_up, nodes_gone, nodes_came;
			uint32_t more;	   /* without a line of their own */
			uint32_t unlisted; /* without a note */
		} changes;
		struct {
			uint32_t need, has; /* entries */
		} room;
		struct {
			uint32_t vfs, hosts;
		} without;
		struct {
			uint64_t port_guid;
			uint16_t lid;
			uint8_t lmc;
		} address;
		struct sm_duplicate duplicate;
		struct {
			enum iba_sm_state from, to;
		} state;
		struct {
			enum iba_sm_state state;
			uint8_t priority;
		} other;
		struct {
			uint64_t from, to; /* port GUIDs of managers; 0: not known */
			uint32_t order;
			uint64_t ms;
		} election;
		struct {
			uint64_t generation, bytes;
			uint64_t fetched; /* bytes, for this generation */
		} mirror;
		struct sm_vm vm;
		struct {
			char name[16], why[SM_WHY];
			uint32_t vls;	  /* of that port */
			char instead[16]; /* the engine that serves, where that is another one */
		} engine;
		struct {
			uint32_t used,
				most; /* VLs of the routes; that every link between switches has */
		} lanes;
		struct {
			char list[32], first[64]; /* the setting, and the first entry */
			uint32_t entries;
		} unknown;
	};
};

struct sm_actions {
	VEC(struct sm_send) sends;
	VEC(struct sm_note) notes;
	VEC(struct sm_vm_result) vms;
	struct sm_compute compute;
	time_ps wake; /* TIME_NEVER: none needed */
};

/* ---- life ---- */

struct sm *sm_new(const struct sm_config *c);
void sm_free(struct sm *sm); /* no worker may be computing for it any more */
int sm_step(struct sm *sm, const struct sm_event *ev, struct sm_actions *out);
void sm_actions_free(struct sm_actions *a);

/*
 * A LID that this port had before and keeps; before SM_EV_START only. A second LID for the same
 * port, or one that is taken, is ignored.
 */
void sm_seed_lid(struct sm *sm, uint64_t port_guid, uint16_t lid, unsigned lmc);
/* A VM that was there before, with the place it had; before SM_EV_START only, after sm_state_load(). False: its name
 * or vGUID is taken, or makes no sense. */
bool sm_seed_vm(struct sm *sm, const struct sm_vm *v);
/* In its first round, the manager asks the clients of all ports to register again: what they had registered with subnet
 * administration is not known here. Ports that it sets anyway are asked in any case. */
void sm_reregister(struct sm *sm, bool on);
/* Whether devices hold what the SM knows, until it sends the next Set. */
bool sm_at_rest(const struct sm *sm);
/*
 * At rest: the subnet state as bytes for the next SM; NULL: it cannot be saved (random tables).
 * Free it.
 */
uint8_t *sm_state_save(const struct sm *sm, size_t *len);
/*
 * Before SM_EV_START, with cfg.read_back: the subnet state that an earlier SM saved, if no Set
 * was sent since. Three SMPs a switch verify it; only what does not match is discovered.
 * -EBADMSG: not such bytes.
 */
int sm_state_load(struct sm *sm, const uint8_t *bytes, size_t len, struct err *e);
/*
 * Applies all settings that may change while the SM runs: all but port, lmc and window. Between
 * rounds at once, else when the running round ends; devices are updated in the next round. Pass
 * the SM a SM_EV_WAKE afterwards: its wake-up time may have changed.
 */
void sm_reconfigure(struct sm *sm, const struct sm_config *c);
/* Whether neither the SM nor a request that is open reads these inputs any more. */
bool sm_inputs_unused(const struct sm *sm, const struct sm_inputs *in);
/*
 * What ports are members of, and levels of service: copied. Before SM_EV_START, and at any later time; then P_Key tables
 * are changed as soon as the manager is at rest, keys added before others are removed. A policy without configured
 * partitions leaves the tables of devices as they are, unless an earlier one changed them. Pass the SM a SM_EV_WAKE
 * afterwards.
 */
struct pol;
void sm_policy_set(struct sm *sm, const struct pol *p);
const struct pol *sm_policy(const struct sm *sm); /* in force; never NULL */
uint32_t sm_policy_number(const struct sm *sm);	  /* counts whenever it is another one */
/* A block of the P_Key table of a port (of a switch: 0 or one behind which a host is) as last read or set; false: not
 * known. Of VF s of an HCA in vSwitch mode: port 1 + s. While no partitions were ever configured tables are not read: then
 * as devices are at power-on. */
bool sm_pkey_block(const struct sm *sm, uint64_t node_guid, unsigned port, unsigned block,
		   uint16_t keys[SM_PKEYS_A_BLOCK]);
/*
 * Moves the beginning of time by `by`: 64 bits of picoseconds last 213 days. sm_actions.wake of
 * the last step moves as well. Leave more than flap_ps and hold_ps of the past.
 */
void sm_time_back(struct sm *sm, time_ps by);

/* ---- looking in ---- */

enum sm_purpose {
	SM_FOR_SWEEP,
	SM_FOR_DISCOVERY,
	SM_FOR_CONFIGURATION,
	SM_FOR_DISTRIBUTION, /* deactivation and tables */
	SM_FOR_ACTIVATION,
	SM_FOR_AUDIT,
	SM_FOR_TRAP,   /* TrapRepress */
	SM_FOR_NAMES,  /* NodeDescriptions, while idle */
	SM_FOR_MIRROR, /* the stamp; a standby's own port. GMPs do not count */
	SM_NPURPOSES
};
const char *sm_purpose_name(enum sm_purpose p);

/* One assimilation: from the detection of a change to READY. */
struct sm_round {
	enum sm_cause cause;
	time_ps start, end;
	time_ps time[SM_NPHASES];
	time_ps compute[SM_NSTAGES]; /* of it, by stage */
	time_ps in_place
		[SM_NSTAGES]; /* moment when the stage's tables were all in force; 0: never */
	uint64_t entries, sent_blocks; /* changed in the switches; blocks written */
	time_ps complete[SM_NSTAGES];  /* moment when its ports were Active, too; 0: never */
	uint64_t smps[SM_NPURPOSES];   /* the sweep that noticed included */
	uint64_t sent[SM_NPHASES];     /* SMPs by the phase in which they were sent */
	uint32_t restarts;
	bool clean; /* every device that was found answered */
};

struct sm_status {
	enum sm_phase phase;
	enum iba_sm_state state;
	uint16_t lid;
	uint32_t snapshot; /* number of the snapshot in force, for those who read it in parts */
	uint32_t epoch, rounds, nodes, switches, routers, lids;
	uint32_t vfs_without_lid; /* virtual functions that want one: all 49151 are in use */
	uint32_t held; /* ports of switches that change too often: both ends of a link count */
	uint64_t smps[SM_NPURPOSES]; /* requests sent since the start, repetitions included */
	uint64_t retries, timeouts, late, bad, traps;
	uint64_t orders_refused;       /* Set(SMInfo): wrong SM_Key, wrong state, not true */
	uint64_t sweeps, clean_sweeps; /* finished; finished without a change */
	time_ps last_sweep_start;      /* of the last clean one */
	time_ps last_sweep_time;       /* how long it took */
	bool change_pending;
	bool staged;	/* provisional tables of the running round serve */
	bool comparing; /* repaired routes are being compared with routes from scratch */
	bool alone; /* a link is up at the manager's port, and no device behind it is in the subnet */
	struct sm_round last; /* the last round that ended */
};

void sm_status(const struct sm *sm, struct sm_status *st);

/* The part of it that is read for every request of a host and every turn of the loop. */
struct sm_standing {
	enum sm_phase phase;
	enum iba_sm_state state;
	uint16_t lid;
	uint32_t snapshot;
};
void sm_standing(const struct sm *sm, struct sm_standing *st);

/* Managers on the subnet, as far as this one knows. */
struct sm_manager {
	uint64_t guid;	    /* of its port */
	uint64_t node_guid; /* 0: its port was not discovered */
	uint8_t priority;
	enum iba_sm_state state; /* when it last answered */
	bool own, silent;	 /* silent: it did not answer when it was last asked */
};
/* The n-th, this one first; false: there are no more. */
bool sm_manager_get(const struct sm *sm, size_t n, struct sm_manager *m);
/* A way by which the manager with this port GUID is asked, beside its LID: the ports by which an SMP leaves each node, into
 * hops[IBA_MAX_HOPS]; how many, 0: there is no such way. which: 0, 1, ... up to SM_MANAGER_WAYS. */
enum { SM_MANAGER_WAYS = 3 };
unsigned sm_manager_way(const struct sm *sm, uint64_t guid, unsigned which, uint8_t *hops);
uint64_t sm_master_guid(const struct sm *sm); /* port GUID of the master; 0: not known */
/* Of a standby that mirrors the master: how GMPs reach that one. False: it is none, or does not know yet. */
bool sm_standby_place(const struct sm *sm, uint16_t *own_lid, uint16_t *master_lid, uint8_t *sl);
/* Whether SM_EV_HANDOVER would begin a hand-over: 0, or -EINVAL with e filled. */
int sm_handover_check(const struct sm *sm, uint64_t guid, struct err *e);
/* The copy that a standby keeps of what the master knows. */
struct sm_mirror_status {
	bool on;	     /* it is standby, and mirrors */
	bool complete;	     /* the copy is whole */
	uint64_t generation; /* the master's number for it; 0: there is none */
	uint64_t bytes;
	uint32_t nodes, switches; /* in the copy */
	time_ps confirmed_at;	  /* when the master last confirmed it; with complete */
	uint64_t gmps, gmps_bad;  /* sent in either role; received and not used */
	unsigned mirrors;	  /* a master: standbys that hold what it knows now */
};
void sm_mirror_status(const struct sm *sm, struct sm_mirror_status *st);
bool sm_vm_get(const struct sm *sm, size_t n, struct sm_vm *v); /* by name; false: no more */
/* Those in the subnet, by GUID; *at is 0 at first. false: no more. */
bool sm_hypervisor_next(const struct sm *sm, size_t *at, struct sm_hypervisor *h);
size_t sm_vms_waiting(const struct sm *sm);		/* requests that are not carried out yet */
const struct fab *sm_fabric(const struct sm *sm);	/* the snapshot in force, or NULL */
const struct rt_tables *sm_tables(const struct sm *sm); /* the tables in force, or NULL */
/*
 * Service levels that the manager gives to paths: those of the last tables that were all in place. Hosts use
 * them from then on. The number counts whenever they are others; 0: there were none so far, SL 0 serves.
 */
uint32_t sm_sls_number(const struct sm *sm);
/* SLs, by LID up to *top_lid, of packets that enter at this port of a switch (0: it sends them itself). NULL: SL 0. */
const uint8_t *sm_sls_from(const struct sm *sm, uint64_t switch_guid, unsigned port,
			   uint32_t *top_lid);
/* VL of packets with this SL from port `in` (0: the device sends them itself) to port `out`, by the SL-to-VL table that the
 * device holds; 15: it discards them. -1: not known. Without lanes VL 0 serves SL 0. */
int sm_vl_of(const struct sm *sm, uint64_t node_guid, unsigned in, unsigned out, unsigned sl);
/* The engine of final routes, the chosen one where one is, and why that was; NULL: none is chosen yet. *why is "" where it
 * was named. */
const struct rt_engine *sm_engine(const struct sm *sm, const char **why);
/* Figures where the routes in force are clearly worse than auto's would be; "": they are not, or were not compared. */
const char *sm_advice(const struct sm *sm);
/* Data VLs that the tables in force use, and that every link between switches has. */
unsigned sm_lanes(const struct sm *sm, unsigned *most);
/* MLIDs from 0xc000 on that every switch has room for. */
unsigned sm_mlids(const struct sm *sm);
/* SLs on whose lane a tree fits whatever its members are, a bit for each: all but with routes over several lanes. Takes
 * as long as a verification then. */
unsigned sm_multicast_sls(const struct sm *sm);
void sm_multicast_status(const struct sm *sm, struct sm_multicast_status *st);
/* A block of a multicast forwarding table, 32 MLIDs at 16 ports, as the switch acknowledged it; false: not known. */
bool sm_mft_block(const struct sm *sm, uint64_t node_guid, unsigned block, unsigned position,
		  uint16_t masks[IBA_MFT_BLOCK]);
uint16_t sm_lid_of(const struct sm *sm, uint64_t port_guid, unsigned *lmc); /* 0: none assigned */
/* Devices that are left out because another one has their GUID, from 0; false: there are no more. */
bool sm_duplicate_at(const struct sm *sm, uint32_t i, struct sm_duplicate *d);
const char *sm_node_desc(const struct sm *sm, uint64_t node_guid); /* "": not known (yet) */
bool sm_node_info(const struct sm *sm, uint64_t node_guid, struct iba_node_info *ni);
bool sm_switch_info(const struct sm *sm, uint64_t node_guid, struct iba_switch_info *si);
/*
 * PortInfo as last read or set; false: not known. Any port of a switch; of a CA its linked port.
 */
bool sm_port_info(const struct sm *sm, uint64_t node_guid, unsigned port, struct iba_port_info *pi);
/* The link at this port of a switch changes too often and counts as Down (cfg.flaps). */
bool sm_port_held(const struct sm *sm, uint64_t node_guid, unsigned port);
/* It is isolated by order (SM_EV_ISOLATE). */
bool sm_port_isolated(const struct sm *sm, uint64_t node_guid, unsigned port);

/* ---- for subnet administration ---- */

/* The tables of the snapshot that will be in force: while tables change, the last ones of the change. NULL: there is no
 * snapshot, or they are being computed. */
const struct rt_tables *sm_tables_to_stand(const struct sm *sm);
/* While those are computed: what the switches hold until then, for the new snapshot, which is that of the last tables. NULL:
 * not known, turns are disabled, or the routes to come may have several lanes. */
const struct rt_tables *sm_tables_until_then(const struct sm *sm);
/* Tables that devices acknowledged or that were read; false: not known. SL-to-VL tables of a host have input port 0; of VL
 * arbitration, block 1 is the first half of the low priority table. */
bool sm_sl2vl(const struct sm *sm, uint64_t node_guid, unsigned in, unsigned out,
	      struct iba_slvl_table *t);
bool sm_vlarb(const struct sm *sm, uint64_t node_guid, unsigned port, unsigned block,
	      struct iba_vlarb_table *t);
bool sm_rft_entries(const struct sm *sm, uint64_t node_guid, uint32_t block, struct iba_rft *b);
/* The vGUID of the VM that runs behind the shared port of this host in this slot; 0: there is none. */
uint64_t sm_shared_guid(const struct sm *sm, uint64_t host, unsigned slot);
/* Where the running VM with this vGUID shares the port of its host; 0: no such VM. */
uint64_t sm_shared_host(const struct sm *sm, uint64_t vguid);
const char *sm_vm_name(const struct sm *sm, uint64_t vguid); /* "": no VM has it */
/* Counts whenever a VM is created, destroyed, started, stopped or elsewhere. */
uint32_t sm_vms_number(const struct sm *sm);
/* Whether a device, a virtual function or a VM has this GUID. */
bool sm_guid_known(const struct sm *sm, uint64_t guid);
/* SMInfo.ActCount of this manager. */
uint32_t sm_act_count(const struct sm *sm);

#endif
