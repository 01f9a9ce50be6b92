/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long messages under way, by LID and transaction: tables that hosts asked for, and requests in segments. State: struct
 * sa_transfers. Ways in: sa_transfer_*(), sa_transfers_late(). Does not look into records; the protocol is that of rmpp.c.
 *
 * Segments are handed out one transfer after another, so that a host with a large table does not hold up the others. A host
 * that does not answer costs its bytes until its transfer is given up: IBA_RMPP_TRIES times LATE.
 */
#include "base/rng.h"
#include "sa/sa_priv.h"

enum { LATE_MS = 250 };

/* ---- which there are ---- */

static uint64_t key_of(uint16_t lid, uint64_t tid, bool inbound)
{
	return hash64_add(hash64_add(tid, lid), inbound);
}

static const struct sa_transfer *look_up(const struct sa *sa, uint16_t lid, uint64_t tid,
					 bool inbound)
{
	uint32_t at = map64_get(&sa->transfers.by, key_of(lid, tid, inbound));
	const struct sa_transfer *t = at == MAP_NONE ? NULL : &sa->transfers.list.at[at];

	return t && t->lid == lid && t->tid == tid && t->inbound == inbound ? t : NULL;
}

static struct sa_transfer *find(struct sa *sa, uint16_t lid, uint64_t tid, bool inbound)
{
	return (struct sa_transfer *)look_up(sa, lid, tid, inbound);
}

bool sa_transfer_is_under_way(const struct sa *sa, uint16_t lid, uint64_t tid)
{
	return look_up(sa, lid, tid, false);
}

static void due_by(struct sa *sa, struct sa_transfer *t, time_ps now)
{
	t->due = now + LATE_MS * PS_PER_MS;
	sa->transfers.due = MIN(sa->transfers.due, t->due);
}

/* It has segments to send: in turn with others. */
static void ready(struct sa *sa, struct sa_transfer *t)
{
	struct sa_transfers *all = &sa->transfers;

	t->ready = true;
	if (t->queued)
		return;
	t->queued = true;
	all->queue[(all->head + all->nqueued++) % SA_TRANSFERS] = (uint32_t)(t - all->list.at);
}

static struct sa_transfer *place(struct sa_transfers *all)
{
	if (all->unused.n)
		return &all->list.at[all->unused.at[--all->unused.n]];
	vec_push(&all->list, (struct sa_transfer){0});
	return &all->list.at[all->list.n - 1];
}

/* NULL: there are too many, or the key is taken. */
static struct sa_transfer *begin(struct sa *sa, const struct sa_mad *to, uint64_t tid, bool inbound,
				 size_t bytes, time_ps now)
{
	struct sa_transfers *all = &sa->transfers;
	uint64_t key = key_of(to->lid, tid, inbound);
	struct sa_transfer *t;

	if (all->n >= SA_TRANSFERS || all->bytes + bytes > SA_TRANSFER_BYTES ||
	    to->lid > IBA_LID_MAX_UNICAST || all->of_lid[to->lid] >= SA_TRANSFERS_OF_ONE ||
	    map64_get(&all->by, key) != MAP_NONE)
		return NULL;
	t = place(all);
	*t = (struct sa_transfer){.used = true,
				  .lid = to->lid,
				  .sl = to->sl,
				  .tid = tid,
				  .inbound = inbound,
				  .queued = t->queued};
	map64_put(&all->by, key, (uint32_t)(t - all->list.at));
	all->of_lid[to->lid]++;
	all->n++;
	due_by(sa, t, now);
	return t;
}

/* Its place in the queue, if it has one, goes when its turn comes. */
static void end(struct sa *sa, struct sa_transfer *t, bool failed)
{
	struct sa_transfers *all = &sa->transfers;

	all->n--;
	all->of_lid[t->lid]--;
	all->bytes -= t->inbound ? 0 : t->out.len;
	all->failed += failed;
	map64_del(&all->by, key_of(t->lid, t->tid, t->inbound));
	free(t->bytes);
	iba_rmpp_in_free(&t->in);
	*t = (struct sa_transfer){.due = TIME_NEVER, .queued = t->queued};
	vec_push(&all->unused, (uint32_t)(t - all->list.at));
}

bool sa_transfer_begin(struct sa *sa, uint16_t lid, uint8_t sl, uint8_t *bytes, size_t len,
		       time_ps now)
{
	struct sa_mad to = {.lid = lid, .sl = sl};
	struct sa_transfer *t = begin(sa, &to, iba_smp_tid(bytes), false, len, now);

	if (!t) {
		free(bytes);
		return false;
	}
	t->bytes = bytes;
	ready(sa, t);
	iba_rmpp_out_begin(&t->out, bytes, len);
	sa->transfers.bytes += t->out.len;
	return true;
}

/* ---- what arrives ---- */

