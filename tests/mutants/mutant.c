/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked to every program of the mutated tree. NDD_MUTANT: the number of the mutant that is alive.
 * NDD_MUTANTS_REACHED: a file with a byte for each number, which the process and its children set.
 */
#include "mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned mutant_number;
unsigned char *mutant_reached;

__attribute__((constructor(101))) static void
mutant_begin(void)
{
	const char *number = getenv("NDD_MUTANT"), *path = getenv("NDD_MUTANTS_REACHED");
	struct stat st;
	void *map;
	int fd;

	if (number != NULL)
		mutant_number = (unsigned)strtoul(number, NULL, 10);
	if (path == NULL)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		abort();
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	close(fd);
	mutant_reached = map;
}
