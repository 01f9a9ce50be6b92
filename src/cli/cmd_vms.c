/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft vm: virtual machines of a running manager, over its control socket. State: the options of one run. Ways in:
 * cmd_vm_*. Decides nothing: the manager does (docs/virtual.md).
 */
#include "cli/cmds.h"
#include "cli/ctl.h"
#include "cli/vm_requests_file.h"
#include "control/lines.h"

static struct {
	const char *socket, *name, *batch, *goal;
	bool dry_run;
	time_ps timeout, wait;
} opt = {.timeout = 60 * PS_PER_S, .wait = 5 * PS_PER_S, .goal = "fresh"};

static const char *const goals[] = {"fresh", "even", NULL};

static unsigned timeout_ms(void)
{
	return (unsigned)MIN(opt.timeout / PS_PER_MS, (time_ps)86400000);
}

static int socket_find(char *path, size_t size)
{
	return ctl_socket_find(
		&(struct ctl_target){
			.kind = "sm", .socket = opt.socket, .name = opt.name, .wait = opt.wait},
		path, size);
}

/* ---- lists ---- */

static int ask(const char *q, ctl_show *show)
{
	struct strbuf answer = {0}, text = {0};
	char path[108];
	json_error_t why;
	struct err e;
	json_t *a = NULL;
	int rc = socket_find(path, sizeof(path));

	if (rc)
		return rc;
	if (lines_ask(path, q, timeout_ms(), &answer, &e))
		rc = cli_bad("%s", e.text);
	else if (!(a = json_loads(answer.s, 0, &why)))
		rc = cli_bad("the answer is not JSON: %s", why.text);
	else if (!json_is_true(json_object_get(a, "ok"))) {
		cli_bad("%s", json_string_value(json_object_get(a, "error")));
		rc = json_is_true(json_object_get(a, "refused")) ? CLI_NO : CLI_BAD;
	} else if (!cli_json)
		show(a);
	else if (ctl_json_indent(answer.s, &text), cli_write("-", &text))
		rc = CLI_BAD;
	json_decref(a);
	strbuf_free(&answer);
	return rc;
}

static int vm_list(char **args UNUSED, unsigned n UNUSED)
{
	return ask("{\"cmd\":\"vm_list\"}", vm_show_list);
}

static int vm_hosts(char **args UNUSED, unsigned n UNUSED)
{
	return ask("{\"cmd\":\"vm_hosts\"}", vm_show_hosts);
}

static int vm_defragment(char **args UNUSED, unsigned n UNUSED)
{
	char q[80];

	snprintf(q, sizeof(q), "{\"cmd\":\"vm_defragment\",\"goal\":\"%s\",\"dry_run\":%d}",
		 opt.goal, opt.dry_run);
	return ask(q, vm_show_defragment);
}

/* ---- requests ---- */

static int report_refused(const struct vm_requests *r)
{
	int rc = CLI_OK;

	for (size_t i = 0; i < r->all.n; i++) {
		const struct vm_request *q = &r->all.at[i];
		const char *why = json_string_value(json_object_get(q->result, "error"));

		if (json_is_true(json_object_get(q->result, "ok")))
			continue;
		rc = CLI_NO;
		if (r->path)
			cli_bad("%s:%u: %s", r->path, q->line, why ? why : "no answer");
		else
			cli_bad("%s", why ? why : "no answer");
	}
	return rc;
}

static int show(const struct vm_requests *r)
{
	const struct vm_request *q = &r->all.at[0];
	struct json j = {0};
	char *s;

	if (r->path && cli_json)
		return vm_show_json(r);
	if (r->path) {
		vm_show_many(r);
		return CLI_OK;
	}
	if (!cli_json) {
		if (json_is_true(json_object_get(q->result, "ok")))
			vm_show_one(q);
		return CLI_OK;
	}
	s = json_dumps(q->result, JSON_COMPACT | JSON_REAL_PRECISION(15));
	ctl_json_indent(s, &j.out);
	free(s);
	return cli_write("-", &j.out);
}

static int carry_out(struct vm_requests *r)
{
	char path[108];
	int rc = socket_find(path, sizeof(path));

	rc = rc ? rc : vm_requests_send(r, path, timeout_ms());
	rc = rc ? rc : show(r);
	return rc ? rc : report_refused(r);
}

