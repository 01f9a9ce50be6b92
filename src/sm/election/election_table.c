/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of the election for others: names, rows, how often each was met. State: none. Ways in:
 * sm_election_row(), sm_election_taken(). Does not act: election.c does.
 */
#include "sm/manager.h"

static const char *const event_names[SM_NELECTION_EVENTS] = {
#define NAME(event, name, text) [SM_EVENT_##event] = name,
	SM_ELECTION_EVENTS(NAME)
#undef NAME
};
static const char *const event_texts[SM_NELECTION_EVENTS] = {
#define TEXT(event, name, text) [SM_EVENT_##event] = text,
	SM_ELECTION_EVENTS(TEXT)
#undef TEXT
};
static const char *const action_names[SM_NELECTION_ACTIONS] = {
#define NAME(action, name, text) [SM_ACTION_##action] = name,
	SM_ELECTION_ACTIONS(NAME)
#undef NAME
};
static const char *const action_texts[SM_NELECTION_ACTIONS] = {
#define TEXT(action, name, text) [SM_ACTION_##action] = text,
	SM_ELECTION_ACTIONS(TEXT)
#undef TEXT
};

const char *sm_election_event_name(enum sm_election_event e)
{
	return e < SM_NELECTION_EVENTS ? event_names[e] : "?";
}

const char *sm_election_event_text(enum sm_election_event e)
{
	return e < SM_NELECTION_EVENTS ? event_texts[e] : "?";
}

const char *sm_election_action_name(enum sm_election_action a)
{
	return a < SM_NELECTION_ACTIONS ? action_names[a] : "?";
}

const char *sm_election_action_text(enum sm_election_action a)
{
	return a < SM_NELECTION_ACTIONS ? action_texts[a] : "?";
}

static const struct sm_election_row rows[SM_NSM_STATES][SM_NELECTION_EVENTS] = {
#define ROW(state, event, action, next)                                                            \
	[IBA_SM_##state][SM_EVENT_##event] = {IBA_SM_##state, SM_EVENT_##event,                    \
					      SM_ACTION_##action, IBA_SM_##next},
	SM_ELECTION_TABLE(ROW)
#undef ROW
};

/* Every pair has a row: one that is written twice does not compile. */
#define ONE(state, event, action, next) +1
_Static_assert(0 SM_ELECTION_TABLE(ONE) == SM_NSM_STATES * SM_NELECTION_EVENTS,
	       "a pair of state and event has no row, or two");
#undef ONE

const struct sm_election_row *sm_election_row(enum iba_sm_state s, enum sm_election_event e)
{
	return &rows[s][e];
}

uint64_t sm_election_taken(const struct sm *sm, enum iba_sm_state s, enum sm_election_event e)
{
	return sm->election.taken[s][e];
}
