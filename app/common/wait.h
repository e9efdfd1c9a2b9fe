/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits that a signal can end. */
#ifndef APP_WAIT_H
#define APP_WAIT_H

#include <stdbool.h>

#include <ndclient.h>

/* From now on SIGINT and SIGTERM ask the program to stop; a second signal kills it. */
void app_catch_signals(void);
bool app_stopping(void);

/*
 * Wait until ov has completed. ND_TIMEOUT: it has not after timeout_ms (-1: for ever); ND_CANCELED:
 * a signal asks the program to stop. In both cases ov is still under way, and its object must be
 * closed before the memory of ov may be reused.
 */
nd_status app_wait(struct nd_overlapped *ov, int timeout_ms);

/* Sleep until cq has a new result, at most for timeout_ms; the sleep may end early without one. */
void app_cq_sleep(struct nd_cq *cq, int timeout_ms);
/*
 * Take up to n results; sleep until there is one. Returns their number, 0 after timeout_ms or when
 * a signal asks the program to stop, or a negative status.
 */
int32_t app_cq_wait(struct nd_cq *cq, struct nd_result *results, uint32_t n, int timeout_ms);

#endif
