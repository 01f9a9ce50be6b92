/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a schedule as text that schedule_read() reads. Keeps no state. Way in: schedule_write(). Does not
 * write what has its default.
 */
#include "trial/schedule.h"

static void write_node(struct strbuf *out, uint64_t guid)
{
	strbuf_addf(out, " 0x%016llx", (unsigned long long)guid);
}

/* In the largest unit that needs no fraction. */
static void write_time(struct strbuf *out, time_ps t)
{
	static const struct {
		time_ps ps;
		const char *name;
	} units[] = {{PS_PER_S, "s"},
		     {PS_PER_MS, "ms"},
		     {PS_PER_US, "us"},
		     {PS_PER_NS, "ns"},
		     {1, "ps"}};
	size_t i = 0;

	while (t % units[i].ps)
		i++;
	strbuf_addf(out, " %llu%s", (unsigned long long)(t / units[i].ps), units[i].name);
}

static void write_share(struct strbuf *out, uint64_t millionths)
{
	unsigned digits = 4, rest = (unsigned)(millionths % 10000);

	for (; digits && rest % 10 == 0; digits--)
		rest /= 10;
	strbuf_addf(out, " %llu", (unsigned long long)(millionths / 10000));
	if (digits)
		strbuf_addf(out, ".%0*u", (int)digits, rest);
	strbuf_add(out, "%");
}

static void write_fabric(struct strbuf *out, const struct schedule *s)
{
	const struct fab_gen *g = &s->gen;

	if (s->netlist) {
		strbuf_addf(out, "netlist \"%s\"\n", s->netlist);
		return;
	}
	strbuf_addf(out, "fabric %s", g->kind);
	for (unsigned i = 0; i < g->ndims; i++)
		strbuf_addf(out, " %u", g->dims[i]);
	if (g->ports)
		strbuf_addf(out, " ports %u", g->ports);
	if (g->has_hosts)
		strbuf_addf(out, " hosts %u", g->hosts);
	if (g->links)
		strbuf_addf(out, " links %u", g->links);
	if (g->vfs)
		strbuf_addf(out, " vfs %u", g->vfs);
	strbuf_addf(out, " seed %llu\n", (unsigned long long)g->seed);
}

static void write_option(struct strbuf *out, const struct schedule_option *o, const void *at,
			 const void *usual)
{
	uint64_t v = o->type == SCHEDULE_UINT	? *(const unsigned *)at
		     : o->type == SCHEDULE_BOOL ? *(const bool *)at
						: *(const uint64_t *)at;
	uint64_t d = o->type == SCHEDULE_UINT	? *(const unsigned *)usual
		     : o->type == SCHEDULE_BOOL ? *(const bool *)usual
						: *(const uint64_t *)usual;

	if (v == d)
		return;
	strbuf_addf(out, " %s", o->word);
	switch (o->type) {
	case SCHEDULE_UINT:
		strbuf_addf(out, " %llu", (unsigned long long)v);
		return;
	case SCHEDULE_HEX:
		strbuf_addf(out, " 0x%llx", (unsigned long long)v);
		return;
	case SCHEDULE_BOOL:
		strbuf_add(out, v ? " on" : " off");
		return;
	case SCHEDULE_TIME:
		write_time(out, v);
		return;
	}
}

static void write_manager(struct strbuf *out, const struct schedule_manager *m)
{
	struct schedule_manager usual;

	schedule_manager_default(&usual);
	strbuf_add(out, "manager");
	write_node(out, m->guid);
	if (strcmp(m->sm.mechanism.name, usual.sm.mechanism.name))
		strbuf_addf(out, " mechanism %s", m->sm.mechanism.name);
	if (m->sm.mechanism.routes != sm_mechanism_find(m->sm.mechanism.name)->routes)
		strbuf_addf(out, " routes %s", m->sm.mechanism.routes->name);
	for (const struct schedule_option *o = schedule_options; o->word; o++)
		write_option(out, o, (const char *)m + o->at, (const char *)&usual + o->at);
	strbuf_add(out, "\n");
}

static void write_operand(struct strbuf *out, char what, const struct schedule_event *ev)
{
	switch (what) {
	case 'M':
		strbuf_addf(out, " %u", ev->manager);
		return;
	case 'N':
		write_node(out, ev->port.guid);
		return;
	case 'P':
		if (ev->port.guid) {
			write_node(out, ev->port.guid);
			strbuf_addf(out, "[%u]", ev->port.port);
		}
		return;
	case 'Q':
		write_node(out, ev->far.guid);
		strbuf_addf(out, "[%u]", ev->far.port);
		return;
	case 'A':
		strbuf_addf(out, " %s", schedule_type_words[ev->type]);
		write_node(out, ev->port.guid);
		strbuf_addf(out, " %u", ev->port.port);
		if (*ev->name)
			strbuf_addf(out, " \"%s\"", ev->name);
		return;
	case 'S':
		write_share(out, ev->share);
		return;
	case 'T':
		write_time(out, ev->time);
		return;
	case 'O':
		strbuf_addf(out, " %s", schedule_order_words[ev->order]);
		return;
	case 'K':
		if (schedule_knows_words[ev->knows])
			strbuf_addf(out, " %s", schedule_knows_words[ev->knows]);
		return;
	default:
		for (size_t i = 0; i < ev->nodes.n; i++)
			write_node(out, ev->nodes.at[i]);
		return;
	}
}

void schedule_event_write(const struct schedule_event *ev, struct strbuf *out)
{
	const struct schedule_word *w = &schedule_words[ev->kind];

	strbuf_add(out, w->word);
	for (const char *o = w->operands; *o; o++)
		if (*o != '?')
			write_operand(out, *o, ev);
}

void schedule_write(const struct schedule *s, struct strbuf *out)
{
	write_fabric(out, s);
	if (s->without.n) {
		strbuf_add(out, "without");
		for (size_t i = 0; i < s->without.n; i++)
			write_node(out, s->without.at[i]);
		strbuf_add(out, "\n");
	}
	strbuf_addf(out, "seed %llu\n", (unsigned long long)s->seed);
	if (!s->traps)
		strbuf_add(out, "traps off\n");
	if (s->traffic) {
		strbuf_add(out, "traffic");
		write_time(out, s->traffic);
		strbuf_add(out, "\n");
	}
	if (s->until) {
		strbuf_add(out, "until");
		write_time(out, s->until);
		strbuf_add(out, "\n");
	}
	for (size_t i = 0; i < s->managers.n; i++)
		write_manager(out, &s->managers.at[i]);
	for (size_t i = 0; i < s->events.n; i++) {
		strbuf_add(out, "at");
		write_time(out, s->events.at[i].at);
		strbuf_add(out, " ");
		schedule_event_write(&s->events.at[i], out);
		strbuf_add(out, "\n");
	}
}
