/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests about virtual machines: read, checked and sent. State: struct vm_requests. Ways in: vm_requests_read(),
 * vm_requests_send(). Does not know which hosts there are: the manager does.
 */
#include "cli/vm_requests_file.h"

#include "base/spelling.h"
#include "control/lines.h"
#include "iba/iba.h"
#include "sm/sm.h"

enum {
	LINE_REQUESTS = 512, /* requests of a line to the manager, */
	LINE_BYTES = 48 << 10,
	LINES_AHEAD = 64, /* and lines that wait for an answer */
	FAULTS_SHOWN = 20,
	WORDS = 4,
};

const struct vm_op vm_ops[] = {
	{"create", "VM [GUID]", "guid", false},
	{"start", "VM HOST[:VF]", "host", true},
	{"stop", "VM", NULL, false},
	{"migrate", "VM HOST[:VF]", "host", true},
	{"destroy", "VM", NULL, false},
	{0},
};

/* ---- checks ---- */

static int check_name(const char *s, struct err *e)
{
	if (!*s || strlen(s) >= SM_VM_NAME)
		return err_set(e, -EINVAL, "expected a VM's name of 1 to %d characters, found %zu",
			       SM_VM_NAME - 1, strlen(s));
	for (const char *p = s; *p; p++)
		if ((uint8_t)*p <= ' ' || *p == 0x7f)
			return err_set(e, -EINVAL,
				       "the name of a VM has no spaces and no control characters");
	return 0;
}

static int check_guid(const char *s, struct err *e)
{
	uint64_t v;

	if (parse_u64(s, &v) || !v)
		return err_set(e, -EINVAL,
			       "expected a GUID such as 0x0200000000000001, found '%.60s'", s);
	return 0;
}

static int check_host(const char *s, struct err *e)
{
	const char *colon = strrchr(s, ':');
	uint64_t vf;

	if (!*s || colon == s)
		return err_set(e, -EINVAL, "expected HOST[:VF], found '%.60s'", s);
	if (strlen(s) > 200)
		return err_set(e, -EINVAL, "the name of a host has at most 200 characters");
	if (colon && !parse_u64(colon + 1, &vf) && (!vf || vf > IBA_MAX_VFS))
		return err_set(e, -EINVAL, "'%.60s': expected a VF from 1 to %d", s, IBA_MAX_VFS);
	return 0;
}

int vm_request_add(struct vm_requests *r, const struct vm_op *op, char **words, unsigned n,
		   unsigned line, struct err *e)
{
	struct vm_request q = {.op = op, .line = line};
	int rc;

	if (n < 1u + op->needs_more || n > 1u + (op->more != NULL))
		return err_set(e, -EINVAL, "%s%sexpected %s, found %u word%s", line ? op->name : "",
			       line ? ": " : "", op->args, n, n == 1 ? "" : "s");
	q.vm = words[0];
	q.more = n > 1 ? words[1] : NULL;
	rc = check_name(q.vm, e);
	if (!rc && q.more)
		rc = op->needs_more ? check_host(q.more, e) : check_guid(q.more, e);
	if (!rc)
		vec_push(&r->all, q);
	return rc;
}

/* ---- a file ---- */

static const struct vm_op *op_find(const char *name, struct err *e)
{
	struct spelling near = {.word = name};

	for (const struct vm_op *o = vm_ops; o->name; o++) {
		if (!strcmp(o->name, name))
			return o;
		spelling_offer(&near, o->name, o->name);
	}
	if (near.best)
		err_set(e, 0, "unknown request '%.60s', did you mean '%s'?", name, near.best);
	else
		err_set(e, 0,
			"unknown request '%.60s': expected create, start, stop, migrate or destroy",
			name);
	return NULL;
}

/* Splits the line in place. Names of hosts with blanks stand in double quotes. */
static unsigned words_split(char *s, char *words[WORDS])
{
	unsigned n = 0;

	for (;;) {
		char end;

		while (*s == ' ' || *s == '\t' || *s == '\r')
			s++;
		if (!*s || *s == '#' || n == WORDS)
			return n;
		end = *s == '"' ? '"' : ' ';
		s += end == '"';
		words[n++] = s;
		while (*s && *s != end && !(end == ' ' && (*s == '\t' || *s == '\r')))
			s++;
		if (*s)
			*s++ = 0;
	}
}

