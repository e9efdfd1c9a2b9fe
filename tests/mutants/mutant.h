/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the mutated sources call. Every mutant is in the build; mutant_number says which one is
 * alive, 0 none. A mutant is reached when its code ran and would have made a difference there: a
 * condition that is forced true is reached when it was false.
 */
#ifndef MUTANT_H
#define MUTANT_H

#include <stdbool.h>

/* In place of lib/base/compiler.h: functions instead of macros, whose arguments can be mutated. */
#define BASE_COMPILER_H
#define BASE_INLINE __attribute__((always_inline)) static inline
static inline bool
base_likely(bool x)
{
	return x;
}
static inline bool
base_unlikely(bool x)
{
	return x;
}

extern unsigned mutant_number;
extern unsigned char *mutant_reached; /* [number]; NULL: not recorded */
void mutant_record(const char *file); /* from now on, in the file, with a byte for each number */

static inline bool
mutant(unsigned number)
{
	if (__builtin_expect(mutant_reached != 0, 0))
		mutant_reached[number] = 1;
	return __builtin_expect(number == mutant_number, 0);
}

/* Numbers that are 0 are no mutants. */
static inline bool
mutant_bool(unsigned forced_true, unsigned forced_false, bool x)
{
	if (x)
		return !(forced_false != 0 && mutant(forced_false));
	return forced_true != 0 && mutant(forced_true);
}

static inline bool
mutant_either(unsigned one, unsigned other, bool x, bool of_one, bool of_other)
{
	if (one != 0 && of_one != x && mutant(one))
		return of_one;
	if (other != 0 && of_other != x && mutant(other))
		return of_other;
	return x;
}

/* The value of a switch: a label whose mutant is alive is matched by no value. */
static inline long long
mutant_case(long long x, const unsigned *numbers, const long long *labels, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (labels[i] == x && mutant(numbers[i]))
			return -0x7654321fedcba;
	return x;
}

#define MUTANT_COMPARED(x, y, one, other, is, of_one, of_other)                                    \
	({                                                                                         \
		__auto_type mutant_x = +(x);                                                       \
		__auto_type mutant_y = +(y);                                                       \
		mutant_either(one, other, mutant_x is mutant_y, of_one, of_other);                 \
	})
/* One value less passes, or one more. */
#define MUTANT_LT(tight, loose, x, y)                                                              \
	MUTANT_COMPARED(x, y, tight, loose, <, mutant_x < mutant_y && mutant_x + 1 != mutant_y,    \
		mutant_x <= mutant_y)
#define MUTANT_LE(tight, loose, x, y)                                                              \
	MUTANT_COMPARED(x, y, tight, loose, <=, mutant_x < mutant_y,                               \
		mutant_x <= mutant_y || mutant_x - 1 == mutant_y)
#define MUTANT_GT(tight, loose, x, y)                                                              \
	MUTANT_COMPARED(x, y, tight, loose, >, mutant_x > mutant_y && mutant_x - 1 != mutant_y,    \
		mutant_x >= mutant_y)
#define MUTANT_GE(tight, loose, x, y)                                                              \
	MUTANT_COMPARED(x, y, tight, loose, >=, mutant_x > mutant_y,                               \
		mutant_x >= mutant_y || mutant_x + 1 == mutant_y)
/* Of a state, a status: all that are beyond it, too. */
#define MUTANT_EQ(below, above, x, y)                                                              \
	MUTANT_COMPARED(x, y, below, above, ==, mutant_x <= mutant_y, mutant_x >= mutant_y)
#define MUTANT_NE(below, above, x, y)                                                              \
	MUTANT_COMPARED(x, y, below, above, !=, mutant_x > mutant_y, mutant_x < mutant_y)

#endif
