/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines. A client or principal without items leaves when it is found to have none. */
#include "roce/shard/line.h"

#include "roce/shard/principal.h"

void
roce_line_join(struct roce_shard *s, struct roce_client *c, enum roce_line_kind kind,
	struct base_link *item)
{
	struct roce_line *own = &c->line[kind], *all = &c->principal->line[kind];

	base_list_join(&own->items, item);
	base_list_join(&all->items, &own->link);
	base_list_join(&s->line[kind], &all->link);
}

/* The first line of lines goes to their end. */
static struct roce_line *
line_rotate(struct base_link *lines)
{
	struct base_link *l = base_list_first(lines);

	if (l->next != lines) { /* there are others */
		base_list_remove(l);
		base_list_append(lines, l);
	}
	return base_container(l, struct roce_line, link);
}

struct base_link *
roce_line_next(struct roce_shard *s, enum roce_line_kind kind)
{
	struct base_link *lines = &s->line[kind];

	while (!base_list_empty(lines)) {
		struct roce_line *all = line_rotate(lines), *own;

		if (base_list_empty(&all->items)) {
			base_list_remove(&all->link);
			continue;
		}
		own = line_rotate(&all->items);
		if (!base_list_empty(&own->items))
			return base_list_first(&own->items);
		base_list_remove(&own->link);
	}
	return NULL;
}

uint32_t
roce_line_serve(struct roce_shard *s, enum roce_line_kind kind, uint32_t budget, uint32_t part,
	uint32_t (*serve)(struct roce_shard *s, struct base_link *item, uint32_t most))
{
	uint32_t left = budget;
	struct base_link *l;

	while (left > 0 && (l = roce_line_next(s, kind)) != NULL) {
		uint32_t most = left < part ? left : part, n = serve(s, l, most);

		left -= n < most ? n + 1 : n;
	}
	return budget - left;
}
