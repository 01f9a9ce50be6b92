/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any MADs of the class SubnAdm to the server of subnet administration: requests with any mask and data, segments of any
 * order, acknowledgements of transfers that are not there, over a small subnet that is up. No crash, bounded queues, and
 * nothing is sent that is not of the class. An input is a list of pieces: what to do, the sender's LID, where in the MAD the
 * bytes that follow go, and how many there are. State: the subnet, made once. Way in: libFuzzer, or replay.c over files.
 */
#include "iba/rmpp.h"
#include "lab/lab.h"
#include "sa/sa.h"
#include "sim/kernel/sim_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "fuzz_sa: %s\n", #x);                                      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

enum { FRESH = 1, LATE = 2, DRAIN = 4, ANSWER = 8, PIECE = 4, MOST_SENT = 20000 };

static struct lab *subnet;

static const struct sm *manager(void)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct lab_config c;
	struct err e;

	if (!subnet) {
		lab_config_default(&c);
		c.threads = 1;
		c.sm.lmc = 1;
		subnet = lab_new(fab_generate(&g, &e), &c, &e);
		lab_power_on(subnet, NULL);
		CHECK(lab_run_ready(subnet, 10 * PS_PER_S));
	}
	return lab_sm(subnet);
}

static void fresh(struct sa_mad *m)
{
	*m = (struct sa_mad){.lid = 1};
	iba_smp_set_base_version(m->mad, 1);
	iba_smp_set_mgmt_class(m->mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(m->mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(m->mad, IBA_SA_GET_TABLE);
}

/* Sends what waits; with ANSWER long messages are acknowledged as their receivers would. */
static void drain(struct sa *sa, const struct sm *sm, time_ps now, bool answer)
{
	struct sa_mad m, ack;
	unsigned sent = 0;

	while (sent++ < MOST_SENT && sa_next(sa, &m, now)) {
		struct iba_rmpp_in in = {.segment = 0};

		CHECK(iba_smp_mgmt_class(m.mad) == IBA_CLASS_SUBN_ADM && m.lid);
		if (!answer || !iba_rmpp_active(m.mad) || iba_rmpp_type(m.mad) != IBA_RMPP_DATA)
			continue;
		in.segment = iba_rmpp_segment(m.mad) - 1;
		in.window = in.segment + 1;
		ack = (struct sa_mad){.lid = m.lid};
		if (iba_rmpp_in_take(&in, m.mad, ack.mad) != IBA_RMPP_NOTHING)
			sa_take(sa, sm, &ack, now);
		iba_rmpp_in_free(&in);
	}
}

static void check(const struct sa *sa)
{
	struct sa_status st;

	sa_status(sa, &st);
	CHECK(st.waiting <= SA_WAITING && st.transfers <= SA_TRANSFERS);
	CHECK(st.transfer_bytes <= SA_TRANSFER_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sm *sm = manager();
	struct sa_config c;
	struct sa_mad m;
	struct sa *sa;
	time_ps now = sim_now(lab_sim(subnet));

	sa_config_default(&c);
	sa = sa_new(&c);
	fresh(&m);
	while (size >= PIECE) {
		size_t at = data[2], n = MIN((size_t)data[3], size - PIECE);

		if (data[0] & FRESH)
			fresh(&m);
		m.lid = data[1];
		n = MIN(n, IBA_MAD_SIZE - at);
		memcpy(m.mad + at, data + PIECE, n);
		sa_take(sa, sm, &m, now);
		if (data[0] & LATE) {
			now += 300 * PS_PER_MS;
			sa_manager(sa, sm, now);
			sa_wake(sa, now);
		}
		if (data[0] & DRAIN)
			drain(sa, sm, now, data[0] & ANSWER);
		check(sa);
		data += PIECE + n;
		size -= PIECE + n;
	}
	drain(sa, sm, now, false);
	sa_free(sa);
	return 0;
}
