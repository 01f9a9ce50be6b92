/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes the place of the simulation's event queue in this program: passes every call on to the real
 * one and notes it. State: the log. Ways in: evq_push, evq_pop, evq_free; evq_now for the real one.
 */
#define evq_push evq_now_push
#define evq_pop	 evq_now_pop
#define evq_free evq_now_free
#include "sim/kernel/event_queue.c"
#undef evq_push
#undef evq_pop
#undef evq_free

#include "recorder.h"

/* As in event_queue.h, whose own declarations were renamed above. */
void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev_what e);
bool evq_pop(struct evq *q, struct ev *e);
void evq_free(struct evq *q);

struct record record;

static void note(uint64_t what)
{
	if (record.on)
		vec_push(&record.log, what);
}

void evq_push(struct evq *q, time_ps when, uint8_t priority, struct ev_what e)
{
	note(MIN(when, RECORD_MAX) << 8 | priority);
	evq_now_push(q, when, priority, e);
}

bool evq_pop(struct evq *q, struct ev *e)
{
	note(RECORD_POP);
	return evq_now_pop(q, e);
}

void evq_free(struct evq *q)
{
	evq_now_free(q);
}

struct evq_now { /* QUEUE takes the size from here */
	struct evq q;
};
#define evq_now_next evq_next
QUEUE(evq_now, "src/sim/kernel/event_queue.c");
