/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the engine. window.c owns struct window; the fabric's part is written by window_fabric.c and
 * window_links.c, the run by window_run.c, messages by window_log.c, packets on links by window_flights.c, the series by window_series.c, lanes by window_lanes.c.
 */
#ifndef WEFT_WINDOW_PRIV_H
#define WEFT_WINDOW_PRIV_H

#include "base/json.h"
#include "lab/forwarding_scan.h"
#include "lab/lab.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/schedule_play.h"
#include "window/window.h"

#include <jansson.h>

/* ---- bytes of a frame ---- */

struct window_out {
	uint8_t *at;
	size_t len, cap;
};

/* A link of the FABRIC frame. The first ones are those of the fabric, in the order of their lower port; then
 * cables that were plugged elsewhere during the run. */
struct window_link {
	port_id a, b;
};

struct window_fabric {
	struct fab *base; /* as it was opened; NULL: none yet */
	struct fab *fab;  /* with the nodes that the run adds; else base */
	uint32_t version;
	VEC(struct window_link) links;
	uint32_t *link_of; /* by port: its link now; FAB_NONE: none */
};

/* ---- packets on links, since the last frame ---- */

struct window_flight {
	time_ps start, end;
	uint32_t link, seq;
	uint8_t direction, method;
	uint16_t attribute;
};

/* A sample of one in 2^shift. */
struct window_flights {
	struct window_flight *at; /* WINDOW_FLIGHTS */
	uint32_t n, shift;
	uint64_t seen;
};

/* ---- messages ---- */

struct window_message {
	time_ps at;
	uint32_t seq;
	node_id node;
	uint8_t port, what, detail;
	bool has_mad;
	bool seen; /* a line of the log can be made of it */
	uint16_t slid, dlid;
	uint8_t mad[IBA_MAD_SIZE];
};

struct window_log {
	struct window_message *kept; /* seq is at seq % WINDOW_KEPT */
	uint32_t nkept, next;	     /* next: the seq of the next message */
	bool on;
	node_id node; /* FAB_NONE: all */
	unsigned method;
	uint32_t attribute; /* UINT32_MAX: all */
	unsigned limit, lines;
	uint64_t left_out;
	struct window_out out;
};

/* ---- the series ---- */

enum window_value {
	WINDOW_SMPS_SENT, /* in the interval, as all up to WINDOW_LOST_LAST */
	WINDOW_DELIVERED,
	WINDOW_LOST, /* and one for each reason that the simulator knows */
	WINDOW_LOST_FIRST,
	WINDOW_LOST_LAST = WINDOW_LOST_FIRST + SIM_NDISCARDS - 1,
	WINDOW_CONNECTIVITY, /* at its end; per cent of the pairs */
	WINDOW_IN_FLIGHT,
	WINDOW_NVALUES
};

struct window_sample {
	time_ps at;
	float value[WINDOW_NVALUES];
};

struct window_series {
	uint64_t counted[WINDOW_NVALUES]; /* at the last sample */
	struct window_sample *kept;
	uint32_t nkept, first; /* kept is a ring */
	uint32_t unshown;      /* of the newest: not sent yet */
	struct lab_scan *scan;
	struct lab_levels levels;
	bool changed;	    /* a device changed since the last scan */
	uint64_t scan_from; /* number of events from which the next scan may be made */
	uint64_t waited;    /* samples since a device changed */
};

/* ---- managers over time ---- */

enum { WINDOW_PAUSED_MANAGER = 1, WINDOW_STOPPED_MANAGER = 2 };

struct window_lane {
	uint8_t state, phase, flags; /* as in STATE */
};

struct window_lane_step {
	time_ps at; /* from then on */
	uint8_t manager;
	struct window_lane lane;
};

struct window_lanes {
	VEC(struct window_lane_step) steps; /* by time; the oldest ones are dropped */
	struct window_lane last[SCHEDULE_MANAGERS];
	uint32_t known; /* bits by manager: last is set */
};

/* ---- the run ---- */

enum window_mode {
	WINDOW_PAUSED,
	WINDOW_RUNNING,
	WINDOW_STEP_EVENT,
	WINDOW_STEP_SMP,
	WINDOW_STEP_PHASE,
	WINDOW_GOING, /* to a time, without frames */
};

struct window_run {
	struct schedule schedule; /* its events: the journal */
	struct schedule_play *play;
	struct schedule_story story;
	struct lab *lab;
	struct sim *sim;
	enum window_mode mode;
	double speed; /* simulated picoseconds for each microsecond of real time; < 0: as fast as possible */
	double credit;			    /* of these, not used yet */
	time_ps target;			    /* WINDOW_GOING */
	bool goes_on;			    /* it does not pause there */
	VEC(struct schedule_event) to_come; /* by time */
	size_t next;			    /* of these */
	uint64_t smps, phases;		    /* seen so far, for steps */
	time_ps shown;			    /* time of the last STATE frame */
	time_ps from, *busy; /* by port: since when, and for how long a link was busy */
	struct window_flights flights[2]; /* SMPs, data packets */
	struct window_log log;
	struct window_series series;
	struct window_lanes lanes;
	uint64_t packets;      /* data packets that began to cross a link */
	uint32_t other_engine; /* bits by manager: FERa routes where its engine cannot */
};

struct window {
	void (*emit)(void *ctx, const uint8_t *frame, size_t len);
	void *ctx;
	struct window_fabric fabric;
	struct schedule next;	/* for the next start */
	struct window_run *run; /* NULL: not started */
	unsigned runs;		/* how many were made */
	double speed;		/* as in struct window_run */
	struct window_log
		filter; /* only on, node, method, attribute and limit: for the next start */
	bool show;	/* a STATE frame follows the reply */
};

