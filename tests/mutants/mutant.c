/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked to every program of the mutated tree. NDD_MUTANT: the number of the mutant that is alive.
 * NDD_MUTANTS_REACHED: a file for mutant_record(), where the process and its children record.
 */
#include "mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned mutant_number;
unsigned char *mutant_reached;

void
mutant_record(const char *file)
{
	int fd = open(file, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) != 0)
		abort();
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	close(fd);
	mutant_reached = map;
}

__attribute__((constructor(101))) static void
mutant_begin(void)
{
	const char *number = getenv("NDD_MUTANT"), *file = getenv("NDD_MUTANTS_REACHED");

	if (number != NULL)
		mutant_number = (unsigned)strtoul(number, NULL, 10);
	if (file != NULL)
		mutant_record(file);
}
