/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sm --print-phases: from (phase, outcome) to the next phase, from the manager's own table. Keeps no
 * state. Way in: print_phases(). Does not run a manager.
 */
#include "cli/print_phases.h"
#include "cli/cli.h"
#include "sm/sm.h"

static int print_json(void)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_open(&j, "phases", '[');
	for (unsigned p = 0; p < SM_NPHASES; p++) {
		json_open(&j, NULL, '{');
		json_str(&j, "name", sm_phase_name(p));
		json_str(&j, "does", sm_phase_text(p));
		json_close(&j);
	}
	json_close(&j);
	json_open(&j, "transitions", '[');
	for (size_t i = 0; i < sm_ntransitions; i++) {
		json_open(&j, NULL, '{');
		json_str(&j, "from", sm_phase_name(sm_transitions[i].from));
		json_str(&j, "outcome", sm_outcome_name(sm_transitions[i].outcome));
		json_str(&j, "to", sm_phase_name(sm_transitions[i].to));
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

/* Ways back after a change or a refusal are drawn pale: they leave nearly every phase. */
static int print_dot(void)
{
	printf("digraph phases {\n"
	       "\trankdir=TB;\n"
	       "\tnode [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9];\n");
	for (unsigned p = 0; p < SM_NPHASES; p++)
		printf("\t%s [label=\"%s\", tooltip=\"%s\"];\n", sm_phase_name(p), sm_phase_name(p),
		       sm_phase_text(p));
	for (size_t i = 0; i < sm_ntransitions; i++) {
		const struct sm_transition *t = &sm_transitions[i];
		bool back = t->outcome == SM_CHANGED || t->outcome == SM_REFUSED;

		printf("\t%s -> %s [label=\"%s\"%s];\n", sm_phase_name(t->from),
		       sm_phase_name(t->to), sm_outcome_name(t->outcome),
		       back && t->from != SM_OFF
			       ? ", color=\"#bbbbbb\", fontcolor=\"#999999\", constraint=false"
			       : "");
	}
	printf("}\n");
	return CLI_OK;
}

static int print_text(void)
{
	for (unsigned p = 0; p < SM_NPHASES; p++) {
		printf("%-11s %s\n", sm_phase_name(p), sm_phase_text(p));
		for (size_t i = 0; i < sm_ntransitions; i++)
			if (sm_transitions[i].from == p)
				printf("    %-10s -> %s\n",
				       sm_outcome_name(sm_transitions[i].outcome),
				       sm_phase_name(sm_transitions[i].to));
	}
	printf("\nOutcomes\n");
	for (unsigned o = SM_GOING_ON + 1; o < SM_NOUTCOMES; o++)
		printf("    %-10s %s\n", sm_outcome_name(o), sm_outcome_text(o));
	return CLI_OK;
}

int print_phases(bool dot)
{
	return dot ? print_dot() : cli_json ? print_json() : print_text();
}
