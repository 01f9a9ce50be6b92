/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the handlers of records that are read share: which nodes a request asks for, and the handlers themselves. All of them
 * read the view and the manager; none changes anything.
 */
#ifndef WEFT_SA_RECORDS_H
#define WEFT_SA_RECORDS_H

#include "sa/sa_priv.h"

/* The nodes that a request asks for: from first on, before end. */
struct sa_nodes_asked {
	node_id first, end;
};
/* With a LID: the node that has it, or none; else all. */
struct sa_nodes_asked sa_nodes_with(const struct sa_view *v, bool asked, uint16_t lid);
/* Whether an endport has this LID: a request may name any of its 2^LMC. LIDs of VFs are others' records. */
bool sa_port_has_lid(const struct sa_view *v, port_id endport, uint16_t lid);
/* The endport of a port: port 0 of its switch, or itself. */
port_id sa_endport(const struct sa_view *v, port_id p);
bool sa_port_info(const struct sa_view *v, port_id p, struct iba_port_info *pi);

/* ---- virtual functions with LIDs of their own: vf_records.c ---- */

/* The k-th behind this port of a HCA; NULL: there are no more. */
const struct sa_end *sa_vf_at(const struct sa_view *v, port_id p, uint32_t k);
/* What its NodeRecord has besides that of its HCA, in *r. */
void sa_vf_node(const struct sa_view *v, const struct sa_end *e, struct iba_sa_node *r);
bool sa_vf_port(const struct sa_view *v, const struct sa_end *e, struct iba_port_info *pi);

/* Whether requester and port, or end, share a partition, or the requester is trusted. */
bool sa_may_see(struct sa *sa, const struct sa_request *q, port_id p);
bool sa_may_ask_of(struct sa *sa, const struct sa_request *q, const struct sa_end *e);

/* ---- handlers, by file ---- */

/* node_records.c, port_records.c */
void sa_port_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
/* switch_records.c */
void sa_switch_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_lft_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_rft_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_mft_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
/* lane_records.c */
void sa_slvl_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_vlarb_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
/* key_records.c */
void sa_pkey_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_guid_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
/* link_records.c */
void sa_link_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_sm_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
/* paths.c, paths_multi.c, trace_records.c */
void sa_path_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_multipath_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);
void sa_trace_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a);

#endif
