/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of printed MADs, shared by the files of this room that print.
 */
#ifndef WEFT_IBA_PRINT_PRIV_H
#define WEFT_IBA_PRINT_PRIV_H

#include "iba/iba.h"

/* print.c */
void iba_line_start(struct strbuf *out, const char *name);
void iba_print_number(struct strbuf *out, const char *name, enum iba_format format, unsigned width,
		      uint64_t v);
/* Bytes first .. first + n of the MAD, with their place in the MAD. */
void iba_print_bytes(struct strbuf *out, const uint8_t *mad, unsigned first, unsigned n);

/* sa_print.c: class 0x03 */
void iba_sa_print(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE]); /* behind the MAD header */
void iba_sa_summary(struct strbuf *out, const uint8_t mad[IBA_MAD_SIZE]);

#endif
