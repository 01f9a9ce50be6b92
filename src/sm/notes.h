/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes in words. One table has a row for each kind: a stable name, a level, a sentence and the values
 * in it. The log, the timeline, JSON and metrics all render this table, so a message is worded once.
 *
 *	sm_note_text(n, &(struct sm_names){name_of, sm}, &out);	"leaf0_3 port 7 <-> spine1 port 12 went down"
 */
#ifndef WEFT_SM_NOTES_H
#define WEFT_SM_NOTES_H

#include "base/record.h"
#include "sm/sm.h"

/* What devices are called, by node GUID; the function may return NULL or "": not known. */
struct sm_names {
	const char *(*name)(const void *ctx, uint64_t guid);
	const void *ctx;
};

const struct record_kind *sm_note_record(enum sm_note_kind k);
const char *sm_note_name(enum sm_note_kind k); /* the record's */

/* The values of a note, for record_text() and record_json(); the list ends with key NULL. Names are
 * borrowed from `names`, which may be NULL: then GUIDs stand for them. */
enum { SM_NOTE_VALUES = 9 };
void sm_note_values(const struct sm_note *n, const struct sm_names *names,
		    struct record_value v[SM_NOTE_VALUES]);
void sm_note_text(const struct sm_note *n, const struct sm_names *names, struct strbuf *out);

/* Names from NodeDescriptions: {sm_names_described, sm}. */
const char *sm_names_described(const void *sm, uint64_t guid);

/*
 * Links and nodes that went and came, of the notes given, as arrays "links" and "nodes" of the object
 * that is open: {event: "down"|"up", a: {name, guid, port}, b: {...}} and {event: "gone"|"came", name,
 * guid}, each with its sentence as text.
 */
void sm_notes_changes_json(struct json *j, const struct sm_note *notes, size_t n,
			   const struct sm_names *names);
bool sm_note_is_change(const struct sm_note *n); /* one of those four kinds */

#endif
