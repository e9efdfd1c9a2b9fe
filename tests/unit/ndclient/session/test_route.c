/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and routes as daemons of several ages tell them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

#define V4(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* A daemon that answers one client after the other, until it is stopped. */
static struct rig {
	pthread_t thread;
	int listener;
	char path[64];
	uint16_t minor;
	uint32_t addresses; /* 10.0.i.1 */
	uint32_t pages;	    /* asked for */
	nd_status route;
	struct ndsh_addr asked, source;
} rig;

static struct ndsh_addr
v4(uint32_t ip)
{
	struct ndsh_addr a = {.ip = {[10] = 0xff, [11] = 0xff}};

	ip = htonl(ip);
	memcpy(a.ip + 12, &ip, 4);
	return a;
}

static void
list(struct ndsh_address_list_reply *r, uint32_t first)
{
	rig.pages++;
	while (r->count < NDSH_ADDRESS_LIST_MAX && first < rig.addresses)
		r->addr[r->count++] = v4(V4(10, 0, first++, 1));
}

/* What a daemon of that age does not know ends the session. */
static bool
serve(int fd, const struct ndsh_msg_hdr *h)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES] = {0};
	struct ndsh_msg_hdr *reply = (void *)buf;

	if (h->type > NDSH_MSG_UD_ANSWER && rig.minor < 8)
		return false;
	reply->type = h->type | NDSH_REPLY;
	switch (h->type) {
	case NDSH_MSG_HELLO:
		((struct ndsh_hello_reply *)reply)->abi_minor = rig.minor;
		break;
	case NDSH_MSG_ADDRESS_LIST:
		list((void *)reply, 0);
		break;
	case NDSH_MSG_ADDRESS_PAGE:
		list((void *)reply, ((const struct ndsh_address_page *)h)->first);
		break;
	case NDSH_MSG_ADAPTER:
		rig.asked = ((const struct ndsh_adapter *)h)->addr;
		((struct ndsh_adapter_reply *)reply)->adapter_id = 7;
		reply->status = rig.route;
		break;
	case NDSH_MSG_ROUTE:
		rig.asked = ((const struct ndsh_route *)h)->addr;
		((struct ndsh_route *)reply)->addr = rig.source;
		reply->status = rig.route;
		break;
	default:
		return false;
	}
	return send(fd, buf, ndsh_msg_table[h->type].reply_bytes, MSG_NOSIGNAL) > 0;
}

static void *
rig_main(void *arg)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
	int fd;

	(void)arg;
	while ((fd = accept(rig.listener, NULL, NULL)) >= 0) {
		while (recv(fd, buf, sizeof(buf), 0) > 0 && serve(fd, (const void *)buf))
			;
		close(fd);
	}
	return NULL;
}

static void
setup(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/ndd-route-XXXXXX";

	cr_assert(ne(ptr, mkdtemp(dir), NULL));
	rig = (struct rig){.minor = NDSH_ABI_MINOR, .addresses = 2, .source = v4(V4(10, 0, 1, 1))};
	snprintf(rig.path, sizeof(rig.path), "%s/socket", dir);
	memcpy(sun.sun_path, rig.path, sizeof(rig.path));
	rig.listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	cr_assert(zero(int, bind(rig.listener, (const void *)&sun, sizeof(sun))));
	cr_assert(zero(int, listen(rig.listener, 4)));
	cr_assert(zero(int, pthread_create(&rig.thread, NULL, rig_main, NULL)));
}

static void
teardown(void)
{
	shutdown(rig.listener, SHUT_RDWR);
	pthread_join(rig.thread, NULL);
	close(rig.listener);
	unlink(rig.path);
	*strrchr(rig.path, '/') = 0;
	rmdir(rig.path);
}

TestSuite(ndclient_route, .init = setup, .fini = teardown, .timeout = 60);

static nd_status
resolve(uint32_t ip, uint32_t *from)
{
	const struct nd_open_options opt = {.socket_path = rig.path};
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(77), .sin_addr.s_addr = htonl(ip)};
	struct sockaddr_storage local;
	nd_status st = nd_resolve_address(&opt, (const void *)&to, sizeof(to), &local);

	*from = ntohl(((struct sockaddr_in *)&local)->sin_addr.s_addr);
	return st;
}

