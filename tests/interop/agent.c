/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest's process 1: runs shell commands that the host sends over a virtio-serial port.
 *
 * Not over the network, so that the guest's Ethernet carries test traffic alone. Several commands
 * run at once on the one port; each frame names its command by an id that the host chose. The host
 * keeps the port open for as long as the guest lives, so a connection never changes hands.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum frame_type {
	FRAME_RUN = 1,
	FRAME_KILL = 2,
	FRAME_OUTPUT = 3,
	FRAME_EXIT = 4,
	FRAME_TALK = 5, /* run a command that hears what FRAME_INPUT brings; others hear nothing */
	FRAME_INPUT = 6,
};

#define COMMANDS_MAX 16
#define PAYLOAD_MAX  16384

struct frame {
	uint32_t type, id, bytes; /* little endian, as both ends are */
	char payload[PAYLOAD_MAX];
};
#define FRAME_HEADER_BYTES 12

struct command {
	pid_t pid; /* 0: free */
	uint32_t id;
	int output, input; /* -1: closed, none */
};

static int port;
static struct command commands[COMMANDS_MAX];

static void
die(const char *what)
{
	perror(what);
	exit(1); /* process 1: the kernel panics and, by its command line, the machine ends */
}

static void
port_write(uint32_t type, uint32_t id, const void *payload, uint32_t bytes)
{
	static struct frame f;
	size_t total = FRAME_HEADER_BYTES + bytes, done = 0;

	f.type = type;
	f.id = id;
	f.bytes = bytes;
	memcpy(f.payload, payload, bytes);
	while (done < total) {
		ssize_t n = write(port, (char *)&f + done, total - done);

		if (n < 0 && errno != EINTR)
			die("write to the host");
		if (n > 0)
			done += (size_t)n;
	}
}

static void
port_read(void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = read(port, (char *)to + done, bytes - done);

		if (n == 0 || (n < 0 && errno != EINTR))
			die("read from the host");
		if (n > 0)
			done += (size_t)n;
	}
}

/* Pass on what one command wrote; false: nothing there now. */
static int
command_output(struct command *c)
{
	char buf[PAYLOAD_MAX];
	ssize_t n = c->output < 0 ? -1 : read(c->output, buf, sizeof(buf));

	if (n > 0)
		port_write(FRAME_OUTPUT, c->id, buf, (uint32_t)n);
	else if (n == 0) {
		close(c->output);
		c->output = -1;
	}
	return n > 0;
}

static void
command_exit(struct command *c, int status)
{
	uint32_t code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status)
					  : 128 + (uint32_t)WTERMSIG(status);

	while (command_output(c))
		;
	if (c->output >= 0)
		close(c->output);
	if (c->input >= 0)
		close(c->input);
	c->pid = 0;
	port_write(FRAME_EXIT, c->id, &code, sizeof(code));
}

static void
command_run(uint32_t id, const char *line, int talks)
{
	struct command *c = commands;
	int fds[2], in[2] = {-1, -1};

	while (c < commands + COMMANDS_MAX && c->pid)
		c++;
	if (c == commands + COMMANDS_MAX || pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0 ||
		(talks && pipe2(in, O_CLOEXEC) < 0))
		die("no room for a command");
	c->id = id;
	c->output = fds[0];
	c->input = in[1];
	c->pid = fork();
	if (c->pid < 0)
		die("fork");
	if (c->pid == 0) {
		setsid();
		signal(SIGPIPE, SIG_DFL);
		fcntl(fds[1], F_SETFL, 0);
		dup2(talks ? in[0] : open("/dev/null", O_RDWR), 0);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	if (talks)
		close(in[0]);
}

/* Less than a pipe holds: a line or two. What a command that has ended should hear is lost. */
static void
command_input(struct command *c, const struct frame *f)
{
	if (c->input >= 0 && write(c->input, f->payload, f->bytes) < 0 && errno != EPIPE)
		die("write to a command");
}

static void
port_frame(void)
{
	static struct frame f;

	port_read(&f, FRAME_HEADER_BYTES);
	if (f.bytes >= sizeof(f.payload))
		die("frame from the host too long");
	port_read(f.payload, f.bytes);
	f.payload[f.bytes] = '\0';
	if (f.type == FRAME_RUN || f.type == FRAME_TALK)
		command_run(f.id, f.payload, f.type == FRAME_TALK);
	for (struct command *c = commands; c < commands + COMMANDS_MAX; c++) {
		if (c->pid && c->id == f.id && f.type == FRAME_KILL)
			kill(-c->pid, SIGKILL);
		else if (c->pid && c->id == f.id && f.type == FRAME_INPUT)
			command_input(c, &f);
	}
}

int
main(int argc, char **argv)
{
	port = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	if (port < 0)
		die("agent PORT");
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		struct pollfd p[1 + COMMANDS_MAX];
		int status;
		pid_t pid;

		p[0] = (struct pollfd){port, POLLIN, 0};
		for (int i = 0; i < COMMANDS_MAX; i++)
			p[1 + i] = (struct pollfd){
				commands[i].pid ? commands[i].output : -1, POLLIN, 0};
		poll(p, 1 + COMMANDS_MAX, 20);
		if (p[0].revents & POLLIN)
			port_frame();
		for (int i = 0; i < COMMANDS_MAX; i++)
			if (p[1 + i].revents)
				command_output(&commands[i]);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			for (int i = 0; i < COMMANDS_MAX; i++)
				if (commands[i].pid == pid)
					command_exit(&commands[i], status);
		if (p[0].revents & POLLHUP)
			usleep(20000); /* the host has not connected yet */
	}
}
