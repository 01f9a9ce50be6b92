/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The phases of the manager and what follows what: the one place. A phase is a row of SM_PHASES and its
 * rows of SM_TRANSITIONS; its part is a struct sm_part named sm_part_<...>. `weft sm --print-phases`
 * prints the table, ARCHITECTURE.md shows it as a drawing.
 */
#ifndef WEFT_SM_PHASE_TABLE_H
#define WEFT_SM_PHASE_TABLE_H

/* clang-format off */

/* phase, name, the part that serves it (sm_part_...) unless the mechanism names another, what it does */
#define SM_PHASES(X)                                                                              \
	X(OFF, "off", none, "not started")                                                        \
	X(DISCOVER, "discover", discover, "discovers devices and links, assigns LIDs")            \
	X(CONFIGURE, "configure", configure, "sets SwitchInfo, timeouts, with QoS SL-to-VL tables") \
	X(COMPUTE, "compute", compute, "waits for routes")                                        \
	X(PRUNE, "prune", prune, "removes multicast entries that must not be there while tables change") \
	X(DEACTIVATE, "deactivate", skip, "stops what must stop while tables change")             \
	X(JOIN, "join", skip, "prepares new switches and links before routes use them")           \
	X(TABLES, "tables", blocks, "writes forwarding tables")                                   \
	X(RESTORE, "restore", restore, "enables turns that were disabled for the update")         \
	X(ARM, "arm", arm, "sets ports to Armed")                                                 \
	X(ACTIVATE, "activate", activate, "sets ports to Active")                                 \
	X(TREES, "trees", trees, "writes multicast forwarding tables")                            \
	X(AUDIT, "audit", audit, "reads back what was set when SMPs were lost or doubled")        \
	X(READY, "ready", ready, "at rest")                                                       \
	X(SWEEP, "sweep", sweep, "asks every switch for changes")                                 \
	X(MOVE, "move", move, "starts, stops and migrates VMs: VFs, and entries of their LIDs")    \
	X(STANDBY, "standby", standby, "polls the master; another manager is in charge")          \
	X(SETTLE, "settle", settle, "settles with another master which one stays; sets nothing")

/* outcome, name, what it means */
#define SM_OUTCOMES(X)                                                                            \
	X(GOING_ON, "going on", "the phase goes on")                                              \
	X(DONE, "done", "all was sent and acknowledged")                                          \
	X(AGAIN, "again", "discovery starts again: what it saw cannot be trusted")                \
	X(CHANGED, "changed", "the subnet changed, or a device failed: discover it")              \
	X(UNCHANGED, "unchanged", "nothing changed, or nothing can be configured")                \
	X(NOTICED, "noticed", "a sweep found a change and goes on as a partial discovery")        \
	X(STAGED, "staged", "provisional tables are in place: compute the final ones")            \
	X(DOUBTFUL, "doubtful", "a Set may have been carried out twice or late")                  \
	X(DUE, "due", "a sweep is due")                                                           \
	X(GROUPS, "groups", "multicast tables differ from what is wanted")                        \
	X(ASKED, "asked", "requests about VMs wait")                                              \
	X(REFUSED, "refused", "devices refused, or routes failed verification: wait and retry")   \
	X(RIVAL, "rival", "another manager is master, or is to be")                               \
	X(OUTRANKED, "outranked", "another manager is or becomes the master")

