/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "roce/qp/qp.h"
#include "sim_pair.h"
#include "wire/psn.h"

#define STATES (ROCE_QPS_UD_SQE + 1)

enum packet { /* requests: each as expected, too early, and again */
	SENDS,
	WRITES = 3,
	READS = 6,
	ATOMICS = 9,
	READ_RESPONSES = 12,
	ATOMIC_RESPONSES,
	ACKS,
	RNR_NAKS,
	SEQUENCE_NAKS,
	FATAL_NAKS,
	CNPS,
	DATAGRAMS,
	OTHERS,
	PACKETS,
};
static const char *const names[PACKETS] = {"SEND", "SEND too early", "SEND again", "WRITE",
	"WRITE too early", "WRITE again", "READ", "READ too early", "READ again", "atomic",
	"atomic too early", "atomic again", "READ response", "atomic response", "ACK", "RNR NAK",
	"sequence NAK", "fatal NAK", "CNP", "datagram", "other"};
static const char *const states[STATES] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "ERR", "UD", "UD SQE"};
static uint64_t met[PACKETS][STATES];

static enum packet
answer_of(const struct roce_pkt *pkt)
{
	if (pkt->opcode == ROCE_ATOMIC_ACK)
		return ATOMIC_RESPONSES;
	if (pkt->opcode != ROCE_ACK)
		return READ_RESPONSES;
	if (pkt->syndrome >> 5 == 0)
		return ACKS;
	if (pkt->syndrome >> 5 == 1)
		return RNR_NAKS;
	return pkt->syndrome == ROCE_SYN_NAK_SEQ ? SEQUENCE_NAKS : FATAL_NAKS;
}

static enum packet
request_of(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	int32_t ahead = roce_psn_diff(pkt->psn, qp->recv_psn);
	unsigned when = ahead == 0 ? 0 : ahead > 0 ? 1 : 2;

	if (pkt->opcode == ROCE_READ_REQUEST)
		return READS + when;
	if (pkt->opflags & ROCE_OPF_SEND)
		return SENDS + when;
	if (pkt->opflags & ROCE_OPF_WRITE)
		return WRITES + when;
	return ATOMICS + when;
}

static enum packet
packet_of(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (pkt->opflags & ROCE_OPF_DETH)
		return DATAGRAMS;
	if (pkt->opcode == ROCE_CNP)
		return CNPS;
	if (pkt->opflags & ROCE_OPF_RESPONSE)
		return answer_of(pkt);
	return pkt->opflags & ROCE_OPF_REQUEST ? request_of(qp, pkt) : OTHERS;
}

void
sim_pair_met(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp != NULL)
		met[packet_of(qp, pkt)][qp->state]++;
}

void
sim_pairs_print(void)
{
	sim_table_print(names, PACKETS, states, STATES, met[0]);
}

void
sim_table_print(const char *const *rows, unsigned n_rows, const char *const *columns,
	unsigned n_columns, const uint64_t *of)
{
	printf("%-18s", "");
	for (unsigned c = 0; c < n_columns; c++)
		printf(" %9s", columns[c]);
	for (unsigned r = 0; r < n_rows; r++) {
		printf("\n%-18s", rows[r]);
		for (unsigned c = 0; c < n_columns; c++, of++)
			printf(*of > 0 ? " %9lu" : "         -", (unsigned long)*of);
	}
	printf("\n");
}
