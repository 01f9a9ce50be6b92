/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting until a manager's subnet is at rest, by asking for its status again and again. State: none.
 * Way in: ctl_wait_for_rest(). Decides nothing about the subnet: the manager's status says it.
 */
#include <poll.h>
#include <time.h>

#include "cli/ctl.h"
#include "control/lines.h"

enum { POLL_MS = 50, ANSWER_MS = 10000 };

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct rest {
	bool standby;	 /* another manager is the master: there is nothing to wait for */
	bool idle;	 /* the subnet is up, and the manager knows of no change */
	uint64_t sweeps; /* that found no change */
	uint64_t changes;
	char phase[32];
};

/* NULL after a message when the manager does not answer. */
static json_t *ask(const char *path, const char *question, struct strbuf *answer)
{
	json_error_t why;
	json_t *a = NULL;
	struct err e;

	answer->len = 0;
	if (lines_ask(path, question, ANSWER_MS, answer, &e))
		cli_bad("%s", e.text);
	else if (!(a = json_loads(answer->s, 0, &why)))
		cli_bad("the answer is not JSON: %s", why.text);
	return a;
}

static int status(const char *path, struct strbuf *answer, struct rest *r)
{
	json_t *a = ask(path, "{\"cmd\":\"status\"}", answer);

	if (!a)
		return CLI_BAD;
	*r = (struct rest){
		.standby = !strcmp(ctl_text(a, "state"), "Standby"),
		.idle = (!strcmp(ctl_text(a, "state"), "Master") ||
			 json_is_true(json_object_get(a, "observes"))) &&
			!strcmp(ctl_text(a, "phase"), "ready") &&
			!json_is_true(json_object_get(a, "change_pending")),
		.sweeps = (uint64_t)json_integer_value(json_object_get(a, "clean_sweeps")),
		.changes = (uint64_t)json_integer_value(json_object_get(a, "changes")),
	};
	snprintf(r->phase, sizeof(r->phase), "%s", ctl_text(a, "phase"));
	json_decref(a);
	return CLI_OK;
}

static int sweep(const char *path)
{
	struct strbuf answer = {0};
	json_t *a = ask(path, "{\"cmd\":\"sweep\"}", &answer);

	json_decref(a);
	strbuf_free(&answer);
	return a ? CLI_OK : CLI_BAD;
}

int ctl_wait_for_rest(const char *path, time_ps limit, struct strbuf *answer)
{
	uint64_t end = now_ms() + limit / PS_PER_MS, before = 0, changes = 0;
	bool asked = false;
	struct rest r;

	for (;;) {
		if (status(path, answer, &r))
			return CLI_BAD;
		if (r.standby || (asked && r.idle && r.sweeps > before))
			return CLI_OK;
		/* The sweep found a change itself: the manager's next one may be a minute away. */
		if (r.idle && (!asked || r.changes != changes)) {
			asked = true;
			before = r.sweeps;
			changes = r.changes;
			if (sweep(path))
				return CLI_BAD;
			continue;
		}
		if (now_ms() >= end)
			break;
		poll(NULL, 0, POLL_MS);
	}
	cli_bad("the subnet is not at rest after %s: phase %s; --timeout waits longer",
		cli_duration(limit), r.phase);
	return CLI_NO;
}
