/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of hosts that options name.
 */
#ifndef WEFT_CLI_HOST_GROUPS_H
#define WEFT_CLI_HOST_GROUPS_H

#include "cli/cli.h"
#include "route/quality.h"

#define HOST_GROUPS_HELP                                                                           \
	"GUID, id or name of a host or of a switch for its hosts, a pattern such as 'node*', or "  \
	"@FILE, a list of GUIDs as OpenSM's cn_guid_file"

/* Of all hosts, in their order, those that a group names, into out. CLI_BAD after a message: a group without any, a
 * file that cannot be read. */
int host_groups_find(const struct fab *f, const char *option, const cli_strings *groups,
		     const rt_hosts *all, rt_hosts *out);

#endif
