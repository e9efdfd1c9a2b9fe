/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invariants of the connection manager: what always holds between two calls. Each connection is in
 * the tables and queues that its state asks for, and in no other; a deadline is set exactly in the
 * states that wait; what is counted is there.
 */
#ifndef CM_CHECK_H
#define CM_CHECK_H

struct roce_cm;

/* All of it; NULL, or the first complaint. Takes time in proportion to the connections. */
const char *roce_cm_check(const struct roce_cm *cm);

/* All connections of a small CM, and now and then all of it; of a large one, some connections. */
const char *cm_check_some(struct roce_cm *cm);

#ifdef ROCE_CHECKS
#include <assert.h>
#define cm_assert_sound(cm) assert(cm_check_some(cm) == NULL)
#else
#define cm_assert_sound(cm) (void)(cm)
#endif

#endif
