/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for each interface. */
#ifndef SCENARIOS_HPP
#define SCENARIOS_HPP

#include "face.hpp"

/* Two ends that are not connected yet. */
struct Pair {
	std::unique_ptr<End> a, b;

	/* a connects to b: with "hello", answered by "welcome". */
	void meet();
	/* b's window, of its whole buffer, for a. */
	Far open_window(uint32_t flags);
};

/* One end connects to another one, whose requests come to the listener at that address. */
void join(End &active, End &passive, End &listening, const sockaddr_in &at);
/* The next result, which this waits for. */
Result next(End &e);
/* The next result, which is of this request; its status. */
int32_t status_of(End &e, const void *context);
/* The same for a queue that is armed, and stays so. */
int32_t polled(End &e, const void *context);

/* a's request was refused by b: it fails, the connection is over, and b's receive is canceled. */
void refused(Pair &p, const void *context, const void *receive);

struct Scenario {
	const char *name;
	void (*run)(Pair &p);
};
/* Each ends with name NULL; main.cpp says which face has which. */
extern const Scenario of_messages[], of_posts[], of_notices[], of_waiters[], of_windows[],
	of_gifts[], of_regions[], of_rights[], of_connections[], of_handshakes[], of_attempts[],
	of_limits[], of_listeners[], of_backlogs[], of_ends[], of_shared[];

#endif
