/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndspi/create.h"

HRESULT
spi_create_begin(void *maker, const struct spi_class *class, size_t bytes, REFIID iid, HANDLE *file,
	void **out, void *object)
{
	struct spi_adapter *a = ((struct spi_object *)maker)->adapter;
	struct ndwin_file *f = NULL;

	if (out == NULL)
		return E_POINTER;
	*out = NULL;
	if (!spi_class_answers(class, iid))
		return E_NOINTERFACE;
	if (file != NULL) {
		f = ndwin_file_get(*file, a);
		if (f == NULL)
			return ND_INVALID_PARAMETER_2;
	}
	*(void **)object = spi_object_new(class, bytes, a, f);
	if (*(void **)object != NULL)
		return ND_SUCCESS;
	if (f != NULL)
		ndwin_file_put(f);
	return ND_NO_MEMORY;
}

HRESULT
spi_create_end(struct spi_object *o, nd_status st, REFIID iid, void **out)
{
	if (st == ND_SUCCESS)
		return spi_object_give(o, iid, out);
	spi_object_release(o);
	return st;
}
