/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for each interface. */
#ifndef SCENARIOS_HPP
#define SCENARIOS_HPP

#include "face.hpp"

/* Two ends that are not connected yet. */
struct Pair {
	std::unique_ptr<End> a, b;
	pid_t daemon_b;		   /* its process, or 0 */
	const char *const *words;  /* what this program was called with */

	/* a connects to b: with "hello", answered by "welcome". */
	void meet(const Words &of_a = "hello", const Words &of_b = "welcome");
	/* The first half of it: a has asked at that address, and b has its request. What a's Connect
	 * has begun. */
	int32_t ask(const sockaddr_in &at, const Words &words = "hello");
	/* And the second: b answers, and a goes on. */
	void answer(int32_t asked, const Words &words = "welcome");
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
/* Until b knows that who asked for a connection has gone. */
void wait_for_the_news(End &b);

/* a's request was refused by b: it fails, the connection is over, and b's receive is canceled. */
void refused(Pair &p, const void *context, const void *receive);

struct Scenario {
	const char *name;
	void (*run)(Pair &p);
};
/* Each ends with name NULL; main.cpp says which face has which, and where they run. */
extern const Scenario of_messages[], of_posts[], of_notices[], of_waiters[], of_windows[],
	of_gifts[], of_regions[], of_rights[], of_connections[], of_handshakes[], of_attempts[],
	of_limits[], of_listeners[], of_backlogs[], of_ends[], of_shared[], of_farewells[],
	of_silences[], of_patience[], of_limits_of_patience[], of_deaths[], of_the_other_process[],
	of_storms[], of_crowds[], of_losses[], of_late_pages[], of_threads[], of_outcomes[],
	of_lost_words[], of_older_peers[], of_overtaken_answers[];

#endif
