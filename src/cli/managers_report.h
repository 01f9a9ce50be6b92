/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The managers of a laboratory at the end of a run.
 */
#ifndef WEFT_MANAGERS_REPORT_H
#define WEFT_MANAGERS_REPORT_H

#include "base/json.h"
#include "lab/lab.h"

void managers_text(const struct lab *l);		 /* a table; nothing for one manager */
void managers_json(struct json *j, const struct lab *l); /* .managers[] and .master */

#endif
