/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot as an SVG drawing. State: struct pic, for one call. Ways in: draw_fabric_svg(), draw_fabric_heat(). Does not
 * compute positions: svg_layout.c does.
 */
#include <limits.h>

#include "draw/draw.h"
#include "draw/svg_priv.h"

static const char *const speed_colour[FAB_NSPEEDS] = {
	[FAB_SPEED_UNKNOWN] = "#888888", [FAB_SDR] = "#8c564b",	  [FAB_DDR] = "#b8860b",
	[FAB_QDR] = "#2a6fb0",		 [FAB_FDR10] = "#1797a6", [FAB_FDR] = "#2c8a3c",
	[FAB_EDR] = "#c0392b",		 [FAB_HDR] = "#7d3fb2",	  [FAB_NDR] = "#d4700f",
	[FAB_XDR] = "#c2257f",
};

static const char style[] =
	"<style>text{font-family:sans-serif;fill:#222}.t{font-size:15px;font-weight:bold}"
	".l{font-size:11px}.n{font-size:9px;text-anchor:middle}path{fill:none}"
	".S rect{fill:#fff7e0;stroke:#7a5b00}.H circle{fill:#dfe9f5;stroke:#345}"
	".R path{fill:#e6d6f5;stroke:#345}.G{fill:#6b7a8c;fill-opacity:.07;stroke:#6b7a8c;stroke-opacity:.3}"
	".g{font-size:9px;fill:#667}g:hover>:first-child{stroke-width:3}</style>\n";

/* At most `most` bytes of a name, in whole characters. */
static void add_text(struct strbuf *out, const char *s, size_t most)
{
	for (size_t n = strlen(s), len; n; s += len, n -= len) {
		size_t step = utf8_len(s, n);

		len = MAX(step, (size_t)1);
		if (len > most)
			return;
		most -= len;
		if (strchr("<>&\"'", *s))
			strbuf_addf(out, "&#%u;", (unsigned char)*s);
		else
			strbuf_addn(out, step ? s : "?", len);
	}
}

struct rate {
	unsigned speed, width;
};

static struct rate link_rate(const struct fab *f, port_id p)
{
	const struct fab_port *a = &f->ports[p], *b = &f->ports[a->peer];
	struct rate r = {a->speed ? a->speed : b->speed, a->width ? a->width : b->width};

	r.speed = MIN(r.speed, FAB_NSPEEDS - 1);
	return r;
}

/* Tenths of a pixel. */
static unsigned stroke(unsigned width)
{
	return width >= 12 ? 22 : width >= 8 ? 18 : width == 1 ? 8 : 12;
}

static void add_rate_name(struct strbuf *out, struct rate r)
{
	if (r.width)
		strbuf_addf(out, "%ux ", r.width);
	strbuf_add(out, r.speed ? fab_speed_name(r.speed) : "unknown rate");
}

static void add_link_title(struct strbuf *out, const struct pic *pic, port_id p)
{
	const struct fab *f = pic->f;
	const struct fab_port *a = &f->ports[p], *b = &f->ports[a->peer];

	strbuf_add(out, "<title>");
	add_text(out, fab_node_name(f, a->node), SIZE_MAX);
	strbuf_addf(out, " port %u \xe2\x80\x93 ", a->num);
	add_text(out, fab_node_name(f, b->node), SIZE_MAX);
	strbuf_addf(out, " port %u, ", b->num);
	add_rate_name(out, link_rate(f, p));
	if (pic->heat)
		heat_title(out, pic, p);
	strbuf_add(out, "</title>");
}

/* ---- links ---- */

/* The number of lower ports of the same node that lead to the same peer. */
static int nth_parallel(const struct fab *f, port_id p)
{
	const struct fab_port *a = &f->ports[p];
	node_id to = f->ports[a->peer].node;
	int n = 0;

	for (port_id q = f->nodes[a->node].first_port + 1; q < p; q++)
		n += f->ports[q].peer != FAB_NONE && f->ports[f->ports[q].peer].node == to;
	return n;
}

