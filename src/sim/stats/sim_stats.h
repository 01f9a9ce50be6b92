/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics contract: what happened to SMPs and data packets, in total and by port. Keeps
 * nothing: the devices count SMPs (struct sim_stats), the data plane counts packets (struct
 * sim_plane_stats, struct sim_port_counters). Promises that the counters add up: what was sent was
 * delivered, dropped or is in flight. Reading them changes nothing.
 *
 * Called by the laboratory and the reports of the command line. sim_detail.h has the same by host,
 * port and virtual lane.
 */
#ifndef WEFT_SIM_STATS_H
#define WEFT_SIM_STATS_H

#include "sim/device/sim_device.h"
#include "sim/plane/sim_plane.h"

/* SMPs and GMPs. */
const struct sim_stats *sim_stats(const struct sim *s);
const char *sim_drop_name(enum sim_drop d);

/* Data packets; NULL: no data plane. */
const struct sim_plane_stats *sim_plane_stats(const struct sim *s);
const char *sim_discard_name(enum sim_discard d);
void sim_window(struct sim *s, time_ps start, time_ps end); /* clears the windowed statistics */
const struct sim_port_counters *sim_port_counters(const struct sim *s, port_id p);
/* Fill level of the switches' data input buffers, in millionths: of all, and of the fullest. */
void sim_buffer_use(const struct sim *s, uint32_t *mean, uint32_t *max);

#endif
