/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's side: route_worker.c computes and verifies, plan_worker.c plans the way to new tables or leaves old ones in place,
 * fresh_worker.c compares updates with routes from scratch, verdict_worker.c judges tables, lane_worker.c decides about tables with several lanes. Pure
 * functions of a request; nothing here touches the SM.
 */
#ifndef WEFT_SM_WORKER_H
#define WEFT_SM_WORKER_H

#include "sm/manager.h"

/* In twentieths of new tables: the hops in all and the load of a link that tables may have which were found. */
enum { SM_STAY_HOPS = 22, SM_STAY_LOAD = 40 };

/* Options of engines that compute from scratch, as the request has them. */
struct rt_opts sm_worker_opts(const struct sm_compute *c, unsigned threads);
/* Tables of the engine that serves best, where the one that was named does not: out->why is its reason. */
bool sm_choice_replace(const struct sm_compute *c, unsigned threads, struct rt_report *r,
		       struct sm_routes *out, struct sm_work_done *done);
/* The engine that a supply stands for: an update continues the routes of the final one. */
const struct rt_engine *sm_worker_engine(const struct sm_compute *c);
/* Whether the verifier accepts tables; r, to be freed, is its report. rank: NULL: without directions. */
bool sm_worker_verify(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		      unsigned threads, struct rt_report *r);

/* Old tables beside new ones, in twentieths: hops in all, the load of a link. */
struct sm_worth {
	unsigned hops, load;
};
extern const struct sm_worth sm_as_it_should_be, sm_it_will_do;
bool sm_worker_as_good(const struct rt_report *old, const struct rt_report *new, struct sm_worth w);
/* Whether the tables in the switches could stay: final ones, over ranks that are known. */
bool sm_worker_may_keep(const struct sm_compute *c);
/* Whether all entries of assigned LIDs are in the switches. */
bool sm_worker_is_found(const struct sm_compute *c, const struct rt_tables *t);
/* Entries that lead nowhere go; how many did. */
uint32_t sm_worker_drop_stale(const struct sm_compute *c, struct sm_routes *out);
/* The plan from old to new, or the decision to keep the old tables. new: the report on out->tables. */
void sm_worker_plan_tables(const struct sm_compute *c, unsigned threads,
			   const struct rt_report *new, struct sm_routes *out);
/* A plan that does not rely on the failure, for repairs computed ahead. */
void sm_worker_plan_alive(const struct sm_compute *c, unsigned threads, struct sm_routes *out);

/* FERa's tables over these ranks, from scratch; NULL: there are none. */
struct rt_tables *sm_worker_fera(const struct sm_compute *c, unsigned threads, const uint64_t *rank,
				 struct sm_work_done *done);
bool sm_worker_is_final_update(const struct sm_compute *c);
/* Such an update, replaced by routes from scratch where it falls behind; new becomes the report on the latter. */
void sm_worker_compare_fresh(const struct sm_compute *c, unsigned threads, struct rt_report *new,
			     struct sm_routes *out, struct sm_work_done *done);
/* A repair that stays, compared with routes from scratch: those, if it is clearly worse; else none. */
void sm_worker_compare(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		       struct sm_work_done *done);

/* A plan from what is in the switches; false: there is none. */
bool sm_worker_plan(const struct sm_compute *c, unsigned threads, const struct rt_tables *t,
		    const uint64_t *rank, struct rt_plan *p);

/*
 * Plans the way to tables without an up/down graph, or from tables with lanes; or leaves what is in the switches in
 * place. False: it is not such a case. new: the report on out->tables.
 */
bool sm_lanes_plan(const struct sm_compute *c, unsigned threads, const struct rt_report *new,
		   struct sm_routes *out);
/* FERa's tables instead of those that failed verification (r, which becomes the report on the former). */
bool sm_lanes_replace(const struct sm_compute *c, unsigned threads, struct rt_report *r,
		      struct sm_routes *out);

/* Tables from the reference, verified, with ranks. False: there is none, or they do not serve; out is as it was. */
bool sm_reroute(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
		struct sm_work_done *done);
/* Tables from scratch, if those in the switches are clearly worse; else none. */
void sm_compare_reference(const struct sm_compute *c, unsigned threads, struct sm_routes *out,
			  struct sm_work_done *done);

/* How good old is beside what auto would choose; nothing where it was stopped. */
void sm_advise(const struct sm_compute *c, unsigned threads, struct sm_advice *out);
/* Tables of the engine that serves best, their ranks, the reason, and the verifier's report on them: r. False: none does,
 * out->why says why. */
bool sm_choice_compute(const struct sm_compute *c, unsigned threads, struct rt_report *r,
		       struct sm_routes *out, struct sm_work_done *done);

#endif
