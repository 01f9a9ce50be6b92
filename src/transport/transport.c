/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of transports, made from transport_list.h. State: none. Ways in: tp_find(), tp_open(),
 * tp_instance(). Sends nothing itself.
 */
#include "transport/transport.h"

const struct tp_transport tp_transports[] = {
#define TRANSPORT(name, reaches) {#name, reaches, &tp_##name},
#include "transport/transport_list.h"
#undef TRANSPORT
	{0},
};

const struct tp_ops *tp_find(const char *name)
{
	for (const struct tp_transport *t = tp_transports; t->name; t++)
		if (!strcmp(t->name, name))
			return t->ops;
	return NULL;
}

static int unknown(const char *name, struct err *e)
{
	struct strbuf names = {0};
	int rc;

	for (const struct tp_transport *t = tp_transports; t->name; t++)
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", t->name);
	rc = err_set(e, -EINVAL, "unknown transport '%s': expected one of %s", name, names.s);
	strbuf_free(&names);
	return rc;
}

int tp_open(struct tp **t, const char *name, const struct tp_where *w, struct err *e)
{
	const struct tp_ops *o = tp_find(name);
	int rc = err_set(e, -ENODEV,
			 "no InfiniBand device on this machine (/sys/class/infiniband has none); "
			 "an emulated fabric is used only on request: --transport ibsim, --server "
			 "NAME, or $IBSIM_SOCKNAME");

	*t = NULL;
	if (*name)
		return o ? o->open(t, w, e) : unknown(name, e);
	for (const struct tp_transport *x = tp_transports; x->name && rc == -ENODEV; x++)
		if (x->ops->is_present(w))
			rc = x->ops->open(t, w, e);
	return rc;
}

void tp_instance(const char *name, const struct tp_where *w, char *out, size_t size)
{
	const struct tp_ops *o = tp_find(name);

	for (const struct tp_transport *x = tp_transports; !o && x->name; x++)
		if (x->ops->is_present(w))
			o = x->ops;
	*out = 0;
	if (o)
		o->instance(w, out, size);
}

void tp_close(struct tp *t)
{
	if (t)
		t->ops->close(t);
}
