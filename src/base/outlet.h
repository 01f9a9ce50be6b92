/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text to a descriptor that somebody else may not read: a pipe that is full, a terminal that was stopped.
 * Nobody waits for them. A text goes out whole, or is kept until there is room, or is refused: which of
 * the last two, the caller says. What was refused is the caller's to count and to tell.
 *
 * Others may share the descriptor (a shell its terminal), so it never becomes non-blocking itself: a
 * description of our own is opened where that can be had. Files are written as ever.
 */
#ifndef WEFT_OUTLET_H
#define WEFT_OUTLET_H

#include "base/base.h"

struct outlet {
	int fd;	  /* -1: nowhere, and all is well */
	bool own; /* opened here */
	bool socket;
	bool unsure;	    /* a write may block: ask first, and write little */
	struct strbuf rest; /* what waits for room; begins within a text */
	size_t sent;	    /* so much of it is out */
};

void outlet_open(struct outlet *o, int fd); /* fd stays the caller's, and stays open as long */
void outlet_close(struct outlet *o);	    /* what waits is lost, unless there is room right now */

/* False: there is no room, and nothing of it was taken. */
bool outlet_put(struct outlet *o, const char *text, size_t len);
/* The same, but kept where there is no room, up to limit bytes. */
bool outlet_keep(struct outlet *o, const char *text, size_t len, size_t limit);
/* Is everything out? Tries. */
bool outlet_flush(struct outlet *o);

#endif
