/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command that shows, and resets, the counts of smp_meter.c. Keeps no state. Way in: con_meter.
 * Does not count.
 */
#include "emu/console.h"

static void meter_line(const struct emu *m, struct strbuf *out, unsigned row, unsigned attr)
{
	static const char *const methods[] = {"Get", "Set", "other"};
	const struct emu_meter *t = &m->meter[row][attr];

	strbuf_addf(out, "%s %s %llu %llu %llu\n", methods[row],
		    attr == EMU_METER_ATTRS - 1 ? "other" : iba_attr_name(attr),
		    (unsigned long long)t->n,
		    (unsigned long long)((t->first - m->meter_since) / PS_PER_US),
		    (unsigned long long)((t->last - m->meter_since) / PS_PER_US));
}

static int meter_parse(const struct emu *m UNUSED, const struct line *l, struct emu_op *op,
		       struct err *e)
{
	op->has_n = l->n > 1;
	if (l->n > 1 && strcmp(l->at[1].text, "reset"))
		return err_set(e, -EINVAL, "expected nothing or reset, found '%s'", l->at[1].text);
	return 0;
}

static int meter_run(struct emu *m, const struct emu_op *op, struct strbuf *out)
{
	if (op->has_n) {
		memset(m->meter, 0, sizeof(m->meter));
		m->meter_since = emu_now(m);
		return 0;
	}
	strbuf_addf(out, "since_us %llu\n",
		    (unsigned long long)((emu_now(m) - m->meter_since) / PS_PER_US));
	for (unsigned r = 0; r < ARRAY_LEN(m->meter); r++)
		for (unsigned a = 0; a < EMU_METER_ATTRS; a++)
			if (m->meter[r][a].n)
				meter_line(m, out, r, a);
	return 0;
}

const struct emu_cmd con_meter = {
	"meter",
	"[reset]",
	"SMPs from clients: method, attribute, count, time of first and last in us",
	0,
	1,
	meter_parse,
	meter_run};
