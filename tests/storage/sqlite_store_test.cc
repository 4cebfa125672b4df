// Behavior of the durable store only; the contract test has the rest.
#include "storage/sqlite/sqlite_store.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/directory.h"
#include "storage/sqlite/migrations.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<SqliteStore> Open(const std::string& directory) {
  absl::StatusOr<std::unique_ptr<SqliteStore>> store =
      SqliteStore::Create(directory);
  EXPECT_THAT(store, hone::testing::IsOk());
  return store.ok() ? *std::move(store) : nullptr;
}

// Incompressible, so large ones become files.
std::string RandomBytes(size_t size) {
  Rng rng(size);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Next());
  return bytes;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

std::filesystem::path FileOfBlob(const std::string& directory,
                                 const std::string& digest) {
  return absl::StrCat(directory, "/blobs/", digest.substr(0, 2), "/", digest,
                      ".zst");
}

// Runs SQL on a store that nobody has open, behind its back.
void Tamper(const std::string& directory, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory + "/hone.db").c_str(), &database),
            SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message),
            SQLITE_OK)
      << message;
  sqlite3_close(database);
}

// Runs `body` in a child process and expects it to exit with 0.
void InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(body());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SqliteStore, EverythingSurvivesReopening) {
  TemporaryDirectory directory;
  const std::string large = RandomBytes(300'000);
  std::string large_digest;
  {
    auto store = Open(directory.path() + "/deep/er");
    HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")));
    HONE_ASSERT_OK(store->AppendTrials("t", SampleTrials(0, 5)));
    HONE_ASSERT_OK(store->Publish(SampleRecord()));
    HONE_ASSERT_OK_AND_ASSIGN(large_digest, store->PutBlob(large));
  }
  auto store = Open(directory.path() + "/deep/er");
  HONE_ASSERT_OK_AND_ASSIGN(const Tuning tuning, store->GetTuning("t"));
  EXPECT_EQ(tuning.trials, 5);
  EXPECT_EQ(tuning.seed, SampleTuning("t").seed);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> trials,
                            store->ListTrials("t"));
  EXPECT_EQ(trials.size(), 5u);
  HONE_ASSERT_OK_AND_ASSIGN(const Record record, store->Lookup(SampleKey()));
  EXPECT_EQ(record.best_cost, SampleRecord().best_cost);
  HONE_ASSERT_OK_AND_ASSIGN(const std::string blob,
                            store->GetBlob(large_digest));
  EXPECT_EQ(blob, large);
}

