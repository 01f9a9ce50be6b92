/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output, to a reader that may be slow. State: text that waits for room, the number of lines
 * dropped. Ways in: output_event(), output_answer(). Never blocks; reports later how many lines it
 * dropped.
 */
#include "base/nonblock_out.h"
#include "emu/emu_priv.h"

enum { ANSWERS_MAX = 64 << 20 };

struct output {
	struct nonblock_out to;
	uint64_t lost; /* lines dropped and not reported yet */
	bool polled;
	uv_poll_t room;
};

static bool tell_lost(struct emu *m)
{
	struct output *o = m->output;
	char line[120];

	if (!o->lost)
		return true;
	snprintf(line, sizeof(line),
		 m->cfg.json ? "{\"lost_lines\":%llu}\n"
			     : "(%llu lines dropped: output was not read in time)\n",
		 (unsigned long long)o->lost);
	if (!nonblock_put(&o->to, line, strlen(line)))
		return false;
	o->lost = 0;
	return true;
}

static void on_room(uv_poll_t *h, int status UNUSED, int events UNUSED)
{
	output_flush(h->data);
}

/* Only a file description that no other process shares: libuv makes it non-blocking. Others are
 * tried again by a timer. */
static void await_room(struct emu *m)
{
	struct output *o = m->output;

	if (!o->to.own)
		return;
	if (!o->polled && uv_poll_init(&m->loop, &o->room, o->to.fd))
		return;
	o->polled = true;
	o->room.data = m;
	uv_poll_start(&o->room, UV_WRITABLE, on_room);
}

void output_flush(struct emu *m)
{
	struct output *o = m->output;

	if (!nonblock_flush(&o->to) || !tell_lost(m))
		await_room(m);
	else if (o->polled)
		uv_poll_stop(&o->room);
}

void output_event(struct emu *m, const char *line)
{
	struct output *o = m->output;

	if (!tell_lost(m) || !nonblock_put(&o->to, line, strlen(line)))
		o->lost++;
	if (o->lost || o->to.rest.len)
		await_room(m);
}

void output_answer(struct emu *m, const char *text)
{
	struct output *o = m->output;

	if (!nonblock_keep(&o->to, text, strlen(text), ANSWERS_MAX))
		o->lost++;
	if (o->to.rest.len)
		await_room(m);
}

void output_open(struct emu *m)
{
	m->output = mem_zalloc(sizeof(*m->output));
	nonblock_open(&m->output->to, m->cfg.out);
}

static void room_closed(uv_handle_t *h)
{
	struct emu *m = h->data;

	nonblock_close(&m->output->to);
	free(m->output);
	m->output = NULL;
}

void output_close(struct emu *m)
{
	struct output *o = m->output;

	if (!o)
		return;
	output_flush(m);
	o->room.data = m;
	if (o->polled)
		uv_close((uv_handle_t *)&o->room, room_closed);
	else
		room_closed((uv_handle_t *)&o->room);
}
