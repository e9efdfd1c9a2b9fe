/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server. With -P each client has a thread of its own. The main thread creates and closes all
 * objects, so a client's thread touches nothing but its link.
 */
#include "roles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fail.h"
#include "common/local.h"
#include "common/wait.h"
#include "link.h"

#define ACCEPT_WAIT_MS 30000 /* until the client completes the connection (RTU) */
#define REAP_MS	       200   /* how often the server frees clients that have ended */
#define CLIENTS_MAX    256

struct client {
	struct client *next;
	struct ping_link link;
	char *expected; /* -V: room for rping's contents */
	pthread_t thread;
	atomic_bool ended;
	int exit_code;
};

/* -V: has the sink the contents that rping and nddping give their ping number n? */
static bool
client_check_contents(struct client *c, uint32_t n, uint32_t bytes)
{
	struct ping_link *l = &c->link;
	size_t at;

	if (bytes < PING_BYTES_MIN)
		return true;
	ping_fill(c->expected, bytes, n);
	at = ping_differ(c->expected, l->sink, bytes);
	if (at == bytes)
		return true;
	app_complain("%s: ping %u: contents differ at byte %zu of %u: expected 0x%02x, got 0x%02x",
		l->name, n, at, bytes, (unsigned char)c->expected[at], (unsigned char)l->sink[at]);
	return false;
}

/* Serve ping number n, whose source the client has advertised, up to the second go-ahead. */
static enum ping_outcome
client_answer(struct client *c, uint32_t n, const struct ping_info *source, bool *same)
{
	struct ping_link *l = &c->link;
	struct ping_info sink;
	enum ping_outcome out;

	if (source->bytes > PING_BYTES_MAX) {
		app_complain("%s: advertises %u bytes, more than the protocol's %u", l->name,
			source->bytes, PING_BYTES_MAX);
		return PING_FAILED;
	}
	out = ping_link_read(l, source, source->bytes);
	if (out != PING_OK)
		return out;
	if (l->opt->print)
		printf("server ping data: %.*s\n", (int)source->bytes, l->sink);
	*same = !l->opt->validate || client_check_contents(c, n, source->bytes);
	out = ping_link_send(l, NULL, 0, 0);
	if (out == PING_OK)
		out = ping_link_receive(l, &sink, l->opt->timeout_ms);
	if (out == PING_OK)
		out = ping_link_write(
			l, &sink, sink.bytes < source->bytes ? sink.bytes : source->bytes);
	if (out == PING_OK)
		out = ping_link_send(l, NULL, 0, 0);
	return out;
}

static int
client_answer_all(struct client *c)
{
	struct ping_link *l = &c->link;
	struct ping_info source;
	enum ping_outcome out;
	bool same = true;

	for (uint32_t n = 0;; n++) {
		out = ping_link_receive(l, &source, l->opt->timeout_ms);
		if (out == PING_GONE) {
			ping_link_debug(l, "disconnected after %u pings", n);
			return APP_EXIT_OK;
		}
		if (out == PING_OK)
			out = client_answer(c, n & INT32_MAX, &source, &same);
		if (out == PING_OK && !same)
			return APP_EXIT_VERIFY;
		if (out == PING_OK)
			continue;
		if (out == PING_GONE)
			app_complain(
				"%s: the client ended the connection within ping %u", l->name, n);
		return out == PING_STOPPED ? APP_EXIT_SIGNAL : APP_EXIT_TRANSFER;
	}
}

/* Accept the client and serve its pings. The server reads from the client, one READ at a time: one
 * outbound READ is enough. */
static int
client_serve(struct client *c)
{
	struct ping_link *l = &c->link;
	nd_status st = nd_connector_accept(l->connector, l->qp, 1, 1, NULL, 0, &l->ov);

	if (st == ND_PENDING)
		st = app_wait(&l->ov, ACCEPT_WAIT_MS);
	if (st == ND_CANCELED && app_stopping())
		return APP_EXIT_SIGNAL;
	if (st != ND_SUCCESS) {
		app_fail(st, "accepting %s", l->name);
		return APP_EXIT_CONNECT;
	}
	ping_link_debug(l, "connected");
	ping_link_watch(l);
	return client_answer_all(c);
}

