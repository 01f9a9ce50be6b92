/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The election (IBA 14.4): every pair of SMInfo state and event, what the manager does, and its next
 * state. The one place: no other file changes the state. `weft sm --print-election` prints it, and
 * sm_election_taken() counts how often each pair was met.
 */
#ifndef WEFT_SM_ELECTION_TABLE_H
#define WEFT_SM_ELECTION_TABLE_H

/* clang-format off */

/* event, name, what it means */
#define SM_ELECTION_EVENTS(X)                                                                     \
	X(START, "start", "the port is usable")                                                   \
	X(COMPLETE, "complete", "a discovery has met every device, and no manager that ranks above") \
	/* SMInfo of another manager. Above: higher priority, or equal priority and lower GUID. */ \
	X(SAW_MASTER_ABOVE, "master above", "another manager is Master and ranks above")          \
	X(SAW_MASTER_BELOW, "master below", "another manager is Master and ranks below")          \
	X(SAW_STANDBY_HIGHER, "standby higher", "another manager is Standby and has a higher priority") \
	X(SAW_STANDBY_ABOVE, "standby above", "another manager is Standby, with equal priority and a lower GUID") \
	X(SAW_STANDBY_BELOW, "standby below", "another manager is Standby and ranks below")       \
	X(SAW_DISCOVERING_ABOVE, "discovering above", "another manager is Discovering and ranks above") \
	X(SAW_DISCOVERING_BELOW, "discovering below", "another manager is Discovering and ranks below") \
	X(SAW_NOT_ACTIVE, "not active", "another manager is NotActive")                           \
	X(SILENT, "silent", "the manager that is polled has not answered several polls in a row") \
	/* orders: Set(SMInfo) with the right SM_Key */                                           \
	X(ORDER_HANDOVER, "HANDOVER", "a manager hands the subnet over")                          \
	X(ORDER_ACKNOWLEDGE, "ACKNOWLEDGE", "a manager acknowledges a HANDOVER that was not sent to it") \
	X(ORDER_DISABLE, "DISABLE", "a manager orders this one to become NotActive")              \
	X(ORDER_STAND_BY, "STANDBY", "a manager orders this one to stand by")                     \
	X(ORDER_DISCOVER, "DISCOVER", "a manager orders this one to discover")                    \
	X(ORDER_FORGED, "forged", "an order has the wrong SM_Key, or a sender that cannot be asked") \
	X(ORDER_UNKNOWN, "unknown order", "an order that IBA does not define")                    \
	/* handing over */                                                                        \
	X(USER_HANDOVER, "user", "the user orders a hand-over, or the daemon stops")              \
	X(ACCEPTED, "accepted", "the other manager accepted the HANDOVER that was sent to it")    \
	X(YIELDED, "yielded", "a manager that handed over, or was waited for, is not Master any more") \
	X(DEFIED, "defied", "a master that ranks below did not hand over in time")                \
	/* signs of another master */                                                             \
	X(CLAIMED, "claimed", "the own port names another master")                                \
	X(FOREIGN, "foreign", "a device was configured by another master")                        \
	X(STALLED, "stalled", "the manager itself did not run for a while")                       \
	X(REPLACED, "replaced", "another manager became Master while this one did not run")       \
	X(RELINKED, "relinked", "the own link was down, and other managers may have elected a master")

