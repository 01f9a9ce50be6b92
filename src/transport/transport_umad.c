/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port of a local device, by libibumad. State: struct umad_tp; a thread waits in umad_recv(), fills a
 * ring and wakes the loop through an eventfd, since libumad2sim's descriptors cannot be polled. Way in:
 * tp_umad. Does not retry requests: the sender does.
 */
#undef _FILE_OFFSET_BITS /* libumad2sim replaces open(), not open64() */
#include <dirent.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/transport.h"

enum {
	RING = 4096,	    /* MADs; what arrives while it is full is lost */
	SENT = 16384,	    /* requests whose transaction ids are kept */
	KERNEL_MS = 2000,   /* the kernel's response timeout: longer than any sender's */
	STOP_POLL_MS = 200, /* how often the thread checks `stop` */
	GS_Q_KEY = (int)0x80010000,
};

/* umad_size() grows when a port is opened, up to this. */
#define UMAD_SIZE (sizeof(struct ib_user_mad) + IBA_MAD_SIZE)

/* Methods of unsolicited MADs that this agent receives, as bits. */
#define METHODS_SM (1L << IBA_GET | 1L << IBA_SET | 1L << IBA_TRAP | 1L << IBA_TRAP_REPRESS)

struct sent {
	uint32_t wire, tid;
};

struct umad_tp {
	struct tp tp;
	int port, issm, wake;
	int agent_dr, agent_lid, agent_mirror, agent_perf;
	char issm_path[256];
	struct tp_info info;
	void *out;
	/* The kernel refuses a request whose transaction id is outstanding, so each transmission gets
	 * an id of its own, and its response the original id again. */
	struct sent *sent;
	uint32_t next;
	pthread_t reader;
	atomic_bool stop, gone;
	_Atomic uint32_t head, tail; /* written by the loop, by the thread */
	struct tp_mad *ring;
};

/* ---- which port ---- */

static bool usable(const umad_port_t *p)
{
	return !*p->link_layer || !strncasecmp(p->link_layer, "InfiniBand", 10) ||
	       !strncasecmp(p->link_layer, "IB", 2);
}

static bool wanted(const struct tp_where *w, const umad_port_t *p)
{
	if (w->port_guid)
		return be64toh(p->port_guid) == w->port_guid;
	return w->port ? (unsigned)p->portnum == w->port : usable(p) && p->state > IBA_PORT_DOWN;
}

/* Of one device: the number of the matching port (0 on a switch), NO_PORT or NO_DEVICE. */
enum { NO_PORT = -1, NO_DEVICE = -2 };

static int port_of(const struct tp_where *w, const char *ca_name, struct tp_info *i)
{
	umad_ca_t ca;
	int found = NO_PORT;

	if (umad_get_ca(ca_name, &ca) < 0)
		return NO_DEVICE;
	for (int n = 0; n < UMAD_CA_MAX_PORTS && found < 0; n++)
		if (ca.ports[n] && wanted(w, ca.ports[n])) {
			i->node_guid = be64toh(ca.node_guid);
			i->node_type = (uint8_t)ca.node_type;
			i->port_guid = be64toh(ca.ports[n]->port_guid);
			i->port = (uint8_t)n;
			snprintf(i->name, sizeof(i->name), "%.*s port %d", UMAD_CA_NAME_LEN,
				 ca_name, n);
			found = n;
		}
	umad_release_ca(&ca);
	return found;
}

