/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handover: tells other subnet managers who this one is (thesis 3.1.1). For now one SM manages the
 * subnet and this part answers SMInfo; the contest itself has its place here.
 */
#include "sm/sm_priv.h"

void sm_info_answer(struct sm *sm, const struct sm_event *ev)
{
	struct sm_status st;
	struct iba_sm_info si;
	struct sm_send s;

	if (iba_smp_method(ev->mad) != IBA_GET)
		return; /* orders of another SM: ignored until there is a contest */
	sm_status(sm, &st);
	si = (struct iba_sm_info){.guid = sm->nodes.n ? sm->nodes.at[0].guid : 0,
				  .act_count = (uint32_t)sm->st.sweeps,
				  .priority = (uint8_t)sm->cfg.priority,
				  .state = (uint8_t)st.state};
	memcpy(s.mad, ev->mad, IBA_MAD_SIZE);
	iba_smp_set_method(s.mad, IBA_GET_RESP);
	iba_smp_set_status(s.mad, iba_smp_is_dr(s.mad) ? IBA_STATUS_DR_RETURN : 0);
	iba_sm_info_put(&si, iba_smp_data(s.mad));
	s.slid = sm->own_lid;
	s.dlid = ev->slid;
	s.sl = 0;
	vec_push(&sm->out->sends, s);
}
