#include "optimizers/optimizer_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::optimizers {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(OptimizerText, AnIdAloneHasTheUsualOptions) {
  const auto choice = ParseOptimizer("beam");
  HONE_ASSERT_OK(choice.status());
  EXPECT_EQ(choice->info->id, "beam");
  EXPECT_EQ(choice->options.top_k, OptimizerOptions().top_k);
}

TEST(OptimizerText, SetsOptionsOfXtat) {
  const auto choice = ParseOptimizer(
      "xtat:predictions=64:top_k=8:proposer=annealing:refresh=0");
  HONE_ASSERT_OK(choice.status());
  EXPECT_EQ(choice->info->id, "xtat");
  EXPECT_EQ(choice->options.top_k, 8);
  EXPECT_EQ(choice->options.refresh, 0);
  EXPECT_EQ(choice->options.predictions, 64);
  EXPECT_EQ(choice->options.proposer, "annealing");
}

TEST(OptimizerText, RefusesWhatMeansNothing) {
  const auto expect = [](const char* text, absl::StatusCode code,
                         const char* message) {
    EXPECT_THAT(ParseOptimizer(text).status(),
                StatusIs(code, HasSubstr(message)))
        << text;
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  expect("", absl::StatusCode::kNotFound, "");
  expect("simplex", absl::StatusCode::kNotFound, "simplex");
  expect("beam:top_k=1", kInvalid, "'beam' has no options");
  expect("xtat:", kInvalid, "expected top_k=N");
  expect("xtat:width=3", kInvalid, "'width=3', expected top_k=N");
  expect("xtat:top_k", kInvalid, "'top_k', expected a whole number from 1");
  expect("xtat:top_k=0", kInvalid, "a whole number from 1");
  expect("xtat:refresh=-1", kInvalid, "a whole number from 0");
  expect("xtat:predictions=99999999999999999999", kInvalid, "1 to 65536");
  expect("xtat:predictions=65537", kInvalid, "1 to 65536");
  expect("xtat:top_k=1001", kInvalid, "1 to 1000");
  expect("xtat:proposer=simplex", absl::StatusCode::kNotFound, "simplex");
  expect("xtat:proposer=xtat", kInvalid, "another optimizer");
}

}  // namespace
}  // namespace hone::optimizers
