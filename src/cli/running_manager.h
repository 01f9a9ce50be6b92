/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to a running manager by commands other than `weft ctl`.
 */
#ifndef WEFT_CLI_RUNNING_MANAGER_H
#define WEFT_CLI_RUNNING_MANAGER_H

#include <jansson.h>

#include "cli/cli.h"
#include "fabric/fabric.h"

struct running {
	const char *socket, *name; /* options of the command; NULL: the only manager */
	char path[108];		   /* filled by running_find() */
};

/* For the table of a command's options. */
#define RUNNING_OPTS(l)                                                                              \
	{.name = "socket",                                                                           \
	 .type = CLI_STR,                                                                            \
	 .dst = &(l).socket,                                                                         \
	 .arg = "PATH",                                                                              \
	 .help = "the manager's control socket; default: that of the only manager on this machine"}, \
	{                                                                                            \
		.name = "name", .letter = 'n', .type = CLI_STR, .dst = &(l).name, .arg = "NAME",     \
		.help = "the manager of this fabric; default $IBSIM_SOCKNAME"                        \
	}

/* CLI_OK, or CLI_BAD after a message. */
int running_find(struct running *l);
/* The answer, without a look at its `ok`; NULL after a message. question: a line of JSON. */
json_t *running_ask(const struct running *l, const char *question);
/* The same with one argument, quoted: {"cmd": CMD, KEY: VALUE}. */
json_t *running_ask_about(const struct running *l, const char *cmd, const char *key,
			  const char *value);
/* The subnet as the manager knows it; NULL after a message. */
struct fab *running_topology(const struct running *l);

#endif
