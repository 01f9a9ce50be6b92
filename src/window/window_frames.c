/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames: their bytes, and those that show the fabric and its state. State: struct window_out, for one frame. Way in:
 * window_frame_begin(), window_emit_*(). Does not run anything.
 */
#include "draw/layout.h"
#include "sim/stats/sim_detail.h"
#include "window/window_priv.h"

/* ---- bytes ---- */

void window_put_bytes(struct window_out *o, const void *bytes, size_t n)
{
	vec_room(o, o->len + n);
	if (n)
		memcpy(o->at + o->len, bytes, n);
	o->len += n;
}

void window_put_u8(struct window_out *o, unsigned v)
{
	window_put_bytes(o, &(uint8_t){(uint8_t)v}, 1);
}

void window_put_u16(struct window_out *o, unsigned v)
{
	window_put_bytes(o, (uint8_t[]){(uint8_t)v, (uint8_t)(v >> 8)}, 2);
}

void window_put_u32(struct window_out *o, uint32_t v)
{
	window_put_u16(o, v & 0xffff);
	window_put_u16(o, v >> 16);
}

void window_put_u64(struct window_out *o, uint64_t v)
{
	window_put_u32(o, (uint32_t)v);
	window_put_u32(o, (uint32_t)(v >> 32));
}

void window_put_f32(struct window_out *o, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	window_put_u32(o, bits);
}

void window_put_align(struct window_out *o)
{
	while (o->len % 4)
		window_put_u8(o, 0);
}

/* The length is filled in at the end. */
void window_frame_begin(struct window_out *o, enum window_frame kind)
{
	o->len = 0;
	window_put_u32(o, 0);
	window_put_u32(o, kind);
}

static void fill_length(struct window_out *o)
{
	for (unsigned i = 0; i < 4; i++)
		o->at[i] = (uint8_t)(o->len >> 8 * i);
}

void window_frame_emit(struct window *w, struct window_out *o)
{
	fill_length(o);
	w->emit(w->ctx, o->at, o->len);
	free(o->at);
	*o = (struct window_out){0};
}

void window_emit_json(struct window *w, struct json *j)
{
	struct window_out o = {0};

	window_frame_begin(&o, WINDOW_JSON);
	window_put_bytes(&o, j->out.s, j->out.len);
	window_frame_emit(w, &o);
	json_free(j);
}

/* ---- the fabric ---- */

static unsigned width_code(unsigned lanes)
{
	switch (lanes) {
	case 1:
		return IBA_WIDTH_1X;
	case 8:
		return IBA_WIDTH_8X;
	case 12:
		return IBA_WIDTH_12X;
	case 2:
		return IBA_WIDTH_2X;
	default:
		return IBA_WIDTH_4X; /* as the simulator takes it where it is not known */
	}
}

static void put_link(struct window_out *o, const struct fab *f, struct window_link l)
{
	const struct fab_port *a = &f->ports[l.a], *b = &f->ports[l.b];

	window_put_u32(o, a->node);
	window_put_u32(o, b->node);
	window_put_u8(o, a->num);
	window_put_u8(o, b->num);
	window_put_u8(o, width_code(a->width));
	window_put_u8(o, (a->speed ? a->speed : FAB_QDR) - FAB_SDR);
}

/* Offsets of names into the strings, which begin with an empty one. */
static uint32_t add_name(struct window_out *strings, const char *name)
{
	uint32_t at = (uint32_t)strings->len;

	if (!*name)
		return 0;
	window_put_bytes(strings, name, strlen(name) + 1);
	return at;
}

static void put_node(struct window_out *o, struct window_out *strings, const struct fab *f,
		     node_id n, const struct layout *p)
{
	const struct fab_node *fn = &f->nodes[n];

	window_put_u64(o, fn->guid);
	window_put_f32(o, p->x[n]);
	window_put_f32(o, p->y[n]);
	window_put_u32(o, add_name(strings, fab_node_name(f, n)));
	window_put_u16(o, fn->nports);
	window_put_u8(o, fn->type);
	window_put_u8(o, p->level[n]);
	window_put_u32(o, p->group[n]);
}

static void put_group(struct window_out *o, struct window_out *strings,
		      const struct layout_group *g)
{
	window_put_f32(o, g->x0);
	window_put_f32(o, g->y0);
	window_put_f32(o, g->x1);
	window_put_f32(o, g->y1);
	window_put_u32(o, add_name(strings, g->name));
	window_put_u32(o, g->parent);
}

void window_emit_fabric(struct window *w)
{
	const struct window_fabric *wf = &w->fabric;
	struct layout *p = layout_make(wf->fab);
	struct window_out o = {0}, strings = {0};

	window_put_u8(&strings, 0);
	window_frame_begin(&o, WINDOW_FABRIC);
	window_put_u32(&o, wf->version);
	window_put_u32(&o, wf->fab->nnodes);
	window_put_u32(&o, (uint32_t)wf->links.n);
	window_put_u32(&o, p->ngroups);
	window_put_u32(&o, 0);
	for (node_id n = 0; n < wf->fab->nnodes; n++)
		put_node(&o, &strings, wf->fab, n, p);
	for (size_t i = 0; i < wf->links.n; i++)
		put_link(&o, wf->fab, wf->links.at[i]);
	for (uint32_t i = 0; i < p->ngroups; i++)
		put_group(&o, &strings, &p->groups[i]);
	for (unsigned i = 0; i < 4; i++)
		o.at[24 + i] = (uint8_t)(strings.len >> 8 * i);
	window_put_bytes(&o, strings.at, strings.len);
	window_put_align(&o);
	window_frame_emit(w, &o);
	free(strings.at);
	layout_free(p);
}

