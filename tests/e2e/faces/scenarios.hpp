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

/* The next result, which this waits for. */
Result next(End &e);
/* The next result, which is of this request; its status. */
int32_t status_of(End &e, const void *context);
/* The same for a queue that is armed, and stays so. */
int32_t polled(End &e, const void *context);

struct Scenario {
	const char *name;
	void (*run)(Pair &p);
};
extern const Scenario of_messages[], of_windows[], of_connections[]; /* each ends with name NULL */

#endif
