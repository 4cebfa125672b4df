#ifndef HONE_BACKENDS_CPU_LIBRARY_FFT_PLAN_H_
#define HONE_BACKENDS_CPU_LIBRARY_FFT_PLAN_H_

/* How to transform lines of one length, made once for each length and type. */

#include <stdint.h>

enum { kFftMaxPasses = 48 };

/* A Stockham pass with decimation in frequency: for p < m, q < s,
 *   y[q + s·(radix·p + k)] = w^{pk} · Σ_j x[q + s·(p + m·j)] ·
 * e^{-2πi·jk/radix} with w = e^{-2πi/(radix·m)}. Complex numbers of tables are
 * pairs. */
typedef struct FftPass {
  int64_t radix;
  int64_t m;
  int64_t s;
  const void* twiddles; /* w^{pk}: [m][radix - 1] */
  const void* roots;    /* e^{-2πi·k/radix}: [radix] */
} FftPass;

typedef struct FftPlan {
  int64_t n;
  int64_t width; /* bytes of a real number */
  int passes;
  FftPass pass[kFftMaxPasses];
  /* Bluestein's algorithm for lengths with a large prime factor: a cyclic
   * convolution of length padded->n; null for others. */
  const struct FftPlan* padded;
  const void* chirp; /* e^{-πi·k²/n}: [n] */
  const void*
      chirp_transform; /* of its conjugate, over padded->n: [padded->n] */
  /* Of a length 2n: e^{-2πi·k/(2n)} for k ≤ n, for real transforms. */
  const void* halves;
  /* Four steps, for few long lines: n = columns->n · rows->n; null for short
   * ones. steps: e^{-2πi·jk/n}: [columns->n][rows->n], real parts, then
   * imaginary parts. */
  const struct FftPlan* columns;
  const struct FftPlan* rows;
  const void* steps;
  struct FftPlan* next;
} FftPlan;

/* The plan of a length ≥ 1; made at the first call. Thread-safe. */
const FftPlan* hone_fft_plan(int64_t n, int64_t width);

/* e^{-2πi·k/n} for 0 ≤ k < n, to the last bits of a double. */
void hone_fft_root(int64_t k, int64_t n, double* re, double* im);

#endif /* HONE_BACKENDS_CPU_LIBRARY_FFT_PLAN_H_ */
