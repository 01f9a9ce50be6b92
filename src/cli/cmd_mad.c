/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft mad decode: 256 bytes of hexadecimal text, however they were dumped, as fields. Keeps the
 * bytes of one MAD; the way in is cmd_mad_decode. Does not judge the MAD and sends nothing.
 */
#include "cli/cli.h"
#include "iba/iba.h"

#include <ctype.h>
#include <unistd.h>

/* ---- hexadecimal text ---- */

/* Each row of a dump may start with the place of its first byte. That is so when the text's first
 * word is 4 to 8 digits that end with a colon and a blank, or are all zero (no MAD has base version
 * 0). Then every row must continue where the one before it ended, or follow a '*' row, which stands
 * for repetitions of the row before it. Such rows hold at most ROW_MAX bytes: what comes after is
 * the dump's column of characters. */
enum { ROW_MAX = 16 };

struct hex_in {
	const char *name; /* for messages */
	const char *text, *end;
	const char *p;		/* next character */
	const char *line_start; /* of the line that p is in */
	unsigned line;
	uint8_t bytes[IBA_MAD_SIZE];
	size_t nbytes;		     /* found; may be more than were kept */
	uint8_t row[ROW_MAX];	     /* the last row, for '*' */
	unsigned row_len, row_bytes; /* bytes of the last full row and of this one */
	bool started, offsets, starred;
	uint64_t base; /* offset of the first row */
	struct err *e;
};

static int hex_fail(struct hex_in *in, const char *at, const char *what)
{
	unsigned col = (unsigned)(at - in->line_start) + 1;
	unsigned char c = at < in->end ? (unsigned char)*at : '\n';

	if (c == '\n' || c == '\r')
		return err_set(in->e, -EINVAL, "%s:%u:%u: expected %s, found the end of the line",
			       in->name, in->line, col, what);
	if (c < 0x20 || c >= 0x7f)
		return err_set(in->e, -EINVAL, "%s:%u:%u: expected %s, found byte 0x%02x", in->name,
			       in->line, col, what, c);
	return err_set(in->e, -EINVAL, "%s:%u:%u: expected %s, found '%c'", in->name, in->line, col,
		       what, c);
}

static bool is_blank(const struct hex_in *in, const char *p)
{
	return p >= in->end || *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n';
}

static unsigned hex_digits(const struct hex_in *in, const char *p)
{
	unsigned n = 0;

	while (p + n < in->end && isxdigit((unsigned char)p[n]))
		n++;
	return n;
}

static const char *skip_0x(const struct hex_in *in, const char *p)
{
	return in->end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? p + 2 : p;
}

static unsigned digit_value(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

static void hex_byte(struct hex_in *in, uint8_t v)
{
	if (in->nbytes < sizeof(in->bytes))
		in->bytes[in->nbytes] = v;
	in->nbytes++;
	if (in->row_bytes < ROW_MAX)
		in->row[in->row_bytes++] = v;
}

/* Whether the word at p, the first of its line, is an offset, and where it ends. */
static bool offset_at(const struct hex_in *in, const char *p, uint64_t *v, const char **after)
{
	const char *s = skip_0x(in, p);
	unsigned n = hex_digits(in, s);

	if (n < 4 || n > 8)
		return false;
	*v = 0;
	for (unsigned i = 0; i < n; i++)
		*v = *v << 4 | digit_value(s[i]);
	*after = s + n;
	if (s + n < in->end && s[n] == ':' && is_blank(in, s + n + 1)) {
		*after = s + n + 1;
		return true;
	}
	return is_blank(in, s + n) && (in->offsets || !*v);
}

/* The bytes that a '*' row stands for. */
static void repeat_rows(struct hex_in *in, uint64_t until)
{
	uint8_t row[ROW_MAX];
	unsigned n = in->row_len;

	memcpy(row, in->row, sizeof(row));
	while (n && in->base + in->nbytes + n <= until && in->nbytes <= sizeof(in->bytes))
		for (unsigned i = 0; i < n; i++)
			hex_byte(in, row[i]);
	memcpy(in->row, row, sizeof(row));
}

static int take_offset(struct hex_in *in)
{
	const char *after = NULL;
	uint64_t v;
	bool is = offset_at(in, in->p, &v, &after);

	if (!in->started) {
		in->offsets = is;
		in->base = is ? v : 0;
	}
	if (!in->offsets)
		return 0;
	if (!is)
		return hex_fail(in, in->p, "the row's offset, as on the rows before");
	if (in->starred)
		repeat_rows(in, v);
	in->starred = false;
	if (v != in->base + in->nbytes)
		return err_set(in->e, -EINVAL,
			       "%s:%u: expected offset 0x%llx after %zu bytes, found 0x%llx",
			       in->name, in->line, (unsigned long long)(in->base + in->nbytes),
			       in->nbytes, (unsigned long long)v);
	in->p = after;
	return 0;
}

/* A word of digits: whole bytes, or one digit for a byte below 16. */
static int take_word(struct hex_in *in)
{
	const char *s = skip_0x(in, in->p);
	unsigned n = hex_digits(in, s);

	if (!n)
		return hex_fail(in, s, "hexadecimal digits");
	if (n == 1) {
		hex_byte(in, (uint8_t)digit_value(*s));
	} else if (n % 2) {
		return err_set(in->e, -EINVAL,
			       "%s:%u:%u: expected two digits a byte, found a word of %u digits",
			       in->name, in->line, (unsigned)(in->p - in->line_start) + 1, n);
	} else {
		for (unsigned i = 0; i < n; i += 2)
			hex_byte(in, (uint8_t)(digit_value(s[i]) << 4 | digit_value(s[i + 1])));
	}
	in->p = s + n;
	return 0;
}

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ':' || c == ';';
}