static int request(const char *name, char **args, unsigned n)
{
	const struct vm_op *op = vm_ops;
	struct vm_requests r = {0};
	struct err e;
	int rc = CLI_OK;

	while (op->name && (!name || strcmp(op->name, name)))
		op++;
	if (opt.batch && n)
		rc = cli_bad("--batch FILE has the requests: expected no further arguments");
	else if (opt.batch)
		rc = vm_requests_read(&r, opt.batch, op->name ? op : NULL);
	else if (vm_request_add(&r, op, args, n, 0, &e))
		rc = cli_bad("%s", e.text);
	if (!rc)
		rc = carry_out(&r);
	vm_requests_free(&r);
	return rc;
}

static int vm_create(char **args, unsigned n)
{
	return request("create", args, n);
}

static int vm_start(char **args, unsigned n)
{
	return request("start", args, n);
}

static int vm_stop(char **args, unsigned n)
{
	return request("stop", args, n);
}

static int vm_migrate(char **args, unsigned n)
{
	return request("migrate", args, n);
}

static int vm_destroy(char **args, unsigned n)
{
	return request("destroy", args, n);
}

static int vm_batch(char **args, unsigned n UNUSED)
{
	opt.batch = args[0];
	return request(NULL, NULL, 0);
}

/* ---- tables ---- */

/* clang-format off */
static const struct cli_opt socket_opts[] = {
	{"socket", 's', CLI_STR, &opt.socket, "PATH",
	 "the control socket; default: that of the only manager on this machine", NULL, 0, 0},
	{"name", 'n', CLI_STR, &opt.name, "NAME",
	 "the manager of this fabric: ibsim's socket name, or the device; default $IBSIM_SOCKNAME", NULL, 0, 0},
	{"timeout", 't', CLI_TIME, &opt.timeout, "TIME",
	 "the longest time without any response; default 60s", NULL, 0, 0},
	{"wait", 0, CLI_TIME, &opt.wait, "TIME",
	 "the longest time to wait for a manager that is starting; default 5s; 0: none", NULL, 0, 0},
	{0},
};

static const struct cli_opt batch_opts[] = {
	{"batch", 'b', CLI_STR, &opt.batch, "FILE",
	 "a request a line, with the arguments of this command; '-' is standard input", NULL, 0, 0},
	{0},
};

static const struct cli_opt defragment_opts[] = {
	{"dry-run", 0, CLI_FLAG, &opt.dry_run, NULL,
	 "say what would change, and change nothing", NULL, 0, 0},
	{"goal", 0, CLI_CHOICE, &opt.goal, "WHAT",
	 "fresh: as even as routes computed for the VMs where they are; even: as even as the search gets, with more SMPs; "
	 "default fresh", goals, 0, 0},
	{0},
};
/* clang-format on */

static const struct cli_opt *const shared[] = {socket_opts, NULL};

#define STATUS                                                                                                           \
	"Status 0: carried out. 1: refused by the manager, which says why; nothing has changed. 2: wrong input, or no\n" \
	"manager answers."
#define HOST                                                                                                               \
	"HOST is a name, the GUID of a node or port, or a LID of a hypervisor; VF is one of its virtual functions, from\n" \
	"1 on: without it the first free one is taken. "

const struct cli_cmd cmd_vm_list = {
	.name = "vm list",
	.args = "",
	.summary = "the virtual machines of a running manager",
	.about =
		"Every VM with its vGUID, its LID and the hypervisor and virtual function where it runs.",
	.examples =
		"weft vm list\nweft vm list --json | jq -r '.vms[] | select(.running) | [.vm, .lid, .host.name] | @tsv'",
	.shared = shared,
	.run = vm_list,
};

const struct cli_cmd cmd_vm_hosts = {
	.name = "vm hosts",
	.args = "",
	.summary = "the hypervisors: hosts with SR-IOV, and their free virtual functions",
	.about =
		"Every host with SR-IOV that the manager knows: its mode, its virtual functions and how many of these have a VM.",
	.examples =
		"weft vm hosts\nweft vm hosts --json | jq -r '.hosts[] | select(.free > 0) | .name'",
	.shared = shared,
	.run = vm_hosts,
};

