/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rates as records have them (IBA 15.2.5.16, PathRecord.Rate). Their numbers are in no order: they are compared by what
 * they mean. No state.
 */
#include "sa/sa_priv.h"

/* In units of 100 Mb/s, by number. */
static const uint32_t rates[] = {
	[2] = 25,    [3] = 100,	  [4] = 300,   [5] = 50,    [6] = 200,	  [7] = 400,
	[8] = 600,   [9] = 800,	  [10] = 1200, [11] = 140,  [12] = 560,	  [13] = 1120,
	[14] = 1680, [15] = 250,  [16] = 1000, [17] = 2000, [18] = 3000,  [19] = 280,
	[20] = 500,  [21] = 4000, [22] = 6000, [23] = 8000, [24] = 12000,
};

uint32_t sa_rate_value(unsigned rate)
{
	return rate < ARRAY_LEN(rates) ? rates[rate] : 0;
}

unsigned sa_rate_number(uint32_t value)
{
	for (unsigned i = 0; i < ARRAY_LEN(rates); i++)
		if (value && rates[i] == value)
			return i;
	return 0;
}

static unsigned lanes(unsigned width)
{
	switch (width) {
	case IBA_WIDTH_1X:
		return 1;
	case IBA_WIDTH_2X:
		return 2;
	case IBA_WIDTH_4X:
		return 4;
	case IBA_WIDTH_8X:
		return 8;
	case IBA_WIDTH_12X:
		return 12;
	}
	return 1;
}

/* One lane. FDR10 has a bit of its own outside PortInfo and counts as QDR, as with other managers. */
static uint32_t lane(const struct iba_port_info *pi)
{
	static const uint32_t fast[16] = {[1] = 140, [2] = 250, [4] = 500, [8] = 1000};
	static const uint32_t slow[16] = {[1] = 25, [2] = 50, [4] = 100};
	uint32_t x = fast[pi->speed_ext_active & 15];

	return x ? x : slow[pi->speed_active & 15];
}

unsigned sa_rate_of(const struct iba_port_info *pi)
{
	uint32_t l = lane(pi);
	unsigned rate = sa_rate_number(l * lanes(pi->width_active));

	return rate ? rate : sa_rate_number(l ? l : 25);
}

int sa_rate_compare(unsigned a, unsigned b)
{
	uint32_t x = sa_rate_value(a), y = sa_rate_value(b);

	return (x > y) - (x < y);
}

bool sa_rate_selected(enum iba_sa_selector s, unsigned wanted, unsigned rate)
{
	int c = sa_rate_compare(rate, wanted);

	switch (s) {
	case IBA_SA_GREATER:
		return c > 0;
	case IBA_SA_LESS:
		return c < 0;
	case IBA_SA_EXACTLY:
		return c == 0;
	case IBA_SA_LARGEST:
		break;
	}
	return true;
}

unsigned sa_rate_below(unsigned rate)
{
	unsigned best = 0;

	for (unsigned i = 0; i < ARRAY_LEN(rates); i++)
		if (rates[i] && rates[i] < sa_rate_value(rate) && rates[i] > sa_rate_value(best))
			best = i;
	return best;
}
