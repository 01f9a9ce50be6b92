/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scripts, for tests and fuzzers: reading a script checks it.
 */
#ifndef WEFT_EMU_SCRIPT_H
#define WEFT_EMU_SCRIPT_H

#include "emu/emu_priv.h"

/* Splits text at its newlines. 0 with *out set, for m->script; or -EINVAL with "NAME:LINE:
 * reason" in e. */
int script_read(struct script **out, const struct emu *m, const char *name, char *text,
		struct err *e);

#endif
