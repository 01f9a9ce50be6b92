/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories of jobs. State: struct job_dirs, for one run. Way in: job_dirs_open(). Does not run anything in them.
 */
#include "experiment/job_dirs.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "weft-lab-";

struct job_dirs {
	char path[PATH_MAX];
	int lock; /* -1: kept, so never locked */
	unsigned made;
	bool keep;
};

static const char *tmp_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

static int entry_remove(const char *path, const struct stat *st UNUSED, int type UNUSED,
			struct FTW *ftw UNUSED)
{
	return remove(path);
}

void job_dir_remove(const char *path)
{
	nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- left by runs that were killed ---- */

/* A directory of this user whose lock is free: its run has ended. A directory without a lock is kept on request, or its run
 * has just begun. */
static bool is_left(const char *path)
{
	char lock[PATH_MAX + 8];
	struct stat st;
	bool left;
	int fd;

	if (lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return false;
	snprintf(lock, sizeof(lock), "%s/lock", path);
	fd = open(lock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	left = !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return left;
}

static void left_remove(void)
{
	DIR *d = opendir(tmp_dir());
	char path[PATH_MAX];

	for (struct dirent *f; d && (f = readdir(d));) {
		if (strncmp(f->d_name, prefix, strlen(prefix)) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", tmp_dir(), f->d_name) >=
			    (int)sizeof(path))
			continue;
		if (is_left(path))
			job_dir_remove(path);
	}
	if (d)
		closedir(d);
}

/* ---- of this run ---- */

/* Locked before it has its name, so that another run never sees it unlocked. */
static int lock_make(struct job_dirs *d, struct err *e)
{
	char early[PATH_MAX + 16], name[PATH_MAX + 16];

	snprintf(early, sizeof(early), "%s/lock.new", d->path);
	snprintf(name, sizeof(name), "%s/lock", d->path);
	d->lock = open(early, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (d->lock < 0 || flock(d->lock, LOCK_EX | LOCK_NB) || rename(early, name))
		return err_set(e, -errno, "%s: %s", name, strerror(errno));
	return 0;
}

int job_dirs_open(bool keep, struct job_dirs **out, struct err *e)
{
	struct job_dirs *d = mem_zalloc(sizeof(*d));
	int rc;

	left_remove();
	d->keep = keep;
	d->lock = -1;
	snprintf(d->path, sizeof(d->path), "%s/%sXXXXXX", tmp_dir(), prefix);
	if (!mkdtemp(d->path)) {
		rc = err_set(e, -errno, "%s: %s", d->path, strerror(errno));
		free(d);
		*out = NULL;
		return rc;
	}
	*out = d;
	return keep ? 0 : lock_make(d, e);
}

void job_dirs_close(struct job_dirs *d)
{
	if (!d)
		return;
	if (!d->keep)
		job_dir_remove(d->path);
	if (d->lock >= 0)
		close(d->lock);
	free(d);
}

int job_dir_make(struct job_dirs *d, char *buf, size_t size, struct err *e)
{
	if (snprintf(buf, size, "%s/%u", d->path, ++d->made) >= (int)size)
		return err_set(e, -ENAMETOOLONG, "%s: the path is too long", d->path);
	return mkdir(buf, 0700) ? err_set(e, -errno, "%s: %s", buf, strerror(errno)) : 0;
}
