/* SPDX-License-Identifier: BSD-3-Clause */
/* stays_loaded LIBNDSPI: 0 if the library can be used after it was closed. */
#include <dlfcn.h>
#include <stdio.h>

#include <ndsupport.h>

/* checks R-LIFE-13[1]: a program that closes the library goes on using what it has of it. */
int
main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	HRESULT (*open_provider)(REFIID, void **);
	const IID *iid;
	IND2Provider *provider;

	if (library == NULL) {
		fprintf(stderr, "stays_loaded: %s\n", argc == 2 ? dlerror() : "usage: LIBNDSPI");
		return 2;
	}
	*(void **)&open_provider = dlsym(library, "NdOpenProvider");
	iid = dlsym(library, "IID_IND2Provider");
	if (open_provider(iid, (void **)&provider) != S_OK || dlclose(library) != 0)
		return 1;
	return provider->lpVtbl->AddRef(provider) == 2 &&
			       provider->lpVtbl->Release(provider) == 1 &&
			       provider->lpVtbl->Release(provider) == 0
		       ? 0
		       : 1;
}
