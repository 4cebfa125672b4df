#ifndef HONE_BACKENDS_CPU_LIBRARY_LIBRARY_H_
#define HONE_BACKENDS_CPU_LIBRARY_LIBRARY_H_

/* The functions that compiled modules call for what is not a loop program: in C
 * and without other libraries than libc, libm and pthreads, as
 * kernel_runtime.h. Linked into this process, and into those exported shared
 * objects that call them. */

#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): C names, as compiled code has. */
#ifdef __cplusplus
extern "C" {
#endif

/* Arrays are dense; results do not overlap arguments. */
#define HONE_LIBRARY_FUNCTION(name)                                  \
  void name(const int64_t* attributes, const void* const* arguments, \
            void* const* results);
#include "backends/cpu/library/functions.def"
#undef HONE_LIBRARY_FUNCTION

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* HONE_BACKENDS_CPU_LIBRARY_LIBRARY_H_ */
