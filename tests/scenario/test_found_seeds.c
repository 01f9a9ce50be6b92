/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seeds of random trials that once failed, in TAP: one line for each. Keeps no state. Does not draw anything
 * itself: src/trial does.
 * Covers: change_trial.c, fault_trial.c, restart_trial.c, vm_trial.c
 */
#include "trial/change_trial.h"
#include "trial/fault_trial.h"
#include "trial/restart_trial.h"
#include "trial/trial_common.h"
#include "trial/vm_trial.h"

enum kind {
	CHANGE,
	CHANGE_ENGINE, /* with an engine that the seed draws */
	FAULT,
	RESTART,
	VMS,
	VMS_ODD, /* 100 migrations on an odd fabric */
	VMS_DRAGONFLY,
	VMS_IRREGULAR,
	VMS_CUTS,
	VMS_KEYS,      /* with partitions */
	VMS_KEYS_CUTS, /* on an irregular fabric that is cut in two */
};

static const struct found {
	enum kind kind;
	uint64_t seed;
	const char *mechanism; /* NULL: drawn */
	const char *was;
} found[] = {
	/* A switch that restarted during a discovery got its whole new table first, while old entries of its
	 * neighbours led there. */
	{CHANGE, 5000507, NULL, "cycle: restarted switch"},
	{CHANGE, 5002610, NULL, "cycle: restarted switch"},
	{CHANGE, 6001850, "weft", "cycle: restarted switch"},
	{CHANGE, 6002827, "weft", "cycle: restarted switch"},
	{CHANGE, 6002857, "weft", "cycle: restarted switch"},
	{CHANGE, 366410514, "weft", "cycle: restarted switch"},
	{RESTART, 5021229, NULL, "cycle: restarted switch"},
	/* It restarted while ports were armed, so that its hosts were Active before its table was written. */
	{CHANGE, 82013083, NULL, "cycle: restarted switch with Active hosts"},
	/* Packets of former routes met new tables: they waited where no table led any more. */
	{CHANGE, 5002546, NULL, "deadlock: ports became Active at once"},
	{CHANGE, 77000855, NULL, "cycle: packets behind disabled turns"},
	{CHANGE, 77001408, NULL, "cycle: turns were enabled at once"},
	{CHANGE, 78002729, "weft", "cycle: packets behind disabled turns"},
	{CHANGE, 77302584, NULL, "deadlock: packets behind disabled turns, in overload"},
	/* The same behind ports of break nodes that were stopped. */
	{CHANGE, 125047308, NULL, "deadlock: packets in a stopped port, in overload"},
	/* A round was given up while ports were being armed; the next one took them for stopped. */
	{CHANGE, 126001260, NULL, "cycle: a port whose Set was not answered"},
	/* A higher LinearFDBTop brought entries of former tables into force. */
	{CHANGE, 78200030, "weft", "cycle: LinearFDBTop"},
	/* A switch with one dead link was presumed dead. */
	{CHANGE, 77101007, "weft", "cycle: wrong guess"},
	/* The Set that cleared PortStateChange wrote LinearFDBTop after a restart. */
	{CHANGE, 6001293, "weft", "restart not noticed"},
	{CHANGE, 5003994, NULL, "restart not noticed"},
	{CHANGE, 101505, NULL, "restart not noticed"},
	/* Sets of the configuration wrote the LID as well, after a restart. */
	{CHANGE, 82023964, NULL, "restart not noticed, no rest"},
	/* A second copy of that Set cleared the bit after the ports were read. */
	{FAULT, 5014445, NULL, "port left in Init"},
	/* What stayed was compared with updated routes, which were less even than routes from scratch. */
	{CHANGE, 6002126, "weft", "uneven link"},
	{CHANGE, 366410519, "weft", "uneven link"},
	{CHANGE, 100779, NULL, "uneven link"},
	{CHANGE, 77000537, NULL, "uneven link"},
	/* VMs. Requests of one batch set the GUIDs of a shared port, and each cleared what the others had set. */
	{VMS, 150, NULL, "a VM on a shared port without its vGUID"},
	{VMS, 10995, NULL, "a VM on a shared port without its vGUID: a late copy"},
	/* A restarted manager took a shared port that did not respond for a vSwitch. */
	{VMS, 8, NULL, "a VM with another LID: shared port"},
	{VMS, 1371, NULL, "a VM with another LID: shared port, saved state"},
	{VMS, 70, NULL, "a vGUID left behind at a shared port"},
	/* A restarted manager did not show the LIDs of VMs whose host did not respond. */
	{VMS, 22, NULL, "a VM without a LID"},
	{VMS, 31909, NULL, "a VM got the LID of the empty VF where it was to be"},
	/* The LID that a swap gave to a VF was never set. */
	{VMS, 996, NULL, "an empty VF without a LID"},
	/* A host restarted before the round set its port: the next discovery found a LID, and did not read its VFs. */
	{VMS, 2428, NULL, "VFs of a restarted host"},
	/* It restarted before a VM was attached there, and the next manager did not read its VFs. */
	{VMS, 616074, NULL, "a LID at two VFs: one of a restarted host"},
	/* A standby took over: its copy was older than what was answered. */
	{VMS, 213, NULL, "a stopped VM ran again after a take-over"},
	{VMS, 514, NULL, "the LID of a stopped VM was given before the standby knew"},
	{VMS, 2867, NULL, "a destroyed VM was there again after a take-over"},
	{VMS, 20014, NULL, "a VM did not run after a take-over: its host had failed as well"},
	{VMS_KEYS, 5, NULL, "P_Key tables read again for ever: sweeps interrupted the reads"},
	{VMS_KEYS, 60, NULL, "P_Key tables never read: sweeps are as frequent as answers"},
	{VMS_KEYS, 2290, NULL,
	 "a host that restarted while its switch was told to enforce partitions"},
	{VMS_KEYS, 650523, NULL,
	 "a host restarted before a round set its port: its VFs were seen to be empty, not its P_Key tables"},
	{VMS_KEYS, 692273, NULL,
	 "the check: a host that the manager does not reach had keys of before while VMs moved"},
	{VMS_KEYS, 673854, NULL,
	 "a host restarted after its P_Keys were set, and before its port was: no port showed it"},
	{VMS_KEYS, 8006817, NULL, "the same, and its VFs held nothing"},
	{VMS_KEYS, 8013053, NULL, "the same, and its VFs held nothing, while its switch restarted"},
	{VMS_KEYS, 8029686, NULL, "the same, and a link of its switch explained the change"},
	{VMS_KEYS, 651511, NULL,
	 "the check: a copy of a Set brought a key back, and its response was under way at rest"},
	{VMS_KEYS, 8002125, NULL,
	 "the check: a switch that restarted, and forwarded nothing, enforced without keys"},
	/* A standby repeated its question for the root ever more slowly, and the master's own round was part of its wait. */
	{VMS_KEYS, 672592, NULL, "names of VMs were lost: handed over without a copy"},
	/* Polls were lost, a standby took over in vain, and had used its copy up when the master died. */
	{VMS_KEYS, 8000405, NULL, "names of VMs were lost: the copy was used up"},
	{VMS_KEYS, 8003776, NULL, "names of VMs were lost: the copy was not that of the devices"},
	/* A part was cut off while P_Key tables were read, and each device in it was waited for. */
	{VMS_KEYS_CUTS, 9510010, NULL, "cycle: tables for a subnet of long ago"},
	{VMS, 832, NULL, "names of VMs were lost: handed over without a copy"},
	{VMS, 2555, NULL, "names of VMs were lost: no copy after a trap"},
	{VMS, 40064, NULL,
	 "names of VMs were lost: a switch was not what the digests of the copy said"},
	/* A standby had been master of a part meanwhile, and the master took its copy for what it was before. */
	{VMS_CUTS, 144, NULL, "names of VMs were lost after a cut"},
	{VMS_CUTS, 120, NULL, "names of VMs were lost after a cut: no word of the other master"},
	/* The other master had put a VM to the VF of one that it stopped. */
	{VMS_CUTS, 2165, NULL, "a VM with the LID of another VF after a cut"},
	{VMS_CUTS, 1269, NULL, "a VM with the LID of another VF after a cut"},
	/* Turns stayed disabled at rest, so there was no copy. */
	{VMS_CUTS, 1549, NULL, "names of VMs were lost: `improved` left turns disabled"},
	{VMS, 677, NULL, "a VM got the LID of a host that did not respond at a take-over"},
	/* A standby that was master before remembered LIDs from then, and its copy did not replace them. */
	{VMS_ODD, 503, NULL, "a VM with the LID of another VF after a take-over"},
	/* The same, by a standby whose first discovery had not ended. */
	{VMS_ODD, 614121, NULL, "a VM with the LID of another VF after a take-over"},
	/* A copy of a Set had detached the VF, and a discovery for another cause read it and found no link changed. */
	{VMS_DRAGONFLY, 14206, NULL, "a VM whose VF was detached by a late copy"},
	/* A new VM got a higher LID than all others, and a higher LinearFDBTop brought entries of former tables into force. */
	{VMS_DRAGONFLY, 620085, NULL, "entries of a VM whose host was gone"},
	/* Tables of several managers, and LIDs that others had before: an update of them had loops, again and again. */
	{VMS_IRREGULAR, 620066, NULL, "no rest: updated routes failed verification"},
	{CHANGE, 146015227, NULL, "no rest: updated routes failed verification"},
	/* A repair over the directions of a fresh start stayed without a comparison. */
	{CHANGE, 130013709, "weft", "uneven link"},
	/* Entries for LIDs that were gone stayed and led down and up by new ranks: no plan, no rest. */
	{CHANGE, 123033526, NULL, "no plan"},
	/* Routes without ranks, made from a reference, beside entries for LIDs that were gone. */
	{CHANGE_ENGINE, 150000038, NULL, "cycle: entries of former tables"},
	{CHANGE_ENGINE, 150000883, NULL, "cycle: entries of LIDs that are gone"},
	{CHANGE_ENGINE, 150005952, NULL, "cycle: entries of LIDs that are gone"},
	/* A switch came and another one went: rows of the last tables were taken for those of other switches. */
	{CHANGE_ENGINE, 160010786, NULL, "cycle: a plan from rows of other switches"},
	/* A switch restarted while its ports were read, and `basic` set only SL-to-VL tables that it took for others. */
	{CHANGE_ENGINE, 162011277, NULL, "SL-to-VL tables of a restarted switch"},
	{CHANGE_ENGINE, 162009991, NULL, "SL-to-VL tables of a restarted switch"},
	/* The engine of the reference did not serve any more, and nothing was compared with. */
	{CHANGE_ENGINE, 150000071, NULL, "uneven routes of a reference"},
};

