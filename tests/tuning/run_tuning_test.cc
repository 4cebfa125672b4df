#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/temporary_directory.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/read_module.h"
#include "storage/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/stored_module.h"
#include "tuning/tasks/pass_order_problem.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;

TuningSpec SmallRequest(const std::string& optimizer = "beam") {
  TuningSpec request;
  request.optimizer = optimizer;
  request.budget.trials = 60;
  request.seed = 5;
  return request;
}

hlo::Module Mlp() {
  return hlo::ReadModuleFile(hone::testing::CorpusPath("mlp.train")).value();
}

absl::StatusOr<storage::Record> Tune(
    storage::Store& store, const hlo::Module& module, const TuningSpec& request,
    const StopPredicate& stop = nullptr,
    const ProgressCallback& progress = nullptr) {
  const TunerContext context{.store = &store, .clock = &SystemClock()};
  const absl::StatusOr<storage::Tuning> tuning =
      CreateTuning(context, request, module);
  if (!tuning.ok()) return tuning.status();
  return RunTuning(context, tuning->id, {.progress = progress, .stop = stop});
}

// Everything that does not depend on the moment.
void ExpectSameResult(const storage::Record& a, const storage::Record& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.default_cost, b.default_cost);
  EXPECT_EQ(a.best_cost, b.best_cost);
  EXPECT_EQ(a.decision, b.decision);
  EXPECT_EQ(a.tuned_module_digest, b.tuned_module_digest);
  EXPECT_EQ(a.trials, b.trials);
  EXPECT_EQ(a.verification, b.verification);
}

class RunTuning_ : public ::testing::TestWithParam<bool> {
 protected:
  RunTuning_() {
    if (GetParam()) {
      store_ = storage::SqliteStore::Create(directory_.path()).value();
    } else {
      store_ = std::make_unique<storage::MemoryStore>();
    }
  }

  hone::TemporaryDirectory directory_;
  std::unique_ptr<storage::Store> store_;
};

TEST_P(RunTuning_, PublishesAVerifiedModuleNoWorseThanTheDefault) {
  const hlo::Module module = Mlp();
  std::vector<Progress> seen;
  HONE_ASSERT_OK_AND_ASSIGN(
      const storage::Record record,
      Tune(*store_, module, SmallRequest(), nullptr,
           [&](const Progress& progress) { seen.push_back(progress); }));
  EXPECT_LE(record.best_cost, record.default_cost);
  EXPECT_EQ(record.unit, "ops");
  EXPECT_EQ(record.trials, 60);
  EXPECT_THAT(record.verification.method, HasSubstr("2 random"));
  EXPECT_THAT(record.producer, HasSubstr("hone "));

  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record found,
                            store_->Lookup(record.key));
  ExpectSameResult(found, record);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module tuned,
                            ReadTunedModule(*store_, found));
  EXPECT_EQ(static_cast<double>(hlo::CountOps(tuned)), record.best_cost);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::EquivalenceReport report,
                            hlo::CheckEquivalent(module, tuned));
  EXPECT_TRUE(report.equal) << report.explanation;
  // The decision says how to make the same module.
  hlo::Module applied = module;
  const auto passes = nlohmann::json::parse(record.decision)["passes"]
                          .get<std::vector<std::string>>();
  for (const std::string& pass : passes) {
    HONE_ASSERT_OK(RunPass(pass, hlo::Numerics::kReassociate, applied));
  }
  EXPECT_EQ(hlo::Fingerprint(applied), hlo::Fingerprint(tuned));

  HONE_ASSERT_OK_AND_ASSIGN(const storage::Tuning tuning,
                            store_->GetTuning(record.tuning_id));
  EXPECT_EQ(tuning.state, storage::TuningState::kSucceeded);
  EXPECT_EQ(tuning.trials, 60);
  EXPECT_EQ(tuning.default_cost, record.default_cost);
  EXPECT_EQ(tuning.best_cost, record.best_cost);

  ASSERT_EQ(seen.size(), 62u);
  EXPECT_EQ(seen[59].phase, Progress::Phase::kSearching);
  EXPECT_EQ(seen[59].trials, 60);
  EXPECT_EQ(seen[60].phase, Progress::Phase::kVerifying);
  EXPECT_EQ(seen[61].phase, Progress::Phase::kDone);
  EXPECT_EQ(seen[61].default_cost, record.default_cost);
  EXPECT_EQ(seen[61].best_cost, record.best_cost);
}

INSTANTIATE_TEST_SUITE_P(Stores, RunTuning_, ::testing::Bool(),
                         [](const auto& parameter) {
                           return parameter.param ? "Sqlite" : "Memory";
                         });

class RunTuningResume : public ::testing::TestWithParam<std::string> {};