static int line_read(struct vm_requests *r, char *s, unsigned line, const struct vm_op *op,
		     struct err *e)
{
	char *words[WORDS];
	unsigned n = words_split(s, words), skip = !op;

	if (!n)
		return 0;
	op = op ? op : op_find(words[0], e);
	return op ? vm_request_add(r, op, words + skip, n - skip, line, e) : -EINVAL;
}

int vm_requests_read(struct vm_requests *r, const char *path, const struct vm_op *op)
{
	unsigned line = 0, faults = 0;
	char *s, *next;
	size_t len;
	struct err e;

	r->path = path;
	if (file_read(path, &r->text, &len, &e))
		return cli_bad("%s", e.text);
	if (memchr(r->text, 0, len))
		return cli_bad("%s: expected text, found a NUL byte", path);
	for (s = r->text; s; s = next) {
		next = strchr(s, '\n');
		if (next)
			*next++ = 0;
		line++;
		if (line_read(r, s, line, op, &e) && faults++ < FAULTS_SHOWN)
			cli_bad("%s:%u: %s", path, line, e.text);
	}
	if (faults > FAULTS_SHOWN)
		cli_bad("%s: %u more lines are wrong", path, faults - FAULTS_SHOWN);
	if (!faults && !r->all.n)
		return cli_bad("%s: expected a request a line, found none", path);
	return faults ? CLI_BAD : CLI_OK;
}

/* ---- to the manager ---- */

struct sending {
	struct vm_requests *r;
	VEC(char *) lines;
	VEC(size_t) first; /* by line: its first request */
	char error[512];   /* of a line as a whole */
};

static void request_json(struct json *j, const struct vm_request *q)
{
	json_open(j, NULL, '{');
	json_str(j, "op", q->op->name);
	json_str(j, "vm", q->vm);
	if (q->more)
		json_str(j, q->op->more, q->more);
	json_close(j);
}

static void lines_make(struct sending *x)
{
	for (size_t i = 0; i < x->r->all.n;) {
		struct json j = {.line = true};
		size_t n = 0;

		vec_push(&x->first, i);
		json_open(&j, NULL, '{');
		json_str(&j, "cmd", "vm_batch");
		json_open(&j, "requests", '[');
		while (i < x->r->all.n && n++ < LINE_REQUESTS && j.out.len < LINE_BYTES)
			request_json(&j, &x->r->all.at[i++]);
		json_close(&j);
		json_close(&j);
		vec_push(&x->lines, j.out.s);
	}
}

static void on_response(void *ctx, size_t i, const char *response)
{
	struct sending *x = ctx;
	json_error_t why;
	json_t *a = json_loads(response, 0, &why), *list = json_object_get(a, "results");
	const char *error = json_string_value(json_object_get(a, "error"));

	if (!json_is_array(list) && !*x->error)
		snprintf(x->error, sizeof(x->error), "%s",
			 error ? error : "the manager's answer is not what was expected");
	for (size_t k = 0; k < json_array_size(list) && x->first.at[i] + k < x->r->all.n; k++)
		x->r->all.at[x->first.at[i] + k].result = json_incref(json_array_get(list, k));
	json_decref(a);
}

int vm_requests_send(struct vm_requests *r, const char *socket, unsigned timeout_ms)
{
	struct sending x = {.r = r};
	struct err e;
	int rc;

	lines_make(&x);
	rc = lines_ask_many(socket, (const char *const *)x.lines.at, x.lines.n, LINES_AHEAD,
			    timeout_ms, on_response, &x, &e);
	if (rc)
		cli_bad("%s", e.text);
	else if (*x.error)
		cli_bad("%s", x.error);
	for (size_t i = 0; i < x.lines.n; i++)
		free(x.lines.at[i]);
	vec_free(&x.lines);
	vec_free(&x.first);
	return rc || *x.error ? CLI_BAD : CLI_OK;
}

void vm_requests_free(struct vm_requests *r)
{
	for (size_t i = 0; i < r->all.n; i++)
		json_decref(r->all.at[i].result);
	vec_free(&r->all);
	free(r->text);
}
