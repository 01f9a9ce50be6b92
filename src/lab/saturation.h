/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The highest rate that a fabric carries, and its latency curve.
 *
 * A point is saturated when less than 95 % of the packets offered in the window are delivered in it, or when
 * the mean latency is above 5 times that at zero load. The search doubles the rate from 1/64 of the host's
 * link until a point is saturated, then halves the gap until it is 1/32. Each point is a simulation of its
 * own; lab->threads of them run at the same time, some before the search knows that it needs them.
 */
#ifndef WEFT_SATURATION_H
#define WEFT_SATURATION_H

#include "lab/load.h"

struct lab_sat_point {
	uint64_t rate;		    /* requested, packets a second and sending node */
	uint64_t offered, accepted; /* measured */
	time_ps mean, p99;	    /* latency */
	bool saturated, deadlock, conserved;
};

struct lab_saturation {
	uint64_t rate;	   /* the highest one found that is not saturated */
	bool full;	   /* it is all that a host's link carries */
	time_ps zero_load; /* mean latency at a rate at which packets hardly wait for each other */
	uint64_t runs, events;
	bool sound; /* no deadlock, all packets accounted for */
	VEC(struct lab_sat_point) curve;
};

struct lab_sat_config {
	const struct fab *fab;
	const struct lab_config *lab;
	const struct lab_load
		*load;	 /* without interval; times TIME_NEVER, or fixed for all points */
	unsigned points; /* of the curve, the last one at 6/5 of the saturation rate */
	void (*done)(void *ctx,
		     const struct lab_sat_point *p); /* after each simulation; may be NULL */
	void (*tick)(void *ctx);		     /* see lab_on_tick(); may be NULL */
	void *ctx;
};

/* 0, or -EINVAL with e filled, also when packets are discarded at zero load. Free s in either case. */
int lab_saturation(const struct lab_sat_config *c, struct lab_saturation *s, struct err *e);
void lab_saturation_free(struct lab_saturation *s);

#endif
