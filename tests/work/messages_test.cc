#include "work/messages.h"

#include "gtest/gtest.h"

namespace hone::work {
namespace {

TEST(Messages, ATrialComesBackAsItWas) {
  space::Trial trial;
  trial.id = 7;
  trial.candidate.choices = {3, -1, 4};
  trial.measurement = {.outcome = space::Outcome::kWrongResult,
                       .cost = 2.5,
                       .samples = {1, 2},
                       .message = "no",
                       .violation = 0.25};
  internal::Trial proto;
  ToProto(trial, proto);
  const space::Trial back = FromProto(proto);
  EXPECT_EQ(back.id, 7);
  EXPECT_EQ(back.candidate, trial.candidate);
  EXPECT_EQ(back.measurement.outcome, trial.measurement.outcome);
  EXPECT_EQ(back.measurement.cost, 2.5);
  EXPECT_EQ(back.measurement.samples, trial.measurement.samples);
  EXPECT_EQ(back.measurement.message, "no");
  EXPECT_EQ(back.measurement.violation, 0.25);
}

TEST(Messages, ASearchComesBackAsItWas) {
  tuning::SearchJob job;
  job.tuning.id = "t";
  job.tuning.key = {.module_fingerprint = "f",
                    .target = "xla-cpu",
                    .task = "pass_order",
                    .task_options = "score=ops",
                    .space_version = "1"};
  job.tuning.module_name = "m";
  job.tuning.module_digest = "d";
  job.tuning.optimizer = "beam";
  job.tuning.seed = ~uint64_t{0};
  job.tuning.budget = {
      .trials = 5, .evaluations = 9, .time = absl::Seconds(1.5)};
  job.module = std::string("a\0b", 3);
  job.trials.resize(2);
  job.trials[1].id = 1;
  internal::Search proto;
  ToProto(job, proto);
  const tuning::SearchJob back = FromProto(proto);
  EXPECT_EQ(back.tuning.id, "t");
  EXPECT_EQ(back.tuning.key, job.tuning.key);
  EXPECT_EQ(back.tuning.module_name, "m");
  EXPECT_EQ(back.tuning.module_digest, "d");
  EXPECT_EQ(back.tuning.optimizer, "beam");
  EXPECT_EQ(back.tuning.seed, job.tuning.seed);
  EXPECT_EQ(back.tuning.budget.trials, 5);
  EXPECT_EQ(back.tuning.budget.evaluations, 9);
  EXPECT_EQ(back.tuning.budget.time, absl::Seconds(1.5));
  EXPECT_EQ(back.module, job.module);
  ASSERT_EQ(back.trials.size(), 2u);
  EXPECT_EQ(back.trials[1].id, 1);

  job.tuning.budget.time = absl::InfiniteDuration();
  internal::Search unlimited;
  ToProto(job, unlimited);
  EXPECT_EQ(FromProto(unlimited).tuning.budget.time, absl::InfiniteDuration());
}

TEST(Messages, AResultComesBackAsItWas) {
  tuning::Found found = {
      .unit = "ops",
      .default_cost = 3,
      .best_cost = 2,
      .decision = "{}",
      .tuned_module = "HloModule",
      .trials = 8,
      .seconds = 0.25,
      .verification = {"identical to the input", 0.5, {"a/m", "b/n"}}};
  internal::Found proto;
  ToProto(found, proto);
  const tuning::Found back = FromProto(proto);
  EXPECT_EQ(back.unit, "ops");
  EXPECT_EQ(back.default_cost, 3);
  EXPECT_EQ(back.best_cost, 2);
  EXPECT_EQ(back.decision, "{}");
  EXPECT_EQ(back.tuned_module, "HloModule");
  EXPECT_EQ(back.trials, 8);
  EXPECT_EQ(back.seconds, 0.25);
  EXPECT_EQ(back.verification, found.verification);
}

}  // namespace
}  // namespace hone::work
