/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames on their way to pages. A frame is shared by all streams that still have to send it.
 *
 * A queue never grows without a limit and never makes its source wait: a page that does not read sees the newest
 * STATE and FABRIC when it reads again, all JSON, and the last of what moves (SMPS, PACKETS, LOG, SERIES); a JSON
 * frame {"dropped":{"frames":N}} says how many frames were left out. Too much JSON ends the stream.
 */
#ifndef WEFT_FRAMES_H
#define WEFT_FRAMES_H

#include "base/vec.h"

enum { FRAME_HEAD = 8, FRAME_MAX = 256 << 20 };

enum frame_kind {
	FRAME_JSON = 1,
	FRAME_FABRIC = 2,
	FRAME_STATE = 3,
	FRAME_SMPS = 4,
	FRAME_PACKETS = 5,
	FRAME_LOG = 6,
	FRAME_SERIES = 7,
	FRAME_LOADS = 8,
	FRAME_INTERNAL = 128, /* from here on: between the processes, never sent to a page */
};

struct frame {
	unsigned refs;
	size_t len; /* of data, which begins with the frame's header */
	uint8_t data[];
};

static inline uint32_t frame_u32(const uint8_t *p)
{
	return (uint32_t)(p[0] | p[1] << 8 | p[2] << 16) | (uint32_t)p[3] << 24;
}

static inline void frame_put_u32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static inline uint64_t frame_u64(const uint8_t *p)
{
	return frame_u32(p) | (uint64_t)frame_u32(p + 4) << 32;
}

/* One reference, the caller's. data: the bytes behind the header; NULL: left uninitialised. */
struct frame *frame_new(unsigned kind, const void *data, size_t len);
struct frame *frame_json(const char *text);
struct frame *frame_ref(struct frame *f);
void frame_unref(struct frame *f); /* NULL is allowed */
static inline unsigned frame_kind(const struct frame *f)
{
	return f->data[4];
}

struct frame_queue {
	VEC(struct frame *) q;
	size_t from;  /* the first frame in q */
	size_t bytes; /* of all frames */
	uint64_t dropped;
};

enum { QUEUE_SOFT = 4 << 20, QUEUE_HARD = 128 << 20 };

/* Takes a reference of its own. False: more than QUEUE_HARD bytes wait, the stream must end. */
bool frame_queue_put(struct frame_queue *q, struct frame *f);
/* The next frames, at most `most` and no further one once there are `bytes`; their references go to the caller. */
unsigned frame_queue_take(struct frame_queue *q, struct frame **out, unsigned most, size_t bytes);
void frame_queue_free(struct frame_queue *q);

#endif
