/* Fast Fourier transforms of arrays whose real and imaginary parts are apart.
 * Attributes: f64 (or f32), kind, batch, rank, lengths. */

#include <stddef.h>
#include <stdint.h>

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/library/fft_lines.h"
#include "backends/cpu/library/library.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { kAttributeType, kAttributeKind, kAttributeBatch, kAttributeRank,
       kAttributeLengths };
enum { kForward, kInverse, kRealForward, kRealInverse };

/* Fewer numbers are not worth waking threads for. */
enum { kParallelNumbers = 1 << 14 };

/* ---- Vector width ------------------------------------------------------- */

enum { kBaseline, kAvx2, kAvx512 };

static int DetectVectors(void) {
#ifdef __x86_64__
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return kBaseline;
  const int has_fma = (c & bit_FMA) != 0;
  if ((c & bit_OSXSAVE) == 0) return kBaseline;
  unsigned states, high;
  __asm__("xgetbv" : "=a"(states), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return kBaseline;
  if (!has_fma || (states & 6) != 6 || (b & bit_AVX2) == 0) return kBaseline;
  const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512VL | bit_AVX512BW;
  return (states & 0xe6) == 0xe6 && (b & wide) == wide ? kAvx512 : kAvx2;
#else
  return kBaseline;
#endif
}

static const FftKernels* KernelsFor(int64_t width) {
  /* Threads that race here find the same. */
  static int detected = -1;
  int vectors = __atomic_load_n(&detected, __ATOMIC_RELAXED);
  if (vectors < 0) {
    vectors = DetectVectors();
    __atomic_store_n(&detected, vectors, __ATOMIC_RELAXED);
  }
#ifdef __x86_64__
  if (vectors == kAvx512) {
    return width == 4 ? &hone_fft_f32_avx512 : &hone_fft_f64_avx512;
  }
  if (vectors == kAvx2) {
    return width == 4 ? &hone_fft_f32_avx2 : &hone_fft_f64_avx2;
  }
#endif
  return width == 4 ? &hone_fft_f32_baseline : &hone_fft_f64_baseline;
}

/* ---- Lines of one dimension --------------------------------------------- */

typedef struct Call {
  int64_t width;
  const FftKernels* kernels;
} Call;

typedef struct Context {
  const FftKernels* kernels;
  const FftJob* job;
} Context;

static void RunBlocks(void* pointer, int64_t begin, int64_t end) {
  const Context* context = pointer;
  context->kernels->run(context->job, begin, end);
}

static void RunJob(const Call* call, const FftJob* job) {
  const int64_t vector = call->kernels->vector;
  const int64_t blocks = job->groups * ((job->lanes + vector - 1) / vector);
  Context context = {call->kernels, job};
  if (job->groups * job->lanes * job->n < kParallelNumbers) {
    RunBlocks(&context, 0, blocks);
  } else {
    hone_kernel_parallel_for(&RunBlocks, &context, blocks);
  }
}

/* A dimension of n elements inside `outer` ones and around `inner` ones. */
typedef struct Dimension {
  int64_t outer;
  int64_t n;
  int64_t inner;
} Dimension;

/* How lines are spread over lanes: lines of one group are `lane` apart. */
typedef struct Groups {
  int64_t groups;
  int64_t group;
  int64_t lanes;
  int64_t lane;
} Groups;

static Groups GroupsOf(Dimension d, int64_t vector) {
  const int64_t line = d.n * d.inner;
  /* Neighbors in the inner dimensions are loaded as vectors, but if these are
   * small most lanes would be idle. */
  if (d.inner == 1 || (2 * d.inner <= vector && d.outer > d.inner)) {
    return (Groups){d.inner, 1, d.outer, line};
  }
  return (Groups){d.outer, line, d.inner, 1};
}

/* A forward complex transform in four steps: columns, factors, rows and a
 * transposition, with all lanes busy on one line. */
static void TransformLine(const Call* call, const FftPlan* plan, FftLines from,
                          FftLines to, double scale) {
  const int64_t n = plan->n;
  const int64_t columns = plan->columns->n;
  const int64_t rows = plan->rows->n;
  char* between = hone_kernel_allocate(2 * n * call->width);
  char* between_im = between + n * call->width;
  const FftJob first = {
      .plan = plan->columns,
      .kind = kFftComplex,
      .n = columns,
      .scale = 1,
      .groups = 1,
      .lanes = rows,
      .from = {from.re, from.im, 0, from.element, rows * from.element},
      .to = {between, between_im, 0, 1, rows},
      .steps = plan->steps};
  RunJob(call, &first);
  const FftJob second = {
      .plan = plan->rows,
      .kind = kFftComplex,
      .n = rows,
      .scale = scale,
      .groups = 1,
      .lanes = columns,
      .from = {between, between_im, 0, rows, 1},
      .to = {to.re, to.im, 0, to.element, columns * to.element}};
  RunJob(call, &second);
  hone_kernel_free(between);
}

static const void* Further(const void* data, int64_t numbers, int64_t width) {
  return data == NULL ? NULL : (const char*)data + numbers * width;
}

/* Forward transforms of all lines of a dimension; `to` may be `from`. The
 * inverse is the forward transform with parts exchanged. */
static void TransformDimension(const Call* call, Dimension d, const void* re,
                               const void* im, void* to_re, void* to_im,
                               double scale) {
  const int64_t lines = d.outer * d.inner;
  if (lines == 0 || d.n == 0) return;
  const FftPlan* plan = hone_fft_plan(d.n, call->width);
  const Groups groups = GroupsOf(d, call->kernels->vector);
  FftJob job = {
      .plan = plan,
      .kind = kFftComplex,
      .n = d.n,
      .scale = scale,
      .groups = groups.groups,
      .lanes = groups.lanes,
      .from = {re, im, groups.group, groups.lane, d.inner},
      .to = {to_re, to_im, groups.group, groups.lane, d.inner}};
  if (2 * lines > call->kernels->vector || plan->columns == NULL) {
    RunJob(call, &job);
    return;
  }
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t start = i / d.inner * d.n * d.inner + i % d.inner;
    FftLines from = job.from;
    FftLines to = job.to;
    from.re = Further(re, start, call->width);
    from.im = Further(im, start, call->width);
    to.re = Further(to_re, start, call->width);
    to.im = Further(to_im, start, call->width);
    TransformLine(call, plan, from, to, scale);
  }
}

