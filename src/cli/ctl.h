/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pieces of `weft ctl`: finding a socket, and answers as text.
 */
#ifndef WEFT_CTL_H
#define WEFT_CTL_H

#include <jansson.h>

#include "cli/cli.h"

/* ctl_socket.c: the socket of a manager ("sm") or an emulator ("fabric"). CLI_OK, or CLI_BAD after a
 * message that names what was tried. */
int ctl_socket_find(const char *kind, const char *socket, const char *name, char *path,
		    size_t size);

/* ctl_show.c: one answer a function, on standard output */
typedef void ctl_show(const json_t *answer);
ctl_show ctl_show_status, ctl_show_topology, ctl_show_route, ctl_show_switches, ctl_show_ports,
	ctl_show_changes, ctl_show_smps, ctl_show_text, ctl_show_level, ctl_show_dump;

/* The answer's own text with line breaks, numbers as they came. */
void ctl_json_indent(const char *line, struct strbuf *out);

#endif
