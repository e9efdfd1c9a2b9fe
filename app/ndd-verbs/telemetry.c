/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

#define ANSWER_BYTES 65536
#define SOCKET_NAME  "dpdk_telemetry.v2"
#define ENDED	     "the daemon has ended, or its telemetry serves ten others"

__attribute__((format(printf, 2, 3))) static bool
explain(struct verbs_telemetry *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(t->why, sizeof(t->why), format, args);
	va_end(args);
	return false;
}

/* ---- finding it ---------------------------------------------------------------------- */

/* A connected socket; negative: errno. A daemon whose queue of connections is full does not answer
 * at once, and is not waited for. */
static int
connect_to(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd, err;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0)
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* The process at the other end; 0: it can't be seen from here. */
static pid_t
peer_of(int sock)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : 0;
}

static bool
daemon_of(struct verbs_telemetry *t, const char *control, pid_t *daemon)
{
	int fd = connect_to(control);

	if (fd < 0)
		return explain(t, "no daemon at %s: %s", control, strerror(errno));
	*daemon = peer_of(fd);
	close(fd);
	return true;
}

/* Is what listens at path of that process? Then t is connected. *denied: it can't be known. */
static bool
try_socket(struct verbs_telemetry *t, const char *path, pid_t daemon, bool *denied)
{
	int fd = connect_to(path);

	if (fd < 0) {
		*denied |= errno == EACCES;
		return false;
	}
	if (peer_of(fd) == daemon) {
		t->sock = fd;
		return true;
	}
	close(fd);
	return false;
}

/* The folder has one for each daemon, named by its eal.file_prefix. */
static bool
try_folder(struct verbs_telemetry *t, const char *folder, pid_t daemon, bool *denied)
{
	char path[PATH_MAX];
	const struct dirent *e;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/dpdk", folder);
	dir = opendir(path);
	if (dir == NULL) {
		*denied |= errno == EACCES;
		return false;
	}
	while (t->sock < 0 && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/dpdk/%s/" SOCKET_NAME, folder, e->d_name);
		(void)try_socket(t, path, daemon, denied);
	}
	closedir(dir);
	return t->sock >= 0;
}

static bool
search_folders(struct verbs_telemetry *t, const char *control, pid_t daemon)
{
	const char *const folders[] = {
		getenv("RUNTIME_DIRECTORY"), getenv("XDG_RUNTIME_DIR"), "/var/run", "/tmp"};
	char own[PATH_MAX], *slash;
	bool denied = false;

	if (daemon == 0)
		return explain(t,
			"the process of the daemon at %s is not seen from here (another PID "
			"namespace): --telemetry tells where its telemetry socket is",
			control);
	(void)snprintf(own, sizeof(own), "%s", control);
	slash = strrchr(own, '/');
	if (slash != NULL)
		*slash = 0;
	if (try_folder(t, slash != NULL ? own : ".", daemon, &denied))
		return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (folders[i] != NULL && try_folder(t, folders[i], daemon, &denied))
			return true;
	return explain(t,
		"the telemetry socket of the daemon at %s is not found%s: its configuration has to "
		"say \"telemetry\": {\"socket\": true}, only its own user and root may ask, and "
		"--telemetry tells where it is",
		control, denied ? " (Permission denied)" : "");
}

static bool
open_named(struct verbs_telemetry *t, const char *control, pid_t daemon, const char *path)
{
	t->sock = connect_to(path);
	if (t->sock < 0)
		return explain(t, "telemetry socket %s: %s%s", path, strerror(errno),
			errno == EACCES ? ": only the daemon's own user and root may ask" : "");
	if (peer_of(t->sock) != daemon)
		return explain(t, "telemetry socket %s is another daemon's than %s", path, control);
	return true;
}

/* ---- talking ------------------------------------------------------------------------- */

void
verbs_telemetry_limit(struct verbs_telemetry *t, unsigned ms)
{
	t->until_ns = app_now_ns() + ms * APP_NS_PER_MS;
}

static bool
await_socket(struct verbs_telemetry *t, short what)
{
	struct pollfd pfd = {.fd = t->sock, .events = what};
	uint64_t now = app_now_ns();
	int n = 0;

	if (now < t->until_ns)
		n = poll(&pfd, 1, (int)((t->until_ns - now) / APP_NS_PER_MS) + 1);
	return n > 0 || explain(t, "the daemon's telemetry does not answer");
}

/* The next message as JSON, an object. */
static json_t *
next_message(struct verbs_telemetry *t)
{
	static char text[ANSWER_BYTES];
	json_error_t wrong;
	json_t *object;
	ssize_t n;

	if (!await_socket(t, POLLIN))
		return NULL;
	n = recv(t->sock, text, sizeof(text), MSG_TRUNC | MSG_DONTWAIT);
	if (n <= 0) {
		(void)explain(t, ENDED);
		return NULL;
	}
	if ((size_t)n <= sizeof(text)) {
		object = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, &wrong);
		if (json_is_object(object))
			return object;
		json_decref(object);
	}
	(void)explain(t, "an answer that is none of DPDK's telemetry");
	return NULL;
}

bool
verbs_telemetry_open(struct verbs_telemetry *t, const char *control, const char *path)
{
	pid_t daemon = 0;
	json_t *greeting;

	t->sock = -1;
	if (!daemon_of(t, control, &daemon) || !(path != NULL ? open_named(t, control, daemon, path)
							      : search_folders(t, control, daemon)))
		return false;
	greeting = next_message(t);
	json_decref(greeting);
	return greeting != NULL;
}

void
verbs_telemetry_close(struct verbs_telemetry *t)
{
	if (t->sock >= 0)
		close(t->sock);
	t->sock = -1;
}

json_t *
verbs_telemetry_ask(struct verbs_telemetry *t, const char *command)
{
	char name[64];
	json_t *whole, *answer;

	if (!await_socket(t, POLLOUT))
		return NULL;
	if (send(t->sock, command, strlen(command), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		(void)explain(t, ENDED);
		return NULL;
	}
	whole = next_message(t);
	if (whole == NULL)
		return NULL;
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);
	answer = json_incref(json_object_get(whole, name));
	json_decref(whole);
	if (answer == NULL || json_is_null(answer)) {
		(void)explain(
			t, "no answer to %s: are daemon and ndd-verbs of one build?", command);
		json_decref(answer);
		return NULL;
	}
	return answer;
}
