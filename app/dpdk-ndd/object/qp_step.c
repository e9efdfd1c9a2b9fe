/* SPDX-License-Identifier: BSD-3-Clause */
#include "object/qp_step.h"

#include <stdio.h>

#include "lcore/call.h"
#include "lcore/shard.h"
#include "object/qp.h"
#include "session/session.h"
#include "shm/ndsh_msg_object.h"

/* What brings a queue pair from INIT to RTR; the rest of a step from INIT to RTS is for RTS. */
#define FOR_RTR                                                                                    \
	(ROCE_QPA_PATH | ROCE_QPA_MTU | ROCE_QPA_DEST_QPN | ROCE_QPA_RQ_PSN |                      \
		ROCE_QPA_MAX_DEST_RD | ROCE_QPA_MIN_RNR | ROCE_QPA_ACCESS | ROCE_QPA_KEEPALIVE)

/* ---- states -------------------------------------------------------------------------------- */

static const enum roce_qp_state uc_states[] = {
	[NDSH_QPS_RESET] = ROCE_QPS_RESET,
	[NDSH_QPS_INIT] = ROCE_QPS_INIT,
	[NDSH_QPS_RTR] = ROCE_QPS_UC_RTR,
	[NDSH_QPS_RTS] = ROCE_QPS_UC_RTS,
	[NDSH_QPS_SQD] = ROCE_QPS_UC_SQD,
	[NDSH_QPS_ERR] = ROCE_QPS_ERR,
	[NDSH_QPS_SQE] = ROCE_QPS_UC_SQE,
};
#define UC_STATES (sizeof(uc_states) / sizeof(uc_states[0]))

enum roce_qp_state
ndd_qp_state_to(bool unreliable, uint32_t state)
{
	if (unreliable)
		return state < UC_STATES ? uc_states[state] : ROCE_QPS_COUNT;
	return state <= NDSH_QPS_ERR ? (enum roce_qp_state)state : ROCE_QPS_COUNT;
}

uint32_t
ndd_qp_state_from(enum roce_qp_state state)
{
	for (uint32_t i = 0; i < UC_STATES; i++)
		if (uc_states[i] == state)
			return i;
	return state;
}

/* ---- words --------------------------------------------------------------------------------- */

static const char *
state_name(uint32_t state)
{
	static const char *const names[] = {
		"RESET", "INIT", "RTR", "RTS", "SQD", "ERROR", [NDSH_QPS_SQE] = "SQE"};

	state = ndd_qp_state_from((enum roce_qp_state)state);
	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "no state";
}

static void
name_attributes(char *to, size_t room, uint32_t mask)
{
	static const char *const names[] = {"access", "path", "path MTU", "peer's QPN",
		"receive PSN", "inbound reads", "RNR timer", "timeout", "retries", "RNR retries",
		"send PSN", "outbound reads", "keepalive"};
	size_t used = 0;

	to[0] = 0;
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]) && used < room; i++)
		if (mask >> i & 1)
			used += (size_t)snprintf(
				to + used, room - used, "%s%s", used > 0 ? ", " : "", names[i]);
}

static enum ndsh_status
verdict_explain(const struct ndd_qp_step *step, enum roce_modify verdict, uint32_t wrong, char *why,
	size_t room)
{
	const char *from = state_name(step->from), *to = state_name(step->to);
	char list[120];

	name_attributes(list, sizeof(list), wrong);
	switch (verdict) {
	case ROCE_MODIFY_OK:
		return NDSH_OK;
	case ROCE_MODIFY_BAD_TRANSITION:
		snprintf(why, room, "no way leads from %s to %s", from, to);
		return NDSH_ERR_INVALID_STATE;
	case ROCE_MODIFY_MISSING_ATTR:
		snprintf(why, room, "%s to %s also needs: %s", from, to, list);
		return NDSH_ERR_ATTRIBUTE_MASK;
	case ROCE_MODIFY_FORBIDDEN_ATTR:
		snprintf(why, room, "%s to %s does not take: %s", from, to, list);
		return NDSH_ERR_ATTRIBUTE_MASK;
	case ROCE_MODIFY_BAD_VALUE:
		snprintf(why, room, "out of range: %s", list);
		return NDSH_ERR_INVALID_PARAMETER;
	case ROCE_MODIFY_DRAINING:
		snprintf(why, room, "the send queue is not yet drained");
		return NDSH_ERR_BUSY;
	case ROCE_MODIFY_DOOR_CLOSED:
		snprintf(why, room,
			"peers at that address used too many wrong keys in this protection domain; "
			"it is closed to them for a while");
		return NDSH_ERR_REFUSED;
	}
	return NDSH_ERR_INTERNAL;
}

