/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager as a whole: one member a room. A field is written by the room that declares it and by no
 * other; rooms read each other's fields, and change them by calling the functions of their headers.
 */
#ifndef WEFT_SM_MANAGER_H
#define WEFT_SM_MANAGER_H

#include "sm/addresses/addresses.h"
#include "sm/core/core.h"
#include "sm/damping/damping.h"
#include "sm/discovery/discovery.h"
#include "sm/election/election.h"
#include "sm/keys/m_keys.h"
#include "sm/mirror/mirror.h"
#include "sm/multicast/multicast.h"
#include "sm/names/node_names.h"
#include "sm/partitions/partitions.h"
#include "sm/restore/restore.h"
#include "sm/routes/routes.h"
#include "sm/tables/tables.h"
#include "sm/topology/topology.h"
#include "sm/virtual/virtual.h"

struct sm {
	struct sm_config cfg;
	struct sm_core core;
	struct sm_transactions txn;
	struct sm_topology topo;
	struct sm_discovering disc;
	struct sm_sweeping sweep;
	struct sm_restored restored;
	struct sm_lids lids;
	struct sm_m_keys keys;
	struct sm_node_names names;
	struct sm_damp damp;
	struct sm_election election;
	struct sm_mirroring mirror;
	struct sm_routing routes;
	struct sm_device_tables dev;
	struct sm_auditing audit;
	union sm_running run;
	struct sm_virtual virtual;
	struct sm_multicast multicast;
	struct sm_partitions partitions;
};

#endif
