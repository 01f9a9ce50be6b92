/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric on the page: from a netlist or a generator. State: struct window_fabric, and the head of the next
 * schedule. Way in: the commands open, generate and netlist. Does not number links: window_links.c does.
 */
#include "window/window_priv.h"

/* ---- commands ---- */

/* A manager on a host, or on any node. */
static void seat_manager(struct schedule *s, const struct fab *f)
{
	struct schedule_manager m;
	node_id n = lab_choose_node(f);

	schedule_manager_default(&m);
	if (n == FAB_NONE)
		return;
	m.guid = f->nodes[n].guid;
	vec_push(&s->managers, m);
}

void window_engines_write(struct json *reply)
{
	struct schedule_manager m;
	struct err e;

	schedule_manager_default(&m);
	json_open(reply, "engines", '[');
	for (size_t i = 0; sm_supplies[i].name; i++) {
		m.sm.mechanism.routes = &sm_supplies[i];
		if (sm_supplies[i].engine && !sm_supplies[i].engine->given &&
		    !sm_mechanism_check(&m.sm.mechanism, &e))
			json_str(reply, NULL, sm_supplies[i].name);
	}
	json_close(reply);
}

/* Takes fabric and head. */
static int show(struct window *w, struct fab *f, struct schedule *head, struct json *reply,
		struct err *e)
{
	if (!f->nnodes || f->nnodes > WINDOW_NODES_MAX) {
		err_set(e, -EINVAL, "expected a fabric of 1 to %d nodes, found %u",
			WINDOW_NODES_MAX, f->nnodes);
		fab_free(f);
		schedule_free(head);
		return -EINVAL;
	}
	window_run_free(w);
	window_fabric_free(w);
	schedule_free(&w->next);
	w->next = *head;
	w->fabric.base = w->fabric.fab = f;
	w->filter.node = FAB_NONE;
	window_links_number(w);
	seat_manager(&w->next, f);
	window_emit_fabric(w);
	w->show = true;
	json_u64(reply, "nodes", f->nnodes);
	json_u64(reply, "links", f->nlinks);
	window_engines_write(reply);
	return 0;
}

/* A name that a file beside the script can have. */
static char *file_name(const char *name)
{
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	char *s = mem_strdup(*base && strcmp(base, "-") ? base : "fabric.net");

	if (strlen(s) > 100)
		s[100] = 0;
	for (char *c = s; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *c))
			*c = '_';
	return s;
}

int window_cmd_open(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	const char *text, *name = "fabric.net";
	struct fab_netlist net;
	struct schedule head;
	struct fab *f;

	if (window_arg_text(args, "netlist", &text, e) ||
	    (window_arg_has(args, "name") && window_arg_text(args, "name", &name, e)))
		return -EINVAL;
	schedule_init(&head);
	head.netlist = file_name(name);
	if (fab_netlist_parse(&net, head.netlist, text, strlen(text), e)) {
		schedule_free(&head);
		return -EINVAL;
	}
	f = fab_devices(net.fab, e);
	if (!f) {
		fab_netlist_free(&net);
		schedule_free(&head);
		return -EINVAL;
	}
	json_str(reply, "name", head.netlist);
	json_open(reply, "warnings", '[');
	for (size_t i = 0; i < MIN(net.warnings.n, (size_t)100); i++)
		json_str(reply, NULL, net.warnings.at[i].text);
	json_close(reply);
	fab_netlist_free(&net);
	return show(w, f, &head, reply, e);
}

int window_cmd_generate(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct schedule head;
	const char *words;
	struct fab *f;

	if (window_arg_text(args, "words", &words, e))
		return -EINVAL;
	if (strlen(words) > 200)
		return err_set(e, -EINVAL, "words: expected at most 200 characters");
	if (schedule_read_fabric(&head, &f, words, e))
		return -EINVAL;
	json_str(reply, "name", words);
	return show(w, f, &head, reply, e);
}

/* With the cables that are plugged now. */
static struct fab *fabric_now(const struct window *w)
{
	const struct fab *f = w->fabric.fab;
	struct fab_builder *b = fab_builder_from(f);

	for (port_id p = 0; p < f->nports; p++) {
		port_id q = sim_port_peer(w->run->sim, p);
		struct fab_port *port = fab_builder_port(b, f->ports[p].node, f->ports[p].num);

		port->cable_cm = q == port->peer ? port->cable_cm : 0;
		port->peer = q;
		if (q != FAB_NONE && !port->speed) {
			port->speed = f->ports[q].speed;
			port->width = f->ports[q].width;
		}
	}
	return fab_build(b);
}

int window_cmd_netlist(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	bool now = w->run && json_is_true(json_object_get(args, "now"));
	struct strbuf text = {0};
	struct fab *f, *compact;

	if (!w->fabric.base)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	f = now ? fabric_now(w) : w->fabric.base;
	compact = fab_fold(f); /* virtual functions are an attribute of their HCA */
	if (now)
		fab_free(f);
	fab_netlist_write(compact, &text);
	fab_free(compact);
	json_str(reply, "text", text.s ? text.s : "");
	strbuf_free(&text);
	return 0;
}