/* ---- on the shard -------------------------------------------------------------------------- */

/* From INIT to RTS: by way of RTR. */
static bool
step_is_two(const struct ndd_qp_step *step)
{
	return step->from == ROCE_QPS_INIT &&
	       (step->to == ROCE_QPS_RTS || step->to == ROCE_QPS_UC_RTS);
}

static enum roce_qp_state
step_rtr(const struct ndd_qp_step *step)
{
	return step->to == ROCE_QPS_UC_RTS ? ROCE_QPS_UC_RTR : ROCE_QPS_RTR;
}

static enum roce_modify
step_judge(struct ndd_qp_step *step, uint32_t *wrong)
{
	enum roce_qp_state rtr = step_rtr(step);
	enum roce_modify verdict;

	if (!step_is_two(step))
		return roce_modify_judge(step->from, step->to, step->mask, &step->attr, wrong);
	verdict = roce_modify_judge(ROCE_QPS_INIT, rtr, step->mask & FOR_RTR, &step->attr, wrong);
	if (verdict != ROCE_MODIFY_OK)
		return verdict;
	return roce_modify_judge(
		rtr, step->to, step->mask & ~(uint32_t)FOR_RTR, &step->attr, wrong);
}

struct change {
	struct roce_qp *engine;
	struct ndd_qp_step *step;
	enum roce_modify verdict;
	uint32_t wrong;
	uint32_t psn; /* after RESET: a new first one */
	bool only_judge;
};

static void
on_shard_qp_step(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct change *c = arg;
	struct ndd_qp_step *step = c->step;
	uint32_t mask = step->mask;

	step->from = roce_qp_state_get(c->engine);
	c->verdict = step_judge(step, &c->wrong);
	if (c->verdict != ROCE_MODIFY_OK || c->only_judge)
		return;
	if (step_is_two(step)) {
		c->verdict = roce_qp_modify(shard->engine, c->engine, now_ns, step_rtr(step),
			mask & FOR_RTR, &step->attr);
		mask &= ~(uint32_t)FOR_RTR;
	}
	if (c->verdict == ROCE_MODIFY_OK)
		c->verdict = roce_qp_modify(
			shard->engine, c->engine, now_ns, step->to, mask, &step->attr);
	if (step->to == ROCE_QPS_RESET)
		c->psn = roce_random_psn(shard->engine);
}

static enum ndsh_status
step_carry_out(struct ndd_session *s, struct ndd_qp *qp, struct ndd_qp_step *step, bool only_judge,
	char *why, size_t room)
{
	struct change c = {.engine = qp->engine, .step = step, .only_judge = only_judge};

	ndd_shard_call(s->shard, on_shard_qp_step, &c);
	if (c.verdict == ROCE_MODIFY_OK && step->to == ROCE_QPS_RESET)
		qp->psn = c.psn; /* packets of its life before must not fit */
	return verdict_explain(step, c.verdict, c.wrong, why, room);
}

enum ndsh_status
ndd_qp_step_check(
	struct ndd_session *s, struct ndd_qp *qp, struct ndd_qp_step *step, char *why, size_t room)
{
	return step_carry_out(s, qp, step, true, why, room);
}

enum ndsh_status
ndd_qp_step(
	struct ndd_session *s, struct ndd_qp *qp, struct ndd_qp_step *step, char *why, size_t room)
{
	enum ndsh_status status = step_carry_out(s, qp, step, false, why, room);

	if (status != NDSH_OK)
		return status;
	if (step->to == ROCE_QPS_RESET)
		qp->failed = false;
	if (step->to == ROCE_QPS_ERR) {
		ndd_qp_has_failed(qp);
		if (qp->conn != NULL)
			qp->user->failed(qp->conn);
	}
	qp->by_hand = step->to != ROCE_QPS_INIT && !qp->connected;
	return NDSH_OK;
}
