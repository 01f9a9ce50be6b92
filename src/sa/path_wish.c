/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selectors of MTU, rate and packet life time (IBA 15.2.5.16). No state. A path of 4096 bytes serves who asks for exactly
 * 2048, and one of 40 Gb/s who asks for less than that: the answer says so, and the sender sends less. Exactly a rate is
 * that rate, as with OpenSM. A life time is no limit that a sender could keep, so it is compared and not changed.
 */
#include "sa/paths.h"

enum { MTU_LEAST = 1, MTU_MOST = 5 };

static bool is_compared(const struct sa_bound *b)
{
	return b->asked && b->selector != IBA_SA_LARGEST;
}

bool sa_wish_is_valid(const struct sa_wish *w)
{
	return (!is_compared(&w->mtu) || (w->mtu.value >= MTU_LEAST && w->mtu.value <= MTU_MOST)) &&
	       (!is_compared(&w->rate) || sa_rate_value(w->rate.value));
}

static bool mtu_holds(const struct sa_bound *b, uint8_t *mtu)
{
	if (!is_compared(b))
		return true;
	if (b->selector == IBA_SA_GREATER)
		return *mtu > b->value;
	if (b->selector == IBA_SA_EXACTLY) {
		if (*mtu < b->value)
			return false;
		*mtu = b->value;
		return true;
	}
	*mtu = MIN(*mtu, (uint8_t)(b->value - 1));
	return *mtu >= MTU_LEAST;
}

static bool rate_holds(const struct sa_bound *b, uint8_t *rate)
{
	if (!is_compared(b))
		return true;
	if (b->selector == IBA_SA_GREATER)
		return sa_rate_compare(*rate, b->value) > 0;
	if (b->selector == IBA_SA_EXACTLY)
		return !sa_rate_compare(*rate, b->value);
	if (sa_rate_compare(*rate, b->value) >= 0)
		*rate = (uint8_t)sa_rate_below(b->value);
	return *rate;
}

bool sa_bounds_hold(const struct sa_wish *w, struct sa_path *p)
{
	return mtu_holds(&w->mtu, &p->mtu) && rate_holds(&w->rate, &p->rate) &&
	       (!w->life.asked ||
		iba_sa_selected((enum iba_sa_selector)w->life.selector, w->life.value, p->life));
}