/* Few long real lines: the even and the odd elements are the parts of a complex
 * line of half the length. Returns its plan if that is worth it, else null. */
static const FftPlan* HalfPlan(const Call* call, Dimension d) {
  if (d.n % 2 != 0 || 2 * d.outer > call->kernels->vector) return NULL;
  const FftPlan* plan = hone_fft_plan(d.n / 2, call->width);
  return plan->columns == NULL ? NULL : plan;
}

static void TransformLongReal(const Call* call, Dimension d,
                              const FftPlan* plan, const char* x, char* re,
                              char* im) {
  const int64_t h = plan->n;
  const int64_t width = call->width;
  char* half_re = hone_kernel_allocate(2 * h * width);
  char* half_im = half_re + h * width;
  for (int64_t line = 0; line < d.outer; ++line) {
    const char* from = x + line * d.n * width;
    TransformLine(call, plan, (FftLines){from, from + width, 0, 0, 2},
                  (FftLines){half_re, half_im, 0, 0, 1}, 1);
    call->kernels->split(plan, half_re, half_im,
                         re + line * (h + 1) * width,
                         im + line * (h + 1) * width);
  }
  hone_kernel_free(half_re);
}

static void TransformLongToReal(const Call* call, Dimension d,
                                const FftPlan* plan, const char* re,
                                const char* im, char* x, double scale) {
  const int64_t h = plan->n;
  const int64_t width = call->width;
  char* half_re = hone_kernel_allocate(2 * h * width);
  char* half_im = half_re + h * width;
  for (int64_t line = 0; line < d.outer; ++line) {
    char* to = x + line * d.n * width;
    call->kernels->join(plan, re + line * (h + 1) * width,
                        im + line * (h + 1) * width, half_re, half_im);
    TransformLine(call, plan, (FftLines){half_im, half_re, 0, 0, 1},
                  (FftLines){to + width, to, 0, 0, 2}, scale);
  }
  hone_kernel_free(half_re);
}

/* Real lines along the last dimension: `d.n` real numbers, d.n / 2 + 1 complex
 * ones. */
