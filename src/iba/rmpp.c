/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long messages in segments: see rmpp.h. State: one struct for each transfer and direction, which the caller keeps. Ways in:
 * iba_rmpp_out_*(), iba_rmpp_in_*(). Does not know which MAD belongs to which transfer, nor how long an answer may take.
 */
#include "iba/rmpp.h"

enum { /* bytes of the MAD */
       VERSION_OFF = 24,
       TYPE_OFF = 25,
       FLAGS_OFF = 26, /* and the response time, above them */
       STATUS_OFF = 27,
       SEGMENT_OFF = 28,
       LENGTH_OFF = 32, /* or the new window's last segment */
};
enum { VERSION = 1, FLAGS_MASK = 7, RESPONSE = 0x80 };

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)iba_be16(p) << 16 | iba_be16(p + 2);
}

static void put32(uint8_t *p, uint32_t v)
{
	iba_be16_put(p, (uint16_t)(v >> 16));
	iba_be16_put(p + 2, (uint16_t)v);
}

/* ---- the header ---- */

bool iba_rmpp_class(unsigned mgmt_class)
{
	return mgmt_class == IBA_CLASS_SUBN_ADM ||
	       (mgmt_class >= IBA_CLASS_VENDOR_FIRST && mgmt_class <= IBA_CLASS_VENDOR_LAST);
}

bool iba_rmpp_active(const uint8_t *mad)
{
	return iba_rmpp_class(mad[1]) && mad[FLAGS_OFF] & IBA_RMPP_ACTIVE;
}

size_t iba_rmpp_head(const uint8_t *mad)
{
	if (mad[1] == IBA_CLASS_SUBN_ADM)
		return IBA_SA_DATA_OFF;
	return iba_rmpp_class(mad[1]) ? 40 : IBA_RMPP_DATA_OFF;
}

enum iba_rmpp_type iba_rmpp_type(const uint8_t *mad)
{
	return (enum iba_rmpp_type)mad[TYPE_OFF];
}

uint32_t iba_rmpp_segment(const uint8_t *mad)
{
	return get32(mad + SEGMENT_OFF);
}

bool iba_rmpp_is_last(const uint8_t *mad)
{
	return mad[FLAGS_OFF] & IBA_RMPP_LAST;
}

/* The headers of a MAD for the other end: the method tells requests and responses apart. */
static void answer(const uint8_t *mad, enum iba_rmpp_type type, uint8_t reply[IBA_MAD_SIZE])
{
	memset(reply, 0, IBA_MAD_SIZE);
	memcpy(reply, mad, iba_rmpp_head(mad));
	reply[3] ^= RESPONSE;
	reply[VERSION_OFF] = VERSION;
	reply[TYPE_OFF] = (uint8_t)type;
	reply[FLAGS_OFF] = (uint8_t)((mad[FLAGS_OFF] & ~FLAGS_MASK) | IBA_RMPP_ACTIVE);
	reply[STATUS_OFF] = IBA_RMPP_NORMAL;
	put32(reply + SEGMENT_OFF, 0);
	put32(reply + LENGTH_OFF, 0);
}

void iba_rmpp_refuse(const uint8_t *mad, enum iba_rmpp_type type, enum iba_rmpp_status status,
		     uint8_t reply[IBA_MAD_SIZE])
{
	answer(mad, type, reply);
	reply[STATUS_OFF] = (uint8_t)status;
}

/* ---- sending ---- */

void iba_rmpp_out_begin(struct iba_rmpp_out *o, const uint8_t *mad, size_t len)
{
	size_t head = iba_rmpp_head(mad), room = IBA_MAD_SIZE - head;
	size_t data = len > head ? len - head : 0;

	*o = (struct iba_rmpp_out){.mad = mad, .len = head + data, .window = 1, .tries = 1};
	o->segments = (uint32_t)MAX((data + room - 1) / room, (size_t)1);
}

/* PayloadLength counts the headers of the class in each segment; only the first and the last have it. */
static uint32_t payload_length(const struct iba_rmpp_out *o, uint32_t n, size_t bytes)
{
	size_t head = iba_rmpp_head(o->mad), class_head = head - IBA_RMPP_DATA_OFF;

	if (n == o->segments)
		return (uint32_t)(class_head + bytes);
	return n == 1 ? (uint32_t)(o->segments * class_head + o->len - head) : 0;
}

