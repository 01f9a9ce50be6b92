/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of `weft vm`: read from arguments or a file, sent to a manager many at a time, results in their order.
 */
#ifndef WEFT_VM_REQUESTS_FILE_H
#define WEFT_VM_REQUESTS_FILE_H

#include <jansson.h>

#include "cli/cli.h"

/* What a request takes: of `weft vm OP`, and of a line of a batch. */
struct vm_op {
	const char *name; /* "migrate" */
	const char *args; /* "VM HOST[:VF]" */
	const char *more; /* the member that the second word is; NULL: there is none */
	bool needs_more;
};

extern const struct vm_op vm_ops[]; /* ends with name == NULL */

struct vm_request {
	const struct vm_op *op;
	const char *vm, *more; /* more: NULL where there is none */
	unsigned line;	       /* of the file; 0: arguments */
	json_t *result;	       /* of the manager; NULL: none came */
};

struct vm_requests {
	VEC(struct vm_request) all;
	const char *path; /* of the file; NULL: arguments */
	char *text;	  /* words point into it */
};

/* One request of words. 0 or -EINVAL with e filled. */
int vm_request_add(struct vm_requests *r, const struct vm_op *op, char **words, unsigned n,
		   unsigned line, struct err *e);
/* A request a line, of this operation; op NULL: the first word names it. "-" is standard input; # begins a comment.
 * CLI_OK, or CLI_BAD after a message for each line that is wrong. */
int vm_requests_read(struct vm_requests *r, const char *path, const struct vm_op *op);
/* Sends all of them. CLI_OK, or CLI_BAD after a message. */
int vm_requests_send(struct vm_requests *r, const char *socket, unsigned timeout_ms);
void vm_requests_free(struct vm_requests *r);

/* vm_show.c */
void vm_show_list(const json_t *answer);
void vm_show_hosts(const json_t *answer);
void vm_show_defragment(const json_t *answer);
void vm_show_one(const struct vm_request *r);
void vm_show_many(const struct vm_requests *r);
/* All results as a JSON document, with totals. */
int vm_show_json(const struct vm_requests *r);

#endif
