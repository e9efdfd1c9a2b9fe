/* SPDX-License-Identifier: BSD-3-Clause */
/* IP addresses and ports as people write them. */
#ifndef APP_ADDR_H
#define APP_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct app_addr {
	struct sockaddr_storage ss;
	socklen_t bytes;
};

/* "[" 39 characters of address, "%" scope, "]:" port and the end */
#define APP_ADDR_TEXT 80

/*
 * ADDR, ADDR:PORT, [ADDR6], [ADDR6]:PORT or ADDR6; ADDR may be a host name. Without a port the
 * result has default_port. Returns NULL, or what is wrong with it.
 */
const char *app_addr_parse(const char *text, uint16_t default_port, struct app_addr *out);
/* The wildcard address of a family. */
void app_addr_any(int family, uint16_t port, struct app_addr *out);
void app_addr_set_port(struct app_addr *a, uint16_t port);
uint16_t app_addr_port(const struct app_addr *a);
bool app_addr_is_any(const struct app_addr *a);
/* "10.0.0.1:7174", "[fd00::1]:7174"; without port "10.0.0.1", "fd00::1". Returns text. */
const char *app_addr_text(const struct app_addr *a, bool with_port, char text[APP_ADDR_TEXT]);

#endif
