#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "hlo/read_module.h"
#include "loops/analysis/verifier.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

template <typename Step>
int CountSteps(const PlanFunction& function) {
  int count = 0;
  for (const PlanStep& step : function.steps) {
    count += std::holds_alternative<Step>(step) ? 1 : 0;
  }
  return count;
}

const PlanFunction& Entry(const ModulePlan& plan) {
  return plan.functions[static_cast<size_t>(plan.entry)];
}

const PlanFunction& BodyOfLoop(const ModulePlan& plan) {
  for (const PlanStep& step : Entry(plan).steps) {
    if (const auto* loop = std::get_if<WhileStep>(&step)) {
      return plan.functions[static_cast<size_t>(loop->body)];
    }
  }
  ADD_FAILURE() << "no loop";
  return Entry(plan);
}

TEST(LowerToPlan, RepeatedLayersShareKernels) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  x = f32[3,4] parameter(0)
  w = f32[4,4] parameter(1)
  v = f32[4,4] parameter(2)
  a = f32[3,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[3,4] tanh(a)
  c = f32[3,4] dot(b, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT d = f32[3,4] tanh(c))"));
  EXPECT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(CountSteps<KernelStep>(Entry(plan)), 2);
  EXPECT_EQ(CountSteps<CopyStep>(Entry(plan)), 0);
}

// Returns the number of kernels of a product `d` and what reads it, which ends
// `body`.
int KernelsOfProduct(const std::string& body) {
  return CountSteps<KernelStep>(Entry(ExpectPlansRight(ModuleText(R"(
  x = f32[4,6] parameter(0)
  w = f32[6,4] parameter(1)
  v = f32[4] parameter(2)
  r = f32[4,4] parameter(3)
  d = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)" + body))));
}

TEST(LowerToPlan, ProductsHaveElementwiseEpilogues) {
  EXPECT_EQ(KernelsOfProduct(R"(
  b = f32[4,4] broadcast(v), dimensions={1}
  s = f32[4,4] add(d, b)
  t = f32[4,4] tanh(s)
  u = f32[4,4] multiply(s, t)
  ROOT y = bf16[4,4] convert(u))"),
            1);
  // A kernel has one product.
  EXPECT_EQ(KernelsOfProduct(R"(
  e = f32[4,4] dot(r, r), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[4,4] add(d, e))"),
            2);
}

TEST(LowerToPlan, ProductsWithAVectorHaveNoEpilogues) {
  const auto kernels = [](int rows, int columns) {
    const ModulePlan plan = ExpectPlansRight(ModuleText(absl::Substitute(
        R"(
  x = f32[$0,8] parameter(0)
  w = f32[8,$1] parameter(1)
  d = f32[$0,$1] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[$0,$1] tanh(d))",
        rows, columns)));
    return CountSteps<KernelStep>(Entry(plan));
  };
  EXPECT_EQ(kernels(5, 4), 1);
  EXPECT_EQ(kernels(5, 1), 2);
  EXPECT_EQ(kernels(1, 4), 2);
}

TEST(LowerToPlan, ConvolutionsHaveElementwiseEpilogues) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  x = f32[2,5,6,3] parameter(0)
  w = f32[3,3,3,4] parameter(1)
  v = f32[4] parameter(2)
  c = f32[2,3,4,4] convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f
  b = f32[2,3,4,4] broadcast(v), dimensions={3}
  s = f32[2,3,4,4] add(c, b)
  ROOT y = f32[2,3,4,4] tanh(s))"));
  EXPECT_EQ(CountSteps<KernelStep>(Entry(plan)), 1);
}

