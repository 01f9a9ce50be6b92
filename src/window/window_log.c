/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages at managers, SMIs and SMAs, in the words of Kim et al., Fig. 6, and the MADs of the last ones. State: struct
 * window_log. Way in: window_log_begin(), the commands log and mad. Does not decode MADs: src/iba does.
 */
#include "lab/message_log.h"
#include "sm/notes.h"
#include "window/window_priv.h"

enum { LINES = 1000, LINES_MAX = 10000, LINE_TEXT = 300 };
enum log_kind { LOG_SM, LOG_SMI, LOG_SMA, LOG_FAULT, LOG_MANAGER };

void window_log_default(struct window_log *g)
{
	*g = (struct window_log){.node = FAB_NONE, .attribute = UINT32_MAX, .limit = LINES};
}

void window_log_free(struct window_log *g)
{
	free(g->kept);
	free(g->out.at);
}

/* ---- what is kept ---- */

static struct window_message *keep(struct window_run *r, node_id n, unsigned port)
{
	struct window_log *g = &r->log;
	struct window_message *m;

	if (!g->kept)
		g->kept = mem_array(WINDOW_KEPT, sizeof(*g->kept));
	m = &g->kept[g->next % WINDOW_KEPT];
	m->at = sim_now(r->sim);
	m->seq = g->next++;
	m->node = n;
	m->port = (uint8_t)port;
	m->what = m->detail = 0;
	m->has_mad = m->seen = false;
	g->nkept = MIN(g->nkept + 1, (uint32_t)WINDOW_KEPT);
	return m;
}

static struct window_message *keep_smp(struct window_run *r, node_id n, unsigned port,
				       const struct sim_smp *smp)
{
	struct window_message *m = keep(r, n, port);

	m->has_mad = true;
	m->slid = smp->slid;
	m->dlid = smp->dlid;
	memcpy(m->mad, smp->mad, sizeof(m->mad));
	return m;
}

static const struct window_message *kept_at(const struct window_log *g, uint64_t seq)
{
	if (seq >= g->next || seq + g->nkept < g->next)
		return NULL;
	return &g->kept[seq % WINDOW_KEPT];
}

/* The SMI that sent it through this link may have said so just now. */
uint32_t window_log_hop(struct window *w, const struct sim_hop *h)
{
	struct window_run *r = w->run;
	const struct fab_port *p = &w->fabric.fab->ports[h->from];
	const struct window_message *m = kept_at(&r->log, r->log.next - 1ull);

	if (m && m->has_mad && m->what == SIM_SEEN_SMI_OUT && m->node == p->node &&
	    m->port == p->num && m->at == sim_now(r->sim))
		return m->seq;
	return keep_smp(r, p->node, p->num, h->smp)->seq;
}

/* ---- lines ---- */

static bool has_room(struct window_run *r)
{
	if (r->log.lines < r->log.limit)
		return true;
	r->log.left_out++;
	return false;
}

static void add_line(struct window_log *g, const struct window_message *m, enum log_kind kind,
		     const struct strbuf *text)
{
	size_t len = MIN(text->len, (size_t)LINE_TEXT);

	if (!g->lines++)
		window_frame_begin(&g->out, WINDOW_LOG);
	window_put_u32(&g->out, m->seq);
	window_put_u64(&g->out, m->at);
	window_put_u32(&g->out, m->node);
	window_put_u8(&g->out, m->port);
	window_put_u8(&g->out, kind);
	window_put_u8(&g->out, m->has_mad ? iba_smp_method(m->mad) : 0);
	window_put_u8(&g->out, 0);
	window_put_u16(&g->out, m->has_mad ? iba_smp_attr_id(m->mad) : 0);
	window_put_u16(&g->out, (unsigned)len);
	window_put_bytes(&g->out, text->s, len);
	window_put_align(&g->out);
}

void window_log_emit(struct window *w)
{
	struct window_log *g = &w->run->log;

	if (g->lines) {
		g->out.at[5] = g->left_out > 0;
		window_frame_emit(w, &g->out);
	}
	g->lines = 0;
	g->left_out = 0;
}

