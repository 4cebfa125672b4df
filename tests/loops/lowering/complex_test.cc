#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::testing::HasSubstr;

class ComplexElementwise : public ::testing::TestWithParam<const char*> {};

TEST_P(ComplexElementwise, IsWhatTheEvaluatorComputes) {
  for (const char* type : {"c64", "c128"}) {
    const std::string text = absl::StrReplaceAll(
        GetParam(), {{"TYPE", type}, {"REAL", type[1] == '6' ? "f32" : "f64"}});
    ExpectPlansRight(ModuleText(
        absl::StrCat("  a = ", type, "[3,5] parameter(0)\n  b = ", type,
                     "[3,5] parameter(1)\n  ROOT r = ", text)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Opcodes, ComplexElementwise,
    ::testing::Values(
        "TYPE[3,5] add(a, b)", "TYPE[3,5] subtract(a, b)",
        "TYPE[3,5] multiply(a, b)", "TYPE[3,5] divide(a, b)",
        "TYPE[3,5] power(a, b)", "TYPE[3,5] negate(a)", "TYPE[3,5] sign(a)",
        "TYPE[3,5] exponential(a)", "TYPE[3,5] exponential-minus-one(a)",
        "TYPE[3,5] log(a)", "TYPE[3,5] log-plus-one(a)", "TYPE[3,5] sqrt(a)",
        "TYPE[3,5] rsqrt(a)", "TYPE[3,5] tanh(a)", "TYPE[3,5] tan(a)",
        "TYPE[3,5] logistic(a)", "REAL[3,5] abs(a)", "REAL[3,5] real(a)",
        "REAL[3,5] imag(a)", "pred[3,5] compare(a, b), direction=EQ",
        "pred[3,5] compare(a, b), direction=NE", "c128[3,5] convert(a)",
        "c64[3,5] convert(a)", "TYPE[3,5] copy(a)",
        "TYPE[5,3] transpose(a), dimensions={1,0}", "TYPE[15] reshape(a)",
        "TYPE[3,5] reverse(a), dimensions={1}",
        "TYPE[2,2] slice(a), slice={[1:3], [0:4:2]}",
        "TYPE[3,10] concatenate(a, b), dimensions={1}",
        "TYPE[2,3,5] broadcast(a), dimensions={1,2}",
        "(TYPE[3,5], TYPE[3,5]) tuple(a, b)"));

TEST(Complex, ConstantsAndIotas) {
  ExpectPlansRight(ModuleText(R"(
  a = c64[3] parameter(0)
  one = c64[3] constant({(1, 2), (-3, 0), (0, 0.5)})
  i = c64[3] iota(), iota_dimension=0
  s = c64[3] add(one, i)
  pad = c64[] constant((7, -1))
  p = c64[5] pad(s, pad), padding=1_1
  m = c64[5] multiply(p, p)
  l = c64[3] slice(m), slice={[1:4]}
  ROOT r = c64[3] add(l, a))"));
}

TEST(Complex, MadeFromRealNumbers) {
  ExpectPlansRight(ModuleText(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = c64[4] complex(x, y)
  n = s32[4] iota(), iota_dimension=0
  w = c64[4] convert(n)
  q = pred[4] compare(x, y), direction=LT
  s = c64[4] select(q, z, w)
  ROOT r = (c64[4], f32[4]) tuple(s, x))"));
}

TEST(Complex, Products) {
  ExpectPlansRight(ModuleText(R"(
  a = c64[2,3,4] parameter(0)
  b = c64[2,4,5] parameter(1)
  ROOT r = c64[2,3,5] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1})"));
  ExpectPlansRight(ModuleText(R"(
  a = c64[1,8,2] parameter(0)
  b = c64[3,2,3] parameter(1)
  ROOT r = c64[1,6,3] convolution(a, b), window={size=3}, dim_labels=b0f_0io->b0f)"));
}

constexpr char kRegions[] = R"(
sum {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT r = c64[] add(a, b)
}
product {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT r = c64[] multiply(a, b)
}
largest {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  x = f32[] real(a)
  y = f32[] real(b)
  c = pred[] compare(x, y), direction=GT
  ROOT r = c64[] select(c, a, b)
}
before {
  a = c64[] parameter(0)
  b = c64[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  x = f32[] imag(a)
  y = f32[] imag(b)
  ROOT r = pred[] compare(x, y), direction=LT
}
)";

TEST(Complex, Reductions) {
  for (const char* region : {"sum", "product", "largest"}) {
    ExpectPlansRight(ModuleText(absl::StrCat(R"(
  a = c64[4,6] parameter(0)
  init = c64[] constant((1, 0))
  ROOT r = c64[4] reduce(a, init), dimensions={1}, to_apply=)",
                                             region),
                                kRegions));
    ExpectPlansRight(ModuleText(absl::StrCat(R"(
  a = c64[6,2] parameter(0)
  i = s32[4,1] constant({{1}, {5}, {1}, {0}})
  u = c64[4,2] parameter(1)
  ROOT r = c64[6,2] scatter(a, i, u), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=)",
                                             region),
                                kRegions));
  }
  ExpectPlansRight(ModuleText(R"(
  a = c64[9] parameter(0)
  init = c64[] constant((0, 0))
  ROOT r = c64[9] reduce-window(a, init), window={size=3 pad=1_1}, to_apply=sum)",
                              kRegions));
}

TEST(Complex, Sorts) {
  ExpectPlansRight(ModuleText(R"(
  a = c64[3,7] parameter(0)
  i = s32[3,7] iota(), iota_dimension=1
  ROOT r = (c64[3,7], s32[3,7]) sort(a, i), dimensions={1}, is_stable=true, to_apply=before)",
                              kRegions));
}

TEST(Complex, DataDependentPositions) {
  ExpectPlansRight(ModuleText(R"(
  a = c64[6,4] parameter(0)
  u = c64[2,2] parameter(1)
  one = s32[] constant(1)
  d = c64[2,2] dynamic-slice(a, one, one), dynamic_slice_sizes={2,2}
  s = c64[2,2] add(d, u)
  w = c64[6,4] dynamic-update-slice(a, s, one, one)
  i = s32[3] constant({4, 0, 9})
  ROOT g = c64[3,4] gather(w, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,4})"));
}

TEST(Complex, StateOfLoops) {
  ExpectPlansRight(ModuleText(R"(
  z = c64[3] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], c64[3], c64[3]) tuple(zero, z, z)
  ROOT w = (s32[], c64[3], c64[3]) while(init), condition=less, body=step)",
                              R"(
less {
  s = (s32[], c64[3], c64[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  four = s32[] constant(4)
  ROOT r = pred[] compare(i, four), direction=LT
}
step {
  s = (s32[], c64[3], c64[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  z = c64[3] get-tuple-element(s), index=1
  c = c64[3] get-tuple-element(s), index=2
  square = c64[3] multiply(z, z)
  half = c64[] constant((0.5, 0))
  halves = c64[3] broadcast(half), dimensions={}
  small = c64[3] multiply(square, halves)
  sum = c64[3] add(small, c)
  ROOT r = (s32[], c64[3], c64[3]) tuple(next, sum, c)
})"));
}

TEST(Complex, Conditionals) {
  ExpectPlansRight(ModuleText(R"(
  z = (c64[2], f32[]) parameter(0)
  p = pred[] constant(false)
  ROOT r = c64[2] conditional(p, z, z), branch_computations={same, turned})",
                              R"(
same {
  s = (c64[2], f32[]) parameter(0)
  ROOT z = c64[2] get-tuple-element(s), index=0
}
turned {
  s = (c64[2], f32[]) parameter(0)
  z = c64[2] get-tuple-element(s), index=0
  ROOT r = c64[2] negate(z)
})"));
}

TEST(Complex, EmptyAndScalar) {
  ExpectPlansRight(ModuleText(R"(
  a = c64[0,3] parameter(0)
  b = c64[] parameter(1)
  n = c64[0,3] negate(a)
  m = c64[] multiply(b, b)
  ROOT r = (c64[0,3], c64[]) tuple(n, m))"));
}

TEST(Complex, NamesWhatHasNoDefinition) {
  const absl::Status status = LowerToPlan(ParseModule(ModuleText(R"(
  a = c64[3] parameter(0)
  ROOT strange = c64[3] asinh(a))")))
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("asinh 'strange'"));
}

}  // namespace
}  // namespace hone::loops