TEST(LowerToPlan, ProductsThatAreReadElsewhereStayAlone) {
  // Transposed, even if it is read in place, too.
  EXPECT_EQ(KernelsOfProduct(R"(
  s = f32[4,4] exponential(d)
  t = f32[4,4] transpose(s), dimensions={1,0}
  ROOT y = f32[4,4] add(d, t))"),
            2);
  // By another product.
  EXPECT_EQ(KernelsOfProduct(R"(
  ROOT y = f32[4,4] dot(r, d), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            2);
  // As a result of its own.
  EXPECT_EQ(KernelsOfProduct(R"(
  s = f32[4,4] add(d, r)
  ROOT y = (f32[4,4], f32[4,4]) tuple(d, s))"),
            2);
}

TEST(LowerToPlan, ProductsHaveElementwisePrologues) {
  const auto kernels = [](const std::string& body) {
    const ModulePlan plan = ExpectPlansRight(ModuleText(absl::StrCat(R"(
  x = f32[5,8] parameter(0)
  w = s8[8,4] parameter(1)
  s = f32[4] parameter(2)
  c = f32[8,4] convert(w)
  b = f32[8,4] broadcast(s), dimensions={1}
  m = f32[8,4] multiply(c, b)
)",
                                                                     body)));
    return CountSteps<KernelStep>(Entry(plan));
  };
  EXPECT_EQ(kernels(R"(
  ROOT d = f32[5,4] dot(x, m), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            1);
  // Both operands, one of them reindexed, and an epilogue.
  EXPECT_EQ(kernels(R"(
  n = f32[5,8] negate(x)
  t = f32[4,8] transpose(m), dimensions={1,0}
  d = f32[5,4] dot(n, t), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT y = f32[5,4] tanh(d))"),
            1);
  // Of a product with a vector, too.
  EXPECT_EQ(kernels(R"(
  ROOT d = f32[8] dot(m, s), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            1);
  // Not if something else reads the operand, or it takes long to compute.
  EXPECT_EQ(kernels(R"(
  d = f32[5,4] dot(x, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = (f32[5,4], f32[8,4]) tuple(d, m))"),
            2);
  EXPECT_EQ(kernels(R"(
  e = f32[8,4] exponential(m)
  ROOT d = f32[5,4] dot(x, e), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            2);
}

TEST(LowerToPlan, ConvolutionsHaveElementwisePrologues) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  x = f32[2,5,6,3] parameter(0)
  w = f32[3,3,3,4] parameter(1)
  n = f32[2,5,6,3] negate(x)
  ROOT c = f32[2,5,6,4] convolution(n, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)"));
  EXPECT_EQ(CountSteps<KernelStep>(Entry(plan)), 1);
}

// What would be local to a kernel without the product stays there.
TEST(LowerToPlan, ProloguesLeaveOtherKernelsWhole) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  x = f32[4,4] parameter(0)
  r = f32[4,4] parameter(1)
  v = f32[4] parameter(2)
  d = f32[4,4] dot(x, r), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[4,4] broadcast(v), dimensions={1}
  s = f32[4,4] add(d, b)
  ROOT e = f32[4,4] dot(s, r), lhs_contracting_dims={1}, rhs_contracting_dims={0})"));
  ASSERT_EQ(CountSteps<KernelStep>(Entry(plan)), 2);
  // The first product has the sum as its epilogue.
  const auto& first = std::get<KernelStep>(Entry(plan).steps[0]);
  EXPECT_EQ(first.arguments.size(), 3u);
}

TEST(LowerToPlan, EpiloguesReadNoLargeArrays) {
  const auto kernels = [](int rows) {
    const auto plan = LowerToPlan(ParseModule(ModuleText(absl::StrReplaceAll(
        R"(
  x = f32[N,8] parameter(0)
  w = f32[8,512] parameter(1)
  r = f32[N,512] parameter(2)
  d = f32[N,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[N,512] add(d, r))",
        {{"N", absl::StrCat(rows)}}))));
    EXPECT_THAT(plan, testing::IsOk());
    return CountSteps<KernelStep>(Entry(*plan));
  };
  EXPECT_EQ(kernels(512), 1);
  EXPECT_EQ(kernels(513), 2);
}

TEST(LowerToPlan, DeadSlotsLendTheirBytes) {
  std::string body = "  a0 = f32[8,8] parameter(0)\n";
  for (int i = 1; i <= 6; ++i) {
    absl::StrAppend(&body, i == 6 ? "  ROOT a" : "  a", i, " = f32[8,8] dot(a",
                    i - 1, ", a", i - 1,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
  }
  const ModulePlan plan = ExpectPlansRight(ModuleText(body));
  EXPECT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(Entry(plan).arena_bytes, 2 * 64 * 4);
}

constexpr char kSoftmax[] = R"(
  x = f32[3,7] parameter(0)
  z = f32[] constant(0)
  low = f32[] constant(-inf)
  m = f32[3] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[3,7] broadcast(m), dimensions={0}
  d = f32[3,7] subtract(x, mb)
  e = f32[3,7] exponential(d)
  s = f32[3] reduce(e, z), dimensions={1}, to_apply=sum
  sb = f32[3,7] broadcast(s), dimensions={0}
)";
constexpr char kSoftmaxRegions[] = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
})";

