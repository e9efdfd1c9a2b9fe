/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of NDK's dispatch tables, between two daemons, in one process. */
#ifndef KPI_H
#define KPI_H

#include <pthread.h>
#include <stdbool.h>

#include <ndkpi.h>

#include "../want.h"

/* ---- callbacks, as something that a thread can wait for --------------------------------- */

struct told {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count; /* callbacks so far */
	NTSTATUS status;
	NDK_OBJECT_HEADER *object;
};
#define TOLD_INIT                                                                                  \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER             \
	}
void told_done(PVOID told, NTSTATUS status);
void told_created(PVOID told, NTSTATUS status, NDK_OBJECT_HEADER *object);
void told_closed(PVOID told);
/* Of a listener; it tells the connector. */
void told_asked(PVOID told, NDK_CONNECTOR *connector);
unsigned told_count(struct told *t);
/* Wait for the count-th callback; its status. */
NTSTATUS told_wait(struct told *t, unsigned count);

/* What a request came to, inline or later. call has "told_done, &t" in it. */
#define OUTCOME(call)                                                                              \
	({                                                                                         \
		struct told t = TOLD_INIT;                                                         \
		NTSTATUS st = (call);                                                              \
		st == STATUS_PENDING ? told_wait(&t, 1) : st;                                      \
	})
/* Create *out. call has "told_created, &t, out" in it. */
#define CREATE(out, call)                                                                          \
	do {                                                                                       \
		struct told t = TOLD_INIT;                                                         \
		NTSTATUS st = (call);                                                              \
		if (st == STATUS_PENDING) {                                                        \
			st = told_wait(&t, 1);                                                     \
			*(out) = (void *)t.object;                                                 \
		}                                                                                  \
		WANT(STATUS_SUCCESS, st);                                                          \
	} while (0)
/* Close and wait for its end. */
#define CLOSE(object, close)                                                                       \
	do {                                                                                       \
		struct told t = TOLD_INIT;                                                         \
		WANT(STATUS_PENDING,                                                               \
			(object)->Dispatch->close(&(object)->Header, told_closed, &t));            \
		told_wait(&t, 1);                                                                  \
	} while (0)

/* ---- ends of connections ---------------------------------------------------------------- */

/* Where a daemon listens, and an address of it. */
struct place {
	const char *socket;
	struct sockaddr_in address;
};
extern struct place place_a, place_b;
extern int daemon_a; /* its process, or 0 */

NDK_ADAPTER *place_open(const struct place *p);

#define DEPTH 64u
#define BYTES (1u << 20)

/* What one end has. */
struct side {
	const struct place *place;
	NDK_ADAPTER *adapter;
	NDK_PD *pd;
	NDK_CQ *cq;
	NDK_QP *qp;
	NDK_CONNECTOR *connector;
	NDK_LISTENER *listener; /* that connector came by it, or NULL */
	NDK_MR *mr;		/* of all of buffer, with all rights */
	char *buffer;
	struct told notified, gone; /* of cq; the peer disconnected */
};
/* With whatever of it is NULL missing. */
void side_open(struct side *s, const struct place *p);
void side_close(struct side *s);
NDK_QP *side_new_qp(const struct side *s);
NDK_CONNECTOR *side_new_connector(const struct side *s);
NDK_MR *side_new_mr(const struct side *s, BOOLEAN fast);
/* A fast-register region that is initialized. */
NDK_MR *side_new_fast(const struct side *s, ULONG pages, BOOLEAN remote);
NTSTATUS side_register(NDK_MR *mr, PVOID start, SIZE_T bytes, ULONG flags);
NDK_SGE side_sge(const struct side *s, ULONG offset, ULONG bytes);
/* The next result: poll, arm, wait. side_result() wants success, and this context. */
NDK_RESULT_EX side_next(struct side *s);
NDK_RESULT_EX side_result(struct side *s, const void *context, NDK_OPERATION_TYPE type);
void side_receive(const struct side *s, void *context, ULONG offset, ULONG bytes);

/* A listener of b at a port of the daemon's choice, whose address is stored. */
NDK_LISTENER *side_listen(const struct side *b, struct told *asked, struct sockaddr_in *at);
/* a's qp connects to b's; b's connector is made by its listener. */
void side_meet(struct side *a, struct side *b);
/* The same, and event tells a of b's disconnect, instead of a->gone. */
void side_meet_telling(
	struct side *a, struct side *b, NDK_FN_DISCONNECT_EVENT_CALLBACK event, PVOID context);

void objects(void);
void creates(void);
void closes(void);
void blocking(void);
void arguments(void);
void regions(void);
void ordinary_region(void);
void mappings(void);
void mapped(void);
void talk(void);
void private_data(void);
void fast(void);
void local_invalidate(void);
void deferred(void);
void windows(void);
void shared_receives(void);
void endpoints(void);
void pauses(void);
void rejects(void);
void ends(void);
void last_callbacks(void);
void queues(void);
void storm(void);
void deferred_callbacks(void);
void busy_callbacks(void);
void closed_in_callback(void);
void moderated(void);
void intervals(void);
void registers(void);
void silent(void);
void daemon_dies(void);

#endif
