// Swift's module of the GNU C library leaves malloc.h out.
#ifndef MALLOC_TRIM_H
#define MALLOC_TRIM_H
#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>
#endif
#endif
