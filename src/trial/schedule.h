/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A schedule: a fabric, the managers on it, and faults at given times, as text:
 *
 *	fabric irregular 5 ports 4 seed 17	# words of `weft topo gen`; or: netlist FILE
 *	without H-0001000000000003		# nodes that are left out
 *	seed 42					# of lost SMPs
 *	traps off				# default: on
 *	traffic 20us				# a data packet from every host, in the mean
 *	until 80ms				# faults last at least until then
 *	manager H-0001000000000001 priority 3 mechanism weft
 *	manager H-0001000000000005 start 20ms poll 5ms
 *	at 12.5ms pause 0
 *	at 60ms continue 0
 *
 * Managers have numbers in the order of their lines. docs/simulating.md lists all words. A schedule refers to
 * nodes by GUID, so that it stays valid when its fabric loses nodes. The caller frees what it reads or copies.
 */
#ifndef WEFT_SCHEDULE_H
#define WEFT_SCHEDULE_H

#include "base/vec.h"
#include "lab/lab.h"

enum { SCHEDULE_MANAGERS = 16, SCHEDULE_ADDED = 1000, SCHEDULE_NAME = 64 }; /* at most */

enum schedule_kind {
	SCHEDULE_CRASH, /* the first seven concern managers alone */
	SCHEDULE_RESTART,
	SCHEDULE_PAUSE,
	SCHEDULE_CONTINUE,
	SCHEDULE_HANDOVER, /* these two: orders of a user */
	SCHEDULE_RESYNC,
	SCHEDULE_ORDER, /* of another manager */
	SCHEDULE_PULL,	/* the manager's cable */
	SCHEDULE_PLUG,
	SCHEDULE_MOVE,
	SCHEDULE_OFF,
	SCHEDULE_ON,
	SCHEDULE_REBOOT,
	SCHEDULE_UNLINK,
	SCHEDULE_RELINK,
	SCHEDULE_CUT, /* all links between these nodes and the others */
	SCHEDULE_JOIN,
	SCHEDULE_LOSS,
	SCHEDULE_LATENCY,
	SCHEDULE_DELAY,
	SCHEDULE_DUP,
	SCHEDULE_ROGUE,
	SCHEDULE_LIE,
	SCHEDULE_ADD,  /* the last three: only persons do this, swarms do not */
	SCHEDULE_LINK, /* a new cable */
	SCHEDULE_SEAT, /* a manager, on another node */
	SCHEDULE_NKINDS
};

/* What a manager that is started again knows. */
enum schedule_knows {
	SCHEDULE_NOTHING,
	SCHEDULE_LIDS,
	SCHEDULE_STATE,	    /* the subnet state, if the last one stopped at rest; else the LIDs */
	SCHEDULE_OLD_STATE, /* the first subnet state that was saved here */
	SCHEDULE_TORN_STATE /* the subnet state without its second half */
};

/* Orders of a manager by Set(SMInfo); the last one is none of IBA's. */
enum schedule_order {
	SCHEDULE_ORDER_HANDOVER = IBA_SM_HANDOVER,
	SCHEDULE_ORDER_ACKNOWLEDGE,
	SCHEDULE_ORDER_DISABLE,
	SCHEDULE_ORDER_STANDBY,
	SCHEDULE_ORDER_DISCOVER,
	SCHEDULE_ORDER_UNKNOWN,
	SCHEDULE_NORDERS
};

struct schedule_port {
	uint64_t guid; /* of the node; 0: none given */
	unsigned port; /* 0: the node */
};

struct schedule_event {
	time_ps at;
	enum schedule_kind kind;
	unsigned manager;
	struct schedule_port port; /* SCHEDULE_ADD: the GUID, and how many ports */
	struct schedule_port far;  /* the other end of a cable */
	uint8_t type;		   /* of a node that is added: enum iba_node_type */
	char name[SCHEDULE_NAME + 1];
	enum schedule_knows knows;
	enum schedule_order order;
	uint64_t share; /* millionths */
	time_ps time;
	VEC(uint64_t) nodes; /* GUIDs */
};

struct schedule_manager {
	uint64_t guid; /* of its node */
	time_ps start;
	struct sm_config sm;
};

struct schedule {
	struct fab_gen gen; /* .kind NULL: a netlist */
	char *kind;	    /* owner of gen.kind */
	char *netlist;
	VEC(uint64_t) without;
	uint64_t seed;
	bool traps;
	time_ps traffic; /* time between packets of a host; 0: no data packets are simulated */
	time_ps until;	 /* faults do not end before this time */
	VEC(struct schedule_manager) managers;
	VEC(struct schedule_event) events; /* by time */
};

/* The words of events and their operands, for parser, writer and help. */
struct schedule_word {
	const char *word;
	const char *
		operands; /* M manager, N node, P port, L nodes, S share, T time, K knows, O order, Q the other port, A a
				 new node; '?' after
				 an operand: it may be missing */
	const char *help;
};
extern const struct schedule_word schedule_words[SCHEDULE_NKINDS];
extern const char *const schedule_type_words[4]; /* by enum iba_node_type; 0: NULL */
extern const char *const schedule_order_words[SCHEDULE_NORDERS]; /* 0: NULL */
extern const char *const schedule_knows_words[]; /* by enum schedule_knows; NULL: no word */

void schedule_init(struct schedule *s);
void schedule_manager_default(struct schedule_manager *m);
void schedule_copy(struct schedule *to, const struct schedule *from);
void schedule_free(struct schedule *s);
void schedule_event_remove(struct schedule *s, size_t i);
/* With all its events; managers after it get lower numbers. */
void schedule_manager_remove(struct schedule *s, unsigned index);

/* Its fabric, without the nodes that are left out, with those that its events add. NULL with e filled. Free it. */
struct fab *schedule_fabric(const struct schedule *s, struct err *e);

/*
 * From text. name: of the file, for messages and for netlists beside it. -EINVAL with e "NAME:LINE: what was
 * expected". Nodes are checked against the fabric, which is returned too.
 */
int schedule_read(struct schedule *s, struct fab **fab, const char *name, const char *text,
		  size_t len, struct err *e);
int schedule_load(struct schedule *s, struct fab **fab, const char *path, struct err *e);
/* From text without lines 'fabric', 'netlist' and 'without': f is its fabric. */
int schedule_read_on(struct schedule *s, const struct fab *f, const char *name, const char *text,
		     size_t len, struct err *e);
/* A schedule that has a generated fabric and nothing else; words: those after 'fabric'. */
int schedule_read_fabric(struct schedule *s, struct fab **fab, const char *words, struct err *e);
/* One event, without its time; s: whose managers it may name. The caller frees ev->nodes. */
int schedule_event_read(struct schedule_event *ev, const struct schedule *s, const struct fab *f,
			const char *text, struct err *e);
/* The fabric with the node of a SCHEDULE_ADD, which is the last one and has no power at the start. Free it. */
struct fab *schedule_fabric_with(const struct fab *f, const struct schedule_event *add);
void schedule_write(const struct schedule *s, struct strbuf *out);
void schedule_event_write(const struct schedule_event *ev,
			  struct strbuf *out); /* without its time */

/* Options of a manager, for parser and writer. */
enum schedule_option_type { SCHEDULE_UINT, SCHEDULE_BOOL, SCHEDULE_TIME, SCHEDULE_HEX };
struct schedule_option {
	const char *word;
	enum schedule_option_type type;
	size_t at; /* in struct schedule_manager */
	uint64_t min, max;
	const char *help;
};
extern const struct schedule_option schedule_options[]; /* ends with word == NULL */

#endif
