#include "daemon/tuning_executor.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "daemon/telemetry/metrics.h"
#include "hlo/analysis/fingerprint.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/stored_module.h"
#include "tuning/tuner.h"

namespace hone::daemon {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;

tuning::TuningSpec SmallSpec() {
  tuning::TuningSpec spec;
  spec.budget.trials = 60;
  return spec;
}

// Executors without threads: what they queue stays queued.
class TuningExecutorTest : public ::testing::Test {
 protected:
  absl::StatusOr<tuning::StoredModule> Module() {
    absl::StatusOr<std::string> digest = tuning::StoreSubject(store_, module_);
    if (!digest.ok()) return digest.status();
    return tuning::StoredModule{module_.name(), *std::move(digest)};
  }

  absl::StatusOr<TuningExecutor::Submission> Submit(
      TuningExecutor& executor, const TuningExecutor::ModuleSupplier& module) {
    const auto key =
        tuning::MakeCacheKey(hlo::Fingerprint(module_), spec_, nullptr);
    if (!key.ok()) return key.status();
    return executor.Submit(spec_, *key, {.caller = "a", .request_id = ""},
                           /*use_cache=*/true, module);
  }

  const hlo::Module module_ = tuning::ParseOrDie(tuning::kSimplifiable);
  const tuning::TuningSpec spec_ = SmallSpec();
  storage::MemoryStore store_;
  const tuning::TunerContext context_{.store = &store_,
                                      .clock = &SystemClock()};
  Metrics metrics_;
  Quarantine quarantine_{store_, metrics_};
  const TuningExecutor::Options options_{.max_running = 0, .max_queued = 10};
};

TEST_F(TuningExecutorTest, EveryRefusalWhileDrainingIsCounted) {
  TuningExecutor executor(context_, quarantine_, metrics_, options_);
  prometheus::Counter& rejected = metrics_.RpcRejected("draining");
  // The drain begins while the submission stores its module.
  EXPECT_THAT(Submit(executor,
                     [&] {
                       executor.Drain();
                       return Module();
                     }),
              StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_EQ(rejected.Value(), 1);
  EXPECT_THAT(Submit(executor, [&] { return Module(); }),
              StatusIs(absl::StatusCode::kUnavailable, _));
  EXPECT_EQ(rejected.Value(), 2);
}

TEST_F(TuningExecutorTest, ProgressIsThatOfTheStoreUntilATuningRuns) {
  std::string id;
  {
    TuningExecutor executor(context_, quarantine_, metrics_, options_);
    HONE_ASSERT_OK_AND_ASSIGN(const TuningExecutor::Submission submission,
                              Submit(executor, [&] { return Module(); }));
    id = submission.tuning.id;
    HONE_ASSERT_OK_AND_ASSIGN(const TuningUpdate queued, executor.Get(id));
    EXPECT_EQ(queued.progress.budget_trials, 60);
  }
  // One that does not have it in its queue.
  TuningExecutor executor(context_, quarantine_, metrics_, options_);
  HONE_ASSERT_OK_AND_ASSIGN(const TuningUpdate stored, executor.Get(id));
  EXPECT_EQ(stored.progress.budget_trials, 60);
  EXPECT_EQ(stored.progress.trials, 0);
}

TEST_F(TuningExecutorTest, ATuningThatEndsTheDaemonAgainAndAgainFails) {
  std::string id;
  {
    TuningExecutor executor(context_, quarantine_, metrics_, options_);
    HONE_ASSERT_OK_AND_ASSIGN(const TuningExecutor::Submission submission,
                              Submit(executor, [&] { return Module(); }));
    id = submission.tuning.id;
  }
  const std::string digest = store_.GetTuning(id)->module_digest;
  for (int restart = 1; restart <= 11; ++restart) {
    // As a daemon leaves it that ends while it runs.
    HONE_ASSERT_OK(
        store_.SetTuningState(id, storage::TuningState::kRunning, ""));
    TuningExecutor executor(context_, quarantine_, metrics_, options_);
    HONE_ASSERT_OK(executor.ResumeUnfinished());
    HONE_ASSERT_OK_AND_ASSIGN(const TuningUpdate update, executor.Get(id));
    EXPECT_EQ(update.tuning.state, restart <= 10
                                       ? storage::TuningState::kPending
                                       : storage::TuningState::kFailed);
    EXPECT_EQ(quarantine_.Check(digest).ok(), restart <= 10);
  }
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Tuning tuning, store_.GetTuning(id));
  EXPECT_THAT(tuning.error, ::testing::HasSubstr("the daemon ended 11 times"));
}

}  // namespace
}  // namespace hone::daemon
