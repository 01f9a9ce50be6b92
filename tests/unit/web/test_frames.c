/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of a stream whose page does not read: what is replaced, what is left out, what stays.
 */
#include "unit_test.h"

#include "web/frames.h"

static bool put(struct frame_queue *q, unsigned kind, size_t len, uint8_t mark)
{
	struct frame *f = frame_new(kind, NULL, len);
	bool ok;

	memset(f->data + FRAME_HEAD, mark, len);
	ok = frame_queue_put(q, f);
	frame_unref(f);
	return ok;
}

/* Kind and mark of each frame that comes out: "3a 1b". */
static const char *take(struct frame_queue *q, unsigned most, size_t bytes)
{
	static char text[256];
	struct frame *out[64];
	unsigned n = frame_queue_take(q, out, most, bytes);

	text[0] = 0;
	for (unsigned i = 0; i < n; i++) {
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%u%.*s", i ? " " : "", frame_kind(out[i]),
			 out[i]->len > 1000 ? 1 : (int)out[i]->len - FRAME_HEAD,
			 (char *)out[i]->data + FRAME_HEAD);
		assert_int_equal(frame_u32(out[i]->data), out[i]->len);
		frame_unref(out[i]);
	}
	return text;
}

TEST(in_order_and_in_batches)
{
	struct frame_queue q = {0};

	for (uint8_t c = 'a'; c < 'g'; c++)
		put(&q, FRAME_JSON, 1, c);
	assert_int_equal(q.bytes, 6 * (FRAME_HEAD + 1));
	assert_string_equal(take(&q, 4, 1000), "1a 1b 1c 1d");
	assert_string_equal(take(&q, 4, 1), "1e");
	put(&q, FRAME_JSON, 1, 'g');
	assert_string_equal(take(&q, 4, 1000), "1f 1g");
	assert_string_equal(take(&q, 4, 1000), "");
	assert_int_equal(q.bytes, 0);
	frame_queue_free(&q);
}

TEST(newer_states_and_fabrics_replace_older_ones)
{
	struct frame_queue q = {0};

	put(&q, FRAME_FABRIC, 1, 'a');
	put(&q, FRAME_STATE, 1, 'a');
	put(&q, FRAME_JSON, 1, 'a');
	put(&q, FRAME_STATE, 1, 'b');
	put(&q, FRAME_SMPS, 1, 'b');
	put(&q, FRAME_LOG, 1, 'b');
	assert_string_equal(take(&q, 9, 1), "2a");
	assert_int_equal(q.dropped, 0);
	put(&q, FRAME_FABRIC, 1, 'c');
	put(&q, FRAME_STATE, 1, 'c');
	assert_string_equal(take(&q, 9, 1000), "1{\"dropped\":{\"frames\":1}} 1a 6b 2c 3c");
	frame_queue_free(&q);
}

TEST(what_moves_is_left_out_when_too_much_waits)
{
	struct frame_queue q = {0};

	put(&q, FRAME_JSON, 1, 'a');
	for (uint8_t c = 'a'; c < 'k'; c++) {
		assert_true(put(&q, FRAME_SMPS, 1 << 20, c));
		assert_true(put(&q, FRAME_STATE, 1, c));
		assert_in_range(q.bytes, 1, QUEUE_SOFT);
	}
	assert_string_equal(take(&q, 9, 100 << 20), "1{\"dropped\":{\"frames\":7}} 1a 4h 4i 4j 3j");
	/* One alone that is larger than the queue may be. */
	assert_true(put(&q, FRAME_SMPS, QUEUE_SOFT, 'x'));
	assert_true(put(&q, FRAME_SMPS, 1, 'y'));
	assert_string_equal(take(&q, 9, 100), "1{\"dropped\":{\"frames\":1}} 4y");
	frame_queue_free(&q);
}

TEST(too_much_json_ends_the_stream)
{
	struct frame_queue q = {0};
	struct frame *f = frame_new(FRAME_JSON, NULL, 60 << 20);
	bool ok = true;
	unsigned n = 0;

	while (n < 10 && ok)
		ok = frame_queue_put(&q, f), n++;
	assert_int_equal(n, 3);
	assert_false(ok);
	assert_int_equal(f->refs, 3);
	frame_queue_free(&q);
	assert_int_equal(f->refs, 1);
	frame_unref(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_and_in_batches),
		cmocka_unit_test(newer_states_and_fabrics_replace_older_ones),
		cmocka_unit_test(what_moves_is_left_out_when_too_much_waits),
		cmocka_unit_test(too_much_json_ends_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
