/* The transforms of fft_lines.c for one type: REAL numbers, LANES in a vector,
 * and NAME(x) for the names. No header guard: included once for each type. */

typedef REAL NAME(Vector) __attribute__((vector_size(LANES * sizeof(REAL)),
                                         aligned(sizeof(REAL)), may_alias));
#define V NAME(Vector)

/* The first halves of two vectors in turn, and the second halves. */
#if LANES == 2
#define ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 2)
#define ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 1, 3)
#elif LANES == 4
#define ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#elif LANES == 8
#define ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define ZIP_LOW(a, b)                                                        \
  __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, \
                          22, 7, 23)
#define ZIP_HIGH(a, b)                                                        \
  __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, \
                          14, 30, 15, 31)
#endif

/* The numbers of one block: element j of lane l is re[j][l], im[j][l]. */
typedef struct NAME(Tile) {
  V* re;
  V* im;
} NAME(Tile);
#define TILE NAME(Tile)

/* ---- Butterflies: in place, forward ------------------------------------- */

static inline void NAME(Butterfly2)(V* r, V* i) {
  const V ar = r[0] - r[1];
  const V ai = i[0] - i[1];
  r[0] += r[1];
  i[0] += i[1];
  r[1] = ar;
  i[1] = ai;
}

static inline void NAME(Butterfly3)(V* r, V* i) {
  const REAL c = (REAL)-0.5;
  const REAL s = (REAL)0.86602540378443864676;
  const V sr = r[1] + r[2];
  const V si = i[1] + i[2];
  const V dr = (r[1] - r[2]) * s;
  const V di = (i[1] - i[2]) * s;
  const V mr = r[0] + sr * c;
  const V mi = i[0] + si * c;
  r[0] += sr;
  i[0] += si;
  r[1] = mr + di;
  i[1] = mi - dr;
  r[2] = mr - di;
  i[2] = mi + dr;
}

static inline void NAME(Butterfly4)(V* r, V* i) {
  const V s0r = r[0] + r[2], s0i = i[0] + i[2];
  const V d0r = r[0] - r[2], d0i = i[0] - i[2];
  const V s1r = r[1] + r[3], s1i = i[1] + i[3];
  const V d1r = r[1] - r[3], d1i = i[1] - i[3];
  r[0] = s0r + s1r, i[0] = s0i + s1i;
  r[2] = s0r - s1r, i[2] = s0i - s1i;
  r[1] = d0r + d1i, i[1] = d0i - d1r;
  r[3] = d0r - d1i, i[3] = d0i + d1r;
}

static inline void NAME(Butterfly5)(V* r, V* i) {
  const REAL c1 = (REAL)0.30901699437494742410;
  const REAL c2 = (REAL)-0.80901699437494742410;
  const REAL s1 = (REAL)0.95105651629515357212;
  const REAL s2 = (REAL)0.58778525229247312917;
  const V ar = r[1] + r[4], ai = i[1] + i[4];
  const V br = r[2] + r[3], bi = i[2] + i[3];
  const V cr = r[1] - r[4], ci = i[1] - i[4];
  const V dr = r[2] - r[3], di = i[2] - i[3];
  const V er = r[0] + ar * c1 + br * c2, ei = i[0] + ai * c1 + bi * c2;
  const V fr = r[0] + ar * c2 + br * c1, fi = i[0] + ai * c2 + bi * c1;
  const V gr = cr * s1 + dr * s2, gi = ci * s1 + di * s2;
  const V hr = cr * s2 - dr * s1, hi = ci * s2 - di * s1;
  r[0] += ar + br, i[0] += ai + bi;
  r[1] = er + gi, i[1] = ei - gr;
  r[4] = er - gi, i[4] = ei + gr;
  r[2] = fr + hi, i[2] = fi - hr;
  r[3] = fr - hi, i[3] = fi + hr;
}