/* in this phase, upon this outcome, goes on with this phase */
#define SM_TRANSITIONS(X)                  \
	X(OFF, CHANGED, DISCOVER)          \
	X(DISCOVER, DONE, CONFIGURE)       \
	X(DISCOVER, AGAIN, DISCOVER)       \
	X(DISCOVER, UNCHANGED, READY)      \
	X(DISCOVER, CHANGED, DISCOVER)     \
	X(DISCOVER, OUTRANKED, STANDBY)    \
	X(DISCOVER, RIVAL, SETTLE)         \
	X(CONFIGURE, DONE, COMPUTE)        \
	X(CONFIGURE, CHANGED, DISCOVER)    \
	X(CONFIGURE, REFUSED, READY)       \
	X(CONFIGURE, RIVAL, SETTLE)        \
	X(CONFIGURE, OUTRANKED, STANDBY)   \
	X(COMPUTE, DONE, DEACTIVATE)       \
	X(COMPUTE, CHANGED, DISCOVER)      \
	X(COMPUTE, REFUSED, READY)         \
	X(COMPUTE, RIVAL, SETTLE)          \
	X(COMPUTE, OUTRANKED, STANDBY)     \
	X(COMPUTE, GROUPS, PRUNE)          \
	X(PRUNE, DONE, DEACTIVATE)         \
	X(PRUNE, CHANGED, DISCOVER)        \
	X(PRUNE, REFUSED, READY)           \
	X(PRUNE, RIVAL, SETTLE)            \
	X(PRUNE, OUTRANKED, STANDBY)       \
	X(DEACTIVATE, DONE, JOIN)          \
	X(DEACTIVATE, CHANGED, DISCOVER)   \
	X(DEACTIVATE, REFUSED, READY)      \
	X(DEACTIVATE, RIVAL, SETTLE)       \
	X(DEACTIVATE, OUTRANKED, STANDBY)  \
	X(JOIN, DONE, TABLES)              \
	X(JOIN, CHANGED, DISCOVER)         \
	X(JOIN, REFUSED, READY)            \
	X(JOIN, RIVAL, SETTLE)             \
	X(JOIN, OUTRANKED, STANDBY)        \
	X(TABLES, DONE, RESTORE)           \
	X(TABLES, CHANGED, DISCOVER)       \
	X(TABLES, REFUSED, READY)          \
	X(TABLES, RIVAL, SETTLE)           \
	X(TABLES, OUTRANKED, STANDBY)      \
	X(RESTORE, DONE, ARM)              \
	X(RESTORE, CHANGED, DISCOVER)      \
	X(RESTORE, REFUSED, READY)         \
	X(RESTORE, RIVAL, SETTLE)          \
	X(RESTORE, OUTRANKED, STANDBY)     \
	X(ARM, DONE, ACTIVATE)             \
	X(ARM, CHANGED, DISCOVER)          \
	X(ARM, REFUSED, READY)             \
	X(ARM, RIVAL, SETTLE)              \
	X(ARM, OUTRANKED, STANDBY)         \
	X(ACTIVATE, DONE, READY)           \
	X(ACTIVATE, STAGED, COMPUTE)       \
	X(ACTIVATE, DOUBTFUL, AUDIT)       \
	X(ACTIVATE, CHANGED, DISCOVER)     \
	X(ACTIVATE, REFUSED, READY)        \
	X(ACTIVATE, RIVAL, SETTLE)         \
	X(ACTIVATE, OUTRANKED, STANDBY)    \
	X(ACTIVATE, GROUPS, TREES)         \
	X(TREES, DONE, READY)              \
	X(TREES, STAGED, COMPUTE)          \
	X(TREES, DOUBTFUL, AUDIT)          \
	X(TREES, CHANGED, DISCOVER)        \
	X(TREES, REFUSED, READY)           \
	X(TREES, RIVAL, SETTLE)            \
	X(TREES, OUTRANKED, STANDBY)       \
	X(AUDIT, DONE, READY)              \
	X(AUDIT, CHANGED, DISCOVER)        \
	X(AUDIT, REFUSED, READY)           \
	X(AUDIT, RIVAL, SETTLE)            \
	X(AUDIT, OUTRANKED, STANDBY)       \
	X(READY, DUE, SWEEP)               \
	X(READY, DOUBTFUL, AUDIT)          \
	X(READY, ASKED, MOVE)              \
	X(READY, GROUPS, TREES)            \
	X(READY, CHANGED, DISCOVER)        \
	X(READY, STAGED, COMPUTE)          \
	X(READY, RIVAL, SETTLE)            \
	X(READY, OUTRANKED, STANDBY)       \
	X(SWEEP, UNCHANGED, READY)         \
	X(SWEEP, NOTICED, DISCOVER)        \
	X(SWEEP, CHANGED, DISCOVER)        \
	X(SWEEP, RIVAL, SETTLE)            \
	X(SWEEP, OUTRANKED, STANDBY)       \
	X(MOVE, DONE, READY)               \
	X(MOVE, DOUBTFUL, AUDIT)           \
	X(MOVE, CHANGED, DISCOVER)         \
	X(MOVE, REFUSED, READY)            \
	X(MOVE, RIVAL, SETTLE)             \
	X(MOVE, OUTRANKED, STANDBY)        \
	X(STANDBY, CHANGED, DISCOVER)      \
	X(SETTLE, CHANGED, DISCOVER)       \
	X(SETTLE, UNCHANGED, READY)        \
	X(SETTLE, OUTRANKED, STANDBY)
/* clang-format on */

#endif
