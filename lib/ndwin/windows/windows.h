/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs that include the headers of Windows by their names: all of ndwin.h, and min() and
 * max() unless NOMINMAX is defined, in C++ as functions, since its library has names like these.
 */
#ifndef NDWIN_WINDOWS_H
#define NDWIN_WINDOWS_H

#include <stdlib.h>
#ifdef __cplusplus
#include <type_traits>
#endif

#include "../ndwin.h"

#ifndef __declspec
#define __declspec(attribute)
#endif

#ifndef NOMINMAX
#ifdef __cplusplus
extern "C++" {
template <typename A, typename B>
constexpr typename std::common_type<A, B>::type
min(A a, B b)
{
	return a < b ? a : b;
}
template <typename A, typename B>
constexpr typename std::common_type<A, B>::type
max(A a, B b)
{
	return a < b ? b : a;
}
}
#else
#ifndef min
#define min(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef max
#define max(a, b) ((a) < (b) ? (b) : (a))
#endif
#endif
#endif

#endif
