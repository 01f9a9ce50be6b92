/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a file of the page. State: none. Way in: static_file_find(). The files are in a source that the build makes.
 */
#include "web/static_files.h"

const struct static_file *static_file_find(struct web_text path)
{
	for (const struct static_file *f = static_files; f->path; f++)
		if (web_text_is(path, f->path))
			return f;
	return NULL;
}
