/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of what a change took in the terms of the thesis. Constants only. Ways in: thesis_figures[],
 * thesis_report_json(). Does not compute anything: src/lab does.
 */
#include "cli/thesis_report.h"

#define FIELD(name, expr)                                                                          \
	static uint64_t of_##name(const struct lab_change_result *r)                               \
	{                                                                                          \
		return expr;                                                                       \
	}

/* Entries of all linear tables of the subnet, as far as they can be sent (thesis Figs. 103 to 106). */
static uint64_t share_of_tables(const struct lab_change_result *r, uint64_t entries)
{
	uint64_t room = (uint64_t)r->switches * r->table_room;

	return room ? entries * 1000000 / room : 0;
}

FIELD(sweep, r->sweep)
FIELD(discovery_smps, r->thesis.discovery_smps)
FIELD(discovery, r->thesis.discovery)
FIELD(distribution_smps, r->thesis.distribution_smps)
FIELD(distribution, r->thesis.distribution)
FIELD(deactivation_smps, r->thesis.deactivation_smps)
FIELD(deactivation, r->thesis.deactivation)
FIELD(table_smps, r->thesis.table_smps)
FIELD(tables, r->thesis.tables)
FIELD(activation_smps, r->thesis.activation_smps)
FIELD(activation, r->thesis.activation)
FIELD(assimilation, r->thesis.assimilation)
FIELD(provisional, r->thesis.provisional)
FIELD(final, r->thesis.final)
FIELD(entries_changed, share_of_tables(r, r->entries_changed))
FIELD(entries_sent, share_of_tables(r, r->sum.sent_blocks *IBA_LFT_BLOCK))
FIELD(discarded, r->thesis.discarded)

const struct thesis_figure thesis_figures[] = {
	{"sweep_s", THESIS_TIME, false, of_sweep},
	{"discovery_smps", THESIS_COUNT, false, of_discovery_smps},
	{"discovery_s", THESIS_TIME, false, of_discovery},
	{"distribution_smps", THESIS_COUNT, false, of_distribution_smps},
	{"distribution_s", THESIS_TIME, false, of_distribution},
	{"deactivation_smps", THESIS_COUNT, false, of_deactivation_smps},
	{"deactivation_s", THESIS_TIME, false, of_deactivation},
	{"table_smps", THESIS_COUNT, false, of_table_smps},
	{"tables_s", THESIS_TIME, false, of_tables},
	{"activation_smps", THESIS_COUNT, false, of_activation_smps},
	{"activation_s", THESIS_TIME, false, of_activation},
	{"assimilation_s", THESIS_TIME, false, of_assimilation},
	{"provisional_s", THESIS_TIME, false, of_provisional},
	{"final_s", THESIS_TIME, false, of_final},
	{"entries_changed", THESIS_SHARE, false, of_entries_changed},
	{"entries_sent", THESIS_SHARE, false, of_entries_sent},
	{"discarded", THESIS_COUNT, true, of_discarded},
	{0},
};

void thesis_report_json(const struct lab_change_result *r, struct json *j)
{
	json_open(j, "thesis", '{');
	for (const struct thesis_figure *f = thesis_figures; f->key; f++) {
		if (f->traffic && !r->traffic_at)
			continue;
		if (f->kind == THESIS_TIME)
			json_seconds(j, f->key, f->of(r));
		else if (f->kind == THESIS_COUNT)
			json_u64(j, f->key, f->of(r));
		else
			json_fixed(j, f->key, f->of(r), 6);
	}
	json_close(j);
}
