#include "tuning/tasks/plan_calls.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

// Returns how often the kernel of that name runs.
double CallsOf(const std::string& text, const std::string& name) {
  const auto module = hlo::ParseHloText(text);
  HONE_EXPECT_OK(module.status());
  const auto plan = loops::LowerToPlan(*module);
  HONE_EXPECT_OK(plan.status());
  const std::vector<double> calls = CallsOfKernels(*module, *plan);
  double sum = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (plan->kernels[i].name() == name) sum += calls[i];
  }
  return sum;
}

TEST(CallsOfKernels, LoopsRunAsOftenAsTheirCounterSays) {
  const auto loop = [](const std::string& first, const std::string& step,
                       const std::string& compare) {
    return absl::StrCat(R"(HloModule m
body {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  step = s32[] constant()",
                        step, R"()
  j = s32[] add(i, step)
  x = f32[64] get-tuple-element(s), index=1
  t = f32[64] tanh(x)
  ROOT r = (s32[], f32[64]) tuple(j, t)
}
condition {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000)
  ROOT l = pred[] compare(i, n), direction=)",
                        compare, R"(
}
ENTRY e {
  a = f32[64] parameter(0)
  first = s32[] constant()",
                        first, R"()
  s = (s32[], f32[64]) tuple(first, a)
  w = (s32[], f32[64]) while(s), condition=condition, body=body
  ROOT y = f32[64] get-tuple-element(w), index=1
})");
  };
  EXPECT_EQ(CallsOf(loop("0", "1", "LT"), "t"), 1000);
  EXPECT_EQ(CallsOf(loop("990", "1", "LT"), "t"), 10);
  EXPECT_EQ(CallsOf(loop("0", "100", "LT"), "t"), 10);
  EXPECT_EQ(CallsOf(loop("0", "1", "LE"), "t"), 1001);
}

// Branches that are one computation: 2^30 paths lead to the last.
TEST(CallsOfKernels, SharedBranchesCountOnce) {
  constexpr int kLevels = 30;
  std::string text = absl::StrCat("HloModule m\nc", kLevels,
                                  " { x = f32[64] parameter(0)\n"
                                  " ROOT t = f32[64] tanh(x) }\n");
  for (int i = kLevels; i-- > 0;) {
    absl::StrAppend(&text, "c", i,
                    " { x = f32[64] parameter(0)\n"
                    " one = f32[1] slice(x), slice={[0:1]}\n"
                    " s = f32[] reshape(one)\n z = f32[] constant(0)\n"
                    " p = pred[] compare(s, z), direction=GT\n"
                    " ROOT r = f32[64] conditional(p, x, x), "
                    "true_computation=c",
                    i + 1, ", false_computation=c", i + 1, " }\n");
  }
  absl::StrAppend(&text,
                  "ENTRY e { a = f32[64] parameter(0)\n"
                  " ROOT r = f32[64] call(a), to_apply=c0 }\n");
  EXPECT_NEAR(CallsOf(text, "t"), 1, 1e-9);
}

}  // namespace
}  // namespace hone::tuning
