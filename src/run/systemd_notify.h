/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications to systemd, by the protocol of sd_notify(3).
 */
#ifndef WEFT_SYSTEMD_NOTIFY_H
#define WEFT_SYSTEMD_NOTIFY_H

#include "base/base.h"

/* Sends "READY=1" or the like; without $NOTIFY_SOCKET it does nothing. */
void systemd_notify(const char *fmt, ...) PRINTF(1, 2);
uint64_t systemd_watchdog_us(void); /* the watchdog's interval; 0: there is no watchdog */

#endif
