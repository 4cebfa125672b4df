// Corruption is found, listed and never served.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sqlite3.h>

#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kRecords = 150;

std::string Module(int i) { return absl::StrCat("module-", i); }
std::string Text(int i) { return absl::StrCat("HloModule m", i); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

class CheckTest : public ::testing::Test {
 protected:
  CheckTest() {
    const auto store = Open();
    for (int i = 0; i < kRecords; ++i) {
      Record record = SampleRecord(Module(i));
      record.tuned_module_digest = *store->PutBlob(Text(i));
      digests_.push_back(record.tuned_module_digest);
      record.tuning_id = absl::StrCat("t", i);
      Tuning tuning = SampleTuning(record.tuning_id, Module(i));
      HONE_EXPECT_OK(store->CreateTuning(tuning).status());
      HONE_EXPECT_OK(store->AppendTrials(record.tuning_id, SampleTrials(0, 5)));
      HONE_EXPECT_OK(store->Publish(record).status());
    }
  }

  std::unique_ptr<SqliteStore> Open() {
    absl::StatusOr<std::unique_ptr<SqliteStore>> store =
        SqliteStore::Create(directory_.path());
    EXPECT_THAT(store, hone::testing::IsOk());
    return store.ok() ? *std::move(store) : nullptr;
  }

  // Runs `sql` on the closed store; returns the first column.
  std::vector<int64_t> Tamper(const std::string& sql) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    std::vector<int64_t> values;
    char* message = nullptr;
    sqlite3_exec(
        database, sql.c_str(),
        [](void* to, int, char** columns, char**) {
          static_cast<std::vector<int64_t>*>(to)->push_back(atoll(columns[0]));
          return 0;
        },
        &values, &message);
    EXPECT_EQ(message, nullptr) << message;
    sqlite3_close(database);
    return values;
  }

  static std::vector<CorruptItem> CheckAll(SqliteStore& store,
                                           int64_t* checked = nullptr) {
    std::vector<CorruptItem> items;
    std::string token;
    do {
      const absl::StatusOr<CheckPage> page = store.Check(token);
      EXPECT_THAT(page, hone::testing::IsOk());
      if (!page.ok()) break;
      items.insert(items.end(), page->corrupt.begin(), page->corrupt.end());
      if (checked != nullptr) *checked += page->checked;
      token = page->next_page_token;
    } while (!token.empty());
    return items;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/hone.db";
  std::vector<std::string> digests_;
};

// A file that SQLite finds sound, whose tables are not those of this program.
TEST_F(CheckTest, AnotherSchemaIsNotServed) {
  const std::string good = ReadFile(path_);
  const auto expect_refused = [&](const std::string& sql,
                                  const std::string& what) {
    WriteFile(path_, good);
    Tamper(sql);
    EXPECT_THAT(SqliteStore::Create(directory_.path()).status(),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("is corrupt"), HasSubstr(what))));
  };
  expect_refused("ALTER TABLE record RENAME COLUMN measured_by TO measured_bx",
                 "table record, column");
  // Two names that change places would serve one column for the other.
  expect_refused(
      "ALTER TABLE tuning RENAME COLUMN created_ns TO x;"
      "ALTER TABLE tuning RENAME COLUMN updated_ns TO created_ns;"
      "ALTER TABLE tuning RENAME COLUMN x TO updated_ns",
      "expected \"CREATE INDEX tuning_finished_by_age ON tuning (updated_ns)");
  expect_refused("DROP INDEX record_by_module", "index record_by_module");
  expect_refused("DROP TRIGGER record_deleted", "trigger record_deleted");
  expect_refused("DROP TABLE measurement", "measurement");
  // What an operator adds is no damage.
  WriteFile(path_, good);
  Tamper("CREATE INDEX mine ON record (best_cost); ANALYZE");
  EXPECT_NE(Open(), nullptr);
}