struct curve {
	int x1, y1, x2, y2, cx, cy; /* both ends and the control point */
};

static struct curve curve_between(const struct pic *p, node_id a, node_id b, int bend)
{
	struct curve c = {.x1 = p->x[a], .y1 = p->y[a], .x2 = p->x[b], .y2 = p->y[b]};
	int64_t dx = c.x2 - c.x1, dy = c.y2 - c.y1;
	int64_t len = MAX((int64_t)pic_isqrt((uint64_t)(dx * dx + dy * dy)), 1);

	/* a curve reaches half the distance to its control point */
	c.cx = (c.x1 + c.x2) / 2 - (int)(dy * 2 * bend / len);
	c.cy = (c.y1 + c.y2) / 2 + (int)(dx * 2 * bend / len);
	return c;
}

/* The number of sampled points of a curve that are inside the box of a third switch. */
static unsigned curve_hits(const struct pic *p, const struct curve *c, node_id a, node_id b)
{
	unsigned hits = 0;

	for (int t = 1; t < 32; t++) {
		int64_t u = 32 - t, k1 = u * u, k2 = 2 * u * t, k3 = (int64_t)t * t;
		int x = (int)((k1 * c->x1 + k2 * c->cx + k3 * c->x2) / 1024);
		int y = (int)((k1 * c->y1 + k2 * c->cy + k3 * c->y2) / 1024);

		for (uint32_t i = 0; i < p->f->nswitches; i++) {
			node_id s = p->f->switches[i];

			hits += s != a && s != b && abs(p->x[s] - x) < p->half[s] + 3 &&
				abs(p->y[s] - y) < PIC_BOX_H / 2 + 3;
		}
	}
	return hits;
}

/* The least bend that avoids the other switches; parallel links are drawn side by side. */
static int free_bend(const struct pic *p, node_id a, node_id b, int nth)
{
	static const int tries[] = {0, 14, -14, 28, -28, 44, -44, 64, -64};
	unsigned least = UINT_MAX;
	int best = 0, side = nth % 2 ? -9 * (nth + 1) : 9 * nth;

	if (p->f->nswitches > 256)
		return side;
	for (size_t i = 0; i < ARRAY_LEN(tries) && least; i++) {
		struct curve c = curve_between(p, a, b, tries[i] + side);
		unsigned hits = curve_hits(p, &c, a, b);

		if (hits < least) {
			least = hits;
			best = tries[i];
		}
	}
	return best + side;
}

static void add_path(struct strbuf *out, const struct curve *c, bool bent)
{
	if (bent)
		strbuf_addf(out, "<path d=\"M%d %dQ%d %d %d %d\"", c->x1, c->y1, c->cx, c->cy,
			    c->x2, c->y2);
	else
		strbuf_addf(out, "<path d=\"M%d %dL%d %d\"", c->x1, c->y1, c->x2, c->y2);
}

static void add_free_link(struct strbuf *out, const struct pic *p, node_id a, node_id b, int nth)
{
	int bend = free_bend(p, a, b, nth);
	struct curve c = curve_between(p, a, b, bend);

	add_path(out, &c, bend != 0);
}

static void add_layer_link(struct strbuf *out, const struct pic *p, node_id a, node_id b, int nth)
{
	int half = PIC_BOX_H / 2, side = p->y[a] < p->y[b] ? half : -half;
	struct curve c = {.x1 = p->x[a] + 3 * nth, .x2 = p->x[b] + 3 * nth};
	bool level = p->y[a] == p->y[b];

	c.y1 = level ? p->y[a] - half : p->y[a] + side;
	c.y2 = level ? p->y[b] - half : p->y[b] - side;
	c.cx = (c.x1 + c.x2) / 2;
	c.cy = c.y1 - 24 - 6 * nth - abs(c.x2 - c.x1) / 10;
	add_path(out, &c, level);
}

