/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft mad decode: the same MAD in each kind of dump, and errors in the text. State: the last output of
 * the command, caught by stand-ins for the command-line core. Reads no files.
 * Covers: cmd_mad.c, hex.c
 */
#include "unit_test.h"

#include "cli/cli.h"
#include "cli/cmds.h"
#include "iba/iba.h"

bool cli_json;
static char said[600];
static struct strbuf printed;

int cli_bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	return CLI_BAD;
}

int cli_write(const char *path UNUSED, struct strbuf *text)
{
	strbuf_free(&printed);
	printed = *text;
	*text = (struct strbuf){0};
	return CLI_OK;
}

int cli_print_json(struct json *j)
{
	return cli_write("-", &j->out);
}

static int decode(const char *text)
{
	char *args[] = {(char *)text};

	return cmd_mad_decode.run(args, 1);
}

static void example(uint8_t mad[IBA_MAD_SIZE])
{
	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_tid(mad, 0x1f2e3d);
	iba_smp_set_hop_cnt(mad, 2);
	iba_smp_data(mad)[20] = 0xa3; /* priority 10, master */
	mad[129] = 7;
	mad[130] = 9;
}

struct style {
	const char *start, *byte, *end; /* of each row; start may hold the offset's format */
	unsigned per_row;
	bool squeeze;
};

/* The MAD in one style; equal rows become one '*' when it squeezes. */
static void dump(struct strbuf *b, const uint8_t *mad, const struct style *s)
{
	bool starred = false;

	for (unsigned i = 0; i < IBA_MAD_SIZE; i += s->per_row) {
		if (s->squeeze && i && !memcmp(mad + i, mad + i - s->per_row, s->per_row)) {
			strbuf_add(b, starred ? "" : "*\n");
			starred = true;
			continue;
		}
		starred = false;
		if (*s->start)
			strbuf_addf(b, s->start, i);
		for (unsigned k = 0; k < s->per_row; k++)
			strbuf_addf(b, s->byte, mad[i + k]);
		strbuf_add(b, s->end);
	}
	if (s->squeeze)
		strbuf_addf(b, "%08x\n", IBA_MAD_SIZE);
}

TEST(every_kind_of_dump_gives_the_same_output)
{
	static const struct style styles[] = {
		{"", "%02x", "", 256, false},
		{"", " %x", " # one digit is a byte\n", 16, false},
		{"", "0x%02x, ", "\n", 8, false},
		{"", "%02X:", "\r\n", 32, false},
		{"%04x:", " %02x", "\n", 16, false},
		{"\t0x%04x: ", " %02x", "\n", 16, false},
		{"%04x ", " %02x", "   beef .. face\n", 16, false},
		{"%08x  ", "%02x ", " |0123456789abcdef|\n", 16, true},
	};
	uint8_t mad[IBA_MAD_SIZE];
	struct strbuf want = {0}, b = {0};

	example(mad);
	iba_mad_summary(&want, mad);
	strbuf_add(&want, "\n");
	iba_mad_print(&want, mad);
	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		dump(&b, mad, &styles[i]);
		said[0] = 0;
		decode(b.s);
		assert_string_equal(said, "");
		assert_string_equal(printed.s, want.s);
		strbuf_free(&b);
	}
	strbuf_free(&want);
}

static int decode_attribute(const char *name, const char *text)
{
	const char **attribute = cmd_mad_decode.opts[0].dst;
	int rc;

	*attribute = name;
	rc = decode(text);
	*attribute = NULL;
	return rc;
}