static bool wanted(const struct window_run *r, node_id n, const uint8_t *mad)
{
	const struct window_log *g = &r->log;

	if (!g->on || r->mode == WINDOW_GOING || (g->node != FAB_NONE && g->node != n))
		return false;
	if (!mad)
		return !g->method && g->attribute == UINT32_MAX;
	return (!g->method || g->method == iba_smp_method(mad)) &&
	       (g->attribute == UINT32_MAX || g->attribute == iba_smp_attr_id(mad));
}

/* A line begins with "SM 1", "SMI 1" or "SMA 1". */
static enum log_kind kind_of(const char *line)
{
	return line[2] == ' ' ? LOG_SM : line[2] == 'I' ? LOG_SMI : LOG_SMA;
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct window *w = ctx;
	struct window_run *r = w->run;
	struct window_message *m;
	struct strbuf text = {0};

	if (!smp)
		return;
	r->smps += what == SIM_SEEN_SEND || what == SIM_SEEN_RECV;
	m = keep_smp(r, n, port, smp);
	m->what = (uint8_t)what;
	m->detail = (uint8_t)detail;
	m->seen = true;
	if (wanted(r, n, smp->mad) && has_room(r) &&
	    lab_message_line(&text, r->lab, what, n, port, smp, detail))
		add_line(&r->log, m, kind_of(text.s), &text);
	strbuf_free(&text);
}

void window_log_begin(struct window *w)
{
	sim_watch(w->run->sim, (struct sim_watch){on_seen, w});
	sim_watch_smis(w->run->sim, (struct sim_watch){on_seen, w});
}

void window_log_fault(struct window *w, const struct schedule_event *ev)
{
	struct window_run *r = w->run;
	node_id n = fab_node_by_guid(w->fabric.fab, ev->port.guid);
	struct window_message *m;
	struct strbuf text = {0};

	if (strchr(schedule_words[ev->kind].operands, 'M'))
		n = lab_manager_node(r->lab, ev->manager);
	m = keep(r, n, ev->port.port);
	schedule_event_write(ev, &text);
	if (wanted(r, n, NULL) && has_room(r))
		add_line(&r->log, m, LOG_FAULT, &text);
	strbuf_free(&text);
}

static const char *name_of(const void *ctx, uint64_t guid)
{
	const struct window *w = ctx;
	node_id n = fab_node_by_guid(w->fabric.fab, guid);

	return n == FAB_NONE ? "" : fab_node_name(w->fabric.fab, n);
}

void window_log_note(struct window *w, unsigned manager, const struct sm_note *note)
{
	struct window_run *r = w->run;
	node_id n = lab_manager_node(r->lab, manager);
	struct window_message *m = keep(r, n, 0);
	struct strbuf text = {0};

	if (wanted(r, n, NULL) && has_room(r)) {
		strbuf_addf(&text, "manager %u : ", manager);
		sm_note_text(note, &(struct sm_names){name_of, w}, &text);
		add_line(&r->log, m, LOG_MANAGER, &text);
	}
	strbuf_free(&text);
}

/* ---- commands ---- */

/* By number, or as the log writes it. */
static int arg_method(json_t *args, unsigned *method, struct err *e)
{
	static const struct {
		const char *word;
		unsigned method;
	} words[] = {{"GetInfo", IBA_GET},
		     {"Get", IBA_GET},
		     {"SetInfo", IBA_SET},
		     {"Set", IBA_SET},
		     {"Trap", IBA_TRAP},
		     {"GetResp", IBA_GET_RESP},
		     {"", 0},
		     {"TrapRepress", IBA_TRAP_REPRESS}};
	json_t *v = json_object_get(args, "method");
	uint64_t n;

	for (size_t i = 0; json_is_string(v) && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i].word, json_string_value(v))) {
			*method = words[i].method;
			return 0;
		}
	if (window_arg_u64(args, "method", 255, &n, e))
		return err_set(e, -EINVAL,
			       "method: expected Get, Set, GetResp, Trap, TrapRepress or a number");
	*method = (unsigned)n;
	return 0;
}

