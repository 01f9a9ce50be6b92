/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft mad decode: a MAD or the data of one attribute, as hexadecimal text from any dump, as fields. Keeps
 * the bytes of one MAD; the way in is cmd_mad_decode. Does not judge the MAD and sends nothing.
 */
#include "cli/cli.h"
#include "iba/iba.h"

#include <ctype.h>
#include <strings.h>
#include <unistd.h>

/* An argument that names no file is taken for the bytes themselves when it can be nothing else. */
static bool arg_is_hex(const char *s)
{
	enum { NAME_TOO_LONG = 256 };

	if (!strcmp(s, "-") || !access(s, F_OK))
		return false;
	if (strlen(s) >= NAME_TOO_LONG)
		return true;
	for (; *s; s++)
		if (!isxdigit((unsigned char)*s) && !strchr(" \t\r\n,:;xX#|*", *s))
			return false;
	return true;
}

static const char *attribute; /* --attribute: the text is the data of this attribute */

/* The bytes of arg into mad: a whole MAD, or with --attribute the data of one. */
static int mad_load(const char *arg, uint8_t *mad, struct err *e)
{
	const char *name;

	bool is_stdin = !strcmp(arg, "-");
	bool is_text = arg_is_hex(arg);
	char *data = NULL;
	size_t len;
	int rc;

	if (is_text) {
		data = mem_strdup(arg);
		len = strlen(arg);
	} else {
		rc = file_read(arg, &data, &len, e);
		if (rc)
			return rc;
	}
	name = is_stdin ? "standard input" : is_text ? "argument" : arg;
	if (attribute)
		rc = iba_attr_from_text(iba_smp_data(mad), name, data, len, e);
	else
		rc = iba_mad_from_text(mad, name, data, len, e);
	free(data);
	return rc;
}

/* The attribute that --attribute names, or gives by number; -1 when there is none. */
static long attribute_id(void)
{
	char *end;
	unsigned long id = strtoul(attribute, &end, 0);

	if (isdigit((unsigned char)*attribute) && !*end && id <= UINT16_MAX)
		return (long)id;
	for (id = 0; id <= UINT16_MAX; id++)
		if (iba_layout_by_attr((uint16_t)id) &&
		    !strcasecmp(iba_attr_name((unsigned)id), attribute))
			return (long)id;
	return -1;
}

/* ---- JSON ---- */

static void json_digits(struct json *j, const char *key, uint64_t v, unsigned bits)
{
	char s[24];

	snprintf(s, sizeof(s), "0x%0*llx", (int)(bits + 3) / 4, (unsigned long long)v);
	json_str(j, key, s);
}

/* Codes and counts are numbers; what is read in hexadecimal is a string, since JSON's numbers are
 * decimal and many readers lose bits beyond the 53rd. */
static void json_value(struct json *j, const char *key, const struct iba_field *f, uint64_t v)
{
	if (f->format == IBA_FMT_HEX || f->format == IBA_FMT_GUID)
		json_digits(j, key, v, f->width);
	else
		json_u64(j, key, v);
}

/* Bytes as a string, none lost: also a NUL in the middle. */
static void json_text(struct json *j, const struct iba_field *f, const void *host)
{
	struct strbuf s = {0};
	unsigned n = f->count;

	while (n && !iba_field_value(f, host, n - 1))
		n--;
	strbuf_add(&s, "\"");
	for (unsigned i = 0; i < n; i++) {
		unsigned c = (unsigned)iba_field_value(f, host, i);

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			strbuf_addf(&s, "\\u%04x", c);
		else
			strbuf_addf(&s, "%c", c);
	}
	strbuf_add(&s, "\"");
	json_raw(j, f->name, s.s);
	strbuf_free(&s);
}

static void json_field(struct json *j, const struct iba_field *f, const void *host, bool words)
{
	uint64_t v = iba_field_value(f, host, 0);
	const char *word = words ? iba_format_word(f->format, v) : NULL;
	char key[48];

	if (f->format == IBA_FMT_TEXT) {
		json_text(j, f, host);
	} else if (f->count > 1) {
		json_open(j, f->name, '[');
		for (unsigned i = 0; i < f->count; i++)
			json_value(j, NULL, f, iba_field_value(f, host, i));
		json_close(j);
	} else {
		json_value(j, f->name, f, v);
		if (word && *word != '?') {
			snprintf(key, sizeof(key), "%s_name", f->name);
			json_str(j, key, word);
		}
	}
}

/* words: the codes are those of the subnet management class. */
static void json_fields(struct json *j, const struct iba_layout *l, const uint8_t *data, bool words)
{
	union {
#define MEMBER(stem, FIELDS, size, ...) struct iba_##stem stem;
		IBA_STRUCTS(MEMBER)
	} host;

	iba_layout_get(l, &host, data, l->wire_size);
	for (unsigned i = 0; i < l->nfields; i++)
		json_field(j, &l->fields[i], &host, words);
}

static void json_bytes(struct json *j, const char *key, const uint8_t *data, unsigned n)
{
	struct strbuf s = {0};

	for (unsigned i = 0; i < n; i++)
		strbuf_addf(&s, "%02x", data[i]);
	json_str(j, key, s.s);
	strbuf_free(&s);
}

static void json_path(struct json *j, const char *key, const uint8_t *path, unsigned hops)
{
	json_open(j, key, '[');
	for (unsigned i = 1; i <= MIN(hops, (unsigned)IBA_MAX_HOPS); i++)
		json_u64(j, NULL, path[i]);
	json_close(j);
}

