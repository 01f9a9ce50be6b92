/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small helpers, memory and errors, for all rooms.
 *
 * mem_*: never return NULL. No caller can handle a lack of memory, so it ends the process with a message. Sizes
 * are checked for overflow. Free with free().
 *
 * struct err: a text for the user, filled where the error is found. Functions that take one return 0 or a
 * negative errno and leave a complete sentence without a newline at the end:
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
#undef MIN /* uv.h includes sys/param.h, which defines the same */
#undef MAX
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))
#define UNUSED	     __attribute__((unused))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Simulated and real time, in picoseconds since a start that the caller chooses. */
typedef uint64_t time_ps;
#define PS_PER_NS  ((time_ps)1000)
#define PS_PER_US  ((time_ps)1000000)
#define PS_PER_MS  ((time_ps)1000000000)
#define PS_PER_S   ((time_ps)1000000000000)
#define TIME_NEVER UINT64_MAX

_Noreturn void mem_none(void); /* there is none: a message, and status 1 */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_array(size_t n, size_t size);	 /* uninitialised */
void *mem_zarray(size_t n, size_t size); /* zeroed */
void *mem_resize(void *p, size_t n, size_t size);
void *mem_lines(size_t n,
		size_t size); /* zeroed, aligned to a cache line; large ones to a huge page */
void *mem_lines_unset(size_t n, size_t size); /* the same, not zeroed */
char *mem_strdup(const char *s);

struct err {
	char text[512];
};

/* Store the text and return code: `return err_set(e, -EINVAL, ...)`. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF(3, 4);

/* A growing string, NUL-terminated once something was added. */
struct strbuf {
	char *s;
	size_t len, cap;
};

void strbuf_add(struct strbuf *b, const char *s);
void strbuf_addn(struct strbuf *b, const char *s, size_t n);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void strbuf_free(struct strbuf *b);

/*
 * Whole files; "-" is standard input or output. Writing replaces path in one step (temporary file, then rename),
 * so no reader sees an incomplete file. file_out writes in pieces: put() remembers an error; close() returns it,
 * and either puts the file in place or removes it, and frees.
 */
int file_read(const char *path, char **data, size_t *len, struct err *e);
/* -EFBIG: it has more than so many bytes, of which no more are read. */
int file_read_most(const char *path, size_t most, char **data, size_t *len, struct err *e);
int file_write(const char *path, const char *data, size_t len, struct err *e);

struct file_out;
struct file_out *file_out_open(const char *path, struct err *e); /* NULL with e and errno set */
void file_out_put(struct file_out *o, const char *data, size_t len);
int file_out_close(struct file_out *o, struct err *e);
void file_out_drop(struct file_out *o); /* instead of close: removes the temporary file */

/* Length in bytes of the UTF-8 character at s, which has n bytes; 0 for a control character or none. Names
 * come from files: unchecked bytes must not reach a terminal or a document. */
unsigned utf8_len(const char *s, size_t n);

/* The whole text as a number: decimal, or hexadecimal with 0x. 0, -EINVAL or -ERANGE. */
int parse_u64(const char *s, uint64_t *v);

#endif
