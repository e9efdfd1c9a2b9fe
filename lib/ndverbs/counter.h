/* SPDX-License-Identifier: BSD-3-Clause */
/* A descriptor that counts (eventfd with EFD_SEMAPHORE), and may be made non-blocking by the
 * program that has it. */
#ifndef NDV_COUNTER_H
#define NDV_COUNTER_H

#include <stdbool.h>

void ndv_counter_up(int fd);
/* One less; waits for one, unless the program has made it non-blocking. false: errno says why. */
bool ndv_counter_down(int fd);
/* One less, if there is one: true. */
bool ndv_counter_try(int fd);

#endif
