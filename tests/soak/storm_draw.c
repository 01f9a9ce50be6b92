/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams of a storm, drawn one by one. State: struct storm, with its random stream. Ways in:
 * storm_packet(), storm_control(). Sends nothing.
 */
#include "storm.h"

#include <arpa/inet.h>

enum { NEAR_LIDS = 8 };

const char *const storm_names[STORM_NKINDS] = {
	[STORM_DIRECTED] = "directed", [STORM_LID] = "by LID",	    [STORM_GMP] = "GMPs",
	[STORM_TRAP] = "traps",	       [STORM_SM] = "to the SM",    [STORM_NOISE] = "noise",
	[STORM_SIZE] = "wrong sizes",  [STORM_CONTROL] = "control",
};

static uint32_t below(struct storm *s, uint32_t n)
{
	return rng_below(&s->rng, n);
}

static bool one_in(struct storm *s, uint32_t n)
{
	return below(s, n) == 0;
}

#define PICK(s, list) ((list)[below(s, ARRAY_LEN(list))])

static void noise(struct storm *s, uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)rng_u64(&s->rng);
}

/* ---- parts of a MAD ---- */

static unsigned draw_method(struct storm *s)
{
	static const uint8_t common[] = {IBA_GET,      IBA_GET,
					 IBA_SET,      IBA_SET,
					 IBA_SEND,     IBA_TRAP,
					 IBA_REPORT,   IBA_TRAP_REPRESS,
					 IBA_GET_RESP, IBA_REPORT_RESP,
					 0x12,	       0x13,
					 0x14,	       0x15,
					 0x92,	       0x93,
					 0x95};

	return one_in(s, 16) ? below(s, 256) : PICK(s, common);
}

static unsigned draw_attr(struct storm *s)
{
	static const uint16_t known[] = {0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x14, 0x15,   0x15,
					 0x16, 0x17, 0x18, 0x19, 0x19, 0x1a, 0x1b, 0x1d,   0x20,
					 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0x39, 0xff90, 0xff00};

	return one_in(s, 16) ? below(s, 65536) : PICK(s, known);
}

/* Mostly one that means something: a port, a pair of ports, a block of LIDs that are in use. */
static uint32_t draw_mod(struct storm *s, unsigned attr)
{
	if (one_in(s, 8))
		return (uint32_t)rng_u64(&s->rng);
	if (attr == IBA_ATTR_LFT || attr == IBA_ATTR_SWITCH_INFO)
		return below(s, 2);
	if (attr == IBA_ATTR_PORT_INFO)
		return below(s, s->ports + 1);
	return one_in(s, 4) ? below(s, s->ports + 2) << (8 * below(s, 4)) | below(s, s->ports + 2)
			    : below(s, 40);
}

/* Mostly one of a few, so that packets to a LID often find a port that was given it. */
static uint16_t lid_near(struct storm *s)
{
	return (uint16_t)(1 + below(s, one_in(s, 2) ? NEAR_LIDS : 128));
}

static uint16_t draw_lid(struct storm *s)
{
	static const uint16_t odd[] = {0, 0xffff, 0xc000, 0xbfff, 0xfffe, 0x8000};

	if (s->sm_lid && one_in(s, 4))
		return s->sm_lid;
	return one_in(s, 8) ? PICK(s, odd) : one_in(s, 8) ? (uint16_t)below(s, 65536) : lid_near(s);
}

static uint64_t draw_tid(struct storm *s)
{
	return one_in(s, 4) ? rng_u64(&s->rng) : below(s, 1 << below(s, 24));
}

/* ---- attributes as an SM might set them ---- */

static void fill_port_info(struct storm *s, uint8_t *data)
{
	struct iba_port_info pi = {0};

	pi.lid = lid_near(s);
	pi.lmc = one_in(s, 8) ? below(s, 8) & 7 : 0;
	pi.sm_lid = draw_lid(s);
	if (one_in(s, 16)) { /* a link that is down stops all that would come after */
		pi.state = below(s, 6) & 7;
		pi.phys_state = below(s, 3) & 7;
	}
	pi.neighbor_mtu = (uint8_t)(1 + below(s, 5));
	pi.oper_vls = below(s, 6) & 7;
	pi.gid_prefix = rng_u64(&s->rng);
	pi.subnet_timeout = below(s, 32) & 31;
	pi.m_key_protect = below(s, 4) & 3;
	pi.hoq_life = below(s, 32) & 31;
	iba_port_info_put(&pi, data);
}

static void fill_switch_info(struct storm *s, uint8_t *data)
{
	struct iba_switch_info si = {.linear_top = (uint16_t)below(s, 256),
				     .default_port = (uint8_t)below(s, s->ports + 2),
				     .port_state_change = below(s, 2) & 1,
				     .life_time = below(s, 32) & 31,
				     .mcast_top = (uint16_t)below(s, 65536)};

	iba_switch_info_put(&si, data);
}

