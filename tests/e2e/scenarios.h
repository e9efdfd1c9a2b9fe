/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef E2E_SCENARIOS_H
#define E2E_SCENARIOS_H

#include "pair.h"

/* Each returns if all went as it must; see the functions for what that is. */

/* requests.c */
void scenario_full_cq(struct pair *p);
void scenario_full_cq_daemon_dies(struct pair *p);
void scenario_full_receive_cq(struct pair *p);
void scenario_grants(struct pair *p);
void scenario_no_receive(struct pair *p);
void scenario_late_receive(struct pair *p);
void scenario_long_send(struct pair *p);
void scenario_wrong_key(struct pair *p);
void scenario_out_of_bounds(struct pair *p);
void scenario_no_right(struct pair *p);
void scenario_dead_key(struct pair *p);
void scenario_region_again(struct pair *p);
void scenario_region_cancel(struct pair *p);
void scenario_many_regions(struct pair *p);
void scenario_region_rights(struct pair *p);
void scenario_region_flags(struct pair *p);
void scenario_read_into_read_only(struct pair *p);
void scenario_notify(struct pair *p);

/* immediates.c */
void scenario_immediates(struct pair *p);

/* atomics.c */
void scenario_atomics(struct pair *p);

/* adopted.c */
void scenario_adopted(struct pair *p);

/* adopted_away.c */
void scenario_adopted_away(struct pair *p);
/* adopted_default.c */
void scenario_adopted_default(struct pair *p);

/* longest.c */
void scenario_longest(struct pair *p);

/* memories.c */
void scenario_memories(struct pair *p);

/* datagrams.c */
void scenario_datagrams(struct pair *p);
void scenario_multicast(struct pair *p);
void scenario_services(struct pair *p);
void scenario_lookups(struct pair *p);

/* reloads.c */
void scenario_reload_address(struct pair *p);
void scenario_reload_route(struct pair *p);

/* foreign.c */
void scenario_foreign_memory(struct pair *p);
void scenario_foreign_rights(struct pair *p);
void scenario_foreign_gone(struct pair *p);
void scenario_foreign_fork(struct pair *p);

/* lost.c */
void scenario_lost_memory(struct pair *p);

/* posts.c */
void scenario_region_domains(struct pair *p);
void scenario_deferred(struct pair *p);

/* flush.c */
void scenario_flush(struct pair *p);
void scenario_flush_connected(struct pair *p);
void scenario_close_deep(struct pair *p);
void scenario_flush_race(struct pair *p);

/* depths.c */
void scenario_deep_receives(struct pair *p);
void scenario_deep_flush(struct pair *p);
void scenario_deep_srq(struct pair *p);
void scenario_deep_limits(struct pair *p);

/* cancels.c */
void scenario_cancels(struct pair *p);
void scenario_abandoned(struct pair *p);
void scenario_queue_pair_closed(struct pair *p);
void scenario_closed_while_pending(struct pair *p);
void scenario_cancel_disconnect(struct pair *p);

/* connections.c */
void scenario_no_listener(struct pair *p);
void scenario_no_neighbour(struct pair *p);
void scenario_no_route(struct pair *p);
void scenario_reject(struct pair *p);
void scenario_private_data(struct pair *p);
void scenario_port_in_use(struct pair *p);
void scenario_disconnect(struct pair *p);
void scenario_cancel(struct pair *p);

/* adapters.c */
void scenario_adapters(struct pair *p);

/* bound.c */
void scenario_bound_listener(struct pair *p);
void scenario_bound_and_left(struct pair *p);

/* addresses.c */
void scenario_bind(struct pair *p);
void scenario_wildcard(struct pair *p);
void scenario_host_ports(struct pair *p);
void scenario_bound_connect(struct pair *p);
void scenario_port_kept(struct pair *p);
void scenario_listed(struct pair *p);

/* states.c */
void scenario_states(struct pair *p);
void scenario_silent_peer(struct pair *p);

/* numbers.c */
void scenario_numbers(struct pair *p);
void scenario_numbers_refused(struct pair *p);
void scenario_numbers_taken(struct pair *p);
void scenario_keepalive(struct pair *p);
void scenario_keepalive_connection(struct pair *p);

