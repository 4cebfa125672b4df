#include "tuning/cache_key.h"

#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "graphs/bundled_clusters.h"
#include "graphs/mcm/bundled_packages.h"
#include "hlo/analysis/fingerprint.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

storage::CacheKey KeyOf(absl::string_view text,
                        const TuningSpec& request = {}) {
  return MakeCacheKey(hlo::Fingerprint(ParseOrDie(text)), request,
                      /*kernels=*/nullptr)
      .value();
}

std::string Replaced(absl::string_view from, absl::string_view to) {
  const std::string text = absl::StrReplaceAll(kSimplifiable, {{from, to}});
  EXPECT_NE(text, kSimplifiable);
  return text;
}

TEST(CacheKey, EveryComponentIsReadable) {
  const storage::CacheKey key = KeyOf(kSimplifiable);
  EXPECT_EQ(key.module_fingerprint.size(), 64u);
  EXPECT_EQ(key.target, "xla-cpu");
  EXPECT_EQ(key.task, "pass_order");
  EXPECT_EQ(key.task_options, "score=ops;numerics=reassociate");
  EXPECT_THAT(key.space_version, HasSubstr("algsimp"));
}

TEST(CacheKey, WhatChangesTheMeaningChangesTheKey) {
  std::set<std::string> digests = {KeyOf(kSimplifiable).Digest()};
  const auto expect_new = [&](const storage::CacheKey& key) {
    EXPECT_TRUE(digests.insert(key.Digest()).second);
  };
  expect_new(KeyOf(Replaced("constant(0)", "constant(1)")));
  expect_new(KeyOf(Replaced("exponential", "negate")));
  expect_new(KeyOf(Replaced("tuple(a, b)", "tuple(a, a)")));
  expect_new(KeyOf(Replaced("f32[4]", "f32[5]")));
  TuningSpec target;
  target.target = "xla-gpu";
  expect_new(KeyOf(kSimplifiable, target));
  TuningSpec score;
  score.options.score = "xla";
  expect_new(KeyOf(kSimplifiable, score));
  for (hlo::Numerics numerics : {hlo::Numerics::kExact, hlo::Numerics::kFast}) {
    TuningSpec other;
    other.options.numerics = numerics;
    expect_new(KeyOf(kSimplifiable, other));
  }
}

TEST(CacheKey, WhatDoesNotChangeTheMeaningKeepsTheKey) {
  const storage::CacheKey key = KeyOf(kSimplifiable);
  EXPECT_EQ(KeyOf(Replaced("HloModule simplifiable", "HloModule other")), key);
  EXPECT_EQ(KeyOf(Replaced("unused", "renamed")), key);
  EXPECT_EQ(KeyOf(Replaced("exponential(x)",
                           "exponential(x), metadata={op_name=\"e\"}")),
            key);
  EXPECT_EQ(KeyOf(Replaced("x = f32[4] parameter(0)",
                           "x = f32[4]{0} parameter(0) /*comment*/")),
            key);
  // Optimizer, seed and budget are not part of the key.
  TuningSpec request;
  request.optimizer = "random";
  request.seed = 9;
  request.budget = {.trials = 3, .time = absl::Seconds(1)};
  EXPECT_EQ(KeyOf(kSimplifiable, request), key);
  // Nor where the result will run.
  request.target = "cpu";
  EXPECT_EQ(KeyOf(kSimplifiable, request), key);
}

TEST(CacheKey, OptionsKeysAreReadBack) {
  HONE_ASSERT_OK_AND_ASSIGN(const TaskOptions options,
                            ParseOptionsKey("score=xla;passes=pipeline"));
  EXPECT_EQ(options.score, "xla");
  EXPECT_EQ(options.passes, "pipeline");
  EXPECT_EQ(ParseOptionsKey("threads=3")->threads, 3);
  EXPECT_EQ(ParseOptionsKey("score=ops;numerics=exact")->numerics,
            hlo::Numerics::kExact);
  EXPECT_EQ(ParseOptionsKey("contiguity=convex")->contiguity,
            graphs::Contiguity::kConvex);
  const graphs::Cluster cluster = *graphs::FindCluster("t4x2-cpu");
  const std::string key = ClusterKey(cluster);
  EXPECT_EQ(ParseOptionsKey(key)->cluster, cluster);
  EXPECT_THAT(key, Not(HasSubstr("\n")));
  EXPECT_EQ(ParseOptionsKey("contiguity=none")->cluster, std::nullopt);
  const graphs::Package package = *graphs::FindPackage("hermosa8");
  EXPECT_EQ(ParseOptionsKey(PackageKey(package))->package, package);
  EXPECT_THAT(ParseOptionsKey("pipeline=0"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("version 0 of the simulator of packages")));
  EXPECT_THAT(ParseOptionsKey("cluster=abacus"),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(ParseOptionsKey("hlo_import=0"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("version 0"), HasSubstr("expected"))));
  EXPECT_THAT(ParseOptionsKey("contiguity=loose"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'loose'"), HasSubstr("pipeline"))));
  EXPECT_THAT(ParseOptionsKey("numerics=loose"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'loose'"), HasSubstr("reassociate"))));
  EXPECT_THAT(ParseOptionsKey("threads=many"),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(ParseOptionsKey("luck=1"),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST(ValidateSpec, AcceptsTheDefaults) { HONE_EXPECT_OK(ValidateSpec({})); }

TEST(ValidateSpec, SaysWhatIsWrong) {
  TuningSpec task;
  task.task = "nope";
  EXPECT_THAT(ValidateSpec(task),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("pass_order")));
  TuningSpec optimizer;
  optimizer.optimizer = "nope";
  EXPECT_THAT(ValidateSpec(optimizer),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("nope"), HasSubstr("beam"))));
  TuningSpec score;
  score.options.score = "nope";
  EXPECT_THAT(ValidateSpec(score),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ops")));
  TuningSpec exact_kernel;
  exact_kernel.task = "kernel";
  exact_kernel.options.numerics = hlo::Numerics::kExact;
  EXPECT_THAT(ValidateSpec(exact_kernel),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'exact'"), HasSubstr("reassociate"))));
  TuningSpec trials;
  trials.budget.trials = 0;
  EXPECT_THAT(ValidateSpec(trials),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0")));
  TuningSpec time;
  time.budget.time = absl::ZeroDuration();
  EXPECT_THAT(ValidateSpec(time),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0")));
}

}  // namespace
}  // namespace hone::tuning
