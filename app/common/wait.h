/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting that a signal can end. */
#ifndef APP_WAIT_H
#define APP_WAIT_H

#include <stdbool.h>

#include <ndclient.h>

/* SIGINT and SIGTERM ask the program to stop; a second one ends it at once. */
void app_catch_signals(void);
bool app_stopping(void);

/*
 * Wait until ov has completed. ND_TIMEOUT: not yet after timeout_ms (-1: for ever); ND_CANCELED:
 * the program is to stop. In both cases ov is still under way, and its object has to be closed
 * before ov may go.
 */
nd_status app_wait(struct nd_overlapped *ov, int timeout_ms);

/* Sleep until cq has a result that was not there before, at most timeout_ms; it may be less. */
void app_cq_sleep(struct nd_cq *cq, int timeout_ms);
/*
 * Take results, sleeping until there is one. Returns their number, 0 after timeout_ms or when the
 * program is to stop, or a negative status.
 */
int32_t app_cq_wait(struct nd_cq *cq, struct nd_result *results, uint32_t n, int timeout_ms);

#endif