TEST(SqliteStore, LargeBlobsAreFilesAndCompressibleOnesRows) {
  TemporaryDirectory directory;
  auto store = Open(directory.path());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string large,
                            store->PutBlob(RandomBytes(300'000)));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string compressible,
                            store->PutBlob(std::string(300'000, 'x')));
  EXPECT_TRUE(std::filesystem::exists(FileOfBlob(directory.path(), large)));
  EXPECT_FALSE(
      std::filesystem::exists(FileOfBlob(directory.path(), compressible)));
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats stats, store->Stats());
  EXPECT_GT(stats.bytes, 300'000);
  EXPECT_GT(stats.wal_bytes, 0);
  EXPECT_EQ(stats.schema_version, sqlite::Migrations().back().version);
}

TEST(SqliteStore, TrialsAreSmall) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")));
    HONE_ASSERT_OK(store->AppendTrials("t", SampleTrials(0, 20000)));
  }
  EXPECT_LT(std::filesystem::file_size(directory.path() + "/hone.db"),
            20000u * 55);
}

TEST(SqliteStore, LargeCandidatesThatDifferInFewPlacesAreSmall) {
  TemporaryDirectory directory;
  const auto file_size = [&] {
    return std::filesystem::file_size(directory.path() + "/hone.db");
  };
  uint64_t before = 0;
  space::Trial trial;
  for (int32_t i = 0; i < 80'000; ++i) {
    trial.candidate.choices.push_back(i * 7919 % 8);
  }
  for (const int64_t end : {1, 300}) {
    {
      // Each call goes on from what is stored.
      auto store = Open(directory.path());
      if (end == 1) {
        HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")));
      }
      for (; trial.id < end; ++trial.id) {
        trial.candidate.choices[static_cast<size_t>(trial.id) * 257] = 9;
        HONE_ASSERT_OK(store->AppendTrials("t", {&trial, 1}));
      }
    }
    if (end == 1) before = file_size();
  }
  // Two are written in full.
  EXPECT_LT(file_size() - before, 300u * 60 + 40'000);
  auto store = Open(directory.path());
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> trials,
                            store->ListTrials("t"));
  ASSERT_EQ(trials.size(), 300u);
  for (size_t i = trials.size(); i-- > 0;) {
    EXPECT_EQ(trials[i].candidate, trial.candidate) << i;
    const int32_t place = static_cast<int32_t>(i) * 257;
    trial.candidate.choices[i * 257] = place * 7919 % 8;
  }
}

TEST(SqliteStore, CorruptEditsAreDataLossAndTheLogGoesOn) {
  TemporaryDirectory directory;
  std::vector<space::Trial> trials;
  for (int64_t id = 0; id < 6; ++id) {
    trials.push_back(SampleTrial(id));
    trials.back().candidate.choices.assign(1000, 1);
    trials.back().candidate.choices[static_cast<size_t>(id)] = 2;
  }
  {
    auto store = Open(directory.path());
    HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")));
    HONE_ASSERT_OK(
        store->AppendTrials("t", absl::MakeConstSpan(trials).first(4)));
  }
  // Sound edits of another candidate: only the checksum tells.
  Tamper(directory.path(),
         "UPDATE trial SET candidate_bytes ="
         "  (SELECT candidate_bytes FROM trial WHERE id = 1) WHERE id = 2;");
  auto store = Open(directory.path());
  EXPECT_THAT(store->ListTrials("t"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("trial")));
  HONE_EXPECT_OK(store->AppendTrials("t", absl::MakeConstSpan(trials).last(2)));
}

TEST(SqliteStore, ASecondOpenerIsToldWhoHasTheStore) {
  TemporaryDirectory directory;
  auto store = Open(directory.path());
  const auto in_use = StatusIs(
      absl::StatusCode::kUnavailable,
      AllOf(HasSubstr(directory.path()),
            HasSubstr(absl::StrCat("process ", getpid())), HasSubstr("host")));
  EXPECT_THAT(SqliteStore::Create(directory.path()), in_use);
  InChild([&] {
    return absl::IsUnavailable(SqliteStore::Create(directory.path()).status())
               ? 0
               : 1;
  });
  HONE_EXPECT_OK(store->PutBlob("still works").status());
  store.reset();
  EXPECT_NE(Open(directory.path()), nullptr);
}

TEST(SqliteStore, NewerSchemaIsRefusedAndLeftAlone) {
  TemporaryDirectory directory;
  Open(directory.path()).reset();
  Tamper(directory.path(), "PRAGMA user_version = 99");
  const std::string before = ReadFile(directory.path() + "/hone.db");
  EXPECT_THAT(
      SqliteStore::Create(directory.path()),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               AllOf(HasSubstr("version 99"),
                     HasSubstr(absl::StrCat(
                         "version ", sqlite::Migrations().back().version)))));
  EXPECT_EQ(ReadFile(directory.path() + "/hone.db"), before);
}

TEST(SqliteStore, NetworkFilesystemsAreRefused) {
  constexpr uint32_t kNfs = 0x6969;
  constexpr uint32_t kExt4 = 0xEF53;
  EXPECT_THAT(sqlite::CheckLocalFilesystem(kNfs, "/mnt"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("NFS"), HasSubstr("/mnt"))));
  HONE_EXPECT_OK(sqlite::CheckLocalFilesystem(kExt4, "/home"));
}

TEST(SqliteStore, ADirectoryThatCannotBeMadeIsAnError) {
  TemporaryDirectory directory;
  WriteFile(directory.path() + "/file", "x");
  EXPECT_FALSE(SqliteStore::Create(directory.path() + "/file").ok());
}

// ---- Corruption

TEST(SqliteStore, ADatabaseThatIsNoneIsDataLoss) {
  TemporaryDirectory directory;
  Open(directory.path()).reset();
  WriteFile(directory.path() + "/hone.db", std::string(8192, 'x'));
  EXPECT_THAT(SqliteStore::Create(directory.path()),
              StatusIs(absl::StatusCode::kDataLoss, _));
}

TEST(SqliteStore, ACorruptRecordIsDataLossUntilItIsPublishedAgain) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    HONE_ASSERT_OK(store->Publish(SampleRecord("m0")));
    HONE_ASSERT_OK(store->Publish(SampleRecord("m1")));
  }
  Tamper(directory.path(),
         "UPDATE record SET best_cost = 1 WHERE module_fingerprint = 'm0'");
  auto store = Open(directory.path());
  EXPECT_THAT(store->Lookup(SampleKey("m0")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("record")));
  EXPECT_EQ(store->corrupt_count(), 1);
  HONE_EXPECT_OK(store->Lookup(SampleKey("m1")).status());
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Record> page,
                            store->ListRecords({}, 0, ""));
  EXPECT_EQ(page.items.size(), 1u);
  HONE_ASSERT_OK_AND_ASSIGN(const std::optional<Record> nearest,
                            store->FindNearest(SampleKey("m0")));
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->key.module_fingerprint, "m1");
  EXPECT_EQ(store->corrupt_count(), 3);

  HONE_ASSERT_OK(store->Publish(SampleRecord("m0")));
  HONE_EXPECT_OK(store->Lookup(SampleKey("m0")).status());
}