/* What smpdump prints: words of two bytes, which may be zero from the start, and the status. */
TEST(attribute_data_is_read_as_smpdump_prints_it)
{
	static const char text[] =
		"0000 0000 0000 0000 fe80 0000 0000 0000\n"
		"0007 0003 0770 884c 0000 0000 0103 0302\n"
		"7252 0047 5040 0040 4005 1040 0000 0000\n"
		"0000 0800 0888 0000 0000 0032 0003 0000\n"
		"SMP status: 0x8000\n"
		"# A comment makes the argument too long for the name of a file.\n"
		"# A comment makes the argument too long for the name of a file.\n";
	static const char *const names[] = {"PortInfo", "portinfo", "0x15", "21"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		said[0] = 0;
		assert_int_equal(decode_attribute(names[i], text), CLI_OK);
		assert_string_equal(said, "");
		assert_non_null(strstr(printed.s, "PortInfo\n"));
		assert_non_null(strstr(printed.s, "gid_prefix              0xfe80000000000000"));
		assert_non_null(strstr(printed.s, "lid                     7"));
	}
	assert_int_equal(decode_attribute("NodeDescription", "686f 7374"), CLI_OK);
	assert_non_null(strstr(printed.s, "\"host\""));
	cli_json = true;
	assert_int_equal(decode_attribute("NodeInfo", "0101 0204"), CLI_OK);
	assert_non_null(strstr(printed.s, "\"num_ports\""));
	cli_json = false;
}

TEST(unknown_attributes_are_reported)
{
	struct strbuf text = {0};

	assert_int_equal(decode_attribute("PortInfos", "00"), CLI_BAD);
	assert_string_equal(
		said,
		"no attribute is called 'PortInfos'; expected a name such as PortInfo, or its number");
	assert_int_equal(decode_attribute("PortInfo", ""), CLI_BAD);
	assert_string_equal(said, "argument: found 0 bytes, expected 1 to 64 of an attribute");
	for (unsigned i = 0; i < 65; i++)
		strbuf_add(&text, "01 ");
	assert_int_equal(decode_attribute("PortInfo", text.s), CLI_BAD);
	assert_string_equal(said, "argument: found 65 bytes, expected 1 to 64 of an attribute");
	strbuf_free(&text);
}

TEST(bad_text_is_reported_with_its_position)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "argument: found 0 bytes, expected the 256 of a MAD"},
		{"01 81 01", "argument: found 3 bytes, expected the 256 of a MAD"},
		{"01 81\n018",
		 "argument:2:1: expected two digits a byte, found a word of 3 digits"},
		{"01 81\n 0x", "argument:2:3: expected hexadecimal digits, found 'x'"},
		{"0000: 01 81\n0010: 00",
		 "argument:2: expected offset 0x2 after 2 bytes, found 0x10"},
		{"0000: 01\n01", "argument:2:1: expected the row's offset, as on the rows before, "
				 "found '0'"},
		{"no-such-file", "no-such-file: No such file or directory"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		said[0] = 0;
		assert_int_equal(decode(cases[i].text), CLI_BAD);
		assert_string_equal(said, cases[i].message);
	}
}

TEST(too_many_bytes_are_reported)
{
	struct strbuf b = {0};

	for (int i = 0; i < 257; i++)
		strbuf_add(&b, "00 ");
	assert_int_equal(decode(b.s), CLI_BAD);
	assert_string_equal(said, "argument: found 257 bytes, expected the 256 of a MAD");
	strbuf_free(&b);
}

TEST(json_names_the_attribute_and_its_fields)
{
	static const struct style plain = {"", "%02x", "", 256, false};
	uint8_t mad[IBA_MAD_SIZE];
	struct strbuf b = {0};

	example(mad);
	dump(&b, mad, &plain);
	cli_json = true;
	assert_int_equal(decode(b.s), CLI_OK);
	cli_json = false;
	assert_non_null(strstr(printed.s, "\"tid\": \"0x00000000001f2e3d\""));
	assert_non_null(strstr(printed.s, "\"initial_path\": [\n      7,\n      9\n    ]"));
	assert_non_null(strstr(printed.s, "\"name\": \"SMInfo\""));
	assert_non_null(strstr(printed.s, "\"priority\": 10,\n"));
	assert_non_null(strstr(printed.s, "\"state_name\": \"Master\"\n"));
	strbuf_free(&b);
}

static int forget(void **state UNUSED)
{
	strbuf_free(&printed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_dump_gives_the_same_output),
		cmocka_unit_test(attribute_data_is_read_as_smpdump_prints_it),
		cmocka_unit_test(unknown_attributes_are_reported),
		cmocka_unit_test(bad_text_is_reported_with_its_position),
		cmocka_unit_test(too_many_bytes_are_reported),
		cmocka_unit_test(json_names_the_attribute_and_its_fields),
	};

	return cmocka_run_group_tests_name("mad decode", tests, NULL, forget);
}
