/* SPDX-License-Identifier: BSD-3-Clause */
/* verbtest SCENARIO: rules of verbs that programs of others do not look at. Linked against the
 * distribution's library, as any program. */
#include "choose.h"
#include "scenarios.h"

static const struct scenario scenarios[] = {
	{"devices", run_devices},
	{"contents", run_contents},
	{"immediates", run_immediates},
	{"atomics", run_atomics},
	{"lists", run_lists},
	{"inline", run_inline},
	{"threads", run_threads},
	{"polls", run_polls},
	{"pollers", run_pollers},
	{"batches", run_batches},
	{"batches-fail", run_batches_fail},
	{"batches-wait", run_batches_wait},
	{"datagrams", run_datagrams},
	{"unreliable", run_unreliable},
	{"unreliable-states", run_unreliable_states},
	{"stopped", run_stopped},
	{"datagrams-reset", run_datagrams_reset},
	{"leaving", run_leaving},
	{"groups", run_groups},
	{"groups-full", run_groups_full},
	{"rereg", run_rereg},
	{"iova", run_iova},
	{"iova-bounds", run_iova_bounds},
	{"iova-refused", run_iova_refused},
	{"iova-srq", run_iova_srq},
	{"iova-windows", run_iova_windows},
	{"iova-zero-based", run_iova_zero_based},
	{"domains", run_domains},
	{"numbers", run_numbers},
	{"regions", run_regions},
	{"queue_pairs", run_queue_pairs},
	{"denied", run_denied},
	{"bounds", run_bounds},
	{"flush", run_flush},
	{"reset", run_reset},
	{"states", run_states},
	{"limits", run_limits},
	{"windows", run_windows},
	{"windows-peer", run_windows_peer},
	{"windows-refused", run_windows_refused},
	{"windows-denied", run_windows_denied},
	{"windows-type-1", run_windows_type_1},
	{"windows-batches", run_windows_batches},
	{"destroyed", run_destroyed},
	{"busy", run_busy},
	{"events", run_events},
	{"async", run_async},
	{"async-destroyed", run_async_destroyed},
	{"established", run_established},
	{"removed", run_removed},
};

int
main(int argc, char **argv)
{
	return choose_scenario(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
