/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Circles. Keeps no state. Way in: lay_sin(), lay_cos(), lay_circle(). Does not call libm, whose sine differs in the
 * last bit between libraries.
 */
#include "draw/layout_priv.h"

/* sin(x) for 0 <= x <= pi/2 */
static double sin_quarter(double x)
{
	double sum = 0, term = x;

	for (int i = 1; i < 12; i++) {
		sum += term;
		term = -term * x * x / (double)(2 * i * (2 * i + 1));
	}
	return sum;
}

double lay_sin(double turns)
{
	double t = turns - (double)(int64_t)turns, sign = 1;

	if (t < 0)
		t += 1;
	if (t >= 0.5) {
		t -= 0.5;
		sign = -1;
	}
	if (t > 0.25)
		t = 0.5 - t;
	return sign * sin_quarter(t * 6.283185307179586);
}

double lay_cos(double turns)
{
	return lay_sin(turns + 0.25);
}

double lay_circle(uint32_t n, double disc)
{
	return n < 2 ? 0 : disc / lay_sin(0.5 / n);
}
