/* SPDX-License-Identifier: BSD-3-Clause */
/* A client that holds the lock of a file as long as it likes: it writes to the file from a page
 * that a userfaultfd keeps missing, or reads it into that page. */
#ifndef RIGS_FILE_HOLDER_H
#define RIGS_FILE_HOLDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct file_holder {
	int fd, uffd;
	bool reads;
	uint8_t *absent; /* the page */
	pthread_t thread;
};

/* It takes the lock. False: this user may not have a userfaultfd. */
bool file_holder_begin(struct file_holder *h, int fd);
/* The same, by reading: something to read must be there. */
bool file_holder_begin_reading(struct file_holder *h, int fd);
/* The page comes, and the lock is released. */
void file_holder_end(struct file_holder *h);

#endif
