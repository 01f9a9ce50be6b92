/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sm --print-election: from (SMInfo state, event) to the action and the next state, from the manager's
 * own table. Keeps no state. Way in: print_election(). Does not run a manager.
 */
#include "cli/print_election.h"
#include "cli/cli.h"
#include "sm/sm.h"

static const char *state_name(unsigned s)
{
	return iba_format_word(IBA_FMT_SM_STATE, s);
}

static int print_json(void)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_open(&j, "events", '[');
	for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
		json_open(&j, NULL, '{');
		json_str(&j, "name", sm_election_event_name(e));
		json_str(&j, "means", sm_election_event_text(e));
		json_close(&j);
	}
	json_close(&j);
	json_open(&j, "actions", '[');
	for (unsigned a = 0; a < SM_NELECTION_ACTIONS; a++) {
		json_open(&j, NULL, '{');
		json_str(&j, "name", sm_election_action_name(a));
		json_str(&j, "does", sm_election_action_text(a));
		json_close(&j);
	}
	json_close(&j);
	json_open(&j, "rows", '[');
	for (unsigned s = 0; s < SM_NSM_STATES; s++)
		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
			const struct sm_election_row *r = sm_election_row(s, e);

			json_open(&j, NULL, '{');
			json_str(&j, "state", state_name(s));
			json_str(&j, "event", sm_election_event_name(e));
			json_str(&j, "action", sm_election_action_name(r->action));
			json_str(&j, "next", state_name(r->next));
			json_close(&j);
		}
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

/* Rows that change nothing are left out: the text has them. */
static int print_dot(void)
{
	printf("digraph election {\n"
	       "\trankdir=LR;\n"
	       "\tnode [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9];\n");
	for (unsigned s = 0; s < SM_NSM_STATES; s++)
		printf("\t%s;\n", state_name(s));
	for (unsigned s = 0; s < SM_NSM_STATES; s++)
		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
			const struct sm_election_row *r = sm_election_row(s, e);

			if (r->action != SM_ACTION_IGNORE && r->action != SM_ACTION_REFUSE)
				printf("\t%s -> %s [label=\"%s: %s\"];\n", state_name(s),
				       state_name(r->next), sm_election_event_name(e),
				       sm_election_action_name(r->action));
		}
	printf("}\n");
	return CLI_OK;
}

static int print_text(void)
{
	for (unsigned s = 0; s < SM_NSM_STATES; s++) {
		printf("%s\n", state_name(s));
		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
			const struct sm_election_row *r = sm_election_row(s, e);

			printf("    %-18s %-11s -> %s\n", sm_election_event_name(e),
			       sm_election_action_name(r->action), state_name(r->next));
		}
	}
	printf("\nEvents\n");
	for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++)
		printf("    %-18s %s\n", sm_election_event_name(e), sm_election_event_text(e));
	printf("\nActions\n");
	for (unsigned a = 0; a < SM_NELECTION_ACTIONS; a++)
		printf("    %-18s %s\n", sm_election_action_name(a), sm_election_action_text(a));
	return CLI_OK;
}

int print_election(bool dot)
{
	return dot ? print_dot() : cli_json ? print_json() : print_text();
}
