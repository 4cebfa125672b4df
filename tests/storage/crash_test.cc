// kill -9 at random points: nothing that was acknowledged is lost.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

constexpr int kKills = 20;

// The message of a child after a call has returned OK.
struct Acknowledged {
  enum Kind : int32_t { kTrial, kRecord, kBlob } kind;
  int32_t tuning;
  int64_t number;
};

std::string TuningId(int round, int32_t tuning) {
  return absl::StrCat("r", round, "-t", tuning);
}

std::string BlobOf(int round, int32_t tuning) {
  // Large enough for a file of its own.
  Rng rng(static_cast<uint64_t>(round * 1000 + tuning));
  std::string bytes(150'000, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Next());
  return bytes;
}

// Works until it is killed: tunings of a few trials each, then a blob and a
// record, writing what was acknowledged to `pipe`.
[[noreturn]] void Work(const std::string& directory, int round, int pipe) {
  auto store = SqliteStore::Create(directory);
  if (!store.ok()) _exit(1);
  const auto say = [&](const Acknowledged& what) {
    if (write(pipe, &what, sizeof(what)) != sizeof(what)) _exit(2);
  };
  for (int32_t tuning = 0;; ++tuning) {
    const std::string id = TuningId(round, tuning);
    if (!(*store)->CreateTuning(SampleTuning(id, id)).ok()) _exit(3);
    for (int64_t trial = 0; trial < 10; trial += 2) {
      if (!(*store)->AppendTrials(id, SampleTrials(trial, trial + 2)).ok()) {
        _exit(4);
      }
      say({Acknowledged::kTrial, tuning, trial + 1});
    }
    if (!(*store)->PutBlob(BlobOf(round, tuning)).ok()) _exit(5);
    say({Acknowledged::kBlob, tuning, 0});
    Record record = SampleRecord(id);
    record.tuning_id = id;
    if (!(*store)->Publish(record).ok()) _exit(6);
    say({Acknowledged::kRecord, tuning, 0});
  }
}

void ExpectIntact(const std::string& directory) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2((directory + "/hone.db").c_str(), &database,
                            SQLITE_OPEN_READWRITE, nullptr),
            SQLITE_OK);
  sqlite3_stmt* check = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &check,
                               nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_step(check), SQLITE_ROW);
  EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(check, 0)),
               "ok");
  sqlite3_finalize(check);
  sqlite3_close(database);
}

TEST(SqliteStoreCrash, NothingAcknowledgedIsLostToKill9) {
  hone::TemporaryDirectory directory;
  Rng rng(11);
  int64_t acknowledged_in_all = 0;
  for (int round = 0; round < kKills; ++round) {
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipe_fds[0]);
      Work(directory.path(), round, pipe_fds[1]);
    }
    close(pipe_fds[1]);

    // The moment to kill: some time into what follows a random acknowledgement.
    const uint64_t target = 1 + rng.Below(60);
    std::vector<Acknowledged> ledger;
    Acknowledged what;
    while (read(pipe_fds[0], &what, sizeof(what)) == sizeof(what)) {
      ledger.push_back(what);
      if (ledger.size() == target) {
        // A syscall each, which the compiler cannot leave out.
        for (uint64_t i = rng.Below(20'000); i > 0; --i) getppid();
        kill(child, SIGKILL);
      }
    }
    close(pipe_fds[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
    acknowledged_in_all += static_cast<int64_t>(ledger.size());

    {
      HONE_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<SqliteStore> store,
                                SqliteStore::Create(directory.path()));
      for (const Acknowledged& promised : ledger) {
        const std::string id = TuningId(round, promised.tuning);
        switch (promised.kind) {
          case Acknowledged::kTrial: {
            HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning,
                                      store->GetTuning(id));
            HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> trials,
                                      store->ListTrials(id));
            ASSERT_GT(static_cast<int64_t>(trials.size()), promised.number);
            EXPECT_EQ(tuning.trials, static_cast<int64_t>(trials.size()));
            // Consecutive: none twice, none missing.
            for (size_t i = 0; i < trials.size(); ++i) {
              EXPECT_EQ(trials[i].id, static_cast<int64_t>(i));
            }
            break;
          }
          case Acknowledged::kBlob: {
            const std::string blob = BlobOf(round, promised.tuning);
            HONE_ASSERT_OK_AND_ASSIGN(const std::string digest,
                                      store->PutBlob(blob));
            HONE_ASSERT_OK_AND_ASSIGN(const std::string back,
                                      store->GetBlob(digest));
            EXPECT_EQ(back, blob);
            break;
          }
          case Acknowledged::kRecord: {
            HONE_EXPECT_OK(store->Lookup(SampleKey(id)).status());
            HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning,
                                      store->GetTuning(id));
            EXPECT_EQ(tuning.state, TuningState::kSucceeded);
            break;
          }
        }
      }
      EXPECT_EQ(store->corrupt_count(), 0);
    }
    ExpectIntact(directory.path());
  }
  EXPECT_GT(acknowledged_in_all, kKills);
}

}  // namespace
}  // namespace hone::storage
