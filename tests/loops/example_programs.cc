#include "tests/loops/example_programs.h"

#include <algorithm>

#include "base/check.h"
#include "tests/loops/program_text.h"

namespace hone::testing {
namespace {

constexpr ExampleProgram kMatmul = {"matmul",
                                    R"(kernel matmul
argument a f32[5,7]
argument b f32[7,3]
result c f32[5,3]
for i 5
| for j 3
| | c[i,j] = 0.0
| | for k 7
| | | c[i,j] += a[i,k] * b[k,j]
)",
                                    R"(HloModule matmul
ENTRY e {
  a = f32[5,7] parameter(0)
  b = f32[7,3] parameter(1)
  ROOT c = f32[5,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"};

constexpr ExampleProgram kSoftmax = {"softmax",
                                     R"(kernel softmax
argument x f32[5,9]
result y f32[5,9]
local m f32[5] heap
local s f32[5] heap
for i 5
| m[i] = -inf
| for j 9
| | m[i] max= x[i,j]
for i 5
| for j 9
| | y[i,j] = exponential(x[i,j] - m[i])
for i 5
| s[i] = 0.0
| for j 9
| | s[i] += y[i,j]
for i 5
| for j 9
| | y[i,j] = y[i,j] / s[i]
)",
                                     R"(HloModule softmax
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[5,9] parameter(0)
  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[5] reduce(x, lowest), dimensions={1}, to_apply=max
  ms = f32[5,9] broadcast(m), dimensions={0}
  d = f32[5,9] subtract(x, ms)
  e = f32[5,9] exponential(d)
  s = f32[5] reduce(e, zero), dimensions={1}, to_apply=sum
  ss = f32[5,9] broadcast(s), dimensions={0}
  ROOT y = f32[5,9] divide(e, ss)
})"};

constexpr ExampleProgram kLayerNorm = {"layer_norm",
                                       R"(kernel layer_norm
argument x f32[5,7]
argument scale f32[7]
argument shift f32[7]
result y f32[5,7]
local mean f32[5] heap
local variance f32[5] heap
for i 5
| mean[i] = 0.0
| for j 7
| | mean[i] += x[i,j]
| mean[i] = mean[i] / 7.0
for i 5
| variance[i] = 0.0
| for j 7
| | variance[i] += (x[i,j] - mean[i]) * (x[i,j] - mean[i])
for i 5
| for j 7
| | y[i,j] = (x[i,j] - mean[i]) * rsqrt(variance[i] / 7.0 + 1e-05) * scale[j] + shift[j]
)",
                                       R"(HloModule layer_norm
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[5,7] parameter(0)
  scale = f32[7] parameter(1)
  shift = f32[7] parameter(2)
  zero = f32[] constant(0)
  seven = f32[] constant(7)
  sevens = f32[5] broadcast(seven), dimensions={}
  epsilon = f32[] constant(1e-5)
  epsilons = f32[5] broadcast(epsilon), dimensions={}
  total = f32[5] reduce(x, zero), dimensions={1}, to_apply=sum
  mean = f32[5] divide(total, sevens)
  means = f32[5,7] broadcast(mean), dimensions={0}
  d = f32[5,7] subtract(x, means)
  dd = f32[5,7] multiply(d, d)
  square = f32[5] reduce(dd, zero), dimensions={1}, to_apply=sum
  variance = f32[5] divide(square, sevens)
  v = f32[5] add(variance, epsilons)
  r = f32[5] rsqrt(v)
  rs = f32[5,7] broadcast(r), dimensions={0}
  n = f32[5,7] multiply(d, rs)
  scales = f32[5,7] broadcast(scale), dimensions={1}
  shifts = f32[5,7] broadcast(shift), dimensions={1}
  ns = f32[5,7] multiply(n, scales)
  ROOT y = f32[5,7] add(ns, shifts)
})"};

constexpr ExampleProgram kConv2d = {"conv2d",
                                    R"(kernel conv2d
argument x f32[2,5,7,3]
argument w f32[3,3,3,4]
result y f32[2,5,7,4]
for n 2
| for h 5
| | for v 7
| | | for f 4
| | | | y[n,h,v,f] = 0.0
| | | | for p 3
| | | | | for q 3
| | | | | | for c 3
| | | | | | | y[n,h,v,f] += where(0 <= h+p-1 < 5 and 0 <= v+q-1 < 7, x[n,h+p-1,v+q-1,c], 0.0) * w[p,q,c,f]
)",
                                    R"(HloModule conv2d
ENTRY e {
  x = f32[2,5,7,3] parameter(0)
  w = f32[3,3,3,4] parameter(1)
  ROOT y = f32[2,5,7,4] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
})"};

constexpr ExampleProgram kTranspose = {"transpose",
                                       R"(kernel transpose
argument x f32[5,3,7]
result y f32[7,5,3]
for i 7
| for j 5
| | for k 3
| | | y[i,j,k] = x[j,k,i]
)",
                                       R"(HloModule transpose
