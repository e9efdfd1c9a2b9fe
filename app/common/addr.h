/* SPDX-License-Identifier: BSD-3-Clause */
/* IP addresses and ports as users write them. */
#ifndef APP_ADDR_H
#define APP_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct app_addr {
	struct sockaddr_storage ss;
	socklen_t bytes;
};

/* Room for "[", 39 characters of address, "%" with a scope, "]:", the port and the final zero. */
#define APP_ADDR_TEXT 80

/*
 * Parse ADDR, ADDR:PORT, [ADDR6], [ADDR6]:PORT or ADDR6; ADDR may be a host name. If text has no
 * port, the result has default_port. Returns NULL, or words that say what is wrong with text.
 */
const char *app_addr_parse(const char *text, uint16_t default_port, struct app_addr *out);
/* The wildcard address of a family. */
void app_addr_any(int family, uint16_t port, struct app_addr *out);
void app_addr_set_port(struct app_addr *a, uint16_t port);
uint16_t app_addr_port(const struct app_addr *a);
bool app_addr_is_any(const struct app_addr *a);
/* Write "10.0.0.1:7174" or "[fd00::1]:7174"; without port "10.0.0.1" or "fd00::1". Returns text. */
const char *app_addr_text(const struct app_addr *a, bool with_port, char text[APP_ADDR_TEXT]);

#endif
