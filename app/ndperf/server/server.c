/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: one thread serves all sessions in turns, and sleeps when none of them needs it. */
#include "server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fail.h"
#include "common/idle.h"
#include "common/local.h"
#include "common/wait.h"
#include "join.h"
#include "session.h"
#include "tick.h"

#define ALONE_MS     500   /* without a session: how long to wait for a request to connect */
#define SLEEP_MS     5	   /* with sessions: longest sleep between two checks for a request */
#define ACCEPT_EVERY 1024u /* rounds of busy sessions for one check */

struct server {
	const struct ndperf_options *opt;
	struct app_acceptor acceptor;
	struct nd_adapter_info info;
	struct session *sessions;
	uint32_t count;
	struct pollfd *pfds; /* two for each session: of control and of data */
	struct nd_cq **cqs;
	uint32_t rounds;
	bool finished; /* --once: the session is over */
	int outcome;
};

static void
server_refuse(struct nd_connector *connector, enum ndperf_refusal refusal)
{
	struct ndperf_welcome no = {.refusal = refusal};
	uint8_t wire[NDPERF_WELCOME_BYTES];

	ndperf_welcome_encode(&no, wire);
	nd_connector_reject(connector, wire, sizeof(wire));
	nd_connector_close(connector);
	app_complain("refused a client: %s", refusal == NDPERF_BAD_HELLO
						     ? "it is no ndperf of this version"
						     : ndperf_refusal_text(refusal));
}

/* With --loopback the user did not ask for a server, and gets no news of it. */
static void
server_announce(const struct server *sv, const char *peer, const char *what)
{
	if (!sv->opt->loopback)
		fprintf(stderr, "ndperf: %s%s\n", peer, what);
}

static enum ndperf_refusal
server_admit(struct server *sv, struct nd_connector *connector, const struct ndperf_hello *hello)
{
	enum ndperf_refusal refusal;
	struct session *s;

	if (hello->role == NDPERF_DATA) {
		for (s = sv->sessions; s != NULL; s = s->next)
			if (s->id == hello->session)
				return session_join(s, connector, hello);
		return NDPERF_NO_SESSION;
	}
	if (sv->count >= sv->opt->sessions)
		return NDPERF_BUSY;
	s = session_create(
		sv->acceptor.adapter, &sv->info, connector, hello, sv->opt->memory, &refusal);
	if (s != NULL) {
		s->next = sv->sessions;
		sv->sessions = s;
		sv->count++;
		server_announce(sv, s->peer, " begins");
	}
	return refusal;
}

/* Accept or refuse the next request to connect. ND_TIMEOUT: there was none; any other failure ends
 * the server. */
static nd_status
server_accept_next(struct server *sv, int timeout_ms)
{
	struct ndperf_hello hello;
	uint8_t wire[256];
	uint32_t bytes = sizeof(wire);
	struct nd_connector *connector;
	enum ndperf_refusal refusal;
	nd_status st = app_acceptor_next(&sv->acceptor, timeout_ms, &connector);

	if (st != ND_SUCCESS)
		return st;
	st = nd_connector_private_data(connector, wire, &bytes);
	if (st == ND_SUCCESS)
		refusal = ndperf_hello_decode(wire, bytes, &hello);
	else
		refusal = NDPERF_BAD_HELLO;
	if (refusal == NDPERF_WELCOME)
		refusal = server_admit(sv, connector, &hello);
	if (refusal != NDPERF_WELCOME)
		server_refuse(connector, refusal);
	return ND_SUCCESS;
}

static void
server_end_session(struct server *sv, struct session **link)
{
	struct session *s = *link;

	*link = s->next;
	sv->count--;
	server_announce(
		sv, s->peer, s->outcome == APP_EXIT_OK ? " is done" : " is done, with a failure");
	if (sv->opt->once) {
		sv->finished = true;
		sv->outcome = s->outcome;
	}
	session_destroy(s);
}

/* Give each session one turn. Returns whether one of them had something to do. */
static bool
server_tick(struct server *sv, enum session_heat *hottest)
{
	struct session **link = &sv->sessions;
	bool busy = false;

	*hottest = SESSION_COLD;
	while (*link != NULL) {
		struct session *s = *link;

		busy |= session_tick(s);
		if (s->state == SESSION_ENDED) {
			server_end_session(sv, link);
			continue;
		}
		if (session_heat(s) > *hottest)
			*hottest = session_heat(s);
		link = &s->next;
	}
	return busy;
}