ENTRY e {
  x = f32[5,3,7] parameter(0)
  ROOT y = f32[7,5,3] transpose(x), dimensions={2,0,1}
})"};

constexpr ExampleProgram kRowSum = {"row_sum",
                                    R"(kernel row_sum
argument x f32[5,9]
result y f32[5]
for i 5
| y[i] = 0.0
| for j 9
| | y[i] += x[i,j]
)",
                                    R"(HloModule row_sum
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[5,9] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[5] reduce(x, zero), dimensions={1}, to_apply=sum
})"};

constexpr ExampleProgram kColumnSum = {"column_sum",
                                       R"(kernel column_sum
argument x f32[9,5]
result y f32[5]
for j 5
| y[j] = 0.0
for i 9
| for j 5
| | y[j] += x[i,j]
)",
                                       R"(HloModule column_sum
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[9,5] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[5] reduce(x, zero), dimensions={0}, to_apply=sum
})"};

// The place is set before the value that it is compared with changes.
constexpr ExampleProgram kArgmax = {"argmax",
                                    R"(kernel argmax
argument x f32[5,9]
result best f32[5]
result place s32[5]
for i 5
| best[i] = -inf
| place[i] = s32(0)
| for j 9
| | place[i] = index(s32, j) if (x[i,j] > best[i])
| | best[i] = maximum(best[i], x[i,j])
)",
                                    R"(HloModule argmax
larger {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  above = pred[] compare(b, a), direction=GT
  value = f32[] select(above, b, a)
  place = s32[] select(above, j, i)
  ROOT r = (f32[], s32[]) tuple(value, place)
}
ENTRY e {
  x = f32[5,9] parameter(0)
  j = s32[5,9] iota(), iota_dimension=1
  lowest = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[5], s32[5]) reduce(x, j, lowest, zero), dimensions={1}, to_apply=larger
})"};

constexpr ExampleProgram kAttention = {"attention",
                                       R"(kernel attention
argument q f32[3,5]
argument k f32[7,5]
argument v f32[7,4]
result y f32[3,4]
local p f32[3,7] heap
local m f32[3] heap
local s f32[3] heap
for i 3
| for j 7
| | p[i,j] = 0.0
| | for d 5
| | | p[i,j] += q[i,d] * k[j,d]
for i 3
| m[i] = -inf
| for j 7
| | m[i] max= p[i,j] * 0.5
for i 3
| s[i] = 0.0
| for j 7
| | p[i,j] = exponential(p[i,j] * 0.5 - m[i])
| | s[i] += p[i,j]
for i 3
| for f 4
| | y[i,f] = 0.0
| | for j 7
| | | y[i,f] += p[i,j] / s[i] * v[j,f]
)",
                                       R"(HloModule attention
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  q = f32[3,5] parameter(0)
  k = f32[7,5] parameter(1)
  v = f32[7,4] parameter(2)
  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  half = f32[] constant(0.5)
  halves = f32[3,7] broadcast(half), dimensions={}
  qk = f32[3,7] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  logits = f32[3,7] multiply(qk, halves)
  m = f32[3] reduce(logits, lowest), dimensions={1}, to_apply=max
  ms = f32[3,7] broadcast(m), dimensions={0}
  d = f32[3,7] subtract(logits, ms)
  e = f32[3,7] exponential(d)
  s = f32[3] reduce(e, zero), dimensions={1}, to_apply=sum
  ss = f32[3,7] broadcast(s), dimensions={0}
  p = f32[3,7] divide(e, ss)
  ROOT y = f32[3,4] dot(p, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"};

constexpr ExampleProgram kGather = {"gather",
                                    R"(kernel gather
argument x f32[6,3]
argument rows s32[4]
result y f32[4,3]
for i 4
| for j 3
| | y[i,j] = x[{clamp(s32(0), rows[i], s32(5))},j]
)",
                                    R"(HloModule gather
ENTRY e {
  x = f32[6,3] parameter(0)
  rows = s32[4] parameter(1)
  ROOT y = f32[4,3] gather(x, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
})"};

constexpr ExampleProgram kExamples[] = {
    kMatmul, kSoftmax,   kLayerNorm, kConv2d,    kTranspose,
    kRowSum, kColumnSum, kArgmax,    kAttention, kGather,
};

}  // namespace

absl::Span<const ExampleProgram> ExamplePrograms() { return kExamples; }

loops::Program ParseExample(absl::string_view name) {
  const auto* example =
      std::find_if(std::begin(kExamples), std::end(kExamples),
                   [&](const ExampleProgram& e) { return e.name == name; });
  HONE_CHECK(example != std::end(kExamples));
  return ParseText(example->text);
}

}  // namespace hone::testing
