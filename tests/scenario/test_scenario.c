/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scenarios as narrated traces: each *.txt tells of a fabric, of what happens to it and when, and
 * of the lines that must then be in the trace. README.md beside it describes the format. State:
 * struct story, one a file. In the end the fabric itself is judged. usage: test_scenario FILE...
 * TAP, one case a file test_scenario --print FILE     the trace, to write expectations from
 */
#include "lab/lab.h"
#include "lab/verdict.h"
#include "sm/notes.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

typedef VEC(char *) line_list;

struct deed { /* a change of the fabric at a given time */
	time_ps when;
	unsigned line;
	unsigned nwords;
	char *word[8];
};

struct story {
	const char *name;
	struct fab_builder *b;
	struct fab *fab;
	struct lab_config cfg;
	struct lab *lab;
	time_ps end;
	VEC(struct deed) deeds;
	line_list names, expect, never, trace;
	bool exactly;
	struct err err;
};

static int fail(struct story *s, unsigned line, const char *what, const char *found)
{
	return err_set(&s->err, -EINVAL, "%s:%u: expected %s, found '%s'", s->name, line, what,
		       found ? found : "nothing");
}

/* ---- names ---- */

static const char *node_name(const struct story *s, node_id n)
{
	return n == lab_sm_node(s->lab) ? "sm" : fab_node_name(s->fab, n);
}

/* In a deed an underscore stands for a space in a name. */
static bool same_name(const char *name, const char *word)
{
	while (*name && (*name == *word || (*name == ' ' && *word == '_'))) {
		name++;
		word++;
	}
	return !*name && !*word;
}

static node_id find_node(const struct story *s, const char *word)
{
	for (node_id n = 0; word && n < s->fab->nnodes; n++)
		if (same_name(fab_node_name(s->fab, n), word))
			return n;
	return FAB_NONE;
}

static node_id node_of_guid(const struct story *s, uint64_t guid)
{
	for (port_id p = 0; p < s->fab->nports; p++)
		if (guid && (s->fab->ports[p].guid == guid ||
			     s->fab->nodes[s->fab->ports[p].node].guid == guid))
			return s->fab->ports[p].node;
	return FAB_NONE;
}

static const char *guid_name(const struct story *s, uint64_t guid)
{
	node_id n = node_of_guid(s, guid);

	return n == FAB_NONE ? "?" : node_name(s, n);
}

/* The node that has this LID now. */
static node_id node_of_lid(const struct story *s, uint16_t lid)
{
	for (port_id p = 0; p < s->fab->nports; p++) {
		const struct iba_port_info *pi = sim_port_info(lab_sim(s->lab), p);

		if (pi->lid && (lid & ~((1u << pi->lmc) - 1)) == pi->lid)
			return s->fab->ports[p].node;
	}
	return FAB_NONE;
}

/* The node at the end of a directed route over the current cables; FAB_NONE: none. */
static node_id walk(const struct story *s, node_id at, const uint8_t *path, unsigned hops)
{
	for (unsigned i = 1; i <= hops; i++) {
		port_id far;

		if (path[i] > s->fab->nodes[at].nports)
			return FAB_NONE;
		far = sim_port_peer(lab_sim(s->lab), fab_port_id(s->fab, at, path[i]));
		if (far == FAB_NONE)
			return FAB_NONE;
		at = s->fab->ports[far].node;
	}
	return at;
}

static const char *target(const struct story *s, node_id from, const struct sim_smp *smp)
{
	uint8_t *m = (uint8_t *)smp->mad;
	node_id n = smp->dlid != IBA_LID_PERMISSIVE ? node_of_lid(s, smp->dlid)
		    : iba_smp_is_return(m)
			    ? lab_sm_node(s->lab)
			    : walk(s, from, iba_smp_initial_path(m), iba_smp_hop_cnt(m));

	return n == FAB_NONE ? "nowhere" : node_name(s, n);
}

/* ---- the trace as text ---- */

static void add_time(struct strbuf *b, time_ps t)
{
	char frac[8];
	int len = snprintf(frac, sizeof(frac), "%06llu", (unsigned long long)(t % PS_PER_US));

	while (len && frac[len - 1] == '0')
		frac[--len] = 0;
	strbuf_addf(b, "[%llu%s%sus] ", (unsigned long long)(t / PS_PER_US), len ? "." : "", frac);
}