static int choose(const struct tp_where *w, char *name, struct tp_info *i, struct err *e)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	bool any = false, seen = false;

	for (int k = 0; k < n; k++) { /* without any device the library still returns a name */
		bool ask = !*w->device || !strcmp(w->device, names[k]);
		int port = port_of(w, names[k], i);

		any |= port != NO_DEVICE;
		seen |= ask && port != NO_DEVICE;
		if (ask && port >= 0) {
			snprintf(name, UMAD_CA_NAME_LEN, "%.*s", UMAD_CA_NAME_LEN - 1, names[k]);
			return 0;
		}
	}
	if (!any)
		return err_set(
			e, -ENODEV,
			"no InfiniBand device on this machine (/sys/class/infiniband has none)");
	if (!seen)
		return err_set(e, -ENODEV, "no device '%s'; the first device is '%s'", w->device,
			       names[0]);
	if (w->port_guid)
		return err_set(e, -ENODEV, "no local port has the GUID 0x%016llx",
			       (unsigned long long)w->port_guid);
	if (w->port)
		return err_set(e, -ENODEV, "'%s' has no port %u", *w->device ? w->device : names[0],
			       w->port);
	return err_set(
		e, -ENODEV,
		"no InfiniBand port of %s has a link; to use one without a link, give its number",
		*w->device ? w->device : "this machine");
}

/* A server excludes a local device. */
static bool umad_is_present(const struct tp_where *w)
{
	DIR *d = *w->server ? NULL : opendir("/sys/class/infiniband");
	bool found = false;

	for (const struct dirent *f; d && !found && (f = readdir(d));)
		found = f->d_name[0] != '.';
	if (d)
		closedir(d);
	return found;
}

static void umad_instance(const struct tp_where *w, char *out, size_t size)
{
	if (w->port_guid)
		snprintf(out, size, "%016llx", (unsigned long long)w->port_guid);
	else if (*w->device && w->port)
		snprintf(out, size, "%.55s-%u", w->device, w->port);
	else
		snprintf(out, size, "%.60s", w->device);
}

/* ---- receiving, on the thread ---- */

static void ring_put(struct umad_tp *u, void *umad)
{
	uint32_t tail = atomic_load_explicit(&u->tail, memory_order_relaxed);
	uint32_t head = atomic_load_explicit(&u->head, memory_order_acquire);
	struct tp_mad *m = &u->ring[tail % RING];
	const ib_mad_addr_t *a = umad_get_mad_addr(umad);
	uint64_t one = 1;

	if (tail - head == RING)
		return;
	memcpy(m->mad, umad_get_mad(umad), IBA_MAD_SIZE);
	m->slid = be16toh(a->lid);
	m->dlid = 0;
	m->lost = false;
	m->sl = a->sl;
	m->qp = m->mad[1] == IBA_CLASS_SUBN_DR || m->mad[1] == IBA_CLASS_SUBN_LID ? 0 : 1;
	atomic_store_explicit(&u->tail, tail + 1, memory_order_release);
	if (write(u->wake, &one, sizeof(one)) < 0)
		return; /* the counter is at its limit, so the loop is awake */
}

static void *reader(void *arg)
{
	struct umad_tp *u = arg;
	void *umad = mem_zalloc(UMAD_SIZE);
	uint64_t one = 1;

	while (!atomic_load(&u->stop)) {
		int len = IBA_MAD_SIZE, rc = umad_recv(u->port, umad, &len, STOP_POLL_MS);

		if (rc == -ENODEV || rc == -EBADF || rc == -EIO) {
			atomic_store(&u->gone, true);
			if (write(u->wake, &one, sizeof(one)) < 0)
				break;
			break;
		}
		/* A status marks our own request that got no response. */
		if (rc >= 0 && len >= IBA_MAD_SIZE && !umad_status(umad))
			ring_put(u, umad);
	}
	free(umad);
	return NULL;
}

/* ---- open and close ---- */

