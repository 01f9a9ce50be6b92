/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulator's inside, shared by its files. Each .c file says what it does.
 */
#ifndef WEFT_EMU_PRIV_H
#define WEFT_EMU_PRIV_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/json.h"
#include "emu/emu.h"
#include "emu/pending_requests.h"
#include "transport/ibsim.h"
#include "control/lines.h"

#define CLIENT_NONE UINT32_MAX
#define EMU_ASK_TID 0x7765667400000001ull /* of the emulator's own requests */

enum {
	EMU_BATCH = 32, /* MADs of one client in a turn */
	EMU_CLIENTS_MAX = 1024,
	EMU_PENDING_MAX = 4096, /* requests of one client without an answer */
	EMU_QUEUE_MAX = 4096,	/* packets queued for one client */
	EMU_STATUS_TIMEOUT = 110,
	EMU_METER_ATTRS = 64, /* the last one counts all others */
};

struct emu_addr {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_storage storage;
	} a;
	socklen_t len;
};

static inline bool emu_addr_same(const struct emu_addr *a, const struct emu_addr *b)
{
	return a->len == b->len && !memcmp(&a->a, &b->a, a->len);
}

/* A socket in the loop. It is freed when the loop has closed it; emu or client may be gone
 * before. */
struct emu_sock {
	uv_poll_t poll;
	int fd, events;
	struct emu *m;
	uint32_t client; /* CLIENT_NONE: a control socket */
	bool udp;
};

struct emu_client {
	bool used, udp, is_sm;
	bool ready, unsent; /* in the list of clients to be read; with packets to be sent */
	bool blocked;	    /* its socket is full */
	uint32_t id;	    /* its pid, or its UDP port */
	port_id port;
	uint64_t vguid; /* at a VF: of the machine that it belongs to; 0: at another port */
	uint32_t next_at_port;
	struct emu_sock *sock;
	struct emu_addr ctl, in; /* address of its control socket; of its data socket */
	unsigned timeout_ms, retries;
	time_ps since, last; /* time of connection; of its last MAD */
	uint64_t mads_in, mads_out, lost;
	uint8_t asked[32],
		serves[32];	    /* classes of its requests; of its responses, or registered */
	struct ibsim_packet *queue; /* a ring */
	uint32_t q_first, q_n, q_cap;
};

/* A port with clients: the context of what the simulation delivers there. */
struct emu_port {
	struct emu *m;
	port_id port;
	uint32_t first; /* client, the oldest first */
	struct emu_port *next;
};

struct emu_stats {
	uint64_t mads_in, mads_out; /* from and to clients */
	uint64_t lost;		    /* dropped: the client did not read */
	uint64_t unclaimed;	    /* without a client to take them */
	uint64_t repeats, timeouts;
	uint64_t connects, bad_packets;
};

/* SMPs of one method and attribute: smp_meter.c */
struct emu_meter {
	uint64_t n;
	time_ps first, last;
};

struct script;
struct input;
struct events;
struct output;
struct emu_io; /* client_socket.h: buffers of one batch */

struct emu {
	struct emu_config cfg;
	struct fab *fab; /* our own copy: the command Guid changes it */
	struct sim *sim;
	uv_loop_t loop;
	bool loop_open, stop;
	uint64_t start_ns;
	time_ps busy_until; /* other processes need the core: do not poll */
	struct emu_sock *ctl_unix, *ctl_udp;
	struct emu_io *io;
	struct emu_client *clients;
	struct emu_port *ports;
	/* What the simulation delivers at a port in use goes here, with its struct emu_port. */
	void (*receive)(void *port, const struct sim_smp *smp);
	uint32_t *ready, nready, *unsent, nunsent;
	struct pend pend;
	struct emu_stats stats;
	struct emu_meter meter[3][EMU_METER_ATTRS];
	time_ps meter_since;
	port_id *before; /* by port: its peer before it was unlinked, or FAB_NONE */
	port_id default_port;
	unsigned verbose;
	bool asking; /* emu_ask() waits for this answer */
	bool answered;
	uint8_t answer[IBA_MAD_SIZE];
	uv_signal_t sigint, sigterm;
	uv_timer_t tick, probe;
	uv_poll_t clock; /* a timerfd: the next event of the simulation */
	int clock_fd;
	struct lines *control;
	struct script *script;
	struct input *input;
	struct events *events;
	struct output *output;
};

