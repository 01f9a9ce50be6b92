/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `weft lab run --mpi`: one process hands out jobs and keeps results, the others run them. All of them read the same
 * experiments, so a job is its number. The manager is the process of rank 0.
 */
#ifndef WEFT_LAB_MPI_H
#define WEFT_LAB_MPI_H

#include "experiment/job.h"

struct lab_mpi;
/* NULL after a message: no library, or no MPI run. */
struct lab_mpi *lab_mpi_open(void);
bool lab_mpi_manager(const struct lab_mpi *m);
unsigned lab_mpi_workers(const struct lab_mpi *m);
/*
 * The manager's side: hands out the n jobs of `order` in this order, calls q->done as results come. Jobs that
 * measure real time, which are last, run while no other worker has a job.
 */
int lab_mpi_manage(struct lab_mpi *m, const struct job_queue *q, const experiment_jobs *jobs,
		   const size_t *order, size_t n, struct err *e);
/* The others' side: runs what it is given until there is no more. */
int lab_mpi_work(struct lab_mpi *m, const char *weft, const experiment_jobs *jobs, struct err *e);
void lab_mpi_close(struct lab_mpi *m);
_Noreturn void lab_mpi_abort(struct lab_mpi *m); /* after a fault: ends all processes */

#endif