static int port_open(struct umad_tp *u, const char *name, struct err *e)
{
	long methods[16 / sizeof(long)] = {METHODS_SM}, mirror[16 / sizeof(long)] = {1L << IBA_GET};
	uint8_t oui[3] = {IBA_OUI_MIRROR >> 16, IBA_OUI_MIRROR >> 8 & 0xff, IBA_OUI_MIRROR & 0xff};

	u->port = umad_open_port(name, u->info.port);
	if (u->port < 0)
		return err_set(
			e, u->port == -EINVAL ? -ENODEV : u->port,
			"cannot open %s: %s (check that ib_umad is loaded and that this user may use /dev/infiniband)",
			u->info.name, strerror(-u->port));
	u->agent_dr = umad_register(u->port, IBA_CLASS_SUBN_DR, 1, 0, methods);
	u->agent_lid =
		u->agent_dr < 0 ? -1 : umad_register(u->port, IBA_CLASS_SUBN_LID, 1, 0, methods);
	if (u->agent_lid < 0)
		return err_set(
			e, -EBUSY,
			"cannot register for subnet management at %s: another subnet manager may be running",
			u->info.name);
	u->agent_mirror = umad_register_oui(u->port, IBA_CLASS_MIRROR, 0, oui, mirror);
	u->agent_perf = umad_register(u->port, IBA_CLASS_PERF, 1, 0, NULL); /* responses only */
	if (umad_get_issm_path(name, u->info.port, u->issm_path, sizeof(u->issm_path)))
		u->issm_path[0] = 0;
	return 0;
}

static void port_close(struct umad_tp *u)
{
	if (u->issm >= 0)
		close(u->issm);
	if (u->agent_perf >= 0)
		umad_unregister(u->port, u->agent_perf);
	if (u->agent_mirror >= 0)
		umad_unregister(u->port, u->agent_mirror);
	if (u->agent_lid >= 0)
		umad_unregister(u->port, u->agent_lid);
	if (u->agent_dr >= 0)
		umad_unregister(u->port, u->agent_dr);
	if (u->port >= 0)
		umad_close_port(u->port);
	if (u->wake >= 0)
		close(u->wake);
	free(u->out);
	free(u->sent);
	free(u->ring);
	free(u);
}

static int umad_tp_open(struct tp **t, const struct tp_where *w, struct err *e)
{
	struct umad_tp *u = mem_zalloc(sizeof(*u));
	char name[UMAD_CA_NAME_LEN];
	int rc;

	u->tp.ops = &tp_umad;
	u->port = u->issm = u->agent_dr = u->agent_lid = u->agent_mirror = u->agent_perf = -1;
	u->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	u->out = mem_zalloc(UMAD_SIZE);
	u->sent = mem_zarray(SENT, sizeof(*u->sent));
	u->ring = mem_zarray(RING, sizeof(*u->ring));
	rc = umad_init() < 0
		     ? err_set(e, -ENODEV,
			       "libibumad cannot start (check that the ib_umad module is loaded)")
		     : 0;
	if (!rc)
		rc = choose(w, name, &u->info, e);
	if (!rc)
		rc = port_open(u, name, e);
	if (!rc && pthread_create(&u->reader, NULL, reader, u))
		rc = err_set(e, -EAGAIN, "cannot start the receiving thread");
	if (rc) {
		port_close(u);
		return rc;
	}
	*t = &u->tp;
	return 0;
}

static void umad_tp_close(struct tp *t)
{
	struct umad_tp *u = (struct umad_tp *)t;

	atomic_store(&u->stop, true);
	pthread_join(u->reader, NULL);
	port_close(u);
}

static int umad_fd(const struct tp *t)
{
	return ((const struct umad_tp *)t)->wake;
}

/* ---- MADs, on the loop ---- */

static bool is_request(const uint8_t *mad)
{
	unsigned method = iba_smp_method(mad);

	return method == IBA_GET || method == IBA_SET;
}

static void tid_replace(struct umad_tp *u, uint8_t *mad)
{
	struct sent *s = &u->sent[++u->next % SENT];

	*s = (struct sent){u->next, (uint32_t)iba_smp_tid(mad)};
	iba_smp_set_tid(mad, s->wire);
}