static void TransformReal(const Call* call, Dimension d, const void* x,
                          void* re, void* im) {
  if (d.outer == 0 || d.n == 0) return;
  const FftPlan* half = HalfPlan(call, d);
  if (half != NULL) {
    TransformLongReal(call, d, half, x, re, im);
    return;
  }
  const int64_t results = d.n / 2 + 1;
  const FftJob job = {
      .plan = hone_fft_plan(d.n % 2 == 0 ? d.n / 2 : d.n, call->width),
      .kind = kFftFromReal,
      .n = d.n,
      .scale = 1,
      .groups = 1,
      .lanes = d.outer,
      .from = {x, NULL, 0, d.n, 1},
      .to = {re, im, 0, results, 1}};
  RunJob(call, &job);
}

static void TransformToReal(const Call* call, Dimension d, const void* re,
                            const void* im, void* x, double scale) {
  if (d.outer == 0 || d.n == 0) return;
  const FftPlan* half = HalfPlan(call, d);
  if (half != NULL) {
    TransformLongToReal(call, d, half, re, im, x, scale);
    return;
  }
  const int64_t inputs = d.n / 2 + 1;
  const FftJob job = {
      .plan = hone_fft_plan(d.n % 2 == 0 ? d.n / 2 : d.n, call->width),
      .kind = kFftToReal,
      .n = d.n,
      .scale = scale,
      .groups = 1,
      .lanes = d.outer,
      .from = {re, im, 0, inputs, 1},
      .to = {x, NULL, 0, d.n, 1}};
  RunJob(call, &job);
}

/* ---- Arrays ------------------------------------------------------------- */

/* Transforms the dimensions first … last-1 of an array, of which the last has
 * `row` elements. */
static void TransformDimensions(const Call* call, const int64_t* attributes,
                                int64_t count, int64_t row, const void* re,
                                const void* im, void* to_re, void* to_im,
                                double scale) {
  const int64_t rank = attributes[kAttributeRank];
  const int64_t* lengths = attributes + kAttributeLengths;
  for (int64_t d = count; d-- > 0;) {
    Dimension dimension = {attributes[kAttributeBatch], lengths[d], 1};
    for (int64_t i = 0; i < d; ++i) dimension.outer *= lengths[i];
    for (int64_t i = d + 1; i < rank; ++i) {
      dimension.inner *= i + 1 == rank ? row : lengths[i];
    }
    TransformDimension(call, dimension, re, im, to_re, to_im,
                       d == 0 ? scale : 1);
    re = to_re;
    im = to_im;
  }
}

void hone_fft(const int64_t* attributes, const void* const* arguments,
              void* const* results) {
  const int64_t rank = attributes[kAttributeRank];
  const int64_t* lengths = attributes + kAttributeLengths;
  const int64_t width = attributes[kAttributeType] == 0 ? 4 : 8;
  const Call call = {width, KernelsFor(width)};
  const int64_t last = lengths[rank - 1];
  const int64_t half = last / 2 + 1;
  double numbers = 1;
  int64_t outer = attributes[kAttributeBatch];
  for (int64_t i = 0; i < rank; ++i) {
    numbers *= (double)lengths[i];
    if (i + 1 < rank) outer *= lengths[i];
  }
  const Dimension rows = {outer, last, 1};
  switch (attributes[kAttributeKind]) {
    case kForward:
      TransformDimensions(&call, attributes, rank, last, arguments[0],
                          arguments[1], results[0], results[1], 1);
      return;
    case kInverse:
      TransformDimensions(&call, attributes, rank, last, arguments[1],
                          arguments[0], results[1], results[0], 1 / numbers);
      return;
    case kRealForward:
      TransformReal(&call, rows, arguments[0], results[0], results[1]);
      TransformDimensions(&call, attributes, rank - 1, half, results[0],
                          results[1], results[0], results[1], 1);
      return;
    default: {
      if (rank == 1) {
        TransformToReal(&call, rows, arguments[0], arguments[1], results[0],
                        1 / numbers);
        return;
      }
      char* re = hone_kernel_allocate(2 * outer * half * width);
      char* im = re + outer * half * width;
      TransformDimensions(&call, attributes, rank - 1, half, arguments[1],
                          arguments[0], im, re, 1);
      TransformToReal(&call, rows, re, im, results[0], 1 / numbers);
      hone_kernel_free(re);
    }
  }
}
