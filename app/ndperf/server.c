/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: one thread, all sessions in turns, asleep when none needs it. */
#include "server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fail.h"
#include "common/local.h"
#include "common/wait.h"
#include "session.h"

#define ALONE_MS   500 /* no session: a wait for the first */
#define SLEEP_MS   5   /* requests to connect are looked at so often */
#define LOOK_EVERY 1024u

struct server {
	const struct ndperf_options *opt;
	struct app_acceptor acceptor;
	struct nd_adapter_info info;
	struct session *sessions;
	uint32_t count;
	struct pollfd *pfds; /* two for each session: control, data */
	struct nd_cq **cqs;
	bool finished; /* --once: the session is over */
	int outcome;
};

static void
refuse(struct nd_connector *connector, enum ndperf_refusal refusal)
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

static enum ndperf_refusal
admit(struct server *sv, struct nd_connector *connector, const struct ndperf_hello *hello)
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
	s = session_create(sv->acceptor.adapter, &sv->info, connector, hello, sv->opt->memory,
		&refusal);
	if (s != NULL) {
		s->next = sv->sessions;
		sv->sessions = s;
		sv->count++;
		fprintf(stderr, "ndperf: %s begins\n", s->peer);
	}
	return refusal;
}

/* ND_SUCCESS: served a request; ND_TIMEOUT: there was none; else the server ends. */
static nd_status
accept_next(struct server *sv, int timeout_ms)
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
		refusal = admit(sv, connector, &hello);
	if (refusal != NDPERF_WELCOME)
		refuse(connector, refusal);
	return ND_SUCCESS;
}

static void
end_session(struct server *sv, struct session **link)
{
	struct session *s = *link;

	*link = s->next;
	sv->count--;
	fprintf(stderr, "ndperf: %s is done%s\n", s->peer,
		s->outcome == APP_EXIT_OK ? "" : ", with a failure");
	if (sv->opt->once) {
		sv->finished = true;
		sv->outcome = s->outcome;
	}
	session_destroy(s);
}

/* Serve each session once. */
static bool
tick(struct server *sv, enum session_heat *hottest)
{
	struct session **link = &sv->sessions;
	bool busy = false;

	*hottest = SESSION_COLD;
	while (*link != NULL) {
		struct session *s = *link;

		busy |= session_tick(s);
		if (s->state == SESSION_ENDED) {
			end_session(sv, link);
			continue;
		}
		if (session_heat(s) > *hottest)
			*hottest = session_heat(s);
		link = &s->next;
	}
	return busy;
}

/* Until one of the sessions has a completion, or for SLEEP_MS. */
static void
sleep_on_sessions(struct server *sv)
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

/* There was nothing to do. Returns whether it slept. */
static bool
rest(struct server *sv, enum session_heat hottest, struct app_idle *idle)
{
	enum ndperf_wait wait = sv->opt->wait;

	if (hottest == SESSION_HOT || (hottest == SESSION_WARM && wait == NDPERF_WAIT_POLL))
		app_idle_wait(idle);
	else if (hottest == SESSION_COLD || wait == NDPERF_WAIT_EVENT || !app_idle_spinning(idle)) {
		sleep_on_sessions(sv);
		return true;
	}
	return false;
}

static nd_status
serve(struct server *sv)
{
	struct app_idle idle = {0};
	nd_status st = ND_TIMEOUT;
	uint32_t rounds = 0;
	enum session_heat hottest;
	bool slept, joining;

	while (!sv->finished && (st == ND_SUCCESS || st == ND_TIMEOUT)) {
		if (sv->sessions == NULL) {
			st = accept_next(sv, ALONE_MS);
			continue;
		}
		slept = false;
		if (tick(sv, &hottest))
			app_idle_reset(&idle);
		else
			slept = rest(sv, hottest, &idle);
		joining = sv->sessions != NULL && sv->sessions->state == SESSION_JOINING;
		if (joining || slept || ++rounds % LOOK_EVERY == 0)
			st = accept_next(sv, 0);
	}
	return st;
}

int
server_run(const struct ndperf_options *opt)
{
	struct server sv = {.opt = opt};
	char text[APP_ADDR_TEXT];
	bool finished;
	nd_status st = app_acceptor_open(
		&sv.acceptor, opt->socket_path, opt->has_bind ? &opt->bind : NULL, opt->port);

	if (st != ND_SUCCESS)
		return APP_EXIT_LOCAL;
	sv.pfds = calloc(2ull * opt->sessions, sizeof(*sv.pfds));
	sv.cqs = calloc(2ull * opt->sessions, sizeof(*sv.cqs));
	st = nd_adapter_query(sv.acceptor.adapter, &sv.info);
	if (st == ND_SUCCESS && sv.pfds != NULL && sv.cqs != NULL) {
		fprintf(stderr, "ndperf: listening at %s\n",
			app_addr_text(&sv.acceptor.where, true, text));
		st = serve(&sv);
	}
	finished = sv.finished;
	while (sv.sessions != NULL)
		end_session(&sv, &sv.sessions);
	app_acceptor_close(&sv.acceptor);
	free(sv.pfds);
	free(sv.cqs);
	if (opt->once && !finished && st == ND_CANCELED)
		return APP_EXIT_SIGNAL;
	return finished || st == ND_CANCELED ? sv.outcome : APP_EXIT_LOCAL;
}
