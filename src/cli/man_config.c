/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft.yaml(5), the man page of the configuration, from the table of settings. State: none. Way in: cli_man_config(). man.c has
 * the other pages.
 */
#include "cli/cli_priv.h"
#include "settings/settings.h"

static void key(struct strbuf *b, const struct setting *k, const struct settings *defaults)
{
	struct strbuf s = {0}, value = {0};

	strbuf_add(b, ".TP\n.B ");
	cli_roff(b, k->key);
	setting_sentence(k, &s);
	strbuf_add(&s, "\nValue: ");
	setting_expects(k, &s);
	setting_text(k, defaults, &value);
	strbuf_addf(&s, ".\nDefault: %s.%s%s", value.len ? value.s : "none",
		    k->start ? "\nA change needs a restart." : "",
		    k->secret ? "\nOnly from a file that no other user may read." : "");
	cli_roff(b, s.s);
	strbuf_free(&value);
	strbuf_free(&s);
}

static void section(struct strbuf *b, const struct settings_section *s,
		    const struct settings *defaults)
{
	strbuf_addf(b, ".SS %s\n", s->name);
	cli_roff(b, s->help);
	for (const struct setting *k = settings_table; k->key; k++)
		if (!strcmp(k->section, s->name))
			key(b, k, defaults);
	for (const struct settings_list *l = settings_lists; l->key; l++)
		if (!strcmp(l->section, s->name)) {
			strbuf_addf(b, ".TP\n.B %s\n", l->key);
			cli_roff(b, l->help);
			strbuf_add(b, "A list: see docs/partitions.md.\n");
		}
}

void cli_man_config(struct strbuf *b, const struct cli_app *app)
{
	struct settings defaults;

	settings_default(&defaults);
	strbuf_addf(
		b,
		".\\\" SPDX-License-Identifier: BSD-2-Clause\n"
		".TH WEFT.YAML 5 \"\" \"weft %s\" \"File Formats\"\n.SH NAME\n"
		"weft.yaml \\- configuration of the subnet manager weft sm\n"
		".SH DESCRIPTION\n"
		"YAML with sections of keys. A key that is not there has its default. A fault is "
		"reported with its line and column, and then nothing of the file is used:\n.PP\n.nf\n"
		"weft sm \\-\\-config /etc/weft/weft.yaml \\-\\-check\\-config\n.fi\n.PP\n"
		"While the manager runs,\n.B weft ctl reload\nreads the file again. Times have a "
		"unit (10ms, 5s), sizes too (64MiB).\n.SH SETTINGS\n",
		app->version);
	for (const struct settings_section *s = settings_sections; s->name; s++)
		section(b, s, &defaults);
	strbuf_add(b, ".SH FILES\n.TP\n.I /etc/weft/weft.yaml\nof weft\\-sm.service\n.TP\n"
		      ".I /etc/weft/keys.yaml\nkeys, mode 0600 (keys.file)\n.SH SEE ALSO\n"
		      ".BR weft\\-sm (1),\n.BR weft\\-ctl (1)\n");
}
