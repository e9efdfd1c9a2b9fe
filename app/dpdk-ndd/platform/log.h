/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines to stderr, one per call. For the control thread and start-up, never the hot path. */
#ifndef NDD_LOG_H
#define NDD_LOG_H

enum ndd_log_level { NDD_LOG_ERROR, NDD_LOG_WARNING, NDD_LOG_NOTICE, NDD_LOG_INFO, NDD_LOG_DEBUG };

void ndd_log_set_level(enum ndd_log_level level);
__attribute__((format(printf, 2, 3))) void ndd_log(enum ndd_log_level level, const char *fmt, ...);

/* The same for what strangers can cause at will: a few lines a second, the rest is counted. */
__attribute__((format(printf, 2, 3))) void ndd_log_limited(
	enum ndd_log_level level, const char *fmt, ...);

#define ndd_error(...)	 ndd_log(NDD_LOG_ERROR, __VA_ARGS__)
#define ndd_warning(...) ndd_log(NDD_LOG_WARNING, __VA_ARGS__)
#define ndd_notice(...)	 ndd_log(NDD_LOG_NOTICE, __VA_ARGS__)
#define ndd_info(...)	 ndd_log(NDD_LOG_INFO, __VA_ARGS__)
#define ndd_debug(...)	 ndd_log(NDD_LOG_DEBUG, __VA_ARGS__)

#endif
