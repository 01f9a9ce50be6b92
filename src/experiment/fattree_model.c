/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fat-tree model. State: none. Way in: fattree_model(). Does not measure: experiments do.
 */
#include "experiment/fattree_model.h"

const struct fattree_times fattree_table1 = {10.6, 81.3, 0.36};

enum { ENTRY_BYTES = 3, BLOCK_LIDS = 64, HOSTS_MOST = 100000000 };

struct counts {
	uint64_t hosts, switches, get, set_port_info;
};

/* (m/2)^n; 0: too large. */
static uint64_t power(uint64_t base, unsigned n)
{
	uint64_t v = 1;

	for (; n; n--) {
		v *= base;
		if (v > HOSTS_MOST)
			return 0;
	}
	return v;
}

static bool counts_make(unsigned m, unsigned n, struct counts *c)
{
	uint64_t wide = power(m / 2, n), narrow = power(m / 2, n - 1);

	c->hosts = 2 * wide;
	c->switches = (2 * n - 1) * narrow;
	c->get = (4 * n - 2) * narrow * m + 4 * wide; /* equation 4 */
	c->set_port_info = 2 * wide;		      /* equation 5 */
	return wide && narrow;
}

static uint64_t sets_of(unsigned reading, uint64_t hosts, uint64_t switches, unsigned mtu)
{
	uint64_t packets = (hosts * ENTRY_BYTES + mtu - 1) / mtu;

	return reading == 0   ? 1 + packets
	       : reading == 1 ? packets
			      : (hosts + switches + BLOCK_LIDS) / BLOCK_LIDS; /* LIDs from 1 */
}

/* Equations 8 and 10: from one switch with eight hosts, counted by the same reading. */
static void reading_make(struct fattree_model *f, unsigned i, const struct counts *one,
			 const struct fattree_times *t)
{
	static const char *const names[] = {"eq7", "eq10", "blocks"};
	struct fattree_reading *r = &f->readings[i];
	uint64_t s1 = sets_of(i, one->hosts, one->switches, f->mtu);
	double each = t->td_ms / (double)(one->get + one->set_port_info + s1);

	r->name = names[i];
	r->s = sets_of(i, f->hosts, f->switches, f->mtu);
	r->set_lft = f->switches * r->s; /* equation 7 */
	r->td_ms = each * (double)(f->get + f->set_port_info + r->set_lft);
	r->pd_ms = t->pd_ms / (double)s1 * (double)r->set_lft;
}

int fattree_model(unsigned m, unsigned n, unsigned mtu, const struct fattree_times *t,
		  struct fattree_model *out, struct err *e)
{
	struct counts c, one;

	if (m < 2 || m % 2 || !n || !mtu)
		return err_set(e, -EINVAL,
			       "expected an even number of ports and at least one level");
	if (!counts_make(m, n, &c) || !counts_make(8, 1, &one))
		return err_set(e, -ERANGE, "a %u-port %u-tree has more than %d hosts", m, n,
			       HOSTS_MOST);
	*out = (struct fattree_model){.m = m,
				      .n = n,
				      .mtu = mtu,
				      .hosts = c.hosts,
				      .switches = c.switches,
				      .get = c.get,
				      .get_node_info = c.get / 2, /* equation 3 */
				      .get_port_info = c.get / 2,
				      .set_port_info = c.set_port_info};
	out->pc_ms = t->pc_ms / (double)one.hosts * (double)c.hosts; /* equation 9 */
	for (unsigned i = 0; i < FATTREE_READINGS; i++)
		reading_make(out, i, &one, t);
	out->set_lft = out->readings[0].set_lft;
	out->td_ms = out->readings[0].td_ms;
	out->pd_ms = out->readings[1].pd_ms;
	return 0;
}

void fattree_model_read(struct fattree_model *f, const char *name)
{
	for (unsigned i = 0; i < FATTREE_READINGS; i++) {
		const struct fattree_reading *r = &f->readings[i];

		if (strcmp(r->name, name))
			continue;
		f->set_lft = r->set_lft;
		f->td_ms = r->td_ms;
		f->pd_ms = r->pd_ms;
	}
}
