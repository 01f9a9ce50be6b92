/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric on the page: from a netlist or a generator, and its links. State: struct window_fabric, and the head of
 * the next schedule. Way in: the commands open, generate and netlist. Does not place nodes: src/draw does.
 */
#include "window/window_priv.h"

void window_fabric_free(struct window *w)
{
	struct window_fabric *wf = &w->fabric;

	fab_free(wf->fab);
	vec_free(&wf->links);
	free(wf->link_of);
	wf->fab = NULL;
	wf->link_of = NULL;
}

/* ---- links ---- */

static void add_link(struct window_fabric *wf, port_id a, port_id b)
{
	wf->link_of[a] = wf->link_of[b] = (uint32_t)wf->links.n;
	vec_push(&wf->links, (struct window_link){a, b});
}

static void number_links(struct window_fabric *wf)
{
	const struct fab *f = wf->fab;

	wf->link_of = mem_array(f->nports, sizeof(*wf->link_of));
	memset(wf->link_of, 0xff, f->nports * sizeof(*wf->link_of));
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && f->ports[p].peer > p)
			add_link(wf, p, f->ports[p].peer);
}

static bool joins(struct window_link l, port_id a, port_id b)
{
	return (l.a == a && l.b == b) || (l.a == b && l.b == a);
}

/* Links of the fabric come first; the others are few. */
static uint32_t find_link(const struct window_fabric *wf, port_id a, port_id b)
{
	for (size_t i = wf->links.n; i--;)
		if (joins(wf->links.at[i], a, b))
			return (uint32_t)i;
	return FAB_NONE;
}

bool window_links_follow(struct window *w)
{
	struct window_fabric *wf = &w->fabric;
	size_t before = wf->links.n;

	for (port_id p = 0; p < wf->fab->nports; p++) {
		port_id q = sim_port_peer(w->run->sim, p);
		uint32_t l;

		if (q == FAB_NONE || q < p ||
		    (wf->link_of[p] != FAB_NONE && joins(wf->links.at[wf->link_of[p]], p, q)))
			continue;
		l = find_link(wf, p, q);
		if (l == FAB_NONE)
			add_link(wf, p, q);
		else
			wf->link_of[p] = wf->link_of[q] = l;
	}
	if (wf->links.n > before)
		wf->version++;
	return wf->links.n > before;
}

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
	w->fabric.fab = f;
	w->fabric.version++;
	w->filter.node = FAB_NONE;
	number_links(&w->fabric);
	seat_manager(&w->next, f);
	window_emit_fabric(w);
	w->show = true;
	json_u64(reply, "nodes", f->nnodes);
	json_u64(reply, "links", f->nlinks);
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

int window_cmd_netlist(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct strbuf text = {0};
	struct fab *compact;

	(void)args;
	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	compact = fab_fold(w->fabric.fab); /* virtual functions are an attribute of their HCA */
	fab_netlist_write(compact, &text);
	fab_free(compact);
	json_str(reply, "text", text.s ? text.s : "");
	strbuf_free(&text);
	return 0;
}
