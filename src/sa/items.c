/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registrations as items for a program that saves them. State: items that changed since the caller asked. Ways in:
 * sa_item_*(), sa_changed().
 */
#include "sa/registry.h"

static void change(struct sa *sa, const struct sa_item *it)
{
	if (sa->seeding)
		return;
	vec_push(&sa->changes, *it);
}

void sa_item_put(struct sa *sa, enum sa_kind kind, const void *key, size_t key_len,
		 const void *value, size_t len)
{
	struct sa_item it = {.kind = kind, .key_len = (uint16_t)key_len, .len = (uint16_t)len};

	assert(key_len <= SA_KEY && len <= SA_VALUE);
	memcpy(it.key, key, key_len);
	memcpy(it.value, value, len);
	change(sa, &it);
}

void sa_item_drop(struct sa *sa, enum sa_kind kind, const void *key, size_t key_len)
{
	struct sa_item it = {.kind = kind, .gone = true, .key_len = (uint16_t)key_len};

	assert(key_len <= SA_KEY);
	memcpy(it.key, key, key_len);
	change(sa, &it);
}

bool sa_changed(struct sa *sa, struct sa_item *it)
{
	if (sa->changes_taken == sa->changes.n) {
		sa->changes.n = sa->changes_taken = 0;
		return false;
	}
	*it = sa->changes.at[sa->changes_taken++];
	return true;
}