/* ---- the state ---- */

enum { NODE_ON = 1, NODE_HAS_LID = 2, NODE_KNOWN = 4 };
enum { LINK_DOWN, LINK_INIT, LINK_ARMED, LINK_ACTIVE, LINK_CUT };

static bool has_lid(const struct window *w, node_id n)
{
	const struct fab *f = w->fabric.fab;

	for (unsigned p = 0; p <= f->nodes[n].nports; p++) {
		if (sim_port_info(w->run->sim, fab_port_id(f, n, p))->lid)
			return true;
		if (fab_is_switch(f, n))
			return false; /* switches have theirs at port 0 */
	}
	return false;
}

/* Of the first master; NULL: there is none. */
static const struct fab *masters_view(const struct window_run *r)
{
	for (unsigned i = 0; i < lab_managers(r->lab); i++)
		if (lab_manager_is_master(r->lab, i))
			return sm_fabric(lab_manager_sm(r->lab, i));
	return NULL;
}

static void put_nodes(struct window_out *o, const struct window *w)
{
	const struct fab *f = w->fabric.fab, *view = w->run ? masters_view(w->run) : NULL;

	for (node_id n = 0; n < f->nnodes; n++) {
		unsigned bits = 0;

		if (w->run && sim_node_on(w->run->sim, n))
			bits = NODE_ON | (has_lid(w, n) ? NODE_HAS_LID : 0);
		if (view && fab_node_by_guid(view, f->nodes[n].guid) != FAB_NONE)
			bits |= NODE_KNOWN;
		window_put_u8(o, bits);
	}
	window_put_align(o);
}

static unsigned link_state(const struct sim *s, struct window_link l)
{
	unsigned a, b;

	if (sim_port_peer(s, l.a) != l.b)
		return LINK_CUT;
	a = sim_port_info(s, l.a)->state;
	b = sim_port_info(s, l.b)->state;
	return MIN(a, b) < IBA_PORT_INIT ? LINK_DOWN : MIN(a, b) - IBA_PORT_DOWN;
}

void window_busy_begin(struct window *w)
{
	struct window_run *r = w->run;

	if (r->from == r->shown || sim_now(r->sim) == r->shown)
		return;
	r->from = r->shown;
	memset(r->busy, 0, w->fabric.fab->nports * sizeof(*r->busy));
}

/* Of 255; the direction that is busier. */
static unsigned link_load(const struct window_run *r, struct window_link l)
{
	time_ps span = sim_now(r->sim) - r->from, busy = MAX(r->busy[l.a], r->busy[l.b]);

	return span ? (unsigned)(MIN(busy, span) * 255.0 / (double)span) : 0;
}

/* Of 255: the fullest input buffer at either end. */
static unsigned link_buffers(const struct window_run *r, struct window_link l)
{
	uint32_t most = 0;

	for (unsigned vl = 0; r->schedule.traffic && vl < sim_vl_count(r->sim); vl++) {
		most = MAX(most, sim_lane_buffer(r->sim, l.a, vl));
		most = MAX(most, sim_lane_buffer(r->sim, l.b, vl));
	}
	return MIN(most, 1000000u) * 255 / 1000000;
}

static void put_links(struct window_out *o, const struct window *w)
{
	for (size_t i = 0; i < w->fabric.links.n; i++) {
		struct window_link l = w->fabric.links.at[i];

		window_put_u8(o, w->run ? link_state(w->run->sim, l) : LINK_DOWN);
		window_put_u8(o, w->run ? link_load(w->run, l) : 0);
		window_put_u8(o, w->run ? link_buffers(w->run, l) : 0);
	}
	window_put_align(o);
}

static void put_managers(struct window_out *o, const struct window_run *r)
{
	for (unsigned i = 0; i < lab_managers(r->lab); i++) {
		struct window_lane m = window_manager_lane(r, i);

		window_put_u32(o, lab_manager_node(r->lab, i));
		window_put_u8(o, m.state);
		window_put_u8(o, m.phase);
		window_put_u8(o, m.flags);
		window_put_u8(o, lab_manager_cfg(r->lab, i)->priority);
	}
}

void window_emit_state(struct window *w)
{
	struct window_run *r = w->run;
	struct window_out o = {0};

	if (r)
		window_busy_begin(w);
	window_frame_begin(&o, WINDOW_STATE);
	window_put_u64(&o, r ? sim_now(r->sim) : 0);
	window_put_u64(&o, r ? schedule_play_events(r->play) : 0);
	window_put_u32(&o, w->fabric.version);
	put_nodes(&o, w);
	put_links(&o, w);
	if (r) {
		window_lanes_look(r);
		put_managers(&o, r);
	}
	window_frame_emit(w, &o);
	if (r)
		r->shown = sim_now(r->sim);
}
