/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as lines with a time: clients, cables, power, port states. State: the number of lines in
 * this second; beyond a hundred, port states are only counted. Way in: events_say(). Does not keep
 * events.
 */
#include "emu/emu_priv.h"
#include "emu/target_names.h"

enum { LINES_A_SECOND = 100 };

struct events {
	time_ps second;
	unsigned lines;
	uint64_t counted[8]; /* by new state, not printed */
};

static void print_text(struct emu *m, time_ps now, const char *text)
{
	struct strbuf b = {0};

	strbuf_addf(&b, "[%5llu.%06llu] %s\n", (unsigned long long)(now / PS_PER_S),
		    (unsigned long long)(now % PS_PER_S / PS_PER_US), text);
	output_event(m, b.s);
	strbuf_free(&b);
}

static void print(struct emu *m, const char *text)
{
	bool shown = !m->cfg.quiet && m->verbose;
	struct json j = {.line = true};
	time_ps now = emu_now(m);

	if (!shown && !m->control)
		return;
	json_open(&j, NULL, '{');
	json_seconds(&j, "time", now);
	json_str(&j, "event", text);
	json_close(&j);
	if (m->control)
		lines_send_event(m->control, j.out.s);
	if (shown && m->cfg.json) {
		strbuf_add(&j.out, "\n");
		output_event(m, j.out.s);
	} else if (shown) {
		print_text(m, now, text);
	}
	json_free(&j);
}

void events_say(struct emu *m, const char *fmt, ...)
{
	va_list ap;
	char text[256];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (m->events)
		print(m, text);
}

void events_flush(struct emu *m)
{
	struct events *ev = m->events;
	struct strbuf b = {0};

	for (unsigned s = 0; s < ARRAY_LEN(ev->counted); s++)
		if (ev->counted[s])
			strbuf_addf(&b, ", %llu %s", (unsigned long long)ev->counted[s],
				    iba_port_state_name(s));
	if (b.len)
		events_say(m, "further port state changes: %s", b.s + 2);
	strbuf_free(&b);
	memset(ev->counted, 0, sizeof(ev->counted));
	ev->lines = 0;
}

static void port_state(struct emu *m, node_id n, unsigned port, unsigned state)
{
	struct events *ev = m->events;
	time_ps second = emu_now(m) / PS_PER_S;
	struct names_buf b;

	if (second != ev->second)
		events_flush(m);
	ev->second = second;
	if (m->verbose < 2 && ++ev->lines > LINES_A_SECOND) {
		ev->counted[state & 7]++;
		return;
	}
	events_say(m, "%s %s", names_port(m->fab, fab_port_id(m->fab, n, port), &b),
		   iba_port_state_name(state));
}

static void seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		 const struct sim_smp *smp UNUSED, unsigned detail)
{
	struct emu *m = ctx;
	struct names_buf b;

	if (what == SIM_SEEN_PORT)
		port_state(m, n, port, detail);
	else if (what == SIM_SEEN_NODE)
		events_say(m, "%s %s", names_node(m->fab, n, &b), detail ? "on" : "off");
}

void events_open(struct emu *m)
{
	m->events = mem_zalloc(sizeof(*m->events));
	sim_watch(m->sim, (struct sim_watch){seen, m});
}

void events_close(struct emu *m)
{
	if (!m->events)
		return;
	sim_watch(m->sim, (struct sim_watch){0});
	events_flush(m);
	free(m->events);
	m->events = NULL;
}