static void fill_notice(struct storm *s, uint8_t *data)
{
	static const uint16_t numbers[] = {64,	65,  66,  67,  128, 128, 128, 129,
					   130, 131, 144, 145, 256, 257, 258, 259};
	struct iba_notice n = {.is_generic = !one_in(s, 8),
			       .type = below(s, 8) & 7,
			       .producer_type = below(s, 5),
			       .trap_number =
				       one_in(s, 8) ? (uint16_t)below(s, 65536) : PICK(s, numbers),
			       .issuer_lid = draw_lid(s),
			       .toggle = below(s, 2) & 1,
			       .count = below(s, 4) & 3};

	noise(s, n.details, sizeof(n.details));
	if (one_in(s, 2))
		iba_be16_put(n.details, draw_lid(s));
	iba_notice_put(&n, data);
}

static void fill_sm_info(struct storm *s, uint8_t *data)
{
	struct iba_sm_info si = {.guid = one_in(s, 2) ? rng_u64(&s->rng) : below(s, 4),
				 .sm_key = one_in(s, 2) ? rng_u64(&s->rng) : 0,
				 .act_count = below(s, 1000),
				 .priority = below(s, 16) & 15,
				 .state = below(s, 6) & 15};

	iba_sm_info_put(&si, data);
}

static void fill_ports(struct storm *s, uint8_t *data)
{
	for (unsigned i = 0; i < IBA_SMP_DATA_SIZE; i++)
		data[i] = one_in(s, 8) ? 255 : (uint8_t)below(s, s->ports + 2);
}

static void fill(struct storm *s, uint8_t *mad)
{
	uint8_t *data = iba_smp_data(mad);

	switch (iba_smp_attr_id(mad)) {
	case IBA_ATTR_PORT_INFO:
		fill_port_info(s, data);
		break;
	case IBA_ATTR_SWITCH_INFO:
		fill_switch_info(s, data);
		break;
	case IBA_ATTR_NOTICE:
		fill_notice(s, data);
		break;
	case IBA_ATTR_SM_INFO:
		fill_sm_info(s, data);
		break;
	case IBA_ATTR_LFT:
		fill_ports(s, data);
		break;
	default:
		noise(s, data, one_in(s, 2) ? IBA_SMP_DATA_SIZE : below(s, IBA_SMP_DATA_SIZE));
	}
}

/* ---- MADs ---- */

static void header(struct storm *s, uint8_t *mad, unsigned class, unsigned method, unsigned attr)
{
	iba_smp_init(mad, (enum iba_class) class, (enum iba_method)method, (uint16_t)attr,
		     draw_mod(s, attr));
	iba_smp_set_tid(mad, draw_tid(s));
	iba_smp_set_m_key(mad, one_in(s, 4) ? 0 : SOAK_KEY);
	if (one_in(s, 8))
		iba_smp_set_status(mad, (uint16_t)below(s, 65536));
	fill(s, mad);
}