const struct cli_cmd cmd_vm_create = {
	.name = "vm create",
	.args = "VM [GUID]",
	.summary = "create a virtual machine: a name and a vGUID",
	.about =
		"The VM keeps its vGUID until it is destroyed. Without GUID the manager chooses one, by the name.\n\n" STATUS,
	.examples = "weft vm create web1\nweft vm create web2 0x0200000000000002",
	.opts = batch_opts,
	.shared = shared,
	.max_args = 2,
	.run = vm_create,
};

const struct cli_cmd cmd_vm_start = {
	.name = "vm start",
	.args = "VM HOST[:VF]",
	.summary = "start a virtual machine on a hypervisor",
	.about = HOST "The VM gets a LID; every switch then has a route to it.\n\n" STATUS,
	.examples =
		"weft vm start web1 node7\nweft vm start web1 0x0001000000000010:2\nweft vm start --batch vms.txt",
	.opts = batch_opts,
	.shared = shared,
	.max_args = 2,
	.run = vm_start,
};

const struct cli_cmd cmd_vm_stop = {
	.name = "vm stop",
	.args = "VM",
	.summary = "stop a virtual machine",
	.about = "Its virtual function is free again. The VM keeps its name and vGUID.\n\n" STATUS,
	.examples = "weft vm stop web1",
	.opts = batch_opts,
	.shared = shared,
	.max_args = 1,
	.run = vm_stop,
};

const struct cli_cmd cmd_vm_migrate = {
	.name = "vm migrate",
	.args = "VM HOST[:VF]",
	.summary = "move a running virtual machine to another hypervisor",
	.about = HOST
	"The VM keeps vGUID and LID (with a shared port it gets another LID). No routes are computed: only entries that "
	"lead elsewhere are written. The answer comes when all devices have acknowledged.\n\n" STATUS,
	.examples =
		"weft vm migrate web1 node5\n"
		"weft vm migrate web1 node5:3 --json | jq '{lid: .lid_after, smps: .smps.total}'\n"
		"printf 'web1 node3\\nweb2 node4\\n' | weft vm migrate --batch -",
	.opts = batch_opts,
	.shared = shared,
	.max_args = 2,
	.run = vm_migrate,
};

const struct cli_cmd cmd_vm_destroy = {
	.name = "vm destroy",
	.args = "VM",
	.summary = "forget a virtual machine that is stopped",
	.about = "Its name and vGUID are free again.\n\n" STATUS,
	.examples = "weft vm destroy web1",
	.opts = batch_opts,
	.shared = shared,
	.max_args = 1,
	.run = vm_destroy,
};

const struct cli_cmd cmd_vm_batch = {
	.name = "vm batch",
	.args = "FILE",
	.summary = "carry out many requests, of any kind",
	.about =
		"FILE has a request a line, '-' is standard input: create VM [GUID], start VM HOST[:VF], stop VM, migrate VM "
		"HOST[:VF] or destroy VM. A name of a host with blanks stands in double quotes; # begins a comment. All lines are "
		"checked before the first is sent. The manager carries out together what does not depend on each other, "
		"and keeps the order of requests about one VM.\n\n"
		"Status 1: some requests were refused, each is named with its line; the others were carried out.",
	.examples =
		"printf 'create web1\\nstart web1 node7\\nmigrate web1 node5\\n' | weft vm batch -",
	.shared = shared,
	.min_args = 1,
	.max_args = 1,
	.run = vm_batch,
};

const struct cli_cmd cmd_vm_defragment = {
	.name = "vm defragment",
	.args = "",
	.summary = "give virtual machines other routes where links share them unevenly",
	.about =
		"With dynamic LIDs a VM has the routes of its host, so links to hosts with many VMs carry most. This changes "
		"entries of LIDs of VMs until the busiest link and the standard deviation over all links between switches "
		"are those of routes computed for the VMs where they are, with as few SMPs as a search finds. No VM moves and "
		"no LID changes; every mixture of old and new entries is free of loops and deadlock.\n\n" STATUS,
	.examples =
		"weft vm defragment --dry-run\nweft vm defragment --json | jq '{smps, smps_fresh, before, after}'",
	.opts = defragment_opts,
	.shared = shared,
	.run = vm_defragment,
};
