/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What layout_free.c has in files of its own.
 */
#ifndef WEFT_DRAW_LAYOUT_FREE_PRIV_H
#define WEFT_DRAW_LAYOUT_FREE_PRIV_H

#include "draw/layout_priv.h"

/* Moves switches until the circles around them and their hosts do not touch. */
void lay_push_apart(struct lay_part *p);

#endif
