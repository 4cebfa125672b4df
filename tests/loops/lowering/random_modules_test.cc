// Random modules, those that have a lowering.

#include <string>

#include "gtest/gtest.h"

#include "loops/lowering/lowering.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/loops/random_loops.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

constexpr uint64_t kModules = 300;

TEST(LowerRandomModules, ProgramsComputeWhatTheEvaluatorDoes) {
  int64_t lowered = 0;
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    const std::string text = testing::RandomModuleText(seed);
    SCOPED_TRACE(text);
    const hlo::Module module = ParseModule(text);
    const absl::StatusOr<Program> program = LowerToProgram(module);
    if (!program.ok()) {
      EXPECT_EQ(program.status().code(), absl::StatusCode::kUnimplemented)
          << program.status();
      continue;
    }
    ++lowered;
    ExpectLowersRight(module);
    if (HasFailure()) return;
  }
  EXPECT_GT(lowered, kModules / 10);
}

TEST(LowerRandomModules, PlansComputeWhatTheEvaluatorDoes) {
  int64_t lowered = 0;
  for (uint64_t seed = 0; seed < kModules; ++seed) {
    const std::string text = testing::RandomModuleText(seed);
    SCOPED_TRACE(text);
    const hlo::Module module = ParseModule(text);
    const absl::StatusOr<ModulePlan> plan = LowerToPlan(module);
    if (!plan.ok()) {
      EXPECT_EQ(plan.status().code(), absl::StatusCode::kUnimplemented)
          << plan.status();
      continue;
    }
    ++lowered;
    ExpectPlansRight(module);
    if (HasFailure()) return;
  }
  EXPECT_GT(lowered, kModules / 5);
}

TEST(LowerRandomModules, LoopsUpdateArraysInPlace) {
  for (uint64_t seed = 0; seed < 2 * kModules; ++seed) {
    const std::string text = testing::RandomLoopsText(seed);
    SCOPED_TRACE(text);
    ExpectPlansRight(text);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hone::loops