static void add_switch_link(struct strbuf *out, const struct pic *p, node_id a, node_id b, int nth)
{
	if (a == b) { /* a cable from a switch to itself */
		struct curve c = {p->x[a] - 8, p->y[a] - 8, p->x[a] + 8,
				  p->y[a] - 8, p->x[a],	    p->y[a] - 40 - 6 * nth};

		add_path(out, &c, true);
	} else if (pic_in_levels(p, a, b)) {
		add_layer_link(out, p, a, b, nth);
	} else {
		add_free_link(out, p, a, b, nth);
	}
}

static void add_host_link(struct strbuf *out, const struct pic *p, node_id a, node_id b)
{
	struct curve c = {p->x[a], p->y[a], p->x[b], p->y[b], 0, 0};

	add_path(out, &c, false);
}

static void add_link(struct strbuf *out, const struct pic *p, port_id port)
{
	const struct fab *f = p->f;
	node_id a = f->ports[port].node, b = f->ports[f->ports[port].peer].node;
	struct rate r = link_rate(f, port);
	unsigned w = stroke(r.width);

	if (fab_is_switch(f, a) && fab_is_switch(f, b))
		add_switch_link(out, p, a, b, nth_parallel(f, port));
	else
		add_host_link(out, p, a, b);
	if (p->heat)
		strbuf_add(out, ">");
	else
		strbuf_addf(out, " stroke=\"%s\" stroke-width=\"%u.%u\">", speed_colour[r.speed],
			    w / 10, w % 10);
	add_link_title(out, p, port);
	strbuf_add(out, "</path>\n");
}

/* ---- nodes ---- */

/* How many VFs a host has, and those with a LID. */
static void add_vfs(struct strbuf *out, const struct fab *f, node_id n)
{
	const struct fab_node *v = &f->nodes[n];
	const struct fab_vlid *x;
	uint32_t count = v->sriov ? fab_vlids_of(f, v->first_port + 1, &x) : 0;

	if (v->sriov)
		strbuf_addf(out, "\n%u VF%s, %s", v->vfs, v->vfs == 1 ? "" : "s",
			    v->sriov == FAB_SRIOV_SHARED ? "shared port" : "vSwitch");
	for (; count; count--, x++)
		strbuf_addf(out, "\nVF %u: LID %u", x->slot, x->lid);
}

static void add_node_title(struct strbuf *out, const struct fab *f, node_id n, const char *ident)
{
	const struct fab_node *v = &f->nodes[n];
	unsigned from = fab_is_switch(f, n) ? 0 : 1, to = fab_is_switch(f, n) ? 0 : v->nports;

	strbuf_add(out, "<title>");
	add_text(out, fab_node_name(f, n), SIZE_MAX);
	strbuf_addf(out, "\nGUID 0x%016llx (%.1s), %u ports", (unsigned long long)v->guid, ident,
		    v->nports);
	for (unsigned i = from; i <= to; i++) {
		uint16_t lid = f->ports[fab_port_id(f, n, i)].lid;

		if (lid)
			strbuf_addf(out, "\nport %u: LID %u", i, lid);
	}
	add_vfs(out, f, n);
	strbuf_add(out, "</title>");
}

static void add_node(struct strbuf *out, const struct pic *p, node_id n)
{
	const struct fab *f = p->f;
	int x = p->x[n], y = p->y[n], half = p->half[n];
	char ident[32];

	fab_node_ident(f, n, ident);
	strbuf_addf(out, "<g id=\"%s\" class=\"%.1s\">", ident, ident);
	if (fab_is_switch(f, n))
		strbuf_addf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>",
			    x - half, y - PIC_BOX_H / 2, 2 * half, PIC_BOX_H);
	else if (f->nodes[n].type == IBA_NODE_ROUTER)
		strbuf_addf(out, "<path d=\"M%d %dl5 5l-5 5l-5 -5z\"/>", x, y - 5);
	else
		strbuf_addf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"4\"/>", x, y);
	if (f->nodes[n].sriov)
		strbuf_addf(
			out,
			"<circle class=\"v\" style=\"fill:#345;stroke:none\" cx=\"%d\" cy=\"%d\" r=\"1.5\"/>",
			x, y);
	if (fab_is_switch(f, n)) {
		strbuf_addf(out, "<text class=\"n\" x=\"%d\" y=\"%d\">", x, y + 3);
		add_text(out, fab_node_name(f, n), PIC_LABEL);
		strbuf_add(out, "</text>");
	}
	add_node_title(out, f, n, ident);
	strbuf_add(out, "</g>\n");
}

