/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scripts, for tests and fuzzers: reading one is checking it.
 */
#ifndef WEFT_EMU_SCRIPT_H
#define WEFT_EMU_SCRIPT_H

#include "emu/emu_priv.h"

/* text is cut at its newlines. 0 with *out made, to be put into m->script; or -EINVAL with
 * "NAME:LINE: what was expected" in e. */
int script_read(struct script **out, const struct emu *m, const char *name, char *text,
		struct err *e);

#endif
