/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a kernel does for the users of a port: agents, files with messages to be read, requests that
 * wait for their response, are sent again and time out. State: the_port and the list of those
 * requests. Ways in: port_open(), then the calls of libc_wrap.c. One thread receives. Does not
 * assemble long responses: long_responses.c does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "preload/preload.h"

/* A request that was sent with a time-out. */
struct sent {
	struct sent *next;
	unsigned agent;
	struct ib_user_mad_hdr to;
	uint8_t mad[IBA_MAD_SIZE];
	uint64_t due_ms;
	unsigned retries;
	struct iba_rmpp_in in;
};

static pthread_t receiver;
static struct sent *waiting;
static int wake = -1; /* an eventfd: the receiver has a new timeout to wait for */

/* ---- files ---- */

int port_file_of(int fd)
{
	for (unsigned i = 0; fd >= 0 && the_port.open && i < FILES_MAX; i++)
		if (the_port.files[i].used && the_port.files[i].fd == fd)
			return (int)i;
	return -1;
}

int port_file_open(bool is_sm_device)
{
	for (unsigned i = 0; i < FILES_MAX; i++) {
		struct umad_file *f = &the_port.files[i];
		int32_t on = 1;

		if (f->used)
			continue;
		if (is_sm_device && server_ask(&the_port, IBSIM_SET_IS_SM, &on, sizeof(on))) {
			errno = EBUSY;
			return -1;
		}
		*f = (struct umad_file){.is_sm_device = is_sm_device};
		f->fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
		f->used = f->fd >= 0;
		return f->fd;
	}
	errno = EMFILE;
	return -1;
}

static void message_free(struct message *m)
{
	free(m->data);
	free(m);
}

static void sent_end(struct sent **at)
{
	struct sent *s = *at;

	*at = s->next;
	iba_rmpp_in_free(&s->in);
	free(s);
}

void port_file_close(unsigned file)
{
	struct umad_file *f = &the_port.files[file];
	int32_t off = 0;

	for (unsigned a = 0; a < AGENTS_MAX; a++)
		if (the_port.agents[a].used && the_port.agents[a].file == file)
			port_unregister(file, a);
	while (f->first) {
		struct message *m = f->first;

		f->first = m->next;
		message_free(m);
	}
	if (f->is_sm_device)
		server_ask(&the_port, IBSIM_SET_IS_SM, &off, sizeof(off));
	f->used = false;
}

/* ---- agents ---- */

/* Whether an agent accepts requests of this class. The SM is known by IsSM, and the SA is at the
 * SM. */
static bool takes(unsigned mgmt_class)
{
	static const uint32_t none[4];
	bool is_sm = mgmt_class == IBA_CLASS_SUBN_LID || mgmt_class == IBA_CLASS_SUBN_DR ||
		     mgmt_class == IBA_CLASS_SUBN_ADM;

	for (unsigned a = 0; !is_sm && a < AGENTS_MAX; a++)
		if (the_port.agents[a].used && the_port.agents[a].reg.mgmt_class == mgmt_class &&
		    memcmp(the_port.agents[a].reg.method_mask, none, sizeof(none)))
			return true;
	return false;
}

/* The server must know which clients serve a class: another program at the same port may only
 * send requests. */
static void report_served(unsigned mgmt_class, bool before)
{
	uint32_t v[2] = {mgmt_class, takes(mgmt_class)};

	if (v[1] != before)
		server_ask(&the_port, IBSIM_SET_SERVES, v, sizeof(v));
}

int port_register(unsigned file, struct ib_user_mad_reg_req *r)
{
	bool before;

	for (unsigned a = 0; a < AGENTS_MAX; a++) {
		if (the_port.agents[a].used)
			continue;
		r->id = a;
		before = takes(r->mgmt_class);
		the_port.agents[a] = (struct agent){true, file, *r};
		report_served(r->mgmt_class, before);
		return 0;
	}
	errno = ENOMEM;
	return -1;
}

