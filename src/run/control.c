/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `weft ctl` asks, answered. State: none. Way in: run_control_answer(). Changes nothing itself:
 * orders go through struct run_orders.
 */
#include "run/run.h"

void run_control_answer(const struct run_view *v UNUSED, const struct run_orders *o UNUSED,
			const char *line UNUSED, struct strbuf *out)
{
	strbuf_add(out, "{\"ok\":false,\"error\":\"unknown command\"}");
}