static void draw_path(struct storm *s, uint8_t *mad)
{
	unsigned hops = one_in(s, 16) ? below(s, 256) : below(s, one_in(s, 2) ? 2 : 8);
	bool wild = one_in(s, 8);

	iba_smp_set_hop_cnt(mad, (uint8_t)hops);
	iba_smp_set_hop_ptr(mad, one_in(s, 16) ? (uint8_t)below(s, 256) : 0);
	iba_smp_set_dr_slid(mad, one_in(s, 8) ? draw_lid(s) : IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(mad, one_in(s, 8) ? draw_lid(s) : IBA_LID_PERMISSIVE);
	for (unsigned i = 1; i < IBA_PATH_SIZE; i++)
		iba_smp_initial_path(mad)[i] =
			(uint8_t)(wild ? below(s, 256) : 1 + below(s, s->ports));
	if (one_in(s, 2))
		iba_smp_initial_path(mad)[1] = 1; /* the only port of most hosts */
	if (one_in(s, 16))
		noise(s, iba_smp_return_path(mad), IBA_PATH_SIZE);
}

static void draw_directed(struct storm *s, struct ibsim_packet *p)
{
	header(s, p->mad, IBA_CLASS_SUBN_DR, draw_method(s), draw_attr(s));
	draw_path(s, p->mad);
	p->dlid = htons(one_in(s, 8) ? draw_lid(s) : IBA_LID_PERMISSIVE);
	p->slid = htons(one_in(s, 8) ? draw_lid(s) : IBA_LID_PERMISSIVE);
}

static void draw_by_lid(struct storm *s, struct ibsim_packet *p)
{
	header(s, p->mad, IBA_CLASS_SUBN_LID, draw_method(s), draw_attr(s));
	p->dlid = htons(draw_lid(s));
	p->slid = htons(draw_lid(s));
}

static void draw_gmp(struct storm *s, struct ibsim_packet *p)
{
	static const uint8_t classes[] = {0x03, 0x03, 0x03, 0x04, 0x04, 0x05, 0x06,
					  0x07, 0x08, 0x09, 0x0c, 0x0f, 0x10, 0x1f,
					  0x20, 0x30, 0x32, 0x4f, 0x50, 0x00, 0xff};

	header(s, p->mad, PICK(s, classes), draw_method(s), draw_attr(s));
	if (one_in(s, 2))
		iba_smp_set_class_version(p->mad, 2);
	if (one_in(s, 2)) { /* RMPP: version, type, flags, status, segment, length */
		noise(s, p->mad + 24, 12);
		p->mad[24] = 1;
		p->mad[25] = (uint8_t)below(s, 6);
		p->mad[26] = (uint8_t)below(s, 8);
	}
	if (one_in(s, 2))
		noise(s, p->mad + 36, IBA_MAD_SIZE - 36);
	p->dlid = htons(draw_lid(s));
	p->slid = htons(draw_lid(s));
	p->dqp = p->sqp = htonl(1);
}

static void draw_trap(struct storm *s, struct ibsim_packet *p)
{
	static const uint8_t methods[] = {IBA_TRAP,   IBA_TRAP,		IBA_TRAP,
					  IBA_REPORT, IBA_TRAP_REPRESS, IBA_REPORT_RESP};

	header(s, p->mad, one_in(s, 4) ? IBA_CLASS_SUBN_DR : IBA_CLASS_SUBN_LID, PICK(s, methods),
	       IBA_ATTR_NOTICE);
	if (iba_smp_is_dr(p->mad))
		draw_path(s, p->mad);
	p->dlid = htons(s->sm_lid && !one_in(s, 8) ? s->sm_lid : draw_lid(s));
	p->slid = htons(draw_lid(s));
}

/* Responses without a request, with ids that a manager may have open; and orders of other managers. */
static void draw_to_sm(struct storm *s, struct ibsim_packet *p)
{
	static const uint8_t methods[] = {IBA_GET_RESP, IBA_GET_RESP, IBA_GET_RESP, IBA_GET,
					  IBA_SET};
	unsigned method = PICK(s, methods);
	unsigned attr = method == IBA_GET_RESP && !one_in(s, 4) ? draw_attr(s) : IBA_ATTR_SM_INFO;

	header(s, p->mad, one_in(s, 2) ? IBA_CLASS_SUBN_DR : IBA_CLASS_SUBN_LID, method, attr);
	if (attr == IBA_ATTR_SM_INFO)
		iba_smp_set_attr_mod(p->mad, below(s, 8));
	if (iba_smp_is_dr(p->mad)) { /* as one that is home: D is set, the path used up */
		iba_smp_set_status(p->mad, IBA_STATUS_DR_RETURN);
		iba_smp_set_dr_slid(p->mad, IBA_LID_PERMISSIVE);
		iba_smp_set_dr_dlid(p->mad, IBA_LID_PERMISSIVE);
	}
	p->dlid = htons(s->sm_lid && !one_in(s, 8) ? s->sm_lid : draw_lid(s));
	p->slid = htons(draw_lid(s));
}

static void draw_noise(struct storm *s, struct ibsim_packet *p)
{
	noise(s, (uint8_t *)p, sizeof(*p));
}

/* ---- then something goes wrong with it ---- */

static void spoil(struct storm *s, uint8_t *bytes, size_t len)
{
	size_t n = below(s, 16), at = below(s, (uint32_t)len);

	if (one_in(s, 4))
		noise(s, bytes + at, MIN(len - at, n));
	n = 1 + below(s, 8);
	while (n--)
		bytes[below(s, (uint32_t)len)] ^= (uint8_t)(1u << below(s, 8));
}

/*
 * What only a person could undo is left out, whatever drew or spoiled it. What breaks the ways to an SM that
 * is aimed at is rare: the manager needs time to correct them, and gets nothing during that time.
 */
static void tame(struct storm *s, uint8_t *mad)
{
	struct iba_port_info pi;
	bool smp = iba_smp_is_dr(mad) || iba_smp_mgmt_class(mad) == IBA_CLASS_SUBN_LID;
	unsigned attr = iba_smp_attr_id(mad);

	if (!smp || iba_smp_method(mad) != IBA_SET)
		return;
	if (s->sm_lid &&
	    (attr == IBA_ATTR_PORT_INFO || attr == IBA_ATTR_LFT || attr == IBA_ATTR_SWITCH_INFO) &&
	    !one_in(s, 64))
		iba_smp_set_method(mad, IBA_GET);
	else if (attr != IBA_ATTR_PORT_INFO)
		return;
	iba_port_info_get(&pi, iba_smp_data(mad), IBA_SMP_DATA_SIZE);
	pi.m_key = one_in(s, 64) ? SOAK_KEY : 0;
	pi.m_key_lease = 1;
	if (pi.phys_state == IBA_PHYS_DISABLED)
		pi.phys_state = IBA_PHYS_POLLING;
	pi.width_enabled = pi.speed_enabled = pi.speed_ext_enabled = 0;
	iba_port_info_put(&pi, iba_smp_data(mad));
}

static enum storm_kind draw_kind(struct storm *s)
{
	static const uint8_t kinds[] = {STORM_DIRECTED, STORM_DIRECTED, STORM_DIRECTED, STORM_LID,
					STORM_LID,	STORM_GMP,	STORM_GMP,	STORM_TRAP,
					STORM_SM,	STORM_NOISE};

	if (!s->sm_lid && one_in(s, 2))
		return STORM_DIRECTED; /* no manager maintains the tables for LIDs */
	return (enum storm_kind)PICK(s, kinds);
}

size_t storm_packet(struct storm *s, uint8_t buf[STORM_MAX_BYTES])
{
	static void (*const draw[])(struct storm *, struct ibsim_packet *) = {
		[STORM_DIRECTED] = draw_directed, [STORM_LID] = draw_by_lid,
		[STORM_GMP] = draw_gmp,		  [STORM_TRAP] = draw_trap,
		[STORM_SM] = draw_to_sm,	  [STORM_NOISE] = draw_noise,
	};
	struct ibsim_packet p = {.length = __builtin_bswap64(IBA_MAD_SIZE)};
	enum storm_kind kind = draw_kind(s);
	size_t len = sizeof(p);

	draw[kind](s, &p);
	if (one_in(s, 3))
		spoil(s, one_in(s, 4) ? (uint8_t *)&p : p.mad,
		      one_in(s, 4) ? IBA_MAD_SIZE / 2 : IBA_MAD_SIZE);
	tame(s, p.mad);
	memcpy(buf, &p, sizeof(p));
	if (one_in(s, 200)) {
		kind = STORM_SIZE;
		len = one_in(s, 2) ? below(s, sizeof(p))
				   : sizeof(p) + 1 + below(s, STORM_MAX_BYTES - sizeof(p) - 1);
		memset(buf + sizeof(p), 0, STORM_MAX_BYTES - sizeof(p));
	}
	s->sent[kind]++;
	return len;
}

/* ---- control messages ---- */

static void draw_connect(struct storm *s, struct ibsim_ctl *c)
{
	static const char *const nodes[] = {
		"", "H-", "S-0002000000000001", "no such node", "%s%n", "H-[300]", "[[", "0x1"};
	struct ibsim_client_info i = {.id = one_in(s, 2) ? (uint32_t)rng_u64(&s->rng) : s->victim,
				      .qp = below(s, 3),
				      .is_sm = below(s, 2)};

	snprintf(i.node, sizeof(i.node), "%s", PICK(s, nodes));
	if (one_in(s, 4))
		noise(s, (uint8_t *)i.node, sizeof(i.node));
	memcpy(c->data, &i, sizeof(i));
}

size_t storm_control(struct storm *s, uint32_t client, uint8_t buf[STORM_MAX_BYTES])
{
	struct ibsim_ctl c = {.magic = IBSIM_MAGIC, .type = below(s, 14)};
	size_t len = sizeof(c);

	c.client = one_in(s, 2)	  ? client
		   : one_in(s, 2) ? below(s, 130)
				  : (uint32_t)rng_u64(&s->rng);
	c.len = one_in(s, 2) ? (uint32_t)rng_u64(&s->rng) : below(s, 65);
	noise(s, c.data, sizeof(c.data));
	if (c.type == IBSIM_CONNECT || one_in(s, 4))
		draw_connect(s, &c);
	if (one_in(s, 16))
		c.type = one_in(s, 2) ? IBSIM_SET_TIMEOUT : IBSIM_SET_SERVES;
	if (one_in(s, 16))
		c.type = (uint32_t)rng_u64(&s->rng);
	if (one_in(s, 16))
		c.magic = (uint32_t)rng_u64(&s->rng);
	memcpy(buf, &c, sizeof(c));
	memset(buf + sizeof(c), 0, STORM_MAX_BYTES - sizeof(c));
	if (one_in(s, 8))
		len = one_in(s, 2) ? below(s, sizeof(c)) : sizeof(c) + 1 + below(s, 1000);
	s->sent[STORM_CONTROL]++;
	return len;
}
