/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/seat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "courier/line.h"
#include "session/closer.h"

#define FILES_PER_SESSION 4u /* its socket, its process, its wake eventfd, one on its way to it */

static enum ndsh_status
seat_pay(struct ndd_account *account, bool stranger)
{
	bool paid;

	if (!stranger && !ndd_account_may_connect(account))
		return NDSH_ERR_ACCESS;
	paid = stranger ? ndd_account_take_stranger(account)
			: ndd_account_take_with_files(
				  account, CONFIG_SHARE_sessions, 1, FILES_PER_SESSION);
	return paid ? NDSH_OK : NDSH_ERR_NO_RESOURCES;
}

static struct ndd_seat *
seat_new(struct ndd_accounts *a, const struct ndd_credentials *cred, bool stranger,
	struct ndd_refusal *why)
{
	struct ndd_seat *seat = calloc(1, sizeof(*seat));

	why->status = NDSH_ERR_NO_RESOURCES;
	(void)snprintf(why->why, sizeof(why->why), "the daemon is out of memory");
	if (seat == NULL)
		return NULL;
	*seat = (struct ndd_seat){.account.all = a, .fd = -1, .holders = 1, .stranger = stranger};
	seat->account.principal = ndd_principal_get(a, cred);
	if (seat->account.principal != NULL) {
		why->status = seat_pay(&seat->account, stranger);
		if (why->status == NDSH_OK)
			return seat;
		memcpy(why->why, seat->account.why, sizeof(why->why));
		ndd_principal_put(a, seat->account.principal);
	}
	free(seat);
	return NULL;
}

static void
seat_give(struct ndd_seat *seat)
{
	if (seat->stranger)
		ndd_account_give_stranger(&seat->account);
	else
		ndd_account_give_with_files(
			&seat->account, CONFIG_SHARE_sessions, 1, FILES_PER_SESSION);
}

bool
ndd_seat_take_again(struct ndd_seat *seat, struct ndd_refusal *why)
{
	why->status = seat_pay(&seat->account, false);
	memcpy(why->why, seat->account.why, sizeof(why->why));
	if (why->status != NDSH_OK)
		return false;
	seat_give(seat);
	seat->stranger = false;
	return true;
}

struct ndd_seat *
ndd_seat_take(struct ndd_accounts *a, const struct ndd_credentials *cred, struct ndd_refusal *why)
{
	return seat_new(a, cred, false, why);
}

struct ndd_seat *
ndd_seat_take_stranger(struct ndd_accounts *a, const struct ndd_credentials *cred)
{
	struct ndd_refusal why;

	return seat_new(a, cred, true, &why);
}

bool
ndd_seat_connect(struct ndd_seat *seat, int fd, struct ndd_closer *closer)
{
	struct ndd_courier *courier = ndd_account_courier(&seat->account);

	if (courier == NULL)
		return false;
	seat->line = ndd_line_new(courier, seat->account.principal->direct, fd);
	if (seat->line == NULL)
		return false;
	seat->fd = fd;
	seat->closer = closer;
	return true;
}

static void
on_line_closed(void *arg)
{
	struct ndd_seat *seat = arg;

	if (seat->fd >= 0)
		ndd_closer_give(seat->closer, seat);
	else
		ndd_seat_drop(seat);
}

void
ndd_seat_hang_up(struct ndd_seat *seat)
{
	struct ndd_line *line = seat->line;

	seat->line = NULL;
	seat->leaves = !seat->stranger;
	seat->account.principal->leaving += seat->leaves;
	ndd_line_close(line, &seat->fd, on_line_closed, seat);
}

struct ndd_seat *
ndd_seat_hold(struct ndd_seat *seat)
{
	seat->holders++;
	return seat;
}

void
ndd_seat_drop(struct ndd_seat *seat)
{
	if (--seat->holders != 0)
		return;
	seat_give(seat);
	seat->account.principal->leaving -= seat->leaves;
	ndd_principal_put(seat->account.all, seat->account.principal);
	free(seat);
}