int port_unregister(unsigned file, uint32_t id)
{
	bool before;

	if (id >= AGENTS_MAX || !the_port.agents[id].used || the_port.agents[id].file != file) {
		errno = EINVAL;
		return -1;
	}
	before = takes(the_port.agents[id].reg.mgmt_class);
	the_port.agents[id].used = false;
	report_served(the_port.agents[id].reg.mgmt_class, before);
	for (struct sent **at = &waiting; *at;) {
		if ((*at)->agent == id)
			sent_end(at);
		else
			at = &(*at)->next;
	}
	return 0;
}

static bool serves(const struct agent *a, const uint8_t *mad)
{
	unsigned method = mad[3] & 0x7f;
	unsigned long mask;

	if (!a->used || a->reg.mgmt_class != mad[1] || a->reg.mgmt_class_version != mad[2])
		return false;
	if (mad[1] >= 0x30 && mad[1] <= 0x4f && memcmp(a->reg.oui, mad + 37, sizeof(a->reg.oui)))
		return false;
	memcpy(&mask,
	       (const uint8_t *)a->reg.method_mask + method / (8 * sizeof(mask)) * sizeof(mask),
	       sizeof(mask));
	return mask >> method % (8 * sizeof(mask)) & 1;
}

/* ---- reading ---- */

void port_deliver(unsigned agent, const struct ib_user_mad_hdr *from, const uint8_t *mad,
		  size_t len, int status)
{
	struct umad_file *f = &the_port.files[the_port.agents[agent].file];
	struct message *m = mem_zalloc(sizeof(*m));
	struct ib_user_mad_hdr h = *from;

	h.id = agent;
	h.status = (uint32_t)status;
	h.length = (uint32_t)(UMAD_HDR + len);
	m->len = UMAD_HDR + len;
	m->data = mem_alloc(m->len);
	memcpy(m->data, &h, UMAD_HDR);
	memcpy(m->data + UMAD_HDR, mad, len);
	if (f->first)
		f->last->next = m;
	else
		f->first = m;
	f->last = m;
	eventfd_write(f->fd, 1);
}

/* No message: wait without the mutex. */
static int wait_for(unsigned file)
{
	struct pollfd p = {the_port.files[file].fd, POLLIN, 0};

	port_unlock();
	poll(&p, 1, -1);
	port_lock();
	return the_port.files[file].used ? 0 : -1;
}

ssize_t port_read(unsigned file, uint8_t *buf, size_t count)
{
	struct umad_file *f = &the_port.files[file];
	struct message *m;
	eventfd_t one;
	size_t len;

	while (!f->first)
		if (wait_for(file)) {
			errno = EBADF;
			return -1;
		}
	m = f->first;
	len = m->len;
	memcpy(buf, m->data, MIN(len, count));
	if (len >
	    count) { /* the header has the length; the program may read again with more room */
		errno = count < UMAD_HDR ? EINVAL : ENOSPC;
		return -1;
	}
	f->first = m->next;
	eventfd_read(f->fd, &one);
	message_free(m);
	return (ssize_t)len;
}

/* ---- writing ---- */

static bool is_response(const uint8_t *mad)
{
	return mad[3] & METHOD_RESPONSE || mad[3] == IBA_TRAP_REPRESS;
}

/* The upper half of a request's transaction id is the kernel's: it identifies the agent of the
 * response. */
static void mark_tid(uint8_t *mad, unsigned agent)
{
	uint64_t own = ((uint64_t)getpid() & 0xffff) << 16 | (agent + 1);

	iba_smp_set_tid(mad, own << 32 | (uint32_t)iba_smp_tid(mad));
}

static void remember(unsigned agent, const struct ib_user_mad_hdr *to, const uint8_t *mad)
{
	struct sent *s = mem_zalloc(sizeof(*s));

	*s = (struct sent){.agent = agent,
			   .to = *to,
			   .due_ms = preload_ms() + to->timeout_ms,
			   .retries = to->retries};
	memcpy(s->mad, mad, IBA_MAD_SIZE);
	s->next = waiting;
	waiting = s;
	eventfd_write(wake, 1);
}

