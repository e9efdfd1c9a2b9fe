/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCHAR, which is WCHAR if UNICODE or _UNICODE is defined, and CHAR if not. With it a program has
 * the wprintf() of Windows (ndwin_text.h).
 */
#ifndef NDWIN_TCHAR_H
#define NDWIN_TCHAR_H

#ifdef __cplusplus
#include <cwchar> /* which undefines wprintf, so it comes first */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <wchar.h>

#include "../ndwin_text.h"
#include "../ndwin_types.h"

#define wprintf	     ndwin_wprintf
#define _wcsicmp     wcscasecmp
#define _fcloseall() fcloseall()

#ifdef __cplusplus
template <size_t room>
inline int
wcscpy_s(wchar_t (&to)[room], const wchar_t *from)
{
	if (wcslen(from) >= room)
		abort(); /* as there, where it is a bug of the program */
	wcscpy(to, from);
	return 0;
}
#endif

#if defined(UNICODE) || defined(_UNICODE)
typedef WCHAR TCHAR, *LPTSTR;
typedef const WCHAR *LPCTSTR;
#define _T(string)    L##string
#define _tcscmp	      wcscmp
#define _tcsicmp      wcscasecmp
#define _tcslen	      wcslen
#define _ttoi(string) ((int)wcstol((string), NULL, 10))
#define _ttol(string) ((LONG)wcstol((string), NULL, 10))
#define _tprintf      ndwin_wprintf
#define _tfreopen     ndwin_wfreopen
/* Defines main() before the program's own function, which follows. */
#define _tmain(...)                                                                                \
	ndwin_program(__VA_ARGS__);                                                                \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return ndwin_wmain(argc, argv, ndwin_program);                                     \
	}                                                                                          \
	int ndwin_program(__VA_ARGS__)
#define wmain _tmain
#else
typedef CHAR TCHAR, *LPTSTR;
typedef const CHAR *LPCTSTR;
#define _T(string)    string
#define _tcscmp	      strcmp
#define _tcsicmp      strcasecmp
#define _tcslen	      strlen
#define _ttoi(string) ((int)strtol((string), NULL, 10))
#define _ttol(string) ((LONG)strtol((string), NULL, 10))
#define _tprintf      printf
#define _tfreopen     freopen
#define _tmain	      main
#endif
#define _TEXT(string) _T(string)

#endif
