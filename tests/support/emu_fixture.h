/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An emulator for tests: three switches in a row, each with a host, of which one has two ports; clients
 * made of bare sockets. Time does not decide anything: turns are taken one by one.
 */
#ifndef WEFT_TEST_EMU_FIXTURE_H
#define WEFT_TEST_EMU_FIXTURE_H

#include "unit_test.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "emu/emu_priv.h" /* takes the emulator's turns one by one, without its loop and clock */

static inline struct fab *emu_fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw[3], h[3];

	for (unsigned i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "switch %u", i);
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x200 + i, 4, name);
		fab_builder_node(b, sw[i])->sys_guid = 0x200 + i;
	}
	for (unsigned i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "host%u", i);
		h[i] = fab_add_node(b, IBA_NODE_CA, 0x100 + 0x10 * i, i == 1 ? 2 : 1, name);
		fab_builder_port(b, h[i], 1)->guid = 0x101 + 0x10 * i;
	}
	fab_builder_port(b, h[1], 2)->guid = 0x999; /* not what a formula would give */
	assert_int_equal(fab_add_link(b, h[0], 1, sw[0], 1), 0);
	assert_int_equal(fab_add_link(b, h[1], 2, sw[1], 1), 0);
	assert_int_equal(fab_add_link(b, h[2], 1, sw[2], 1), 0);
	assert_int_equal(fab_add_link(b, sw[0], 2, sw[1], 3), 0);
	assert_int_equal(fab_add_link(b, sw[1], 2, sw[2], 3), 0);
	return fab_build(b);
}

/* name NULL: without sockets. */
static inline struct emu *emu_make(const char *name, unsigned clients)
{
	struct fab *f = emu_fabric();
	struct emu_config c;
	struct emu *m = NULL;
	struct err e;

	emu_config_default(&c);
	c.console = false;
	c.quiet = true;
	c.clients = clients;
	snprintf(c.name, sizeof(c.name), "%s", name ? name : "");
	if (emu_open(&m, f, &c, &e))
		fail_msg("%s", e.text);
	fab_free(f);
	return m;
}

/* ---- commands ---- */

/* What a command says; it must succeed. */
static inline const char *does(struct emu *m, const char *line)
{
	static struct strbuf out;

	strbuf_free(&out);
	out = (struct strbuf){0};
	if (emu_command(m, line, &out))
		fail_msg("%s: %s", line, out.s);
	return out.len ? out.s : "";
}

static inline void refuses(struct emu *m, const char *line, const char *says)
{
	struct strbuf out = {0};

	if (!emu_command(m, line, &out))
		fail_msg("%s was taken", line);
	if (!strstr(out.s, says))
		fail_msg("%s: expected '%s' in: %s", line, says, out.s);
	strbuf_free(&out);
}

static inline port_id port(const struct emu *m, const char *name, unsigned num)
{
	return fab_port_id(m->fab, fab_node_by_text(m->fab, name), num);
}

static inline unsigned state_of(const struct emu *m, const char *name, unsigned num)
{
	return sim_port_info(m->sim, port(m, name, num))->state;
}

/* ---- clients ---- */

struct peer {
	int ctl, data;
	uint32_t id, client;
};

static inline socklen_t peer_addr(struct sockaddr_un *a, const struct emu *m, const char *what,
				  long n)
{
	char number[24] = "";
	int len;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (n >= 0)
		snprintf(number, sizeof(number), "%ld", n);
	len = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s%s", m->cfg.name, what,
		       number);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len + 1);
}

/* What the loop has to do now, and one turn for each client. */
static inline void emu_turn(struct emu *m)
{
	uv_run(&m->loop, UV_RUN_NOWAIT);
	wire_serve(m, emu_now(m));
	wire_flush(m);
	wire_idle(m);
}

static inline struct ibsim_ctl peer_ask(struct emu *m, const struct peer *p, unsigned type,
					const void *data, size_t len)
{
	struct ibsim_ctl msg = {IBSIM_MAGIC, p->client, type, (uint32_t)len, {0}};

	memcpy(msg.data, data, len);
	assert_int_equal(send(p->ctl, &msg, sizeof(msg), 0), sizeof(msg));
	emu_turn(m);
	assert_int_equal(recv(p->ctl, &msg, sizeof(msg), MSG_DONTWAIT), sizeof(msg));
	return msg;
}

/* As libumad2sim does it; false: refused. */
static inline bool peer_join(struct emu *m, struct peer *p, uint32_t id, const char *node,
			     bool is_sm)
{
	struct ibsim_client_info i = {.id = id, .is_sm = is_sm};
	struct sockaddr_un a;
	struct ibsim_ctl msg;
	socklen_t len;

	*p = (struct peer){socket(AF_UNIX, SOCK_DGRAM, 0), socket(AF_UNIX, SOCK_DGRAM, 0), id, 0};
	len = peer_addr(&a, m, "ctl", id);
	assert_int_equal(bind(p->ctl, (struct sockaddr *)&a, len), 0);
	len = peer_addr(&a, m, "ctl", -1);
	assert_int_equal(connect(p->ctl, (struct sockaddr *)&a, len), 0);
	len = peer_addr(&a, m, "in", id);
	assert_int_equal(bind(p->data, (struct sockaddr *)&a, len), 0);
	snprintf(i.node, sizeof(i.node), "%s", node);
	msg = peer_ask(m, p, IBSIM_CONNECT, &i, sizeof(i));
	if (msg.type == IBSIM_ERROR)
		return false;
	memcpy(&i, msg.data, sizeof(i));
	p->client = i.id;
	len = peer_addr(&a, m, "out", i.id);
	assert_int_equal(connect(p->data, (struct sockaddr *)&a, len), 0);
	return true;
}

static inline void peer_die(struct peer *p)
{
	close(p->ctl);
	close(p->data);
}

static inline void peer_send(const struct peer *p, const struct sim_smp *smp)
{
	struct ibsim_packet out = {.dlid = htons(smp->dlid), .slid = htons(smp->slid)};

	memcpy(out.mad, smp->mad, IBA_MAD_SIZE);
	assert_int_equal(send(p->data, &out, sizeof(out), 0), sizeof(out));
}

/* 1 and the packet, or 0. */
static inline bool peer_recv(const struct peer *p, struct ibsim_packet *in)
{
	return recv(p->data, in, sizeof(*in), MSG_DONTWAIT) == sizeof(*in);
}

/* Get of an attribute along a directed route. */
static inline struct sim_smp smp_get(unsigned attr, uint64_t tid, unsigned hops,
				     const uint8_t *path)
{
	struct sim_smp smp = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	iba_smp_init(smp.mad, IBA_CLASS_SUBN_DR, IBA_GET, (uint16_t)attr, 0);
	iba_smp_set_tid(smp.mad, tid);
	iba_smp_set_dr_slid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(smp.mad, (uint8_t)hops);
	for (unsigned i = 0; i < hops; i++)
		iba_smp_initial_path(smp.mad)[i + 1] = path[i];
	return smp;
}

#endif
