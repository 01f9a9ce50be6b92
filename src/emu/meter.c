/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What managers send: SMPs from clients by method and attribute, with the time of the first and the
 * last, since the last `meter reset`. State: struct emu's meter. Way in: meter_count() for every MAD,
 * and the command. So any two managers are measured alike, from outside.
 */
#include "emu/console.h"

static unsigned row_of(unsigned method)
{
	return method == IBA_GET ? 0 : method == IBA_SET ? 1 : 2;
}

void meter_count(struct emu *m, const uint8_t *mad, time_ps now)
{
	unsigned attr = iba_smp_attr_id(mad);
	struct emu_meter *t;

	if (iba_smp_mgmt_class(mad) != IBA_CLASS_SUBN_LID && !iba_smp_is_dr(mad))
		return;
	t = &m->meter[row_of(iba_smp_method(mad))][MIN(attr, (unsigned)EMU_METER_ATTRS - 1)];
	if (!t->n++)
		t->first = now;
	t->last = now;
}

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
	"meter",  "[reset]", "SMPs of clients: method, attribute, how many, first and last in us",
	0,	  1,	     meter_parse,
	meter_run};