/* Sleep until one of the sessions has a completion, at most for SLEEP_MS. */
static void
server_sleep(struct server *sv)
{
	nfds_t n = 0;

	for (struct session *s = sv->sessions; s != NULL; s = s->next) {
		sv->cqs[n++] = s->control.cq;
		if (s->state == SESSION_STEP)
			sv->cqs[n++] = s->cq;
	}
	for (nfds_t i = 0; i < n; i++) {
		nd_cq_arm(sv->cqs[i], ND_CQ_NOTIFY_ANY);
		sv->pfds[i] = (struct pollfd){.fd = nd_cq_fd(sv->cqs[i]), .events = POLLIN};
	}
	if (poll(sv->pfds, n, SLEEP_MS) <= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		if (sv->pfds[i].revents != 0)
			nd_cq_ack(sv->cqs[i]);
}

/* No session had anything to do: poll on, yield or sleep. Returns whether it slept. */
static bool
server_idle(struct server *sv, enum session_heat hottest, struct app_idle *idle)
{
	enum ndperf_wait wait = sv->opt->wait;

	if (hottest == SESSION_HOT || (hottest == SESSION_WARM && wait == NDPERF_WAIT_POLL))
		app_idle_wait(idle);
	else if (hottest == SESSION_COLD || wait == NDPERF_WAIT_EVENT || !app_idle_stay(idle)) {
		server_sleep(sv);
		return true;
	}
	return false;
}

/* Shall the server check for a request to connect? While one is expected: in each round; else now
 * and then. */
static bool
server_accept_due(struct server *sv)
{
	if (sv->sessions == NULL || sv->sessions->state == SESSION_JOINING)
		return true;
	return ++sv->rounds % ACCEPT_EVERY == 0;
}

static nd_status
server_loop(struct server *sv)
{
	struct app_idle idle = {0};
	nd_status st = ND_TIMEOUT;
	enum session_heat hottest;
	bool slept;

	while (!sv->finished && (st == ND_SUCCESS || st == ND_TIMEOUT)) {
		if (sv->sessions == NULL) {
			st = server_accept_next(sv, ALONE_MS);
			continue;
		}
		slept = false;
		if (server_tick(sv, &hottest))
			app_idle_reset(&idle);
		else
			slept = server_idle(sv, hottest, &idle);
		if (slept || server_accept_due(sv))
			st = server_accept_next(sv, 0);
	}
	return st;
}

static nd_status
server_init(struct server *sv, const struct ndperf_options *opt, const struct app_addr *where)
{
	nd_status st = app_acceptor_open(&sv->acceptor, opt->socket_path, where, opt->port);

	sv->opt = opt;
	if (st != ND_SUCCESS)
		return st;
	sv->pfds = calloc(2ull * opt->sessions, sizeof(*sv->pfds));
	sv->cqs = calloc(2ull * opt->sessions, sizeof(*sv->cqs));
	if (sv->pfds == NULL || sv->cqs == NULL)
		st = ND_NO_MEMORY;
	else
		st = nd_adapter_query(sv->acceptor.adapter, &sv->info);
	if (st != ND_SUCCESS)
		app_fail(st, "can't serve");
	return st;
}

static void
server_fini(struct server *sv)
{
	while (sv->sessions != NULL)
		server_end_session(sv, &sv->sessions);
	app_acceptor_close(&sv->acceptor);
	free(sv->pfds);
	free(sv->cqs);
}

int
server_run(const struct ndperf_options *opt)
{
	struct server sv = {0};
	char text[APP_ADDR_TEXT];
	bool finished;
	nd_status st = server_init(&sv, opt, opt->has_bind ? &opt->bind : NULL);

	if (st == ND_SUCCESS) {
		fprintf(stderr, "ndperf: listening at %s\n",
			app_addr_text(&sv.acceptor.where, true, text));
		st = server_loop(&sv);
	}
	finished = sv.finished;
	server_fini(&sv);
	if (opt->once && !finished && st == ND_CANCELED)
		return APP_EXIT_SIGNAL;
	return finished || st == ND_CANCELED ? sv.outcome : APP_EXIT_LOCAL;
}

struct server *
server_open(const struct ndperf_options *opt, const struct app_addr *where)
{
	struct server *sv = calloc(1, sizeof(*sv));

	if (sv == NULL) {
		app_complain("no memory");
		return NULL;
	}
	if (server_init(sv, opt, where) == ND_SUCCESS)
		return sv;
	server_close(sv);
	return NULL;
}

bool
server_turn(struct server *sv)
{
	enum session_heat hottest;
	nd_status st = ND_SUCCESS;

	(void)server_tick(sv, &hottest);
	if (server_accept_due(sv))
		st = server_accept_next(sv, 0);
	return st == ND_SUCCESS || st == ND_TIMEOUT || st == ND_CANCELED;
}

void
server_close(struct server *sv)
{
	server_fini(sv);
	free(sv);
}