static void
client_free(struct client *c)
{
	ping_link_destroy(&c->link);
	free(c->expected);
	free(c);
}

/* Returns NULL if it has rejected the client. */
static struct client *
client_create(
	struct nd_adapter *adapter, struct nd_connector *connector, const struct ping_options *opt)
{
	struct client *c = calloc(1, sizeof(*c));
	nd_status st;

	if (c == NULL) {
		nd_connector_close(connector);
		return NULL;
	}
	c->expected = malloc(PING_BYTES_MAX);
	st = c->expected == NULL ? ND_NO_MEMORY
				 : ping_link_create(&c->link, adapter, connector, opt);
	c->link.connector = connector;
	c->link.peer.bytes = sizeof(c->link.peer.ss);
	if (nd_connector_peer_address(connector, (struct sockaddr *)&c->link.peer.ss,
		    &c->link.peer.bytes) == ND_SUCCESS)
		app_addr_text(&c->link.peer, true, c->link.name);
	if (st == ND_SUCCESS)
		return c;
	app_fail(st, "can't serve %s", c->link.name);
	nd_connector_reject(connector, NULL, 0);
	client_free(c);
	return NULL;
}

static void *
client_main(void *arg)
{
	struct client *c = arg;

	c->exit_code = client_serve(c);
	fflush(stdout);
	atomic_store(&c->ended, true);
	return NULL;
}

/* Free the clients that have ended, or, with all set, wait for each client's end and free it.
 * Returns the number of clients that are left. */
static uint32_t
server_reap(struct client **list, bool all)
{
	uint32_t left = 0;

	while (*list != NULL) {
		struct client *c = *list;

		if (!all && !atomic_load(&c->ended)) {
			left++;
			list = &c->next;
			continue;
		}
		pthread_join(c->thread, NULL);
		*list = c->next;
		client_free(c);
	}
	return left;
}

static int
server_serve_many(struct app_acceptor *acceptor, const struct ping_options *opt)
{
	struct client *list = NULL, *c;
	struct nd_connector *connector;
	nd_status st;

	do {
		uint32_t active = server_reap(&list, false);

		st = app_acceptor_next(acceptor, REAP_MS, &connector);
		if (st != ND_SUCCESS)
			continue;
		if (active >= CLIENTS_MAX) {
			app_complain("refused a client: %u are being served", active);
			nd_connector_reject(connector, NULL, 0);
			nd_connector_close(connector);
			continue;
		}
		c = client_create(acceptor->adapter, connector, opt);
		if (c == NULL)
			continue;
		if (pthread_create(&c->thread, NULL, client_main, c) != 0) {
			app_complain("refused %s: no thread left", c->link.name);
			client_free(c);
			continue;
		}
		c->next = list;
		list = c;
	} while (st == ND_SUCCESS || st == ND_TIMEOUT);
	server_reap(&list, true);
	return st == ND_CANCELED ? APP_EXIT_OK : APP_EXIT_LOCAL;
}

static int
server_serve_one(struct app_acceptor *acceptor, const struct ping_options *opt)
{
	struct nd_connector *connector;
	struct client *c;
	nd_status st = app_acceptor_next(acceptor, -1, &connector);
	int rc = APP_EXIT_LOCAL;

	if (st == ND_CANCELED)
		return APP_EXIT_SIGNAL;
	if (st != ND_SUCCESS)
		return rc;
	c = client_create(acceptor->adapter, connector, opt);
	if (c != NULL) {
		rc = client_serve(c);
		client_free(c);
	}
	return rc;
}

int
ping_server(const struct ping_options *opt)
{
	struct app_acceptor acceptor;
	char text[APP_ADDR_TEXT];
	int rc;

	if (app_acceptor_open(&acceptor, opt->socket_path, opt->has_addr ? &opt->addr : NULL,
		    opt->port) != ND_SUCCESS)
		return APP_EXIT_LOCAL;
	fprintf(stderr, "nddping: listening at %s\n", app_addr_text(&acceptor.where, true, text));
	rc = opt->persistent ? server_serve_many(&acceptor, opt) : server_serve_one(&acceptor, opt);
	app_acceptor_close(&acceptor);
	return rc;
}
