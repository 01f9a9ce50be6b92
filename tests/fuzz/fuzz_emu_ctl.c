/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as control messages and packets of three clients: nothing may crash, what is answered is
 * answered, and the books of pending requests stay right. The clients' sockets live as long as the
 * program and are never read; libFuzzer is the way in, or replay.c over files.
 */
#include <unistd.h>

#include "emu/emu_priv.h" /* feeds control messages past the sockets */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

enum { PEERS = 3 };

static struct emu_addr peer[PEERS]; /* where their control messages come from */
static char name[48];

static void address(struct emu_addr *a, const char *what, unsigned id)
{
	int n;

	*a = (struct emu_addr){0};
	a->a.un.sun_family = AF_UNIX;
	n = snprintf(a->a.un.sun_path + 1, sizeof(a->a.un.sun_path) - 1, "%s:%s%u", name, what, id);
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

static void peers_open(void)
{
	snprintf(name, sizeof(name), "weft-fuzz-%d", (int)getpid());
	for (unsigned i = 0; i < PEERS; i++) {
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		struct emu_addr in;

		address(&peer[i], "ctl", i);
		address(&in, "in", i);
		CHECK(fd >= 0 && !bind(fd, &in.a.any, in.len));
	}
}

static struct emu *open_emu(void)
{
	struct fab_builder *b = fab_builder_new();
	struct emu_config c;
	struct emu *m;
	struct fab *f;
	struct err e;

	fab_add_node(b, IBA_NODE_SWITCH, 0x10, 3, "one");
	fab_add_node(b, IBA_NODE_CA, 0x20, 2, "host");
	CHECK(!fab_add_link(b, 1, 1, 0, 1) && !fab_add_link(b, 1, 2, 0, 2));
	f = fab_build(b);
	emu_config_default(&c);
	snprintf(c.name, sizeof(c.name), "%s", name);
	c.quiet = true;
	c.console = false;
	c.clients = PEERS;
	CHECK(!emu_open(&m, f, &c, &e));
	fab_free(f);
	return m;
}

static size_t take(const uint8_t **data, size_t *left, void *to, size_t want)
{
	size_t n = MIN(want, *left);

	memset(to, 0, want);
	memcpy(to, *data, n);
	*data += n;
	*left -= n;
	return n;
}

static void control(struct emu *m, unsigned who, struct ibsim_ctl *msg, bool known)
{
	bool magic = known || msg->magic == IBSIM_MAGIC;

	if (known) { /* mostly, a client is what it says */
		msg->magic = IBSIM_MAGIC;
		msg->client %= PEERS + 1;
		msg->type %= 12;
	}
	if (msg->type == IBSIM_CONNECT)
		memcpy(msg->data, &(uint32_t){who}, sizeof(uint32_t));
	CHECK(ctl_answer(m, msg, &peer[who], false) == magic);
}

static void check_books(const struct emu *m)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < PEERS; c++) {
		CHECK(m->clients[c].used || !m->pend.client[c].n);
		for (uint32_t i = m->pend.client[c].oldest; i != PEND_NONE;
		     i = m->pend.at.at[i].newer, n++)
			CHECK(m->pend.at.at[i].used && m->pend.at.at[i].client == c);
	}
	CHECK(n == m->pend.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct emu *m;
	uint8_t op;

	if (!name[0])
		peers_open();
	m = open_emu();
	while (size && take(&data, &size, &op, 1)) {
		unsigned who = op >> 2 & 3;
		struct ibsim_packet p;
		struct ibsim_ctl msg;

		if (who == PEERS) {
			deliver_late(m, emu_now(m) + 10 * PS_PER_S);
			emu_settle(m, emu_now(m));
		} else if (op & 1) {
			take(&data, &size, &p, sizeof(p));
			if (m->clients[who].used)
				deliver_from_client(m, who, &p, emu_now(m));
			emu_settle(m, emu_now(m));
		} else {
			take(&data, &size, &msg, sizeof(msg));
			control(m, who, &msg, op & 2);
		}
		wire_flush(m);
		check_books(m);
	}
	emu_close(m);
	return 0;
}