bool iba_rmpp_out_next(struct iba_rmpp_out *o, uint8_t segment[IBA_MAD_SIZE])
{
	uint32_t n = o->sent + 1;
	size_t head = iba_rmpp_head(o->mad), room = IBA_MAD_SIZE - head;
	size_t from = head + (size_t)(n - 1) * room, bytes;

	if (n > MIN(o->window, o->segments))
		return false;
	bytes = from < o->len ? MIN(room, o->len - from) : 0;
	memset(segment, 0, IBA_MAD_SIZE);
	memcpy(segment, o->mad, head);
	memcpy(segment + head, o->mad + from, bytes);
	segment[VERSION_OFF] = VERSION;
	segment[TYPE_OFF] = IBA_RMPP_DATA;
	segment[FLAGS_OFF] =
		(uint8_t)((o->mad[FLAGS_OFF] & ~FLAGS_MASK) | IBA_RMPP_ACTIVE |
			  (n == 1 ? IBA_RMPP_FIRST : 0) | (n == o->segments ? IBA_RMPP_LAST : 0));
	segment[STATUS_OFF] = IBA_RMPP_NORMAL;
	put32(segment + SEGMENT_OFF, n);
	put32(segment + LENGTH_OFF, payload_length(o, n, bytes));
	o->sent = n;
	o->reached = MAX(o->reached, n);
	return true;
}

/* In the direction of the data. */
static enum iba_rmpp_step out_abort(struct iba_rmpp_out *o, enum iba_rmpp_status status,
				    uint8_t reply[IBA_MAD_SIZE])
{
	o->status = (uint8_t)status;
	iba_rmpp_refuse(o->mad, IBA_RMPP_ABORT, status, reply);
	reply[3] ^= RESPONSE;
	return IBA_RMPP_FAILED_TELL;
}

/* The receiver ends it, by its own will or because of what it got. */
static enum iba_rmpp_step out_ended(struct iba_rmpp_out *o, const uint8_t *mad,
				    uint8_t reply[IBA_MAD_SIZE])
{
	if (iba_rmpp_type(mad) == IBA_RMPP_STOP && mad[STATUS_OFF] != IBA_RMPP_RESOURCES)
		return out_abort(o, IBA_RMPP_BAD_STATUS, reply);
	o->status = mad[STATUS_OFF];
	return IBA_RMPP_FAILED;
}

static enum iba_rmpp_step out_acked(struct iba_rmpp_out *o, const uint8_t *mad,
				    uint8_t reply[IBA_MAD_SIZE])
{
	uint32_t segment = get32(mad + SEGMENT_OFF), window = get32(mad + LENGTH_OFF);

	if (segment > o->reached)
		return out_abort(o, IBA_RMPP_SEGMENT_BIG, reply);
	if (segment >= o->segments)
		return IBA_RMPP_DONE;
	if (window < segment)
		return out_abort(o, IBA_RMPP_WINDOW_SMALL, reply);
	if (segment > o->acked) {
		o->acked = segment;
		o->sent = MAX(o->sent, segment);
		o->tries = 1;
	}
	o->window = MAX(o->window, window);
	return o->sent < MIN(o->window, o->segments) ? IBA_RMPP_GO_ON : IBA_RMPP_NOTHING;
}

enum iba_rmpp_step iba_rmpp_out_answer(struct iba_rmpp_out *o, const uint8_t *mad,
				       uint8_t reply[IBA_MAD_SIZE])
{
	if (mad[VERSION_OFF] != VERSION && iba_rmpp_type(mad) != IBA_RMPP_ABORT)
		return out_abort(o, IBA_RMPP_BAD_VERSION, reply);
	switch (iba_rmpp_type(mad)) {
	case IBA_RMPP_ACK:
		return out_acked(o, mad, reply);
	case IBA_RMPP_STOP:
	case IBA_RMPP_ABORT:
		return out_ended(o, mad, reply);
	case IBA_RMPP_DATA:
		break;
	}
	return out_abort(o, IBA_RMPP_BAD_TYPE, reply);
}

enum iba_rmpp_step iba_rmpp_out_late(struct iba_rmpp_out *o, uint8_t reply[IBA_MAD_SIZE])
{
	if (o->tries++ >= IBA_RMPP_TRIES)
		return out_abort(o, IBA_RMPP_MANY_RETRIES, reply);
	o->sent = o->acked; /* from the first segment that was not acknowledged */
	return IBA_RMPP_GO_ON;
}

/* ---- receiving ---- */

