/* SPDX-License-Identifier: BSD-3-Clause */
/* Each allocation that reading a configuration takes fails once: it is refused with a reason. */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

#define DOCUMENT                                                                                   \
	"{\"eal\": {\"vdevs\": [\"net_a,x=1\"]}, \"lcores\": [0],"                                 \
	" \"ports\": [{\"device\": \"net_a\", \"addresses\": [\"10.0.0.1/24\"],"                   \
	" \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": \"10.0.0.2\"}]}]}"

static unsigned until_fault;

static void *
allocate(size_t bytes)
{
	if (until_fault-- != 0)
		return malloc(bytes);
	errno = ENOMEM;
	return NULL;
}

static bool
parse(struct config *c, unsigned good, char *err, size_t bytes)
{
	until_fault = good;
	return config_parse(c, "t.json", DOCUMENT, err, bytes);
}

/* One that the parser gets along without changes nothing of what is read. */
Test(config_memory, each_failure_is_told_as_what_it_is)
{
	static struct config whole, c;
	char err[4096];
	unsigned n;

	json_set_alloc_funcs(allocate, free);
	cr_assert(parse(&whole, UINT_MAX, err, sizeof(err)), "%s", err);
	for (n = 0;; n++) {
		bool good = parse(&c, n, err, sizeof(err));

		if (until_fault <= n)
			break; /* there were no more */
		if (good)
			cr_assert_eq(memcmp(&c, &whole, sizeof(c)), 0, "allocation %u", n);
		else
			cr_assert_not_null(
				strstr(err, "out of memory"), "allocation %u: %s", n, err);
	}
	cr_assert_gt(n, 20, "%u allocations", n);
}
