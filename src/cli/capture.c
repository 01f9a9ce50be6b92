/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures: writes each packet that the simulation's tap reports, as pcapng. State: the open file and the
 * interface number of each port. Keeps no packets.
 */
#include "cli/capture.h"
#include "sim/plane/pcap.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"

enum { DATA_OVERHEAD = 26, UD_SEND = 0x64, RC_SEND = 0x04, PACKET_MAX = 8192 };

struct capture {
	struct file_out *out;
	struct strbuf text;
	struct sim *sim;
	uint32_t *interface; /* by port; UINT32_MAX: not captured */
	uint32_t serial;
};

static void flush(struct capture *c)
{
	file_out_put(c->out, c->text.s, c->text.len);
	c->text.len = 0;
}

static void on_sent(void *ctx, port_id port, unsigned vl, const struct sim_smp *smp, uint16_t slid,
		    uint16_t dlid, uint8_t sl, uint16_t pkey, uint16_t bytes)
{
	struct capture *c = ctx;
	struct pcap_headers h = {.vl = (uint8_t)vl,
				 .sl = sl,
				 .slid = slid,
				 .dlid = dlid,
				 .pkey = pkey,
				 .opcode = smp ? UD_SEND : RC_SEND,
				 .dest_qp = smp ? 0 : 2,
				 .psn = smp ? 0 : c->serial++ & 0xffffff};
	uint8_t buf[PACKET_MAX];
	size_t len;

	if (c->interface[port] == UINT32_MAX)
		return;
	len = smp ? pcap_build(buf, &h, smp->mad, IBA_MAD_SIZE)
		  : pcap_build(buf, &h, NULL, (size_t)(bytes - DATA_OVERHEAD));
	pcap_packet(&c->text, c->interface[port], sim_now(c->sim), buf, len, len);
	flush(c);
}

static void name_interfaces(struct capture *c, const struct fab *f, node_id only)
{
	uint32_t n = 0;
	char name[64], ident[32];

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];

		c->interface[p] = UINT32_MAX;
		if (!q->num || q->peer == FAB_NONE || (only != FAB_NONE && q->node != only))
			continue;
		fab_node_ident(f, q->node, ident);
		snprintf(name, sizeof(name), "%s[%u]", ident, q->num);
		pcap_interface(&c->text, name);
		c->interface[p] = n++;
	}
}

struct capture *capture_open(const char *path, const struct fab *f, struct sim *s, node_id only,
			     struct err *e)
{
	struct file_out *out = file_out_open(path, e);
	struct capture *c;

	if (!out)
		return NULL;
	c = mem_zalloc(sizeof(*c));
	c->out = out;
	c->sim = s;
	c->interface = mem_array(f->nports, sizeof(*c->interface));
	pcap_begin(&c->text);
	name_interfaces(c, f, only);
	flush(c);
	sim_tap(s, (struct sim_tap){on_sent, c});
	return c;
}

int capture_close(struct capture *c, bool keep, struct err *e)
{
	int rc = 0;

	if (!c)
		return 0;
	sim_tap(c->sim, (struct sim_tap){0});
	if (keep)
		rc = file_out_close(c->out, e);
	else
		file_out_drop(c->out);
	strbuf_free(&c->text);
	free(c->interface);
	free(c);
	return rc;
}
