/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rare branches, taken on purpose. A build with -Dprovoke=true has switches in the manager, PROVOKE(sm, NAME), which
 * are true now and then, drawn from cfg.provoke: the same seed and events give the same run. Without that option, as
 * in every release, PROVOKE() is the constant false and costs nothing. What a switch does must be allowed: a timeout
 * that comes early, a window that is full, knowledge that is not used.
 */
#ifndef WEFT_SM_PROVOKE_H
#define WEFT_SM_PROVOKE_H

#include "base/base.h"

/* name, one in how many */
#define SM_PROVOCATIONS(X)                                                                         \
	X(EARLY_TIMEOUT, 16)  /* a request is repeated although its response is on the way */      \
	X(FULL_WINDOW, 8)     /* nothing more is sent until a response arrives */                  \
	X(FORGET_SAVED, 4)    /* what an earlier manager saved about a switch is not used */       \
	X(DOUBT_DISCOVERY, 8) /* a discovery that met everything starts again */                   \
	X(LOSE_ASK, 16)	      /* a question to another manager is not sent at first */

enum sm_provocation {
#define SM_PROVOKE_ENUM(name, odds) SM_PROVOKE_##name,
	SM_PROVOCATIONS(SM_PROVOKE_ENUM)
#undef SM_PROVOKE_ENUM
		SM_NPROVOCATIONS
};

struct sm;

#ifdef WEFT_PROVOKE
bool sm_provoked(struct sm *sm, enum sm_provocation what);
#define PROVOKE(sm, name) sm_provoked(sm, SM_PROVOKE_##name)
#else
#define PROVOKE(sm, name) false
#endif

#endif
