/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on their way to stderr. What reads stderr may stop reading, and a disk may hang: so once
 * the daemon serves, a thread of its own writes, and nobody else waits for it.
 */
#ifndef NDD_LOG_WRITER_H
#define NDD_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#define NDD_LOG_LINE_BYTES 1024u

/* Whole lines, of NDD_LOG_LINE_BYTES at most. Written at once while there is no thread; with one,
 * the line waits for it, or is left out and counted when too many wait. */
void ndd_log_writer_put(const char *line, size_t bytes);

bool ndd_log_writer_start(void);
/* Has a moment to write what waits. Nothing is written any more if it can't. */
void ndd_log_writer_stop(void);

#endif
