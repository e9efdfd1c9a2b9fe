/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "cm/reason.h"

static const char *const reason_names[] = {
	[ROCE_CM_REASON_NO_QP] = "no queue pair",
	[ROCE_CM_REASON_NO_EEC] = "no end-to-end context",
	[ROCE_CM_REASON_NO_RESOURCES] = "no resources",
	[ROCE_CM_REASON_TIMEOUT] = "timeout",
	[ROCE_CM_REASON_UNSUPPORTED] = "unsupported request",
	[ROCE_CM_REASON_INVALID_COMM_ID] = "invalid communication ID",
	[ROCE_CM_REASON_INVALID_COMM_INSTANCE] = "invalid communication instance",
	[ROCE_CM_REASON_INVALID_SERVICE_ID] = "invalid service ID (nobody listens)",
	[ROCE_CM_REASON_INVALID_TRANSPORT_TYPE] = "invalid transport service type",
	[ROCE_CM_REASON_STALE_CONN] = "stale connection",
	[ROCE_CM_REASON_RDC_NOT_EXIST] = "RDC does not exist",
	[ROCE_CM_REASON_INVALID_GID] = "primary GID rejected",
	[ROCE_CM_REASON_INVALID_LID] = "primary LID rejected",
	[ROCE_CM_REASON_INVALID_SL] = "invalid primary SL",
	[ROCE_CM_REASON_INVALID_TRAFFIC_CLASS] = "invalid traffic class",
	[ROCE_CM_REASON_INVALID_HOP_LIMIT] = "invalid hop limit",
	[ROCE_CM_REASON_INVALID_PACKET_RATE] = "invalid packet rate",
	[ROCE_CM_REASON_INVALID_ALT_GID] = "invalid alternate GID",
	[ROCE_CM_REASON_INVALID_ALT_LID] = "invalid alternate LID",
	[ROCE_CM_REASON_INVALID_ALT_SL] = "invalid alternate SL",
	[ROCE_CM_REASON_INVALID_ALT_TRAFFIC_CLASS] = "invalid alternate traffic class",
	[ROCE_CM_REASON_INVALID_ALT_HOP_LIMIT] = "invalid alternate hop limit",
	[ROCE_CM_REASON_INVALID_ALT_PACKET_RATE] = "invalid alternate packet rate",
	[ROCE_CM_REASON_PORT_CM_REDIRECT] = "port and CM redirection",
	[ROCE_CM_REASON_PORT_REDIRECT] = "port redirection",
	[ROCE_CM_REASON_INVALID_MTU] = "invalid path MTU",
	[ROCE_CM_REASON_INSUFFICIENT_RESPONDER_RESOURCES] = "insufficient responder resources",
	[ROCE_CM_REASON_CONSUMER] = "rejected by the consumer",
	[ROCE_CM_REASON_RNR_RETRY_COUNT] = "RNR retry count rejected",
	[ROCE_CM_REASON_DUPLICATE_COMM_ID] = "duplicate local communication ID",
	[ROCE_CM_REASON_INVALID_CLASS_VERSION] = "unsupported class version",
	[ROCE_CM_REASON_INVALID_FLOW_LABEL] = "invalid primary flow label",
	[ROCE_CM_REASON_INVALID_ALT_FLOW_LABEL] = "invalid alternate flow label",
	[ROCE_CM_REASON_VENDOR_OPTION] = "vendor option not supported",
};

const char *
roce_cm_reason_name(uint16_t reason)
{
	if (reason >= sizeof(reason_names) / sizeof(reason_names[0]) ||
		reason_names[reason] == NULL)
		return "unknown reason";
	return reason_names[reason];
}