Test(ndclient_route, the_daemon_knows)
{
	struct ndsh_addr dst = v4(V4(10, 0, 0, 9));
	uint32_t from;

	cr_assert(eq(i32, resolve(V4(10, 0, 0, 9), &from), ND_SUCCESS));
	cr_assert(eq(u32, from, V4(10, 0, 1, 1)), "not the one that looks nearer");
	cr_assert_arr_eq(&rig.asked, &dst, sizeof(dst), "without a port");
	rig.route = ND_NETWORK_UNREACHABLE;
	cr_assert(eq(i32, resolve(V4(10, 0, 0, 9), &from), ND_NETWORK_UNREACHABLE));
	cr_assert(zero(u32, rig.pages), "no guess");
}

Test(ndclient_route, an_old_daemon_is_guessed_for)
{
	uint32_t from;

	rig.minor = NDSH_MINOR_ROUTE - 1;
	cr_assert(eq(i32, resolve(V4(10, 0, 0, 9), &from), ND_SUCCESS));
	cr_assert(eq(u32, from, V4(10, 0, 0, 1)));
	cr_assert(eq(u32, rig.pages, 1));
	rig.addresses = 0;
	cr_assert(eq(i32, resolve(V4(10, 0, 0, 9), &from), ND_NETWORK_UNREACHABLE));
}

static uint32_t
count(void)
{
	const struct nd_open_options opt = {.socket_path = rig.path};
	struct sockaddr_storage all[256];
	uint32_t n = 256;

	cr_assert(eq(i32, nd_query_addresses(&opt, all, &n), ND_SUCCESS));
	for (uint32_t i = 0; i < n; i++)
		cr_assert(eq(u32, ntohl(((struct sockaddr_in *)&all[i])->sin_addr.s_addr),
			V4(10, 0, i, 1)));
	return n;
}

Test(ndclient_route, all_pages)
{
	static const uint32_t many[] = {0, 1, 31, 32, 33, 64, 100};

	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		rig.pages = 0;
		rig.addresses = many[i];
		cr_assert(eq(u32, count(), many[i]));
		cr_assert(eq(u32, rig.pages, many[i] / NDSH_ADDRESS_LIST_MAX + 1));
	}
}

Test(ndclient_route, an_old_daemon_has_one_page)
{
	rig.minor = NDSH_MINOR_ADDRESS_PAGE - 1;
	rig.addresses = 100;
	cr_assert(eq(u32, count(), NDSH_ADDRESS_LIST_MAX));
	cr_assert(eq(u32, rig.pages, 1));
}

static nd_status
resolve_adapter(uint32_t ip, uint64_t *id)
{
	const struct nd_open_options opt = {.socket_path = rig.path};
	struct sockaddr_in local = {
		.sin_family = AF_INET, .sin_port = htons(77), .sin_addr.s_addr = htonl(ip)};

	return nd_resolve_adapter(&opt, (const void *)&local, sizeof(local), id);
}

/* checks R-ADP-01[1,4] */
Test(ndclient_route, R_ADP_01_the_daemon_knows_the_adapter)
{
	struct ndsh_addr local = v4(V4(10, 0, 1, 1));
	uint64_t id = 0;

	cr_assert(eq(i32, resolve_adapter(V4(10, 0, 1, 1), &id), ND_SUCCESS));
	cr_expect(eq(u64, id, 7));
	cr_assert_arr_eq(&rig.asked, &local, sizeof(local), "without a port");
	rig.route = (nd_status)NDSH_ERR_ADDRESS_NOT_LOCAL;
	cr_expect(eq(i32, resolve_adapter(V4(10, 0, 1, 1), &id), ND_INVALID_ADDRESS));
	cr_expect(eq(i32, resolve_adapter(V4(10, 0, 1, 1), NULL), ND_INVALID_PARAMETER_4));
	rig.minor = NDSH_MINOR_ADAPTER - 1;
	cr_expect(eq(i32, resolve_adapter(V4(10, 0, 1, 1), &id), ND_NOT_SUPPORTED));
	cr_expect(eq(u64, id, 7), "it is told after a success only");
}
