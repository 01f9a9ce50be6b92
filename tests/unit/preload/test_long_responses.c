/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long responses of libweft-umad: one end segments, the other reassembles, also when segments and acknowledgements
 * are lost. A list stands in for the wire; the test sets the time.
 */
#include "unit_test.h"

#include "base/vec.h"
#include "preload/preload.h"

struct umad_port the_port;

static VEC(struct ibsim_packet) wire;
static unsigned draw, lose_percent;
static uint64_t clock_ms;

uint64_t preload_ms(void)
{
	return clock_ms;
}

/* Both ends are LID 7: what is sent comes from there, too. */
void server_send(struct umad_port *p UNUSED, const struct ib_user_mad_hdr *to, unsigned qpn UNUSED,
		 const uint8_t mad[IBA_MAD_SIZE])
{
	struct ibsim_packet out = {.slid = to->lid, .dlid = to->lid, .sqp = to->qpn};

	memcpy(out.mad, mad, IBA_MAD_SIZE);
	draw = draw * 1103515245 + 12345;
	if ((draw >> 16) % 100 >= lose_percent)
		vec_push(&wire, out);
}

static uint8_t *response(unsigned class, size_t len)
{
	uint8_t *mad = mem_zalloc(len);

	for (size_t i = 56; i < len; i++)
		mad[i] = (uint8_t)(i * 7 + i / 256);
	mad[0] = 1;
	mad[1] = (uint8_t) class;
	mad[2] = 2;
	mad[3] = 0x92;
	mad[15] = 99;
	mad[24] = 1;
	mad[26] = 1;
	return mad;
}

struct end {
	struct iba_rmpp_in in;
	unsigned done, acks;
};

static void carry(struct end *e)
{
	while (wire.n) {
		struct ibsim_packet p = wire.at[0];

		memmove(wire.at, wire.at + 1, --wire.n * sizeof(*wire.at));
		if (iba_rmpp_type(p.mad) != IBA_RMPP_DATA) {
			e->acks++;
			assert_int_equal(p.mad[3], 0x12);
			long_control(&p);
		} else if (long_take(&e->in, 0, &p)) {
			e->done++;
		}
	}
}

/* As often as time-outs allow. */
static void transfer(struct end *e, unsigned class, size_t len)
{
	struct ib_user_mad_hdr to = {.lid = 7, .qpn = 1};
	uint8_t *mad = response(class, len);
	size_t head = class == IBA_CLASS_SUBN_ADM ? 56 : 40;

	*e = (struct end){0};
	long_send(0, &to, mad, len);
	for (unsigned i = 0;
	     i < 200 && long_late(clock_ms) != UINT64_MAX && !(e->done && !lose_percent); i++) {
		carry(e);
		clock_ms += 501;
	}
	assert_true(e->done >= 1);
	assert_int_equal(e->in.len, len);
	assert_memory_equal(e->in.data + head, mad + head, len - head);
	assert_memory_equal(e->in.data, mad, 24);
	free(mad);
	iba_rmpp_in_free(&e->in);
}

static void settle(void)
{
	for (unsigned i = 0; i < 10; i++) {
		clock_ms += 1000;
		long_late(clock_ms);
		wire.n = 0;
	}
	assert_int_equal(long_late(clock_ms), UINT64_MAX);
	lose_percent = 0;
}

TEST(payload_lengths_are_kept)
{
	static const size_t lens[] = {57,  255,	 256,		257,	       456,   457,
				      656, 5000, 56 + 64 * 200, 57 + 64 * 200, 300000};
	struct end e;

	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		transfer(&e, IBA_CLASS_SUBN_ADM, lens[i]);
		assert_int_equal(e.done, 1);
		settle();
		transfer(&e, 0x32, lens[i]);
		settle();
	}
}

TEST(one_acknowledgement_for_each_window)
{
	struct end e;

	transfer(&e, IBA_CLASS_SUBN_ADM,
		 56 + 200 * 200); /* 200 segments: after 1, 65, 129, 193 and the last */
	assert_int_equal(e.acks, 5);
	settle();
}

TEST(lost_segments_are_sent_again)
{
	struct end e;

	for (unsigned i = 0; i < 200; i++) {
		draw = i;
		lose_percent = 5;
		transfer(&e, IBA_CLASS_SUBN_ADM, 20000);
		settle();
	}
}

TEST(a_transfer_without_a_receiver_ends)
{
	struct ib_user_mad_hdr to = {.lid = 7, .qpn = 1};
	uint8_t *mad = response(IBA_CLASS_SUBN_ADM, 5000);

	long_send(0, &to, mad, 5000);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(wire.n, i + 1); /* the first segment, again and again */
		assert_true(long_late(clock_ms += 501) != UINT64_MAX);
	}
	assert_int_equal(long_late(clock_ms += 501), UINT64_MAX);
	wire.n = 0;
	free(mad);
}

/* Segments in any order and with any flags: only complete transfers are delivered. */
TEST(random_segments_do_no_harm)
{
	struct end e = {0};
	unsigned x = 1;

	for (unsigned i = 0; i < 20000; i++) {
		struct ibsim_packet p = {.slid = 7};

		p.mad[1] = IBA_CLASS_SUBN_ADM;
		p.mad[3] = 0x92;
		for (unsigned b = 24; b < 36; b++)
			p.mad[b] = (uint8_t)((x = x * 1103515245 + 12345) >> 16 & 3);
		p.mad[28] = p.mad[29] = p.mad[30] = 0;
		p.mad[25] &= 1;
		if (iba_rmpp_type(p.mad) != IBA_RMPP_DATA)
			long_control(&p);
		else if (long_take(&e.in, 0, &p)) {
			assert_true(e.in.len >= 36);
			iba_rmpp_in_free(&e.in);
		}
		wire.n = 0;
	}
	iba_rmpp_in_free(&e.in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payload_lengths_are_kept),
		cmocka_unit_test(one_acknowledgement_for_each_window),
		cmocka_unit_test(lost_segments_are_sent_again),
		cmocka_unit_test(a_transfer_without_a_receiver_ends),
		cmocka_unit_test(random_segments_do_no_harm),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	vec_free(&wire);
	return rc;
}