static inline void NAME(Butterfly8)(V* r, V* i) {
  const REAL h = (REAL)0.70710678118654752440;
  V er[4] = {r[0], r[2], r[4], r[6]};
  V ei[4] = {i[0], i[2], i[4], i[6]};
  V dr[4] = {r[1], r[3], r[5], r[7]};
  V di[4] = {i[1], i[3], i[5], i[7]};
  NAME(Butterfly4)(er, ei);
  NAME(Butterfly4)(dr, di);
  const V r1 = (dr[1] + di[1]) * h, i1 = (di[1] - dr[1]) * h;
  const V r2 = di[2], i2 = -dr[2];
  const V r3 = (di[3] - dr[3]) * h, i3 = (di[3] + dr[3]) * -h;
  r[0] = er[0] + dr[0], i[0] = ei[0] + di[0];
  r[4] = er[0] - dr[0], i[4] = ei[0] - di[0];
  r[1] = er[1] + r1, i[1] = ei[1] + i1;
  r[5] = er[1] - r1, i[5] = ei[1] - i1;
  r[2] = er[2] + r2, i[2] = ei[2] + i2;
  r[6] = er[2] - r2, i[6] = ei[2] - i2;
  r[3] = er[3] + r3, i[3] = ei[3] + i3;
  r[7] = er[3] - r3, i[7] = ei[3] - i3;
}

/* ---- Passes ------------------------------------------------------------- */

