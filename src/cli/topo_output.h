/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output that several weft topo commands share.
 */
#ifndef WEFT_TOPO_OUTPUT_H
#define WEFT_TOPO_OUTPUT_H

#include "fabric/fabric.h"

/* With --json, after a file was written: its name and the size of the fabric. Returns the exit status. */
int topo_print_written(const struct fab *f, const char *path);

/* "line 7: ..."; replaces what b holds. */
void topo_warning_text(const struct fab_warning *w, struct strbuf *b);

#endif
