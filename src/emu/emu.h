/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric emulator: the nodes of src/sim in real time, behind ibsim's protocol, so that stock
 * programs take them for hardware. One libuv loop; the simulation runs in express mode, as fast as
 * MADs come in.
 *
 *	emu_config_default(&c); emu_open(&m, fab, &c, &e); emu_run(m); emu_close(m);
 *
 * Who does what: emu.c the loop and the clock, wire.c sockets, clients.c who is connected, ctl.c what
 * they ask of the server itself, deliver.c what is whose, pending.c requests without an answer yet;
 * console.c the commands (for the console, the control socket and scripts alike) with cmd_*.c,
 * line.c and names.c what people write, input.c the console, script.c timed commands, events.c what
 * is printed. A client that sends without end gets its share; one that never reads loses what does
 * not fit its queue, and nobody waits for it.
 */
#ifndef WEFT_EMU_H
#define WEFT_EMU_H

#include <uv.h>

#include "fabric/fabric.h"
#include "sim/sim_config.h"

struct emu_config {
	struct sim_config sim;
	char name[64];	    /* of the sockets: $IBSIM_SOCKNAME or "sim"; "": none, for tests */
	unsigned udp_port;  /* also on 127.0.0.1; 0: not */
	unsigned clients;   /* at most so many, 1..1024 */
	char control[108];  /* unix socket for commands; "": none */
	const char *script; /* file of timed commands; NULL: none */
	unsigned spin_us;   /* look so long for the next MAD before sleeping */
	unsigned
		timeout_ms; /* a client's request without an answer is sent again after this long, */
	unsigned retries; /* so many times, and then comes back as timed out: what a kernel does */
	bool console;	  /* read commands from standard input */
	bool quiet;	  /* do not print events as they happen */
	bool json;	  /* print them as JSON, one a line */
	int out;	  /* descriptor for events and answers; -1: nowhere */
};

struct emu;

void emu_config_default(struct emu_config *c);
/* -EADDRINUSE: somebody serves this name or port; -EINVAL: the script, as "FILE:LINE: what is wrong". */
int emu_open(struct emu **m, const struct fab *f, const struct emu_config *c, struct err *e);
int emu_run(struct emu *m); /* until quit, SIGTERM or SIGINT */
void emu_close(struct emu *m);

/* One command, as typed. 0, or -EINVAL with what was wrong in out. */
int emu_command(struct emu *m, const char *line, struct strbuf *out);

#endif
