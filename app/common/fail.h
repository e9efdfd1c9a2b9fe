/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages about failures: what failed, the status, the library's words, and what the user can
 * do. */
#ifndef APP_FAIL_H
#define APP_FAIL_H

#include <ndclient.h>

/* Exit codes of the programs, documented in their --help. */
enum app_exit {
	APP_EXIT_OK = 0,
	APP_EXIT_USAGE = 1,    /* bad options */
	APP_EXIT_LOCAL = 2,    /* no daemon, no such local address, no resources */
	APP_EXIT_CONNECT = 3,  /* no route, no neighbour, no answer, refused */
	APP_EXIT_TRANSFER = 4, /* a connection broke, or a request failed */
	APP_EXIT_VERIFY = 5,   /* contents differ */
	APP_EXIT_SIGNAL = 130, /* ended by SIGINT or SIGTERM before it was done */
};

/* What a user can do about a status, or NULL. */
const char *app_status_hint(nd_status status);
/* The reason of a CM REJ in words. */
const char *app_reject_text(uint32_t reason);
/* Print "PROGRAM: <what>: ND_STATUS: library's words" and the hint, about the call that has just
 * failed. */
void app_fail(nd_status status, const char *what, ...) __attribute__((format(printf, 2, 3)));
/* The same about a request that failed in its queue; it has the transport's word instead of the
 * library's. */
void app_fail_result(const struct nd_result *result, const char *what, ...)
	__attribute__((format(printf, 2, 3)));
/* Write "ND_STATUS (transport's word)" of a request that failed. Returns text. */
#define APP_RESULT_TEXT 128
const char *app_result_text(const struct nd_result *result, char text[APP_RESULT_TEXT]);
/* Print "PROGRAM: <what>". */
void app_complain(const char *what, ...) __attribute__((format(printf, 1, 2)));

#endif