static void told(struct story *s, struct strbuf *b)
{
	vec_push(&s->trace, b->s);
}

static struct strbuf tell(const struct story *s)
{
	struct strbuf b = {0};

	add_time(&b, sim_now(lab_sim(s->lab)));
	return b;
}

static void add_port_info(struct strbuf *b, const uint8_t *m)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, iba_smp_data_const(m), IBA_SMP_DATA_SIZE);
	if (iba_smp_method(m) == IBA_SET && pi.lid && pi.state == IBA_PORT_NO_CHANGE)
		strbuf_addf(b, " lid %u", pi.lid);
	if (pi.state != IBA_PORT_NO_CHANGE)
		strbuf_addf(b, " %s", iba_port_state_name(pi.state));
}

static void add_switch_info(struct strbuf *b, const uint8_t *m)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, iba_smp_data_const(m), IBA_SMP_DATA_SIZE);
	if (iba_smp_method(m) == IBA_GET_RESP && si.port_state_change)
		strbuf_add(b, " changed");
	else if (iba_smp_method(m) == IBA_SET)
		strbuf_addf(b, " top %u%s", si.linear_top, si.port_state_change ? " clear" : "");
}

static void add_lft(struct strbuf *b, const uint8_t *m)
{
	const uint8_t *lft = iba_smp_data_const(m);

	for (unsigned i = 0; iba_smp_method(m) == IBA_SET && i < IBA_LFT_BLOCK; i++)
		if (lft[i] != IBA_PORT_NONE)
			strbuf_addf(b, " %u>%u", iba_smp_attr_mod(m) * IBA_LFT_BLOCK + i, lft[i]);
}

static void add_smp(struct strbuf *b, const uint8_t *m)
{
	struct iba_notice n;

	if (iba_smp_attr_id(m) == IBA_ATTR_NOTICE) {
		iba_notice_get(&n, iba_smp_data_const(m), IBA_SMP_DATA_SIZE);
		strbuf_addf(b, "%s %u", iba_smp_method(m) == IBA_TRAP ? "Trap" : "TrapRepress",
			    n.trap_number);
		return;
	}
	strbuf_addf(b, "%s %s", iba_method_name(iba_smp_method(m)) + 4,
		    iba_attr_name(iba_smp_attr_id(m)));
	if (iba_smp_attr_mod(m))
		strbuf_addf(b, " %u", iba_smp_attr_mod(m));
	if (iba_smp_status(m) & 0x7fff)
		strbuf_addf(b, " status 0x%x", iba_smp_status(m) & 0x7fff);
	else if (iba_smp_method(m) != IBA_GET && iba_smp_attr_id(m) == IBA_ATTR_PORT_INFO)
		add_port_info(b, m);
	else if (iba_smp_method(m) != IBA_GET && iba_smp_attr_id(m) == IBA_ATTR_SWITCH_INFO)
		add_switch_info(b, m);
	else if (iba_smp_attr_id(m) == IBA_ATTR_LFT)
		add_lft(b, m);
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct story *s = ctx;
	struct strbuf b = tell(s);

	switch (what) {
	case SIM_SEEN_SEND:
		strbuf_addf(&b, "%s > ", node_name(s, n));
		add_smp(&b, smp->mad);
		strbuf_addf(&b, " -> %s", target(s, n, smp));
		break;
	case SIM_SEEN_SMI_IN: /* not watched */
	case SIM_SEEN_SMI_OUT:
	case SIM_SEEN_SMI_UP:
	case SIM_SEEN_RECV: /* the response that follows shows it */
		strbuf_free(&b);
		return;
	case SIM_SEEN_DROP:
		strbuf_addf(&b, "%s x ", node_name(s, n));
		add_smp(&b, smp->mad);
		strbuf_addf(&b, " (%s)", sim_drop_name((enum sim_drop)detail));
		break;
	case SIM_SEEN_PORT:
		strbuf_addf(&b, "%s port %u %s", node_name(s, n), port,
			    iba_port_state_name(detail));
		break;
	case SIM_SEEN_NODE:
		strbuf_addf(&b, "%s %s", node_name(s, n), detail ? "on" : "off");
		break;
	}
	told(s, &b);
}

