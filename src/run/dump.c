/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet in OpenSM's file formats. State: none. Way in: run_dump(). Reads nothing back.
 */
#include "run/run.h"

int run_dump(const struct run_view *v UNUSED, const char *directory UNUSED, struct err *e UNUSED)
{
	return 0;
}
