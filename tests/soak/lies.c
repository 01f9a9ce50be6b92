/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a lying server does to packets. State: struct lies, with the packets that passed last. Ways in:
 * lies_pass(), lies_due(). Does not touch sockets.
 */
#include "liar.h"

#include <arpa/inet.h>

enum { LATE_MS = 500, LATE_MAX = 4096 };

static const char *const lie_names[LIE_NKINDS] = {
	[LIE_DROP] = "dropped",	   [LIE_TWICE] = "twice",     [LIE_LATE] = "late",
	[LIE_BITS] = "bits",	   [LIE_NOISE] = "noise",     [LIE_FIELD] = "a field",
	[LIE_OTHER] = "another's", [LIE_TID] = "another id",  [LIE_STATUS] = "status",
	[LIE_METHOD] = "method",   [LIE_REPLAY] = "replayed", [LIE_TRAP] = "a trap",
	[LIE_ORDER] = "an order",  [LIE_SIZE] = "wrong size", [LIE_TIMEOUT] = "timed out",
};

static uint32_t below(struct lies *l, uint32_t n)
{
	return rng_below(&l->rng, n);
}

static void put(struct lies *l, uint32_t to, const struct ibsim_packet *p)
{
	l->deliver(l->ctx, to, p, sizeof(*p));
}

static const struct ibsim_packet *any_old(struct lies *l)
{
	return &l->old[below(l, MIN(l->nold, (uint32_t)LIES_OLD))];
}

/* ---- changes ---- */

static void flip(struct lies *l, uint8_t *mad)
{
	for (unsigned n = 1 + below(l, 4); n; n--)
		mad[below(l, IBA_MAD_SIZE)] ^= (uint8_t)(1u << below(l, 8));
}

static void noise(struct lies *l, uint8_t *mad)
{
	unsigned at = below(l, IBA_SMP_DATA_SIZE), n = 1 + below(l, 16);

	for (unsigned i = at; i < IBA_SMP_DATA_SIZE && i < at + n; i++)
		iba_smp_data(mad)[i] = (uint8_t)below(l, 256);
}

static void lie_node_info(struct lies *l, uint8_t *data)
{
	struct iba_node_info ni;

	iba_node_info_get(&ni, data, IBA_SMP_DATA_SIZE);
	switch (below(l, 6)) {
	case 0: /* a node that is not there */
		ni.node_guid += 1 + below(l, 64);
		break;
	case 1:
		ni.port_guid += 1 + below(l, 64);
		break;
	case 2:
		ni.node_type = below(l, 5) & 7;
		break;
	case 3:
		ni.num_ports = (uint8_t)below(l, 256);
		break;
	case 4:
		ni.local_port = (uint8_t)below(l, 256);
		break;
	case 5:
		ni.node_guid = ni.port_guid = 0;
		break;
	}
	iba_node_info_put(&ni, data);
}

static void lie_port_info(struct lies *l, uint8_t *data)
{
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	switch (below(l, 8)) {
	case 0:
		pi.state = below(l, 8) & 7;
		break;
	case 1:
		pi.phys_state = below(l, 8) & 7;
		break;
	case 2:
		pi.lid = (uint16_t)below(l, 65536);
		break;
	case 3:
		pi.lid = (uint16_t)(1 + below(l, 64));
		break;
	case 4:
		pi.lmc = below(l, 8) & 7;
		break;
	case 5:
		pi.mtu_cap = below(l, 16) & 15;
		pi.vl_cap = below(l, 16) & 15;
		break;
	case 6:
		pi.cap_mask ^= 1u << below(l, 32);
		break;
	case 7:
		pi.m_key = below(l, 4);
		pi.resp_time = below(l, 32) & 31;
		break;
	}
	iba_port_info_put(&pi, data);
}

static void lie_switch_info(struct lies *l, uint8_t *data)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	switch (below(l, 4)) {
	case 0:
		si.linear_cap = (uint16_t)below(l, 65536);
		break;
	case 1:
		si.random_cap = (uint16_t)below(l, 65536);
		break;
	case 2:
		si.linear_top = (uint16_t)below(l, 65536);
		break;
	case 3:
		si.port_state_change = 1;
		break;
	}
	iba_switch_info_put(&si, data);
}

static void lie_field(struct lies *l, uint8_t *mad)
{
	switch (iba_smp_attr_id(mad)) {
	case IBA_ATTR_NODE_INFO:
		lie_node_info(l, iba_smp_data(mad));
		break;
	case IBA_ATTR_PORT_INFO:
		lie_port_info(l, iba_smp_data(mad));
		break;
	case IBA_ATTR_SWITCH_INFO:
		lie_switch_info(l, iba_smp_data(mad));
		break;
	default:
		iba_smp_data(mad)[below(l, IBA_SMP_DATA_SIZE)] = (uint8_t)below(l, 256);
	}
}

/* The same attribute of another answer. */
static void lie_other(struct lies *l, uint8_t *mad)
{
	for (unsigned i = 0; i < 32; i++) {
		const struct ibsim_packet *p = any_old(l);

		if (iba_smp_attr_id(p->mad) != iba_smp_attr_id(mad))
			continue;
		memcpy(iba_smp_data(mad), iba_smp_data_const(p->mad), IBA_SMP_DATA_SIZE);
		return;
	}
}

static void lie_status(struct lies *l, uint8_t *mad)
{
	static const uint8_t common[] = {0x01, 0x04, 0x08, 0x0c, 0x1c};

	mad[5] = below(l, 4) ? common[below(l, sizeof(common))] : (uint8_t)below(l, 256);
}

