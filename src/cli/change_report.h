/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a change under load does to applications: text, JSON keys and a picture.
 */
#ifndef WEFT_CHANGE_REPORT_H
#define WEFT_CHANGE_REPORT_H

#include "base/json.h"
#include "lab/change_run.h"

struct sim_report;

/* The result must have had traffic. */
void change_report_text(const struct sim_report *rep);
void change_report_json(const struct sim_report *rep,
			struct json *j); /* keys of the object that is open */
void change_report_svg(const struct sim_report *r, const char *title, struct strbuf *out);

#endif