/* A program leaves the segments of a request to the kernel as well: GetMulti of subnet administration. */
static void long_request(unsigned agent, struct ib_user_mad_hdr *to, const uint8_t *data,
			 size_t len)
{
	uint8_t *whole = mem_alloc(len), first[IBA_MAD_SIZE];
	struct iba_rmpp_out o;

	memcpy(whole, data, len);
	mark_tid(whole, agent);
	iba_rmpp_out_begin(&o, whole, len);
	iba_rmpp_out_next(&o, first);
	if (o.segments > 1) { /* the transfer repeats its segments */
		to->timeout_ms *= to->retries + 1;
		to->retries = 0;
	}
	if (to->timeout_ms)
		remember(agent, to, first);
	if (o.segments > 1)
		long_send(agent, to, whole, len);
	else
		server_send(&the_port, to, the_port.agents[agent].reg.qpn, first);
	free(whole);
}

ssize_t port_write(unsigned file, const uint8_t *buf, size_t count)
{
	const uint8_t *data = buf + UMAD_HDR;
	struct ib_user_mad_hdr h;
	uint8_t mad[IBA_MAD_SIZE] = {0};

	if (count < UMAD_HDR + 24) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&h, buf, UMAD_HDR);
	if (h.id >= AGENTS_MAX || !the_port.agents[h.id].used ||
	    the_port.agents[h.id].file != file) {
		errno = EINVAL;
		return -1;
	}
	if (the_port.agents[h.id].reg.rmpp_version && count >= UMAD_HDR + 56 &&
	    iba_rmpp_active(data)) {
		if (is_response(data))
			long_send(h.id, &h, data, count - UMAD_HDR);
		else
			long_request(h.id, &h, data, count - UMAD_HDR);
		eventfd_write(wake, 1);
		return (ssize_t)count;
	}
	memcpy(mad, data, MIN(count - UMAD_HDR, sizeof(mad)));
	if (!is_response(mad)) {
		mark_tid(mad, h.id);
		if (h.timeout_ms)
			remember(h.id, &h, mad);
	}
	server_send(&the_port, &h, the_port.agents[h.id].reg.qpn, mad);
	return (ssize_t)count;
}

/* ---- receiving ---- */

static void from_wire(const struct ibsim_packet *in, struct ib_user_mad_hdr *h)
{
	*h = (struct ib_user_mad_hdr){.qpn = in->sqp, .lid = (uint16_t)in->slid};
}

static void response(const struct ibsim_packet *in)
{
	struct sent **at = &waiting, *s;
	struct ib_user_mad_hdr h;

	if (iba_rmpp_active(in->mad) && iba_rmpp_type(in->mad) != IBA_RMPP_DATA &&
	    iba_rmpp_type(in->mad)) { /* about segments of a request */
		long_control(in);
		return;
	}
	while (*at &&
	       (iba_smp_tid((*at)->mad) != iba_smp_tid(in->mad) || (*at)->mad[1] != in->mad[1]))
		at = &(*at)->next;
	s = *at;
	if (!s)
		return;
	from_wire(in, &h);
	/* libumad2sim sends only the beginning of a long response, without a segment number. */
	if (the_port.agents[s->agent].reg.rmpp_version && iba_rmpp_active(in->mad) &&
	    iba_rmpp_type(in->mad) == IBA_RMPP_DATA && iba_rmpp_segment(in->mad)) {
		s->due_ms = preload_ms() + MAX(s->to.timeout_ms, 1000u);
		s->retries = 0;
		if (!long_take(&s->in, s->agent, in))
			return;
		port_deliver(s->agent, &h, s->in.data, s->in.len, 0);
	} else {
		port_deliver(s->agent, &h, in->mad, IBA_MAD_SIZE, 0);
	}
	sent_end(at);
}

static void request(const struct ibsim_packet *in)
{
	struct ib_user_mad_hdr h;

	if (iba_rmpp_active(in->mad) && iba_rmpp_type(in->mad) != IBA_RMPP_DATA) {
		long_control(in);
		return;
	}
	from_wire(in, &h);
	for (unsigned a = 0; a < AGENTS_MAX; a++)
		if (serves(&the_port.agents[a], in->mad)) {
			port_deliver(a, &h, in->mad, IBA_MAD_SIZE, 0);
			return;
		}
}