static void lie_method(struct lies *l, uint8_t *mad)
{
	static const uint8_t methods[] = {
		IBA_GET, IBA_SET, IBA_TRAP, IBA_TRAP_REPRESS, IBA_REPORT, 0x85, 0x12, 0x92, 0};

	iba_smp_set_method(mad, methods[below(l, sizeof(methods))]);
}

/* ---- packets that no device sent ---- */

static void invent(struct lies *l, uint32_t to, bool trap)
{
	struct iba_notice n = {.is_generic = 1,
			       .type = IBA_NOTICE_URGENT,
			       .producer_type = IBA_NODE_SWITCH,
			       .trap_number =
				       below(l, 2) ? IBA_TRAP_LINK_STATE : IBA_TRAP_CAP_CHANGE};
	struct iba_sm_info si = {.guid = below(l, 1000), .priority = 15, .state = below(l, 5) & 7};
	uint16_t lid = (uint16_t)(below(l, 4) ? 1 + below(l, 64) : below(l, 65536));
	struct ibsim_packet p = {.slid = htons(lid), .length = __builtin_bswap64(IBA_MAD_SIZE)};

	n.issuer_lid = lid;
	iba_be16_put(n.details, lid);
	if (trap) {
		iba_smp_init(p.mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
		iba_notice_put(&n, iba_smp_data(p.mad));
	} else {
		iba_smp_init(p.mad, IBA_CLASS_SUBN_LID, below(l, 2) ? IBA_SET : IBA_GET,
			     IBA_ATTR_SM_INFO, 1 + below(l, 6));
		iba_sm_info_put(&si, iba_smp_data(p.mad));
	}
	iba_smp_set_tid(p.mad, rng_u64(&l->rng));
	put(l, to, &p);
}

static void wrong_size(struct lies *l, uint32_t to, const struct ibsim_packet *p)
{
	uint8_t bytes[2 * sizeof(*p)] = {0};

	memcpy(bytes, p, sizeof(*p));
	l->deliver(l->ctx, to, bytes, below(l, sizeof(bytes)));
}

static void later(struct lies *l, uint32_t to, const struct ibsim_packet *p, uint64_t now_ms)
{
	if (l->late.n < LATE_MAX)
		vec_push(&l->late, (struct late){now_ms + 1 + below(l, LATE_MS), to, *p});
}

/* ---- one packet ---- */

static void tell(struct lies *l, uint32_t to, struct ibsim_packet p, enum lie lie, uint64_t now_ms)
{
	switch (lie) {
	case LIE_DROP:
		return;
	case LIE_LATE:
		later(l, to, &p, now_ms);
		return;
	case LIE_SIZE:
		wrong_size(l, to, &p);
		return;
	case LIE_TWICE:
		put(l, to, &p);
		break;
	case LIE_REPLAY:
		put(l, to, any_old(l));
		break;
	case LIE_TRAP:
	case LIE_ORDER:
		invent(l, to, lie == LIE_TRAP);
		break;
	case LIE_BITS:
		flip(l, p.mad);
		break;
	case LIE_NOISE:
		noise(l, p.mad);
		break;
	case LIE_FIELD:
		lie_field(l, p.mad);
		break;
	case LIE_OTHER:
		lie_other(l, p.mad);
		break;
	case LIE_TID:
		iba_smp_set_tid(p.mad, iba_smp_tid(any_old(l)->mad) + below(l, 4));
		break;
	case LIE_STATUS:
		lie_status(l, p.mad);
		break;
	case LIE_METHOD:
		lie_method(l, p.mad);
		break;
	case LIE_TIMEOUT:
		p.status = htonl(110);
		break;
	case LIE_NKINDS:
		break;
	}
	put(l, to, &p);
}

void lies_pass(struct lies *l, uint32_t to, const struct ibsim_packet *p, uint64_t now_ms)
{
	l->old[l->nold++ % LIES_OLD] = *p;
	l->passed++;
	if (!l->left || below(l, l->one_in)) {
		put(l, to, p);
	} else {
		enum lie lie = (enum lie)below(l, LIE_NKINDS);

		l->told[lie]++;
		tell(l, to, *p, lie, now_ms);
	}
	l->left -= l->left > 0;
}

/* With an id that passed, or one of the next: questions are numbered one after the other. */
void lies_about_old(struct lies *l, struct ibsim_packet *p)
{
	*p = *any_old(l);
	switch (below(l, 4)) {
	case 0:
		flip(l, p->mad);
		break;
	case 1:
		noise(l, p->mad);
		break;
	case 2:
		lie_field(l, p->mad);
		break;
	case 3:
		lie_status(l, p->mad);
		break;
	}
	if (!below(l, 8))
		iba_smp_set_tid(p->mad, iba_smp_tid(p->mad) + below(l, LIES_OLD));
}

void lies_due(struct lies *l, uint64_t now_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->late.n; i++)
		if (l->late.at[i].due_ms <= now_ms)
			put(l, l->late.at[i].to, &l->late.at[i].p);
		else
			l->late.at[kept++] = l->late.at[i];
	l->late.n = kept;
}

void lies_report(const struct lies *l)
{
	printf("liar: honest after %llu packets:", (unsigned long long)l->passed);
	for (unsigned i = 0; i < LIE_NKINDS; i++)
		printf(" %llu %s%s", (unsigned long long)l->told[i], lie_names[i],
		       i + 1 < LIE_NKINDS ? "," : "\n");
	fflush(stdout);
}

void lies_free(struct lies *l)
{
	vec_free(&l->late);
}
