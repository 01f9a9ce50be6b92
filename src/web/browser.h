/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the user's browser. Arguments of a process can be read by all users of a machine, so the address with the token
 * is not one: the browser gets a file that only this user can read, and that leads to the address.
 */
#ifndef WEFT_BROWSER_H
#define WEFT_BROWSER_H

#include <stdbool.h>

struct browser_page {
	char path[256]; /* of the file; empty: none */
};

/* False: there is no screen, or no file could be written. Does not wait for the browser. */
bool browser_open(struct browser_page *p, const char *url);
/* Writes the file alone. */
bool browser_page_write(struct browser_page *p, const char *url);
void browser_close(struct browser_page *p); /* removes the file */

#endif
