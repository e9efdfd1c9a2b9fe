/* SPDX-License-Identifier: BSD-3-Clause */
/* One deadline per connection, and what the timeout codes of the CM mean. */
#ifndef CM_TIMER_H
#define CM_TIMER_H

#include <stdint.h>

struct roce_cm;
struct roce_cm_conn;

#define CM_MS		   1000000ull
#define CM_SERVICE_TIMEOUT 24u /* the code in our MRA (W-CM-50), and the longest that we accept */

void cm_timer_set(struct roce_cm *cm, struct roce_cm_conn *c, uint64_t deadline_ns);
void cm_timer_cancel(struct roce_cm *cm, struct roce_cm_conn *c);

/* A CM timeout code in ns. */
uint64_t cm_code_ns(uint32_t code);
uint64_t cm_timewait_ns(uint8_t ack_timeout);

#endif
