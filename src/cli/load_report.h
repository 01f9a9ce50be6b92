/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run under load and a latency curve as text, as one JSON object and as a picture.
 */
#ifndef WEFT_LOAD_REPORT_H
#define WEFT_LOAD_REPORT_H

#include "base/json.h"
#include "lab/forwarding_scan.h"
#include "lab/saturation.h"
#include "lab/series.h"

enum { LOAD_DISCARDS_KEPT = 10000, LOAD_SAMPLES_MOST = 100000 };

struct load_discard {
	time_ps when;
	node_id node;
	enum sim_discard why;
	uint16_t slid, dlid;
	uint8_t port;
};

struct load_report {
	node_id sm_node; /* of the manager */
	const struct fab *fab;
	const struct lab *lab;
	struct lab_load_result r;
	char what[160];	   /* the traffic, in words */
	uint64_t interval; /* picoseconds between packets of a host; 0: a trace */
	uint64_t seed, up_events;
	double up_wall_s, wall_s;	   /* bring-up, traffic */
	struct lab_series series;	   /* empty unless asked for */
	VEC(struct load_discard) discards; /* the first of them, if asked for */
	bool nodes, links;		   /* show them: r.usage is filled */
	bool has_levels;		   /* at the end of the run */
	struct lab_levels levels;
};

void load_report_text(const struct load_report *r);
void load_series_text(const struct lab_series *s);		   /* nothing when it is empty */
void load_series_json(const struct lab_series *s, struct json *j); /* .series[], if there is one */
void load_report_json(const struct load_report *r, struct json *j);

void load_port_name(const struct fab *f, port_id p, char buf[48]); /* S-0002000000000001[3] */

/* load_usage.c: by host, switch and link, if asked for */
void load_usage_text(const struct load_report *r);
void load_usage_json(const struct load_report *r, struct json *j);

/* load_series.c: over time. CSV has a heading and a line a sample; the picture one panel above another. */
void load_series_text(const struct lab_series *s);
void load_series_json(const struct lab_series *s, struct json *j);
void load_series_csv(const struct lab_series *s, struct strbuf *out);
void load_series_svg(const struct lab_series *s, struct strbuf *out);
void load_series_node_csv(const struct fab *f, const struct lab_node_sample *x,
			  struct strbuf *out); /* x NULL: the heading */
void load_series_link_csv(const struct fab *f, const struct lab_link_sample *x, struct strbuf *out);

struct sat_report {
	const char *file;
	struct lab_saturation s;
	char what[160];
	uint32_t switches, hosts;
	uint64_t full; /* packets a second on a host's link */
	uint64_t seed;
	double wall_s;
};

void sat_report_text(const struct sat_report *r, unsigned n);
void sat_report_json(const struct sat_report *r, unsigned n,
		     struct json *j); /* one: an object; more: .fabrics[] */
void sat_report_svg(const struct sat_report *r, unsigned n, bool log_x, struct strbuf *out);

#endif
