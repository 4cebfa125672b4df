#include "storage/sqlite/migrations.h"

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage::sqlite {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Migration kFirst = {1,
                              "PRAGMA application_id = 0x486f6e65;"
                              "CREATE TABLE a (x INTEGER) STRICT;"
                              "PRAGMA user_version = 1;"};
constexpr Migration kSecond = {2,
                               "ALTER TABLE a ADD COLUMN y TEXT;"
                               "UPDATE a SET y = 'n' || x;"
                               "PRAGMA user_version = 2;"};
constexpr Migration kThirdFails = {3,
                                   "CREATE TABLE b (x INTEGER) STRICT;"
                                   "SELECT * FROM missing;"
                                   "PRAGMA user_version = 3;"};

class MigrationsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Database> Open(const std::string& path) {
    auto database = Database::Open(path, Database::Mode::kReadWrite,
                                   absl::Seconds(1), &events_);
    EXPECT_THAT(database, hone::testing::IsOk());
    return *std::move(database);
  }
  int64_t Version(Database& database) {
    return database.QueryInt("PRAGMA user_version").value();
  }

  hone::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/test.db";
  Events events_;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(MigrationsTest, BuiltInOnesAreConsecutive) {
  int version = 0;
  for (const Migration& migration : Migrations()) {
    EXPECT_EQ(migration.version, ++version);
  }
  EXPECT_GT(version, 0);
}

TEST_F(MigrationsTest, EmptyDatabaseGetsEverythingWithoutABackup) {
  auto database = Open(path_);
  HONE_ASSERT_OK(Migrate(*database, path_, Migrations()));
  EXPECT_EQ(Version(*database), Migrations().back().version);
  HONE_ASSERT_OK(database->QueryInt("SELECT COUNT(*) FROM record").status());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".v0.backup"));
  // Again changes nothing.
  HONE_ASSERT_OK(Migrate(*database, path_, Migrations()));
}

TEST_F(MigrationsTest, OlderDatabaseIsCopiedThenMigratedWithItsData) {
  auto database = Open(path_);
  HONE_ASSERT_OK(Migrate(*database, path_, {kFirst}));
  HONE_ASSERT_OK(database->Execute("INSERT INTO a VALUES (7)"));
  HONE_ASSERT_OK(Migrate(*database, path_, {kFirst, kSecond}));
  EXPECT_EQ(Version(*database), 2);
  EXPECT_EQ(*database->QueryInt("SELECT COUNT(*) FROM a WHERE y = 'n7'"), 1);

  auto backup = Open(path_ + ".v1.backup");
  EXPECT_EQ(Version(*backup), 1);
  EXPECT_EQ(*backup->QueryInt("SELECT x FROM a"), 7);
  EXPECT_THAT(backup->Prepare("SELECT y FROM a"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("y")));
}

TEST_F(MigrationsTest, AFailedMigrationLeavesTheVersionBefore) {
  auto database = Open(path_);
  EXPECT_FALSE(Migrate(*database, path_, {kFirst, kSecond, kThirdFails}).ok());
  EXPECT_EQ(Version(*database), 2);
  EXPECT_FALSE(database->in_transaction());
  EXPECT_EQ(*database->QueryInt(
                "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'b'"),
            0);
  // A repaired program goes on from there.
  HONE_ASSERT_OK(Migrate(*database, path_, {kFirst, kSecond}));
}

TEST_F(MigrationsTest, NewerVersionIsRefusedAndTheFileUnchanged) {
  {
    auto database = Open(path_);
    HONE_ASSERT_OK(Migrate(*database, path_, {kFirst, kSecond}));
  }
  const std::string before = ReadFile(path_);
  {
    auto database = Open(path_);
    EXPECT_THAT(Migrate(*database, path_, {kFirst}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("version 2"), HasSubstr("version 1"),
                               HasSubstr(path_))));
  }
  EXPECT_EQ(ReadFile(path_), before);
}

TEST_F(MigrationsTest, StoresOfVersion1GetContextsAndTotals) {
  auto database = Open(path_);
  HONE_ASSERT_OK(Migrate(*database, path_, Migrations().first(1)));
  const auto add_record = [&](const char* module, const char* target) {
    HONE_ASSERT_OK(database->Execute(absl::StrCat(
        "INSERT INTO record VALUES (NULL, '", module, target, "', '", module,
        "', '", target,
        "', 't', 'o', 'v', 'n', 'ns', 1, 1, '{}', 'd', 'beam', 1, 1, 1, '', 0, "
        "'', 'p', 77, 0)")));
  };
  add_record("a", "x");
  add_record("b", "y");
  add_record("c", "x");
  HONE_ASSERT_OK(database->Execute(
      "INSERT INTO tuning VALUES (NULL, 'i', 'k', 'f', 'x', 't', 'o', 'v', 'n',"
      " 'd', 'beam', 1, 5, NULL, 'failed', '', 4, 1, 1, 1, 1, 0);"
      "INSERT INTO blob VALUES ('d', 10, 7, NULL), ('e', 10, 5, x'00');"));
  HONE_ASSERT_OK(Migrate(*database, path_, Migrations()));
  const auto is_one = [&](absl::string_view sql) {
    return database->QueryInt(sql).value_or(0) == 1;
  };
  EXPECT_TRUE(
      is_one("SELECT records = 3 AND tunings = 1 AND trials = 4 AND blobs = 2"
             " AND file_bytes = 7 FROM total"));
  EXPECT_TRUE(is_one("SELECT COUNT(*) = 2 FROM context"));
  EXPECT_TRUE(is_one(
      "SELECT COUNT(*) = 2 FROM record JOIN context ON context.id = context"
      " WHERE context.target = 'x' AND record.target = 'x' AND newest = 3"
      " AND used_ns = 77"));
  EXPECT_TRUE(is_one("SELECT COUNT(*) = 2 FROM blob_use WHERE used_ns > 0"));
}