TEST(LowerToPlan, ProductsLeaveSoftmaxesWhole) {
  const ModulePlan softmax =
      ExpectPlansRight(ModuleText(absl::StrCat(kSoftmax, R"(
  p = f32[3,7] divide(e, sb)
  w = f32[7,4] parameter(1)
  ROOT d2 = f32[3,4] dot(p, w), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
                                  kSoftmaxRegions));
  EXPECT_EQ(CountSteps<KernelStep>(Entry(softmax)), 2);
}

TEST(LowerToPlan, WhatOneKernelReadsIsLocalToIt) {
  const ModulePlan plan = ExpectPlansRight(
      ModuleText(absl::StrCat(kSoftmax, "  ROOT y = f32[3,7] divide(e, sb)"),
                 kSoftmaxRegions));
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(CountLocalArrays(plan.kernels[0]), 3);
  EXPECT_EQ(Entry(plan).arena_bytes, 0);
}

TEST(LowerToPlan, WhatTwoKernelsReadIsNot) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(absl::StrCat(kSoftmax, R"(
  y = f32[3,7] divide(e, sb)
  g = f32[3,3] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT t = (f32[3,7], f32[3,3]) tuple(y, g))"),
                                                      kSoftmaxRegions));
  // Maximum and exponentials, which the dot reads too; sum and quotients; dot.
  EXPECT_EQ(Entry(plan).steps.size(), 3u);
}

TEST(LowerToPlan, ReshapesAreNoKernels) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  x = f32[3,4] parameter(0)
  e = f32[3,4] exponential(x)
  r = f32[12] reshape(e)
  ROOT b = f32[4,3] reshape(r))"));
  EXPECT_EQ(Entry(plan).steps.size(), 1u);
}

TEST(LowerToPlan, ResultsAreSlotsOfTheirOwn) {
  const ModulePlan plan = ExpectPlansRight(ModuleText(R"(
  x = f32[3,4] parameter(0)
  c = s32[2] constant({3, 4})
  u = f32[] constant(2)
  e = f32[3,4] exponential(x)
  f = f32[12] reshape(e)
  ROOT t = (f32[3,4], s32[2], f32[], f32[3,4], f32[12], f32[3,4]) tuple(x, c, u, e, f, e))"));
  EXPECT_EQ(CountSteps<KernelStep>(Entry(plan)), 1);
  EXPECT_EQ(CountSteps<CopyStep>(Entry(plan)), 5);
}

constexpr char kLoop[] = R"(
cond {
  p = (s32[], f32[4], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(15)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[4], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  w = f32[4] get-tuple-element(p), index=1
  x = f32[4] get-tuple-element(p), index=2
  y = f32[4] get-tuple-element(p), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  z = f32[4] multiply(x, w)
  ROOT t = (s32[], f32[4], f32[4], f32[4]) tuple(j, w, RESULTS)
})";

ModulePlan LoopPlan(const std::string& results) {
  std::string loop = kLoop;
  loop.replace(loop.find("RESULTS"), 7, results);
  return ExpectPlansRight(ModuleText(R"(
  w = f32[4] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] tanh(x)
  i = s32[] constant(0)
  s = (s32[], f32[4], f32[4], f32[4]) tuple(i, w, x, y)
  ROOT r = (s32[], f32[4], f32[4], f32[4]) while(s), condition=cond, body=body)",
                                     loop));
}

TEST(LowerToPlan, LoopsCopyNoStateThatTheyPassOn) {
  const ModulePlan plan = LoopPlan("z, y");
  // The counter and x; w, which is passed on, only as a result of the entry.
  EXPECT_EQ(CountSteps<CopyStep>(Entry(plan)), 3);
  // Neither w nor y is touched.
  EXPECT_EQ(BodyOfLoop(plan).steps.size(), 2u);
}

TEST(LowerToPlan, LoopsThatExchangeStates) {
  LoopPlan("y, x");
  LoopPlan("z, x");
  LoopPlan("y, z");
  LoopPlan("z, z");
  LoopPlan("y, y");
}

