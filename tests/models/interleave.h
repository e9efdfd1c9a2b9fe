/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real code under x86-TSO. A test includes this header, then the .c files it wants to look at:
 * their atomic built-ins become calls that yield to a scheduler, and stores wait in a buffer of
 * their thread until the scheduler flushes them. Two coroutines stand for two processors. Every
 * choice comes from a seed. Unlike a model of the code, this notices what is changed in the code.
 */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

uint64_t il_load(const volatile void *p, size_t n);
void il_store(volatile void *p, uint64_t v, size_t n);
/* Locked instructions: the own buffer is empty first. They return what was there. */
uint64_t il_exchange(volatile void *p, uint64_t v, size_t n);
uint64_t il_or(volatile void *p, uint64_t v, size_t n);
bool il_swap(volatile void *p, void *expected, uint64_t v, size_t n);

/* Run both to their end, or until neither can go on. Outside of a run accesses are immediate. */
void il_run(uint64_t seed, void (*first)(void *), void (*second)(void *), void *arg);
/* In a coroutine: sleep until *wake is not 0 (a word of no buffer, like a pipe), and clear it. */
void il_sleep(int *wake);
/* In a coroutine: let the other one go on. */
void il_yield(void);

#define __atomic_load_n(p, order)     ((__typeof__(*(p)))il_load(p, sizeof(*(p))))
#define __atomic_store_n(p, v, order) il_store(p, (uint64_t)(v), sizeof(*(p)))
#define __atomic_exchange_n(p, v, order)                                                           \
	((__typeof__(*(p)))il_exchange(p, (uint64_t)(v), sizeof(*(p))))
#define __atomic_fetch_or(p, v, order) ((__typeof__(*(p)))il_or(p, (uint64_t)(v), sizeof(*(p))))
#define __atomic_compare_exchange_n(p, expected, v, weak, success, failure)                        \
	il_swap(p, expected, (uint64_t)(v), sizeof(*(p)))

#endif
