/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long messages in segments: what arrives is what was sent, also when MADs are lost, doubled or late; every fault that
 * IBA 13.6.2.1 names ends a transfer with the status it gives it; nothing that arrives does harm.
 */
#include "unit_test.h"

#include "base/rng.h"
#include "iba/rmpp.h"

enum { SA = IBA_CLASS_SUBN_ADM, VENDOR = 0x32, GET_TABLE_RESP = 0x92, GET_TABLE = 0x12 };
enum { STATUS = 27, LENGTH = 35, FLAGS = 26, SEGMENT = 31 }; /* low bytes of these fields */

static uint8_t *message(unsigned class, size_t len)
{
	uint8_t *mad = mem_zalloc(MAX(len, (size_t)IBA_MAD_SIZE));

	for (size_t i = 36; i < len; i++)
		mad[i] = (uint8_t)(i * 7 + i / 251);
	mad[0] = 1;
	mad[1] = (uint8_t) class;
	mad[3] = GET_TABLE_RESP;
	mad[15] = 99;
	mad[FLAGS] = IBA_RMPP_ACTIVE | 18 << 3;
	return mad;
}

/* ---- whole transfers ---- */

struct pair {
	struct iba_rmpp_out out;
	struct iba_rmpp_in in;
	struct rng rng;
	unsigned lose_percent; /* and as many are doubled */
	unsigned data, acks;
	bool received, sent;
};

static bool lost(struct pair *p)
{
	return rng_below(&p->rng, 100) < p->lose_percent;
}

/* One MAD to the receiver, and its answer to the sender. */
static void carry(struct pair *p, const uint8_t *mad)
{
	uint8_t reply[IBA_MAD_SIZE], end[IBA_MAD_SIZE];
	enum iba_rmpp_step s = iba_rmpp_in_take(&p->in, mad, reply);

	p->data++;
	assert_true(s == IBA_RMPP_NOTHING || s == IBA_RMPP_REPLY || s == IBA_RMPP_DONE);
	p->received |= s == IBA_RMPP_DONE;
	if (s == IBA_RMPP_NOTHING)
		return;
	assert_int_equal(reply[3], GET_TABLE);
	assert_int_equal(reply[FLAGS], (mad[FLAGS] & ~7) | IBA_RMPP_ACTIVE);
	p->acks++;
	if (lost(p) || p->sent)
		return;
	s = iba_rmpp_out_answer(&p->out, reply, end);
	assert_true(s == IBA_RMPP_NOTHING || s == IBA_RMPP_GO_ON || s == IBA_RMPP_DONE);
	p->sent |= s == IBA_RMPP_DONE;
}

static void run(struct pair *p)
{
	uint8_t mad[IBA_MAD_SIZE], reply[IBA_MAD_SIZE];

	for (unsigned rounds = 0; !p->sent && rounds < 100000; rounds++) {
		while (!p->sent && iba_rmpp_out_next(&p->out, mad)) {
			bool twice = lost(p);

			if (lost(p))
				continue;
			carry(p, mad);
			if (twice)
				carry(p, mad);
		}
		if (!p->sent && iba_rmpp_out_late(&p->out, reply) == IBA_RMPP_FAILED_TELL)
			return;
	}
}

static void check_transfer(unsigned class, size_t len, unsigned lose_percent, uint64_t seed)
{
	uint8_t *mad = message(class, len);
	struct pair p = {.lose_percent = lose_percent};
	size_t head = iba_rmpp_head(mad);

	rng_seed(&p.rng, seed, 0);
	iba_rmpp_out_begin(&p.out, mad, len);
	run(&p);
	assert_true(p.received || lose_percent > 20);
	if (p.received) {
		assert_int_equal(p.in.len, len);
		assert_memory_equal(p.in.data + head, mad + head, len - head);
		assert_memory_equal(p.in.data, mad, 24);
		assert_memory_equal(p.in.data + 36, mad + 36, head - 36);
	}
	iba_rmpp_in_free(&p.in);
	free(mad);
}

TEST(what_arrives_is_what_was_sent)
{
	static const size_t lens[] = {56,    57,  255,	256,	       257,	      456,
				      457,   656, 5000, 56 + 64 * 200, 57 + 64 * 200, 56 + 65 * 200,
				      300000};

	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		check_transfer(SA, lens[i], 0, 1);
		check_transfer(VENDOR, lens[i], 0, 1);
	}
}

TEST(lost_and_doubled_mads_change_nothing)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		check_transfer(SA, 56 + seed * 331, 3 + seed % 12, seed);
		check_transfer(VENDOR, 40 + seed * 177, 60, seed);
	}
}

TEST(one_acknowledgement_for_each_window)
{
	uint8_t *mad = message(SA, 56 + 200 * 200);
	struct pair p = {0};

	rng_seed(&p.rng, 1, 0);
	iba_rmpp_out_begin(&p.out, mad, 56 + 200 * 200);
	run(&p);
	assert_int_equal(p.data, 200);
	assert_int_equal(p.acks, 5); /* after 1, 65, 129, 193 and the last */
	iba_rmpp_in_free(&p.in);
	free(mad);
}