/* Repeats requests that are due, or returns them as timed out. Returns when to call it again. */
static uint64_t late(uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (struct sent **at = &waiting; *at;) {
		struct sent *s = *at;

		if (now >= s->due_ms && !s->retries) {
			struct ib_user_mad_hdr h = s->to;

			port_deliver(s->agent, &h, s->mad, IBA_MAD_SIZE, ETIMEDOUT);
			sent_end(at);
			continue;
		}
		if (now >= s->due_ms) {
			s->retries--;
			s->due_ms = now + s->to.timeout_ms;
			server_send(&the_port, &s->to, the_port.agents[s->agent].reg.qpn, s->mad);
		}
		next = MIN(next, s->due_ms);
		at = &s->next;
	}
	return MIN(next, long_late(now));
}

static void *receive(void *unused UNUSED)
{
	struct pollfd p[2] = {{the_port.data, POLLIN, 0}, {wake, POLLIN, 0}};
	struct ibsim_packet in;
	eventfd_t times;
	uint64_t next;
	int rc;

	for (;;) {
		port_lock();
		while (!(rc = server_recv(&the_port, &in)) || rc == -EBADMSG) {
			if (rc ||
			    in.status) /* ibsim reports a lost packet: the timeout handles it */
				continue;
			if (is_response(in.mad))
				response(&in);
			else
				request(&in);
		}
		next = late(preload_ms());
		port_unlock();
		rc = next == UINT64_MAX
			     ? -1
			     : (int)MIN(next - MIN(preload_ms(), next) + 1, (uint64_t)60000);
		poll(p, 2, rc);
		if (p[1].revents)
			eventfd_read(wake, &times);
	}
	return NULL;
}

/* ---- life ---- */

/* Reads the GUIDs from the node itself: the server's own NodeInfo is adapted to libumad2sim. */
static int learn(void)
{
	struct ib_user_mad_hdr to = {.lid = 0xffff};
	uint8_t mad[IBA_MAD_SIZE];
	struct ibsim_packet in;
	struct iba_node_info ni;
	struct pollfd p = {the_port.data, POLLIN, 0};

	iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_NODE_INFO, 0);
	iba_smp_set_dr_slid(mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(mad, IBA_LID_PERMISSIVE);
	for (unsigned i = 0; i < 5; i++) {
		iba_smp_set_tid(mad, i + 1);
		server_send(&the_port, &to, 0, mad);
		if (poll(&p, 1, 200) > 0 && !server_recv(&the_port, &in) &&
		    in.mad[3] == IBA_GET_RESP) {
			iba_node_info_get(&ni, iba_smp_data(in.mad), IBA_SMP_DATA_SIZE);
			the_port.node_guid = ni.node_guid;
			the_port.port_guid = ni.port_guid;
			the_port.sys_guid = ni.sys_guid;
			the_port.node_type = ni.node_type;
			the_port.num = ni.node_type == IBA_NODE_SWITCH ? 0 : ni.local_port;
			return 0;
		}
	}
	return -ETIMEDOUT;
}

static int open_once(void)
{
	int rc = server_open(&the_port);

	if (!rc)
		rc = learn();
	if (!rc)
		rc = tree_make(&the_port);
	wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!rc && (wake < 0 || pthread_create(&receiver, NULL, receive, NULL)))
		rc = -EAGAIN;
	the_port.open = !rc;
	return rc;
}

int port_open(void)
{
	int rc = 0;

	port_lock();
	if (!the_port.open)
		rc = open_once();
	if (rc)
		fprintf(stderr, "libweft-umad: cannot connect to the fabric: %s\n", strerror(-rc));
	port_unlock();
	return rc;
}

void port_close_all(void)
{
	port_lock(); /* never unlocked: the receiver must stop */
	if (the_port.open)
		server_close(&the_port);
	the_port.open = false;
	tree_remove();
}
