/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All settings together: finding one, defaults, settings that do not go together, what a reload
 * changes. State: none. Ways in: settings_*(). Knows neither files nor options.
 */
#include "settings/settings.h"

const struct setting *setting_find(const char *section, const char *key)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if ((!strcmp(k->section, section) && !strcmp(k->key, key)) ||
		    (k->old_key && !strcmp(k->old_section, section) && !strcmp(k->old_key, key)))
			return k;
	return NULL;
}

bool settings_is_list(const char *section, const char *key)
{
	for (const struct settings_list *l = settings_lists; l->key; l++)
		if (!strcmp(l->section, section) && !strcmp(l->key, key))
			return true;
	return false;
}

const struct setting *setting_find_option(const char *option)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if (!strcmp(k->option, option))
			return k;
	return NULL;
}

/* ---- defaults ---- */

void settings_default_sim(struct settings *s)
{
	*s = (struct settings){0};
	sm_config_default(&s->sm);
	settings_mechanism(sm_mechanism_find(s->sm.mechanism.name), &s->sm.mechanism);
}

void settings_mechanism(const struct sm_mechanism *m, struct sm_mechanism *to)
{
	memcpy(to, m, sizeof(*to));
	if (m->routes->update)
		to->routes = sm_supply_find("auto");
}

void settings_default(struct settings *s)
{
	struct err e;

	settings_default_sim(s);
	for (const struct setting *k = settings_table; k->key; k++)
		if (k->daemon && setting_set(k, s, k->daemon, &e))
			assert(!"a default is out of range");
	s->sm.settle = true;
}

/* ---- settings that do not go together ---- */

int settings_check_routes(const struct settings *s, const char **key, struct err *e)
{
	const struct sm_supply *r = s->sm.mechanism.routes;
	bool given = r->engine && r->engine->given;
	const char *unused;

	key = key ? key : &unused;
	*key = "engine";
	if (given && !*s->routes_file)
		return err_set(
			e, -EINVAL,
			"routes: engine file needs its tables: expected routes.file (--routes-file FILE)");
	*key = "file";
	if (!given && (*s->routes_file || *s->routes_sls || *s->routes_sl2vl))
		return err_set(e, -EINVAL,
			       "routes: file, sls and sl2vl are for engine file; found engine %s",
			       r->name);
	*key = "engine";
	if ((*s->compute_nodes || *s->io_nodes || *s->service_nodes) && !r->choose &&
	    !(r->engine && r->engine->groups))
		return err_set(
			e, -EINVAL,
			"routes: engine %s does not balance groups of hosts: expected auto, tree, "
			"updn or balanced",
			r->name);
	return 0;
}

static int together(const struct settings *s, const char **section, const char **key, struct err *e)
{
	struct err why;
	int rc = sm_mechanism_check(&s->sm.mechanism, &why);

	*section = "manager";
	*key = "distribution";
	if (rc == -EDEADLK && !s->unsafe)
		return err_set(e, -EINVAL, "manager: %s; unsafe: true accepts it", why.text);
	*section = "routes";
	*key = "engine";
	if (rc && rc != -EDEADLK)
		return err_set(e, -EINVAL, "routes: %s", why.text);
	*section = "routes";
	if (settings_check_routes(s, key, e))
		return -EINVAL;
	*section = "manager";
	*key = "sweep";
	if (!s->sm.sweep_period_ps && !s->sm.sweep_factor && !s->sm.mechanism.traps)
		return err_set(e, -EINVAL,
			       "manager: neither sweeps nor traps: no change would be detected");
	*section = "keys";
	*key = "protect";
	if (s->sm.m_key_protect && !s->sm.m_key)
		return err_set(e, -EINVAL, "keys: protect needs an m_key, found none");
	*section = "transport";
	*key = "port_guid";
	if (s->where.port_guid && (*s->where.device || s->where.port))
		return err_set(e, -EINVAL,
			       "transport: expected port_guid, or device and port; found both");
	return 0;
}

int settings_check(const struct settings *s, const struct setting **culprit, struct err *e)
{
	const char *section, *key;
	int rc = together(s, &section, &key, e);

	if (culprit)
		*culprit = setting_find(section, key);
	return rc;
}

/* ---- keys ---- */

bool setting_is_key(const struct setting *k, const struct settings *s)
{
	struct settings d;

	settings_default(&d);
	return k->secret && !setting_same(k, s, &d);
}

void settings_hide_keys(struct settings *s)
{
	struct settings d;

	settings_default(&d);
	for (const struct setting *k = settings_table; k->key; k++)
		if (k->secret)
			memcpy((char *)s + k->at, (const char *)&d + k->at, k->size);
}

/* ---- reload ---- */

void settings_fixed(const struct settings *running, const struct settings *wanted,
		    struct strbuf *out)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if (k->start && !setting_same(k, running, wanted))
			strbuf_addf(out, "%s%s.%s", out->len ? ", " : "", k->section, k->key);
}

void settings_reload(struct settings *running, const struct settings *wanted)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if (!k->start)
			memcpy((char *)running + k->at, (const char *)wanted + k->at, k->size);
}
