/* SPDX-License-Identifier: BSD-3-Clause */
/* What verbtest can be asked to do; each ends the program if something is not so. */
#ifndef VERBS_SCENARIOS_H
#define VERBS_SCENARIOS_H

/* devices.c */
void run_devices(void);
/* transfers.c */
void run_contents(void);
void run_immediates(void);
void run_atomics(void);
void run_lists(void);
void run_inline(void);
void run_threads(void);
/* extended.c */
void run_polls(void);
void run_pollers(void);
/* batches.c */
void run_batches(void);
void run_batches_fail(void);
void run_batches_wait(void);
/* datagrams.c */
void run_datagrams(void);
void run_stopped(void);
void run_datagrams_reset(void);
void run_leaving(void);
/* unreliable.c */
void run_unreliable(void);
void run_unreliable_states(void);
/* groups.c */
void run_groups(void);
void run_groups_full(void);
/* crowds.c */
void run_regions(void);
void run_queue_pairs(void);
/* failures.c */
void run_denied(void);
void run_bounds(void);
void run_flush(void);
void run_reset(void);
void run_states(void);
void run_limits(void);
/* domains.c */
void run_domains(void);
void run_numbers(void);
/* iova.c */
void run_iova(void);
void run_iova_bounds(void);
void run_iova_refused(void);
void run_iova_srq(void);
void run_iova_windows(void);
void run_iova_zero_based(void);
/* regions.c */
void run_rereg(void);
/* windows.c */
void run_windows(void);
void run_windows_peer(void);
void run_windows_refused(void);
void run_windows_denied(void);
void run_windows_type_1(void);
void run_windows_batches(void);
/* ends.c */
void run_destroyed(void);
void run_busy(void);
void run_events(void);
void run_async(void);
void run_async_destroyed(void);
void run_established(void);
void run_removed(void);

#endif
