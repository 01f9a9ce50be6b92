/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions of `weft top` to a manager: at once, or on a thread of their own. */
#ifndef WEFT_TOP_ASK_H
#define WEFT_TOP_ASK_H

#include "cli/top_screen.h"

/* Everything that the view shows. False: the manager does not answer, d->why says why. */
bool top_ask(const char *path, const struct top_view *v, struct top_data *d);
void top_data_free(struct top_data *d);

/*
 * The same on a thread: *fd becomes readable when it is done, then top_asking_end() gives the data. NULL: there are no more file descriptors.
 * path must stay. A question that is never ended lives as long as the process.
 */
struct top_asking *top_asking_begin(const char *path, const struct top_view *v, int *fd);
bool top_asking_end(struct top_asking *a, struct top_data *d);

#endif