// The number of arrays that kernels of the plan update in place.
int64_t CountUpdates(const ModulePlan& plan) {
  int64_t count = 0;
  for (const Program& kernel : plan.kernels) {
    for (const BufferPtr& buffer : kernel.buffers()) {
      count += buffer->memory == Memory::kInOut ? 1 : 0;
    }
  }
  return count;
}

// The states of the entry's loop that alternate between two slots.
int64_t CountAlternating(const ModulePlan& plan) {
  int64_t count = 0;
  for (const PlanStep& step : Entry(plan).steps) {
    const auto* loop = std::get_if<WhileStep>(&step);
    if (loop == nullptr) continue;
    for (size_t i = 0; i < loop->state.size(); ++i) {
      count += loop->state[i] == loop->next[i] ? 0 : 1;
    }
  }
  return count;
}

// A loop over a counter, x of f32[4,3], which `update` gives as z, and y of
// f32[3].
ModulePlan ScanPlan(const std::string& update,
                    const std::string& regions = "") {
  return ExpectPlansRight(ModuleText(R"(
  x = f32[4,3] parameter(0)
  y = f32[3] parameter(1)
  i = s32[] constant(0)
  s = (s32[], f32[4,3], f32[3]) tuple(i, x, y)
  ROOT r = (s32[], f32[4,3], f32[3]) while(s), condition=cond, body=body)",
                                     absl::StrCat(regions, R"(
cond {
  p = (s32[], f32[4,3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[4,3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,3] get-tuple-element(p), index=1
  y = f32[3] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  j = s32[] add(i, one)
)",
                                                  update, R"(
  ROOT t = (s32[], f32[4,3], f32[3]) tuple(j, z, v)
})")));
}

TEST(LowerToPlan, LoopsUpdateStatesInPlace) {
  const ModulePlan plan = ScanPlan(R"(
  v = f32[3] tanh(y)
  u = f32[1,3] reshape(v)
  z = f32[4,3] dynamic-update-slice(x, u, i, zero))");
  EXPECT_EQ(CountUpdates(plan), 1);
  // The counter and y. The body computes j, v and z.
  EXPECT_EQ(CountAlternating(plan), 2);
  EXPECT_EQ(BodyOfLoop(plan).steps.size(), 3u);
  // x is an argument of the module, which must not change.
  EXPECT_EQ(CountSteps<CopyStep>(Entry(plan)), 3);
}

TEST(LowerToPlan, UpdatesReadOldElementsFirst) {
  const ModulePlan plan = ScanPlan(R"(
  old = f32[2,3] dynamic-slice(x, i, zero), dynamic_slice_sizes={2,3}
  r = f32[2,3] reverse(old), dimensions={0}
  w = f32[4,3] dynamic-update-slice(x, r, j, zero)
  e = f32[1,3] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,3}
  f = f32[1,3] negate(e)
  z = f32[4,3] dynamic-update-slice(w, f, zero, zero)
  v = f32[3] reshape(f))");
  EXPECT_EQ(CountUpdates(plan), 2);
  EXPECT_EQ(CountAlternating(plan), 2);
}

TEST(LowerToPlan, OldValuesAreReadBeforeTheUpdate) {
  const ModulePlan plan = ScanPlan(R"(
  u = f32[1,3] reshape(y)
  z = f32[4,3] dynamic-update-slice(x, u, i, zero)
  old = f32[1,3] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,3}
  e = f32[1,3] exponential(old)
  v = f32[3] reshape(e))");
  EXPECT_EQ(CountUpdates(plan), 1);
  EXPECT_EQ(CountAlternating(plan), 2);
}

TEST(LowerToPlan, OldValuesThatAreReadAfterTheUpdateAreCopied) {
  const ModulePlan plan = ScanPlan(R"(
  u = f32[1,3] reshape(y)
  z = f32[4,3] dynamic-update-slice(x, u, i, zero)
  new = f32[1,3] slice(z), slice={[0:1], [0:3]}
  old = f32[1,3] slice(x), slice={[0:1], [0:3]}
  e = f32[1,3] subtract(old, new)
  v = f32[3] reshape(e))");
  EXPECT_EQ(CountUpdates(plan), 0);
  EXPECT_EQ(CountAlternating(plan), 3);
}