/* action, name, what it means */
#define SM_ELECTION_ACTIONS(X)                                                                    \
	X(IGNORE, "ignore", "nothing")                                                            \
	X(REFUSE, "refuse", "answers with status 7, invalid field, and counts it")                \
	X(DISCOVER, "discover", "discovers the subnet; sets nothing that another manager may have set") \
	X(LEAD, "lead", "manages the subnet")                                                     \
	X(STAND_BY, "stand by", "forgets what devices hold, and polls that manager")              \
	X(TAKE_OVER, "take over", "discovers the subnet in place of the manager that it polled")  \
	X(ALIVE, "alive", "goes on polling")                                                      \
	X(MISS, "miss", "counts a poll without an answer")                                        \
	X(FORGIVE, "forgive", "does not count polls that were missed meanwhile")                  \
	X(REST, "rest", "does nothing until it gets an order")                                    \
	X(AGAIN_LATER, "again later", "goes on, and discovers once more: the other one may have hidden a change") \
	X(VERIFY, "verify", "acknowledges, and asks the sender whether it is Master still")       \
	X(HAND_OVER, "hand over", "sends HANDOVER, and waits until it is accepted")               \
	X(AWAIT, "await", "waits for HANDOVER, polls that manager, and sets nothing meanwhile")    \
	X(READ_BACK, "read back", "discovers everything, and repairs what another manager changed") \
	X(GUARD, "guard", "the same; sets nothing before every device and manager was met")       \
	X(CHECK, "check", "asks all known managers and its own port before it sets anything")      \
	X(RETURN, "return", "forgets what devices hold, asks all known managers, and discovers the subnet")

