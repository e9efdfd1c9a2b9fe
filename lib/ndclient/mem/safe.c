/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange of pages must lose nothing of a program that knows nothing of it
 * (doc/design-notes/adopted-memory.md). What this process can see decides, in the moment; what it
 * can't see counts against it.
 */
#include "ndclient/mem/advice.h"
#include "ndclient/mem/pins.h"
#include "ndclient/mem/safe.h"
#include "ndclient/session/thread.h"

/* A thread may be in a system call that stores there, with any descriptor that it has. */
static bool
threads_are_harmless(bool of_kernel, bool *others)
{
	enum nd_other_threads found = nd_threads_look();

	*others = found != ND_OTHERS_NONE;
	return found == ND_OTHERS_NONE || (found == ND_OTHERS_SHARING && of_kernel);
}

enum nd_adopt_reason
nd_safe_look(const void *at, size_t bytes, bool of_kernel, struct nd_safe_found *found)
{
	enum nd_advice advice;

	*found = (struct nd_safe_found){0};
	if (!threads_are_harmless(of_kernel, &found->others))
		return ND_ADOPT_THREADS;
	if (nd_pins_possible(found->others))
		return ND_ADOPT_PINS;
	advice = nd_advice_of(at, bytes);
	found->dear = advice == ND_ADVICE_TOO_DEAR;
	return advice == ND_ADVICE_NONE ? ND_ADOPT_REASONS : ND_ADOPT_ADVICE;
}

bool
nd_safe_to_return(bool of_kernel, bool *others)
{
	return threads_are_harmless(of_kernel, others) && !nd_pins_possible(*others);
}
