/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The managers of a laboratory as a table and as JSON. Keeps no state. Way in: managers_text(), managers_json(). Does not
 * choose among them: the laboratory knows the master.
 */
#include "cli/managers_report.h"

#include "cli/cli.h"

/* A manager that is stopped or paused has no state. */
static const char *state_word(const struct lab *l, unsigned i)
{
	if (!lab_manager_sm(l, i))
		return "stopped";
	return lab_manager_paused(l, i)
		       ? "paused"
		       : iba_format_word(IBA_FMT_SM_STATE, lab_manager_status(l, i)->state);
}

void managers_text(const struct lab *l)
{
	const struct fab *f = lab_fabric(l);
	struct cli_table t;

	if (lab_managers(l) < 2)
		return;
	cli_table_init(&t, "lrlll", "manager", "priority", "mechanism", "state", "port GUID");
	for (unsigned i = 0; i < lab_managers(l); i++) {
		node_id n = lab_manager_node(l, i);
		char ident[32];

		fab_node_ident(f, n, ident);
		cli_table_add(&t, "%s", *fab_node_name(f, n) ? fab_node_name(f, n) : ident);
		cli_table_add(&t, "%u", lab_manager_cfg(l, i)->priority);
		cli_table_add(&t, "%s", lab_manager_cfg(l, i)->mechanism.name);
		cli_table_add(&t, "%s", state_word(l, i));
		cli_table_add(&t, "0x%016llx", (unsigned long long)lab_manager_guid(l, i));
	}
	cli_table_print(&t, stdout);
	putchar('\n');
}

void managers_json(struct json *j, const struct lab *l)
{
	json_open(j, "managers", '[');
	for (unsigned i = 0; i < lab_managers(l); i++) {
		json_open(j, NULL, '{');
		json_hex64(j, "guid", lab_manager_guid(l, i));
		json_u64(j, "priority", lab_manager_cfg(l, i)->priority);
		json_str(j, "mechanism", lab_manager_cfg(l, i)->mechanism.name);
		json_str(j, "state", state_word(l, i));
		json_u64(j, "lid", lab_manager_status(l, i)->lid);
		json_close(j);
	}
	json_close(j);
	for (unsigned i = 0; i < lab_managers(l); i++)
		if (lab_manager_is_master(l, i)) {
			json_hex64(j, "master", lab_manager_guid(l, i));
			return;
		}
	json_none(j, "master");
}
