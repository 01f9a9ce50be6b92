/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writers of OpenSM's files share: opensm_files.c opens the files, each of these writes one. */
#ifndef WEFT_OPENSM_FILES_H
#define WEFT_OPENSM_FILES_H

#include "run/subnet_view.h"

/* opensm_sa_files.c; without subnet administration (v->sa is NULL) files of it are empty */
void run_write_mcfdbs(struct file_out *o, const struct sm *sm, const struct fab *f);
void run_write_sa(struct file_out *o, const struct run_view *v);
void run_write_path_records(struct file_out *o, const struct run_view *v, const struct fab *f);

#endif