TEST_P(RunTuningResume, AfterStopsItEndsAsIfItHadNotBeenStopped) {
  const hlo::Module module = ParseOrDie(kSimplifiable);
  const TuningSpec request = SmallRequest(GetParam());
  storage::MemoryStore undisturbed;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record expected,
                            Tune(undisturbed, module, request));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> expected_trials,
                            undisturbed.ListTrials(expected.tuning_id));

  storage::MemoryStore store;
  std::optional<storage::Record> record;
  // Stops at the first question, then after 1, 2, 4, … more trials.
  for (int allowed = 0; !record; allowed = 2 * allowed + 1) {
    int asked = 0;
    absl::StatusOr<storage::Record> result =
        Tune(store, module, request, [&] { return asked++ == allowed; });
    if (result.ok()) {
      record = *std::move(result);
      break;
    }
    ASSERT_TRUE(absl::IsCancelled(result.status())) << result.status();
    HONE_ASSERT_OK_AND_ASSIGN(const storage::StoreStats stats, store.Stats());
    EXPECT_EQ(stats.tunings, 1);
    EXPECT_EQ(stats.records, 0);
  }
  ExpectSameResult(*record, expected);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> trials,
                            store.ListTrials(record->tuning_id));
  ASSERT_EQ(trials.size(), expected_trials.size());
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].candidate, expected_trials[i].candidate);
    EXPECT_EQ(trials[i].measurement.cost, expected_trials[i].measurement.cost);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, RunTuningResume,
                         ::testing::Values("annealing", "beam", "default",
                                           "greedy", "random"),
                         [](const auto& parameter) { return parameter.param; });

TEST(RunTuning, AStoppedTuningIsPendingAgain) {
  storage::MemoryStore store;
  const hlo::Module module = ParseOrDie(kSimplifiable);
  EXPECT_THAT(Tune(store, module, SmallRequest(), [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled, _));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Page<storage::Tuning> page,
                            store.ListTunings({}, 0, ""));
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].state, storage::TuningState::kPending);
}

TEST(RunTuning, AWorseResultDoesNotReplaceABetterOne) {
  storage::MemoryStore store;
  const hlo::Module module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(storage::Record better,
                            Tune(store, module, SmallRequest()));
  better.best_cost -= 1;
  HONE_ASSERT_OK(store.Publish(better));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record worse,
                            Tune(store, module, SmallRequest("random")));
  EXPECT_EQ(worse.optimizer, "random");
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record kept,
                            store.Lookup(better.key));
  EXPECT_EQ(kept.best_cost, better.best_cost);
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Tuning tuning,
                            store.GetTuning(worse.tuning_id));
  EXPECT_EQ(tuning.state, storage::TuningState::kSucceeded);
}

TEST(RunTuning, WhatCannotBeEvaluatedIsRewrittenExactlyOnly) {
  storage::MemoryStore store;
  const hlo::Module module = ParseOrDie(R"(
HloModule opaque

ENTRY main {
  x = f32[4] parameter(0)
  two = f32[] constant(2)
  twos = f32[4] broadcast(two), dimensions={}
  unused = f32[4] add(x, twos)
  three = f32[] constant(3)
  threes = f32[4] broadcast(three), dimensions={}
  y = f32[4] multiply(x, twos)
  z = f32[4] multiply(y, threes)
  call = f32[4] custom-call(z), custom_call_target="elsewhere"
  ROOT r = (f32[4], f32[4]) tuple(call, z)
}
)");
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                            Tune(store, module, SmallRequest()));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module tuned,
                            ReadTunedModule(store, record));
  // Without what is dead, and with both products: x·2·3 is not x·6.
  EXPECT_LT(hlo::CountOps(tuned), hlo::CountOps(module));
  const auto products =
      absl::c_count_if(tuned.entry_computation().instructions(),
                       [](const hlo::Instruction& instruction) {
                         return instruction.opcode() == hlo::Opcode::kMultiply;
                       });
  EXPECT_EQ(products, 2);
  EXPECT_THAT(record.verification.method,
              AllOf(HasSubstr("1 of 2 outputs"), HasSubstr("exact rewrites"),
                    HasSubstr("elsewhere")));
}

TEST(RunTuning, UnknownAndFinishedTuningsAreErrors) {
  storage::MemoryStore store;
  const TunerContext context{.store = &store, .clock = &SystemClock()};
  EXPECT_THAT(RunTuning(context, "nope"),
              StatusIs(absl::StatusCode::kNotFound, _));
  HONE_ASSERT_OK_AND_ASSIGN(
      const storage::Record record,
      Tune(store, ParseOrDie(kSimplifiable), SmallRequest()));
  EXPECT_THAT(RunTuning(context, record.tuning_id),
              StatusIs(absl::StatusCode::kFailedPrecondition, _));
}

TEST(RunTuning, ATuningOfAnotherSpaceFails) {
  storage::MemoryStore store;
  const TunerContext context{.store = &store, .clock = &SystemClock()};
  HONE_ASSERT_OK_AND_ASSIGN(
      storage::Tuning tuning,
      CreateTuning(context, SmallRequest(), ParseOrDie(kSimplifiable)));
  tuning.id = "old";
  tuning.key.space_version = "0:cse";
  HONE_ASSERT_OK(store.CreateTuning(tuning));
  EXPECT_THAT(
      RunTuning(context, "old"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("'0:cse'")));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Tuning failed,
                            store.GetTuning("old"));
  EXPECT_EQ(failed.state, storage::TuningState::kFailed);
  EXPECT_THAT(failed.error, HasSubstr("'0:cse'"));
}

}  // namespace
}  // namespace hone::tuning
