/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's files, inside the program: the content of ui/dist when it was built.
 */
#ifndef WEFT_STATIC_FILES_H
#define WEFT_STATIC_FILES_H

#include "web/request_head.h"

struct static_file {
	const char *path; /* "/app.js"; "/" for index.html */
	const char *type; /* Content-Type */
	const uint8_t *data, *end;
};

/* Ends with path NULL. Made from ui/dist by scripts/embed.py. */
extern const struct static_file static_files[];

/* NULL: there is none. */
const struct static_file *static_file_find(struct web_text path);

#endif
