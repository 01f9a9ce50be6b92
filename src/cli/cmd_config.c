/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft config from-opensm: OpenSM's files as a weft.yaml. State: none. Way in: the table of the command. What the files
 * mean: src/settings/from_opensm.c and src/policy.
 */
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/cmds.h"
#include "settings/from_opensm.h"

typedef int reader(struct pol *p, const char *file, const char *text, size_t len, struct err *e);

/* The file given on the command line is read into lists; one that OpenSM's configuration names is named again. */
static int policy_take(const char *given, const char *named, char *setting, size_t size,
		       reader *read, struct pol *p, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (!given) {
		if (*named && !access(named, F_OK))
			snprintf(setting, size, "%s", named);
		return 0;
	}
	rc = file_read(given, &text, &len, e);
	rc = rc ? rc : read(p, given, text, len, e);
	free(text);
	return rc;
}

static int convert(char **args, unsigned nargs, struct opensm_result *r, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	int rc = file_read(args[0], &text, &len, e);

	if (rc)
		return rc;
	rc = settings_from_opensm(args[0], text, len, r, e);
	free(text);
	rc = rc ? rc
		: policy_take(nargs > 1 ? args[1] : NULL, r->partitions, r->s.partitions_file,
			      sizeof(r->s.partitions_file), pol_read_partitions, r->p, e);
	return rc ? rc
		  : policy_take(nargs > 2 ? args[2] : NULL, r->s.sm.qos ? r->qos_policy : "",
				r->s.qos_policy_file, sizeof(r->s.qos_policy_file), pol_read_qos,
				r->p, e);
}

static bool has_keys(const struct settings *s)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if (setting_is_key(k, s))
			return true;
	return false;
}

static void yaml_make(const struct opensm_result *r, const char *file, struct strbuf *out)
{
	strbuf_addf(out, "# From %s. Settings that are not here have Weft's defaults.\n", file);
	if (has_keys(&r->s))
		strbuf_add(
			out,
			"# This file holds keys: weft sm accepts it only with mode 0600 or stricter.\n");
	settings_print_changed(&r->s, r->p, out);
}

static const char qos_setup_left[] =
	"qos-setup: it has no effect in OpenSM, either; see qos.classes";

static int json_write(const struct opensm_result *r, const char *qos_file, struct strbuf *yaml)
{
	struct json j = {0};
	int rc;

	json_open(&j, NULL, '{');
	json_str(&j, "config", yaml->s);
	json_open(&j, "no_equivalent", '[');
	for (size_t i = 0; i < r->left.n; i++)
		json_str(&j, NULL, r->left.at[i]);
	if (r->p->qos_setup) {
		struct strbuf text = {0};

		strbuf_addf(&text, "%s: %s", qos_file, qos_setup_left);
		json_str(&j, NULL, text.s);
		strbuf_free(&text);
	}
	json_close(&j);
	json_close(&j);
	strbuf_add(&j.out, "\n");
	rc = cli_write("-", &j.out);
	json_free(&j);
	return rc;
}

static int text_write(const struct opensm_result *r, const char *qos_file, struct strbuf *yaml)
{
	for (size_t i = 0; i < r->left.n; i++)
		fprintf(stderr, "no equivalent: %s\n", r->left.at[i]);
	if (r->p->qos_setup)
		fprintf(stderr, "no equivalent: %s: %s\n", qos_file, qos_setup_left);
	return cli_write("-", yaml);
}

static int config_run(char **args, unsigned nargs)
{
	struct opensm_result r = {0};
	struct strbuf out = {0};
	struct err e;
	int rc = convert(args, nargs, &r, &e) ? cli_bad("%s", e.text) : CLI_OK;

	if (!rc) {
		yaml_make(&r, args[0], &out);
		rc = (cli_json ? json_write : text_write)(&r, nargs > 2 ? args[2] : "", &out);
	}
	strbuf_free(&out);
	opensm_result_free(&r);
	return rc;
}

const struct cli_cmd cmd_config_from_opensm = {
	.name = "config from-opensm",
	.args = "OPENSM.CONF [PARTITIONS.CONF [QOS-POLICY.CONF]]",
	.summary = "write the weft.yaml that is equivalent to OpenSM's configuration",
	.about =
		"The configuration goes to standard output; keys of OpenSM without an equivalent go to standard error, each with "
		"file, line and reason. Keys at OpenSM's default stay at Weft's, unless OpenSM sets a value of devices "
		"that Weft leaves as it is. Partitions and the QoS policy become lists; without these arguments the files "
		"that OPENSM.CONF names are named in weft.yaml, if they exist.",
	.examples = "weft config from-opensm opensm.conf > weft.yaml",
	.min_args = 1,
	.max_args = 3,
	.run = config_run,
};
