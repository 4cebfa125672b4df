// A tuning that is killed goes on where its stored trials end.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_directory.h"
#include "storage/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

TuningSpec Request() {
  TuningSpec request;
  request.optimizer = "random";
  request.budget.trials = 300;
  return request;
}

absl::StatusOr<storage::Record> Tune(storage::Store& store,
                                     const ProgressCallback& progress) {
  const TunerContext context{.store = &store, .clock = &SystemClock()};
  const absl::StatusOr<storage::Tuning> tuning =
      CreateTuning(context, Request(), ParseOrDie(kSimplifiable));
  if (!tuning.ok()) return tuning.status();
  return RunTuning(context, tuning->id, {.progress = progress});
}

TEST(RunTuningCrash, AKilledTuningEndsAsIfItHadNotBeenKilled) {
  storage::MemoryStore undisturbed;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record expected,
                            Tune(undisturbed, nullptr));

  hone::TemporaryDirectory directory;
  int64_t stored_before = 0;
  for (int64_t kill_at : {1, 100, 200, 299}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto store = storage::SqliteStore::Create(directory.path());
      if (!store.ok()) _exit(1);
      Tune(**store, [&](const Progress& progress) {
        if (progress.trials == kill_at) kill(getpid(), SIGKILL);
      }).IgnoreError();
      _exit(2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);

    HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                              storage::SqliteStore::Create(directory.path()));
    HONE_ASSERT_OK_AND_ASSIGN(const storage::StoreStats stats, store->Stats());
    EXPECT_EQ(stats.tunings, 1);
    EXPECT_EQ(stats.records, 0);
    // At most the last batch is to be measured again.
    EXPECT_GE(stats.trials, std::max(stored_before, kill_at - 64));
    stored_before = stats.trials;
  }
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            storage::SqliteStore::Create(directory.path()));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record record,
                            Tune(*store, nullptr));
  EXPECT_EQ(record.best_cost, expected.best_cost);
  EXPECT_EQ(record.decision, expected.decision);
  EXPECT_EQ(record.trials, expected.trials);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> trials,
                            store->ListTrials(record.tuning_id));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> expected_trials,
                            undisturbed.ListTrials(expected.tuning_id));
  ASSERT_EQ(trials.size(), expected_trials.size());
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].candidate, expected_trials[i].candidate);
  }
}

}  // namespace
}  // namespace hone::tuning