/* ---- the frame ---- */

static void add_groups(struct strbuf *out, const struct pic *p)
{
	for (uint32_t i = 0; i < p->layout->ngroups; i++) {
		const struct layout_group *g = &p->layout->groups[i];
		int x = pic_px(p, g->x0), y = pic_px(p, g->y0) + PIC_HEAD;

		strbuf_addf(out,
			    "<rect class=\"G\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
			    "rx=\"4\"/><text class=\"g\" x=\"%d\" y=\"%d\">%s</text>\n",
			    x, y, pic_px(p, g->x1 - g->x0), pic_px(p, g->y1 - g->y0), x + 1, y - 2,
			    g->name);
	}
}

static unsigned count_vfs(const struct fab *f)
{
	unsigned vfs = 0;

	for (node_id n = 0; n < f->nnodes; n++)
		vfs += f->nodes[n].sriov ? f->nodes[n].vfs : 0;
	return vfs;
}

static void add_title(struct strbuf *out, const struct fab *f)
{
	unsigned vfs = count_vfs(f);

	strbuf_addf(out, "<text class=\"t\" x=\"%d\" y=\"26\">%u switch%s, %u host%s", PIC_MARGIN,
		    f->nswitches, f->nswitches == 1 ? "" : "es", f->nhosts,
		    f->nhosts == 1 ? "" : "s");
	if (vfs)
		strbuf_addf(out, " with %u VF%s", vfs, vfs == 1 ? "" : "s");
	if (f->nrouters)
		strbuf_addf(out, ", %u router%s", f->nrouters, f->nrouters == 1 ? "" : "s");
	strbuf_addf(out, ", %u link%s</text>\n", f->nlinks, f->nlinks == 1 ? "" : "s");
}

static int add_legend_nodes(struct strbuf *out, const struct fab *f, int x, int y)
{
	strbuf_addf(
		out,
		"<g class=\"S\"><rect x=\"%d\" y=\"%d\" width=\"16\" height=\"10\" rx=\"2\"/></g>"
		"<text class=\"l\" x=\"%d\" y=\"%d\">switch</text>\n",
		x, y - 5, x + 20, y + 4);
	strbuf_addf(out,
		    "<g class=\"H\"><circle cx=\"%d\" cy=\"%d\" r=\"4\"/></g>"
		    "<text class=\"l\" x=\"%d\" y=\"%d\">host</text>\n",
		    x + 74, y, x + 82, y + 4);
	if (count_vfs(f)) {
		strbuf_addf(
			out,
			"<g class=\"H\"><circle cx=\"%d\" cy=\"%d\" r=\"4\"/>"
			"<circle class=\"v\" style=\"fill:#345;stroke:none\" cx=\"%d\" cy=\"%d\" r=\"1.5\"/></g>"
			"<text class=\"l\" x=\"%d\" y=\"%d\">host with VFs</text>\n",
			x + 128, y, x + 128, y, x + 138, y + 4);
		x += 104;
	}
	if (!f->nrouters)
		return x + 118;
	strbuf_addf(out,
		    "<g class=\"R\"><path d=\"M%d %dl5 5l-5 5l-5 -5z\"/></g>"
		    "<text class=\"l\" x=\"%d\" y=\"%d\">router</text>\n",
		    x + 126, y - 5, x + 135, y + 4);
	return x + 180;
}