TEST(SqliteStore, EveryColumnOfARecordIsUnderTheChecksum) {
  TemporaryDirectory directory;
  for (const char* change : {"target = 'x'",
                             "task = 'x'",
                             "task_options = 'x'",
                             "space_version = 'x'",
                             "module_fingerprint = 'x'",
                             "module_name = 'x'",
                             "unit = 'x'",
                             "default_cost = 0.5",
                             "best_cost = NULL",
                             "decision = 'x'",
                             "tuned_module_digest = 'x'",
                             "optimizer = 'x'",
                             "seed = 1",
                             "trials = 1",
                             "seconds = 0.5",
                             "verification_method = 'x'",
                             "verification_max_rel_error = 0.5",
                             "tuning_id = 'x'",
                             "producer = 'x'",
                             "created_ns = 1",
                             "checksum = 1"}) {
    HONE_ASSERT_OK(Open(directory.path())->Publish(SampleRecord()));
    Tamper(directory.path(), absl::StrCat("UPDATE record SET ", change));
    EXPECT_THAT(Open(directory.path())->Lookup(SampleKey()),
                StatusIs(absl::StatusCode::kDataLoss, _))
        << change;
  }
}

TEST(SqliteStore, CorruptTuningsAndTrialsAreDataLoss) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    for (const char* id : {"a", "b"}) {
      HONE_ASSERT_OK(store->CreateTuning(SampleTuning(id)));
      HONE_ASSERT_OK(store->AppendTrials(id, SampleTrials(0, 3)));
    }
  }
  Tamper(directory.path(),
         "UPDATE tuning SET trials = 2 WHERE id = 'a';"
         "UPDATE trial SET candidate_bytes = x'0180' WHERE tuning = 2 AND id = "
         "1;");
  auto store = Open(directory.path());
  const auto corrupt = StatusIs(absl::StatusCode::kDataLoss, _);
  EXPECT_THAT(store->GetTuning("a"), corrupt);
  EXPECT_THAT(store->SetTuningState("a", TuningState::kFailed, ""), corrupt);
  EXPECT_THAT(store->AppendTrials("a", SampleTrials(2, 4)), corrupt);
  EXPECT_THAT(store->ListTrials("b"), corrupt);
  HONE_ASSERT_OK_AND_ASSIGN(const Page<Tuning> page,
                            store->ListTunings({}, 0, ""));
  EXPECT_EQ(page.items.size(), 1u);
  EXPECT_EQ(store->corrupt_count(), 5);
}

TEST(SqliteStore, ABitFlippedAnywhereInABlobIsDataLossUntilItIsStoredAgain) {
  TemporaryDirectory directory;
  auto store = Open(directory.path());
  const std::string bytes = RandomBytes(200'000);
  HONE_ASSERT_OK_AND_ASSIGN(const std::string digest, store->PutBlob(bytes));
  const std::filesystem::path path = FileOfBlob(directory.path(), digest);
  const std::string good = ReadFile(path);
  Rng rng(7);
  for (int i = 0; i < 100; ++i) {
    std::string bad = good;
    char& victim = bad[rng.Below(bad.size())];
    victim = static_cast<char>(victim ^ (1 << rng.Below(8)));
    WriteFile(path, bad);
    // A bit that zstd ignores does no harm.
    const absl::StatusOr<std::string> read = store->GetBlob(digest);
    if (read.ok()) {
      EXPECT_EQ(*read, bytes);
    } else {
      EXPECT_THAT(read, StatusIs(absl::StatusCode::kDataLoss, _));
    }
  }
  EXPECT_GT(store->corrupt_count(), 90);

  WriteFile(path, good.substr(0, 1000));
  EXPECT_THAT(store->GetBlob(digest),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("1000 bytes")));
  std::filesystem::remove(path);
  EXPECT_THAT(store->GetBlob(digest),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("missing")));
  HONE_ASSERT_OK(store->PutBlob(bytes).status());
  HONE_ASSERT_OK_AND_ASSIGN(const std::string back, store->GetBlob(digest));
  EXPECT_EQ(back, bytes);
}