/* ---- commands (window.c has the table) ---- */

/* Adds members to the reply, or -EINVAL with e filled. */
typedef int window_handler(struct window *w, json_t *args, struct json *reply, struct err *e);

window_handler window_cmd_open, window_cmd_generate, window_cmd_netlist; /* window_fabric.c */
window_handler window_cmd_setup;					 /* window_setup.c */
window_handler window_cmd_start, window_cmd_speed, window_cmd_step;	 /* window_commands.c */
window_handler window_cmd_go;
window_handler window_cmd_event, window_cmd_journal, window_cmd_script; /* window_journal.c */
window_handler window_cmd_log, window_cmd_mad;				/* window_log.c */
window_handler window_cmd_node, window_cmd_find;			/* window_look.c */
window_handler window_cmd_route, window_cmd_tree, window_cmd_users,
	window_cmd_loads;	   /* window_routes.c */
window_handler window_cmd_whatif;  /* window_whatif.c */
window_handler window_cmd_quality; /* window_quality.c */
window_handler window_cmd_series;  /* window_series.c */

/* ---- arguments (window_args.c): 0, or -EINVAL with e filled ---- */

int window_arg_text(json_t *args, const char *key, const char **text, struct err *e);
/* A number, or digits in a string. */
int window_arg_u64(json_t *args, const char *key, uint64_t max, uint64_t *v, struct err *e);
/* By index in the FABRIC frame, GUID, id or name. */
int window_arg_node(struct window *w, json_t *args, const char *key, node_id *n, struct err *e);
/* {"node": ..., "port": n} */
int window_arg_port(struct window *w, json_t *args, const char *key, port_id *p, struct err *e);
bool window_arg_has(json_t *args, const char *key);	   /* it is there, and not null */
bool window_run_on(const struct window *w, struct err *e); /* false: there is none, e says so */

/* ---- the fabric (window_fabric.c) ---- */

/* Engines that a manager with the usual mechanism can use for its final routes. */
void window_engines_write(struct json *reply);

/* ---- links (window_links.c) ---- */

void window_fabric_free(struct window *w);
void window_links_number(struct window *w); /* of a new fabric */
/* Nodes that a run adds; NULL: none. Links have the numbers of the fabric as it was opened. Takes f. */
void window_fabric_extend(struct window *w, struct fab *f);
/* Cables that are now where the fabric has none become links. True: there are new ones. */
bool window_links_follow(struct window *w);

/* ---- LIDs (window_routes.c) ---- */

port_id window_lid_port(const struct window *w, node_id n);
/* The port at the other end of an Active link; FAB_NONE: no data packet passes. */
port_id window_active_peer(const struct window *w, port_id p);
node_id window_node_of_lid(const struct window *w, uint16_t lid); /* FAB_NONE: no port has it now */

/* ---- frames ---- */

void window_frame_begin(struct window_out *o, enum window_frame kind);
void window_put_u8(struct window_out *o, unsigned v);
void window_put_u16(struct window_out *o, unsigned v);
void window_put_u32(struct window_out *o, uint32_t v);
void window_put_u64(struct window_out *o, uint64_t v);
void window_put_f32(struct window_out *o, float v);
void window_put_bytes(struct window_out *o, const void *bytes, size_t n);
void window_put_align(struct window_out *o);			/* to 4 */
void window_frame_emit(struct window *w, struct window_out *o); /* and frees it */
void window_emit_json(struct window *w, struct json *j);	/* and frees it */
void window_emit_fabric(struct window *w);
void window_emit_state(struct window *w);
/* Loads of links are counted from the last STATE frame on, if time has passed since. */
void window_busy_begin(struct window *w);

/* ---- the run (window_run.c) ---- */

/* Replaces the run there is; s: its setup, whose events are left out. */
int window_run_new(struct window *w, const struct schedule *s, struct err *e);
void window_run_free(struct window *w);
void window_run_event(struct window *w, struct schedule_event *ev); /* now; takes ev->nodes */
void window_run_pause(struct window *w, const char *why);	    /* and says so */
void window_emit_slice(struct window *w); /* STATE, and what there is besides */
void window_to_come_free(struct window_run *r);
/* All events of this very time. What follows a fault within its picosecond has no place in a schedule: then the run
 * goes on to the next one. */
void window_run_finish_moment(struct window *w);

/* ---- the journal (window_journal.c) ---- */

/* A new run on the setup of the next start, whose faults these are; NULL: none. */
int window_journal_start(struct window *w, json_t *events, struct err *e);
void window_journal_write(const struct window *w, struct json *reply); /* and how it runs */

/* ---- what is seen (window_flights.c, window_log.c, window_lanes.c, window_series.c) ---- */

void window_flights_begin(struct window *w);
void window_flights_add(struct window_flights *f, const struct window_flight *x);
void window_flights_emit(struct window *w, struct window_flights *f, enum window_frame kind);
void window_flights_free(struct window_run *r);

void window_log_default(struct window_log *g);
void window_log_begin(struct window *w);
void window_log_filter(struct window *w);			    /* as the last command said */
uint32_t window_log_hop(struct window *w, const struct sim_hop *h); /* its seq */
void window_log_fault(struct window *w, const struct schedule_event *ev);
void window_log_note(struct window *w, unsigned manager, const struct sm_note *note);
void window_log_emit(struct window *w);
void window_log_free(struct window_log *g);

struct window_lane window_manager_lane(const struct window_run *r, unsigned manager);
void window_lanes_look(struct window_run *r);
void window_lanes_write(struct window_run *r, struct json *reply);

void window_series_names(struct json *reply); /* and names of phases */
void window_series_begin(struct window_run *r);
void window_series_emit(struct window *w);
void window_series_free(struct window_run *r);

#endif
