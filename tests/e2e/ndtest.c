/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndtest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B [PID_OF_DAEMON_A]
 *
 * Outcomes of libndclient that the programs for people don't show. One process holds both ends of a
 * connection. Exit status 0: the scenario went as it must; 1: a line says what did not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios.h"

#define SECONDS_MAX 120

static const struct {
	const char *name;
	void (*run)(struct pair *p);
} scenarios[] = {
	{"full-cq", scenario_full_cq},
	{"full-cq-daemon-dies", scenario_full_cq_daemon_dies},
	{"full-receive-cq", scenario_full_receive_cq},
	{"grants", scenario_grants},
	{"no-receive", scenario_no_receive},
	{"late-receive", scenario_late_receive},
	{"long-send", scenario_long_send},
	{"wrong-key", scenario_wrong_key},
	{"out-of-bounds", scenario_out_of_bounds},
	{"no-right", scenario_no_right},
	{"dead-key", scenario_dead_key},
	{"region-again", scenario_region_again},
	{"region-cancel", scenario_region_cancel},
	{"many-regions", scenario_many_regions},
	{"region-rights", scenario_region_rights},
	{"region-flags", scenario_region_flags},
	{"read-into-read-only", scenario_read_into_read_only},
	{"atomics", scenario_atomics},
	{"immediates", scenario_immediates},
	{"adopted", scenario_adopted},
	{"adopted-away", scenario_adopted_away},
	{"adopted-default", scenario_adopted_default},
	{"longest", scenario_longest},
	{"memories", scenario_memories},
	{"datagrams", scenario_datagrams},
	{"multicast", scenario_multicast},
	{"services", scenario_services},
	{"lookups", scenario_lookups},
	{"reload-address", scenario_reload_address},
	{"reload-route", scenario_reload_route},
	{"foreign-memory", scenario_foreign_memory},
	{"foreign-rights", scenario_foreign_rights},
	{"foreign-gone", scenario_foreign_gone},
	{"foreign-fork", scenario_foreign_fork},
	{"lost-memory", scenario_lost_memory},
	{"region-domains", scenario_region_domains},
	{"deferred", scenario_deferred},
	{"notify", scenario_notify},
	{"flush", scenario_flush},
	{"flush-connected", scenario_flush_connected},
	{"close-deep", scenario_close_deep},
	{"flush-race", scenario_flush_race},
	{"deep-receives", scenario_deep_receives},
	{"deep-flush", scenario_deep_flush},
	{"deep-srq", scenario_deep_srq},
	{"deep-limits", scenario_deep_limits},
	{"no-listener", scenario_no_listener},
	{"no-neighbour", scenario_no_neighbour},
	{"no-route", scenario_no_route},
	{"reject", scenario_reject},
	{"private-data", scenario_private_data},
	{"port-in-use", scenario_port_in_use},
	{"disconnect", scenario_disconnect},
	{"cancel", scenario_cancel},
	{"cancels", scenario_cancels},
	{"abandoned", scenario_abandoned},
	{"queue-pair-closed", scenario_queue_pair_closed},
	{"closed-while-pending", scenario_closed_while_pending},
	{"cancel-disconnect", scenario_cancel_disconnect},
	{"bind", scenario_bind},
	{"wildcard", scenario_wildcard},
	{"host-ports", scenario_host_ports},
	{"bound-connect", scenario_bound_connect},
	{"port-kept", scenario_port_kept},
	{"listed", scenario_listed},
	{"states", scenario_states},
	{"silent-peer", scenario_silent_peer},
	{"events", scenario_events},
	{"events-queues", scenario_events_queues},
	{"events-srq", scenario_events_srq},
	{"events-watched", scenario_events_watched},
	{"events-daemon-dies", scenario_events_daemon_dies},
	{"numbers", scenario_numbers},
	{"numbers-refused", scenario_numbers_refused},
	{"numbers-taken", scenario_numbers_taken},
	{"keepalive", scenario_keepalive},
	{"keepalive-connection", scenario_keepalive_connection},
	{"read-limits", scenario_read_limits},
	{"one-connection", scenario_one_connection},
	{"vanished", scenario_vanished},
	{"when-asked", scenario_when_asked},
	{"same-adapter", scenario_same_adapter},
	{"crossing", scenario_crossing},
	{"read-rights", scenario_read_rights},
	{"passive-first", scenario_passive_first},
	{"data-first", scenario_data_first},
	{"fatal-first", scenario_fatal_first},
	{"storm", scenario_storm},
	{"any-order", scenario_any_order},
	{"told-first", scenario_told_first},
	{"profiles", scenario_profiles},
	{"broken", scenario_broken},
	{"crossing-ends", scenario_crossing_ends},
	{"closed-while-connected", scenario_closed_while_connected},
	{"last-word", scenario_last_word},
	{"undrained", scenario_undrained},
	{"hands-off", scenario_hands_off},
	{"hands-off-given-up", scenario_hands_off_given_up},
	{"adapters", scenario_adapters},
	{"bound-listener", scenario_bound_listener},
	{"bound-and-left", scenario_bound_and_left},
	{"listener-calls", scenario_listener_calls},
	{"listener-closes", scenario_listener_closes},
	{"listener-pends", scenario_listener_pends},
	{"shared-endpoint", scenario_shared_endpoint},
	{"process-dies", scenario_process_dies},
	{"daemon-dies", scenario_daemon_dies},
	{"device-removed", scenario_device_removed},
	{"fork", scenario_fork},
	{"hold", scenario_hold},
	{"port", scenario_port},
	{"port-daemon-dies", scenario_port_daemon_dies},
	{"callbacks", scenario_callbacks},
	{"callback-daemon-dies", scenario_callback_daemon_dies},
	{"srq", scenario_srq},
	{"srq-empty", scenario_srq_empty},
	{"srq-notify", scenario_srq_notify},
	{"srq-callback", scenario_srq_callback},
	{"resize", scenario_resize},
	{"resize-load", scenario_resize_load},
	{"affinity", scenario_affinity},
	{"fast-register", scenario_fast_register},
	{"fast-register-inline", scenario_fast_register_inline},
	{"fast-register-fails", scenario_fast_register_fails},
	{"fast-register-ends", scenario_fast_register_ends},
	{"read-local-invalidate", scenario_read_local_invalidate},
	{"privileged-token", scenario_privileged_token},
	{"window", scenario_window},
	{"window-refuses", scenario_window_refuses},
	{"window-not-local", scenario_window_not_local},
	{"window-misuse", scenario_window_misuse},
	{"window-rebind", scenario_window_rebind},
	{"window-of-another", scenario_window_of_another},
	{"window-busy", scenario_window_busy},
	{"window-region-closed", scenario_window_region_closed},
	{"window-region-left", scenario_window_region_left},
	{"window-ends", scenario_window_ends},
	{"window-limit", scenario_window_limit},
	{"invalidated", scenario_invalidated},
	{"invalidate-under-way", scenario_invalidate_under_way},
	{"invalidate-unbound", scenario_invalidate_unbound},
	{"remote-invalidate", scenario_remote_invalidate},
	{"remote-invalidate-then-write", scenario_remote_invalidate_then_write},
	{"remote-invalidate-first", scenario_remote_invalidate_first},
	{"remote-invalidate-bad-token", scenario_remote_invalidate_bad_token},
	{"remote-invalidate-solicited", scenario_remote_invalidate_solicited},
	{"stranger-invalidates", scenario_stranger_invalidates},
	{"stranger-is-invalidated", scenario_stranger_is_invalidated},
	{"stranger-does-atomics", scenario_stranger_does_atomics},
	{"stranger-has-atomics", scenario_stranger_has_atomics},
	{"stranger-immediates", scenario_stranger_immediates},
	{"stranger-by-numbers", scenario_stranger_by_numbers},
};

int
main(int argc, char **argv)
{
	struct pair p = {.a.name = "a", .b.name = "b"};

	if (argc < 6) {
		fprintf(stderr,
			"usage: ndtest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B [PID]\n");
		return 2;
	}
	alarm(SECONDS_MAX); /* a hang is a failure, also without a runner */
	side_address(&p.a, argv[2], argv[3]);
	side_address(&p.b, argv[4], argv[5]);
	p.daemon_a = argc > 6 ? atoi(argv[6]) : 0;
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (strcmp(scenarios[i].name, argv[1]) == 0) {
			scenarios[i].run(&p);
			printf("%s: as it must be\n", argv[1]);
			return 0;
		}
	}
	fprintf(stderr, "ndtest: no scenario %s\n", argv[1]);
	return 2;
}
