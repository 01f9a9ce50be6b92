/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A standby whose master lies: any bytes as the pages that it copies, with the right tags, and digests that fit
 * unless the input says otherwise. What gets through is believed by a manager that takes over, on a fabric that says
 * the least that keeps it going. Any bytes as requests to a master, too. No crash, no step without end, no memory
 * beyond the limits. State: struct play, one an input. Way in: libFuzzer, or replay.c over files.
 */
#include "sm/manager.h" /* makes it a standby at once */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 400, AFTER = 80, LIES = 8, KEY = 0x1234 };

struct play {
	struct sm *sm, *liar;
	struct sm_actions out, lie;
	struct sm_pages pages;
	uint64_t root;
	const uint8_t *lies; /* LIES bytes: which response, and where it is wrong */
	unsigned answers;
	time_ps now;
};

/* ---- the liar ---- */

static void pages_make(struct play *p, const uint8_t *data, size_t size)
{
	/* the second and fourth: with VMs, the third and fourth: with LIDs of absent hosts */
	static const uint8_t magic[4][8] = {"WEFTMIR1", "WEFTMIR2", "WEFTMIR3", "WEFTMIR4"};
	uint32_t n = (uint32_t)MAX(size / SM_PAGE + 1, (size_t)2);

	sm_pages_shape(&p->pages, n);
	for (unsigned k = 0; k < MIN(p->pages.levels, 2u); k++)
		p->pages.at[k] = mem_zarray(p->pages.n[k], SM_PAGE);
	if (size)
		memcpy(p->pages.at[0], data, size);
	memcpy(p->pages.at[0], magic[(p->pages.at[0][7] - '1') & 3], sizeof(magic[0]));
	for (uint32_t i = 0; i < n; i++)
		iba_be64_put(p->pages.at[1] + (size_t)i * 8,
			     sm_page_digest(p->pages.at[0] + (size_t)i * SM_PAGE));
	sm_pages_raise(&p->pages);
	p->root = sm_pages_root(&p->pages, p->pages.at[p->pages.levels - 1]);
}

static void answer_gmp(struct play *p, const uint8_t *mad)
{
	struct sm_mirror_mad m;
	struct iba_mirror_root root = {
		.pages = p->pages.n[0], .stamp = 5, .stamp_guid = 2, .stamp_block = 15};
	uint8_t data[SM_PAGE] = {0};
	unsigned level, lie = p->answers % LIES;
	uint32_t i;

	if (!sm_mirror_read(p->liar, mad, &m))
		abort(); /* the standby's own tag */
	level = m.modifier >> 24;
	i = m.modifier & 0xffffff;
	m.method = IBA_GET_RESP;
	m.root = p->root;
	if (m.attr == IBA_MIRROR_ROOT)
		iba_mirror_root_put(&root, data);
	else if (level < p->pages.levels && i < p->pages.n[level])
		memcpy(data, p->pages.at[level] + (size_t)i * SM_PAGE, SM_PAGE);
	if (p->lies[lie] >= 192)
		m.root ^= p->answers & 1;
	else if (p->lies[lie])
		data[p->lies[lie]] ^= (uint8_t)(1 << p->answers % 8);
	p->answers++;
	p->lie.sends.n = 0;
	sm_mirror_send(p->liar, &m, data);
}

/* ---- the fabric: the manager on host 1, and behind it switches without end ---- */

static void answer_smp(const struct sm *sm, uint8_t *mad)
{
	uint8_t *d = iba_smp_data(mad);
	uint16_t attr = iba_smp_attr_id(mad);
	unsigned hops = iba_smp_hop_cnt(mad);

	iba_smp_set_method(mad, IBA_GET_RESP);
	if (attr == IBA_ATTR_NODE_INFO) {
		struct iba_node_info ni = {.node_type = hops ? IBA_NODE_SWITCH : IBA_NODE_CA,
					   .num_ports = hops ? 4 : 1,
					   .node_guid = 1 + hops,
					   .port_guid = 1 + hops,
					   .local_port = 1};

		iba_node_info_put(&ni, d);
	} else if (attr == IBA_ATTR_PORT_INFO) {
		struct iba_port_info pi = {
			.lid = (uint16_t)(1 + hops), .sm_lid = 9, .state = IBA_PORT_ACTIVE};

		iba_port_info_put(&pi, d);
	} else if (attr == IBA_ATTR_SWITCH_INFO) {
		struct iba_switch_info si = {.linear_cap = 1000, .linear_top = 100};

		iba_switch_info_put(&si, d);
	} else if (attr == IBA_ATTR_LFT && iba_smp_attr_mod(mad) == 15) {
		for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
			d[i] = 5 >> MIN(i, 31u) & 1; /* the stamp */
	}
	(void)sm;
}