#define HONE_FFT_PASS(RADIX)                                           \
  static void NAME(Pass##RADIX)(const FftPass* pass, TILE x, TILE y) { \
    const int64_t m = pass->m;                                         \
    const int64_t s = pass->s;                                         \
    const REAL* w = pass->twiddles;                                    \
    for (int64_t p = 0; p < m; ++p, w += 2 * (RADIX - 1)) {            \
      for (int64_t q = 0; q < s; ++q) {                                \
        V r[RADIX];                                                    \
        V i[RADIX];                                                    \
        for (int j = 0; j < RADIX; ++j) {                              \
          r[j] = x.re[q + s * (p + m * j)];                            \
          i[j] = x.im[q + s * (p + m * j)];                            \
        }                                                              \
        NAME(Butterfly##RADIX)(r, i);                                  \
        V* to_r = y.re + q + s * RADIX * p;                            \
        V* to_i = y.im + q + s * RADIX * p;                            \
        to_r[0] = r[0];                                                \
        to_i[0] = i[0];                                                \
        if (p == 0) {                                                  \
          for (int k = 1; k < RADIX; ++k) {                            \
            to_r[s * k] = r[k];                                        \
            to_i[s * k] = i[k];                                        \
          }                                                            \
          continue;                                                    \
        }                                                              \
        for (int k = 1; k < RADIX; ++k) {                              \
          const REAL wr = w[2 * k - 2];                                \
          const REAL wi = w[2 * k - 1];                                \
          to_r[s * k] = r[k] * wr - i[k] * wi;                         \
          to_i[s * k] = r[k] * wi + i[k] * wr;                         \
        }                                                              \
      }                                                                \
    }                                                                  \
  }
HONE_FFT_PASS(2)
HONE_FFT_PASS(3)
HONE_FFT_PASS(4)
HONE_FFT_PASS(5)
HONE_FFT_PASS(8)
#undef HONE_FFT_PASS

/* Any radix, by the definition. */
static void NAME(PassN)(const FftPass* pass, TILE x, TILE y) {
  const int64_t radix = pass->radix;
  const int64_t m = pass->m;
  const int64_t s = pass->s;
  const REAL* roots = pass->roots;
  for (int64_t p = 0; p < m; ++p) {
    const REAL* w = (const REAL*)pass->twiddles + 2 * p * (radix - 1);
    for (int64_t q = 0; q < s; ++q) {
      for (int64_t k = 0; k < radix; ++k) {
        V r = x.re[q + s * p];
        V i = x.im[q + s * p];
        int64_t power = 0;
        for (int64_t j = 1; j < radix; ++j) {
          power += k;
          if (power >= radix) power -= radix;
          const V ar = x.re[q + s * (p + m * j)];
          const V ai = x.im[q + s * (p + m * j)];
          r += ar * roots[2 * power] - ai * roots[2 * power + 1];
          i += ar * roots[2 * power + 1] + ai * roots[2 * power];
        }
        const int64_t to = q + s * (radix * p + k);
        if (k == 0) {
          y.re[to] = r;
          y.im[to] = i;
        } else {
          y.re[to] = r * w[2 * k - 2] - i * w[2 * k - 1];
          y.im[to] = r * w[2 * k - 1] + i * w[2 * k - 2];
        }
      }
    }
  }
}

/* Transforms x with y as scratch; returns the one with the result. */
static TILE NAME(RunPasses)(const FftPlan* plan, TILE x, TILE y) {
  for (int k = 0; k < plan->passes; ++k) {
    const FftPass* pass = &plan->pass[k];
    switch (pass->radix) {
      case 2:
        NAME(Pass2)(pass, x, y);
        break;
      case 3:
        NAME(Pass3)(pass, x, y);
        break;
      case 4:
        NAME(Pass4)(pass, x, y);
        break;
      case 5:
        NAME(Pass5)(pass, x, y);
        break;
      case 8:
        NAME(Pass8)(pass, x, y);
        break;
      default:
        NAME(PassN)(pass, x, y);
    }
    const TILE swapped = x;
    x = y;
    y = swapped;
  }
  return x;
}

static inline TILE NAME(Swapped)(TILE x) { return (TILE){x.im, x.re}; }

/* Forward transforms; both tiles have room for FftTileElements. */
static TILE NAME(Transform)(const FftPlan* plan, TILE x, TILE y) {
  if (plan->padded == NULL) return NAME(RunPasses)(plan, x, y);
  const int64_t n = plan->n;
  const int64_t padded = plan->padded->n;
  const REAL* chirp = plan->chirp;
  for (int64_t k = 0; k < n; ++k) {
    const V r = x.re[k];
    const V i = x.im[k];
    x.re[k] = r * chirp[2 * k] - i * chirp[2 * k + 1];
    x.im[k] = r * chirp[2 * k + 1] + i * chirp[2 * k];
  }
  memset(x.re + n, 0, (size_t)(padded - n) * sizeof(V));
  memset(x.im + n, 0, (size_t)(padded - n) * sizeof(V));
  TILE z = NAME(RunPasses)(plan->padded, x, y);
  TILE other = z.re == x.re ? y : x;
  const REAL* w = plan->chirp_transform;
  for (int64_t k = 0; k < padded; ++k) {
    const V r = z.re[k];
    const V i = z.im[k];
    z.re[k] = r * w[2 * k] - i * w[2 * k + 1];
    z.im[k] = r * w[2 * k + 1] + i * w[2 * k];
  }
  /* The inverse is the transform with parts exchanged. */
  const TILE back = NAME(Swapped)(
      NAME(RunPasses)(plan->padded, NAME(Swapped)(z), NAME(Swapped)(other)));
  for (int64_t k = 0; k < n; ++k) {
    const V r = back.re[k];
    const V i = back.im[k];
    back.re[k] = r * chirp[2 * k] - i * chirp[2 * k + 1];
    back.im[k] = r * chirp[2 * k + 1] + i * chirp[2 * k];
  }
  return back;
}

/* ---- Memory ------------------------------------------------------------- */

/* Exchanges rows and columns: each stage interleaves vectors that are half of
 * them apart. */
static inline void NAME(Transpose)(V* t) {
  for (int stage = 1; stage < LANES; stage *= 2) {
    V next[LANES];
    for (int i = 0; i < LANES / 2; ++i) {
      next[2 * i] = ZIP_LOW(t[i], t[i + LANES / 2]);
      next[2 * i + 1] = ZIP_HIGH(t[i], t[i + LANES / 2]);
    }
    for (int i = 0; i < LANES; ++i) t[i] = next[i];
  }
}

/* The vector of element j; if `odd` is not null it has those of odd elements,
 * and `even` the others. */
static inline V* NAME(Place)(V* even, V* odd, int64_t j) {
  if (odd == NULL) return even + j;
  return (j % 2 == 0 ? even : odd) + j / 2;
}

/* Lane l of the vector of element j is element j of line l. Lanes without a
 * line repeat the last one. */
static void NAME(Load)(const REAL* from, int64_t element, int64_t lane,
                       int64_t lanes, int64_t n, V* even, V* odd) {
  int64_t done = 0;
  if (lane == 1 && lanes == LANES) {
    for (; done < n; ++done) {
      memcpy(NAME(Place)(even, odd, done), from + done * element, sizeof(V));
    }
  } else if (element == 1) {
    for (; done + LANES <= n; done += LANES) {
      V block[LANES];
      for (int l = 0; l < LANES; ++l) {
        memcpy(&block[l], from + (l < lanes ? l : lanes - 1) * lane + done,
               sizeof(V));
      }
      NAME(Transpose)(block);
      for (int j = 0; j < LANES; ++j) {
        *NAME(Place)(even, odd, done + j) = block[j];
      }
    }
  }
  for (int64_t j = done; j < n; ++j) {
    REAL* target = (REAL*)NAME(Place)(even, odd, j);
    for (int64_t l = 0; l < LANES; ++l) {
      target[l] = from[(l < lanes ? l : lanes - 1) * lane + j * element];
    }
  }
}

static void NAME(Store)(V* even, V* odd, int64_t n, REAL scale, REAL* to,
                        int64_t element, int64_t lane, int64_t lanes) {
  int64_t done = 0;
  if (lane == 1 && lanes == LANES) {
    for (; done < n; ++done) {
      const V scaled = *NAME(Place)(even, odd, done) * scale;
      memcpy(to + done * element, &scaled, sizeof(V));
    }
  } else if (element == 1) {
    for (; done + LANES <= n; done += LANES) {
      V block[LANES];
      for (int j = 0; j < LANES; ++j) {
        block[j] = *NAME(Place)(even, odd, done + j) * scale;
      }
      NAME(Transpose)(block);
      for (int l = 0; l < LANES; ++l) {
        if (l < lanes) memcpy(to + l * lane + done, &block[l], sizeof(V));
      }
    }
  }
  for (int64_t j = done; j < n; ++j) {
    const REAL* source = (const REAL*)NAME(Place)(even, odd, j);
    for (int64_t l = 0; l < lanes; ++l) {
      to[l * lane + j * element] = source[l] * scale;
    }
  }
}

/* ---- Real lines --------------------------------------------------------- */

/* z has the transform of the even elements plus i times that of the odd ones;
 * y gets elements 0 … h of the transform of all 2h. Numbers are vectors, or
 * single in a line of memory. */
#define HONE_FFT_SPLIT(NUMBER, name)                                        \
  static void name(const FftPlan* plan, const NUMBER* zr, const NUMBER* zi, \
                   NUMBER* yr, NUMBER* yi) {                                \
    const int64_t h = plan->n;                                              \
    const REAL* w = plan->halves;                                           \
    const REAL half = (REAL)0.5;                                            \
    for (int64_t k = 0; k <= h; ++k) {                                      \
      const int64_t a = k == h ? 0 : k;                                     \
      const int64_t b = k == 0 ? 0 : h - k;                                 \
      const NUMBER er = (zr[a] + zr[b]) * half;                             \
      const NUMBER ei = (zi[a] - zi[b]) * half;                             \
      /* -i/2 · (z_a - conj(z_b)) */                                       \
      const NUMBER odd_r = (zi[a] + zi[b]) * half;                          \
      const NUMBER odd_i = (zr[b] - zr[a]) * half;                          \
      yr[k] = er + odd_r * w[2 * k] - odd_i * w[2 * k + 1];                 \
      yi[k] = ei + odd_r * w[2 * k + 1] + odd_i * w[2 * k];                 \
    }                                                                       \
  }
HONE_FFT_SPLIT(V, NAME(SplitReal))
HONE_FFT_SPLIT(REAL, NAME(SplitLine))

/* The inverse, times 2: x has elements 0 … h, and z gets h. The imaginary parts
 * of x_0 and x_h are taken to be zero. */
#define HONE_FFT_JOIN(NUMBER, name)                                         \
  static void name(const FftPlan* plan, const NUMBER* xr, const NUMBER* xi, \
                   NUMBER* zr, NUMBER* zi) {                                \
    const int64_t h = plan->n;                                              \
    const REAL* w = plan->halves;                                           \
    zr[0] = xr[0] + xr[h];                                                  \
    zi[0] = xr[0] - xr[h];                                                  \
    for (int64_t k = 1; k < h; ++k) {                                       \
      const int64_t b = h - k;                                              \
      const NUMBER er = xr[k] + xr[b];                                      \
      const NUMBER ei = xi[k] - xi[b];                                      \
      const NUMBER dr = xr[k] - xr[b];                                      \
      const NUMBER di = xi[k] + xi[b];                                      \
      /* i · e^{2πi·k/(2h)} · d */                                      \
      const NUMBER odd_r = dr * w[2 * k] + di * w[2 * k + 1];               \
      const NUMBER odd_i = di * w[2 * k] - dr * w[2 * k + 1];               \
      zr[k] = er - odd_i;                                                   \
      zi[k] = ei + odd_r;                                                   \
    }                                                                       \
  }
HONE_FFT_JOIN(V, NAME(JoinReal))
HONE_FFT_JOIN(REAL, NAME(JoinLine))
#undef HONE_FFT_SPLIT
#undef HONE_FFT_JOIN

static void NAME(Split)(const FftPlan* plan, const void* half_re,
                        const void* half_im, void* re, void* im) {
  NAME(SplitLine)(plan, half_re, half_im, re, im);
}

static void NAME(Join)(const FftPlan* plan, const void* re, const void* im,
                       void* half_re, void* half_im) {
  NAME(JoinLine)(plan, re, im, half_re, half_im);
}

/* ---- Blocks ------------------------------------------------------------- */

static void NAME(MultiplySteps)(const FftJob* job, TILE x, int64_t first,
                                int64_t lanes) {
  const REAL* steps = job->steps;
  const REAL* imaginary = steps + job->n * job->lanes;
  for (int64_t j = 0; j < job->n; ++j) {
    V wr = {0};
    V wi = {0};
    memcpy(&wr, steps + j * job->lanes + first, (size_t)lanes * sizeof(REAL));
    memcpy(&wi, imaginary + j * job->lanes + first,
           (size_t)lanes * sizeof(REAL));
    const V r = x.re[j];
    const V i = x.im[j];
    x.re[j] = r * wr - i * wi;
    x.im[j] = r * wi + i * wr;
  }
}

static void NAME(RunBlock)(const FftJob* job, int64_t block, TILE x, TILE y) {
  const int64_t blocks = (job->lanes + LANES - 1) / LANES;
  const int64_t group = block / blocks;
  const int64_t first = block % blocks * LANES;
  const int64_t lanes = job->lanes - first < LANES ? job->lanes - first : LANES;
  const int64_t n = job->n;
  const int is_halved = job->kind != kFftComplex && n % 2 == 0;
  const int64_t start = group * job->from.group + first * job->from.lane;
  const REAL* from_re = (const REAL*)job->from.re + start;
  const REAL* from_im =
      job->from.im == NULL ? NULL : (const REAL*)job->from.im + start;
  const int64_t element = job->from.element;
  const int64_t lane = job->from.lane;
  const int64_t target = group * job->to.group + first * job->to.lane;
  REAL* to_re = (REAL*)(uintptr_t)job->to.re + target;
  REAL* to_im =
      job->to.im == NULL ? NULL : (REAL*)(uintptr_t)job->to.im + target;
  const int64_t to_element = job->to.element;
  const int64_t to_lane = job->to.lane;
  const REAL scale = (REAL)job->scale;
  TILE result;
  if (job->kind == kFftFromReal) {
    NAME(Load)(from_re, element, lane, lanes, n, x.re, is_halved ? x.im : NULL);
    if (!is_halved) memset(x.im, 0, (size_t)n * sizeof(V));
    result = NAME(Transform)(job->plan, x, y);
    if (is_halved) {
      const TILE other = result.re == x.re ? y : x;
      NAME(SplitReal)(job->plan, result.re, result.im, other.re, other.im);
      result = other;
    }
    NAME(Store)
    (result.re, NULL, n / 2 + 1, scale, to_re, to_element, to_lane, lanes);
    NAME(Store)
    (result.im, NULL, n / 2 + 1, scale, to_im, to_element, to_lane, lanes);
    return;
  }
  if (job->kind == kFftToReal) {
    NAME(Load)(from_re, element, lane, lanes, n / 2 + 1, x.re, NULL);
    NAME(Load)(from_im, element, lane, lanes, n / 2 + 1, x.im, NULL);
    if (is_halved) {
      NAME(JoinReal)(job->plan, x.re, x.im, y.re, y.im);
      const TILE swapped = x;
      x = y;
      y = swapped;
    } else {
      memset(x.im, 0, sizeof(V));
      for (int64_t k = 1; k <= n / 2; ++k) {
        x.re[n - k] = x.re[k];
        x.im[n - k] = -x.im[k];
      }
    }
    result = NAME(Swapped)(
        NAME(Transform)(job->plan, NAME(Swapped)(x), NAME(Swapped)(y)));
    NAME(Store)
    (result.re, is_halved ? result.im : NULL, n, scale, to_re, to_element,
     to_lane, lanes);
    return;
  }
  NAME(Load)(from_re, element, lane, lanes, n, x.re, NULL);
  if (from_im == NULL) {
    memset(x.im, 0, (size_t)n * sizeof(V));
  } else {
    NAME(Load)(from_im, element, lane, lanes, n, x.im, NULL);
  }
  result = NAME(Transform)(job->plan, x, y);
  if (job->steps != NULL) NAME(MultiplySteps)(job, result, first, lanes);
  NAME(Store)(result.re, NULL, n, scale, to_re, to_element, to_lane, lanes);
  NAME(Store)(result.im, NULL, n, scale, to_im, to_element, to_lane, lanes);
}

static void NAME(Run)(const FftJob* job, int64_t begin, int64_t end) {
  const FftPlan* plan = job->plan;
  /* A real line of length 2h has h + 1 results. */
  int64_t elements = job->n > plan->n + 1 ? plan->n + 1 : job->n + 1;
  if (plan->padded != NULL && plan->padded->n > elements) {
    elements = plan->padded->n;
  }
  /* An odd number of vectors apart, so that parts do not share cache sets. */
  elements |= 1;
  V* memory = hone_kernel_allocate(4 * elements * (int64_t)sizeof(V));
  const TILE x = {memory, memory + elements};
  const TILE y = {memory + 2 * elements, memory + 3 * elements};
  for (int64_t block = begin; block < end; ++block) {
    NAME(RunBlock)(job, block, x, y);
  }
  hone_kernel_free(memory);
}

const FftKernels JOIN(hone_fft_, REAL_NAME, _, HONE_FFT_TARGET) = {
    LANES, &NAME(Run), &NAME(Split), &NAME(Join)};

#undef ZIP_LOW
#undef ZIP_HIGH
#undef TILE
#undef V
