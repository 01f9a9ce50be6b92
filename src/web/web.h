/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window as a whole: a server on the loopback, until a signal ends it. No process is left behind.
 */
#ifndef WEFT_WEB_H
#define WEFT_WEB_H

#include "base/base.h"

struct web_config {
	unsigned port;	       /* 0: any free one */
	const char *file;      /* name of the fabric that new sessions open, or NULL */
	const char *netlist;   /* its text */
	const char *live;      /* name of the manager to show, or NULL */
	const char *live_path; /* its control socket */
	bool changes;	       /* pages may change what the manager does */
	bool browser;	       /* open it */
};

/* ready(): it serves at this address, which has the token in it. Returns after SIGINT, SIGTERM or SIGHUP: 0, or
 * -errno with e filled if it could not begin. */
int web_run(const struct web_config *config, void (*ready)(const char *url), struct err *e);

#endif
