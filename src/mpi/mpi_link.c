/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The side of MPI. State: MPI's own. Way in: weft_mpi_link. Does not know jobs: src/cli/lab_mpi.c does.
 */
#include "mpi/mpi_link.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static int link_open(int *rank, int *size)
{
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
		return -1;
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	MPI_Comm_size(MPI_COMM_WORLD, size);
	return 0;
}

static int link_send(int to, const char *text, size_t len)
{
	return MPI_Send(text, (int)len, MPI_CHAR, to, 0, MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : -1;
}

/* MPI's own receive would keep a processor busy. */
static char *link_receive(int *from, int wait_ms)
{
	MPI_Status st;
	int there = 0, len;
	char *text;

	for (int us = 0;; us += 500) {
		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &st);
		if (there || us / 1000 >= wait_ms)
			break;
		usleep(500);
	}
	if (!there)
		return NULL;
	MPI_Get_count(&st, MPI_CHAR, &len);
	text = malloc((size_t)len + 1);
	if (!text)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Recv(text, len, MPI_CHAR, st.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	text[len] = '\0';
	*from = st.MPI_SOURCE;
	return text;
}

static void link_close(void)
{
	MPI_Finalize();
}

static void link_abort(void)
{
	MPI_Abort(MPI_COMM_WORLD, 2);
}

const struct mpi_link weft_mpi_link = {link_open, link_send, link_receive, link_close, link_abort};
