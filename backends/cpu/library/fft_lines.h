#ifndef HONE_BACKENDS_CPU_LIBRARY_FFT_LINES_H_
#define HONE_BACKENDS_CPU_LIBRARY_FFT_LINES_H_

/* Transforms of many lines, a line in each lane of a vector: fft_lines.c is
 * compiled for each vector width. */

#include "backends/cpu/library/fft_plan.h"

/* Lines in memory: that of lane l in group g begins at g·group + l·lane, and
 * its elements are `element` apart, all in real numbers. */
typedef struct FftLines {
  const void* re;
  const void* im; /* null: zero */
  int64_t group;
  int64_t lane;
  int64_t element;
} FftLines;

enum { kFftComplex, kFftFromReal, kFftToReal };

typedef struct FftJob {
  const FftPlan* plan; /* of half the length for real lines of even length */
  int kind;
  int64_t n; /* of the lines, in real or complex elements */
  double scale;
  int64_t groups;
  int64_t lanes; /* lines per group */
  FftLines from;
  FftLines to;
  /* Factors of the result, [n][lanes], planar like FftPlan::steps; or null. */
  const void* steps;
} FftJob;

/* The lanes of a vector, and the transforms of the blocks begin … end-1: block
 * i is the lanes from i % blocks · vector on, of group i / blocks, where a
 * group has `blocks` = ceil(lanes / vector). */
typedef struct FftKernels {
  int64_t vector;
  void (*run)(const FftJob* job, int64_t begin, int64_t end);
  /* One real line of length 2h in memory, from the transform of the complex
   * line of length h = plan->n that its even and odd elements are; and the
   * inverse, times 2. */
  void (*split)(const FftPlan* plan, const void* half_re, const void* half_im,
                void* re, void* im);
  void (*join)(const FftPlan* plan, const void* re, const void* im,
               void* half_re, void* half_im);
} FftKernels;

extern const FftKernels hone_fft_f32_baseline;
extern const FftKernels hone_fft_f64_baseline;
#ifdef __x86_64__
extern const FftKernels hone_fft_f32_avx2;
extern const FftKernels hone_fft_f64_avx2;
extern const FftKernels hone_fft_f32_avx512;
extern const FftKernels hone_fft_f64_avx512;
#endif

#endif /* HONE_BACKENDS_CPU_LIBRARY_FFT_LINES_H_ */
