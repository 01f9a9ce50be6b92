/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that a program reads in place of those in /sys: one device with one port. State: their
 * directory, locked while the process lives. Way in: tree_make(). Does not redirect paths by
 * itself: libc_wrap.c does.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/preload.h"

static char root[96];
static uint64_t refreshed_ms;

static const char device[] = "weft0", prefix[] = "weft-umad-";
static const char class_ib[] = "/sys/class/infiniband", class_mad[] = "/sys/class/infiniband_mad";

static void make_dirs(char *path)
{
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
}

static void put(const char *path, const char *fmt, ...) PRINTF(2, 3);
static void put(const char *path, const char *fmt, ...)
{
	char full[512];
	va_list ap;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	make_dirs(full);
	f = fopen(full, "w");
	if (!f)
		return;
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

static void put_guid(const char *path, uint64_t guid)
{
	put(path, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48), (unsigned)(guid >> 32 & 0xffff),
	    (unsigned)(guid >> 16 & 0xffff), (unsigned)(guid & 0xffff));
}

static const char *at(char *buf, size_t size, const struct umad_port *p, const char *file)
{
	snprintf(buf, size, "%s/%s/ports/%u/%s", class_ib, device, p->num, file);
	return buf;
}

/* Gb/s of a lane, times ten, and its name. */
static void rate(const struct iba_port_info *pi, unsigned *tenths, const char **word)
{
	static const struct {
		unsigned tenths;
		const char *word;
	} ext[] = {{140, " FDR"}, {250, " EDR"}, {500, " HDR"}, {1000, " NDR"}};

	*tenths = 25u * pi->speed_active;
	*word = pi->speed_active == 2 ? " DDR" : pi->speed_active == 4 ? " QDR" : "";
	for (unsigned i = 0; i < ARRAY_LEN(ext); i++)
		if (pi->speed_ext_active == 1u << i) {
			*tenths = ext[i].tenths;
			*word = ext[i].word;
		}
}

static void put_rate(const struct umad_port *p, const struct iba_port_info *pi)
{
	unsigned lanes = pi->width_active == IBA_WIDTH_4X    ? 4
			 : pi->width_active == IBA_WIDTH_8X  ? 8
			 : pi->width_active == IBA_WIDTH_12X ? 12
			 : pi->width_active == IBA_WIDTH_2X  ? 2
							     : 1;
	unsigned tenths;
	const char *word;
	char b[256];

	rate(pi, &tenths, &word);
	put(at(b, sizeof(b), p, "rate"), "%u%s Gb/sec (%uX%s)\n", tenths * lanes / 10,
	    tenths * lanes % 10 ? ".5" : "", lanes, word);
}

static void put_port(struct umad_port *p)
{
	static const char *const states[] = {"NOP",   "DOWN",	"INIT",
					     "ARMED", "ACTIVE", "ACTIVE_DEFER"};
	static const char *const phys[] = {"<unknown>",
					   "Sleep",
					   "Polling",
					   "Disabled",
					   "PortConfigurationTraining",
					   "LinkUp",
					   "LinkErrorRecovery",
					   "Phy Test"};
	uint8_t data[64] = {0};
	struct iba_port_info pi;
	char b[256];

	if (server_ask(p, IBSIM_GET_PORT_INFO, data, sizeof(data)))
		return;
	iba_port_info_get(&pi, data, sizeof(data));
	put(at(b, sizeof(b), p, "lid_mask_count"), "%u\n", pi.lmc);
	put(at(b, sizeof(b), p, "sm_lid"), "0x%x\n", pi.sm_lid);
	put(at(b, sizeof(b), p, "sm_sl"), "%u\n", pi.sm_sl);
	put(at(b, sizeof(b), p, "lid"), "0x%x\n", pi.lid);
	put(at(b, sizeof(b), p, "cap_mask"), "0x%08x\n", pi.cap_mask);
	put(at(b, sizeof(b), p, "state"), "%u: %s\n", pi.state, states[MIN(pi.state, 5)]);
	put(at(b, sizeof(b), p, "phys_state"), "%u: %s\n", pi.phys_state, phys[pi.phys_state & 7]);
	put(at(b, sizeof(b), p, "gids/0"), "%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x\n",
	    (unsigned)(pi.gid_prefix >> 48), (unsigned)(pi.gid_prefix >> 32 & 0xffff),
	    (unsigned)(pi.gid_prefix >> 16 & 0xffff), (unsigned)(pi.gid_prefix & 0xffff),
	    (unsigned)(p->port_guid >> 48), (unsigned)(p->port_guid >> 32 & 0xffff),
	    (unsigned)(p->port_guid >> 16 & 0xffff), (unsigned)(p->port_guid & 0xffff));
	put_rate(p, &pi);
}

