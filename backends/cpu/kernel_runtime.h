#ifndef HONE_BACKENDS_CPU_KERNEL_RUNTIME_H_
#define HONE_BACKENDS_CPU_KERNEL_RUNTIME_H_

/* The functions that compiled kernels call, in C and without other libraries
 * than libc and pthreads: linked into this process for kernels that run here,
 * and into every exported shared object. */

#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): C names, as C users expect. */
#ifdef __cplusplus
extern "C" {
#endif

/* Calls body(context, begin, end) for ranges that cover 0 … count-1 once, on
 * hone_kernel_threads() threads, the calling one among them; returns when all
 * are done. A pool is started at the first call and stays. Called from inside
 * a body it runs everything on the calling thread. */
void hone_kernel_parallel_for(void (*body)(void* context, int64_t begin,
                                           int64_t end),
                              void* context, int64_t count);

/* Threads used from now on; the default is the number of processors that the
 * process may run on, or the environment's HONE_THREADS. */
void hone_kernel_set_threads(int32_t threads);
int32_t hone_kernel_threads(void);

/* `bytes` of scratch memory, 64-byte aligned, without a value. Freed memory is
 * kept for the next call, so that repeated calls touch the same pages. Ends the
 * process with a message when there is none. */
void* hone_kernel_allocate(int64_t bytes);
void hone_kernel_free(void* memory);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* HONE_BACKENDS_CPU_KERNEL_RUNTIME_H_ */
