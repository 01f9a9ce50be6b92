/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric emulator: the nodes of src/sim in real time, behind ibsim's protocol, so that stock programs
 * use them like hardware. One libuv loop; the simulation runs in express mode, as fast as MADs come in.
 *
 *	emu_config_default(&c); emu_open(&m, fab, &c, &e); emu_run(m); emu_close(m);
 *
 * A client that sends without end gets its share of the turns; one that does not read loses what does not
 * fit its queue, and does not delay the others.
 */
#ifndef WEFT_EMU_H
#define WEFT_EMU_H

#include <uv.h>

#include "fabric/fabric.h"
#include "sim/sim_config.h"

struct emu_config {
	struct sim_config sim;
	char name[64];	    /* of the sockets: $IBSIM_SOCKNAME or "sim"; "": none, for tests */
	unsigned udp_port;  /* on 127.0.0.1, in addition; 0: no UDP */
	unsigned clients;   /* maximum number, 1..1024 */
	char control[108];  /* unix socket for commands; "": none */
	const char *script; /* file of timed commands; NULL: none */
	unsigned spin_us;   /* time to poll for the next MAD before sleeping */
	unsigned
		timeout_ms; /* a client's request without a response is sent again after this time, */
	unsigned retries;   /* so many times, and is then returned as timed out, as a kernel does */
	bool console;	    /* read commands from standard input */
	bool quiet;	    /* do not print events as they happen */
	bool json;	    /* print them as JSON, one object on each line */
	int out;	    /* descriptor for events and answers; -1: no output */
};

struct emu;

void emu_config_default(struct emu_config *c);
/* -EADDRINUSE: the name or port is in use; -EINVAL: an error in the script, as "FILE:LINE:
 * reason". */
int emu_open(struct emu **m, const struct fab *f, const struct emu_config *c, struct err *e);
int emu_run(struct emu *m); /* until quit, SIGTERM or SIGINT */
void emu_close(struct emu *m);

/* Runs one command, as typed. 0, or -EINVAL with the reason in out. */
int emu_command(struct emu *m, const char *line, struct strbuf *out);

#endif
