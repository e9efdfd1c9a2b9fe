/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/cm.h"

/* Reject reasons (3.8), in words for operators. */
static const char *const reasons[] = {
	[1] = "no queue pair",
	[2] = "no end-to-end context",
	[3] = "no resources",
	[4] = "timeout",
	[5] = "unsupported request",
	[6] = "invalid communication ID",
	[7] = "invalid communication instance",
	[8] = "invalid service ID (nobody listens)",
	[9] = "invalid transport service type",
	[10] = "stale connection",
	[11] = "RDC does not exist",
	[12] = "primary GID rejected",
	[13] = "primary LID rejected",
	[14] = "invalid primary SL",
	[15] = "invalid traffic class",
	[16] = "invalid hop limit",
	[17] = "invalid packet rate",
	[18] = "invalid alternate GID",
	[19] = "invalid alternate LID",
	[20] = "invalid alternate SL",
	[21] = "invalid alternate traffic class",
	[22] = "invalid alternate hop limit",
	[23] = "invalid alternate packet rate",
	[24] = "port and CM redirection",
	[25] = "port redirection",
	[26] = "invalid path MTU",
	[27] = "insufficient responder resources",
	[28] = "rejected by the consumer",
	[29] = "RNR retry count rejected",
	[30] = "duplicate local communication ID",
	[31] = "unsupported class version",
	[32] = "invalid primary flow label",
	[33] = "invalid alternate flow label",
	[35] = "vendor option not supported",
};

const char *
roce_cm_reason_name(uint16_t reason)
{
	if (reason >= sizeof(reasons) / sizeof(reasons[0]) || reasons[reason] == NULL)
		return "unknown reason";
	return reasons[reason];
}
