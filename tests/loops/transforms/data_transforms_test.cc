#include <set>
#include <string>

#include "gtest/gtest.h"

#include "loops/text/text.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/loops/transforms/check_transform.h"

namespace hone::testing {
namespace {

constexpr int kRandomPrograms = 150;

// Every step that a transformation lists is accepted, its result verifies and
// computes the same: over the examples and over random programs.
class DataTransforms : public ::testing::TestWithParam<const char*> {};

TEST_P(DataTransforms, KeepWhatExamplesCompute) {
  int steps = 0;
  for (const ExampleProgram& example : ExamplePrograms()) {
    EXPECT_EQ(CheckSteps(ParseExample(example.name), GetParam(), SmallMachine(),
                         3, &steps),
              absl::OkStatus())
        << example.name;
  }
}

TEST_P(DataTransforms, KeepWhatRandomProgramsCompute) {
  int steps = 0;
  for (int seed = 0; seed < kRandomPrograms; ++seed) {
    ASSERT_EQ(CheckSteps(RandomProgram(static_cast<uint64_t>(seed)), GetParam(),
                         SmallMachine(), static_cast<uint64_t>(seed), &steps),
              absl::OkStatus())
        << "seed " << seed;
  }
  // Random programs are too small for non-temporal stores, and rarely of the
  // forms that these ask for.
  const std::set<std::string> kRare = {"non_temporal", "online_softmax",
                                       "reuse"};
  EXPECT_TRUE(steps > 0 || kRare.count(GetParam()) > 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, DataTransforms,
    ::testing::Values("cache_write", "compute_at", "hoist", "inline",
                      "non_temporal", "online_softmax", "pack", "pad",
                      "pad_input", "permute", "rfactor", "recompute", "reuse",
                      "set_memory", "shrink", "split_reduction"),
    [](const ::testing::TestParamInfo<const char*>& instance) {
      return std::string(instance.param);
    });

}  // namespace
}  // namespace hone::testing
