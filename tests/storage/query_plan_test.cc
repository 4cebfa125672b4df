// What a lookup, a miss, Stats and opening ask of SQLite never scans a table
// that grows with the use of the store.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sqlite3.h>

#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

// Collects the statements that all connections to files run while it lives.
class StatementLog {
 public:
  StatementLog() {
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&Attach));
  }
  ~StatementLog() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&Attach));
    Clear();
  }
  static void Clear() {
    absl::MutexLock lock(&mu_);
    statements_.clear();
  }
  static std::set<std::string> Take() {
    absl::MutexLock lock(&mu_);
    return std::exchange(statements_, {});
  }

 private:
  static int Attach(sqlite3* database, char**, const void*) {
    const char* file = sqlite3_db_filename(database, "main");
    if (file == nullptr || *file == '\0') return SQLITE_OK;
    return sqlite3_trace_v2(
        database, SQLITE_TRACE_STMT,
        [](unsigned, void*, void* statement, void*) {
          absl::MutexLock lock(&mu_);
          statements_.insert(
              sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
          return 0;
        },
        nullptr);
  }

  static absl::Mutex mu_;
  static std::set<std::string> statements_ ABSL_GUARDED_BY(mu_);
};

absl::Mutex StatementLog::mu_;
std::set<std::string> StatementLog::statements_;

// Returns the lines of the plan of `sql` that read a whole table.
std::vector<std::string> Scans(sqlite3* database, const std::string& sql) {
  std::vector<std::string> scans;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, ("EXPLAIN QUERY PLAN " + sql).c_str(),
                               -1, &statement, nullptr),
            SQLITE_OK)
      << sql;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    const std::string line =
        reinterpret_cast<const char*>(sqlite3_column_text(statement, 3));
    for (const char* table : {"record", "tuning", "trial", "blob", "blob_use",
                              "context", "measurement"}) {
      if (absl::StrContains(absl::StrCat(line, " "),
                            absl::StrCat("SCAN ", table, " "))) {
        scans.push_back(absl::StrCat(line, " in ", sql));
      }
    }
  }
  sqlite3_finalize(statement);
  return scans;
}

// The key of record `index`: a module of its own, one of 24 contexts.
CacheKey FilledKey(int64_t index) {
  CacheKey key = SampleKey(absl::StrCat("module-", index));
  key.target = absl::StrCat("target-", index % 3);
  key.task_options = absl::StrCat("score=ops;numerics=", index / 3 % 4);
  key.space_version = absl::StrCat(index / 12 % 2, ":cse,dce");
  return key;
}

class QueryPlanTest : public ::testing::Test {
 protected:
  QueryPlanTest() {
    const auto store = SqliteStore::Create(directory_.path());
    HONE_EXPECT_OK(store.status());
    for (int64_t i = 0; i < 100; ++i) {
      Tuning tuning = SampleTuning(absl::StrCat("tuning-", i));
      tuning.key = FilledKey(i);
      HONE_EXPECT_OK((*store)->CreateTuning(tuning).status());
      Record record = SampleRecord();
      record.key = tuning.key;
      record.tuning_id = tuning.id;
      HONE_EXPECT_OK((*store)->Publish(record).status());
    }
    log_ = std::make_unique<StatementLog>();
  }

  // Expects that what has run since the last call scans nothing.
  void ExpectNoScans(const char* what) {
    const std::set<std::string> statements = StatementLog::Take();
    EXPECT_FALSE(statements.empty()) << what;
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((directory_.path() + "/hone.db").c_str(), &database),
              SQLITE_OK);
    for (const std::string& sql : statements) {
      if (!absl::StartsWithIgnoreCase(sql, "SELECT") &&
          !absl::StartsWithIgnoreCase(sql, "INSERT") &&
          !absl::StartsWithIgnoreCase(sql, "UPDATE") &&
          !absl::StartsWithIgnoreCase(sql, "DELETE")) {
        continue;
      }
      EXPECT_THAT(Scans(database, sql), ::testing::IsEmpty()) << what;
    }
    sqlite3_close(database);
    StatementLog::Clear();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<StatementLog> log_;
};

TEST_F(QueryPlanTest, TheTestSeesScans) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            SqliteStore::Create(directory_.path()));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((directory_.path() + "/hone.db").c_str(), &database),
            SQLITE_OK);
  EXPECT_THAT(Scans(database, "SELECT COUNT(*) FROM trial WHERE cost > 1"),
              ::testing::SizeIs(1));
  sqlite3_close(database);
}

TEST_F(QueryPlanTest, OpeningHitMissAndStatsDoNotScan) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            SqliteStore::Create(directory_.path()));
  HONE_ASSERT_OK(
      store->ListTunings({TuningState::kPending, TuningState::kRunning}, 0, "")
          .status());
  ExpectNoScans("opening");
  HONE_ASSERT_OK(store->Lookup(FilledKey(7)).status());
  ExpectNoScans("hit");
  EXPECT_FALSE(store->Lookup(FilledKey(100)).ok());
  HONE_ASSERT_OK(store->FindNearest(FilledKey(100)).status());
  ExpectNoScans("miss");
  HONE_ASSERT_OK(store->Stats().status());
  ExpectNoScans("Stats");
}

TEST_F(QueryPlanTest, RecordsOfAMachineOrATimeAreFoundWithoutAScan) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            SqliteStore::Create(directory_.path()));
  const absl::Time created = SampleRecord().created;
  for (const RecordFilter& filter :
       {RecordFilter{.measured_by = "somewhere/machine"},
        RecordFilter{.created_after = created + absl::Hours(1)},
        RecordFilter{.created_before = created - absl::Hours(1)}}) {
    StatementLog::Clear();
    HONE_ASSERT_OK(store->ListRecords(filter, 0, "").status());
    ExpectNoScans("a listing");
    HONE_ASSERT_OK(store->Invalidate(filter).status());
    ExpectNoScans("Invalidate");
  }
}

TEST_F(QueryPlanTest, WritesOfATuningDoNotScan) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            SqliteStore::Create(directory_.path()));
  StatementLog::Clear();
  HONE_ASSERT_OK(store->PutBlob("module").status());
  HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")).status());
  HONE_ASSERT_OK(store->AppendTrials("t", SampleTrials(0, 3)));
  Record record = SampleRecord();
  record.tuning_id = "t";
  record.verification.measured_by = {"somewhere/machine"};
  HONE_ASSERT_OK(store->Publish(record).status());
  ExpectNoScans("a tuning");
}

}  // namespace
}  // namespace hone::storage
