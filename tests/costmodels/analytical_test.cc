#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "costmodels/registry.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

// One flop, and one byte, per nanosecond.
constexpr MachineModel kMachine = {.peak_flops = 1e9,
                                   .bandwidth_bytes_per_s = 1e9,
                                   .op_overhead_ns = 1000,
                                   .flops_per_transcendental = 50};

constexpr char kRegions[] = R"(HloModule m
square {
  x = f32[10] parameter(0)
  y = f32[10] add(x, x)
  ROOT z = f32[10] multiply(y, y)
}
double {
  x = f32[10] parameter(0)
  ROOT y = f32[10] add(x, x)
}
always {
  x = f32[10] parameter(0)
  ROOT t = pred[] constant(true)
}
)";

// The time of one line, the root of the entry computation.
double TimeOf(absl::string_view line) {
  absl::StatusOr<hlo::Module> module = hlo::ParseHloText(
      absl::StrCat(kRegions, "ENTRY main {\n  c = pred[] parameter(0)\n",
                   "  x = f32[10] parameter(1)\n  m = f32[10,10] parameter(2)",
                   "\n  ROOT r = ", line, "\n}\n"));
  HONE_EXPECT_OK(module);
  if (!module.ok()) return -1;
  return MakeAnalytical(kMachine)->PredictModuleNs(*module);
}

TEST(Analytical, TakesTheSlowerOfArithmeticAndMemory) {
  // 10 flops, 120 bytes.
  EXPECT_DOUBLE_EQ(TimeOf("f32[10] add(x, x)"), 1120);
  // 2000 flops, 1200 bytes.
  EXPECT_DOUBLE_EQ(TimeOf("f32[10,10] dot(m, m), lhs_contracting_dims={1}, "
                          "rhs_contracting_dims={0}"),
                   3000);
  // 10 transcendentals are 500 flops; 80 bytes.
  EXPECT_DOUBLE_EQ(TimeOf("f32[10] tanh(x)"), 1500);
}

TEST(Analytical, WhatDoesNothingTakesNoTime) {
  EXPECT_EQ(TimeOf("f32[10] bitcast(x)"), 0);
  EXPECT_EQ(TimeOf("(f32[10], f32[10]) tuple(x, x)"), 0);
  EXPECT_EQ(TimeOf("f32[] constant(1)"), 0);
}

TEST(Analytical, AFusionIsOneOperation) {
  EXPECT_DOUBLE_EQ(TimeOf("f32[10] call(x), to_apply=square"), 2 * 1120);
  EXPECT_DOUBLE_EQ(TimeOf("f32[10] fusion(x), kind=kLoop, calls=square"), 1080);
}

TEST(Analytical, ControlFlow) {
  EXPECT_DOUBLE_EQ(TimeOf("f32[10] conditional(c, x, x), "
                          "true_computation=double, false_computation=square"),
                   1000 + 2 * 1120);
  constexpr char kWhile[] = "f32[10] while(x), condition=always, body=double";
  EXPECT_DOUBLE_EQ(TimeOf(kWhile), 1000 + 1120);
  EXPECT_DOUBLE_EQ(
      TimeOf(absl::StrCat(
          kWhile, ", backend_config={\"known_trip_count\":{\"n\":\"7\"}}")),
      7 * (1000 + 1120));
}

TEST(Analytical, InstructionsSumToTheModule) {
  absl::StatusOr<hlo::Module> module =
      hlo::ParseHloText(absl::StrCat(kRegions, R"(ENTRY main {
  x = f32[10] parameter(0)
  y = f32[10] call(x), to_apply=square
  z = f32[10] tanh(y)
  ROOT r = f32[10] add(y, z)
}
)"));
  HONE_ASSERT_OK(module);
  const auto model = MakeAnalytical(kMachine);
  EXPECT_DOUBLE_EQ(model->PredictModuleNs(*module), 2240 + 1500 + 1120);
}

TEST(Analytical, RemovedInstructionsTakeNoTime) {
  absl::StatusOr<hlo::Module> module = hlo::ParseHloText(R"(HloModule m
ENTRY main {
  x = f32[10] parameter(0)
  unused = f32[10] tanh(x)
  ROOT r = f32[10] add(x, x)
}
)");
  HONE_ASSERT_OK(module);
  hlo::Computation& entry = module->mutable_computation(module->entry());
  entry.Remove(1);
  const auto model = MakeAnalytical(kMachine);
  EXPECT_DOUBLE_EQ(model->PredictModuleNs(*module), 1120);
}

}  // namespace
}  // namespace hone::costmodels