static void json_smp(struct json *j, const uint8_t *mad)
{
	json_open(j, "smp", '{');
	json_fields(j, iba_layout_by_name("smp_hdr"), mad + IBA_SMP_HDR_OFF, true);
	if (iba_smp_is_dr(mad)) {
		json_bool(j, "returning", iba_smp_is_return(mad));
		json_u64(j, "hop_ptr", iba_smp_hop_ptr(mad));
		json_u64(j, "hop_cnt", iba_smp_hop_cnt(mad));
		json_path(j, "initial_path", mad + 128, iba_smp_hop_cnt(mad));
		json_path(j, "return_path", mad + 192, iba_smp_hop_cnt(mad));
	}
	json_close(j);
}

static void json_trap(struct json *j, const uint8_t *data)
{
	const struct iba_layout *l;
	struct iba_notice n;

	iba_notice_get(&n, data, IBA_SMP_DATA_SIZE);
	l = n.is_generic ? iba_layout_of_trap(n.trap_number) : NULL;
	if (!l)
		return;
	json_open(j, "trap", '{');
	json_str(j, "name", iba_trap_name(n.trap_number));
	json_open(j, "fields", '{');
	json_fields(j, l, n.details, true);
	json_close(j);
	json_close(j);
}

static void json_attribute(struct json *j, const uint8_t *mad)
{
	uint16_t id = iba_smp_attr_id(mad);
	const struct iba_layout *l = iba_layout_by_attr(id);
	const uint8_t *data = iba_smp_data_const(mad);

	json_open(j, "attribute", '{');
	if (l) {
		json_str(j, "name", iba_attr_name(id));
		json_open(j, "fields", '{');
		json_fields(j, l, data, true);
		json_close(j);
		if (id == IBA_ATTR_NOTICE)
			json_trap(j, data);
	} else {
		json_none(j, "name");
		json_bytes(j, "data", data, IBA_SMP_DATA_SIZE);
	}
	json_close(j);
}

static int print_attribute_json(const uint8_t *smp)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_attribute(&j, smp);
	json_close(&j);
	return cli_print_json(&j);
}

static int print_json(const uint8_t *mad)
{
	bool smp = mad[1] == IBA_CLASS_SUBN_LID || mad[1] == IBA_CLASS_SUBN_DR;
	struct strbuf summary = {0};
	struct json j = {0};

	iba_mad_summary(&summary, mad);
	json_open(&j, NULL, '{');
	json_str(&j, "summary", summary.s);
	strbuf_free(&summary);
	json_open(&j, "header", '{');
	json_fields(&j, iba_layout_by_name("mad_hdr"), mad, smp);
	json_close(&j);
	if (smp) {
		json_smp(&j, mad);
		json_attribute(&j, mad);
	} else {
		json_bytes(&j, "data", mad + IBA_SMP_HDR_OFF, IBA_MAD_SIZE - IBA_SMP_HDR_OFF);
	}
	json_close(&j);
	return cli_print_json(&j);
}

/* ---- the command ---- */

static int attribute_decode(const char *arg)
{
	uint8_t smp[IBA_MAD_SIZE];
	struct strbuf out = {0};
	long id = attribute_id();
	struct err e;

	if (id < 0)
		return cli_bad(
			"no attribute is called '%s'; expected a name such as PortInfo, or its number",
			attribute);
	iba_smp_init(smp, IBA_CLASS_SUBN_LID, IBA_GET_RESP, (uint16_t)id, 0);
	if (mad_load(arg, smp, &e))
		return cli_bad("%s", e.text);
	if (cli_json)
		return print_attribute_json(smp);
	iba_attr_print(&out, smp);
	return cli_write("-", &out);
}

static int mad_decode(char **args, unsigned nargs)
{
	const char *arg = nargs ? args[0] : "-";
	uint8_t mad[IBA_MAD_SIZE];
	struct strbuf out = {0};
	struct err e;

	if (attribute)
		return attribute_decode(arg);
	if (mad_load(arg, mad, &e))
		return cli_bad("%s", e.text);
	if (cli_json)
		return print_json(mad);
	iba_mad_summary(&out, mad);
	strbuf_add(&out, "\n");
	iba_mad_print(&out, mad);
	return cli_write("-", &out);
}

/* clang-format off */
static const struct cli_opt mad_opts[] = {
	{.name = "attribute", .letter = 'a', .type = CLI_STR, .dst = &attribute, .arg = "NAME",
	 .help = "the bytes are the data of this attribute (name or number), as smpdump prints it"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_mad_decode = {
	.name = "mad decode",
	.args = "[FILE|HEX|-]",
	.summary = "show the fields of a MAD given in hexadecimal",
	.about =
		"Takes the 256 bytes of a MAD as hexadecimal text from a file, from the argument\n"
		"itself, or from standard input, and prints its header, path and attribute. With\n"
		"--attribute it takes the data of one attribute, up to 64 bytes.\n"
		"\n"
		"Bytes may be separated by blanks, line ends, commas, colons and 0x; # starts a\n"
		"comment. Reads the dumps of hexdump -C, xxd, od -A x -t x1 and Wireshark as they\n"
		"are: it checks offsets and ignores the column of characters.",
	.examples = "weft mad decode smp.hex\n"
		    "xxd smp.bin | weft mad decode\n"
		    "smpdump -D 0 0x11 | weft mad decode --attribute NodeInfo\n"
		    "weft mad decode --json smp.hex | jq .attribute.fields.state_name\n",
	.opts = mad_opts,
	.min_args = 0,
	.max_args = 1,
	.run = mad_decode,
};
