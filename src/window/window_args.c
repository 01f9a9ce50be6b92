/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of commands. State: none. Way in: window_arg_*(). Does not act on them.
 */
#include "window/window_priv.h"

bool window_arg_has(json_t *args, const char *key)
{
	json_t *v = json_object_get(args, key);

	return v && !json_is_null(v);
}

int window_arg_text(json_t *args, const char *key, const char **text, struct err *e)
{
	json_t *v = json_object_get(args, key);

	if (!json_is_string(v))
		return err_set(e, -EINVAL, "%s: expected text", key);
	*text = json_string_value(v);
	if (strlen(*text) != json_string_length(v))
		return err_set(e, -EINVAL, "%s: expected text, found a NUL", key);
	return 0;
}

static bool whole_number(json_t *v, uint64_t *out)
{
	double d;

	if (json_is_string(v))
		return !parse_u64(json_string_value(v), out);
	if (json_is_integer(v)) {
		*out = (uint64_t)json_integer_value(v);
		return json_integer_value(v) >= 0;
	}
	d = json_is_real(v) ? json_real_value(v) : -1;
	*out = d >= 0 && d < 9e18 ? (uint64_t)d : 0;
	return d >= 0 && d < 9e18;
}

int window_arg_u64(json_t *args, const char *key, uint64_t max, uint64_t *v, struct err *e)
{
	if (!whole_number(json_object_get(args, key), v) || *v > max)
		return err_set(e, -EINVAL, "%s: expected a number from 0 to %llu", key,
			       (unsigned long long)max);
	return 0;
}

int window_arg_node(struct window *w, json_t *args, const char *key, node_id *n, struct err *e)
{
	json_t *v = json_object_get(args, key);
	uint64_t index;

	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	*n = FAB_NONE;
	if (json_is_string(v))
		*n = fab_node_by_text(w->fabric.fab, json_string_value(v));
	else if (whole_number(v, &index) && index < w->fabric.fab->nnodes)
		*n = (node_id)index;
	if (*n == FAB_NONE)
		return err_set(e, -EINVAL,
			       "%s: expected a node of the fabric: its GUID, name or number", key);
	return 0;
}

int window_arg_port(struct window *w, json_t *args, const char *key, port_id *p, struct err *e)
{
	json_t *v = json_object_get(args, key);
	uint64_t num;
	node_id n;

	if (!json_is_object(v))
		return err_set(e, -EINVAL, "%s: expected {\"node\": ..., \"port\": ...}", key);
	if (window_arg_node(w, v, "node", &n, e) ||
	    window_arg_u64(v, "port", w->fabric.fab->nodes[n].nports, &num, e))
		return -EINVAL;
	*p = fab_port_id(w->fabric.fab, n, (unsigned)num);
	return 0;
}

bool window_run_on(const struct window *w, struct err *e)
{
	if (!w->run)
		err_set(e, -EINVAL, "expected a run: start one first");
	return w->run != NULL;
}