/* events.c */
void scenario_events(struct pair *p);
void scenario_events_queues(struct pair *p);
void scenario_events_srq(struct pair *p);
void scenario_events_watched(struct pair *p);
void scenario_events_daemon_dies(struct pair *p);

/* peers.c */
void scenario_read_limits(struct pair *p);
void scenario_one_connection(struct pair *p);
void scenario_vanished(struct pair *p);
void scenario_when_asked(struct pair *p);
void scenario_same_adapter(struct pair *p);
void scenario_crossing(struct pair *p);

/* starts.c */
void scenario_read_rights(struct pair *p);
void scenario_passive_first(struct pair *p);
void scenario_data_first(struct pair *p);
void scenario_fatal_first(struct pair *p);
void scenario_storm(struct pair *p);

/* farewells.c */
void scenario_any_order(struct pair *p);
void scenario_told_first(struct pair *p);
void scenario_profiles(struct pair *p);
void scenario_broken(struct pair *p);
void scenario_crossing_ends(struct pair *p);
void scenario_closed_while_connected(struct pair *p);
void scenario_last_word(struct pair *p);
void scenario_undrained(struct pair *p);
void scenario_hands_off(struct pair *p);
void scenario_hands_off_given_up(struct pair *p);

/* listeners.c */
void scenario_listener_calls(struct pair *p);
void scenario_listener_closes(struct pair *p);
void scenario_listener_pends(struct pair *p);
void scenario_shared_endpoint(struct pair *p);

/* deaths.c */
void scenario_process_dies(struct pair *p);
void scenario_daemon_dies(struct pair *p);

/* endings.c */
void scenario_device_removed(struct pair *p);
void scenario_fork(struct pair *p);
void scenario_hold(struct pair *p);

/* ports.c */
void scenario_port(struct pair *p);
void scenario_port_daemon_dies(struct pair *p);

/* callbacks.c */
void scenario_callbacks(struct pair *p);
void scenario_callback_daemon_dies(struct pair *p);

/* srq.c */
void scenario_srq(struct pair *p);
void scenario_srq_empty(struct pair *p);
void scenario_srq_notify(struct pair *p);
void scenario_srq_callback(struct pair *p);

/* resize.c */
void scenario_resize(struct pair *p);
void scenario_resize_load(struct pair *p);
void scenario_affinity(struct pair *p);

/* fast.c */
void scenario_fast_register(struct pair *p);
void scenario_fast_register_inline(struct pair *p);
void scenario_fast_register_fails(struct pair *p);
void scenario_fast_register_ends(struct pair *p);
void scenario_read_local_invalidate(struct pair *p);
void scenario_privileged_token(struct pair *p);

/* windows.c */
void scenario_window(struct pair *p);
void scenario_window_refuses(struct pair *p);
void scenario_window_not_local(struct pair *p);
void scenario_window_misuse(struct pair *p);
void scenario_window_rebind(struct pair *p);
void scenario_window_of_another(struct pair *p);
void scenario_window_busy(struct pair *p);
void scenario_window_region_closed(struct pair *p);
void scenario_window_region_left(struct pair *p);
void scenario_window_ends(struct pair *p);
void scenario_window_limit(struct pair *p);

/* invalidations.c */
void scenario_invalidated(struct pair *p);
void scenario_invalidate_under_way(struct pair *p);
void scenario_invalidate_unbound(struct pair *p);
void scenario_remote_invalidate(struct pair *p);
void scenario_remote_invalidate_then_write(struct pair *p);
void scenario_remote_invalidate_first(struct pair *p);
void scenario_remote_invalidate_bad_token(struct pair *p);
void scenario_remote_invalidate_solicited(struct pair *p);

/* stranger_windows.c, stranger_ops.c, stranger_numbers.c */
void scenario_stranger_invalidates(struct pair *p);
void scenario_stranger_is_invalidated(struct pair *p);
void scenario_stranger_does_atomics(struct pair *p);
void scenario_stranger_has_atomics(struct pair *p);
void scenario_stranger_immediates(struct pair *p);
void scenario_stranger_by_numbers(struct pair *p);

#endif