static int arg_attribute(json_t *args, uint32_t *attribute, struct err *e)
{
	json_t *v = json_object_get(args, "attribute");
	uint64_t n;

	*attribute = UINT32_MAX;
	if (json_is_string(v) && !*json_string_value(v))
		return 0;
	for (unsigned a = 1; json_is_string(v) && a < 0x100; a++)
		if (!strcmp(iba_attr_name(a), json_string_value(v))) {
			*attribute = a;
			return 0;
		}
	if (window_arg_u64(args, "attribute", 0xffff, &n, e))
		return err_set(e, -EINVAL,
			       "attribute: expected a name such as PortInfo, or a number");
	*attribute = (uint32_t)n;
	return 0;
}

/* Lines of the last n messages again, for a page that comes later. Faults and notes of managers are not kept. */
static void emit_again(struct window *w, uint64_t n)
{
	struct window_run *r = w->run;
	struct window_log *g = &r->log;
	struct sim_smp smp = {.sl = 0};

	window_log_emit(w);
	for (uint64_t seq = g->next - MIN(n, (uint64_t)g->nkept); seq < g->next; seq++) {
		const struct window_message *m = kept_at(g, seq);
		struct strbuf text = {0};

		if (!m->seen || !wanted(r, m->node, m->mad))
			continue;
		smp.slid = m->slid;
		smp.dlid = m->dlid;
		memcpy(smp.mad, m->mad, sizeof(smp.mad));
		if (lab_message_line(&text, r->lab, (enum sim_seen)m->what, m->node, m->port, &smp,
				     m->detail))
			add_line(g, m, kind_of(text.s), &text);
		strbuf_free(&text);
	}
	window_log_emit(w);
}

int window_cmd_log(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct window_log g;
	uint64_t limit = LINES, last = 0;

	(void)reply;
	window_log_default(&g);
	g.on = !window_arg_has(args, "on") || json_is_true(json_object_get(args, "on"));
	if (window_arg_has(args, "node") && window_arg_node(w, args, "node", &g.node, e))
		return -EINVAL;
	if (window_arg_has(args, "method") && arg_method(args, &g.method, e))
		return -EINVAL;
	if (window_arg_has(args, "attribute") && arg_attribute(args, &g.attribute, e))
		return -EINVAL;
	if (window_arg_has(args, "limit") && window_arg_u64(args, "limit", LINES_MAX, &limit, e))
		return -EINVAL;
	if (window_arg_has(args, "last") && window_arg_u64(args, "last", LINES_MAX, &last, e))
		return -EINVAL;
	g.limit = (unsigned)limit;
	w->filter = g;
	if (w->run)
		window_log_filter(w);
	if (w->run && last)
		emit_again(w, last);
	return 0;
}

void window_log_filter(struct window *w)
{
	struct window_log *g = &w->run->log;

	g->on = w->filter.on;
	g->node = w->filter.node;
	g->method = w->filter.method;
	g->attribute = w->filter.attribute;
	g->limit = w->filter.limit;
}

int window_cmd_mad(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	const struct window_message *m;
	struct strbuf text = {0};
	char at[24];
	uint64_t seq;

	if (!window_run_on(w, e) || window_arg_u64(args, "seq", UINT32_MAX, &seq, e))
		return -EINVAL;
	m = kept_at(&w->run->log, seq);
	if (!m || !m->has_mad)
		return err_set(e, -EINVAL, "seq: no MAD is kept for %llu; the last %d messages are",
			       (unsigned long long)seq, WINDOW_KEPT);
	snprintf(at, sizeof(at), "%llu", (unsigned long long)m->at);
	iba_mad_print(&text, m->mad);
	json_u64(reply, "seq", seq);
	json_str(reply, "at", at);
	json_u64(reply, "node", m->node);
	json_u64(reply, "port", m->port);
	json_u64(reply, "slid", m->slid);
	json_u64(reply, "dlid", m->dlid);
	json_str(reply, "text", text.s ? text.s : "");
	strbuf_free(&text);
	return 0;
}
