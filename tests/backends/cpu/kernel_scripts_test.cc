// Random legal scripts keep what the kernels of the suite compute, in the
// interpreter and as native code. On small shapes; real_kernel_scripts_test.cc
// has those of the suite.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/read_module.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/choices.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/backends/native_program.h"
#include "tests/backends/suite_kernels.h"
#include "tests/loops/difference.h"
#include "tests/loops/random_program.h"
#include "tests/loops/random_scripts.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::CheckInterpreted;
using ::hone::testing::Difference;
using ::hone::testing::kTinyMachine;
using ::hone::testing::RandomStep;
using loops::Program;
using loops::Step;

constexpr char kFolder[] = HONE_SOURCE_DIR "/tests/testdata/kernels";
constexpr int kSteps = 8;

// HONE_SCRIPT_SEEDS asks for more seeds, as the slow test does.
uint64_t Seeds() {
  const char* text = std::getenv("HONE_SCRIPT_SEEDS");
  uint64_t seeds = 3;
  if (text != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(text, &seeds)) << text;
  }
  return seeds;
}

// A kernel, arguments, and what it is to compute from them.
struct Case {
  Program program;
  std::vector<hlo::Literal> arguments;
  std::vector<hlo::Literal> expected;
};

absl::StatusOr<Case> MakeCase(const hlo::Module& module, uint64_t seed) {
  Case made;
  HONE_ASSIGN_OR_RETURN(made.program, loops::LowerToProgram(module));
  made.arguments = ::hone::testing::RandomArguments(made.program, seed);
  HONE_ASSIGN_OR_RETURN(hlo::Literal expected,
                        hlo::Evaluate(module, made.arguments));
  made.expected = hlo::Leaves(expected);
  if (!::hone::testing::HasNan(made.expected)) return made;
  ::hone::testing::TakeAbsoluteValues(made.arguments);
  HONE_ASSIGN_OR_RETURN(expected, hlo::Evaluate(module, made.arguments));
  made.expected = hlo::Leaves(expected);
  return made;
}

// The rules' own for seed 0; of others, some are drawn.
loops::Choices ChoicesFor(uint64_t seed) {
  loops::Choices choices{};
  if (seed == 0) return choices;
  Rng rng(seed);
  for (size_t i = 0; i < loops::kChoiceCount; ++i) {
    const std::vector<int64_t>& values = loops::AllChoices()[i].values;
    if (rng.Below(3) == 0) choices[i] = values[rng.Below(values.size())];
  }
  return choices;
}

// `script`, printed and parsed, leads from the kernel to `program`.
void CheckReplay(const Case& kernel, const std::vector<Step>& script,
                 const Program& program) {
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<Step> parsed,
                            loops::ParseScript(loops::PrintScript(script)));
  HONE_ASSERT_OK_AND_ASSIGN(const Program again,
                            loops::ApplyScript(kernel.program, parsed));
  EXPECT_EQ(loops::PrintProgram(again), loops::PrintProgram(program));
}

// Goes on from `script` by random steps.
void CheckRandomScript(const Case& kernel, std::vector<Step> script,
                       uint64_t seed) {
  HONE_ASSERT_OK_AND_ASSIGN(Program program,
                            loops::ApplyScript(kernel.program, script));
  Rng rng(seed);
  for (int i = 0; i < kSteps; ++i) {
    const std::optional<Step> step = RandomStep(program, rng);
    if (!step.has_value()) break;
    script.push_back(*step);
    SCOPED_TRACE(loops::PrintScript(script));
    HONE_ASSERT_OK_AND_ASSIGN(program, loops::ApplyScript(program, {*step}));
    HONE_ASSERT_OK(
        CheckInterpreted(program, kernel.arguments, kernel.expected, seed));
  }
  SCOPED_TRACE(absl::StrCat(loops::PrintScript(script), "gives\n",
                            loops::PrintProgram(program)));
  CheckReplay(kernel, script, program);
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::vector<hlo::Literal> results,
      ::hone::testing::RunNative(program, kernel.arguments));
  ASSERT_EQ(Difference(kernel.expected, results), "");
}

class KernelScripts : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelScripts, KeepTheMeaning) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(absl::StrCat(kFolder, "/", GetParam(), ".hlo")));
  for (uint64_t seed = 0; seed < Seeds(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    HONE_ASSERT_OK_AND_ASSIGN(const Case kernel, MakeCase(module, seed));
    CheckRandomScript(kernel, {}, seed);
    CheckRandomScript(
        kernel,
        loops::DefaultSchedule(kernel.program, kTinyMachine, ChoicesFor(seed)),
        seed);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Suite, KernelScripts,
    ::testing::ValuesIn(::hone::testing::KernelNames(kFolder)),
    [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace hone::backends
