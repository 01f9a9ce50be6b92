/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each cmocka test includes first: cmocka with the headers it needs, and the head of a test function.
 *
 *	TEST(leaves_keep_their_lids)
 *	{
 *		assert_int_equal(...);
 *	}
 *
 * The parameter is called state; a test that has a setup function reads it, others ignore it.
 */
#ifndef WEFT_TEST_UNIT_TEST_H
#define WEFT_TEST_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define TEST(name) static void name(void **state __attribute__((unused)))

#endif