static const char *name_for_note(const void *ctx, uint64_t guid)
{
	return guid_name(ctx, guid);
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct story *s = ctx;
	struct strbuf b;

	if (n->kind == SM_NOTE_LID || n->kind == SM_NOTE_STATE)
		return; /* one for every port there is; and one SM alone has no choice */
	b = tell(s);
	strbuf_add(&b, "sm: ");
	if (n->kind == SM_NOTE_PHASE)
		strbuf_addf(&b, "phase %s", sm_phase_name(n->phase.to));
	else
		sm_note_text(n, &(struct sm_names){name_for_note, s}, &b);
	told(s, &b);
}

/* ---- reading ---- */

static unsigned split(char *line, char *word[], unsigned max)
{
	unsigned n = 0;

	for (char *w = strtok(line, " \t"); w && n < max; w = strtok(NULL, " \t"))
		word[n++] = w;
	return n;
}

/* 12us, 3ms, 1s, or ps without a unit. */
static int parse_time(const char *text, time_ps *t)
{
	static const struct {
		const char *unit;
		time_ps ps;
	} units[] = {{"ns", PS_PER_NS}, {"us", PS_PER_US}, {"ms", PS_PER_MS}, {"s", PS_PER_S}};
	size_t digits = text ? strspn(text, "0123456789") : 0;
	char number[24] = {0};

	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	if (parse_u64(number, t))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strcmp(text + digits, units[i].unit)) {
			*t *= units[i].ps;
			return 0;
		}
	return text[digits] ? -EINVAL : 0;
}

/* While the fabric is drawn: the n-th name is that of node n. */
static node_id known(const struct story *s, const char *name)
{
	for (size_t i = 0; i < s->names.n; i++)
		if (!strcmp(s->names.at[i], name))
			return (node_id)i;
	return FAB_NONE;
}

static int add_node(struct story *s, unsigned line, enum iba_node_type type, char *word[],
		    unsigned n)
{
	uint64_t ports, guid = ((uint64_t)s->names.n + 1) << 8;
	node_id id;

	if (n != 3 || parse_u64(word[2], &ports) || !ports || ports > 254)
		return fail(s, line, "NAME PORTS", n > 2 ? word[2] : NULL);
	if (known(s, word[1]) != FAB_NONE)
		return fail(s, line, "a new name", word[1]);
	id = fab_add_node(s->b, type, guid, (unsigned)ports, word[1]);
	for (unsigned p = 1; type != IBA_NODE_SWITCH && p <= ports; p++)
		fab_builder_port(s->b, id, p)->guid = guid + p;
	vec_push(&s->names, mem_strdup(word[1]));
	return 0;
}

static int add_link(struct story *s, unsigned line, char *word[], unsigned n)
{
	uint64_t pa, pb;
	node_id a, b;

	if (n != 5 || parse_u64(word[2], &pa) || parse_u64(word[4], &pb))
		return fail(s, line, "link A PORT B PORT", n > 1 ? word[1] : NULL);
	a = known(s, word[1]);
	b = known(s, word[3]);
	if (a == FAB_NONE || b == FAB_NONE || fab_add_link(s->b, a, (unsigned)pa, b, (unsigned)pb))
		return fail(s, line, "two free ports of nodes named above", word[1]);
	return 0;
}

/* gen KIND SIZE...: in place of switch, host and link. */
static int generate(struct story *s, unsigned line, char *word[], unsigned n)
{
	struct fab_gen g = {.kind = n > 1 ? word[1] : "", .seed = 1};
	struct err why;

	for (unsigned i = 2; i < n; i++) {
		uint64_t v;

		if (parse_u64(word[i], &v) || v > 1000)
			return fail(s, line, "a size", word[i]);
		g.dims[g.ndims++] = (unsigned)v;
	}
	if (s->fab || s->names.n)
		return fail(s, line, "one fabric", word[0]);
	s->fab = fab_generate(&g, &why);
	return s->fab ? 0 : err_set(&s->err, -EINVAL, "%s:%u: %.400s", s->name, line, why.text);
}

