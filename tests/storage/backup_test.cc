// Copies of a store in use, and the way back.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/restore.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

std::string RandomBytes(size_t size, uint64_t seed) {
  Rng rng(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Next());
  return bytes;
}

std::unique_ptr<SqliteStore> Open(const std::string& directory) {
  absl::StatusOr<std::unique_ptr<SqliteStore>> store =
      SqliteStore::Create(directory);
  EXPECT_THAT(store, hone::testing::IsOk());
  return store.ok() ? *std::move(store) : nullptr;
}

// Publishes a record whose module is a file.
void Publish(SqliteStore& store, int i) {
  Record record = SampleRecord(absl::StrCat("m", i));
  const absl::StatusOr<std::string> digest =
      store.PutBlob(RandomBytes(150'000, static_cast<uint64_t>(i)));
  HONE_ASSERT_OK(digest.status());
  record.tuned_module_digest = *digest;
  HONE_ASSERT_OK(store.Publish(record).status());
}

void ExpectIntact(SqliteStore& store) {
  std::string token;
  do {
    HONE_ASSERT_OK_AND_ASSIGN(const CheckPage page, store.Check(token));
    for (const CorruptItem& item : page.corrupt) {
      ADD_FAILURE() << item.table << " " << item.key << ": " << item.what;
    }
    token = page.next_page_token;
  } while (!token.empty());
}

TEST(BackupName, IsAPlainFileName) {
  for (const char* name : {"a", "nightly-2026.11.23_1", "A"}) {
    HONE_EXPECT_OK(CheckBackupName(name));
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."),
        std::string(".hidden"), std::string("a/b"), std::string("/etc"),
        std::string("a b"), std::string("a\n"), std::string("a\0b", 3),
        std::string("\xc3\xa4"), std::string(65, 'a')}) {
    EXPECT_THAT(CheckBackupName(name),
                StatusIs(absl::StatusCode::kInvalidArgument, _))
        << name;
  }
}

TEST(Backup, UnderWritesIsConsistentAndComesBack) {
  TemporaryDirectory directory;
  auto store = Open(directory.path());
  for (int i = 0; i < 20; ++i) Publish(*store, i);
  absl::Notification is_writing;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 20; !stop; ++i) {
      Publish(*store, i);
      if (i == 22) is_writing.Notify();
    }
  });
  is_writing.WaitForNotification();
  for (const char* name : {"one", "two", "three"}) {
    HONE_ASSERT_OK_AND_ASSIGN(const BackupInfo info, store->Backup(name));
    EXPECT_GE(info.records, 22);
    EXPECT_GT(info.bytes, 150'000 * info.records);
    EXPECT_EQ(info.path, directory.path() + "/backups/" + name);
  }
  stop = true;
  writer.join();
  HONE_ASSERT_OK_AND_ASSIGN(const StoreStats before, store->Stats());
  EXPECT_THAT(store->Backup("two"),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("two")));
  EXPECT_THAT(store->Backup("../two"),
              StatusIs(absl::StatusCode::kInvalidArgument, _));

  // Not while it is in use.
  EXPECT_THAT(RestoreBackup(directory.path(), "two"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("in use")));
  store.reset();
  EXPECT_THAT(RestoreBackup(directory.path(), "four"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("four")));
  HONE_ASSERT_OK_AND_ASSIGN(const RestoreInfo info,
                            RestoreBackup(directory.path(), "two"));
  EXPECT_LE(info.records, before.records);
  {
    auto restored = Open(directory.path());
    ExpectIntact(*restored);
    HONE_ASSERT_OK_AND_ASSIGN(const StoreStats after, restored->Stats());
    EXPECT_EQ(after.records, info.records);
    for (int i = 0; i < info.records; ++i) {
      HONE_ASSERT_OK_AND_ASSIGN(
          const Record record,
          restored->Lookup(SampleKey(absl::StrCat("m", i))));
      HONE_EXPECT_OK(restored->GetBlob(record.tuned_module_digest).status());
    }
    Publish(*restored, 1000);
  }
  // What was replaced is still whole.
  auto old = Open(info.replaced);
  ExpectIntact(*old);
  EXPECT_EQ(old->Stats()->records, before.records);
  // A backup can be restored more than once.
  HONE_ASSERT_OK(RestoreBackup(directory.path(), "two").status());
}

