/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts that are to register again: which ports can be asked, and until when all of them are. */
#include "unit_test.h"

#include "sm/manager.h"

TEST(ports_are_asked_that_can_tell_their_clients)
{
	struct sm_port p = {.pi = {.cap_mask = IBA_CAP_SL_MAP}};

	assert_false(sm_port_reregisters(&p));
	p.pi.cap_mask |= IBA_CAP_CLIENT_REREG;
	assert_true(sm_port_reregisters(&p));
}

TEST(all_are_asked_until_a_round_has_ended)
{
	struct sm_config c;
	struct sm *sm;

	sm_config_default(&c);
	sm = sm_new(&c);
	assert_false(sm->lids.reregister);
	sm_reregister(sm, true);
	sm_round_end(sm, false); /* some devices did not respond */
	assert_true(sm->lids.reregister);
	sm_round_end(sm, true);
	assert_false(sm->lids.reregister);
	sm_free(sm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_are_asked_that_can_tell_their_clients),
		cmocka_unit_test(all_are_asked_until_a_round_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