static int set_option(struct story *s, unsigned line, char *word[], unsigned n)
{
	uint64_t v;
	char *k;

	if (n != 3 || (parse_u64(word[2], &v) && parse_time(word[2], &v)))
		return fail(s, line, "set OPTION NUMBER", n > 2 ? word[2] : NULL);
	k = word[1];
	if (!strcmp(k, "traps"))
		s->cfg.sim.traps = v;
	else if (!strcmp(k, "training"))
		s->cfg.sim.training_ps = v;
	else if (!strcmp(k, "window"))
		s->cfg.sm.window = (unsigned)v;
	else if (!strcmp(k, "retries"))
		s->cfg.sm.retries = (unsigned)v;
	else if (!strcmp(k, "sweep_factor"))
		s->cfg.sm.sweep_factor = (unsigned)v;
	else if (!strcmp(k, "sweep_period"))
		s->cfg.sm.sweep_period_ps = v;
	else if (!strcmp(k, "m_key"))
		s->cfg.sm.m_key = v;
	else if (!strcmp(k, "m_key_protect"))
		s->cfg.sm.m_key_protect = (unsigned)v;
	else if (!strcmp(k, "seed"))
		s->cfg.sim.seed = v;
	else
		return fail(s, line, "an option (see README.md)", k);
	return 0;
}

static int add_deed(struct story *s, unsigned line, char *word[], unsigned n)
{
	struct deed d = {.line = line, .nwords = n - 2};

	if (n < 3 || parse_time(word[1], &d.when))
		return fail(s, line, "at TIME DEED", n > 1 ? word[1] : NULL);
	for (unsigned i = 2; i < n; i++)
		d.word[i - 2] = mem_strdup(word[i]);
	vec_push(&s->deeds, d);
	return 0;
}

static int read_line(struct story *s, unsigned line, char *text)
{
	char *word[8];
	unsigned n = split(text, word, ARRAY_LEN(word));

	if (!n)
		return 0;
	if (!strcmp(word[0], "switch"))
		return add_node(s, line, IBA_NODE_SWITCH, word, n);
	if (!strcmp(word[0], "host"))
		return add_node(s, line, IBA_NODE_CA, word, n);
	if (!strcmp(word[0], "link"))
		return add_link(s, line, word, n);
	if (!strcmp(word[0], "gen"))
		return generate(s, line, word, n);
	if (!strcmp(word[0], "set"))
		return set_option(s, line, word, n);
	if (!strcmp(word[0], "at"))
		return add_deed(s, line, word, n);
	if (!strcmp(word[0], "run"))
		return n == 2 && !parse_time(word[1], &s->end)
			       ? 0
			       : fail(s, line, "run TIME", word[n - 1]);
	return fail(s, line, "gen, switch, host, link, set, at, run, never or expect", word[0]);
}

/* Line by line until "expect"; what follows is taken as it stands. */
static int read_story(struct story *s, char *text)
{
	bool expecting = false;
	unsigned line = 0;
	int rc = 0;

	for (char *next; text && !rc; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = 0;
		line++;
		if (*text == '#' || !*text)
			continue;
		if (expecting) {
			vec_push(&s->expect, mem_strdup(text));
		} else if (!strncmp(text, "never ", 6)) {
			vec_push(&s->never, mem_strdup(text + 6));
		} else if (!strcmp(text, "expect") || !strcmp(text, "expect exactly")) {
			expecting = true;
			s->exactly = strlen(text) > 6;
		} else {
			rc = read_line(s, line, text);
		}
	}
	if (!rc && (!s->expect.n || !s->end))
		rc = fail(s, line, "run TIME and expect with lines below", NULL);
	return rc;
}

/* ---- deeds ---- */

static void on_stranger(void *ctx, const struct sim_smp *smp)
{
	struct story *s = ctx;
	struct strbuf b = tell(s);

	strbuf_add(&b, "stranger < ");
	add_smp(&b, smp->mad);
	told(s, &b);
}

