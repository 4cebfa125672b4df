/* Compiled with HONE_FFT_TARGET (baseline, avx2 or avx512) and
 * HONE_FFT_VECTOR_BYTES. */

#include "backends/cpu/library/fft_lines.h"

#include <string.h>

#include "backends/cpu/kernel_runtime.h"

#define JOIN4(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d) JOIN4(a, b, c, d)

#define REAL float
#define REAL_NAME f32
#define LANES (HONE_FFT_VECTOR_BYTES / 4)
#define NAME(name) JOIN(name, _, f32, )
#include "backends/cpu/library/fft_lines_of_type.h"
#undef REAL
#undef REAL_NAME
#undef LANES
#undef NAME

#define REAL double
#define REAL_NAME f64
#define LANES (HONE_FFT_VECTOR_BYTES / 8)
#define NAME(name) JOIN(name, _, f64, )
#include "backends/cpu/library/fft_lines_of_type.h"
