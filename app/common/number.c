/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* The text must begin with a digit, since strtoull() would take " -1" as a huge number. Returns the
 * end of the number, or NULL if there is none. */
static const char *
parse_digits(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	return errno == 0 ? end : NULL;
}

bool
app_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t v;
	const char *end = parse_digits(text, &v);

	if (end == NULL || *end != '\0' || v < min || v > max)
		return false;
	*value = v;
	return true;
}

bool
app_parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes)
{
	uint64_t v;
	unsigned int shift = 0;
	const char *end = parse_digits(text, &v);

	if (end == NULL)
		return false;
	switch (*end) {
	case 'k':
	case 'K':
		shift = 10;
		end++;
		break;
	case 'm':
	case 'M':
		shift = 20;
		end++;
		break;
	case 'g':
	case 'G':
		shift = 30;
		end++;
		break;
	default:
		break;
	}
	if (*end != '\0' || v > max >> shift || v << shift < min)
		return false;
	*bytes = v << shift;
	return true;
}

bool
app_parse_seconds(const char *text, double min, double max, double *seconds)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	v = strtod(text, &end);
	/* The condition is negated so that it refuses a NaN, for which each comparison is false. */
	if (errno != 0 || *end != '\0' || !(v >= min && v <= max))
		return false;
	*seconds = v;
	return true;
}