/* The lengths that IBA 13.6.2.1 wants: the headers of the class count in each segment. */
TEST(payload_length_counts_the_headers_of_each_segment)
{
	uint8_t *mad = message(SA, 56 + 450), first[IBA_MAD_SIZE], more[IBA_MAD_SIZE];
	struct iba_rmpp_out o;

	iba_rmpp_out_begin(&o, mad, 56 + 450);
	assert_int_equal(o.segments, 3);
	assert_true(iba_rmpp_out_next(&o, first));
	assert_false(iba_rmpp_out_next(&o, more)); /* the first window is one segment */
	assert_int_equal(first[LENGTH - 1] << 8 | first[LENGTH], 450 + 3 * 20);
	assert_int_equal(first[FLAGS] & 7, IBA_RMPP_ACTIVE | IBA_RMPP_FIRST);
	o.window = 3;
	assert_true(iba_rmpp_out_next(&o, more));
	assert_int_equal(more[LENGTH], 0);
	assert_true(iba_rmpp_out_next(&o, more));
	assert_int_equal(more[LENGTH], 50 + 20);
	assert_int_equal(more[FLAGS] & 7, IBA_RMPP_ACTIVE | IBA_RMPP_LAST);
	free(mad);
}

/* ---- faults ---- */

TEST(a_sender_without_answers_gives_up_and_says_so)
{
	uint8_t *mad = message(SA, 5000), out[IBA_MAD_SIZE];
	struct iba_rmpp_out o;

	iba_rmpp_out_begin(&o, mad, 5000);
	for (unsigned i = 0; i < IBA_RMPP_TRIES - 1; i++) {
		assert_true(iba_rmpp_out_next(&o, out));
		assert_int_equal(iba_rmpp_out_late(&o, out), IBA_RMPP_GO_ON);
	}
	assert_true(iba_rmpp_out_next(&o, out));
	assert_int_equal(iba_rmpp_out_late(&o, out), IBA_RMPP_FAILED_TELL);
	assert_int_equal(iba_rmpp_type(out), IBA_RMPP_ABORT);
	assert_int_equal(out[STATUS], IBA_RMPP_MANY_RETRIES);
	assert_int_equal(out[3], GET_TABLE_RESP); /* as the data */
	free(mad);
}

/* Each row: an answer to a sender that sent one of three segments, and what follows. */
TEST(faults_of_an_answer)
{
	static const struct {
		uint8_t version, type, status, segment, window;
		enum iba_rmpp_step step;
		uint8_t says; /* RMPPStatus of the reply, or of the transfer */
	} rows[] = {
		{1, IBA_RMPP_ACK, 0, 1, 65, IBA_RMPP_GO_ON, 0},
		{1, IBA_RMPP_ACK, 0, 0, 1, IBA_RMPP_NOTHING, 0},
		{1, IBA_RMPP_ACK, 0, 2, 65, IBA_RMPP_FAILED_TELL, IBA_RMPP_SEGMENT_BIG},
		{1, IBA_RMPP_ACK, 0, 1, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_WINDOW_SMALL},
		{2, IBA_RMPP_ACK, 0, 1, 65, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_VERSION},
		{1, IBA_RMPP_DATA, 0, 1, 65, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_TYPE},
		{1, 9, 0, 1, 65, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_TYPE},
		{1, IBA_RMPP_STOP, IBA_RMPP_RESOURCES, 0, 0, IBA_RMPP_FAILED, IBA_RMPP_RESOURCES},
		{1, IBA_RMPP_STOP, 5, 0, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_STATUS},
		{1, IBA_RMPP_ABORT, IBA_RMPP_TOO_LONG, 0, 0, IBA_RMPP_FAILED, IBA_RMPP_TOO_LONG},
		{7, IBA_RMPP_ABORT, IBA_RMPP_BAD_VERSION, 0, 0, IBA_RMPP_FAILED,
		 IBA_RMPP_BAD_VERSION},
	};
	uint8_t *mad = message(SA, 56 + 450);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t in[IBA_MAD_SIZE] = {0}, reply[IBA_MAD_SIZE] = {0}, segment[IBA_MAD_SIZE];
		struct iba_rmpp_out o;

		iba_rmpp_out_begin(&o, mad, 56 + 450);
		iba_rmpp_out_next(&o, segment);
		memcpy(in, mad, 24);
		in[24] = rows[i].version;
		in[25] = rows[i].type;
		in[FLAGS] = IBA_RMPP_ACTIVE;
		in[STATUS] = rows[i].status;
		in[SEGMENT] = rows[i].segment;
		in[LENGTH] = rows[i].window;
		assert_int_equal(iba_rmpp_out_answer(&o, in, reply), rows[i].step);
		assert_int_equal(o.status, rows[i].says);
		if (rows[i].step == IBA_RMPP_FAILED_TELL)
			assert_int_equal(reply[STATUS], rows[i].says);
	}
	free(mad);
}

