/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every room stands on: small helpers, memory, errors.
 *
 * mem_*: never return NULL. Running out of memory is not an error a caller can mend, so it ends
 * the process with a message. Sizes are checked for overflow. Free with free().
 *
 * struct err: a text for a person, filled by whoever finds the fault. Functions that take one
 * return 0 or a negative errno and leave a complete sentence without a final newline:
 * "net.txt:12: expected a port number in brackets, found 'x'".
 */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#undef MIN /* sys/param.h, which uv.h includes, has the same */
#undef MAX
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))
#define UNUSED	     __attribute__((unused))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Simulated and real time are picoseconds since a start that the caller chose. */
typedef uint64_t time_ps;
#define PS_PER_NS  ((time_ps)1000)
#define PS_PER_US  ((time_ps)1000000)
#define PS_PER_MS  ((time_ps)1000000000)
#define PS_PER_S   ((time_ps)1000000000000)
#define TIME_NEVER UINT64_MAX

void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_array(size_t n, size_t size);	 /* uninitialised */
void *mem_zarray(size_t n, size_t size); /* zeroed */
void *mem_resize(void *p, size_t n, size_t size);
void *mem_lines(size_t n,
		size_t size); /* zeroed, at the start of a cache line; large: of a huge page */
char *mem_strdup(const char *s);

struct err {
	char text[512];
};

/* Store the text and return code, so that `return err_set(e, -EINVAL, ...)` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF(3, 4);

/* A growing string, always NUL-terminated once something was added. */
struct strbuf {
	char *s;
	size_t len, cap;
};

void strbuf_add(struct strbuf *b, const char *s);
void strbuf_addn(struct strbuf *b, const char *s, size_t n);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void strbuf_free(struct strbuf *b);

/*
 * Whole files; "-" is standard input or output. What is written replaces path in one step (temporary
 * file, then rename), so nobody sees half of it. file_out is for what comes in pieces: put() remembers
 * a failure, close() tells it, puts the file in its place or leaves nothing, and frees.
 */
int file_read(const char *path, char **data, size_t *len, struct err *e);
int file_write(const char *path, const char *data, size_t len, struct err *e);

struct file_out;
struct file_out *file_out_open(const char *path, struct err *e); /* NULL with e and errno set */
void file_out_put(struct file_out *o, const char *data, size_t len);
int file_out_close(struct file_out *o, struct err *e);
void file_out_drop(struct file_out *o); /* instead of close: nothing is left of it */

/* Bytes of the UTF-8 character at s, of which n are there; 0 when it is none or a control character:
 * names come from files and must not reach a terminal or a document as they are. */
unsigned utf8_len(const char *s, size_t n);

/* A number with nothing behind it: decimal, or hexadecimal with 0x. 0 or -EINVAL / -ERANGE. */
int parse_u64(const char *s, uint64_t *v);

#endif
