/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated run as text and JSON: a timeline while it runs, then a table of phases or one JSON
 * object. For sim_report_up() the caller fills in `settled`; the rest comes from the laboratory.
 */
#ifndef WEFT_SIM_REPORT_H
#define WEFT_SIM_REPORT_H

#include "base/json.h"
#include "lab/change_run.h"
#include "lab/sa_clients.h"

struct sim_phase {
	time_ps at; /* entered */
	enum sm_phase phase;
};

struct sim_report {
	const struct fab *fab;
	struct lab *lab;
	bool timeline;
	const char *stops; /* what happens before tables change, in words */
	double wall_start;
	bool settled;	    /* the run came to its end */
	time_ps changed_at; /* 0: nothing changed */
	struct lab_sum up, change;
	uint32_t lids_moved;
	unsigned held, released; /* links that changed too often */
	struct lab_verdict v;
	const struct lab_change_result *result; /* of a change */
	const char *what;			/* of a change under load: the traffic, in words */
	bool show_series;			/* they were asked for, not only for a picture */
	time_ps message_at;			/* of the last message printed */
	uint64_t *smps_noted; /* by manager: sent when its last line of the timeline was written */
	const char *who;      /* the manager whose line is printed; NULL: there is only one */
	int who_width;
	VEC(struct sim_phase) phases; /* what the manager did when */
	VEC(struct sm_note) events;   /* links and nodes that went and came, after the bring-up */
	uint32_t unlisted;	      /* more of them */
	struct lab_clients_count
		clients; /* hosts that asked subnet administration; none: .clients 0 */
	bool warned;	 /* that another engine serves than the one that was asked for */
};

/* What a change took, as keys and values in the order of reports: how many were filled in. */
struct sim_figure {
	const char *key;
	uint64_t value; /* picoseconds, or SMPs */
};
enum { SIM_FIGURES = 12 };
unsigned sim_change_times(const struct lab_sum *s, time_ps since,
			  struct sim_figure at[SIM_FIGURES]);
unsigned sim_change_smps(const struct lab_sum *s, struct sim_figure at[SIM_FIGURES]);

void sim_report_init(struct sim_report *r, const struct fab *f, struct lab *l, bool timeline,
		     bool smps);
void sim_report_messages(struct sim_report *r); /* print them (lab/message_log.h) instead of SMPs */
void sim_report_flaps(struct sim_report *r);	/* the bring-up is over, links begin to flap */
void sim_report_up(struct sim_report *r); /* the run is over: a bring-up, and links that flapped */
/* The change is over; the result stays the caller's. */
void sim_report_change(struct sim_report *r, const struct lab_change_result *res);
void sim_report_say(struct sim_report *r, const char *text); /* a line of the timeline */
const char *sim_report_state(const struct sim_report *r);    /* in a word */
void sim_report_text(struct sim_report *r);
void sim_report_json(struct sim_report *r, struct json *j, uint64_t seed);
void sim_report_events(const struct sim_report *r,
		       struct json *j); /* as links and nodes of the object that is open */
void sim_report_free(struct sim_report *r);

#endif
