/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links coloured by a value: levels, legend and histogram. Keeps no state. Ways in: heat_level() and the functions that
 * svg_priv.h lists beside it. Draws no links: svg.c does.
 */
#include "draw/draw.h"
#include "draw/svg_priv.h"

static const char *const colour[PIC_HEAT_LEVELS] = {"#b9c0c8", "#a6c8e4", "#5b9bd0", "#f2c14b",
						    "#f08c2e", "#d9481c", "#a31621", "#5a0a2b"};

/* Of both directions the larger one. */
static uint64_t link_value(const struct pic *p, port_id port)
{
	const uint64_t *v = p->heat->value;

	return MAX(v[port], v[p->f->ports[port].peer]);
}

void heat_begin(struct pic *p)
{
	p->heat_end = MAX(p->heat->least, (uint64_t)1);
	for (port_id i = 0; i < p->f->nports; i++)
		if (p->f->ports[i].peer != FAB_NONE)
			p->heat_end = MAX(p->heat_end, p->heat->value[i]);
	p->heat_top = p->height;
	p->height += p->heat->nbins ? PIC_BINS_H : 0;
	p->width = MAX(p->width, PIC_MARGIN * 2 + 140 + 78 * PIC_HEAT_LEVELS);
}

unsigned heat_level(const struct pic *p, port_id port)
{
	uint64_t v = link_value(p, port);

	/* level i > 0: above (i - 1) and up to i of equal parts */
	return v ? 1 + (unsigned)((v - 1) * (PIC_HEAT_LEVELS - 1) / p->heat_end) : 0;
}

static void add_value(struct strbuf *out, uint64_t thousandths)
{
	uint64_t v = (thousandths + 5) / 10;

	strbuf_addf(out, "%llu.%02llu", (unsigned long long)(v / 100),
		    (unsigned long long)(v % 100));
}

/* Links that carry much are wide and hide what is below them. base: opacity of all links, in hundredths. */
void heat_group(struct strbuf *out, unsigned level, unsigned base)
{
	unsigned o = base + (95 - MIN(base, 95u)) * level / (PIC_HEAT_LEVELS - 1);

	strbuf_addf(out, "<g stroke=\"%s\" stroke-width=\"%u.%u\" stroke-opacity=\"0.%02u\">\n",
		    colour[level], (10 + 3 * level) / 10, (10 + 3 * level) % 10, o);
}

void heat_title(struct strbuf *out, const struct pic *p, port_id port)
{
	strbuf_add(out, ", ");
	add_value(out, p->heat->value[port]);
	strbuf_addf(out, " %s there, ", p->heat->unit);
	add_value(out, p->heat->value[p->f->ports[port].peer]);
	strbuf_add(out, " back");
}

void heat_legend(struct strbuf *out, const struct pic *p)
{
	int x = PIC_MARGIN;

	strbuf_addf(out, "<text class=\"l\" x=\"%d\" y=\"50\">%s:</text>\n", x, p->heat->title);
	x += (int)strlen(p->heat->title) * 6 + 12;
	for (unsigned i = 0; i < PIC_HEAT_LEVELS; i++, x += 58) {
		strbuf_addf(out,
			    "<path d=\"M%d 46h18\" stroke=\"%s\" stroke-width=\"%u.%u\"/>"
			    "<text class=\"l\" x=\"%d\" y=\"50\">",
			    x, colour[i], (10 + 3 * i) / 10, (10 + 3 * i) % 10, x + 22);
		if (i)
			add_value(out, p->heat_end * i / (PIC_HEAT_LEVELS - 1));
		else
			strbuf_add(out, "0");
		strbuf_add(out, "</text>\n");
	}
}

static void add_bar(struct strbuf *out, const struct pic *p, unsigned i, uint64_t all,
		    uint64_t most)
{
	const struct draw_heat *h = p->heat;
	int step = MIN(46, (p->width - 2 * PIC_MARGIN) / (int)h->nbins);
	int x = PIC_MARGIN + (int)i * step, base = p->heat_top + PIC_BINS_H - 30;
	int high = (int)(h->bins[i] * (PIC_BINS_H - 76) / most);
	uint64_t part = (h->bins[i] * 1000 + all / 2) / all;
	unsigned level =
		MIN(1 + (unsigned)((uint64_t)i * 1000 * (PIC_HEAT_LEVELS - 1) / p->heat_end),
		    PIC_HEAT_LEVELS - 1u);

	strbuf_addf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", x,
		    base - MAX(high, h->bins[i] ? 1 : 0), MAX(step - 4, 2),
		    MAX(high, h->bins[i] ? 1 : 0), colour[i ? level : 0]);
	if (step >= 30)
		strbuf_addf(out, "<text class=\"n\" x=\"%d\" y=\"%d\">%llu.%llu %%</text>",
			    x + (step - 4) / 2, base - high - 4, (unsigned long long)(part / 10),
			    (unsigned long long)(part % 10));
	if (step >= 14 || i % 4 == 0)
		strbuf_addf(out, "<text class=\"n\" x=\"%d\" y=\"%d\">%u</text>\n",
			    x + (step - 4) / 2, base + 12, i);
}

void heat_bins(struct strbuf *out, const struct pic *p)
{
	const struct draw_heat *h = p->heat;
	uint64_t all = 0, most = 1;

	for (unsigned i = 0; i < h->nbins; i++) {
		all += h->bins[i];
		most = MAX(most, h->bins[i]);
	}
	if (!all)
		return;
	strbuf_addf(out, "<text class=\"l\" x=\"%d\" y=\"%d\">%s</text>\n", PIC_MARGIN,
		    p->heat_top + 16, h->bins_title);
	for (unsigned i = 0; i < h->nbins; i++)
		add_bar(out, p, i, all, most);
}
