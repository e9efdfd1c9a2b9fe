/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread does that polls in vain. */
#ifndef NDV_IDLE_H
#define NDV_IDLE_H

/* A poll of this thread found nothing. May yield the CPU. */
void ndv_idle_wait(void);
/* It found something. */
void ndv_idle_end(void);

#endif
