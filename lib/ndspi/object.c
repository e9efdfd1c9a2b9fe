/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces are counted as the application sees them; what this library holds does not show in
 * their counts (R-LIFE-04). An object whose last reference is gone closes what it has of
 * libndclient at once: that keeps alive what others rest on, so objects need not hold each other
 * here, but for the adapter, whose close would end them all.
 */
#include <stdlib.h>

#include "ndspi/adapter.h"
#include "ndspi/object.h"

void *
spi_object_new(const struct spi_class *class, size_t bytes, struct spi_adapter *adapter,
	struct ndwin_file *file)
{
	struct spi_object *o = calloc(1, bytes);

	if (o == NULL)
		return NULL;
	o->vtbl = class->vtbl;
	o->class = class;
	o->adapter = adapter;
	o->file = file;
	o->references = 1;
	if (adapter != NULL)
		spi_adapter_hold(adapter);
	return o;
}

static void
object_free(struct spi_object *o)
{
	struct spi_adapter *adapter = o->adapter;

	o->class->close(o);
	if (o->file != NULL)
		ndwin_file_put(o->file);
	free(o);
	if (adapter != NULL)
		spi_adapter_drop(adapter);
}

void
spi_object_no_close(struct spi_object *o)
{
	(void)o;
}

bool
spi_class_answers(const struct spi_class *class, REFIID iid)
{
	return IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, class->iid) ||
	       (class->base != NULL && IsEqualIID(iid, class->base));
}

HRESULT
spi_object_query(struct spi_object *o, REFIID iid, void **out)
{
	if (out == NULL)
		return E_POINTER;
	*out = NULL;
	if (!spi_class_answers(o->class, iid))
		return E_NOINTERFACE;
	spi_object_add_ref(o);
	*out = o;
	return S_OK;
}

HRESULT
spi_object_give(struct spi_object *o, REFIID iid, void **out)
{
	HRESULT hr = spi_object_query(o, iid, out);

	spi_object_release(o);
	return hr;
}

ULONG
spi_object_add_ref(struct spi_object *o)
{
	return __atomic_add_fetch(&o->references, 1, __ATOMIC_RELAXED);
}

ULONG
spi_object_release(struct spi_object *o)
{
	ULONG left = __atomic_sub_fetch(&o->references, 1, __ATOMIC_ACQ_REL);

	if (left == 0)
		object_free(o);
	return left;
}

void *
spi_object_of(IUnknown *given, const struct spi_class *class, const struct spi_adapter *a)
{
	struct spi_object *o = (struct spi_object *)given;

	return o != NULL && o->vtbl == class->vtbl && o->adapter == a ? o : NULL;
}
