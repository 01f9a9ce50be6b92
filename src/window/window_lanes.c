/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States and phases of managers over time, also of moments that no frame shows. State: struct window_lanes. Way in:
 * window_lanes_look(), whenever one may have changed. Does not change the run.
 */
#include "window/window_priv.h"

/* The oldest half goes when there are so many. */
enum { STEPS = 8192 };

struct window_lane window_manager_lane(const struct window_run *r, unsigned manager)
{
	const struct sm_status *st = lab_manager_status(r->lab, manager);

	return (struct window_lane){
		.state = (uint8_t)st->state,
		.phase = (uint8_t)st->phase,
		.flags = (uint8_t)((lab_manager_paused(r->lab, manager) ? WINDOW_PAUSED_MANAGER
									: 0) |
				   (lab_manager_sm(r->lab, manager) ? 0 : WINDOW_STOPPED_MANAGER))};
}

static bool is_same(struct window_lane a, struct window_lane b)
{
	return a.state == b.state && a.phase == b.phase && a.flags == b.flags;
}

static void add_step(struct window_lanes *s, const struct window_lane_step *x)
{
	if (s->steps.n >= STEPS) {
		memmove(s->steps.at, s->steps.at + STEPS / 2,
			(s->steps.n - STEPS / 2) * sizeof(*s->steps.at));
		s->steps.n -= STEPS / 2;
	}
	vec_push(&s->steps, *x);
}

void window_lanes_look(struct window_run *r)
{
	struct window_lanes *s = &r->lanes;
	unsigned n = MIN(lab_managers(r->lab), (unsigned)ARRAY_LEN(s->last));

	for (unsigned i = 0; i < n; i++) {
		struct window_lane_step x = {sim_now(r->sim), (uint8_t)i,
					     window_manager_lane(r, i)};

		if (s->known & 1u << i && is_same(s->last[i], x.lane))
			continue;
		s->known |= 1u << i;
		s->last[i] = x.lane;
		add_step(s, &x);
	}
}

void window_lanes_write(struct window_run *r, struct json *reply)
{
	char at[24];

	window_lanes_look(r);
	json_open(reply, "lanes", '[');
	for (size_t i = 0; i < r->lanes.steps.n; i++) {
		const struct window_lane_step *x = &r->lanes.steps.at[i];

		snprintf(at, sizeof(at), "%llu", (unsigned long long)x->at);
		json_open(reply, NULL, '[');
		json_u64(reply, NULL, x->manager);
		json_str(reply, NULL, at);
		json_u64(reply, NULL, x->lane.state);
		json_u64(reply, NULL, x->lane.phase);
		json_u64(reply, NULL, x->lane.flags);
		json_close(reply);
	}
	json_close(reply);
}