TEST_F(CheckTest, AnIntactStoreHasNothingCorrupt) {
  const auto store = Open();
  int64_t checked = 0;
  EXPECT_THAT(CheckAll(*store, &checked), IsEmpty());
  EXPECT_EQ(checked, 3 * kRecords);
  EXPECT_THAT(store->Check("x"),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST_F(CheckTest, EveryKindOfCorruptItemIsListed) {
  Tamper(
      "UPDATE record SET best_cost = 1 WHERE sequence = 7;"
      "UPDATE tuning SET trials = 2 WHERE id = 't8';"
      "UPDATE trial SET cost = 0 WHERE tuning = 10 AND id = 3;"
      "DELETE FROM trial WHERE tuning = 11 AND id = 4;"
      "UPDATE trial SET tuning = 13, id = 5 WHERE tuning = 12 AND id = 4;"
      "UPDATE blob SET data = zeroblob(length(data)) WHERE rowid = 20;"
      "DELETE FROM blob WHERE rowid = 30;");
  const auto store = Open();
  const std::vector<CorruptItem> items = CheckAll(*store);
  std::vector<std::string> names;
  for (const CorruptItem& item : items) {
    EXPECT_FALSE(item.what.empty());
    names.push_back(absl::StrCat(item.table, " ", item.key));
  }
  EXPECT_THAT(
      names,
      ElementsAre(absl::StrCat("record ", SampleKey(Module(29)).Digest()),
                  absl::StrCat("record ", SampleKey(Module(6)).Digest()),
                  "trial of t12", "trial of t11", "trial of t10", "trial of t9",
                  "tuning 9", absl::StrCat("blob ", digests_[19])));
  // By that name it can be removed.
  HONE_EXPECT_OK(store->DeleteRecord(SampleKey(Module(6)).Digest()));
  EXPECT_THAT(CheckAll(*store), SizeIs(items.size() - 1));
  EXPECT_GE(store->corrupt_count(), 6);
  HONE_EXPECT_OK(store->Health());
}

TEST_F(CheckTest, ARecordThatLookupsDoNotFindIsListed) {
  std::string bytes = ReadFile(path_);
  const std::string key = SampleKey(Module(7)).Digest();
  int changed = 0;
  for (size_t at = bytes.find(key); at != std::string::npos;
       at = bytes.find(key, at + 1)) {
    // In tables, the module follows; in the index, nothing readable does.
    if (bytes.compare(at + key.size(), 6, "module") == 0) continue;
    bytes[at + 10] = static_cast<char>(bytes[at + 10] ^ 1);
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  WriteFile(path_, bytes);
  const auto store = Open();
  EXPECT_THAT(store->Lookup(SampleKey(Module(7))),
              StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(CheckAll(*store),
              ElementsAre(AllOf(Field(&CorruptItem::table, "record"),
                                Field(&CorruptItem::what,
                                      HasSubstr("the index is damaged")))));
  EXPECT_EQ(store->corrupt_count(), 1);
}

TEST_F(CheckTest, CorruptTextIsPrintable) {
  Tamper(
      "UPDATE blob SET digest = CAST(x'41ff0a' AS TEXT)"
      " WHERE rowid = 1");
  const auto store = Open();
  EXPECT_THAT(CheckAll(*store),
              Contains(AllOf(Field(&CorruptItem::table, "blob"),
                             Field(&CorruptItem::key, "A\\377\\n"))));
}

TEST_F(CheckTest, AnUnreadablePageHidesOnlyItsRows) {
  // The rows of one page of the table, from the page's content.
  const std::vector<int64_t> pages = Tamper(
      "SELECT pageno FROM dbstat WHERE name = 'record'"
      " AND pagetype = 'leaf' ORDER BY path");
  ASSERT_GT(pages.size(), 5u);
  const std::vector<int64_t> cells = Tamper(
      "SELECT ncell FROM dbstat WHERE name = 'record'"
      " AND pagetype = 'leaf' ORDER BY path");
  std::string bytes = ReadFile(path_);
  constexpr size_t kPageSize = 4096;
  bytes.replace(static_cast<size_t>(pages[3] - 1) * kPageSize, kPageSize,
                std::string(kPageSize, '\0'));
  WriteFile(path_, bytes);
  const int64_t first = cells[0] + cells[1] + cells[2] + 1;  // sequence
  const int64_t last = first + cells[3] - 1;

  const auto store = Open();
  ASSERT_NE(store, nullptr);
  // Damaged structure is not written to.
  EXPECT_THAT(store->Health(), StatusIs(absl::StatusCode::kDataLoss, _));
  EXPECT_THAT(store->Publish(SampleRecord("x")),
              StatusIs(absl::StatusCode::kDataLoss, _));
  std::set<std::string> listed;
  std::string token;
  do {
    HONE_ASSERT_OK_AND_ASSIGN(const Page<Record> page,
                              store->ListRecords({}, 10, token));
    for (const Record& record : page.items) {
      listed.insert(record.key.module_fingerprint);
    }
    token = page.next_page_token;
  } while (!token.empty());
  for (int i = 0; i < kRecords; ++i) {
    const bool lost = i + 1 >= first && i + 1 <= last;
    EXPECT_EQ(listed.count(Module(i)), lost ? 0u : 1u) << i;
    EXPECT_EQ(store->Lookup(SampleKey(Module(i))).ok(), !lost) << i;
  }
  const std::vector<CorruptItem> items = CheckAll(*store);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].table, "record");
  EXPECT_EQ(items[0].key,
            absl::StrCat("rows between ", first - 1, " and ", last + 1));
  EXPECT_EQ(items[1].table, "database");
}

TEST_F(CheckTest, AFlippedBitIsNeverServed) {
  const std::string good = ReadFile(path_);
  constexpr int kRounds = 300;
  int served = 0;
  int opened = 0;
  Rng rng(11);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    std::string bad = good;
    char& victim = bad[rng.Below(bad.size())];
    victim = static_cast<char>(victim ^ (1 << rng.Below(8)));
    std::filesystem::remove(path_ + "-wal");
    std::filesystem::remove(path_ + "-shm");
    WriteFile(path_, bad);
    const absl::StatusOr<std::unique_ptr<SqliteStore>> created =
        SqliteStore::Create(directory_.path());
    if (!created.ok()) continue;
    ++opened;
    SqliteStore& store = **created;
    for (int i = 0; i < kRecords; ++i) {
      const absl::StatusOr<Record> record = store.Lookup(SampleKey(Module(i)));
      if (!record.ok()) continue;
      ++served;
      EXPECT_EQ(record->key, SampleKey(Module(i)));
      EXPECT_EQ(record->decision, SampleRecord().decision);
      EXPECT_EQ(record->best_cost, SampleRecord().best_cost);
      EXPECT_EQ(record->tuned_module_digest, digests_[static_cast<size_t>(i)]);
      EXPECT_EQ(record->tuning_id, absl::StrCat("t", i));
      EXPECT_EQ(record->created, SampleRecord().created);
    }
    for (int i = 0; i < kRecords; i += 10) {
      const absl::StatusOr<std::string> blob =
          store.GetBlob(digests_[static_cast<size_t>(i)]);
      if (blob.ok()) {
        EXPECT_EQ(*blob, Text(i));
      }
      const auto trials = store.ListTrials(absl::StrCat("t", i));
      if (!trials.ok()) continue;
      ASSERT_EQ(trials->size(), 5u);
      for (const space::Trial& trial : *trials) {
        EXPECT_EQ(trial.candidate, SampleTrial(trial.id).candidate);
        EXPECT_EQ(trial.measurement.cost,
                  SampleTrial(trial.id).measurement.cost);
      }
    }
    const absl::StatusOr<Page<Record>> page = store.ListRecords({}, 0, "");
    if (page.ok()) {
      for (const Record& record : page->items) {
        EXPECT_EQ(record.decision, SampleRecord().decision);
      }
    }
    store.FindNearest(SampleKey("other")).IgnoreError();
    store.Stats().IgnoreError();
    const int64_t counted = store.corrupt_count();
    if (!CheckAll(store).empty()) {
      EXPECT_GT(store.corrupt_count(), counted);
    }
  }
  // Nearly every flip leaves nearly everything.
  EXPECT_GT(opened, kRounds * 9 / 10);
  EXPECT_GT(served, opened * kRecords * 95 / 100);
}

}  // namespace
}  // namespace hone::storage
