/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats of Windows' wprintf(), as printf() takes them. What is printed goes out as bytes: here a
 * stream is of bytes or of wide characters for ever, there a program uses both calls as it likes.
 */
#include "ndwin/ndwin_text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS L"-+ #0123456789.*'"

/* Windows' lengths: copy what printf() says for them, and step over them. */
static const wchar_t *
length_copy(const wchar_t *s, FILE *to)
{
	if (wcsncmp(s, L"I64", 3) == 0) {
		fputs("ll", to);
		return s + 3;
	}
	if (wcsncmp(s, L"I32", 3) == 0)
		return s + 3;
	if (*s == L'I') {
		fputc('z', to);
		return s + 1;
	}
	if (*s == L'l' && s[1] != L'l') /* LONG has 32 bits */
		return s + 1;
	for (; *s != L'\0' && wcschr(L"hlLjzt", *s) != NULL; s++)
		fputc((char)*s, to);
	return s;
}

/* What stands behind a '%'. NULL: the format ends within. */
static const wchar_t *
conversion_copy(const wchar_t *s, FILE *to)
{
	for (; *s != L'\0' && wcschr(FLAGS, *s) != NULL; s++)
		fputc((char)*s, to);
	if ((*s == L'h' || *s == L'l' || *s == L'w') && s[1] != L'\0' &&
		wcschr(L"scSC", s[1]) != NULL) { /* said to be narrow or wide */
		if (*s != L'h')
			fputc('l', to);
		fputc(s[1] == L's' || s[1] == L'S' ? 's' : 'c', to);
		return s + 2;
	}
	if (*s == L's' || *s == L'c') /* wide by itself */
		fputc('l', to);
	else if (*s == L'S' || *s == L'C') /* the other kind */
		return fputc(*s == L'S' ? 's' : 'c', to), s + 1;
	else
		s = length_copy(s, to);
	if (*s == L'\0')
		return NULL;
	fputc((char)*s, to);
	return s + 1;
}

/* NULL: no memory, a conversion without its end, or a character that the locale does not have. */
static char *
format_translate(const wchar_t *s)
{
	mbstate_t state = {0};
	char *format = NULL, bytes[MB_LEN_MAX];
	size_t length, n = 0;
	FILE *to = open_memstream(&format, &length);

	if (to == NULL)
		return NULL;
	while (s != NULL && *s != L'\0' && n != (size_t)-1) {
		n = wcrtomb(bytes, *s, &state);
		if (n != (size_t)-1)
			fwrite(bytes, 1, n, to);
		if (*s++ == L'%')
			s = conversion_copy(s, to);
	}
	if (fclose(to) == 0 && s != NULL && n != (size_t)-1)
		return format;
	free(format);
	return NULL;
}

int
ndwin_wprintf(const wchar_t *format, ...)
{
	char *narrow = format_translate(format);
	va_list args;
	int rc = -1;

	if (narrow == NULL)
		return -1;
	va_start(args, format);
	rc = vprintf(narrow, args);
	va_end(args);
	free(narrow);
	return rc;
}

static char *
string_narrow(const wchar_t *s)
{
	const size_t room = wcslen(s) * MB_LEN_MAX + 1;
	char *narrow = malloc(room);

	if (narrow != NULL && wcstombs(narrow, s, room) == (size_t)-1) {
		free(narrow);
		return NULL;
	}
	return narrow;
}

FILE *
ndwin_wfreopen(const wchar_t *path, const wchar_t *mode, FILE *stream)
{
	char *p = string_narrow(path), *m = string_narrow(mode);
	FILE *f = p != NULL && m != NULL ? freopen(p, m, stream) : NULL;

	free(p);
	free(m);
	return f;
}

int
ndwin_wmain(int argc, char **argv, int (*wide_main)(int argc, wchar_t **argv))
{
	/* Kept, as main's arguments are; each has the former ones behind its NULL. */
	static wchar_t **kept;
	wchar_t **wide = calloc((size_t)argc + 2, sizeof(*wide));

	if (wide == NULL)
		return -1;
	wide[argc + 1] = (wchar_t *)kept;
	kept = wide;
	for (int i = 0; i < argc; i++) {
		const size_t room = strlen(argv[i]) + 1;

		wide[i] = calloc(room, sizeof(*wide[i]));
		if (wide[i] == NULL || mbstowcs(wide[i], argv[i], room) == (size_t)-1)
			return -1;
	}
	return wide_main(argc, wide);
}
