// Random legal scripts keep what the default schedule of each kernel of the
// suite computes as native code.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "backends/cpu/host.h"
#include "base/rng.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/read_module.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/backends/native_program.h"
#include "tests/backends/suite_kernels.h"
#include "tests/loops/random_scripts.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ProposedStep;
using ::hone::testing::RunNative;
using loops::Program;
using loops::Step;

constexpr char kFolder[] = HONE_SOURCE_DIR "/bench/data/kernels";
constexpr uint64_t kSeeds = 8;
constexpr int kSteps = 6;

// Up to rounding, which in sums of this length is relative to the size of all
// results: where large products cancel, a small one is far off.
void ExpectClose(const std::vector<hlo::Literal>& expected,
                 const std::vector<hlo::Literal>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const hlo::Comparison comparison =
        hlo::CompareLiterals(expected[i], actual[i]);
    EXPECT_TRUE(comparison.equal)
        << "result " << i << " element " << comparison.worst.element << ": "
        << comparison.worst.b << ", expected " << comparison.worst.a;
  }
}

class RealKernelScripts : public ::testing::TestWithParam<std::string> {};

TEST_P(RealKernelScripts, KeepTheMeaning) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(absl::StrCat(kFolder, "/", GetParam(), ".hlo")));
  HONE_ASSERT_OK_AND_ASSIGN(const Program lowered,
                            loops::LowerToProgram(module));
  loops::Machine machine = DetectHost().machine;
  machine.threads = 2;
  HONE_ASSERT_OK_AND_ASSIGN(
      const Program scheduled,
      loops::ApplyScript(lowered, loops::DefaultSchedule(lowered, machine)));
  std::vector<hlo::Literal> arguments =
      ::hone::testing::NormalArguments(lowered);
  HONE_ASSERT_OK_AND_ASSIGN(std::vector<hlo::Literal> expected,
                            RunNative(scheduled, arguments));
  if (::hone::testing::HasNan(expected)) {
    ::hone::testing::TakeAbsoluteValues(arguments);
    HONE_ASSERT_OK_AND_ASSIGN(expected, RunNative(scheduled, arguments));
  }
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rng rng(seed);
    Program program = scheduled;
    std::vector<Step> script;
    for (int i = 0; i < kSteps; ++i) {
      // Others may take hours on shapes of this size.
      const std::optional<Step> step = ProposedStep(program, machine, rng);
      ASSERT_TRUE(step.has_value());
      script.push_back(*step);
      HONE_ASSERT_OK_AND_ASSIGN(program, loops::ApplyScript(program, {*step}));
    }
    SCOPED_TRACE(absl::StrCat(loops::PrintScript(script), "on\n",
                              loops::PrintProgram(scheduled)));
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> results,
                              RunNative(program, arguments));
    ExpectClose(expected, results);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Suite, RealKernelScripts,
    ::testing::ValuesIn(::hone::testing::KernelNames(kFolder)),
    [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace hone::backends
