/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long responses in segments (IBA 13.6): split and sent window by window, or assembled again.
 * State: the transfers in progress. Ways in: rmpp_send(), rmpp_take(). Does not split requests:
 * those are never long.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "preload/preload.h"

enum { /* bytes of the MAD */
       RMPP_VERSION = 24,
       RMPP_TYPE = 25,
       RMPP_FLAGS = 26,
       RMPP_STATUS = 27,
       RMPP_SEGMENT = 28,
       RMPP_LENGTH = 32,   /* or the new window's last segment */
       RMPP_PAYLOAD = 220, /* bytes of a segment after the RMPP header */
};
enum { RMPP_DATA = 1, RMPP_ACK = 2 };
enum { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 };
enum { WINDOW = 64, ACK_MS = 500, TRIES = 6 };

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)iba_be16(p) << 16 | iba_be16(p + 2);
}

static void put32(uint8_t *p, uint32_t v)
{
	iba_be16_put(p, (uint16_t)(v >> 16));
	iba_be16_put(p + 2, (uint16_t)v);
}

/* Where the data begin: after the SA's header, or a vendor's. */
static size_t data_offset(const uint8_t *mad)
{
	return mad[1] == CLASS_SA ? 56 : 40;
}

bool rmpp_has(const uint8_t *mad)
{
	bool class = mad[1] == CLASS_SA || (mad[1] >= 0x30 && mad[1] <= 0x4f);

	return class && mad[RMPP_FLAGS] & RMPP_ACTIVE;
}

bool rmpp_is_data(const uint8_t *mad)
{
	return mad[RMPP_TYPE] == RMPP_DATA;
}

/* ---- out ---- */

struct transfer {
	struct transfer *next;
	unsigned agent;
	struct ib_user_mad_hdr to;
	uint8_t *mad; /* header and all data */
	size_t len;
	uint32_t segments, acked, window, sent;
	uint64_t due_ms;
	unsigned tries;
};

static struct transfer *transfers;

static void segment_send(struct transfer *t, uint32_t n)
{
	size_t head = data_offset(t->mad), room = IBA_MAD_SIZE - head,
	       from = head + (size_t)(n - 1) * room;
	size_t bytes = from < t->len ? MIN(room, t->len - from) : 0;
	bool last = n == t->segments;
	uint32_t length = 0;
	uint8_t mad[IBA_MAD_SIZE] = {0};

	memcpy(mad, t->mad, head);
	memcpy(mad + head, t->mad + from, bytes);
	if (n == 1)
		length = t->segments * RMPP_PAYLOAD -
			 (uint32_t)(t->segments * room - (t->len - head));
	if (last)
		length = RMPP_PAYLOAD - (uint32_t)(room - bytes);
	mad[RMPP_VERSION] = 1; /* the sender leaves it to the kernel */
	mad[RMPP_TYPE] = RMPP_DATA;
	mad[RMPP_FLAGS] = (uint8_t)((t->mad[RMPP_FLAGS] & ~7u) | RMPP_ACTIVE |
				    (n == 1 ? RMPP_FIRST : 0) | (last ? RMPP_LAST : 0));
	mad[RMPP_STATUS] = 0;
	put32(mad + RMPP_SEGMENT, n);
	put32(mad + RMPP_LENGTH, length);
	server_send(&the_port, &t->to, the_port.agents[t->agent].reg.qpn, mad);
}

static void window_send(struct transfer *t)
{
	while (t->sent < MIN(t->window, t->segments))
		segment_send(t, ++t->sent);
	t->due_ms = preload_ms() + ACK_MS;
}

