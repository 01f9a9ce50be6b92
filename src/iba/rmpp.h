/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages longer than a MAD, in segments (RMPP, IBA 13.6). Both ends of one transfer, without a clock, a socket or a
 * table of transfers: the caller sends what these functions write, passes them what arrives, and calls *_late() when an
 * answer did not come in time.
 *
 * A long message lies in memory as one MAD with more data than 256 bytes: the headers of its class once (iba_rmpp_head()
 * bytes), then all data. A receiver returns it in the same form.
 */
#ifndef WEFT_RMPP_H
#define WEFT_RMPP_H

#include "iba/iba.h"

enum {
	IBA_RMPP_DATA_OFF = 36, /* behind the RMPP header */
	IBA_RMPP_PAYLOAD = 220, /* bytes of a MAD from there on: headers of the class and data */
	IBA_RMPP_WINDOW = 64, /* segments that a receiver lets through without an acknowledgement */
	IBA_RMPP_TRIES = 7,   /* times that segments go out without an answer */
	IBA_RMPP_MOST = 64 << 20, /* bytes of one message */
};

enum iba_rmpp_type {
	IBA_RMPP_DATA = 1,
	IBA_RMPP_ACK = 2,
	IBA_RMPP_STOP = 3,
	IBA_RMPP_ABORT = 4,
};

enum iba_rmpp_flag { IBA_RMPP_ACTIVE = 1, IBA_RMPP_FIRST = 2, IBA_RMPP_LAST = 4 };

/* RMPPStatus of STOP and ABORT (IBA 13.6.2.1). */
enum iba_rmpp_status {
	IBA_RMPP_NORMAL = 0,
	IBA_RMPP_RESOURCES = 1,	   /* STOP: the receiver has no more room */
	IBA_RMPP_TOO_LONG = 118,   /* ABORT, all further ones: the whole transfer takes too long */
	IBA_RMPP_BAD_LENGTH = 119, /* Last and PayloadLength contradict each other */
	IBA_RMPP_BAD_FIRST = 120,  /* First and SegmentNumber contradict each other */
	IBA_RMPP_BAD_TYPE = 121,
	IBA_RMPP_WINDOW_SMALL = 122, /* NewWindowLast is less than SegmentNumber */
	IBA_RMPP_SEGMENT_BIG = 123,  /* a segment beyond the window, or one that was never sent */
	IBA_RMPP_BAD_STATUS = 124,
	IBA_RMPP_BAD_VERSION = 125,
	IBA_RMPP_MANY_RETRIES = 126,
	IBA_RMPP_UNSPECIFIED = 127,
};

/* What follows from what arrived, or from its absence. */
enum iba_rmpp_step {
	IBA_RMPP_NOTHING,     /* nothing: go on waiting */
	IBA_RMPP_GO_ON,	      /* sender: there are segments to send, iba_rmpp_out_next() */
	IBA_RMPP_REPLY,	      /* receiver: send the reply and go on waiting */
	IBA_RMPP_DONE,	      /* it is complete; a receiver sends the reply */
	IBA_RMPP_FAILED,      /* it is over, and the other end knows */
	IBA_RMPP_FAILED_TELL, /* it is over: send the reply, an ABORT or a STOP */
};

bool iba_rmpp_class(unsigned mgmt_class); /* MADs of this class have an RMPP header */
bool iba_rmpp_active(const uint8_t *mad); /* ... and this one uses it */
size_t iba_rmpp_head(const uint8_t *mad); /* bytes before the data: SA 56, vendors 40, others 36 */
enum iba_rmpp_type iba_rmpp_type(const uint8_t *mad);
uint32_t iba_rmpp_segment(const uint8_t *mad);
bool iba_rmpp_is_last(const uint8_t *mad);

/* ---- sending ---- */

struct iba_rmpp_out {
	const uint8_t
		*mad; /* headers and all data; the caller's, for as long as the transfer goes on */
	size_t len;
	uint32_t segments, acked, window, sent;
	uint32_t reached; /* the last segment ever sent: segments go out again after a time-out */
	unsigned tries;
	uint8_t status; /* when it failed: enum iba_rmpp_status */
};

/* len includes the headers. The first segment waits in iba_rmpp_out_next(). */
void iba_rmpp_out_begin(struct iba_rmpp_out *o, const uint8_t *mad, size_t len);
/* The next segment that the window allows; false: there is none now. */
bool iba_rmpp_out_next(struct iba_rmpp_out *o, uint8_t segment[IBA_MAD_SIZE]);
/* An ACK, STOP or ABORT of this transfer arrived. */
enum iba_rmpp_step iba_rmpp_out_answer(struct iba_rmpp_out *o, const uint8_t *mad,
				       uint8_t reply[IBA_MAD_SIZE]);
/* No answer came in time: segments go out again, or the transfer ends. */
enum iba_rmpp_step iba_rmpp_out_late(struct iba_rmpp_out *o, uint8_t reply[IBA_MAD_SIZE]);

/* ---- receiving ---- */

struct iba_rmpp_in {
	uint8_t *data; /* headers and data so far; free it, or take it when the transfer is done */
	size_t len, cap;
	size_t most; /* bytes that are accepted; 0: IBA_RMPP_MOST */
	uint32_t segment, window;
	uint8_t status; /* when it failed */
};

/* One MAD with RMPP active of this transfer. With IBA_RMPP_DONE data and len are the whole message. */
enum iba_rmpp_step iba_rmpp_in_take(struct iba_rmpp_in *r, const uint8_t *mad,
				    uint8_t reply[IBA_MAD_SIZE]);
void iba_rmpp_in_free(struct iba_rmpp_in *r);

/* An ABORT or STOP for a transfer that this MAD belongs to. */
void iba_rmpp_refuse(const uint8_t *mad, enum iba_rmpp_type type, enum iba_rmpp_status status,
		     uint8_t reply[IBA_MAD_SIZE]);

#endif
