/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a manager says about its subnet, as FABRIC and STATE frames. Positions come from an engine (window/window.h) that
 * opens the topology.
 *
 * The picture stays while nothing new appears: nodes and links that are gone are shown as gone. Something new makes a
 * new picture, of what is there.
 */
#ifndef WEFT_LIVE_PICTURE_H
#define WEFT_LIVE_PICTURE_H

#include <jansson.h>

#include "base/base.h"
#include "fabric/fabric.h"

struct live_picture;

struct live_picture *live_picture_new(void (*emit)(void *ctx, const uint8_t *frame, size_t len),
				      void *ctx);
void live_picture_free(struct live_picture *p);

/* Answers of the control socket (docs/control.md). The first emits FABRIC if the picture is a new one; 0, or -errno
 * with e filled and the picture as before. */
int live_picture_topology(struct live_picture *p, const char *netlist, size_t len, struct err *e);
/* PortState of each port with a link, in the order of the topology's text; "": none is known. */
void live_picture_states(struct live_picture *p, const char *digits);
void live_picture_managers(struct live_picture *p, const json_t *managers);
/* Emits STATE, if there is a picture and it is not as it was before. */
void live_picture_state(struct live_picture *p, time_ps now);
/* By the numbers of the FABRIC frame; LIVE_NONE: none. */
#define LIVE_NONE UINT32_MAX
uint32_t live_picture_node(const struct live_picture *p, const char *guid);
uint32_t live_picture_link(struct live_picture *p, uint32_t node, unsigned port);
uint32_t live_picture_node_of(const struct live_picture *p, uint64_t guid);
uint32_t live_picture_lid(const struct live_picture *p, unsigned lid);
/* The last topology; NULL: none yet. Its own numbers are not those of the FABRIC frame. */
const struct fab *live_picture_fab(const struct live_picture *p);
/* Emits LOADS from routes by port_id of that topology; the most of one port. */
uint64_t live_picture_loads(struct live_picture *p, const uint32_t *load);
/* The text of the last topology; NULL: none yet. */
const char *live_picture_netlist(const struct live_picture *p);

#endif
