/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of transports. Keeps no state; the ways in are tp_find() and tp_open(). Carries nothing
 * itself.
 */
#include "transport/transport.h"

const struct tp_ops *const tp_all[] = {&tp_umad, &tp_ibsim, NULL};

const struct tp_ops *tp_find(const char *name)
{
	for (const struct tp_ops *const *o = tp_all; *o; o++)
		if (!strcmp((*o)->name, name))
			return *o;
	return NULL;
}

int tp_open(struct tp **t, const char *name, const struct tp_where *w, struct err *e)
{
	const struct tp_ops *o = tp_find(name);

	*t = NULL;
	if (!o)
		return err_set(e, -EINVAL, "there is no transport '%s'; there are umad and ibsim",
			       name);
	return o->open(t, w, e);
}

void tp_close(struct tp *t)
{
	if (t)
		t->ops->close(t);
}