TEST(Backup, AnUnusableOneChangesNothing) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    for (int i = 0; i < 20; ++i) Publish(*store, i);
    HONE_ASSERT_OK(store->Backup("row").status());
    HONE_ASSERT_OK(store->Backup("file").status());
    HONE_ASSERT_OK(store->Backup("page").status());
    Publish(*store, 20);
  }
  const std::string backups = directory.path() + "/backups";
  const auto damage = [&](const std::string& file, std::streamoff at) {
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(at);
    stream << "damage";
  };
  // Within the file of a blob: a new file, as the store's is the same one.
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(backups + "/file/blobs")) {
    if (!entry.is_regular_file()) continue;
    const std::filesystem::path copy = entry.path().string() + ".new";
    std::filesystem::copy_file(entry.path(), copy);
    std::filesystem::rename(copy, entry.path());
    damage(entry.path(), 1000);
    break;
  }
  damage(backups + "/page/hone.db", 3 * 4096);
  {
    std::fstream stream(backups + "/row/hone.db",
                        std::ios::binary | std::ios::in | std::ios::out);
    std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    const size_t at = bytes.find("hone 0.1.0 on somewhere");
    ASSERT_NE(at, std::string::npos);
    stream.clear();
    stream.seekp(static_cast<std::streamoff>(at));
    stream << "H";
  }
  for (const char* name : {"row", "file", "page"}) {
    EXPECT_THAT(RestoreBackup(directory.path(), name),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(name)))
        << name;
    EXPECT_FALSE(std::filesystem::exists(directory.path() + "/restore.tmp"));
    auto store = Open(directory.path());
    EXPECT_EQ(store->Stats()->records, 21);
    ExpectIntact(*store);
  }
}

// Root restores for the user that the store belongs to.
TEST(Backup, WhatIsRestoredBelongsToTheOwnerOfTheStore) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    Publish(*store, 1);
    HONE_ASSERT_OK(store->Backup("b").status());
  }
  constexpr uid_t kNobody = 65534;
  const uid_t owner = geteuid() == 0 ? kNobody : geteuid();
  const auto owner_of = [](const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_uid;
  };
  ASSERT_EQ(chown(directory.path().c_str(), owner, getegid()), 0);
  HONE_ASSERT_OK_AND_ASSIGN(const RestoreInfo info,
                            RestoreBackup(directory.path(), "b"));
  EXPECT_EQ(owner_of(directory.path() + "/hone.db"), owner);
  EXPECT_EQ(owner_of(info.replaced), owner);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           directory.path() + "/blobs")) {
    EXPECT_EQ(owner_of(entry.path()), owner) << entry.path();
  }
}

TEST(Backup, AnInterruptedRestorationIsNoticedAndCanBeRepeated) {
  TemporaryDirectory directory;
  {
    auto store = Open(directory.path());
    Publish(*store, 1);
    HONE_ASSERT_OK(store->Backup("b").status());
  }
  // As it is left in the middle: the old database is gone.
  std::ofstream(directory.path() + "/restoring") << "b\n";
  std::filesystem::remove(directory.path() + "/hone.db");
  EXPECT_THAT(SqliteStore::Create(directory.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("hone admin restore")));
  HONE_ASSERT_OK(RestoreBackup(directory.path(), "b").status());
  HONE_EXPECT_OK(Open(directory.path())->Lookup(SampleKey("m1")).status());
}

}  // namespace
}  // namespace hone::storage
