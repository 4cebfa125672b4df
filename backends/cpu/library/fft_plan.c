#include "backends/cpu/library/fft_plan.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "backends/cpu/kernel_runtime.h"

enum {
  /* Primes above this are left to Bluestein's algorithm. */
  kGreatestRadix = 31,
  /* Lines of at least this length are worth four steps if they are few. */
  kLongLine = 256,
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FftPlan* plans;

static FftPlan* FindPlan(int64_t n, int64_t width);

/* The mutex is held. */
static void* Allocate(int64_t bytes) {
  void* memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (memory == NULL) {
    pthread_mutex_unlock(&mutex);
    hone_kernel_fail("no memory for the tables of an FFT");
  }
  return memory;
}

static void Put(void* table, int64_t width, int64_t i, double value) {
  if (width == 4) {
    ((float*)table)[i] = (float)value;
  } else {
    ((double*)table)[i] = value;
  }
}

/* Reduces the angle to an eighth of a turn, where cos and sin are exact. */
void hone_fft_root(int64_t k, int64_t n, double* re, double* im) {
  const double kTurn = 6.283185307179586476925286766559;
  int64_t x = 8 * k;
  const int octant = (int)(x / n);
  x -= octant * n;
  if (octant % 2 != 0) x = n - x;
  const double angle = kTurn * (double)x / (double)(8 * n);
  const double c = cos(angle);
  const double s = sin(angle);
  const int quarter = octant / 2;
  const int is_swapped = octant % 2;
  const double a = is_swapped ? s : c;
  const double b = is_swapped ? c : s;
  switch (quarter) {
    case 0:
      *re = a, *im = -b;
      return;
    case 1:
      *re = -b, *im = -a;
      return;
    case 2:
      *re = -a, *im = b;
      return;
    default:
      *re = b, *im = a;
  }
}

static void PutRoot(void* table, int64_t width, int64_t i, int64_t k,
                    int64_t n) {
  double re;
  double im;
  hone_fft_root(k % n, n, &re, &im);
  Put(table, width, 2 * i, re);
  Put(table, width, 2 * i + 1, im);
}

static int64_t GreatestPrime(int64_t n) {
  int64_t greatest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    while (n % p == 0) {
      greatest = p;
      n /= p;
    }
  }
  return n > greatest ? n : greatest;
}

static int64_t NextRadix(int64_t n) {
  if (n % 8 == 0 && n != 16) return 8;
  if (n % 4 == 0) return 4;
  for (int64_t p = 2;; ++p) {
    if (n % p == 0) return p;
  }
}

static void AddPasses(FftPlan* plan) {
  int64_t rest = plan->n;
  int64_t s = 1;
  while (rest > 1) {
    FftPass* pass = &plan->pass[plan->passes++];
    const int64_t r = NextRadix(rest);
    const int64_t m = rest / r;
    pass->radix = r;
    pass->m = m;
    pass->s = s;
    void* twiddles = Allocate(2 * m * (r - 1) * plan->width);
    for (int64_t p = 0; p < m; ++p) {
      for (int64_t k = 1; k < r; ++k) {
        PutRoot(twiddles, plan->width, p * (r - 1) + k - 1, p * k, rest);
      }
    }
    pass->twiddles = twiddles;
    void* roots = Allocate(2 * r * plan->width);
    for (int64_t k = 0; k < r; ++k) PutRoot(roots, plan->width, k, k, r);
    pass->roots = roots;
    rest = m;
    s *= r;
  }
}

/* Σ_k chirp_k·e^{...} by the definition would take too long; the transform of
 * the conjugate chirp is made with a radix-2 FFT in double precision. */
static void TransformInPlace(double* x, int64_t n) {
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      for (int part = 0; part < 2; ++part) {
        const double swapped = x[2 * i + part];
        x[2 * i + part] = x[2 * j + part];
        x[2 * j + part] = swapped;
      }
    }
  }
  for (int64_t size = 2; size <= n; size *= 2) {
    for (int64_t k = 0; k < size / 2; ++k) {
      double wr;
      double wi;
      hone_fft_root(k, size, &wr, &wi);
      for (int64_t i = k; i < n; i += size) {
        double* a = x + 2 * i;
        double* b = x + 2 * (i + size / 2);
        const double re = b[0] * wr - b[1] * wi;
        const double im = b[0] * wi + b[1] * wr;
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
      }
    }
  }
}

static void AddChirp(FftPlan* plan) {
  const int64_t n = plan->n;
  int64_t padded = 1;
  while (padded < 2 * n - 1) padded *= 2;
  plan->padded = FindPlan(padded, plan->width);
  void* chirp = Allocate(2 * n * plan->width);
  double* transform = Allocate(2 * padded * (int64_t)sizeof(double));
  for (int64_t i = 0; i < 2 * padded; ++i) transform[i] = 0;
  /* k² mod 2n, without overflow. */
  int64_t square = 0;
  for (int64_t k = 0; k < n; ++k) {
    double re;
    double im;
    hone_fft_root(square, 2 * n, &re, &im);
    Put(chirp, plan->width, 2 * k, re);
    Put(chirp, plan->width, 2 * k + 1, im);
    const int64_t mirrored = k == 0 ? 0 : padded - k;
    transform[2 * k] = transform[2 * mirrored] = re;
    transform[2 * k + 1] = transform[2 * mirrored + 1] = -im;
    square = (square + 2 * k + 1) % (2 * n);
  }
  TransformInPlace(transform, padded);
  void* table = Allocate(2 * padded * plan->width);
  for (int64_t i = 0; i < 2 * padded; ++i) {
    Put(table, plan->width, i, transform[i] / (double)padded);
  }
  free(transform);
  plan->chirp = chirp;
  plan->chirp_transform = table;
}

static void AddSteps(FftPlan* plan) {
  const int64_t n = plan->n;
  int64_t columns = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) columns = p;
  }
  /* Both factors must fill vectors. */
  if (columns < 16) return;
  const int64_t rows = n / columns;
  plan->columns = FindPlan(columns, plan->width);
  plan->rows = FindPlan(rows, plan->width);
  void* steps = Allocate(2 * n * plan->width);
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t k = 0; k < rows; ++k) {
      double re;
      double im;
      hone_fft_root(j * k % n, n, &re, &im);
      Put(steps, plan->width, j * rows + k, re);
      Put(steps, plan->width, n + j * rows + k, im);
    }
  }
  plan->steps = steps;
}

/* The mutex is held. */
static FftPlan* FindPlan(int64_t n, int64_t width) {
  for (FftPlan* plan = plans; plan != NULL; plan = plan->next) {
    if (plan->n == n && plan->width == width) return plan;
  }
  FftPlan* plan = Allocate((int64_t)sizeof(FftPlan));
  *plan = (FftPlan){.n = n, .width = width};
  if (GreatestPrime(n) <= kGreatestRadix) {
    AddPasses(plan);
  } else {
    AddChirp(plan);
  }
  void* halves = Allocate(2 * (n + 1) * width);
  for (int64_t k = 0; k <= n; ++k) PutRoot(halves, width, k, k, 2 * n);
  plan->halves = halves;
  if (n >= kLongLine) AddSteps(plan);
  plan->next = plans;
  plans = plan;
  return plan;
}

const FftPlan* hone_fft_plan(int64_t n, int64_t width) {
  pthread_mutex_lock(&mutex);
  const FftPlan* plan = FindPlan(n, width);
  pthread_mutex_unlock(&mutex);
  return plan;
}