TEST(LowerToPlan, OfTwoUpdatesOfAValueOneCopiesIt) {
  const ModulePlan plan = ScanPlan(R"(
  u = f32[1,3] reshape(y)
  z = f32[4,3] dynamic-update-slice(x, u, i, zero)
  n = f32[1,3] negate(u)
  other = f32[4,3] dynamic-update-slice(x, n, i, zero)
  both = f32[4,3] subtract(z, other)
  row = f32[1,3] slice(both), slice={[1:2], [0:3]}
  v = f32[3] reshape(row))");
  EXPECT_EQ(CountUpdates(plan), 1);
}

TEST(LowerToPlan, ScattersUpdateStatesInPlace) {
  const ModulePlan plan = ScanPlan(R"(
  at = s32[1] reshape(i)
  u = f32[1,3] reshape(y)
  z = f32[4,3] scatter(x, at, u), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=sum
  v = f32[3] negate(y))",
                                   R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
})");
  EXPECT_EQ(CountUpdates(plan), 1);
  EXPECT_EQ(CountAlternating(plan), 2);
}

constexpr char kBranchesOfRows[] = R"(
keep {
  p = (f32[4,3], f32[3], s32[]) parameter(0)
  ROOT x = f32[4,3] get-tuple-element(p), index=0
}
put {
  p = (f32[4,3], f32[3], s32[]) parameter(0)
  x = f32[4,3] get-tuple-element(p), index=0
  y = f32[3] get-tuple-element(p), index=1
  i = s32[] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  u = f32[1,3] reshape(y)
  ROOT z = f32[4,3] dynamic-update-slice(x, u, i, zero)
}
two {
  p = (f32[4,3], f32[3], s32[]) parameter(0)
  x = f32[4,3] get-tuple-element(p), index=0
  y = f32[3] get-tuple-element(p), index=1
  i = s32[] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  u = f32[1,3] reshape(y)
  a = f32[4,3] dynamic-update-slice(x, u, i, zero)
  old = f32[1,3] slice(x), slice={[1:2], [0:3]}
  new = f32[1,3] slice(a), slice={[1:2], [0:3]}
  sum = f32[1,3] add(old, new)
  ROOT z = f32[4,3] dynamic-update-slice(a, sum, zero, zero)
})";

TEST(LowerToPlan, BranchesUpdateStatesInPlace) {
  for (const char* branch : {"put", "two"}) {
    const ModulePlan plan =
        ScanPlan(absl::StrCat(R"(
  v = f32[3] tanh(y)
  c = pred[] compare(i, one), direction=NE
  a = (f32[4,3], f32[3], s32[]) tuple(x, v, i)
  z = f32[4,3] conditional(c, a, a), true_computation=)",
                              branch, ", false_computation=keep"),
                 kBranchesOfRows);
    // The counter and y.
    EXPECT_EQ(CountAlternating(plan), 2);
    // The second branch reads the old x after its first update.
    EXPECT_EQ(CountUpdates(plan), 1);
  }
}

TEST(LowerToPlan, BranchesDoNotOverwriteWhatIsReadLater) {
  const ModulePlan plan = ScanPlan(R"(
  c = pred[] compare(i, one), direction=NE
  a = (f32[4,3], f32[3], s32[]) tuple(x, y, i)
  z = f32[4,3] conditional(c, a, a), true_computation=put, false_computation=keep
  new = f32[1,3] slice(z), slice={[1:2], [0:3]}
  old = f32[1,3] slice(x), slice={[1:2], [0:3]}
  d = f32[1,3] subtract(new, old)
  v = f32[3] reshape(d))",
                                   kBranchesOfRows);
  EXPECT_EQ(CountAlternating(plan), 3);
  EXPECT_EQ(CountUpdates(plan), 0);
}

TEST(LowerToPlan, OneValueAsSeveralStates) {
  ExpectPlansRight(ModuleText(R"(
  x = f32[3] parameter(0)
  e = f32[3] tanh(x)
  i = s32[] constant(0)
  s = (s32[], f32[3], f32[3]) tuple(i, e, e)
  r = (s32[], f32[3], f32[3]) while(s), condition=cond, body=body
  a = f32[3] get-tuple-element(r), index=1
  b = f32[3] get-tuple-element(r), index=2
  ROOT t = (f32[3], f32[3], f32[3]) tuple(a, b, e))",
                              R"(
cond {
  p = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(13)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[3] get-tuple-element(p), index=1
  y = f32[3] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  s = f32[3] add(x, y)
  ROOT t = (s32[], f32[3], f32[3]) tuple(j, s, y)
})"));
}