/* Each row: the first MAD that a receiver gets. */
TEST(faults_of_a_segment)
{
	static const struct {
		uint8_t version, type, flags, segment, length;
		enum iba_rmpp_step step;
		uint8_t says;
	} rows[] = {
		{1, IBA_RMPP_DATA, 3, 1, 0, IBA_RMPP_REPLY, 0},
		{1, IBA_RMPP_DATA, 7, 1, 20, IBA_RMPP_DONE, 0},
		{1, IBA_RMPP_DATA, 7, 1, 220, IBA_RMPP_DONE, 0},
		{1, IBA_RMPP_DATA, 7, 1, 19, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_LENGTH},
		{1, IBA_RMPP_DATA, 7, 1, 221, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_LENGTH},
		{1, IBA_RMPP_DATA, 1, 1, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_FIRST},
		{1, IBA_RMPP_DATA, 3, 2, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_FIRST},
		{1, IBA_RMPP_DATA, 3, 0, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_FIRST},
		{1, IBA_RMPP_DATA, 1, 2, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_SEGMENT_BIG},
		{3, IBA_RMPP_DATA, 3, 1, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_VERSION},
		{1, 0, 3, 1, 0, IBA_RMPP_FAILED_TELL, IBA_RMPP_BAD_TYPE},
		{1, IBA_RMPP_ACK, 1, 1, 0, IBA_RMPP_NOTHING, 0},
		{1, IBA_RMPP_ABORT, 1, 0, 0, IBA_RMPP_FAILED, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t *in = message(SA, IBA_MAD_SIZE), reply[IBA_MAD_SIZE] = {0};
		struct iba_rmpp_in r = {0};

		memset(in + 24, 0, 12);
		in[24] = rows[i].version;
		in[25] = rows[i].type;
		in[FLAGS] = rows[i].flags;
		in[SEGMENT] = rows[i].segment;
		in[LENGTH] = rows[i].length;
		assert_int_equal(iba_rmpp_in_take(&r, in, reply), rows[i].step);
		assert_int_equal(r.status, rows[i].says);
		if (rows[i].step == IBA_RMPP_FAILED_TELL) {
			assert_int_equal(iba_rmpp_type(reply), IBA_RMPP_ABORT);
			assert_int_equal(reply[STATUS], rows[i].says);
			assert_int_equal(reply[3], GET_TABLE);
		}
		iba_rmpp_in_free(&r);
		free(in);
	}
}

TEST(a_receiver_without_room_stops_the_sender)
{
	uint8_t *mad = message(SA, 56 + 3000), segment[IBA_MAD_SIZE], reply[IBA_MAD_SIZE];
	struct iba_rmpp_in r = {.most = 1500};
	enum iba_rmpp_step s = IBA_RMPP_NOTHING;
	struct iba_rmpp_out o;

	iba_rmpp_out_begin(&o, mad, 56 + 3000);
	o.window = 100;
	r.window = 100;
	while (s != IBA_RMPP_FAILED_TELL && iba_rmpp_out_next(&o, segment))
		s = iba_rmpp_in_take(&r, segment, reply);
	assert_int_equal(s, IBA_RMPP_FAILED_TELL);
	assert_int_equal(iba_rmpp_type(reply), IBA_RMPP_STOP);
	assert_int_equal(reply[STATUS], IBA_RMPP_RESOURCES);
	assert_true(r.len <= 1500);
	assert_int_equal(iba_rmpp_out_answer(&o, reply, segment), IBA_RMPP_FAILED);
	iba_rmpp_in_free(&r);
	free(mad);
}

TEST(classes_with_an_rmpp_header)
{
	uint8_t mad[IBA_MAD_SIZE] = {0};

	assert_true(iba_rmpp_class(SA) && iba_rmpp_class(0x30) && iba_rmpp_class(0x4f));
	assert_false(iba_rmpp_class(0x01) || iba_rmpp_class(0x04) || iba_rmpp_class(0x81) ||
		     iba_rmpp_class(0x2f) || iba_rmpp_class(0x50));
	mad[1] = SA;
	assert_false(iba_rmpp_active(mad));
	mad[FLAGS] = IBA_RMPP_ACTIVE;
	assert_true(iba_rmpp_active(mad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_arrives_is_what_was_sent),
		cmocka_unit_test(lost_and_doubled_mads_change_nothing),
		cmocka_unit_test(one_acknowledgement_for_each_window),
		cmocka_unit_test(payload_length_counts_the_headers_of_each_segment),
		cmocka_unit_test(a_sender_without_answers_gives_up_and_says_so),
		cmocka_unit_test(faults_of_an_answer),
		cmocka_unit_test(faults_of_a_segment),
		cmocka_unit_test(a_receiver_without_room_stops_the_sender),
		cmocka_unit_test(classes_with_an_rmpp_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
