/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenMetrics text. State: none. Way in: run_metrics(). Does not serve it.
 */
#include "run/run.h"

void run_metrics(const struct run_view *v UNUSED, struct strbuf *out)
{
	strbuf_add(out, "# EOF\n");
}
