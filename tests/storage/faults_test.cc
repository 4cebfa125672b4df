// Full disks and failing devices, at every write, sync and open.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/fault_vfs.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using Fault = FaultVfs::Fault;

// Incompressible: 300,000 bytes of it are a file.
std::string RandomBytes(size_t size) {
  Rng rng(size);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Next());
  return bytes;
}

absl::Status OpenInto(const std::string& directory,
                      std::unique_ptr<SqliteStore>& store) {
  SqliteOptions options;
  options.readers = 1;
  options.reserve_bytes = 1 << 20;
  absl::StatusOr<std::unique_ptr<SqliteStore>> opened =
      SqliteStore::Create(directory, options);
  if (opened.ok()) store = *std::move(opened);
  return opened.status();
}

// The changes of a tuning, each of which can be made again.
const std::vector<std::function<absl::Status(SqliteStore&)>>& Changes() {
  static const auto& changes =
      *new std::vector<std::function<absl::Status(SqliteStore&)>>{
          [](SqliteStore& store) { return store.PutBlob("text").status(); },
          [](SqliteStore& store) {
            return store.PutBlob(RandomBytes(300'000)).status();
          },
          [](SqliteStore& store) {
            return store.CreateTuning(SampleTuning("t")).status();
          },
          [](SqliteStore& store) {
            return store.SetTuningState("t", TuningState::kRunning, "");
          },
          [](SqliteStore& store) {
            return store.AppendTrials("t", SampleTrials(0, 40));
          },
          [](SqliteStore& store) {
            return store.Publish(SampleRecord("new")).status();
          },
      };
  return changes;
}

// A code that a caller can act on: the fault's own, or NotFound of a tuning
// that could not be created.
bool IsExpected(const absl::Status& status, Fault fault) {
  return status.ok() || absl::IsNotFound(status) ||
         (fault == Fault::kFull ? absl::IsResourceExhausted(status)
                                : absl::IsUnavailable(status));
}

void ExpectIntact(SqliteStore& store) {
  HONE_EXPECT_OK(store.Health());
  std::string token;
  do {
    HONE_ASSERT_OK_AND_ASSIGN(const CheckPage page, store.Check(token));
    for (const CorruptItem& item : page.corrupt) {
      ADD_FAILURE() << item.table << " " << item.key << ": " << item.what;
    }
    token = page.next_page_token;
  } while (!token.empty());
  EXPECT_EQ(store.corrupt_count(), 0);
}

Record RecordWithBlob(const std::string& module, const std::string& digest) {
  Record record = SampleRecord(module);
  record.tuned_module_digest = digest;
  return record;
}

class FaultsTest
    : public ::testing::TestWithParam<std::tuple<Fault, /*persists*/ bool>> {
 protected:
  Fault fault() const { return std::get<0>(GetParam()); }
  bool persists() const { return std::get<1>(GetParam()); }
  // Where a persistent fault begins matters less.
  int64_t stride() const { return persists() ? 5 : 1; }

  FaultVfs vfs_;
};

TEST_P(FaultsTest, EveryChangeFailsCleanlyAndWorksAgain) {
  int64_t n = 1;
  for (bool has_failed = true; has_failed; n += stride()) {
    SCOPED_TRACE(absl::StrCat("fault at call ", n));
    TemporaryDirectory directory;
    std::unique_ptr<SqliteStore> store;
    HONE_ASSERT_OK(OpenInto(directory.path(), store));
    HONE_ASSERT_OK(store->Publish(RecordWithBlob("old", "")).status());

    vfs_.Arm(fault(), n, persists());
    std::vector<bool> acknowledged;
    absl::Status last;
    for (const auto& change : Changes()) {
      const absl::Status status = change(*store);
      EXPECT_TRUE(IsExpected(status, fault())) << status;
      acknowledged.push_back(status.ok());
      if (!absl::IsNotFound(status)) last = status;
      // Lookups go on.
      HONE_EXPECT_OK(store->Lookup(SampleKey("old")).status());
    }
    // A change of state succeeds on a full disk, thanks to the reserve.
    const bool is_full = absl::IsResourceExhausted(store->Health());
    EXPECT_EQ(store->Health().ok(), last.ok() && !is_full) << last;
    EXPECT_TRUE(!is_full || fault() == Fault::kFull);
    has_failed = vfs_.Disarm();

    // What was acknowledged is there.
    if (acknowledged[2]) {
      HONE_EXPECT_OK(store->GetTuning("t").status());
    }
    if (acknowledged[4]) {
      EXPECT_EQ(store->ListTrials("t")->size(), 40u);
    }
    if (acknowledged[5]) {
      HONE_EXPECT_OK(store->Lookup(SampleKey("new")).status());
    }
    // Everything works again at once, and after opening.
    for (const auto& change : Changes()) HONE_EXPECT_OK(change(*store));
    HONE_EXPECT_OK(store->Invalidate({.module_fingerprint = "new"}).status());
    ExpectIntact(*store);
    store.reset();
    HONE_ASSERT_OK(OpenInto(directory.path(), store));
    ExpectIntact(*store);
    EXPECT_EQ(store->ListTrials("t")->size(), 40u);
    HONE_EXPECT_OK(store->Lookup(SampleKey("old")).status());
    ASSERT_LT(n, 500);
  }
  EXPECT_GT(n, 20);
}

TEST_P(FaultsTest, OpeningFailsCleanlyAndWorksAgain) {
  TemporaryDirectory directory;
  std::unique_ptr<SqliteStore> store;
  HONE_ASSERT_OK(OpenInto(directory.path(), store));
  HONE_ASSERT_OK(store->Publish(RecordWithBlob("old", "")).status());
  store.reset();
  int64_t n = 1;
  for (bool has_failed = true; has_failed; n += stride()) {
    SCOPED_TRACE(absl::StrCat("fault at call ", n));
    TemporaryDirectory empty;
    std::unique_ptr<SqliteStore> created;
    vfs_.Arm(fault(), n, persists());
    const absl::Status old = OpenInto(directory.path(), store);
    const bool old_failed = vfs_.Disarm();
    vfs_.Arm(fault(), n, persists());
    const absl::Status fresh = OpenInto(empty.path(), created);
    has_failed = vfs_.Disarm() || old_failed;
    EXPECT_TRUE(IsExpected(old, fault())) << old;
    EXPECT_TRUE(IsExpected(fresh, fault())) << fresh;
    if (store == nullptr) {
      HONE_ASSERT_OK(OpenInto(directory.path(), store));
    }
    if (created == nullptr) {
      HONE_ASSERT_OK(OpenInto(empty.path(), created));
    }
    HONE_EXPECT_OK(store->Lookup(SampleKey("old")).status());
    HONE_EXPECT_OK(created->Publish(SampleRecord()).status());
    store.reset();
    ASSERT_LT(n, 1000);
  }
  EXPECT_GT(n, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultsTest,
    ::testing::Combine(::testing::Values(Fault::kFull, Fault::kIoError),
                       ::testing::Bool()),
    [](const auto& parameter) {
      return absl::StrCat(
          std::get<0>(parameter.param) == Fault::kFull ? "Full" : "IoError",
          std::get<1>(parameter.param) ? "Persists" : "Once");
    });

TEST(Reserve, RecordsStateOnAFullDisk) {
  FaultVfs vfs;
  TemporaryDirectory directory;
  const std::string reserve = directory.path() + "/reserve";
  std::unique_ptr<SqliteStore> store;
  HONE_ASSERT_OK(OpenInto(directory.path(), store));
  EXPECT_EQ(std::filesystem::file_size(reserve), 1u << 20);
  HONE_ASSERT_OK(store->CreateTuning(SampleTuning("t")).status());
  HONE_ASSERT_OK(store->Publish(SampleRecord()).status());

  // Only the space of the reserve is left.
  vfs.FillUntilRemoved(reserve);
  const auto full = StatusIs(absl::StatusCode::kResourceExhausted, _);
  EXPECT_THAT(store->AppendTrials("t", SampleTrials(0, 3)), full);
  EXPECT_FALSE(std::filesystem::exists(reserve));
  EXPECT_THAT(store->Health(), full);
  EXPECT_THAT(store->CreateTuning(SampleTuning("other")), full);
  HONE_EXPECT_OK(store->SetTuningState("t", TuningState::kFailed, "disk full"));
  EXPECT_EQ(store->GetTuning("t")->state, TuningState::kFailed);
  HONE_EXPECT_OK(store->Publish(SampleRecord("m1")).status());
  HONE_EXPECT_OK(store->Lookup(SampleKey()).status());
  EXPECT_THAT(store->Health(), full);

  EXPECT_TRUE(vfs.Disarm());
  // Without a request.
  HONE_EXPECT_OK(store->Sweep({}).status());
  HONE_EXPECT_OK(store->Health());
  HONE_EXPECT_OK(store->CreateTuning(SampleTuning("other")).status());
  EXPECT_TRUE(std::filesystem::exists(reserve));
}

}  // namespace
}  // namespace hone::storage
