/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output that several weft topo commands share. Keeps no state. Way in: topo_*(). Does not write files.
 */
#include "cli/topo_output.h"
#include "cli/cli.h"

int topo_print_written(const struct fab *f, const char *path)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "file", path);
	json_u64(&j, "switches", f->nswitches);
	json_u64(&j, "hosts", f->nhosts);
	json_u64(&j, "links", f->nlinks);
	json_close(&j);
	return cli_print_json(&j);
}

void topo_warning_text(const struct fab_warning *w, struct strbuf *b)
{
	b->len = 0;
	if (w->line)
		strbuf_addf(b, "line %u: ", w->line);
	strbuf_add(b, w->text);
}
