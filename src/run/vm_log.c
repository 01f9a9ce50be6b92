/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ended requests about virtual machines, for the log. State: none. Way in: run_vm_log(). Does not act on anything.
 */
#include "run/control_priv.h"
#include "run/log.h"

static const char *name_of(const struct sm *sm, uint64_t guid, char buf[24])
{
	const char *name = sm && guid ? sm_node_desc(sm, guid) : "";

	if (*name)
		return name;
	snprintf(buf, 24, "0x%016llx", (unsigned long long)guid);
	return buf;
}

static void defragmented(struct run_log *l, const struct sm_vm_request *q,
			 const struct sm_vm_result *r)
{
	const struct sm_defragmentation *d = &r->defragmentation;

	if (r->rc)
		log_rec(l, LOG_VM_REFUSED, LOG_NOT("vm"), LOG_T("op", sm_vm_op_name(q->op)),
			LOG_T("why", r->why));
	else if (d->moved && !q->dry_run)
		log_rec(l, LOG_VM_DEFRAGMENTED, LOG_U("moved", d->moved), LOG_U("vms", d->lids),
			LOG_U("busiest", d->after.busiest),
			LOG_U("busiest_before", d->before.busiest), LOG_U("smps", r->smps_tables),
			LOG_U("switches", r->switches_touched),
			LOG_TIME("took_us", (r->ended - MIN(r->ended, r->started)) / PS_PER_US));
}

void run_vm_log(struct run_log *l, const struct sm *sm, const struct sm_vm_request *q,
		const struct sm_vm_result *r)
{
	static const enum log_kind kinds[] = {[SM_VM_CREATE] = LOG_VM_CREATED,
					      [SM_VM_START] = LOG_VM_STARTED,
					      [SM_VM_STOP] = LOG_VM_STOPPED,
					      [SM_VM_MIGRATE] = LOG_VM_MIGRATED,
					      [SM_VM_DESTROY] = LOG_VM_DESTROYED};
	bool moves = q->op == SM_VM_MIGRATE, placed = moves || q->op == SM_VM_START;
	char from[24], to[24];

	if (q->op == SM_VM_DEFRAGMENT) {
		defragmented(l, q, r);
		return;
	}
	if (r->rc) {
		log_rec(l, LOG_VM_REFUSED, LOG_T("vm", q->name), LOG_T("op", sm_vm_op_name(q->op)),
			LOG_T("why", r->why));
		return;
	}
	if (q->op == SM_VM_CREATE || q->op == SM_VM_DESTROY) {
		log_rec(l, kinds[q->op], LOG_T("vm", q->name), LOG_G("guid", r->guid));
		return;
	}
	log_rec(l, kinds[q->op], LOG_T("vm", q->name), LOG_G("guid", r->guid),
		LOG_U("lid", placed ? r->lid_after : r->lid_before),
		moves && r->lid_before != r->lid_after ? LOG_U("lid_before", r->lid_before)
						       : LOG_NOT("lid_before"),
		placed && !moves ? LOG_NOT("from")
				 : LOG_T("from", name_of(sm, r->host_before, from)),
		placed && !moves ? LOG_NOT("from_vf") : LOG_U("from_vf", r->slot_before),
		placed ? LOG_T("to", name_of(sm, r->host, to)) : LOG_NOT("to"),
		placed ? LOG_U("vf", r->slot) : LOG_NOT("vf"),
		LOG_U("smps_hypervisors", r->smps_hypervisors),
		LOG_U("smps_tables", r->smps_tables), LOG_U("switches", r->switches_touched),
		LOG_TIME("took_us", (r->ended - MIN(r->ended, r->started)) / PS_PER_US));
}
