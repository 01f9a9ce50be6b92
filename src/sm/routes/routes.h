/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes: requests for tables, the answers, repairs computed ahead, and memory that a worker may still read.
 *
 * Keeps: the tables, ranks and plan in force or being distributed, and those before them.
 */
#ifndef WEFT_SM_ROUTES_H
#define WEFT_SM_ROUTES_H

#include "sm/topology/topology.h"

/* What a request for routes points to beside the snapshot: it must outlive the request. */
struct sm_task {
	struct fab *fab;       /* one made for it; NULL: the SM's own */
	struct rt_tables *old; /* what is in the switches; that of before: not the task's own */
	uint64_t *old_rank;
	rt_turns off;
	struct rt_before before, ref;
	struct sm_trees_task *trees; /* NULL: none */
};

/* A worker may still read it: freed when that request is answered. */
struct sm_retired {
	uint32_t until; /* its id */
	void (*free)(void *p);
	void *p;
};

/* The comparison of a repair that stays with routes from scratch. */
struct sm_balance {
	bool measured;		 /* the tables in force are even enough */
	uint32_t id;		 /* of the request; 0: none is open */
	bool wished;		 /* for other settings: no comparison */
	uint64_t wish;		 /* for these */
	struct sm_routes better; /* routes that are to replace the repair; no tables: none */
};

/* The last tables that an engine computed from scratch: routes after a failure are made from them. Any of it may be what
 * is in force, or was before. */
struct sm_reference {
	const struct rt_engine *engine; /* NULL: there is none */
	struct fab *fab;
	struct rt_tables *tables;
	uint64_t *rank;
};

/* Service levels of the last tables that were all in place: hosts use them. */
struct sm_service_levels {
	uint32_t number;		 /* counts whenever they change; 0: none so far */
	bool known;			 /* they are this manager's own */
	uint32_t stride, top_lid, nrows; /* nrows 0: SL 0 for all */
	unsigned nvls;			 /* of those tables */
	uint8_t *sl;			 /* [row][LID] */
	struct map64 by_guid;		 /* switch -> into first */
	VEC(uint32_t) first, row; /* by switch: where its ports begin in row; by port: its row */
	VEC(uint32_t) owner;	  /* by row: the first switch that uses it */
};

/* The engine that auto chose. */
struct sm_choice {
	const struct sm_supply *supply; /* NULL: none so far */
	char why[SM_WHY];
	uint32_t switches, links; /* when it was last decided */
	uint32_t asked;		  /* snapshot for which the worker was asked at rest; 0: none */
};

/* The comparison of a named engine with auto. */
struct sm_advice_state {
	uint32_t id; /* of the request; 0: none is open */
	bool done;
	char text[SM_WHY]; /* "": nothing to say */
};

/* What the configuration names for routes, for the last request, and what tables in force were made for: wishes.c. */
struct sm_wishes {
	node_id *roots;
	uint8_t *group;		  /* by port of the snapshot */
	bool by_name;		  /* some are names and patterns: NodeDescriptions are read */
	uint64_t names;		  /* those NodeDescriptions that count, as one number */
	uint32_t looked;	  /* when that was made: sm_node_names.changes */
	uint64_t requested;	  /* of the last request, as one number */
	bool known;		  /* what tables in force were made for: in_force */
	uint64_t in_force, asked; /* asked: at rest, for this */
	bool compared;		  /* with the subnet, since the configuration was read */
};

struct sm_routing {
	struct rt_tables *tables;
	uint64_t *rank; /* of tables, by switch; NULL: not told */
	bool ranked;	/* the rank came with the tables, and they obey it */
	struct rt_plan plan;
	rt_legs legs; /* tables that follow these, from legs.at[leg] */
	uint32_t leg;
	bool unplanned; /* no plan leads to these tables: turns are disabled first */
	struct sm_service_levels sls;
	unsigned lanes_noted; /* lanes of the last tables, as noted */
	enum sm_stage stage;
	bool staged;	     /* provisional tables came first in this round */
	bool settled;	     /* and are as good as final ones */
	uint32_t request_id; /* of the last request for routes */
	uint32_t own_tables,
		own_fab; /* the last request when tables or snapshot were copied: no worker reads these */
	uint16_t ready;	      /* LIDs up to this are computed */
	struct fab *prev_fab; /* the last snapshot whose tables were all in force, and those */
	struct rt_tables *prev_tables;
	enum {
		SM_LANES_UNKNOWN,
		SM_LANES_ONE,
		SM_LANES_SEVERAL
	} lanes_before; /* of the last tables */
	uint64_t *prev_rank;
	bool prev_ranked;		    /* prev_tables obey it */
	struct sm_task *task;		    /* of the last request of a round; NULL: none */
	const struct rt_tables *until_then; /* of that request: see sm_tables_until_then() */
	uint32_t answered;		    /* the last request that was */
	VEC(struct sm_retired) retired;
	struct sm_ahead *ahead; /* repairs computed ahead; NULL: none */
	struct sm_balance balance;
	struct sm_reference ref;
	const struct rt_engine *by; /* as with the answer that the tables or their legs came with */
	struct sm_choice choice;
	struct sm_wishes wishes;
	const struct rt_engine
		*instead; /* serves for the engine that was named; NULL: that one does */
	char instead_why[SM_WHY];
	struct sm_advice_state advice;
};

/* service_levels.c */
bool sm_sls_in_place(struct sm *sm); /* the tables are: hosts learn service levels; true: others */
void sm_sls_forget(struct sm *sm);
void sm_sls_recall(struct sm *sm, struct sm_service_levels *x); /* takes those of before */
void sm_sls_tell(const struct sm *sm, struct rt_tables *old);	/* into lanes that old has */
bool sm_lanes_wanted(const struct sm *sm); /* the engine of final routes may use several lanes */