TEST_F(MigrationsTest, TrialsOfVersion4StayAndGrow) {
  std::vector<space::Trial> trials = SampleTrials(0, 3);
  trials[1].measurement.samples = {1.5, 2.25, 1e-300};
  trials[2].measurement.outcome = space::Outcome::kTimeout;
  trials[2].measurement.message = "slow";
  const std::string path = directory_.path() + "/hone.db";
  {
    auto database = Open(path);
    HONE_ASSERT_OK(Migrate(*database, path, Migrations().first(4)));
    // As the program of that version wrote them.
    const auto bits = [](double value) {
      return absl::StrCat(std::bit_cast<int64_t>(value), ";");
    };
    const auto checksum = [](const std::string& columns) {
      return std::bit_cast<int64_t>(FastHash(columns).low);
    };
    const int64_t of_tuning = checksum(absl::StrCat(
        "1:t2:m03:hlo10:pass_order9:score=ops9:1:cse,dce1:n1:d4:beam1;9;",
        std::numeric_limits<int64_t>::max(), ";7:pending0:3;", bits(100.5),
        bits(98.5), "1;1;"));
    const int64_t of_trials[] = {
        checksum(absl::StrCat("0;0;1;2;2:ok", bits(100.5), "0:")),
        checksum(absl::StrCat("1;1;1;2;2:ok", bits(99.5), "0:", bits(1.5),
                              bits(2.25), bits(1e-300))),
        checksum(absl::StrCat("2;2;1;2;7:timeout", bits(98.5), "4:slow"))};
    HONE_ASSERT_OK(database->Execute(absl::StrCat(
        "INSERT INTO tuning (sequence, id, key_digest, module_fingerprint, "
        "target, task, task_options, space_version, module_name, "
        "module_digest, optimizer, seed, budget_trials, state, error, trials, "
        "default_cost, best_cost, created_ns, updated_ns, checksum) VALUES "
        "(1, 't', '",
        SampleKey().Digest(),
        "', 'm0', 'hlo', 'pass_order', 'score=ops', '1:cse,dce', 'n', 'd', "
        "'beam', 1, 9, 'pending', '', 3, 100.5, 98.5, 1, 1, ",
        of_tuning,
        ");"
        "INSERT INTO trial VALUES "
        "(1, 0, '[0,1,2]', 'ok', 100.5, NULL, NULL, ",
        of_trials[0],
        "), (1, 1, '[1,1,2]', 'ok', 99.5, "
        "'[1.5,2.25,1.0000000000000001e-300]', NULL, ",
        of_trials[1], "), (1, 2, '[2,1,2]', 'timeout', 98.5, NULL, 'slow', ",
        of_trials[2], ");")));
  }
  HONE_ASSERT_OK_AND_ASSIGN(const auto store,
                            SqliteStore::Create(directory_.path()));
  trials.push_back(SampleTrial(3));
  trials.back().measurement.violation = 0.5;
  HONE_ASSERT_OK(store->AppendTrials("t", {&trials.back(), 1}));
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> found,
                            store->ListTrials("t"));
  ASSERT_EQ(found.size(), trials.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].candidate, trials[i].candidate);
    EXPECT_EQ(found[i].measurement.outcome, trials[i].measurement.outcome);
    EXPECT_EQ(found[i].measurement.cost, trials[i].measurement.cost);
    EXPECT_EQ(found[i].measurement.samples, trials[i].measurement.samples);
    EXPECT_EQ(found[i].measurement.message, trials[i].measurement.message);
    EXPECT_EQ(found[i].measurement.violation, trials[i].measurement.violation);
  }
  EXPECT_EQ(store->corrupt_count(), 0);
}

TEST_F(MigrationsTest, AnotherProgramsDatabaseIsRefused) {
  auto database = Open(path_);
  HONE_ASSERT_OK(database->Execute("CREATE TABLE theirs (x)"));
  EXPECT_THAT(Migrate(*database, path_, Migrations()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another program")));
}

TEST_F(MigrationsTest, AMigrationThatForgetsItsVersionIsABug) {
  auto database = Open(path_);
  EXPECT_THAT(
      Migrate(*database, path_,
              {kFirst, Migration{2, "CREATE TABLE c (x INTEGER) STRICT;"}}),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("migration 2")));
}

}  // namespace
}  // namespace hone::storage::sqlite
