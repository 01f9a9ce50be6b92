/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers with units, as users type them. Both functions return 0, -EINVAL for bad text or -ERANGE for a value
 * that is too large or too precise.
 */
#ifndef WEFT_UNITS_H
#define WEFT_UNITS_H

#include "base/base.h"

int parse_share(const char *s, double *v); /* "5%" or "0.05": 0 to 1 */
int parse_time(const char *s, time_ps *v); /* "10ms", "1.5s", "0" */

#endif
