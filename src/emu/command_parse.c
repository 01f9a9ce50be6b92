/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What commands share: nodes, ports and numbers as arguments, and refusals. Keeps no state. Ways
 * in: the con_*() functions. Does not know any command.
 */
#include "emu/console.h"

#include <strings.h>

int con_refuse(struct strbuf *out, const char *fmt, ...)
{
	va_list ap;
	char text[512];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_addf(out, "%s\n", text);
	return -EINVAL;
}

int con_parse_nothing(const struct emu *m UNUSED, const struct line *l UNUSED,
		      struct emu_op *op UNUSED, struct err *e UNUSED)
{
	return 0;
}

bool con_is_all(const struct line_word *w)
{
	return w->port < 0 && !strcasecmp(w->text, "all");
}

/* A node or a port; or nothing, where the command allows it, or "all". */
int con_parse_target(const struct emu *m, const struct line *l, struct emu_op *op, struct err *e)
{
	if (l->n < 2 || con_is_all(&l->at[1]))
		return 0;
	return names_target(m->fab, &l->at[1], NAMES_ANY, &op->a, e);
}

int con_number(const struct line_word *w, uint64_t max, const char *what, uint64_t *v,
	       struct err *e)
{
	if (w->port >= 0 || parse_u64(w->text, v) || *v > max)
		return err_set(e, -EINVAL, "expected %s up to %llu, found '%.40s'", what,
			       (unsigned long long)max, w->from);
	return 0;
}
