/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any MADs to both ends of a transfer in segments: no step beyond a buffer, no more memory than was allowed, and only
 * messages that are whole. The first byte is the class, every 13 bytes after it one MAD: which end gets it, and its RMPP
 * header. Keeps no state. Way in: libFuzzer, or replay.c over files.
 */
#include "iba/rmpp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 20000, MESSAGE = 3000 };

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_rmpp: %s\n", what);
	abort();
}

/* All of a receiver's segments have the same headers, as in a transfer. */
static void receive(struct iba_rmpp_in *r, const uint8_t *mad)
{
	uint8_t reply[IBA_MAD_SIZE];
	enum iba_rmpp_step s = iba_rmpp_in_take(r, mad, reply);

	must(r->len <= MOST, "more data than allowed");
	must(s != IBA_RMPP_DONE || r->len >= iba_rmpp_head(mad), "a message without headers");
	if (s == IBA_RMPP_DONE || s == IBA_RMPP_FAILED || s == IBA_RMPP_FAILED_TELL)
		iba_rmpp_in_free(r);
}

static void answer(struct iba_rmpp_out *o, const uint8_t *message, const uint8_t *mad)
{
	uint8_t out[IBA_MAD_SIZE];
	enum iba_rmpp_step s = iba_rmpp_out_answer(o, mad, out);

	for (unsigned i = 0; i < 100 && iba_rmpp_out_next(o, out); i++)
		must(iba_rmpp_segment(out) <= o->segments, "a segment that is not there");
	must(o->acked <= o->reached || s == IBA_RMPP_FAILED_TELL,
	     "acknowledged before it was sent");
	if (s == IBA_RMPP_DONE || s == IBA_RMPP_FAILED || s == IBA_RMPP_FAILED_TELL)
		iba_rmpp_out_begin(o, message, MESSAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *message = mem_zalloc(MESSAGE), mad[IBA_MAD_SIZE] = {0}, out[IBA_MAD_SIZE];
	struct iba_rmpp_in r = {.most = MOST};
	struct iba_rmpp_out o;

	mad[1] = message[1] = size ? data[0] : 0;
	iba_rmpp_out_begin(&o, message, MESSAGE);
	iba_rmpp_out_next(&o, out);
	for (size_t at = 1; at + 13 <= size; at += 13) {
		memcpy(mad + 24, data + at + 1, 12);
		if (data[at] & 1)
			receive(&r, mad);
		else if (data[at] & 2)
			answer(&o, message, mad);
		else if (iba_rmpp_out_late(&o, out) == IBA_RMPP_FAILED_TELL)
			iba_rmpp_out_begin(&o, message, MESSAGE);
	}
	iba_rmpp_in_free(&r);
	free(message);
	return 0;
}