TEST(LowerToPlan, Conditionals) {
  constexpr char kBranches[] = R"(
f {
  x = f32[3] parameter(0)
  ROOT e = f32[3] exponential(x)
}
g {
  p = (f32[3], f32[3]) parameter(0)
  x = f32[3] get-tuple-element(p), index=0
  y = f32[3] get-tuple-element(p), index=1
  ROOT s = f32[3] subtract(x, y)
}
h {
  ROOT x = f32[3] parameter(0)
})";
  ExpectPlansRight(ModuleText(R"(
  x = f32[3] parameter(0)
  p = pred[] parameter(1)
  n = f32[3] negate(x)
  a = (f32[3], f32[3]) tuple(x, n)
  ROOT r = f32[3] conditional(p, x, a), true_computation=f, false_computation=g)",
                              kBranches));
  for (int i : {-1, 0, 1, 2, 3}) {
    ExpectPlansRight(ModuleText(absl::StrCat("  i = s32[] constant(", i, R"()
  x = f32[3] parameter(0)
  a = (f32[3], f32[3]) tuple(x, x)
  ROOT r = f32[3] conditional(i, x, a, x), branch_computations={f, g, h})"),
                                kBranches));
  }
}

TEST(LowerToPlan, SaysWhatHasNoKernel) {
  EXPECT_THAT(
      LowerToPlan(ParseModule(ModuleText(
          "  x = f32[4] parameter(0)\n  ROOT r = f32[4] collective-permute(x), "
          "source_target_pairs={{0,1}}"))),
      testing::StatusIs(absl::StatusCode::kUnimplemented,
                        ::testing::HasSubstr("collective-permute 'r'")));
}