static enum iba_rmpp_step in_refuse(struct iba_rmpp_in *r, const uint8_t *mad,
				    enum iba_rmpp_type type, enum iba_rmpp_status status,
				    uint8_t reply[IBA_MAD_SIZE])
{
	r->status = (uint8_t)status;
	iba_rmpp_refuse(mad, type, status, reply);
	return IBA_RMPP_FAILED_TELL;
}

static void acknowledge(const struct iba_rmpp_in *r, const uint8_t *mad,
			uint8_t reply[IBA_MAD_SIZE])
{
	answer(mad, IBA_RMPP_ACK, reply);
	put32(reply + SEGMENT_OFF, r->segment);
	put32(reply + LENGTH_OFF, r->window);
}

static void append(struct iba_rmpp_in *r, const uint8_t *from, size_t n)
{
	if (r->len + n > r->cap) {
		r->cap = MAX(r->cap * 2, r->len + n);
		r->data = mem_resize(r->data, r->cap, 1);
	}
	memcpy(r->data + r->len, from, n);
	r->len += n;
}

/* The fault of a segment, or IBA_RMPP_NORMAL; and its bytes of data. */
static enum iba_rmpp_status segment_check(const struct iba_rmpp_in *r, const uint8_t *mad,
					  size_t *bytes)
{
	uint32_t segment = get32(mad + SEGMENT_OFF), length = get32(mad + LENGTH_OFF);
	size_t class_head = iba_rmpp_head(mad) - IBA_RMPP_DATA_OFF;
	bool first = mad[FLAGS_OFF] & IBA_RMPP_FIRST, last = mad[FLAGS_OFF] & IBA_RMPP_LAST;

	*bytes = IBA_RMPP_PAYLOAD - class_head;
	if (mad[VERSION_OFF] != VERSION)
		return IBA_RMPP_BAD_VERSION;
	if (!segment || first != (segment == 1))
		return IBA_RMPP_BAD_FIRST;
	if (segment > r->window)
		return IBA_RMPP_SEGMENT_BIG;
	if (!last)
		return IBA_RMPP_NORMAL;
	if (length < class_head || length > IBA_RMPP_PAYLOAD)
		return IBA_RMPP_BAD_LENGTH;
	*bytes = length - class_head;
	return IBA_RMPP_NORMAL;
}

/* Segments that are missing come again after those that were sent: only the next one is kept. */
static enum iba_rmpp_step in_data(struct iba_rmpp_in *r, const uint8_t *mad,
				  uint8_t reply[IBA_MAD_SIZE])
{
	size_t head = iba_rmpp_head(mad), bytes;
	enum iba_rmpp_status fault = segment_check(r, mad, &bytes);
	bool last = mad[FLAGS_OFF] & IBA_RMPP_LAST;
	uint32_t segment = get32(mad + SEGMENT_OFF);

	if (fault)
		return in_refuse(r, mad, IBA_RMPP_ABORT, fault, reply);
	if (segment <= r->segment) { /* the last acknowledgement was lost */
		acknowledge(r, mad, reply);
		return IBA_RMPP_REPLY;
	}
	if (segment != r->segment + 1)
		return IBA_RMPP_NOTHING;
	if (r->len + head + bytes > (r->most ? r->most : IBA_RMPP_MOST))
		return in_refuse(r, mad, IBA_RMPP_STOP, IBA_RMPP_RESOURCES, reply);
	append(r, segment == 1 ? mad : mad + head, segment == 1 ? head + bytes : bytes);
	r->segment = segment;
	if (!last && segment != r->window)
		return IBA_RMPP_NOTHING;
	r->window = segment + IBA_RMPP_WINDOW;
	acknowledge(r, mad, reply);
	return last ? IBA_RMPP_DONE : IBA_RMPP_REPLY;
}

enum iba_rmpp_step iba_rmpp_in_take(struct iba_rmpp_in *r, const uint8_t *mad,
				    uint8_t reply[IBA_MAD_SIZE])
{
	r->window = MAX(r->window, 1u);
	switch (iba_rmpp_type(mad)) {
	case IBA_RMPP_DATA:
		return in_data(r, mad, reply);
	case IBA_RMPP_STOP:
	case IBA_RMPP_ABORT:
		r->status = mad[STATUS_OFF];
		return IBA_RMPP_FAILED;
	case IBA_RMPP_ACK: /* of the other direction */
		return IBA_RMPP_NOTHING;
	}
	return in_refuse(r, mad, IBA_RMPP_ABORT, IBA_RMPP_BAD_TYPE, reply);
}

void iba_rmpp_in_free(struct iba_rmpp_in *r)
{
	free(r->data);
	*r = (struct iba_rmpp_in){.most = r->most};
}
