/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A courier: the thread that makes the system calls on files whose other end a principal's clients
 * have. As a part of such a call the kernel goes through all that wait for the file, and one poll()
 * may wait 1,048,576 times; or it waits for a lock that a client's thread holds while it does the
 * same. That is milliseconds up to seconds, which no lcore may spend. A principal has a courier of
 * its own, so it keeps nobody waiting but itself.
 *
 * Other threads give a courier errands, without a lock and without waiting.
 */
#ifndef NDD_COURIER_H
#define NDD_COURIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ndd_courier;
struct ndd_errand;
struct ndd_wakeup;

#define NDD_COURIER_NAME  "ndd-courier" /* of its thread */
#define NDD_COURIER_FILES 2u		/* that it has open itself */

/* All couriers of the daemon. */
struct ndd_couriers {
	uint32_t running;
	uint32_t ending;	    /* things that have their last errand; the control thread's */
	struct ndd_errand *done;    /* a stack: what they are through with */
	struct ndd_wakeup *control; /* wakes the control thread for it; may be NULL */
};

/* By the control thread. NULL: no memory, no descriptor, or no thread; errno. */
struct ndd_courier *ndd_courier_start(struct ndd_couriers *all);
/* It ends when it has run the errands that it was given. */
void ndd_courier_release(struct ndd_courier *c);
/* Waits until all that were released have ended, but no longer than ns. False: some have not. */
bool ndd_couriers_wait(const struct ndd_couriers *all, uint64_t ns);

/* What a courier has to do something about: the first member of the thing itself, which is of
 * malloc(). */
struct ndd_errand {
	struct ndd_courier *courier;
	/* On the courier: asked says what for. */
	void (*run)(struct ndd_errand *e, uint32_t asked);
	/* On the control thread, when the thing is freed: tells what paid for its file. */
	void (*closed)(void *owner);
	void *owner;
	struct ndd_errand *next;
	uint32_t asked; /* bits of its kind's; 0: it is not among the courier's errands */
};
/* By any thread, for as long as no errand that ends the thing was asked for: the courier runs it
 * soon, once for all bits that were asked for before. */
void ndd_errand_ask(struct ndd_errand *e, uint32_t bits);

#define NDD_ERRAND_READY 1u /* of a file that is watched; other bits are the kind's */

/* By the courier, in an errand: run it with NDD_ERRAND_READY on each edge of these events of fd.
 * False: the kernel refuses. */
bool ndd_courier_watch(struct ndd_errand *e, int fd, uint32_t events);
void ndd_courier_unwatch(struct ndd_errand *e, int fd);
/* By the control thread: the thing's last errand. Its file is closed, then it is freed, then
 * closed(owner) is called; closed may be NULL. */
void ndd_errand_ask_last(
	struct ndd_errand *e, uint32_t bits, void (*closed)(void *owner), void *owner);
/* By the courier, at the end of the thing's last errand: its file is closed, and the control thread
 * has it again. */
void ndd_errand_done(struct ndd_errand *e);
/* By the control thread: free what couriers are through with. */
void ndd_couriers_collect(struct ndd_couriers *all);
static inline bool
ndd_couriers_are_quiet(const struct ndd_couriers *all)
{
	return __atomic_load_n(&all->done, __ATOMIC_RELAXED) == NULL;
}
/* By the courier, in an errand: what it could not do now is asked for again, a millisecond later.
 * Its other errands wait as well. */
void ndd_errand_ask_later(struct ndd_errand *e, uint32_t bits);

#endif
