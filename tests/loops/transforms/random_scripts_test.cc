// Scripts of random legal steps keep what programs compute.

#include "tests/loops/random_scripts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "loops/interpreter/interpreter.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using ::hone::testing::CheckInterpreted;
using ::hone::testing::RandomStep;

// The number of times that each transformation was applied.
using Counts = std::map<std::string, int>;

void CheckRandomScript(const Program& program, uint64_t seed, Counts& counts) {
  const std::vector<hlo::Literal> arguments =
      testing::RandomArguments(program, seed);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> expected,
                            Interpret(program, arguments));
  Rng rng(seed);
  Program current = program;
  std::vector<Step> script;
  for (int i = 0; i < 8; ++i) {
    const std::optional<Step> step = RandomStep(current, rng);
    if (!step.has_value()) break;
    script.push_back(*step);
    SCOPED_TRACE(PrintProgram(program) + PrintScript(script));
    HONE_ASSERT_OK_AND_ASSIGN(current, ApplyScript(current, {*step}));
    HONE_ASSERT_OK(CheckInterpreted(current, arguments, expected, seed))
        << PrintProgram(current);
    ++counts[step->transform];
  }
}

TEST(RandomScripts, KeepTheMeaningOfExamples) {
  Counts counts;
  for (const testing::ExampleProgram& example : testing::ExamplePrograms()) {
    const Program program = testing::ParseExample(example.name);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      CheckRandomScript(program, seed, counts);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RandomScripts, KeepTheMeaningOfRandomPrograms) {
  Counts counts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CheckRandomScript(testing::RandomProgram(seed), seed, counts);
    if (HasFatalFailure()) return;
  }
  // These ask for programs of a certain form, and have tests of their own.
  for (const char* name : {"block_layout", "online_softmax", "overrun",
                           "pad_sum", "reuse", "tile"}) {
    counts[name] = 1;
  }
  for (const Transform* transform : AllTransforms()) {
    EXPECT_GT(counts[std::string(transform->name())], 0) << transform->name();
  }
}

}  // namespace
}  // namespace hone::loops