/* stranger FROM get|set TARGET KEY: another SM's Get or Set(PortInfo), LID-routed. */
static int do_stranger(struct story *s, const struct deed *d)
{
	struct sim *sim = lab_sim(s->lab);
	node_id from = find_node(s, d->nwords > 1 ? d->word[1] : NULL);
	node_id to = find_node(s, d->nwords > 3 ? d->word[3] : NULL);
	const struct iba_port_info *own, *pi;
	struct sim_smp smp = {0};
	uint64_t key;
	bool set;

	if (d->nwords != 5 || from == FAB_NONE || to == FAB_NONE || parse_u64(d->word[4], &key))
		return fail(s, d->line, "stranger HOST get|set NODE KEY", d->word[0]);
	set = !strcmp(d->word[2], "set");
	own = sim_port_info(sim, fab_port_id(s->fab, from, 1));
	pi = sim_port_info(sim, fab_port_id(s->fab, to, fab_is_switch(s->fab, to) ? 0 : 1));
	sim_attach(sim, from, 1, on_stranger, s);
	iba_smp_init(smp.mad, IBA_CLASS_SUBN_LID, set ? IBA_SET : IBA_GET, IBA_ATTR_PORT_INFO, 0);
	iba_smp_set_m_key(smp.mad, key);
	if (set) {
		struct iba_port_info v = *pi;

		v.state = v.phys_state = 0;
		v.sm_lid = own->lid; /* claims to be the master */
		iba_port_info_put(&v, iba_smp_data(smp.mad));
	}
	smp.slid = own->lid;
	smp.dlid = pi->lid;
	sim_send(sim, from, 1, &smp);
	return 0;
}

static int do_cable(struct story *s, const struct deed *d, bool join)
{
	struct sim *sim = lab_sim(s->lab);
	node_id n = find_node(s, d->nwords > 1 ? d->word[1] : NULL);
	uint64_t num;
	port_id p;

	if (d->nwords != 3 || n == FAB_NONE || parse_u64(d->word[2], &num) || !num ||
	    num > s->fab->nodes[n].nports ||
	    s->fab->ports[fab_port_id(s->fab, n, (unsigned)num)].peer == FAB_NONE)
		return fail(s, d->line, "NODE PORT with a cable",
			    d->nwords > 1 ? d->word[1] : NULL);
	p = fab_port_id(s->fab, n, (unsigned)num);
	if (!join)
		sim_uncable(sim, p);
	else if (sim_port_peer(sim, p) == FAB_NONE)
		sim_cable(sim, p, s->fab->ports[p].peer); /* back where it was */
	return 0;
}

static int do_deed(struct story *s, const struct deed *d)
{
	const char *what = d->word[0];
	node_id n;
	uint64_t v;

	if (!strcmp(what, "cut") || !strcmp(what, "join"))
		return do_cable(s, d, !strcmp(what, "join"));
	if (!strcmp(what, "stranger"))
		return do_stranger(s, d);
	if (!strcmp(what, "off") || !strcmp(what, "on")) {
		n = find_node(s, d->nwords > 1 ? d->word[1] : NULL);
		if (n == FAB_NONE)
			return fail(s, d->line, "a node", d->nwords > 1 ? d->word[1] : NULL);
		sim_node_power(lab_sim(s->lab), n, !strcmp(what, "on"));
		return 0;
	}
	if (!strcmp(what, "loss")) { /* percent of SMPs, from now on */
		if (d->nwords != 2 || parse_u64(d->word[1], &v) || v > 100)
			return fail(s, d->line, "loss PERCENT", d->nwords > 1 ? d->word[1] : NULL);
		sim_set_faults(lab_sim(s->lab), &(struct sim_faults){.loss_q32 = (v << 32) / 100});
		return 0;
	}
	return fail(s, d->line, "cut, join, off, on, loss or stranger", what);
}

static void on_deed(void *ctx, uint64_t i)
{
	struct story *s = ctx;
	struct err keep = s->err;

	if (do_deed(s, &s->deeds.at[i]) && keep.text[0])
		s->err = keep; /* report the first error */
}

/* ---- running and comparing ---- */

static int run_story(struct story *s)
{
	if (!s->fab) {
		s->fab = fab_build(s->b);
		s->b = NULL;
	}
	s->lab = lab_new(s->fab, &s->cfg, &s->err);
	if (!s->lab)
		return -EINVAL;
	lab_power_on(s->lab, NULL);
	sim_watch(lab_sim(s->lab),
		  (struct sim_watch){on_seen, s}); /* power-on is not part of the trace */
	lab_on_note(s->lab, on_note, s);
	for (size_t i = 0; i < s->deeds.n; i++)
		sim_call(lab_sim(s->lab), s->deeds.at[i].when, on_deed, s, i);
	lab_run_until(s->lab, s->end);
	return s->err.text[0] ? -EINVAL : 0;
}