static const char *fabric_of(enum kind k)
{
	return k == VMS_ODD				  ? "odd"
	       : k == VMS_DRAGONFLY			  ? "dragonfly"
	       : k == VMS_IRREGULAR || k == VMS_KEYS_CUTS ? "irregular"
							  : NULL;
}

static bool run(const struct found *x, char *why, size_t size)
{
	const struct sm_mechanism *m = x->mechanism ? sm_mechanism_find(x->mechanism) : NULL;
	struct change_trial c;
	struct trial_engine g;
	struct fault_trial f;
	struct restart_trial r;
	struct vm_trial v;

	switch (x->kind) {
	case CHANGE:
		change_trial_run(x->seed, 32, m, &c);
		snprintf(why, size, "%s", c.why);
		return c.ok;
	case CHANGE_ENGINE:
		trial_draw_engine(x->seed, &g);
		change_trial_run(x->seed, 32, &g.mechanism, &c);
		snprintf(why, size, "%s", c.why);
		return c.ok;
	case FAULT:
		fault_trial_run(x->seed, 128, m, &f);
		snprintf(why, size, "%s", f.why);
		return f.ok;
	case RESTART:
		restart_trial_run(x->seed, 32, NULL, &r);
		snprintf(why, size, "%s", r.why);
		return r.ok;
	case VMS:
	case VMS_ODD:
	case VMS_DRAGONFLY:
	case VMS_IRREGULAR:
	case VMS_CUTS:
	case VMS_KEYS:
	case VMS_KEYS_CUTS:
		vm_trial_run(x->seed,
			     &(struct vm_trial_opts){
				     .max_switches = 10,
				     .cuts = x->kind == VMS_CUTS || x->kind == VMS_KEYS_CUTS,
				     .partitions = x->kind == VMS_KEYS || x->kind == VMS_KEYS_CUTS,
				     .mechanism = m,
				     .fabric = fabric_of(x->kind),
				     .migrations = fabric_of(x->kind) ? 100 : 0},
			     &v);
		snprintf(why, size, "%s", v.why);
		return v.ok;
	}
	return false;
}

int main(void)
{
	unsigned bad = 0;

	printf("1..%zu\n", ARRAY_LEN(found));
	for (size_t i = 0; i < ARRAY_LEN(found); i++) {
		char why[512] = "";
		bool ok = run(&found[i], why, sizeof(why));

		bad += !ok;
		printf("%s %zu - seed %llu, once %s%s%s\n", ok ? "ok" : "not ok", i + 1,
		       (unsigned long long)found[i].seed, found[i].was, ok ? "" : ": ", why);
		fflush(stdout);
	}
	return bad ? 1 : 0;
}