static void put_pkeys(struct umad_port *p)
{
	uint8_t data[64] = {0};
	char b[256], name[32];

	if (server_ask(p, IBSIM_GET_PKEYS, data, sizeof(data)))
		return;
	for (unsigned i = 0; i < sizeof(data) / 2; i++) {
		snprintf(name, sizeof(name), "pkeys/%u", i);
		put(at(b, sizeof(b), p, name), "0x%04x\n", iba_be16(data + 2 * i));
	}
}

/* ---- the directory ---- */

static int remove_one(const char *path, const struct stat *st UNUSED, int type UNUSED,
		      struct FTW *ftw UNUSED)
{
	return remove(path);
}

static void remove_all(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Locks a directory and returns the descriptor; -1: locked by a process, or of another user. */
static int lock(const char *path)
{
	int fd = plain_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	plain_close(fd);
	return -1;
}

/* A process that is killed does not remove its directory. The next process does. */
static void remove_leftovers(const char *tmp)
{
	int dir = plain_open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;
	char path[512];
	int fd;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", tmp, e->d_name);
		fd = lock(path);
		if (fd < 0)
			continue;
		remove_all(path);
		plain_close(fd);
	}
	if (d)
		closedir(d);
}

static int make_root(void)
{
	const char *tmp = getenv("TMPDIR");

	tmp = tmp && *tmp ? tmp : "/tmp";
	remove_leftovers(tmp);
	do { /* again, if another process removed it as a leftover before it was locked */
		if (snprintf(root, sizeof(root), "%s/%sXXXXXX", tmp, prefix) >= (int)sizeof(root))
			return -ENAMETOOLONG;
		if (!mkdtemp(root))
			return -errno;
	} while (lock(root) < 0 || access(root, F_OK));
	return 0;
}

void tree_remove(void)
{
	if (root[0])
		remove_all(root);
	root[0] = 0;
}

/* ---- life ---- */

int tree_make(const struct umad_port *port)
{
	static const char *const types[] = {"<unknown>", "CA", "SWITCH", "ROUTER"};
	struct umad_port *p = (struct umad_port *)port;
	char b[256];
	int rc = make_root();

	if (rc)
		return rc;
	put("/sys/class/infiniband_mad/abi_version", "5\n");
	snprintf(b, sizeof(b), "%s/%s/node_type", class_ib, device);
	put(b, "%u: %s\n", p->node_type, types[p->node_type & 3]);
	snprintf(b, sizeof(b), "%s/%s/fw_ver", class_ib, device);
	put(b, "1\n");
	snprintf(b, sizeof(b), "%s/%s/hw_rev", class_ib, device);
	put(b, "0\n");
	snprintf(b, sizeof(b), "%s/%s/hca_type", class_ib, device);
	put(b, "emulated\n");
	snprintf(b, sizeof(b), "%s/%s/node_guid", class_ib, device);
	put_guid(b, p->node_guid);
	snprintf(b, sizeof(b), "%s/%s/sys_image_guid", class_ib, device);
	put_guid(b, p->sys_guid);
	put(at(b, sizeof(b), p, "link_layer"), "InfiniBand\n");
	put_port(p);
	put_pkeys(p);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(b, sizeof(b), "%s/%s/ibdev", class_mad, i ? "issm0" : "umad0");
		put(b, "%s\n", device);
		snprintf(b, sizeof(b), "%s/%s/port", class_mad, i ? "issm0" : "umad0");
		put(b, "%u\n", p->num);
	}
	refreshed_ms = preload_ms();
	return 0;
}

void tree_refresh(struct umad_port *p)
{
	enum { FRESH_MS = 50 };

	if (preload_ms() - refreshed_ms < FRESH_MS)
		return;
	put_port(p);
	refreshed_ms = preload_ms();
}

const char *tree_path(const char *path, char *buf, size_t size)
{
	if (strncmp(path, class_ib, strlen(class_ib)))
		return path;
	snprintf(buf, size, "%s%s", root, path);
	return buf;
}