TEST(SqliteStore, ACorruptRowOfABlobIsDataLoss) {
  TemporaryDirectory directory;
  std::string digest;
  for (const char* change :
       {"data = zeroblob(length(data))", "data = x''", "data = NULL",
        "size = size + 1", "size = -1", "size = 9223372036854775807"}) {
    HONE_ASSERT_OK_AND_ASSIGN(digest,
                              Open(directory.path())->PutBlob("some text"));
    Tamper(directory.path(), absl::StrCat("UPDATE blob SET ", change));
    EXPECT_THAT(Open(directory.path())->GetBlob(digest),
                StatusIs(absl::StatusCode::kDataLoss, _))
        << change;
  }
}

TEST(SqliteStore, DamageAnywhereInTheFileNeverGivesAWrongAnswer) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    for (int i = 0; i < 50; ++i) {
      const std::string module = absl::StrCat("m", i);
      HONE_ASSERT_OK(store->CreateTuning(SampleTuning(module, module)));
      HONE_ASSERT_OK(store->AppendTrials(module, SampleTrials(0, 20)));
      HONE_ASSERT_OK(store->Publish(SampleRecord(module)));
    }
  }
  const std::string path = directory.path() + "/hone.db";
  const std::string good = ReadFile(path);
  Rng rng(3);
  for (int round = 0; round < 60; ++round) {
    std::string bad = good;
    for (int i = 0; i < 20; ++i) {
      char& victim = bad[rng.Below(bad.size())];
      victim = static_cast<char>(victim ^ (1 << rng.Below(8)));
    }
    WriteFile(path, bad);
    const absl::StatusOr<std::unique_ptr<SqliteStore>> store =
        SqliteStore::Create(directory.path(),
                            {.quick_check_limit = absl::ZeroDuration()});
    if (!store.ok()) continue;
    for (int i = 0; i < 50; ++i) {
      const std::string module = absl::StrCat("m", i);
      const absl::StatusOr<Record> record = (*store)->Lookup(SampleKey(module));
      if (record.ok()) {
        EXPECT_EQ(record->key, SampleKey(module));
        EXPECT_EQ(record->decision, SampleRecord().decision);
        EXPECT_EQ(record->best_cost, SampleRecord().best_cost);
      }
      const absl::StatusOr<std::vector<space::Trial>> trials =
          (*store)->ListTrials(module);
      if (!trials.ok()) continue;
      for (const space::Trial& trial : *trials) {
        EXPECT_EQ(trial.candidate, SampleTrial(trial.id).candidate);
      }
    }
    (*store)->ListRecords({}, 0, "").IgnoreError();
    (*store)->Stats().IgnoreError();
  }
}

// ---- Disk full

// Limits the size of files that this process writes, as a full disk would.
void LimitFileSize(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(SqliteStore, AFullDiskRefusesWritesServesReadsAndRecovers) {
  TemporaryDirectory directory;
  // In a child, whose limits go away with it. Exit codes say what failed.
  InChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    auto store = Open(directory.path());
    if (!store->CreateTuning(SampleTuning("t")).ok()) return 1;
    if (!store->AppendTrials("t", SampleTrials(0, 10)).ok()) return 2;
    if (!store->Publish(SampleRecord()).ok()) return 3;
    LimitFileSize(256 << 10);

    int64_t stored = 10;
    absl::Status status;
    while (status.ok() && stored < 100'000) {
      status = store->AppendTrials("t", SampleTrials(stored, stored + 100));
      if (status.ok()) stored += 100;
    }
    if (!absl::IsResourceExhausted(status)) {
      std::cerr << stored << " trials: " << status << "\n";
      return 4;
    }
    if (!absl::IsResourceExhausted(
            store->PutBlob(RandomBytes(600'000)).status())) {
      return 5;
    }
    // Reads go on, and the failed write left nothing.
    if (store->ListTrials("t")->size() != static_cast<size_t>(stored)) return 6;
    if (!store->Lookup(SampleKey()).ok()) return 7;

    LimitFileSize(RLIM_INFINITY);
    if (!store->AppendTrials("t", SampleTrials(stored, stored + 100)).ok()) {
      return 8;
    }
    if (!store->PutBlob(RandomBytes(600'000)).ok()) return 9;
    stored += 100;
    store.reset();
    store = Open(directory.path());
    return store->ListTrials("t")->size() == static_cast<size_t>(stored) ? 0
                                                                         : 10;
  });
}

TEST(SqliteStore, LeftoversOfAnInterruptedBlobWriteAreRemoved) {
  TemporaryDirectory directory;
  Open(directory.path()).reset();
  std::filesystem::create_directory(directory.path() + "/blobs.tmp");
  WriteFile(directory.path() + "/blobs.tmp/half", "x");
  auto store = Open(directory.path());
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/blobs.tmp/half"));
}

}  // namespace
}  // namespace hone::storage