static int agent_of(const struct umad_tp *u, const uint8_t *mad)
{
	switch (mad[1]) {
	case IBA_CLASS_SUBN_DR:
		return u->agent_dr;
	case IBA_CLASS_SUBN_LID:
		return u->agent_lid;
	case IBA_CLASS_PERF:
		return u->agent_perf;
	default:
		return u->agent_mirror;
	}
}

static int umad_tp_send(struct tp *t, const struct tp_mad *m, unsigned n)
{
	struct umad_tp *u = (struct umad_tp *)t;

	for (unsigned i = 0; i < n; i++) {
		uint8_t *mad = umad_get_mad(u->out);
		int agent = agent_of(u, m[i].mad), rc;
		bool request = is_request(m[i].mad);

		if (atomic_load(&u->gone))
			return i ? (int)i : -ENOTCONN;
		if (agent < 0)
			continue; /* this class could not be registered: as if lost */
		memset(u->out, 0, umad_size());
		memcpy(mad, m[i].mad, IBA_MAD_SIZE);
		if (request)
			tid_replace(u, mad);
		umad_set_addr(u->out, m[i].dlid, m[i].qp, m[i].sl, m[i].qp ? GS_Q_KEY : 0);
		rc = umad_send(u->port, agent, u->out, IBA_MAD_SIZE, request ? KERNEL_MS : 0, 0);
		if (rc == -ENODEV || rc == -EBADF || rc == -EIO) {
			atomic_store(&u->gone, true);
			return i ? (int)i : -ENOTCONN;
		}
		if (rc == -EAGAIN || rc == -ENOMEM || rc == -ENOBUFS)
			return (int)i;
	}
	return (int)n;
}

/* Restores the original transaction id of a response; -1: it belongs to no request that is kept. */
static int tid_restore(struct umad_tp *u, uint8_t *mad)
{
	uint32_t wire = (uint32_t)iba_smp_tid(mad);
	const struct sent *s = &u->sent[wire % SENT];

	if (iba_smp_method(mad) != IBA_GET_RESP)
		return 0; /* a request of another sender */
	if (s->wire != wire)
		return -1;
	iba_smp_set_tid(mad, s->tid);
	return 0;
}

static int umad_tp_recv(struct tp *t, struct tp_mad *m, unsigned max)
{
	struct umad_tp *u = (struct umad_tp *)t;
	uint32_t head = atomic_load_explicit(&u->head, memory_order_relaxed);
	uint64_t count;
	unsigned got = 0;

	if (read(u->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -ENOTCONN;
	while (got < max && head != atomic_load_explicit(&u->tail, memory_order_acquire)) {
		m[got] = u->ring[head++ % RING];
		got += !tid_restore(u, m[got].mad);
	}
	atomic_store_explicit(&u->head, head, memory_order_release);
	/* Wake the loop again for the rest. */
	count = 1;
	if (head != atomic_load_explicit(&u->tail, memory_order_acquire) &&
	    write(u->wake, &count, sizeof(count)) < 0)
		return (int)got;
	return atomic_load(&u->gone) && !got ? -ENOTCONN : (int)got;
}

/* The bit is set while the device file is open. O_NONBLOCK: do not wait for another SM to release it. */
static int umad_set_is_sm(struct tp *t, bool on)
{
	struct umad_tp *u = (struct umad_tp *)t;

	if (u->issm >= 0)
		close(u->issm);
	u->issm = -1;
	if (!on)
		return 0;
	if (!*u->issm_path)
		return -ENOENT;
	u->issm = open(u->issm_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return u->issm < 0 ? -errno : 0;
}

static void umad_tp_info(const struct tp *t, struct tp_info *i)
{
	*i = ((const struct umad_tp *)t)->info;
}

const struct tp_ops tp_umad = {
	.is_present = umad_is_present,
	.instance = umad_instance,
	.open = umad_tp_open,
	.close = umad_tp_close,
	.fd = umad_fd,
	.send = umad_tp_send,
	.recv = umad_tp_recv,
	.set_is_sm = umad_set_is_sm,
	.info = umad_tp_info,
};