/* in this state, upon this event, does this, and is in this state afterwards */
#define SM_ELECTION_TABLE(X)                                             \
	X(NOT_ACTIVE, START, DISCOVER, DISCOVERING)                      \
	X(NOT_ACTIVE, COMPLETE, IGNORE, NOT_ACTIVE)                      \
	X(NOT_ACTIVE, SAW_MASTER_ABOVE, IGNORE, NOT_ACTIVE)              \
	X(NOT_ACTIVE, SAW_MASTER_BELOW, IGNORE, NOT_ACTIVE)              \
	X(NOT_ACTIVE, SAW_STANDBY_HIGHER, IGNORE, NOT_ACTIVE)            \
	X(NOT_ACTIVE, SAW_STANDBY_ABOVE, IGNORE, NOT_ACTIVE)             \
	X(NOT_ACTIVE, SAW_STANDBY_BELOW, IGNORE, NOT_ACTIVE)             \
	X(NOT_ACTIVE, SAW_DISCOVERING_ABOVE, IGNORE, NOT_ACTIVE)         \
	X(NOT_ACTIVE, SAW_DISCOVERING_BELOW, IGNORE, NOT_ACTIVE)         \
	X(NOT_ACTIVE, SAW_NOT_ACTIVE, IGNORE, NOT_ACTIVE)                \
	X(NOT_ACTIVE, SILENT, IGNORE, NOT_ACTIVE)                        \
	X(NOT_ACTIVE, ORDER_HANDOVER, REFUSE, NOT_ACTIVE)                \
	X(NOT_ACTIVE, ORDER_ACKNOWLEDGE, REFUSE, NOT_ACTIVE)             \
	X(NOT_ACTIVE, ORDER_DISABLE, IGNORE, NOT_ACTIVE)                 \
	X(NOT_ACTIVE, ORDER_STAND_BY, STAND_BY, STANDBY)                 \
	X(NOT_ACTIVE, ORDER_DISCOVER, REFUSE, NOT_ACTIVE)                \
	X(NOT_ACTIVE, ORDER_FORGED, REFUSE, NOT_ACTIVE)                  \
	X(NOT_ACTIVE, ORDER_UNKNOWN, REFUSE, NOT_ACTIVE)                 \
	X(NOT_ACTIVE, USER_HANDOVER, REFUSE, NOT_ACTIVE)                 \
	X(NOT_ACTIVE, ACCEPTED, IGNORE, NOT_ACTIVE)                      \
	X(NOT_ACTIVE, YIELDED, IGNORE, NOT_ACTIVE)                       \
	X(NOT_ACTIVE, DEFIED, IGNORE, NOT_ACTIVE)                        \
	X(NOT_ACTIVE, CLAIMED, IGNORE, NOT_ACTIVE)                       \
	X(NOT_ACTIVE, FOREIGN, IGNORE, NOT_ACTIVE)                       \
	X(NOT_ACTIVE, STALLED, IGNORE, NOT_ACTIVE)                       \
	X(NOT_ACTIVE, REPLACED, IGNORE, NOT_ACTIVE)                      \
	X(NOT_ACTIVE, RELINKED, IGNORE, NOT_ACTIVE)                      \
	                                                                 \
	X(DISCOVERING, START, REFUSE, DISCOVERING)                       \
	X(DISCOVERING, COMPLETE, LEAD, MASTER)                           \
	X(DISCOVERING, SAW_MASTER_ABOVE, STAND_BY, STANDBY)              \
	X(DISCOVERING, SAW_MASTER_BELOW, STAND_BY, STANDBY)              \
	X(DISCOVERING, SAW_STANDBY_HIGHER, STAND_BY, STANDBY)            \
	X(DISCOVERING, SAW_STANDBY_ABOVE, STAND_BY, STANDBY)             \
	X(DISCOVERING, SAW_STANDBY_BELOW, AGAIN_LATER, DISCOVERING)      \
	X(DISCOVERING, SAW_DISCOVERING_ABOVE, STAND_BY, STANDBY)         \
	X(DISCOVERING, SAW_DISCOVERING_BELOW, AGAIN_LATER, DISCOVERING)  \
	X(DISCOVERING, SAW_NOT_ACTIVE, IGNORE, DISCOVERING)              \
	X(DISCOVERING, SILENT, IGNORE, DISCOVERING)                      \
	X(DISCOVERING, ORDER_HANDOVER, REFUSE, DISCOVERING)              \
	X(DISCOVERING, ORDER_ACKNOWLEDGE, REFUSE, DISCOVERING)           \
	X(DISCOVERING, ORDER_DISABLE, REFUSE, DISCOVERING)               \
	X(DISCOVERING, ORDER_STAND_BY, REFUSE, DISCOVERING)              \
	X(DISCOVERING, ORDER_DISCOVER, REFUSE, DISCOVERING)              \
	X(DISCOVERING, ORDER_FORGED, REFUSE, DISCOVERING)                \
	X(DISCOVERING, ORDER_UNKNOWN, REFUSE, DISCOVERING)               \
	X(DISCOVERING, USER_HANDOVER, REFUSE, DISCOVERING)               \
	X(DISCOVERING, ACCEPTED, IGNORE, DISCOVERING)                    \
	X(DISCOVERING, YIELDED, IGNORE, DISCOVERING)                     \
	X(DISCOVERING, DEFIED, IGNORE, DISCOVERING)                      \
	X(DISCOVERING, CLAIMED, IGNORE, DISCOVERING)                     \
	X(DISCOVERING, FOREIGN, IGNORE, DISCOVERING)                     \
	X(DISCOVERING, STALLED, DISCOVER, DISCOVERING)                   \
	X(DISCOVERING, REPLACED, IGNORE, DISCOVERING)                    \
	X(DISCOVERING, RELINKED, IGNORE, DISCOVERING)                    \
	                                                                 \
	X(STANDBY, START, REFUSE, STANDBY)                               \
	X(STANDBY, COMPLETE, IGNORE, STANDBY)                            \
	X(STANDBY, SAW_MASTER_ABOVE, ALIVE, STANDBY)                     \
	X(STANDBY, SAW_MASTER_BELOW, ALIVE, STANDBY)                     \
	X(STANDBY, SAW_STANDBY_HIGHER, ALIVE, STANDBY)                   \
	X(STANDBY, SAW_STANDBY_ABOVE, ALIVE, STANDBY)                    \
	X(STANDBY, SAW_STANDBY_BELOW, TAKE_OVER, DISCOVERING)            \
	X(STANDBY, SAW_DISCOVERING_ABOVE, ALIVE, STANDBY)                \
	X(STANDBY, SAW_DISCOVERING_BELOW, ALIVE, STANDBY)                \
	X(STANDBY, SAW_NOT_ACTIVE, MISS, STANDBY)                        \
	X(STANDBY, SILENT, TAKE_OVER, DISCOVERING)                       \
	X(STANDBY, ORDER_HANDOVER, VERIFY, STANDBY)                      \
	X(STANDBY, ORDER_ACKNOWLEDGE, IGNORE, STANDBY)                   \
	X(STANDBY, ORDER_DISABLE, REST, NOT_ACTIVE)                      \
	X(STANDBY, ORDER_STAND_BY, IGNORE, STANDBY)                      \
	X(STANDBY, ORDER_DISCOVER, TAKE_OVER, DISCOVERING)               \
	X(STANDBY, ORDER_FORGED, REFUSE, STANDBY)                        \
	X(STANDBY, ORDER_UNKNOWN, REFUSE, STANDBY)                       \
	X(STANDBY, USER_HANDOVER, REFUSE, STANDBY)                       \
	X(STANDBY, ACCEPTED, IGNORE, STANDBY)                            \
	X(STANDBY, YIELDED, READ_BACK, MASTER)                           \
	X(STANDBY, DEFIED, IGNORE, STANDBY)                              \
	X(STANDBY, CLAIMED, IGNORE, STANDBY)                             \
	X(STANDBY, FOREIGN, IGNORE, STANDBY)                             \
	X(STANDBY, STALLED, FORGIVE, STANDBY)                            \
	X(STANDBY, REPLACED, IGNORE, STANDBY)                            \
	X(STANDBY, RELINKED, IGNORE, STANDBY)                            \
	                                                                 \
	X(MASTER, START, REFUSE, MASTER)                                 \
	X(MASTER, COMPLETE, LEAD, MASTER)                                \
	X(MASTER, SAW_MASTER_ABOVE, HAND_OVER, MASTER)                   \
	X(MASTER, SAW_MASTER_BELOW, AWAIT, MASTER)                       \
	X(MASTER, SAW_STANDBY_HIGHER, HAND_OVER, MASTER)                 \
	X(MASTER, SAW_STANDBY_ABOVE, AGAIN_LATER, MASTER)                \
	X(MASTER, SAW_STANDBY_BELOW, AGAIN_LATER, MASTER)                \
	X(MASTER, SAW_DISCOVERING_ABOVE, AGAIN_LATER, MASTER)            \
	X(MASTER, SAW_DISCOVERING_BELOW, AGAIN_LATER, MASTER)            \
	X(MASTER, SAW_NOT_ACTIVE, IGNORE, MASTER)                        \
	X(MASTER, SILENT, READ_BACK, MASTER)                             \
	X(MASTER, ORDER_HANDOVER, VERIFY, MASTER)                        \
	X(MASTER, ORDER_ACKNOWLEDGE, REFUSE, MASTER)                     \
	X(MASTER, ORDER_DISABLE, REFUSE, MASTER)                         \
	X(MASTER, ORDER_STAND_BY, REFUSE, MASTER)                        \
	X(MASTER, ORDER_DISCOVER, REFUSE, MASTER)                        \
	X(MASTER, ORDER_FORGED, REFUSE, MASTER)                          \
	X(MASTER, ORDER_UNKNOWN, REFUSE, MASTER)                         \
	X(MASTER, USER_HANDOVER, HAND_OVER, MASTER)                      \
	X(MASTER, ACCEPTED, STAND_BY, STANDBY)                           \
	X(MASTER, YIELDED, READ_BACK, MASTER)                            \
	X(MASTER, DEFIED, READ_BACK, MASTER)                             \
	X(MASTER, CLAIMED, GUARD, MASTER)                                \
	X(MASTER, FOREIGN, GUARD, MASTER)                                \
	X(MASTER, STALLED, CHECK, MASTER)                                \
	X(MASTER, REPLACED, STAND_BY, STANDBY)                           \
	X(MASTER, RELINKED, RETURN, DISCOVERING)
/* clang-format on */

#endif
