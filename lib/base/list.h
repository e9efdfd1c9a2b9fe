/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intrusive doubly linked list with a sentinel. A link in no list is all zero,
 * as fresh memory is: membership needs no flag, removal no question.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct base_link {
	struct base_link *next, *prev;
};

#define base_container(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

static inline void
base_list_init(struct base_link *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool
base_list_empty(const struct base_link *head)
{
	return head->next == head;
}

static inline bool
base_linked(const struct base_link *link)
{
	return link->next != NULL;
}

static inline void
base_list_append(struct base_link *head, struct base_link *link)
{
	link->next = head;
	link->prev = head->prev;
	head->prev->next = link;
	head->prev = link;
}

static inline void
base_list_prepend(struct base_link *head, struct base_link *link)
{
	base_list_append(head->next, link);
}

/* Harmless on a link that is in no list. */
static inline void
base_list_remove(struct base_link *link)
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
base_list_join(struct base_link *head, struct base_link *link)
{
	if (!base_linked(link))
		base_list_append(head, link);
}

static inline struct base_link *
base_list_first(const struct base_link *head)
{
	return head->next == head ? NULL : head->next;
}

/* The order stays, as in a ring, but it begins with first, which is in the list. */
static inline void
base_list_rotate(struct base_link *head, struct base_link *first)
{
	base_list_remove(head);
	base_list_append(first, head);
}

/* Move all of from behind the last of to. */
static inline void
base_list_splice(struct base_link *to, struct base_link *from)
{
	if (base_list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	base_list_init(from);
}

#endif
