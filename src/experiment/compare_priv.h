/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files that compare share.
 */
#ifndef WEFT_COMPARE_PRIV_H
#define WEFT_COMPARE_PRIV_H

#include "experiment/compare.h"

struct compare_trend compare_trend_check(const struct experiment *x,
					 const struct experiment_trend *t, const struct results *r);

#endif
