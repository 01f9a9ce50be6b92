/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the web process and a process that makes frames (an engine, the live source): a pair of unix sockets.
 * To the child go messages: u32 length of the whole, u32 kind, content. From it come frames (frames.h). Both may carry
 * a descriptor.
 *
 * This header is the child's side; it blocks. The child has one thread. It ends when the web process closes its end
 * of the socket or dies, even in the middle of a long computation: a timer looks at the socket.
 */
#ifndef WEFT_CHILD_LINK_H
#define WEFT_CHILD_LINK_H

#include <sys/types.h>

#include "base/base.h"
#include "web/frames.h"

enum child_message {
	MSG_COMMAND = 0,  /* JSON of the page */
	MSG_ASK_NOW = 1,  /* answered by INTERNAL_NOW */
	MSG_JOURNAL = 2,  /* JSON of a command "journal"; its reply is not sent */
	MSG_INTERVAL = 3, /* u64: events from one checkpoint to the next */
	MSG_WAKE =
		4, /* to a checkpoint, with a descriptor: a new process goes on with it from here */
};

/* Kinds of frames that end in the web process. */
enum {
	INTERNAL_CHECKPOINT =
		FRAME_INTERNAL, /* u64 at ps, u64 events, u32 done (checkpoints.h); with a descriptor */
	INTERNAL_NOW,		/* u64 at ps */
	INTERNAL_EVENT,		/* u64 at ps, u32 done, text: added to the journal */
	INTERNAL_CUT,	/* u64 now ps, u32 done: the future is another one; its events follow */
	INTERNAL_RESET, /* a new fabric or run: checkpoints and journal are void */
	INTERNAL_DEATH, /* text: why the process ends; its last frame */
};

enum { MSG_HEAD = 8, MSG_MAX = 65 << 20 };

/* recvmsg() that repeats when interrupted: bytes, 0 at the end, or -errno. A descriptor that came along replaces
 * *passed. Both sides use it. */
ssize_t child_read(int fd, void *data, size_t len, int *passed);

/* fork() without the handlers that libraries registered for it: libuv's closes descriptors of its own by number, and in
 * a child that has closed them already these are others. For processes with one thread. */
pid_t child_fork(void);

/* Forks. The child runs body(fd, ctx) in a process group of its own, with standard input and output closed, and
 * ends when it returns; *fd is the web process's end, non-blocking. The group, or -errno. */
pid_t child_start(void (*body)(int fd, void *ctx), void *ctx, int *fd);

/* Sends in one piece and without waiting, from either side; false if that is not possible. */
bool child_try_send(int fd, const void *data, size_t len, int pass);

/* ---- in the child ---- */

/* A signal that ends the process is reported to the web process on *fd, with what it was doing, which is read then: -1
 * or NULL: nothing is reported. */
void child_report_death(const int *fd, const char *const *doing);

void child_watch(int fd); /* from now on, end with this socket; -1: with none */
/* Sends all of it; ends the process when no one reads any more. pass: a descriptor to send along, or -1. */
void child_send(int fd, const void *data, size_t len, int pass);
void child_send_frame(int fd, unsigned kind, const void *data, size_t len, int pass);
/* One message, NUL behind its content; *passed: the descriptor that came with it, or -1. False: the other side is
 * gone, or the message is not well formed. */
bool child_receive(int fd, unsigned *kind, struct strbuf *content, int *passed);

#endif
