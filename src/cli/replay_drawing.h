/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The drawing of a replay: the state of every manager over time, and marks for what happened.
 */
#ifndef WEFT_REPLAY_DRAWING_H
#define WEFT_REPLAY_DRAWING_H

#include "base/vec.h"
#include "draw/lanes_chart.h"
#include "lab/lab.h"

struct replay_drawing {
	VEC(struct lanes_span) spans;
	VEC(struct lanes_mark) marks; /* their texts are its own */
	unsigned n;		      /* managers */
	unsigned *state;	      /* by manager, */
	time_ps *since;		      /* and when it began */
};

void replay_drawing_init(struct replay_drawing *d, unsigned managers);
/* The managers' states now: what changed since the last call begins here. */
void replay_drawing_see(struct replay_drawing *d, const struct lab *l, time_ps now);
/* manager -1: of all. The text is copied. */
void replay_drawing_mark(struct replay_drawing *d, time_ps now, int manager,
			 enum lanes_mark_kind kind, const char *text);
/* Until `end`. names: by manager. Titles and note as in lanes_chart.h. */
void replay_drawing_svg(struct replay_drawing *d, time_ps end, const char *const *names,
			struct lanes_chart texts, struct strbuf *out);
void replay_drawing_free(struct replay_drawing *d);

#endif
