/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the readers of the room share: words and numbers of a line. Nothing here keeps state.
 */
#ifndef WEFT_POLICY_PRIV_H
#define WEFT_POLICY_PRIV_H

#include "policy/policy.h"

/* A line of a file, for messages. */
struct pol_place {
	const char *file;
	unsigned line;
};

int pol_fault(const struct pol_place *at, struct err *e, const char *fmt, ...) PRINTF(3, 4);
char *pol_trim(char *s); /* without white space at both ends; changes s */
void pol_gid_text(const uint8_t gid[16], char text[48]);
unsigned
pol_ip_signature(const uint8_t mgid[16]); /* of IPv4 or IPv6 in an MGID (RFC 4391, 4); 0: none */
bool pol_glob(const char *pattern, const char *text);
bool pol_is_prefix(const char *word, const char *whole); /* of at least one letter */
/* The next line without its comment, in buf; false: there is none. at.line counts. */
bool pol_line(const char **text, const char *end, struct pol_place *at, struct strbuf *buf);
int pol_line_check(const struct pol_place *at, const char *line, size_t len, struct err *e);

#endif