/* From the bottom up: a function calls those of files above it in this list. */

/* emu_clock.c */
uint64_t emu_clock_ns(void);
time_ps emu_now(const struct emu *m);
void emu_settle(struct emu *m, time_ps now); /* the simulation runs everything due at `now` */
void emu_stop(struct emu *m);

/* console_output.c: never blocks */
void output_open(struct emu *m);
void output_close(struct emu *m);
void output_event(struct emu *m, const char *line);  /* dropped and counted if the reader is slow */
void output_answer(struct emu *m, const char *text); /* kept until the reader takes it */
void output_flush(struct emu *m);

/* event_log.c */
void events_open(struct emu *m);
void events_close(struct emu *m);
void events_say(struct emu *m, const char *fmt, ...) PRINTF(2, 3);
void events_flush(struct emu *m); /* prints the number of events that were not printed one by one */

/* client_socket.c */
int wire_connect(struct emu *m, uint32_t c, struct err *e); /* a data socket for this client */
void wire_disconnect(struct emu *m, uint32_t c);
bool wire_alive(struct emu *m, uint32_t c); /* a process still has the client's address */
void wire_queue(struct emu *m, uint32_t c, const struct sim_smp *smp, unsigned status);
void wire_idle(struct emu *m); /* before sleeping: the loop watches all sockets again */

/* clients.c */
uint32_t clients_attach(struct emu *m, const struct ibsim_client_info *i,
			const struct emu_addr *from, bool udp, struct err *e);
void clients_detach(struct emu *m, uint32_t c, const char *why);
bool clients_sm_place_taken(struct emu *m, port_id p); /* detaches an SM whose process has ended */
void clients_set_is_sm(struct emu *m, uint32_t c, bool on);
void clients_probe(struct emu *m); /* detaches clients whose process has ended */
void clients_free(struct emu *m);
unsigned clients_port_num(const struct emu *m, port_id p); /* of a switch: 0 */
struct emu_port *clients_port_open(struct emu *m, port_id p);
void clients_port_close(struct emu *m, port_id p);	  /* unless a client uses it */
uint64_t clients_machine(const struct emu *m, port_id p); /* the GUID of a VF; 0: it is none */
bool clients_runs(const struct emu *m, uint32_t c);	  /* its machine is at its port */
void clients_move(struct emu *m, uint32_t c, port_id to);

/* vm_clients.c: programs follow their machines */
void machines_watch(struct emu *m);

/* node_query.c: a MAD of the emulator to the node itself, with the right M_Key: attribute data
 * in and out. False: no answer. */
bool emu_ask(struct emu *m, port_id p, unsigned method, unsigned attr, uint32_t mod,
	     uint8_t data[64]);

/* client_control.c: changes the message into its answer; false: no answer is due */
bool ctl_answer(struct emu *m, struct ibsim_ctl *msg, const struct emu_addr *from, bool udp);

/* smp_meter.c */
void meter_count(struct emu *m, const uint8_t *mad, time_ps now);

/* mad_dispatch.c */
void deliver_from_client(struct emu *m, uint32_t c, const struct ibsim_packet *p, time_ps now);
void deliver_to_port(void *ctx, const struct sim_smp *smp);
void deliver_late(struct emu *m,
		  time_ps now); /* repeats requests without a response, or gives up */

/* socket_loop.c */
int wire_open(struct emu *m, struct err *e);
void wire_close(struct emu *m);
bool wire_serve(struct emu *m, time_ps now); /* one turn for all ready clients; did something */
bool wire_flush(struct emu *m);		     /* sent something */

/* script.c */
int script_open(struct emu *m, struct err *e);
void script_start(struct emu *m);
void script_close(struct emu *m);

/* console_input.c */
int input_open(struct emu *m, struct err *e);
void input_close(struct emu *m);

/* emu.c */
void emu_tick(struct emu *m, time_ps now); /* what is due, then requests without a response */

#endif
