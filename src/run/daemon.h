/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's inside: the pieces daemon.c puts together. All of it runs on the loop's thread unless
 * it says otherwise, and nothing waits.
 */
#ifndef WEFT_DAEMON_H
#define WEFT_DAEMON_H

#include <uv.h>

#include "base/map.h"
#include "run/log.h"
#include "run/run.h"

/* ---- worker.c: routes, on a thread of their own ---- */

struct run_worker;

/* The routes are the receiver's; owner is what was given with the request. */
typedef void run_worker_done(void *ctx, struct sm_routes *routes, uint64_t owner, uint64_t took_us);

int run_worker_start(struct run_worker **w, uv_loop_t *loop, unsigned threads,
		     run_worker_done *done, void *ctx, struct err *e);
/*
 * A request that has not begun when a newer one comes is dropped; one that has is finished and answered,
 * in order. What a request points at must stay until its answer, or a later one's, was given.
 */
void run_worker_ask(struct run_worker *w, const struct sm_compute *c, uint64_t owner);
bool run_worker_busy(struct run_worker *w);   /* a request has begun and is not answered */
void run_worker_forget(struct run_worker *w); /* what has not begun */
/* false: it is still busy; the thread and all it uses must be left alone until the process ends.
 * true: it is over, and freed when the loop has run once more. */
bool run_worker_stop(struct run_worker *w);

/* ---- pump.c: MADs in, the SM's steps, MADs out ---- */

struct run_pump {
	struct tp *tp;
	struct sm *sm;
	struct sm_actions out;
	uint64_t (*clock_ns)(void);
	uint64_t zero_ns;   /* of the SM's time */
	time_ps back_after; /* then the SM's time is set back, to an eighth of it */
	time_ps wake;
	struct tp_mad *ring; /* from the SM, not yet taken by the transport */
	uint32_t size, head, n;
	unsigned batch; /* half the window: while these are dealt with, others are under way */
	uint64_t in, sent, lost; /* lost: no room in the ring */
	unsigned more;		 /* MADs in full batches in a row: there may be more */
	void (*note)(void *ctx, const struct sm_note *n);
	void (*compute)(void *ctx, const struct sm_compute *c);
	void (*set)(void *ctx); /* a Set is about to be sent; NULL: nobody asks */
	void *ctx;
};

/* tp and sm are borrowed; note, compute and ctx are filled by the caller afterwards. */
void run_pump_init(struct run_pump *p, struct tp *tp, struct sm *sm, unsigned window,
		   uint64_t (*clock_ns)(void));
void run_pump_free(struct run_pump *p);
time_ps run_pump_now(const struct run_pump *p);
/* Give the SM an event (its time is filled in) and do what it says. */
void run_pump_event(struct run_pump *p, struct sm_event *ev);
/* What there is to do now: a batch of MADs in, what is due, MADs out. How many MADs moved either way,
 * or -ENOTCONN. */
int run_pump_turn(struct run_pump *p);

/* ---- keeper.c: what must survive, written on a thread of libuv's pool ---- */

struct run_keep { /* a LID, or a name */
	uint64_t guid;
	char *name;
	uint16_t lid;
	uint8_t lmc;
};

struct run_keeper {
	struct run_log *log;
	char path[256];		   /* "": nothing goes to disk */
	struct run_state *state;   /* NULL: there was no room to make it */
	VEC(struct run_keep) lids; /* all that were ever given, for a new SM */
	struct map64 by_guid;
	VEC(struct run_keep) pending, writing;
	uint64_t m_key; /* to be put down with the next; 0: was */
	uv_timer_t timer;
	uv_work_t work;
	bool busy, soon, failed, closing;
	struct err e; /* of the last commit */
	int rc;
};

/* Reads what is there: LIDs, and into cfg the M_Keys that devices may hold. */
int run_keeper_open(struct run_keeper *k, uv_loop_t *loop, struct run_log *log, const char *path,
		    struct sm_config *cfg, struct err *e);
