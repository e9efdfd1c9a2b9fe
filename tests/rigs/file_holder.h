/* SPDX-License-Identifier: BSD-3-Clause */
/* A client that holds the lock of a file as long as it likes: it writes to the file from a page
 * that a userfaultfd keeps missing, or reads it into that page. For unit tests and attackers: what
 * can't fail ends the program. */
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

/* The page. False: this user may not have a userfaultfd. */
bool file_holder_new(struct file_holder *h);
/* It takes the lock, by writing or by reading, for which something must be there. */
void file_holder_writes(struct file_holder *h, int fd);
void file_holder_reads(struct file_holder *h, int fd);
/* The page comes, and the lock is released. */
void file_holder_end(struct file_holder *h);

#endif
