/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs of subnet administration as text.
 */
#include "unit_test.h"

#include "base/rng.h"
#include "iba/rmpp.h"
#include "iba/sa_wire.h"

static char *printed(const uint8_t *mad)
{
	static char text[16384];
	struct strbuf b = {0};

	iba_mad_print(&b, mad);
	snprintf(text, sizeof(text), "%s", b.s);
	strbuf_free(&b);
	return text;
}

static void expect_summary(const uint8_t *mad, const char *text)
{
	struct strbuf b = {0};

	iba_mad_summary(&b, mad);
	assert_string_equal(b.s, text);
	strbuf_free(&b);
}

static void sa_mad(uint8_t *mad, unsigned method, uint16_t attr, uint64_t mask)
{
	struct iba_sa_hdr h = {.mask = mask};

	iba_smp_init(mad, IBA_CLASS_SUBN_ADM, (enum iba_method)method, attr, 0);
	iba_smp_set_tid(mad, 5);
	iba_sa_hdr_put(&h, mad);
}

TEST(prints_a_query_with_its_components)
{
	struct iba_sa_path p = {.dgid = {0xfe, 0x80, [15] = 9},
				.slid = 4,
				.num_paths = 1,
				.rate = 7,
				.mtu = 4,
				.rate_selector = 2};
	uint8_t mad[IBA_MAD_SIZE];
	const char *text;

	sa_mad(mad, IBA_GET, IBA_SA_PATH,
	       IBA_SA_BIT(path, dgid) | IBA_SA_BIT(path, slid) | IBA_SA_BIT(path, num_paths));
	iba_sa_path_put(&p, mad + IBA_SA_DATA_OFF);
	expect_summary(mad, "SubnAdmGet(PathRecord) mod 0 tid 0x5");
	text = printed(mad);
	assert_non_null(strstr(text, "0x0000000000001024 dgid slid num_paths\n"));
	assert_non_null(strstr(text, "  dgid                    fe80:0:0:0:0:0:0:9\n"));
	assert_non_null(strstr(text, "  rate                    7 (40 Gb/s)\n"));
	assert_non_null(strstr(text, "  rate_selector           2 (exactly)\n"));
	assert_null(strstr(text, "RMPP"));
}

TEST(prints_the_first_records_of_a_table)
{
	struct iba_sa_link l = {.from_lid = 3, .from_port = 1, .to_lid = 8, .to_port = 9};
	struct iba_sa_hdr h = {.offset = 1};
	uint8_t mad[IBA_MAD_SIZE], segment[IBA_MAD_SIZE];
	struct iba_rmpp_out o;
	const char *text;

	sa_mad(mad, IBA_SA_GET_TABLE_RESP, IBA_SA_LINK, 0);
	iba_sa_hdr_put(&h, mad);
	mad[26] = IBA_RMPP_ACTIVE;
	iba_sa_link_put(&l, mad + IBA_SA_DATA_OFF);
	l.to_lid = 77;
	iba_sa_link_put(&l, mad + IBA_SA_DATA_OFF + 8);
	iba_rmpp_out_begin(&o, mad, IBA_SA_DATA_OFF + 16);
	iba_rmpp_out_next(&o, segment);
	expect_summary(segment, "SubnAdmGetTableResp(LinkRecord) mod 0 tid 0x5");
	text = printed(segment);
	assert_non_null(strstr(text, "  type                    1 (DATA)\n"));
	assert_non_null(strstr(text, "  flags                   7 (active, first, last)\n"));
	assert_non_null(strstr(text, "  payload_length          36\n"));
	assert_non_null(strstr(text, "  to_lid                  8\n"));
	assert_non_null(strstr(text, "  to_lid                  77\n"));
}

TEST(prints_names_without_control_characters)
{
	struct iba_sa_service s = {.name = "a\033[1mb", .lease = 30};
	uint8_t mad[IBA_MAD_SIZE];

	sa_mad(mad, IBA_SET, IBA_SA_SERVICE, 0);
	iba_sa_service_put(&s, mad + IBA_SA_DATA_OFF);
	assert_non_null(strstr(printed(mad), "  name                    a?[1mb\n"));
}

TEST(any_bytes_are_printed)
{
	uint8_t mad[IBA_MAD_SIZE];
	struct rng rng;

	rng_seed(&rng, 3, 0);
	for (unsigned round = 0; round < 3000; round++) {
		for (unsigned i = 0; i < IBA_MAD_SIZE; i++)
			mad[i] = (uint8_t)rng_u64(&rng);
		mad[1] = IBA_CLASS_SUBN_ADM;
		mad[16] = 0;
		mad[44] = 0;
		assert_non_null(strstr(printed(mad), "SA header\n"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_a_query_with_its_components),
		cmocka_unit_test(prints_the_first_records_of_a_table),
		cmocka_unit_test(prints_names_without_control_characters),
		cmocka_unit_test(any_bytes_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
