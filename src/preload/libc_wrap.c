/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of libc through which a program reaches a device: open, close, read, write, ioctl,
 * opendir, scandir. Calls for other files go on to libc. Keeps no state. Ways in: those functions.
 * Does not replace poll() and epoll: the descriptors are real.
 */
#undef _FILE_OFFSET_BITS /* it would rename the functions defined here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "preload/preload.h"

enum { PATH_LEN = 4096 };

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_ours(const char *path)
{
	return !strncmp(path, "/sys/class/infiniband", 21) ||
	       !strncmp(path, "/dev/infiniband/", 16);
}

/* The first use of a device connects; without a server the program cannot continue. */
static void need_port(void)
{
	if (the_port.open)
		return;
	if (port_open())
		exit(1);
	atexit(port_close_all);
}

static int open_device(const char *path)
{
	bool sm = !strcmp(path, "/dev/infiniband/issm0");
	int fd;

	if (!sm && strcmp(path, "/dev/infiniband/umad0")) {
		errno = ENOENT;
		return -1;
	}
	port_lock();
	fd = port_file_open(sm);
	port_unlock();
	return fd;
}

int open(const char *path, int flags, ...)
{
	char buf[PATH_LEN];
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!is_ours(path))
		return REAL(open)(path, flags, mode);
	need_port();
	if (!strncmp(path, "/dev/", 5))
		return open_device(path);
	if (strstr(path, "/ports/")) {
		port_lock();
		tree_refresh(&the_port);
		port_unlock();
	}
	return REAL(open)(tree_path(path, buf, sizeof(buf)), flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int close(int fd)
{
	int file = port_file_of(fd);

	if (file >= 0) {
		port_lock();
		port_file_close((unsigned)file);
		port_unlock();
	}
	return REAL(close)(fd);
}

ssize_t read(int fd, void *buf, size_t count)
{
	int file = port_file_of(fd);
	ssize_t n;

	if (file < 0)
		return REAL(read)(fd, buf, count);
	port_lock();
	n = port_read((unsigned)file, buf, count);
	port_unlock();
	return n;
}

ssize_t write(int fd, const void *buf, size_t count)
{
	int file = port_file_of(fd);
	ssize_t n;

	if (file < 0)
		return REAL(write)(fd, buf, count);
	port_lock();
	n = port_write((unsigned)file, buf, count);
	port_unlock();
	return n;
}

int ioctl(int fd, unsigned long request, ...)
{
	int file = port_file_of(fd), rc = 0;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (file < 0)
		return REAL(ioctl)(fd, request, arg);
	port_lock();
	switch (request) {
	case IB_USER_MAD_REGISTER_AGENT:
		rc = port_register((unsigned)file, arg);
		break;
	case IB_USER_MAD_UNREGISTER_AGENT:
		rc = port_unregister((unsigned)file, *(uint32_t *)arg);
		break;
	case IB_USER_MAD_ENABLE_PKEY:
		break;
	default:
		errno = EINVAL;
		rc = -1;
	}
	port_unlock();
	return rc;
}

DIR *opendir(const char *path)
{
	char buf[PATH_LEN];

	if (!is_ours(path))
		return REAL(opendir)(path);
	need_port();
	return REAL(opendir)(tree_path(path, buf, sizeof(buf)));
}

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	char buf[PATH_LEN];

	if (!is_ours(path))
		return REAL(scandir)(path, list, filter, compare);
	need_port();
	return REAL(scandir)(tree_path(path, buf, sizeof(buf)), list, filter, compare);
}