void rmpp_send(unsigned agent, const struct ib_user_mad_hdr *to, const uint8_t *mad, size_t len)
{
	struct transfer *t = mem_zalloc(sizeof(*t));
	size_t head = data_offset(mad), room = IBA_MAD_SIZE - head;

	*t = (struct transfer){
		.next = transfers, .agent = agent, .to = *to, .len = len, .window = 1};
	t->mad = mem_alloc(len);
	memcpy(t->mad, mad, len);
	t->segments = (uint32_t)MAX((len - head + room - 1) / room, (size_t)1);
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

void rmpp_control(const struct ibsim_packet *in)
{
	struct transfer **at = &transfers, *t;

	while (*at && (iba_smp_tid((*at)->mad) != iba_smp_tid(in->mad) ||
		       (*at)->mad[1] != in->mad[1] || (*at)->to.lid != (uint16_t)in->slid))
		at = &(*at)->next;
	t = *at;
	if (!t)
		return;
	if (in->mad[RMPP_TYPE] != RMPP_ACK || get32(in->mad + RMPP_SEGMENT) >= t->segments) {
		transfer_end(at); /* complete, or the receiver stopped it */
		return;
	}
	if (get32(in->mad + RMPP_SEGMENT) > t->acked) {
		t->acked = get32(in->mad + RMPP_SEGMENT);
		t->tries = 0;
	}
	t->window = MAX(t->window, get32(in->mad + RMPP_LENGTH));
	window_send(t);
}

uint64_t rmpp_late(uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;

	for (struct transfer **at = &transfers; *at;) {
		struct transfer *t = *at;

		if (now_ms >= t->due_ms && ++t->tries > TRIES) {
			transfer_end(at);
			continue;
		}
		if (now_ms >= t->due_ms) {
			t->sent = t->acked; /* from the first segment that was not acknowledged */
			window_send(t);
		}
		next = MIN(next, t->due_ms);
		at = &t->next;
	}
	return next;
}

/* ---- in ---- */

struct rmpp_in {
	uint8_t *data;
	size_t len, cap;
	uint32_t segment, window; /* the last in order; where the next acknowledgement is due */
};

static void acknowledge(const struct rmpp_in *r, unsigned agent, const struct ibsim_packet *in)
{
	struct ib_user_mad_hdr to = {.lid = (uint16_t)in->slid, .qpn = in->sqp};
	uint8_t mad[IBA_MAD_SIZE] = {0};

	memcpy(mad, in->mad, data_offset(in->mad));
	mad[3] ^= METHOD_RESPONSE;
	mad[RMPP_TYPE] = RMPP_ACK;
	mad[RMPP_FLAGS] = (uint8_t)((in->mad[RMPP_FLAGS] & ~7u) | RMPP_ACTIVE);
	put32(mad + RMPP_SEGMENT, r->segment);
	put32(mad + RMPP_LENGTH, r->window);
	server_send(&the_port, &to, the_port.agents[agent].reg.qpn, mad);
}

static void append(struct rmpp_in *r, const uint8_t *from, size_t n)
{
	if (r->len + n > r->cap) {
		r->cap = MAX(r->cap * 2, r->len + n);
		r->data = mem_resize(r->data, r->cap, 1);
	}
	memcpy(r->data + r->len, from, n);
	r->len += n;
}

bool rmpp_take(struct rmpp_in **at, unsigned agent, const struct ibsim_packet *in, uint8_t **whole,
	       size_t *len)
{
	size_t head = data_offset(in->mad), bytes = IBA_MAD_SIZE - head;
	uint32_t segment = get32(in->mad + RMPP_SEGMENT), length = get32(in->mad + RMPP_LENGTH);
	bool last = in->mad[RMPP_FLAGS] & RMPP_LAST;
	struct rmpp_in *r = *at;

	if (!r) {
		r = *at = mem_zalloc(sizeof(*r));
		r->window = 1;
	}
	if (segment != r->segment + 1 || r->len > MESSAGE_MAX) {
		if (segment <= r->segment)
			acknowledge(r, agent, in); /* the last acknowledgement was lost */
		return false;
	}
	if (last && length <= RMPP_PAYLOAD && length + bytes >= RMPP_PAYLOAD)
		bytes -= RMPP_PAYLOAD - length;
	append(r, segment == 1 ? in->mad : in->mad + head, segment == 1 ? head + bytes : bytes);
	r->segment = segment;
	if (last || segment == r->window) {
		r->window = segment + WINDOW;
		acknowledge(r, agent, in);
	}
	if (!last)
		return false;
	*whole = r->data;
	*len = r->len;
	free(r);
	*at = NULL;
	return true;
}

void rmpp_in_free(struct rmpp_in *r)
{
	if (r)
		free(r->data);
	free(r);
}