// Operands that are tuples have more arrays than there are operands.
TEST(LowerToPlan, SaysThatTuplesHaveNoKernel) {
  EXPECT_THAT(
      LowerToPlan(ParseModule(ModuleText(R"(
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  t = (f32[8], f32[8]) tuple(a, b)
  ROOT r = f32[8] custom-call(t), custom_call_target="foo")"))),
      testing::StatusIs(absl::StatusCode::kUnimplemented,
                        ::testing::HasSubstr("custom-call to \"foo\" 'r'")));
  EXPECT_THAT(LowerToPlan(ParseModule(ModuleText(R"(
  p = f32[8] parameter(0)
  s = (f32[8], f32[16]) all-gather-start(p), dimensions={0}
  ROOT d = f32[16] all-gather-done(s))"))),
              testing::StatusIs(absl::StatusCode::kUnimplemented,
                                ::testing::HasSubstr("all-gather-")));
}

TEST(LowerToPlan, ConstantsThatAreTuples) {
  ExpectPlansRight(
      ModuleText("  ROOT c = (f32[2], (s32[], ()), f32[2]) "
                 "constant(({1, 2}, (3, ()), {4, 5}))"));
  ExpectPlansRight(ModuleText(R"(
  p = f32[2] parameter(0)
  c = (s32[], f32[2]) constant((3, {1, 2}))
  g = f32[2] get-tuple-element(c), index=1
  ROOT r = f32[2] add(p, g))"));
}

// Each computation calls the next twice.
// Everything without a kernel is named at once, also inside of loops.
TEST(LowerToPlan, NamesAllThatHasNoKernel) {
  const hlo::Module module = ParseModule(ModuleText(R"(
  i = s32[] parameter(0)
  x = f32[4,4] parameter(1)
  z = f32[] constant(0)
  a = f32[4,4] rng(z, z), distribution=rng_uniform
  d = f32[4,4] rng(z, z), distribution=rng_uniform
  b = f32[4,4] add(a, d)
  c = f32[4,4] custom-call(b), custom_call_target="solve"
  dead = f32[4,4] custom-call(b), custom_call_target="unused"
  t = (s32[], f32[4,4]) tuple(i, c)
  w = (s32[], f32[4,4]) while(t), condition=cond, body=body
  ROOT r = f32[4,4] get-tuple-element(w), index=1)",
                                                    R"(
cond {
  p = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(20)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,4] get-tuple-element(p), index=1
  q = s4[4,4] convert(x)
  y = f32[4,4] convert(q)
  ROOT t = (s32[], f32[4,4]) tuple(i, y)
})"));
  EXPECT_THAT(
      LowerToPlan(module),
      testing::StatusIs(absl::StatusCode::kUnimplemented,
                        "no kernel for rng 'a' (and 1 more); custom-call "
                        "to \"solve\" 'c'; convert 'q': element type s4"));
  EXPECT_THAT(
      LowerToProgram(module),
      testing::StatusIs(absl::StatusCode::kUnimplemented,
                        "no kernel for rng 'a' (and 1 more); custom-call "
                        "to \"solve\" 'c'; while 'w', expected a module "
                        "without control flow"));
}

TEST(LowerToPlan, LoopsOfLibraryCallsMayBeUnused) {
  const auto text = [](const std::string& called) {
    return absl::StrCat(R"(HloModule m
cond {
  p = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(20)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[4,4] get-tuple-element(p), index=1
  y = f32[4,4] )",
                        called, R"(
  ROOT t = (s32[], f32[4,4]) tuple(j, y)
}
ENTRY e {
  i = s32[] parameter(0)
  x = f32[4,4] parameter(1)
  s = (s32[], f32[4,4]) tuple(i, x)
  w = (s32[], f32[4,4]) while(s), condition=cond, body=body
  ROOT r = f32[4,4] negate(x)
})");
  };
  HONE_EXPECT_OK(
      LowerToPlan(ParseModule(text("cholesky(x), lower=true"))).status());
  EXPECT_THAT(LowerToPlan(ParseModule(
                  text("custom-call(x), custom_call_target=\"notify\""))),
              testing::StatusIs(absl::StatusCode::kUnimplemented,
                                ::testing::HasSubstr("effects")));
}

TEST(LowerToPlan, CallsThatGrowTheModuleTooMuch) {
  std::string others =
      "f0 { a = f32[] parameter(0)\n  ROOT r = f32[] negate(a) }\n";
  for (int i = 1; i <= 20; ++i) {
    absl::StrAppend(&others, "f", i, " { a = f32[] parameter(0)\n  b", i,
                    " = f32[] call(a), to_apply=f", i - 1, "\n  ROOT r", i,
                    " = f32[] call(b", i, "), to_apply=f", i - 1, " }\n");
  }
  EXPECT_THAT(
      LowerToPlan(ParseModule(ModuleText(
          "  a = f32[] parameter(0)\n  ROOT r = f32[] call(a), to_apply=f20",
          others))),
      testing::StatusIs(
          absl::StatusCode::kUnimplemented,
          ::testing::ContainsRegex("no kernel for call '[br][0-9]+': inlining "
                                   "it and .* expected at most 100000")));
}

// All but those whose text leaves out values of constants.
TEST(LowerToPlan, CorpusModulesHavePlans) {
  for (const testing::CorpusModule& corpus : testing::CorpusModules()) {
    SCOPED_TRACE(corpus.name);
    const absl::StatusOr<ModulePlan> plan =
        LowerToPlan(ParseModule(corpus.text));
    if (absl::StrContains(corpus.text, "constant({...})")) {
      EXPECT_THAT(
          plan, testing::StatusIs(absl::StatusCode::kUnimplemented,
                                  ::testing::HasSubstr("its value is elided")));
      continue;
    }
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (const Program& kernel : plan->kernels) {
      HONE_EXPECT_OK(VerifyProgram(kernel)) << PrintProgram(kernel);
    }
  }
}

class PlanOfCorpusModule : public ::testing::TestWithParam<const char*> {};

TEST_P(PlanOfCorpusModule, ComputesWhatTheEvaluatorDoes) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(testing::CorpusPath(GetParam())));
  ExpectPlansRight(module);
}

INSTANTIATE_TEST_SUITE_P(Corpus, PlanOfCorpusModule,
                         ::testing::Values("mlp.train", "gpt2_tiny.fwd",
                                           "vae.fwd"));

}  // namespace
}  // namespace hone::loops
