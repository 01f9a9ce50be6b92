/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of subnet administration for tests: a simulated subnet with a manager, an SA over it, and requests whose answers
 * come back as records, long ones assembled from their segments. State: struct sa_rig. Include first.
 */
#ifndef WEFT_TEST_SA_FIXTURE_H
#define WEFT_TEST_SA_FIXTURE_H

#include "unit_test.h"

#include "base/rng.h"
#include "fabric_fixture.h"
#include "iba/rmpp.h"
#include "lab/lab.h"
#include "sa/sa.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { SA_TEST_KEY = 0x77 };

struct sa_rig {
	struct fab *fab;
	struct lab *lab;
	struct sa *sa;
	uint64_t tid;
};

static inline void sa_rig_settle(struct sa_rig *g)
{
	time_ps now = sim_now(lab_sim(g->lab));

	assert_true(lab_run_settled(g->lab, now, now + 60 * PS_PER_S));
}

/* Takes the fabric over. engine NULL: the default one. */
static inline void sa_rig_open(struct sa_rig *g, struct fab *f, unsigned lmc, const char *engine)
{
	struct sa_config sc;
	struct lab_config c;
	struct err e;

	*g = (struct sa_rig){.fab = f};
	lab_config_default(&c);
	c.threads = 1;
	c.sm.lmc = lmc;
	c.sm.names = true;
	if (engine) {
		c.sm.mechanism.routes = sm_supply_find(engine);
		assert_non_null(c.sm.mechanism.routes);
	}
	g->lab = lab_new(f, &c, &e);
	assert_non_null(g->lab);
	lab_power_on(g->lab, NULL);
	sa_rig_settle(g);
	sa_config_default(&sc);
	sc.sm_key = SA_TEST_KEY;
	g->sa = sa_new(&sc);
}

static inline void sa_rig_close(struct sa_rig *g)
{
	sa_free(g->sa);
	lab_free(g->lab);
	fab_free(g->fab);
}

/* ---- requests ---- */

struct sa_ask {
	uint16_t attr_id, lid; /* lid 0: that of the manager */
	uint8_t method;
	bool trusted;
	uint32_t attr_mod;
	uint64_t mask;
	uint8_t query[IBA_SA_DATA_SIZE];
};

struct sa_reply {
	uint16_t status, attr_id;
	uint8_t method;
	size_t size; /* of a record */
	uint32_t n;
	uint8_t *records;
	uint8_t *message; /* what is to be freed */
};

static inline void sa_reply_free(struct sa_reply *r)
{
	free(r->message);
	*r = (struct sa_reply){0};
}

static inline time_ps sa_rig_now(const struct sa_rig *g)
{
	return sim_now(lab_sim(g->lab));
}

static inline void sa_ask_mad(struct sa_rig *g, const struct sa_ask *a, struct sa_mad *m)
{
	struct iba_sa_hdr h = {.sm_key = a->trusted ? SA_TEST_KEY : 0, .mask = a->mask};

	*m = (struct sa_mad){.lid = a->lid ? a->lid : lab_status(g->lab)->lid};
	iba_smp_set_base_version(m->mad, 1);
	iba_smp_set_mgmt_class(m->mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(m->mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(m->mad, a->method);
	iba_smp_set_attr_id(m->mad, a->attr_id);
	iba_smp_set_attr_mod(m->mad, a->attr_mod);
	iba_smp_set_tid(m->mad, ++g->tid);
	iba_sa_hdr_put(&h, m->mad);
	memcpy(m->mad + IBA_SA_DATA_OFF, a->query, sizeof(a->query));
}

/* One MAD of an answer; true: the answer is complete. */
static inline bool sa_reply_take(struct sa_rig *g, const struct sa_mad *m, struct iba_rmpp_in *in,
				 struct sa_reply *r, size_t *len)
{
	struct sa_mad ack = {.lid = m->lid};
	enum iba_rmpp_step s;

	assert_int_equal(iba_smp_tid(m->mad), g->tid);
	if (!iba_rmpp_active(m->mad)) {
		r->message = mem_alloc(IBA_MAD_SIZE);
		memcpy(r->message, m->mad, IBA_MAD_SIZE);
		*len = 0;
		return true;
	}
	s = iba_rmpp_in_take(in, m->mad, ack.mad);
	assert_true(s == IBA_RMPP_NOTHING || s == IBA_RMPP_REPLY || s == IBA_RMPP_DONE);
	if (s != IBA_RMPP_NOTHING)
		sa_take(g->sa, lab_sm(g->lab), &ack, sa_rig_now(g));
	if (s != IBA_RMPP_DONE)
		return false;
	r->message = in->data;
	*len = in->len - IBA_SA_DATA_OFF;
	return true;
}

static inline struct sa_reply sa_rig_ask(struct sa_rig *g, const struct sa_ask *a)
{
	struct iba_rmpp_in in = {0};
	struct sa_reply r = {0};
	struct sa_mad m;
	size_t len = 0;
	bool whole = false;

	sa_ask_mad(g, a, &m);
	sa_take(g->sa, lab_sm(g->lab), &m, sa_rig_now(g));
	while (!whole && sa_next(g->sa, &m, sa_rig_now(g)))
		whole = sa_reply_take(g, &m, &in, &r, &len);
	assert_true(whole);
	assert_false(sa_next(g->sa, &m, sa_rig_now(g)));
	r.status = iba_smp_status(r.message);
	r.method = iba_smp_method(r.message);
	r.attr_id = iba_smp_attr_id(r.message);
	r.records = r.message + IBA_SA_DATA_OFF;
	r.size = (size_t)iba_be16(r.message + 44) * 8;
	if (len)
		r.n = (uint32_t)(len / r.size);
	else if (!r.status && a->method == IBA_GET)
		r.n = 1;
	return r;
}

#endif
