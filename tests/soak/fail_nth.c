/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library for LD_PRELOAD that makes one call fail: the $FAIL_NTH-th of all calls to the functions of
 * $FAIL_GROUP (memory, files, disk, sockets, processes, loop). State: the number of calls so far. Way in: the
 * functions of libc that it replaces. Allocations by the dynamic linker for a new thread do not fail: without
 * them libuv aborts, as docs/security.md says. Writes the name of the call that failed to the file
 * $FAIL_REPORT, and how many calls there were to $FAIL_COUNT.
 */
#undef _FILE_OFFSET_BITS /* open() and open64() are two functions here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_ulong calls;
static unsigned long nth;
static const char *group;
static int report = -1;

__attribute__((constructor)) static void begin(void)
{
	const char *n = getenv("FAIL_NTH"), *path = getenv("FAIL_REPORT");

	group = getenv("FAIL_GROUP");
	if (path)
		report = (int)syscall(SYS_openat, AT_FDCWD, path,
				      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	nth = n && group ? strtoul(n, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	char text[32];
	int fd, n;

	if (!path)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			  0600);
	n = snprintf(text, sizeof(text), "%lu\n", atomic_load(&calls));
	syscall(SYS_write, fd, text, (size_t)n);
}

static bool fails(const char *which, const char *name, int error)
{
	char text[64];
	int n;

	if (!nth || strcmp(group, which) || atomic_fetch_add(&calls, 1) + 1 != nth)
		return false;
	n = snprintf(text, sizeof(text), "%s %d\n", name, error);
	syscall(SYS_write, report, text, (size_t)n);
	errno = error;
	return true;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* type name(parameters), which calls the next one with arguments unless it fails. */
#define WRAP(which, type, name, parameters, arguments, error, result)                              \
	__attribute__((visibility("default"))) type name parameters                                \
	{                                                                                          \
		static __typeof__(&name) next;                                                     \
                                                                                                   \
		if (fails(which, #name, error))                                                    \
			return result;                                                             \
		if (!next)                                                                         \
			next = NEXT(name);                                                         \
		return next arguments;                                                             \
	}

/* ---- memory ---- */

static bool is_linker(const void *caller)
{
	Dl_info i;

	return dladdr(caller, &i) && i.dli_fname && strstr(i.dli_fname, "ld-linux");
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t line, size_t n);

void *malloc(size_t n)
{
	if (nth && is_linker(__builtin_return_address(0)))
		return __libc_malloc(n);
	return fails("memory", "malloc", ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	if (nth && is_linker(__builtin_return_address(0)))
		return __libc_calloc(n, size);
	return fails("memory", "calloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails("memory", "realloc", ENOMEM) ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || fails("memory", "reallocarray", ENOMEM)) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t line, size_t n)
{
	return fails("memory", "aligned_alloc", ENOMEM) ? NULL : __libc_memalign(line, n);
}

int posix_memalign(void **p, size_t line, size_t n)
{
	if (fails("memory", "posix_memalign", ENOMEM))
		return ENOMEM;
	*p = __libc_memalign(line, n);
	return *p ? 0 : ENOMEM;
}

/* ---- files: opening and naming ---- */

#define WRAP_OPEN(name)                                                                            \
	__attribute__((visibility("default"))) int name(const char *path, int flags, ...)          \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, flags);                                                               \
		if (flags & (O_CREAT | O_TMPFILE))                                                 \
			mode = va_arg(ap, mode_t);                                                 \
		va_end(ap);                                                                        \
		return fails("files", #name, EMFILE) ? -1 : NEXT(name)(path, flags, mode);         \
	}
WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP("files", FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP("files", FILE *, fopen64, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP("files", int, rename, (const char *from, const char *to), (from, to), EACCES, -1)
WRAP("files", int, unlink, (const char *path), (path), EACCES, -1)
WRAP("files", int, mkdir, (const char *path, mode_t mode), (path, mode), EACCES, -1)
WRAP("files", int, chmod, (const char *path, mode_t mode), (path, mode), EPERM, -1)
WRAP("files", int, flock, (int fd, int how), (fd, how), EINTR, -1)
WRAP("files", int, fstat64, (int fd, struct stat64 *st), (fd, st), EIO, -1)
WRAP("files", int, stat64, (const char *path, struct stat64 *st), (path, st), EIO, -1)
WRAP("files", int, lstat64, (const char *path, struct stat64 *st), (path, st), EIO, -1)
WRAP("files", void *, mmap64, (void *at, size_t n, int prot, int flags, int fd, off64_t from),
     (at, n, prot, flags, fd, from), ENOMEM, MAP_FAILED)

/* ---- disk: contents of regular files ---- */

static bool is_file(int fd)
{
	struct stat st;

	return !syscall(SYS_fstat, fd, &st) && S_ISREG(st.st_mode);
}

#define WRAP_DISK(type, name, fd, parameters, arguments, error, result)                            \
	__attribute__((visibility("default"))) type name parameters                                \
	{                                                                                          \
		static __typeof__(&name) next;                                                     \
                                                                                                   \
		if (nth && is_file(fd) && fails("disk", #name, error))                             \
			return result;                                                             \
		if (!next)                                                                         \
			next = NEXT(name);                                                         \
		return next arguments;                                                             \
	}

WRAP_DISK(ssize_t, write, fd, (int fd, const void *p, size_t n), (fd, p, n), ENOSPC, -1)
WRAP_DISK(ssize_t, pwrite64, fd, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), EIO,
	  -1)
WRAP_DISK(ssize_t, read, fd, (int fd, void *p, size_t n), (fd, p, n), EIO, -1)
WRAP_DISK(ssize_t, pread64, fd, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), EIO, -1)
WRAP_DISK(int, fsync, fd, (int fd), (fd), EIO, -1)
WRAP_DISK(int, fdatasync, fd, (int fd), (fd), EIO, -1)
WRAP_DISK(int, ftruncate64, fd, (int fd, off64_t n), (fd, n), EIO, -1)
WRAP_DISK(int, fallocate64, fd, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n),
	  ENOSPC, -1)
WRAP_DISK(size_t, fwrite, fileno(f), (const void *p, size_t size, size_t n, FILE *f),
	  (p, size, n, f), ENOSPC, 0)

/* ---- sockets ---- */

WRAP("sockets", int, socket, (int family, int type, int protocol), (family, type, protocol), EMFILE,
     -1)
WRAP("sockets", int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), EADDRINUSE,
     -1)
WRAP("sockets", int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n),
     ECONNREFUSED, -1)
WRAP("sockets", int, listen, (int fd, int n), (fd, n), EADDRINUSE, -1)
WRAP("sockets", int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags),
     (fd, a, n, flags), EMFILE, -1)
WRAP("sockets", int, setsockopt, (int fd, int level, int name, const void *p, socklen_t n),
     (fd, level, name, p, n), ENOMEM, -1)
WRAP("sockets", ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags),
     ENOBUFS, -1)
WRAP("sockets", ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags),
     ECONNRESET, -1)
WRAP("sockets", ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), ENOMEM, -1)
WRAP("sockets", int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags),
     (fd, m, n, flags), ENOBUFS, -1)
WRAP("sockets", int, recvmmsg,
     (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t), (fd, m, n, flags, t),
     ECONNRESET, -1)

/* ---- processes, and what the loop needs ---- */

WRAP("processes", pid_t, fork, (void), (), EAGAIN, -1)
WRAP("processes", pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), EINTR,
     -1)
WRAP("loop", int, epoll_create1, (int flags), (flags), EMFILE, -1)
WRAP("loop", int, eventfd, (unsigned n, int flags), (n, flags), EMFILE, -1)
