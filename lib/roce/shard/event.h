/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host is told of a queue pair: events, and the record of its last abnormal events. */
#ifndef ROCE_EVENT_H
#define ROCE_EVENT_H

#include "roce/roce.h"

void roce_qp_event(struct roce_shard *s, struct roce_qp *qp, enum roce_event_type type);
void roce_qp_note(const struct roce_shard *s, struct roce_qp *qp, enum roce_record_kind kind,
	uint32_t psn, uint32_t detail);

#endif
