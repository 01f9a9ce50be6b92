/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A JSON writer into a strbuf: indented by two spaces or on one line. The writer sets commas and escapes
 * strings; bytes that are not UTF-8 are read as Latin-1. Keys keep the order of the calls.
 *
 *	json_open(&j, NULL, '{'); json_u64(&j, "hosts", 8); json_close(&j);
 *
 * The key is NULL inside arrays. json_fixed writes v / 10^digits exactly, without floats. json_none
 * writes null; json_null() is a function of libjansson.
 */
#ifndef WEFT_JSON_H
#define WEFT_JSON_H

#include "base/base.h"

struct json {
	struct strbuf out;
	char close[32]; /* what closes each open level */
	int depth;
	bool first;
	bool line; /* everything on one line without blanks; set before the first call */
};

void json_open(struct json *j, const char *key, char brace); /* '{' or '[' */
void json_close(struct json *j);
void json_str(struct json *j, const char *key, const char *s);
/* An element of a list: [name, value], both strings. */
void json_pair(struct json *j, const char *name, const char *value);
void json_pair_u64(struct json *j, const char *name, uint64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_none(struct json *j, const char *key);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_hex64(struct json *j, const char *key, uint64_t v); /* "0x%016x" as a string */
void json_fixed(struct json *j, const char *key, uint64_t v, int digits);
void json_seconds(struct json *j, const char *key, time_ps t); /* picoseconds as seconds */
void json_double(struct json *j, const char *key, double v);   /* for wall-clock figures */
void json_raw(struct json *j, const char *key, const char *json_text);
void json_free(struct json *j);

#endif
