/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process has mapped, as the kernel tells. */
#ifndef ND_MAPPING_H
#define ND_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct nd_mapping {
	uintptr_t from, to;
	uint64_t offset; /* in the file */
	dev_t device;
	uint64_t inode; /* 0: of no file */
	int rights;	/* PROT_* */
	bool shared;
	char name[16]; /* its beginning */
};

struct nd_mappings {
	int fd;	     /* of /proc/self/maps */
	FILE *lines; /* NULL: the kernel answers questions (Linux 6.11) */
	bool of_files;
	struct nd_mapping ahead; /* the newest line read */
};

/* of_files: others are passed over. */
bool nd_mappings_open(struct nd_mappings *m, bool of_files);
void nd_mappings_close(struct nd_mappings *m);
/* The mapping that holds from, or the first above it; asked with growing addresses. False: there is
 * none. */
bool nd_mapping_at(struct nd_mappings *m, uintptr_t from, struct nd_mapping *out);

/* Is all of [at, at+bytes) private, of no file, readable and writable? Not a stack, which could not
 * grow any more. */
bool nd_mapping_is_plain(const void *at, size_t bytes);
/* Is all of [at, at+bytes) mapped from file, shared, with address base at offset 0? */
bool nd_mapping_is_of(const void *at, size_t bytes, const void *base, int file);
/* The first shared mapping of file that holds from, or is above it. */
bool nd_mapping_find(struct nd_mappings *m, uintptr_t from, int file, struct nd_mapping *out);

#endif
