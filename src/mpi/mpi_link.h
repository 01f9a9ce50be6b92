/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages between the processes of an MPI run: what `weft lab run --mpi` needs of MPI, in a library of its own
 * (libweft-mpi.so), so that weft itself does not depend on MPI. Messages are texts. A process waits without using
 * its processor.
 */
#ifndef WEFT_MPI_LINK_H
#define WEFT_MPI_LINK_H

#include <stddef.h>

struct mpi_link {
	int (*open)(int *rank, int *size); /* 0, or -1: no MPI run */
	int (*send)(int to, const char *text, size_t len);
	/* The next message from any process; free it. NULL: none came within wait_ms. */
	char *(*receive)(int *from, int wait_ms);
	void (*close)(void); /* waits for all processes */
	void (*abort)(void); /* ends all processes with status 2 */
};

/* The library's one symbol. */
extern const struct mpi_link weft_mpi_link;

#endif
