/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines to stderr, one per call. For the control thread and start-up, never the hot path. */
#ifndef NDD_LOG_H
#define NDD_LOG_H

enum ndd_log_level { NDD_LOG_ERROR, NDD_LOG_WARNING, NDD_LOG_NOTICE, NDD_LOG_INFO, NDD_LOG_DEBUG };

void ndd_log_set_level(enum ndd_log_level level);
__attribute__((format(printf, 2, 3))) void ndd_log(enum ndd_log_level level, const char *fmt, ...);

/* What one place in the code has logged of what strangers can cause at will. Zeroed: nothing. */
struct ndd_log_place {
	long second;
	unsigned lines, left_out; /* in it */
};
__attribute__((format(printf, 3, 4))) void ndd_log_at(
	struct ndd_log_place *place, enum ndd_log_level level, const char *fmt, ...);

/* A few lines a second, the rest is counted: each place by itself, so that a flood of one kind
 * hides no other. */
#define ndd_log_limited(level, ...)                                                                \
	do {                                                                                       \
		static struct ndd_log_place here;                                                  \
		ndd_log_at(&here, level, __VA_ARGS__);                                             \
	} while (0)

#define ndd_error(...)	 ndd_log(NDD_LOG_ERROR, __VA_ARGS__)
#define ndd_warning(...) ndd_log(NDD_LOG_WARNING, __VA_ARGS__)
#define ndd_notice(...)	 ndd_log(NDD_LOG_NOTICE, __VA_ARGS__)
#define ndd_info(...)	 ndd_log(NDD_LOG_INFO, __VA_ARGS__)
#define ndd_debug(...)	 ndd_log(NDD_LOG_DEBUG, __VA_ARGS__)

#endif