void run_keeper_lid(struct run_keeper *k, uint64_t guid, uint16_t lid, uint8_t lmc);
void run_keeper_name(struct run_keeper *k, uint64_t guid, const char *name);
void run_keeper_flush(struct run_keeper *k); /* as soon as can be; otherwise within 50 ms */
void run_keeper_seed(const struct run_keeper *k, struct sm *sm);
/* Writes what is left, waiting for it. The loop must run once more before k goes. */
void run_keeper_close(struct run_keeper *k);

/* ---- child.c: a process with a picture of this moment ---- */

struct run_child {
	bool (*work)(void *ctx);	  /* in the child; true: it went well */
	void (*done)(void *ctx, bool ok); /* on the loop */
	void *ctx;
	uv_poll_t *poll;
	int pid, pid_fd; /* pid 0: there is none */
};

/* keep: a descriptor that the child needs besides the first three, moved next to them; NULL: none.
 * 0 or -errno. */
int run_child_start(struct run_child *c, uv_loop_t *loop, int *keep);
bool run_child_wait(struct run_child *c); /* until it ends: did it go well? done() is not called */

/* ---- image.c: what the SM knows of a subnet at rest, in a file ---- */

struct run_image {
	struct run_log *log;
	char path[264], fresh[272]; /* path "": nothing is kept */
	struct sm *sm;		    /* NULL: there is none */
	int fd;			    /* of the file; -1: there is none */
	bool holds;		    /* the file does */
	bool stale;		    /* but more is known */
	bool touched;		    /* a Set was sent since the child began */
	bool closing;
	uv_timer_t timer;
	struct run_child child;
	uint64_t wrote_ns;
};

void run_image_open(struct run_image *i, uv_loop_t *loop, struct run_log *log, const char *state);
void run_image_give(struct run_image *i, struct sm *sm); /* to a new SM, before it starts */
void run_image_touch(struct run_image *i);		 /* a Set is about to be sent */
void run_image_rest(struct run_image *i,
		    bool news);		    /* the SM rests; news: it knows more than the file */
void run_image_forget(struct run_image *i); /* the SM goes */
void run_image_close(
	struct run_image *i); /* writes it, if the SM is there; the loop must run once more */

/* ---- link.c: the connection, opened on a thread of libuv's pool, again and again ---- */

struct run_link {
	uv_work_t work;
	uv_timer_t timer;
	char transport[16];
	struct tp_where where;
	unsigned delay_ms;
	bool busy, closing;
	/* of the last attempt, written by the thread */
	struct tp *tp;
	struct err e;
	int rc, is_sm_rc;
	/* The port is there, its IsSM bit set unless is_sm_rc says why not; tp is the receiver's. */
	void (*up)(void *ctx, struct tp *tp, int is_sm_rc);
	bool (*failed)(void *ctx, int rc, const struct err *e); /* true: try again */
	void *ctx;
};

void run_link_init(struct run_link *l, uv_loop_t *loop, const struct settings *c);
void run_link_open(struct run_link *l); /* now */
void run_link_again(
	struct run_link *l); /* after a while: 100 ms, and twice as long each time, up to 2 s */
void run_link_close(struct run_link *l); /* the loop must run until it is not busy */

/* ---- notes.c: what the SM says, for the log ---- */

void run_note_log(struct run_log *l, const struct sm *sm, const struct sm_note *n);
void run_round_log(struct run_log *l, const struct run_change *c, bool first);

/* ---- dumper.c: OpenSM's files ---- */

/* In place where that is quick, else by a child with a picture of this moment. */
struct run_dumper {
	uv_loop_t *loop;
	struct run_log *log;
	struct run_child child;
	const struct run_view *view; /* for the child */
	const char *directory;
	bool again; /* something changed since it began */
	void (*due)(void *ctx);
	void *ctx;
};

void run_dumper_init(struct run_dumper *d, uv_loop_t *loop, struct run_log *log);
int run_dumper_dump(struct run_dumper *d, const struct run_view *v, const char *directory,
		    struct err *e);
void run_dumper_wait(struct run_dumper *d); /* until the child is done */

/* ---- notify.c: systemd, by its protocol ---- */

void notify_send(const char *fmt, ...) PRINTF(1, 2); /* "READY=1"; nothing where nobody listens */
uint64_t notify_watchdog_us(void);		     /* 0: none is wanted */

#endif