static bool row_ended(const struct hex_in *in)
{
	if (in->p >= in->end || *in->p == '\n' || *in->p == '#')
		return true;
	return in->offsets && (*in->p == '|' || in->row_bytes >= ROW_MAX);
}

static int take_row(struct hex_in *in)
{
	int rc = take_offset(in);

	in->started = true;
	in->row_bytes = 0;
	while (!rc && !row_ended(in)) {
		if (is_separator(*in->p))
			in->p++;
		else
			rc = take_word(in);
	}
	if (in->row_bytes)
		in->row_len = in->row_bytes;
	return rc;
}

static int take_line(struct hex_in *in)
{
	int rc = 0;

	in->row_bytes = 0;
	while (in->p < in->end && is_separator(*in->p))
		in->p++;
	if (in->p < in->end && *in->p == '*' && in->offsets && is_blank(in, in->p + 1))
		in->starred = true;
	else if (!row_ended(in))
		rc = take_row(in);
	while (in->p < in->end && *in->p != '\n')
		in->p++;
	return rc;
}

static int hex_parse(struct hex_in *in)
{
	for (in->p = in->text; in->p < in->end; in->p++) {
		int rc;

		in->line++;
		in->line_start = in->p;
		rc = take_line(in);
		if (rc)
			return rc;
	}
	if (in->nbytes == IBA_MAD_SIZE)
		return 0;
	return err_set(in->e, -EINVAL, "%s: found %zu bytes; a MAD is %d", in->name, in->nbytes,
		       IBA_MAD_SIZE);
}

/* An argument that names no file is taken for the bytes themselves when it can be nothing else. */
static bool arg_is_hex(const char *s)
{
	enum { NAME_TOO_LONG = 256 };

	if (!strcmp(s, "-") || !access(s, F_OK))
		return false;
	if (strlen(s) >= NAME_TOO_LONG)
		return true;
	for (; *s; s++)
		if (!isxdigit((unsigned char)*s) && !is_separator(*s) && !strchr("xX#|*\n", *s))
			return false;
	return true;
}

static int mad_load(const char *arg, uint8_t *mad, struct err *e)
{
	bool is_stdin = !strcmp(arg, "-");
	bool is_text = arg_is_hex(arg);
	struct hex_in in = {.e = e};
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
	in.name = is_stdin ? "standard input" : is_text ? "argument" : arg;
	in.text = data;
	in.end = data + len;
	rc = hex_parse(&in);
	memcpy(mad, in.bytes, IBA_MAD_SIZE);
	free(data);
	return rc;
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
#define MEMBER(stem, FIELDS, size) struct iba_##stem stem;
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
		json_null(j, "name");
		json_bytes(j, "data", data, IBA_SMP_DATA_SIZE);
	}
	json_close(j);
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

static int mad_decode(char **args, unsigned nargs)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct strbuf out = {0};
	struct err e;

	if (mad_load(nargs ? args[0] : "-", mad, &e))
		return cli_bad("%s", e.text);
	if (cli_json)
		return print_json(mad);
	iba_mad_summary(&out, mad);
	strbuf_add(&out, "\n");
	iba_mad_print(&out, mad);
	return cli_write("-", &out);
}

static const struct cli_opt no_opts[] = {{0}};

const struct cli_cmd cmd_mad_decode = {
    .name = "mad decode",
    .args = "[FILE|HEX|-]",
    .summary = "show the fields of a MAD given in hexadecimal",
    .about = "Takes the 256 bytes of a MAD as hexadecimal text from a file, from the argument\n"
	     "itself, or from standard input, and prints its header, path and attribute.\n"
	     "\n"
	     "Blanks, line ends, commas, colons and 0x may stand between the bytes; # starts a\n"
	     "comment. The dumps of hexdump -C, xxd, od -A x -t x1 and Wireshark can be given\n"
	     "as they are: offsets are checked and the column of characters is left out.",
    .examples = "weft mad decode smp.hex\n"
		"xxd smp.bin | weft mad decode\n"
		"weft mad decode --json smp.hex | jq .attribute.fields.state_name\n",
    .opts = no_opts,
    .min_args = 0,
    .max_args = 1,
    .run = mad_decode,
};
