/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records: what happened, as a kind with a stable name, a level, a sentence, and values with keys. A
 * sentence is rendered from a record's text: {key} stands for a value, and a part in [] is left out when
 * its first value is missing. The same values are keys of a JSON object.
 *
 *	record_text("{node} is gone", v, &out);
 *
 * Names of devices come from outside: record_text() escapes what is not printable, so that one record
 * stays one line.
 */
#ifndef WEFT_RECORD_H
#define WEFT_RECORD_H

#include "base/json.h"

enum record_level { RECORD_ERROR, RECORD_WARNING, RECORD_NOTICE, RECORD_INFO, RECORD_DEBUG };

struct record_kind {
	const char *name;
	enum record_level level;
	const char *text;
};

/* A device, or a port of it. */
struct record_end {
	const char *name; /* NULL or "": not known */
	uint64_t guid;	  /* 0: not known */
	int port;	  /* -1: the device as a whole */
};

enum record_type {
	RECORD_TEXT, /* s; NULL: the value is missing */
	RECORD_COUNT,
	RECORD_GUID,
	RECORD_HEX,
	RECORD_MICROSECONDS,
	RECORD_LID,    /* u: "LID 5"; JSON: lid, whatever the key is */
	RECORD_DEVICE, /* a: "leaf0_3" or "leaf0_3 port 7"; JSON: node, name, port */
	RECORD_BEHIND, /* a: "the device behind leaf0_3 port 7"; JSON: also behind */
	RECORD_PLACE,  /* a: as a device; JSON: an object with name, guid, port */
	RECORD_LINK, /* "leaf0_3 port 7 <-> spine1 port 12"; JSON: a and b with name, guid, port */
};

struct record_value {
	const char *key; /* NULL: the end of the list */
	enum record_type type;
	bool text_only; /* the sentence's: another value says it in JSON */
	const char *s;
	uint64_t u;
	struct record_end a, b;
};

void record_text(const char *text, const struct record_value *v, struct strbuf *out);
/* " (GUID 0x...)": the GUIDs of devices that the sentence calls by name; nothing when there are none. */
void record_guids(const struct record_value *v, struct strbuf *out);
/* Keys of the object that is open. */
void record_json(struct json *j, const struct record_value *v);
void record_end_json(struct json *j, const char *key, const struct record_end *e);

#endif
