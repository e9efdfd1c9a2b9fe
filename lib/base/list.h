/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intrusive doubly linked list with a sentinel. A link in no list is all zero,
 * as fresh memory is: membership needs no flag, removal no question.
 */
#ifndef ROCE_LIST_H
#define ROCE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct roce_link {
	struct roce_link *next, *prev;
};

#define roce_container(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

static inline void
roce_list_init(struct roce_link *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool
roce_list_empty(const struct roce_link *head)
{
	return head->next == head;
}

static inline bool
roce_linked(const struct roce_link *link)
{
	return link->next != NULL;
}

static inline void
roce_list_append(struct roce_link *head, struct roce_link *link)
{
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

static inline void
roce_list_prepend(struct roce_link *head, struct roce_link *link)
{
	roce_list_append(head->next, link);
}

/* Harmless on a link that is in no list. */
static inline void
roce_list_remove(struct roce_link *link)
{
	if (link->next == NULL)
		return;
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->next = NULL;
	link->prev = NULL;
}

/* Append unless it is in a list already. */
static inline void
roce_list_join(struct roce_link *head, struct roce_link *link)
{
	if (!roce_linked(link))
		roce_list_append(head, link);
}

static inline struct roce_link *
roce_list_first(const struct roce_link *head)
{
	return head->next == head ? NULL : head->next;
}

/* Move all of from behind the last of to. */
static inline void
roce_list_splice(struct roce_link *to, struct roce_link *from)
{
	if (roce_list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	roce_list_init(from);
}

#endif
