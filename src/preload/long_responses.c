/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long responses in segments, as the kernel sends and assembles them for a program (IBA 13.6). State: the transfers
 * in progress. Ways in: long_send(), long_take(). Does not know the protocol: iba/rmpp.h does. Long requests go the same
 * way out.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "preload/preload.h"

enum { ACK_MS = 500 };

/* ---- out ---- */

struct transfer {
	struct transfer *next;
	unsigned agent;
	struct ib_user_mad_hdr to;
	uint8_t *mad; /* header and all data */
	struct iba_rmpp_out out;
	uint64_t due_ms;
};

static struct transfer *transfers;

static void send_one(const struct transfer *t, const uint8_t mad[IBA_MAD_SIZE])
{
	server_send(&the_port, &t->to, the_port.agents[t->agent].reg.qpn, mad);
}

static void window_send(struct transfer *t)
{
	uint8_t mad[IBA_MAD_SIZE];

	while (iba_rmpp_out_next(&t->out, mad))
		send_one(t, mad);
	t->due_ms = preload_ms() + ACK_MS;
}

void long_send(unsigned agent, const struct ib_user_mad_hdr *to, const uint8_t *mad, size_t len)
{
	struct transfer *t = mem_zalloc(sizeof(*t));

	*t = (struct transfer){.next = transfers, .agent = agent, .to = *to};
	t->mad = mem_alloc(len);
	memcpy(t->mad, mad, len);
	iba_rmpp_out_begin(&t->out, t->mad, len);
	transfers = t;
	window_send(t);
}

static void transfer_end(struct transfer **at)
{
	struct transfer *t = *at;

	*at = t->next;
	free(t->mad);
	free(t);
}

/* False: the transfer is over. */
static bool step(struct transfer **at, enum iba_rmpp_step s, const uint8_t *reply)
{
	switch (s) {
	case IBA_RMPP_GO_ON:
		window_send(*at);
		return true;
	case IBA_RMPP_NOTHING:
	case IBA_RMPP_REPLY:
		return true;
	case IBA_RMPP_FAILED_TELL:
		send_one(*at, reply);
		break;
	case IBA_RMPP_FAILED:
	case IBA_RMPP_DONE:
		break;
	}
	transfer_end(at);
	return false;
}

void long_control(const struct ibsim_packet *in)
{
	struct transfer **at = &transfers;
	uint8_t reply[IBA_MAD_SIZE];

	while (*at && (iba_smp_tid((*at)->mad) != iba_smp_tid(in->mad) ||
		       (*at)->mad[1] != in->mad[1] || (*at)->to.lid != (uint16_t)in->slid))
		at = &(*at)->next;
	if (*at)
		step(at, iba_rmpp_out_answer(&(*at)->out, in->mad, reply), reply);
}

uint64_t long_late(uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;
	uint8_t reply[IBA_MAD_SIZE];

	for (struct transfer **at = &transfers; *at;) {
		if (now_ms >= (*at)->due_ms &&
		    !step(at, iba_rmpp_out_late(&(*at)->out, reply), reply))
			continue;
		next = MIN(next, (*at)->due_ms);
		at = &(*at)->next;
	}
	return next;
}

/* ---- in ---- */

bool long_take(struct iba_rmpp_in *r, unsigned agent, const struct ibsim_packet *in)
{
	struct ib_user_mad_hdr to = {.lid = (uint16_t)in->slid, .qpn = in->sqp};
	uint8_t reply[IBA_MAD_SIZE];
	enum iba_rmpp_step s = iba_rmpp_in_take(r, in->mad, reply);

	if (s == IBA_RMPP_REPLY || s == IBA_RMPP_DONE || s == IBA_RMPP_FAILED_TELL)
		server_send(&the_port, &to, the_port.agents[agent].reg.qpn, reply);
	if (s == IBA_RMPP_FAILED || s == IBA_RMPP_FAILED_TELL)
		iba_rmpp_in_free(r);
	return s == IBA_RMPP_DONE;
}
