/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames with a count of references, and the queue of a stream. State: the caller's queue. Ways in:
 * frame_new(), frame_queue_put(), frame_queue_take(). Does not send.
 */
#include "web/frames.h"

struct frame *frame_new(unsigned kind, const void *data, size_t len)
{
	struct frame *f = mem_alloc(sizeof(*f) + FRAME_HEAD + len);

	f->refs = 1;
	f->len = FRAME_HEAD + len;
	frame_put_u32(f->data, (uint32_t)f->len);
	frame_put_u32(f->data + 4, kind);
	if (data && len)
		memcpy(f->data + FRAME_HEAD, data, len);
	return f;
}

struct frame *frame_json(const char *text)
{
	return frame_new(FRAME_JSON, text, strlen(text));
}

struct frame *frame_ref(struct frame *f)
{
	f->refs++;
	return f;
}

void frame_unref(struct frame *f)
{
	if (f && !--f->refs)
		free(f);
}

/* ---- the queue ---- */

static unsigned kind_bit(unsigned kind)
{
	return kind < 32 ? 1u << kind : 0;
}

enum {
	MOVING = 1u << FRAME_SMPS | 1u << FRAME_PACKETS | 1u << FRAME_LOG | 1u << FRAME_SERIES,
	/* Numbers of nodes and links in these are those of a FABRIC before them. */
	OF_FABRIC = 1u << FRAME_FABRIC | 1u << FRAME_STATE | 1u << FRAME_SMPS |
		    1u << FRAME_PACKETS | 1u << FRAME_LOADS,
};

/* Removes frames of these kinds, oldest first, until at most `bytes` wait; how many. */
static unsigned remove_kinds(struct frame_queue *q, unsigned kinds, size_t bytes)
{
	size_t to = q->from;
	unsigned n = 0;

	for (size_t i = q->from; i < q->q.n; i++) {
		struct frame *f = q->q.at[i];

		if (q->bytes > bytes && kind_bit(frame_kind(f)) & kinds) {
			q->bytes -= f->len;
			frame_unref(f);
			n++;
		} else {
			q->q.at[to++] = f;
		}
	}
	q->q.n = to;
	return n;
}

/* What f makes useless. */
static void replace_older(struct frame_queue *q, unsigned kind)
{
	if (kind == FRAME_STATE)
		remove_kinds(q, 1u << FRAME_STATE, 0);
	if (kind == FRAME_FABRIC) {
		q->dropped += remove_kinds(q, OF_FABRIC & MOVING, 0);
		remove_kinds(q, OF_FABRIC, 0);
	}
}

bool frame_queue_put(struct frame_queue *q, struct frame *f)
{
	unsigned kind = frame_kind(f);

	replace_older(q, kind);
	if (q->bytes + f->len > QUEUE_SOFT) {
		size_t room = f->len < QUEUE_SOFT ? QUEUE_SOFT - f->len : 0;

		q->dropped += remove_kinds(q, MOVING, room);
		if (q->bytes > room && kind_bit(kind) & MOVING) {
			q->dropped++;
			return true;
		}
	}
	if (q->bytes + f->len > QUEUE_HARD && q->bytes)
		return false;
	vec_push(&q->q, frame_ref(f));
	q->bytes += f->len;
	return true;
}

static struct frame *dropped_notice(struct frame_queue *q)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"dropped\":{\"frames\":%llu}}",
		 (unsigned long long)q->dropped);
	q->dropped = 0;
	return frame_json(text);
}

unsigned frame_queue_take(struct frame_queue *q, struct frame **out, unsigned most, size_t bytes)
{
	size_t sum = 0;
	unsigned n = 0;

	if (q->dropped && most > 1)
		out[n++] = dropped_notice(q);
	while (n < most && q->from < q->q.n && sum < bytes) {
		out[n] = q->q.at[q->from++];
		sum += out[n]->len;
		q->bytes -= out[n++]->len;
	}
	if (q->from > q->q.n / 2) {
		q->q.n -= q->from;
		memmove(q->q.at, q->q.at + q->from, q->q.n * sizeof(*q->q.at));
		q->from = 0;
	}
	return n;
}

void frame_queue_free(struct frame_queue *q)
{
	for (size_t i = q->from; i < q->q.n; i++)
		frame_unref(q->q.at[i]);
	vec_free(&q->q);
	*q = (struct frame_queue){0};
}
