#include "route/route.h"
void rt_plan_free(struct rt_plan *p){vec_free(&p->turns);}
const char *rt_plan_name(enum rt_plan_kind k){(void)k;return "?";}
int rt_plan(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
	    const uint64_t *rank, const rt_turns *off, unsigned threads, struct rt_plan *p,
	    struct err *e){(void)f;(void)old;(void)new;(void)rank;(void)off;(void)threads;(void)e;p->kind=RT_PLAN_OUTWARDS;return 0;}
uint32_t rt_updown_rank_keep(const struct fab *f, node_id root, const uint64_t *old, uint64_t *rank){(void)old;rt_updown_rank(f,root,rank);return 0;}
int rt_update(const struct fab *f, const struct rt_opts *o, const struct rt_tables *old,
	      struct rt_tables *t, struct rt_update_stats *st, struct err *e){(void)old;st->searched=f->nswitches;st->changed=1;return rt_fera.route(f,o,t,e);}
