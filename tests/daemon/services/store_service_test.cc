// The calls that are about the store itself: check and backup.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;

// Changes the first letter of `text` wherever it is in a file.
void Replace(const std::string& path, const std::string& text) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  file.clear();
  size_t at = bytes.find(text);
  ASSERT_NE(at, std::string::npos);
  for (; at != std::string::npos; at = bytes.find(text, at + 1)) {
    file.seekp(static_cast<std::streamoff>(at));
    file << '#';
  }
}

class StoreServiceTest : public DaemonTest {
 protected:
  v1::CheckCacheResponse Check() {
    v1::CheckCacheResponse all;
    v1::CheckCacheRequest request;
    do {
      grpc::ClientContext context;
      v1::CheckCacheResponse page;
      HONE_EXPECT_GRPC_OK(cache_->Check(&context, request, &page));
      for (const auto& item : page.corrupt()) *all.add_corrupt() = item;
      all.set_checked(all.checked() + page.checked());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return all;
  }

  grpc::Status Backup(const std::string& name, v1::BackupResponse& response) {
    grpc::ClientContext context;
    v1::BackupRequest request;
    request.set_name(name);
    return admin_->Backup(&context, request, &response);
  }

  TemporaryDirectory state_;
};

TEST_F(StoreServiceTest, ACorruptRecordIsAMissAndIsListed) {
  StartOnDisk(state_.path());
  const v1::Record record = TuneToEnd(kModule);
  EXPECT_EQ(Check().corrupt_size(), 0);
  EXPECT_GT(Check().checked(), 0);
  server_.reset();
  Replace(state_.path() + "/hone.db", record.producer());
  StartOnDisk(state_.path());

  v1::LookupRequest request;
  request.set_module_fingerprint(record.key().module_fingerprint());
  v1::LookupResponse response;
  grpc::ClientContext context;
  const grpc::Status status = cache_->Lookup(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("(corrupt)"));
  EXPECT_EQ(Metric("hone_cache_misses_total{reason=\"corrupt\"}"), 1);
  EXPECT_EQ(Metric("hone_cache_corrupt_items_total"), 1);

  const v1::CheckCacheResponse found = Check();
  ASSERT_EQ(found.corrupt_size(), 1);
  EXPECT_EQ(found.corrupt(0).table(), "record");
  EXPECT_THAT(found.corrupt(0).what(), HasSubstr("corrupt row"));
  EXPECT_EQ(Metric("hone_cache_corrupt_items_total"), 2);
}

TEST_F(StoreServiceTest, BackupsGoToTheFolderOfTheState) {
  StartOnDisk(state_.path());
  TuneToEnd(kModule);
  EXPECT_EQ(Metric("hone_db_last_backup_timestamp_seconds"), 0);
  v1::BackupResponse made;
  HONE_EXPECT_GRPC_OK(Backup("first", made));
  EXPECT_EQ(made.path(), state_.path() + "/backups/first");
  EXPECT_EQ(made.records(), 1);
  EXPECT_TRUE(std::filesystem::exists(made.path() + "/hone.db"));
  EXPECT_GT(Metric("hone_db_last_backup_timestamp_seconds"), 0);
  EXPECT_EQ(Metric("hone_db_writable"), 1);

  EXPECT_EQ(Backup("first", made).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  for (const char* name : {"../out", "/tmp/out", ".", "a/b"}) {
    EXPECT_EQ(Backup(name, made).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << name;
  }
  HONE_EXPECT_GRPC_OK(Backup("", made));
  EXPECT_TRUE(std::filesystem::exists(state_.path() + "/backups/" +
                                      made.name() + "/hone.db"));
}

TEST_F(StoreServiceTest, OneCallAfterTheOtherIsNeverTooMany) {
  Start();
  for (int i = 0; i < 500; ++i) Check();
}

TEST_F(StoreServiceTest, AStoreInMemoryHasNoBackups) {
  Start();
  EXPECT_EQ(Check().checked(), 0);
  v1::BackupResponse made;
  EXPECT_EQ(Backup("b", made).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace hone::testing
