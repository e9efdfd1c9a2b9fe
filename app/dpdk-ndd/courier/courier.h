/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A courier: the thread that makes the system calls on files whose other end a principal's clients
 * have. As a part of such a call the kernel goes through all that wait for the file, and one poll()
 * may wait 1,048,576 times; or it waits for a lock that a client's thread holds while it does the
 * same. That is milliseconds up to seconds, which no lcore may spend. A principal has a courier of
 * its own, so it keeps nobody waiting but itself.
 *
 * Other threads give a courier errands, and it gives the control thread news, without a lock and
 * without waiting.
 */
#ifndef NDD_COURIER_H
#define NDD_COURIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "courier/stack.h"

struct ndd_arrears;
struct ndd_courier;
struct ndd_errand;
struct ndd_wakeup;

#define NDD_COURIER_NAME  "ndd-courier" /* of its thread */
#define NDD_COURIER_FILES 2u		/* that it has open itself */

/* All couriers of the daemon. */
struct ndd_couriers {
	uint32_t running;
	uint32_t ending;	    /* things that have their last errand; the control thread's */
	struct ndd_stacked *told;   /* errands that have news for the control thread */
	struct ndd_wakeup *control; /* wakes it for them; may be NULL */
	struct ndd_courier *local;  /* the control thread itself, for principals that it trusts */
};

/* By the control thread. The courier goes on where the principal's last one left off: arrears,
 * which must not move while any courier runs, or NULL, if nothing is kept. Returns NULL without
 * memory, a descriptor or a thread; errno. */
struct ndd_courier *ndd_courier_start(struct ndd_couriers *all, struct ndd_arrears *arrears);
/* It ends when it has run the errands that it was given. */
void ndd_courier_release(struct ndd_courier *c);
/* Waits until all that were released have ended, but no longer than ns. False: some have not. */
bool ndd_couriers_wait(const struct ndd_couriers *all, uint64_t ns);

/* By the control thread: the one that has no thread. What is asked of it is done at once, in the
 * call, and for its files the control thread calls ndd_courier_serve() when ndd_courier_fd() is
 * readable. NULL: no memory, or no descriptor. */
struct ndd_courier *ndd_courier_start_local(struct ndd_couriers *all);
struct ndd_courier *ndd_courier_local(const struct ndd_courier *c); /* of those that c is one of */
int ndd_courier_fd(const struct ndd_courier *c);
void ndd_courier_serve(struct ndd_courier *c);
/* It has no errands any more. May be NULL. */
void ndd_courier_free_local(struct ndd_courier *c);

/* What a courier has to do something about: the first member of the thing itself, which is of
 * malloc(). */
struct ndd_errand {
	struct ndd_stacked given, news; /* places in stacks; given is the first member */
	struct ndd_courier *courier;
	/* On the courier: asked says what for. */
	void (*run)(struct ndd_errand *e, uint32_t asked);
	/* On the control thread: the courier has told this. May be NULL. */
	void (*hear)(struct ndd_errand *e, uint32_t told);
	/* On the control thread, when the thing is freed: tells what paid for its file. */
	void (*closed)(void *owner);
	void *owner;
	uint32_t asked; /* bits; the highest is not its kind's; 0: it is not given */
	uint32_t told;	/* the same, of what it has told */
};
/* By any thread, for as long as no errand that ends the thing was asked for: the courier runs it
 * soon, once for all bits that were asked for before. */
void ndd_errand_ask(struct ndd_errand *e, uint32_t bits);
#define NDD_ERRAND_GONE (1u << 30) /* the client is: does not wait until the courier has rested */
/* By the courier, in an errand: has it taken long, so that the rest of it should be asked again? */
bool ndd_errand_takes_long(const struct ndd_errand *e);
/* By the courier, in an errand: hear() gets these bits soon, once for all that were told before. */
void ndd_errand_tell(struct ndd_errand *e, uint32_t bits);
/* By the control thread: the thing's last errand. Its file is closed, then it is freed, then
 * closed(owner) is called; closed may be NULL. */
void ndd_errand_ask_last(
	struct ndd_errand *e, uint32_t bits, void (*closed)(void *owner), void *owner);
/* By the courier, at the end of the thing's last errand: its file is closed, and the control thread
 * has it again. */
void ndd_errand_done(struct ndd_errand *e);
/* By the courier, in an errand: what it could not do now is asked for again, a millisecond later.
 * Its other errands wait as well. Not of the local one. */
void ndd_errand_ask_later(struct ndd_errand *e, uint32_t bits);

/* By the control thread: hear what couriers have told, and free what they are through with. */
void ndd_couriers_collect(struct ndd_couriers *all);
static inline bool
ndd_couriers_are_quiet(const struct ndd_couriers *all)
{
	return __atomic_load_n(&all->told, __ATOMIC_RELAXED) == NULL;
}

/* A file of an errand's that its courier watches: it runs the errand with this bit on each edge. */
struct ndd_courier_file {
	struct ndd_errand *errand;
	int fd;
	uint32_t bit;
};
/* By the courier, in an errand. False: the kernel refuses. */
bool ndd_courier_watch(struct ndd_courier_file *f, uint32_t events);
/* Other events; those that are there already are an edge. */
void ndd_courier_watch_for(struct ndd_courier_file *f, uint32_t events);
void ndd_courier_unwatch(const struct ndd_courier_file *f);

#endif