/* ---- time ---- */

static void step(struct play *p, struct sm_event ev)
{
	p->now += PS_PER_US;
	ev.now = p->now;
	sm_step(p->sm, &ev, &p->out);
}

/* Answers the first request of the last step; without one the time of the next wake-up comes. */
static void turn(struct play *p)
{
	uint8_t mad[IBA_MAD_SIZE];

	if (!p->out.sends.n) {
		p->now = MAX(p->now, MIN(p->out.wake, p->now + PS_PER_S));
		step(p, (struct sm_event){.kind = SM_EV_WAKE});
		return;
	}
	memcpy(mad, p->out.sends.at[0].mad, sizeof(mad));
	if (p->out.sends.at[0].qp) {
		answer_gmp(p, mad);
		step(p,
		     (struct sm_event){
			     .kind = SM_EV_SMP, .mad = p->lie.sends.at[0].mad, .slid = 9, .qp = 1});
		return;
	}
	answer_smp(p->sm, mad);
	step(p, (struct sm_event){.kind = SM_EV_SMP, .mad = mad});
}

static void play(struct play *p)
{
	for (unsigned i = 0; i < STEPS && !p->sm->mirror.standby.whole; i++)
		turn(p);
	p->sm->core.out = &p->out;
	sm_phase_apply(p->sm, sm_changed(p->sm, SM_CAUSE_SILENCE, SM_ABOUT_NOTHING));
	p->sm->election.state = IBA_SM_MASTER;
	step(p, (struct sm_event){.kind = SM_EV_WAKE});
	for (unsigned i = 0; i < AFTER; i++)
		turn(p);
}

/* As a request to a master: any page, or anything at all. */
static void ask(struct play *p, const uint8_t *data, size_t size)
{
	struct sm_mirror_mad m = {.method = IBA_GET, .attr = IBA_MIRROR_PAGE, .slid = 3, .dlid = 9};
	uint8_t mad[IBA_MAD_SIZE] = {0};

	if (size >= 4)
		memcpy(&m.modifier, data, 4);
	p->lie.sends.n = 0;
	sm_mirror_send(p->liar, &m, NULL);
	step(p, (struct sm_event){
			.kind = SM_EV_SMP, .mad = p->lie.sends.at[0].mad, .slid = 3, .qp = 1});
	if (size)
		memcpy(mad, data, MIN(size, sizeof(mad)));
	step(p, (struct sm_event){.kind = SM_EV_SMP, .mad = mad, .slid = 3, .qp = 1});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t none[LIES];
	struct play p = {.lies = size >= LIES ? data : none, .now = PS_PER_S};
	struct sm_config c;

	data += size >= LIES ? LIES : size;
	size -= MIN(size, (size_t)LIES);
	sm_config_default(&c);
	c.port = c.window = 1;
	c.read_back = c.contest = c.mirror = true;
	c.sm_key = KEY;
	p.sm = sm_new(&c);
	p.liar = sm_new(&c);
	p.liar->core.out = &p.lie;
	p.sm->core.phase = SM_STANDBY;
	p.sm->election.state = IBA_SM_STANDBY;
	p.sm->core.round.end = 1;
	vec_room(&p.sm->topo.hops, 64);
	pages_make(&p, data, size);
	step(&p, (struct sm_event){.kind = SM_EV_WAKE});
	play(&p);
	ask(&p, data, size);
	sm_pages_free(&p.pages);
	sm_actions_free(&p.out);
	sm_actions_free(&p.lie);
	sm_free(p.sm);
	sm_free(p.liar);
	return 0;
}
