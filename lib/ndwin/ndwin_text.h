/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndwin: what programs with wide strings (UNICODE) need of C's library, as Windows has it. They
 * get it by <tchar.h>. Wide strings become narrow ones in the locale that the program has set;
 * characters that it does not have are errors (-1, NULL), as they are for printf().
 */
#ifndef NDWIN_TEXT_H
#define NDWIN_TEXT_H

#include <stdio.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * wprintf() of Windows: %s and %c are wide, %hs, %S and %hc narrow; I64, I32 and I are lengths,
 * of 64 and 32 bits, and of a size_t. The stream stays one of bytes, so printf() may be used
 * beside it. -1 also for a conversion that the format breaks off.
 */
int ndwin_wprintf(const wchar_t *format, ...);
/* freopen(), with wide names. */
FILE *ndwin_wfreopen(const wchar_t *path, const wchar_t *mode, FILE *stream);
/*
 * Call a main function with wide arguments; its result. They last until the process ends. -1: there
 * is no memory, or the locale cannot read them.
 */
int ndwin_wmain(int argc, char **argv, int (*wide_main)(int argc, wchar_t **argv));

#ifdef __cplusplus
}
#endif

#endif
