/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggestions for misspelled words. State: the caller's struct spelling. Way in: spelling_offer(). Does not
 * print.
 */
#include "base/spelling.h"

#include <limits.h>

unsigned spelling_distance(const char *a, const char *b)
{
	unsigned d[SPELLING_LONGEST + 1][SPELLING_LONGEST + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > SPELLING_LONGEST || lb > SPELLING_LONGEST)
		return UINT_MAX;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, MIN(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[la][lb];
}

void spelling_offer(struct spelling *n, const char *candidate, const char *means)
{
	size_t len = strlen(n->word);
	unsigned d = spelling_distance(n->word, candidate);

	if (len >= 2 && !strncmp(candidate, n->word, len))
		d = MIN(d, 1u); /* an abbreviation */
	if (d > 1 + len / 4 || d >= len)
		return;
	if (!n->best || d < n->distance) {
		n->best = means;
		n->distance = d;
	}
}