/* Which rates there are, and how wide the legend is. */
static int find_rates(const struct fab *f, bool used[FAB_NSPEEDS][13])
{
	int w = PIC_MARGIN + (f->nrouters ? 180 : 118) + 20;

	for (port_id p = 0; p < f->nports; p++) {
		if (f->ports[p].peer != FAB_NONE) {
			struct rate r = link_rate(f, p);

			w += used[r.speed][MIN(r.width, 12)] ? 0 : 92;
			used[r.speed][MIN(r.width, 12)] = true;
		}
	}
	return w;
}

static void add_legend(struct strbuf *out, const struct fab *f, bool used[FAB_NSPEEDS][13])
{
	int x = add_legend_nodes(out, f, PIC_MARGIN, 46);

	for (unsigned i = 0; i < FAB_NSPEEDS * 13; i++) {
		struct rate r = {i / 13, i % 13};
		unsigned w = stroke(r.width);

		if (!used[r.speed][r.width])
			continue;
		strbuf_addf(out, "<path d=\"M%d 46h20\" stroke=\"%s\" stroke-width=\"%u.%u\"/>", x,
			    speed_colour[r.speed], w / 10, w % 10);
		strbuf_addf(out, "<text class=\"l\" x=\"%d\" y=\"50\">", x + 24);
		add_rate_name(out, r);
		strbuf_add(out, "</text>\n");
		x += 92;
	}
}

/* Many links must not hide what is below them: hundredths. */
static unsigned link_opacity(uint32_t nlinks)
{
	return nlinks > 10000 ? 8 : nlinks > 2000 ? 25 : nlinks > 150 ? 55 : 80;
}

static bool drawn_from(const struct fab *f, port_id p)
{
	return f->ports[p].peer != FAB_NONE && f->ports[p].peer > p;
}

/* The busiest on top. */
static void add_heat_links(struct strbuf *out, const struct pic *p)
{
	for (unsigned level = 0; level < PIC_HEAT_LEVELS; level++) {
		heat_group(out, level, link_opacity(p->f->nlinks));
		for (port_id i = 0; i < p->f->nports; i++)
			if (drawn_from(p->f, i) && heat_level(p, i) == level)
				add_link(out, p, i);
		strbuf_add(out, "</g>\n");
	}
}

static void add_links(struct strbuf *out, const struct pic *p)
{
	unsigned o = link_opacity(p->f->nlinks);

	if (p->heat) {
		add_heat_links(out, p);
		return;
	}
	if (o % 10)
		strbuf_addf(out, "<g stroke-opacity=\"0.%02u\">\n", o);
	else
		strbuf_addf(out, "<g stroke-opacity=\"0.%u\">\n", o / 10);
	for (port_id i = 0; i < p->f->nports; i++)
		if (drawn_from(p->f, i))
			add_link(out, p, i);
	strbuf_add(out, "</g>\n");
}

static void draw(const struct fab *f, const struct draw_heat *h, struct strbuf *out)
{
	bool used[FAB_NSPEEDS][13] = {{false}};
	int legend = find_rates(f, used);
	struct pic p;

	pic_layout(&p, f);
	p.heat = h;
	if (h)
		heat_begin(&p);
	p.width = MAX(p.width, h ? 0 : legend);
	strbuf_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		    "viewBox=\"0 0 %d %d\">\n",
		    p.width, p.height, p.width, p.height);
	strbuf_add(out, style);
	strbuf_addf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", p.width, p.height);
	add_title(out, f);
	if (h)
		heat_legend(out, &p);
	else
		add_legend(out, f, used);
	add_groups(out, &p);
	add_links(out, &p);
	for (node_id n = 0; n < f->nnodes; n++)
		add_node(out, &p, n);
	if (h)
		heat_bins(out, &p);
	strbuf_add(out, "</svg>\n");
	pic_free(&p);
}

void draw_fabric_svg(const struct fab *f, struct strbuf *out)
{
	draw(f, NULL, out);
}

void draw_fabric_heat(const struct fab *f, const struct draw_heat *h, struct strbuf *out)
{
	draw(f, h, out);
}