/* choice.c */
const struct sm_supply *
sm_final_routes(const struct sm *sm);	     /* auto: the chosen one, once there is */
bool sm_choice_is_open(const struct sm *sm); /* no engine is chosen so far */
unsigned sm_choice_lanes(const struct sm *sm, unsigned most);  /* most 0: not known */
void sm_choice_take(struct sm *sm, const struct sm_routes *r); /* these tables are to be used */
void sm_choice_forget(struct sm *sm);
bool sm_choice_is_due(const struct sm *sm); /* at rest: the worker is to choose again */
void sm_choice_asked(struct sm *sm, bool asked);
void sm_choice_stays(struct sm *sm); /* it chose the same engine */

/* wishes.c */
node_id sm_root_named(const struct sm *sm, const struct fab *f); /* FAB_NONE: none is there */
void sm_wishes_tell(struct sm *sm, struct sm_compute *c);
void sm_wishes_taken(struct sm *sm);   /* tables of the last request are to be used */
void sm_wishes_compare(struct sm *sm); /* at rest: tells once what no device matches */
bool sm_wishes_due(struct sm *sm);
uint64_t sm_wishes_asked(struct sm *sm); /* what the last request was for, at rest */
void sm_wishes_configured(struct sm *sm);
void sm_wishes_free(struct sm *sm);

/* advice.c */
bool sm_advice_is_due(const struct sm *sm);
bool sm_advice_request(struct sm *sm);			   /* at rest: true: a comparison is open */
bool sm_advice_answer(struct sm *sm, struct sm_routes *r); /* true: it was one */
void sm_advice_drop(struct sm *sm);			   /* another request comes first */
void sm_advice_forget(struct sm *sm);

/* ranks.c */
node_id sm_root_in(const struct sm *sm, const struct fab *f);
void sm_rank_ensure(struct sm *sm); /* where the answer came without ranks */

/* route_request.c */
void sm_engine_note(
	struct sm *sm,
	const struct sm_routes *r); /* which one serves, and its lanes, if that is news */
enum sm_outcome sm_routes_in(struct sm *sm, const struct sm_event *ev); /* the answer */
void sm_routes_progress(struct sm *sm, const struct sm_event *ev);
void sm_routes_request(struct sm *sm, bool old); /* for the current stage; old: tables are known */

/* routes_state.c */
void sm_routes_round(struct sm *sm);	  /* a new snapshot: no tables are in place for it */
bool sm_routes_more(const struct sm *sm); /* further tables follow those in place */
void sm_routes_staged(struct sm *sm, bool staged); /* provisional tables are in place; or all is */
void sm_routes_of_old(struct sm *sm, struct fab *old,
		      bool in_force); /* takes the old snapshot over */
void sm_routes_forget(struct sm *sm); /* snapshot and tables before those in force */
void sm_routes_exit(struct sm *sm);   /* the SM is freed */

/* The tables in force, to be changed in place: a copy, if a worker may read them. */
struct rt_tables *sm_tables_writable(struct sm *sm);
void sm_snapshot_is_own(struct sm *sm);	   /* no request so far points to it */
bool sm_worker_reads(const struct sm *sm); /* a request is not answered yet */

/* repairs_ahead.c */
void sm_ahead_reset(struct sm *sm);
void sm_ahead_request(struct sm *sm);			  /* at rest: ask for the next */
bool sm_ahead_is_open(const struct sm *sm);		  /* an answer is awaited */
bool sm_ahead_answer(struct sm *sm, struct sm_routes *r); /* true: it was one, and is taken over */
bool sm_ahead_guess(struct sm *sm, uint64_t guid);	  /* may this switch be presumed dead? */
bool sm_ahead_use(struct sm *sm, struct sm_routes *r);

/* balance.c */
void sm_balance_reset(struct sm *sm);	/* other tables are in force, or will be */
bool sm_balance_request(struct sm *sm); /* at rest: true: a comparison is open, or its result */
bool sm_balance_answer(struct sm *sm,
		       struct sm_routes *r); /* true: it was one, and is taken over */
bool sm_balance_is_open(
	const struct sm *sm);		  /* an answer is awaited, or routes are about to go out */
bool sm_balance_due(const struct sm *sm); /* better routes are to be distributed now */
bool sm_balance_use(struct sm *sm, struct sm_routes *r);

/* reference.c */
void sm_reference_take(struct sm *sm, const struct rt_engine *by); /* the tables in force are it */
void sm_reference_drop(struct sm *sm);
bool sm_reference_holds(const struct sm *sm, const void *p);
/* Before tables and snapshot change in place: its engine, if they are those of the reference; if a part of it is, the
 * reference is dropped. */
const struct rt_engine *sm_reference_in_force(struct sm *sm);
bool sm_reference_tell(const struct sm *sm, struct sm_task *j,
		       struct sm_compute *c); /* false: there is none for these settings */
void sm_reference_reconfigured(struct sm *sm, const struct sm_config *old);

/* deferred_free.c: free these as soon as no worker can read them; NULL is fine */
void sm_retire_fab(struct sm *sm, struct fab *f);
void sm_retire_tables(struct sm *sm, struct rt_tables *t);
void sm_retire_memory(struct sm *sm, void *p);
void sm_retire_task(struct sm *sm, struct sm_task *j);
void sm_retired_free(struct sm *sm, uint32_t answered); /* all up to this request */
void sm_retired_all(struct sm *sm);

#endif