static void take_answer(struct sa *sa, struct sa_transfer *t, const struct sa_mad *in, time_ps now)
{
	uint8_t reply[IBA_MAD_SIZE];

	switch (iba_rmpp_out_answer(&t->out, in->mad, reply)) {
	case IBA_RMPP_GO_ON:
		ready(sa, t);
		due_by(sa, t, now);
		break;
	case IBA_RMPP_DONE:
		end(sa, t, false);
		break;
	case IBA_RMPP_FAILED_TELL:
		sa_send(sa, t->lid, t->sl, reply);
		end(sa, t, true);
		break;
	case IBA_RMPP_FAILED:
		end(sa, t, true);
		break;
	case IBA_RMPP_NOTHING:
	case IBA_RMPP_REPLY:
		due_by(sa, t, now);
		break;
	}
}

static void take_data(struct sa *sa, struct sa_transfer *t, const struct sa_mad *in, time_ps now,
		      uint8_t **whole, size_t *len)
{
	uint8_t reply[IBA_MAD_SIZE];
	enum iba_rmpp_step step = iba_rmpp_in_take(&t->in, in->mad, reply);

	if (step == IBA_RMPP_REPLY || step == IBA_RMPP_DONE || step == IBA_RMPP_FAILED_TELL)
		sa_send(sa, t->lid, t->sl, reply);
	if (step == IBA_RMPP_DONE) {
		*whole = t->in.data;
		*len = t->in.len;
		t->in.data = NULL;
		end(sa, t, false);
	} else if (step == IBA_RMPP_FAILED || step == IBA_RMPP_FAILED_TELL) {
		end(sa, t, true);
	} else {
		due_by(sa, t, now);
	}
}

/* Segments of a request; the first one begins a transfer. */
static void take_request(struct sa *sa, const struct sa_mad *in, time_ps now, uint8_t **whole,
			 size_t *len)
{
	uint64_t tid = iba_smp_tid(in->mad);
	struct sa_transfer *t = find(sa, in->lid, tid, true);
	uint8_t reply[IBA_MAD_SIZE];

	if (!t && iba_rmpp_segment(in->mad) != 1)
		return; /* of one that was given up */
	if (!t)
		t = begin(sa, in, tid, true, 0, now);
	if (!t) {
		iba_rmpp_refuse(in->mad, IBA_RMPP_STOP, IBA_RMPP_RESOURCES, reply);
		sa_send(sa, in->lid, in->sl, reply);
		return;
	}
	t->in.most = SA_LONG_REQUEST;
	take_data(sa, t, in, now, whole, len);
}

void sa_transfer_take(struct sa *sa, const struct sa_mad *in, time_ps now, uint8_t **whole,
		      size_t *len)
{
	struct sa_transfer *t = find(sa, in->lid, iba_smp_tid(in->mad), false);

	*whole = NULL;
	if (iba_rmpp_type(in->mad) == IBA_RMPP_DATA) {
		if (!t)
			take_request(sa, in, now, whole, len);
	} else if (t) {
		take_answer(sa, t, in, now);
	} else {
		t = find(sa, in->lid, iba_smp_tid(in->mad), true);
		if (t && iba_rmpp_type(in->mad) != IBA_RMPP_ACK)
			end(sa, t, true);
	}
}

/* ---- what is sent ---- */

bool sa_transfer_next(struct sa *sa, struct sa_mad *out, time_ps now)
{
	struct sa_transfers *all = &sa->transfers;

	while (all->nqueued) {
		struct sa_transfer *t = &all->list.at[all->queue[all->head]];

		all->head = (all->head + 1) % SA_TRANSFERS;
		all->nqueued--;
		t->queued = false;
		if (!t->used || !t->ready)
			continue;
		if (!iba_rmpp_out_next(&t->out, out->mad)) {
			t->ready = false;
			continue;
		}
		out->lid = t->lid;
		out->sl = t->sl;
		due_by(sa, t, now);
		ready(sa, t);
		all->segments++;
		return true;
	}
	return false;
}

static void late(struct sa *sa, struct sa_transfer *t, time_ps now)
{
	uint8_t reply[IBA_MAD_SIZE];

	if (t->inbound) {
		end(sa, t, true);
	} else if (iba_rmpp_out_late(&t->out, reply) == IBA_RMPP_GO_ON) {
		ready(sa, t);
		due_by(sa, t, now);
	} else {
		sa_send(sa, t->lid, t->sl, reply);
		end(sa, t, true);
	}
}

void sa_transfers_late(struct sa *sa, time_ps now)
{
	if (now < sa->transfers.due)
		return;
	sa->transfers.due = TIME_NEVER;
	for (size_t i = 0; i < sa->transfers.list.n; i++) {
		struct sa_transfer *t = &sa->transfers.list.at[i];

		if (t->used && !t->ready && now >= t->due)
			late(sa, t, now);
		else if (t->used)
			sa->transfers.due = MIN(sa->transfers.due, MAX(t->due, now + PS_PER_MS));
	}
}

void sa_transfers_free(struct sa *sa)
{
	for (size_t i = 0; i < sa->transfers.list.n; i++)
		if (sa->transfers.list.at[i].used)
			end(sa, &sa->transfers.list.at[i], false);
	vec_free(&sa->transfers.list);
	vec_free(&sa->transfers.unused);
	map64_free(&sa->transfers.by);
}
