/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that make metrics share. */
#ifndef WEFT_RUN_METRICS_PRIV_H
#define WEFT_RUN_METRICS_PRIV_H

#include "run/run.h"

/* metrics.c: names are without "weft_". unit may be NULL. */
void metrics_family(struct strbuf *out, const char *name, const char *type, const char *unit,
		    const char *help);
void metrics_gauge(struct strbuf *out, const char *name, const char *help, uint64_t v);
void metrics_counter(struct strbuf *out, const char *name, const char *help, uint64_t v);
void metrics_seconds(struct strbuf *out, time_ps t);
void metrics_label(struct strbuf *out, const char *s); /* a label's value, escaped */

/* metrics_perf.c: counters of ports */
void metrics_perf(struct strbuf *out, const struct run_view *v);

#endif