/* "[*] text" matches any time. */
static bool same_line(const char *want, const char *got)
{
	const char *rest;

	if (strncmp(want, "[*]", 3))
		return !strcmp(want, got);
	rest = strchr(got, ']');
	return rest && !strcmp(want + 3, rest + 1);
}

static bool show_difference(const struct story *s, size_t i, size_t from)
{
	printf("# %s: line %zu of what is expected\n#   expected: %s\n", s->name, i + 1,
	       i < s->expect.n ? s->expect.at[i] : "(the end)");
	for (size_t k = from; k < MIN(from + 12, s->trace.n); k++)
		printf("#   %s %s\n", k == from ? "got:     " : "         ", s->trace.at[k]);
	if (from >= s->trace.n)
		printf("#   got:      (the end)\n");
	return false;
}

/* exactly: the two are the same; otherwise what is expected comes in this order, with more between.
 */
static bool compare(const struct story *s)
{
	size_t at = 0;

	for (size_t i = 0; i < s->expect.n; i++) {
		size_t from = at;

		while (!s->exactly && at < s->trace.n &&
		       !same_line(s->expect.at[i], s->trace.at[at]))
			at++;
		if (at >= s->trace.n || !same_line(s->expect.at[i], s->trace.at[at]))
			return show_difference(s, i, from);
		at++;
	}
	if (s->exactly && at < s->trace.n)
		return show_difference(s, s->expect.n, at);
	for (size_t i = 0; i < s->never.n; i++)
		for (size_t k = 0; k < s->trace.n; k++)
			if (strstr(s->trace.at[k], s->never.at[i])) {
				printf("# %s: never expected '%s'\n#   got: %s\n", s->name,
				       s->never.at[i], s->trace.at[k]);
				return false;
			}
	return true;
}

static bool judge(struct story *s)
{
	struct lab_verdict v;
	bool ok;

	lab_judge(s->lab, &v);
	ok = v.active && v.verified && v.lids_unique && v.complete;
	if (!ok)
		printf("# %s: in the end %s\n", s->name, v.why);
	rt_report_free(&v.report);
	return ok;
}

static void free_lines(line_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i]);
	vec_free(l);
}

static void close_story(struct story *s)
{
	lab_free(s->lab);
	fab_free(s->fab);
	if (s->b)
		fab_builder_free(s->b);
	for (size_t i = 0; i < s->deeds.n; i++)
		for (unsigned k = 0; k < s->deeds.at[i].nwords; k++)
			free(s->deeds.at[i].word[k]);
	vec_free(&s->deeds);
	free_lines(&s->names);
	free_lines(&s->expect);
	free_lines(&s->never);
	free_lines(&s->trace);
}

/* Its own CPU model, so that a new calibration of the others changes no trace. */
static time_ps route_ps(const struct fab *f, const struct sm_work_done *w)
{
	(void)f;
	(void)w;
	return 10 * PS_PER_US;
}

static const struct lab_cpu scenario_cpu = {
	.name = "scenario",
	.summary = "round numbers",
	.smi_ps = 2 * PS_PER_US,
	.sma_ps = 3 * PS_PER_US,
	.sm_ps = 1 * PS_PER_US,
	.route_ps = route_ps,
};

static bool run_file(const char *path, bool print)
{
	struct story s = {.name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path};
	char *text = NULL;
	size_t len;
	bool ok;

	lab_config_default(&s.cfg);
	s.cfg.sm.mechanism = *sm_mechanism_find("basic");
	s.cfg.threads = 1;
	s.cfg.cpu = &scenario_cpu;
	s.b = fab_builder_new();
	ok = !file_read(path, &text, &len, &s.err) && !read_story(&s, text) && !run_story(&s);
	if (!ok)
		printf("# %s\n", s.err.text);
	for (size_t i = 0; print && i < s.trace.n; i++)
		printf("%s\n", s.trace.at[i]);
	ok = ok && (print || compare(&s));
	ok = ok && judge(&s);
	free(text);
	close_story(&s);
	return ok;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2) {
		fputs("usage: test_scenario [--print] FILE...\n", stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--print"))
		return argc == 3 && run_file(argv[2], true) ? 0 : 1;
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		bool ok = run_file(argv[i], false);

		failed += !ok;
		printf("%s %d - %s\n", ok ? "ok" : "not ok", i, argv[i]);
	}
	return failed ? 1 : 0;
}
