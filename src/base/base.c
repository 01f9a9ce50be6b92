/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory, errors, strings, whole files. Keeps no state. Way in: base.h. Does not log; only a lack of memory
 * ends the process.
 */
#include "base/base.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without stdio, which may need memory. The kernel closes what is open, as after kill -9. */
void mem_none(void)
{
	static const char text[] = "weft: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

static void *checked(void *p)
{
	if (!p)
		mem_none();
	return p;
}

void *mem_alloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

void *mem_array(size_t n, size_t size)
{
	return checked(reallocarray(NULL, n ? n : 1, size ? size : 1));
}

void *mem_zarray(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *mem_resize(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

/* How many bytes it has in *got. */
static void *lines_alloc(size_t n, size_t size, size_t *got)
{
	size_t bytes, line = 64, huge = 2 << 20;
	void *p;

	if (__builtin_mul_overflow(n ? n : 1, size, &bytes) || bytes > SIZE_MAX - huge)
		return checked(NULL);
	if (bytes >= 2 * huge)
		line = huge;
	bytes = (bytes + line - 1) / line * line;
	p = checked(aligned_alloc(line, bytes));
	if (line == huge)
		madvise(p, bytes, MADV_HUGEPAGE); /* ignored where huge pages do not exist */
	*got = bytes;
	return p;
}

void *mem_lines(size_t n, size_t size)
{
	size_t bytes;
	void *p = lines_alloc(n, size, &bytes);

	return memset(p, 0, bytes);
}

void *mem_lines_unset(size_t n, size_t size)
{
	size_t bytes;

	return lines_alloc(n, size, &bytes);
}

char *mem_strdup(const char *s)
{
	return checked(strdup(s));
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

static void strbuf_room(struct strbuf *b, size_t n)
{
	if (b->len + n + 1 <= b->cap)
		return;
	b->cap = MAX(b->cap * 2, b->len + n + 64);
	b->s = mem_resize(b->s, b->cap, 1);
}

void strbuf_addn(struct strbuf *b, const char *s, size_t n)
{
	strbuf_room(b, n);
	memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = 0;
}

void strbuf_add(struct strbuf *b, const char *s)
{
	strbuf_addn(b, s, strlen(s));
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	strbuf_room(b, 80);
	va_start(ap, fmt);
	n = vsnprintf(b->s + b->len, b->cap - b->len, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	if ((size_t)n >= b->cap - b->len) {
		strbuf_room(b, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(b->s + b->len, b->cap - b->len, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

void strbuf_free(struct strbuf *b)
{
	free(b->s);
	*b = (struct strbuf){0};
}

int file_read(const char *path, char **data, size_t *len, struct err *e)
{
	return file_read_most(path, SIZE_MAX, data, len, e);
}

/* Told before it is read. */
static bool is_too_large(FILE *f, size_t most)
{
	struct stat st;

	return !fstat(fileno(f), &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size > most;
}

int file_read_most(const char *path, size_t most, char **data, size_t *len, struct err *e)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	struct strbuf b = {0};
	char chunk[65536];
	bool large;
	size_t n;
	int rc = 0;

	if (!f)
		return err_set(e, -errno, "%s: %s", *path ? path : "''", strerror(errno));
	strbuf_addn(&b, "", 0);
	large = is_too_large(f, most);
	while (!large && b.len <= most && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		strbuf_addn(&b, chunk, n);
	if (ferror(f))
		rc = err_set(e, -EIO, "%s: %s", path, strerror(errno));
	else if (large || b.len > most)
		rc = err_set(e, -EFBIG, "%s: expected at most %zu MiB, found more", path,
			     most >> 20);
	if (rc)
		strbuf_free(&b);
	if (f != stdin)
		fclose(f);
	*data = b.s;
	*len = b.len;
	return rc;
}

struct file_out {
	FILE *f;
	char *path, *tmp; /* tmp NULL: written in place (a device or a pipe) */
	int rc;
};

struct file_out *file_out_open(const char *path, struct err *e)
{
	struct file_out *o = mem_zalloc(sizeof(*o));
	struct strbuf tmp = {0};
	struct stat st;
	int why;

	o->path = mem_strdup(path);
	if (!strcmp(path, "-")) {
		o->f = stdout;
		return o;
	}
	if (stat(path, &st) || S_ISREG(st.st_mode)) {
		strbuf_addf(&tmp, "%s.%ld.tmp", path, (long)getpid());
		o->tmp = tmp.s;
	}
	o->f = fopen(o->tmp ? o->tmp : path, "wb");
	if (o->f)
		return o;
	why = errno;
	err_set(e, -why, "%s: cannot write: %s", path, strerror(why));
	free(o->tmp);
	free(o->path);
	free(o);
	errno = why;
	return NULL;
}

void file_out_put(struct file_out *o, const char *data, size_t len)
{
	errno = EIO; /* unless stdio sets another */
	if (!o->rc && fwrite(data, 1, len, o->f) != len)
		o->rc = -errno;
}

int file_out_close(struct file_out *o, struct err *e)
{
	int rc = o->rc;
	bool is_stdout = o->f == stdout;

	errno = EIO;
	if (!rc && fflush(o->f))
		rc = -errno;
	if (!rc && o->tmp && fsync(fileno(o->f)))
		rc = -errno;
	if (!is_stdout && fclose(o->f) && !rc)
		rc = -errno;
	if (!rc && o->tmp && rename(o->tmp, o->path))
		rc = -errno;
	if (rc && o->tmp)
		unlink(o->tmp);
	if (rc && is_stdout)
		err_set(e, rc, "standard output: %s", strerror(-rc));
	else if (rc)
		err_set(e, rc, "%s: cannot write: %s", o->path, strerror(-rc));
	free(o->tmp);
	free(o->path);
	free(o);
	return rc;
}

void file_out_drop(struct file_out *o)
{
	struct err e;

	o->rc = o->rc ? o->rc : -ECANCELED;
	file_out_close(o, &e);
}

int file_write(const char *path, const char *data, size_t len, struct err *e)
{
	struct file_out *o = file_out_open(path, e);

	if (!o)
		return -errno;
	file_out_put(o, data, len);
	return file_out_close(o, e);
}

unsigned utf8_len(const char *s, size_t n)
{
	unsigned char c = n ? (unsigned char)*s : 0;
	unsigned len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	unsigned char next = len > 1 && n > 1 ? (unsigned char)s[1] : 0;

	if (c < 0x20 || c == 0x7f || len > n)
		return 0;
	/* C1 controls, overlong forms, surrogates, beyond U+10FFFF */
	if (((c == 0xc2 || c == 0xe0) && next < 0xa0) || (c == 0xed && next > 0x9f) ||
	    (c == 0xf0 && next < 0x90) || (c == 0xf4 && next > 0x8f))
		return 0;
	for (unsigned i = 1; i < len; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

int parse_u64(const char *s, uint64_t *v)
{
	char *end;
	int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;

	if (!(*s >= '0' && *s <= '9'))
		return -EINVAL;
	errno = 0;
	*v = strtoull(s, &end, base);
	if (errno == ERANGE)
		return -ERANGE;
	return *end || end == s ? -EINVAL : 0;
}
