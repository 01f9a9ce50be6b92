/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles: options that belong together, each of which can be given on its own. Profile "thesis" makes
 * manager, devices and moments of a run those of the thesis; "iba", the default, changes nothing.
 */
#ifndef WEFT_PROFILE_OPTS_H
#define WEFT_PROFILE_OPTS_H

#include "cli/cli.h"
#include "lab/lab.h"
#include "settings/settings.h"

extern const struct cli_opt profile_opts[];	    /* ends with name == NULL */
extern const struct cli_opt profile_traffic_opts[]; /* for commands with traffic */
extern const struct cli_opt profile_change_opts[];  /* for commands with a change */

bool profile_is_thesis(void);
/* Defaults of the profile, before options are applied. */
void profile_settings(struct settings *s);
/* The rest: CPU model, devices, and where the manager sits unless --sm said it. */
void profile_config(const struct fab *f, bool sm_given, struct lab_config *c);

/* Moments of a run; 0: not given. */
time_ps profile_on_at(void);
time_ps profile_traffic_at(void);
time_ps profile_change_at(void);
bool profile_silent_new(void); /* --new-hosts silent */

#endif
